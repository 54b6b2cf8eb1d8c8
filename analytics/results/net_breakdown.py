"""A player's net by street, position, pot, auction and swap; win rates, rake, luck by street."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, stdev
from typing import Any, Literal, NamedTuple, TypeVar

from msgspec.structs import replace

from analytics.auctions.bidding import POTS, pot_size_sql
from analytics.intervals import bootstrap_mean, rounded, student
from analytics.luck.street_luck import CHANCES, luck_rows, luck_table
from analytics.replay.rules import Rulebook
from analytics.results.winnings_curve import winnings_sql
from analytics.sql import (
    ArrowTables,
    FactSource,
    HandFilters,
    facts_sql,
    file_sql,
    natural_key,
    quoted,
)
from analytics.statistics.catalogue import Bootstrap, bootstrap_ends
from store.log.streams import Leaf

Row = dict[str, Any]
T = TypeVar("T")
RAKE_METHODS = {
    "dealt": "the rake of a hand, divided evenly among those who were dealt in",
    "contributed": "divided evenly among those who put chips in",
    "weighted": "divided by the chips that each put in",
}
By = Literal["street", "position", "window", "pot", "auction", "swap"]
UNKNOWN = "not known"


class Division(NamedTuple):
    """A division of hands into parts: SQL of a hand's part and its join; the parts in order."""

    part: str
    join: str
    order: tuple[str, ...]


# Of what the asker's own views show: a swap that is hidden from him is in the part `not known`.
DIVISIONS = {
    "street": Division(
        f"coalesce(nullif(h.street, ''), '{UNKNOWN}')",
        "INNER JOIN hands AS h ON h.hand_seq = c.hand_seq",
        ("preflop", "flop", "turn", "river", "showdown"),
    ),
    "pot": Division(
        f"CASE WHEN c.per_chip IS NULL THEN '{UNKNOWN}' "
        f"ELSE {pot_size_sql('CAST(h.pot AS DOUBLE) / c.per_chip')} END",
        "INNER JOIN hands AS h ON h.hand_seq = c.hand_seq",
        POTS,
    ),
    "auction": Division(
        "coalesce(a.outcome, 'not held')",
        "LEFT JOIN (SELECT hand_seq, seat, CASE WHEN min(outcome) = max(outcome) "
        "THEN min(outcome) ELSE 'several' END AS outcome FROM auctions GROUP BY hand_seq, seat) "
        "AS a ON a.hand_seq = c.hand_seq AND a.seat = c.seat",
        ("won", "lost", "tied", "several", "not held"),
    ),
    "swap": Division(
        "coalesce(s.swapped, 'no')",
        "LEFT JOIN (SELECT hand_seq, seat, CASE "
        "WHEN sum(CASE WHEN changed THEN 1 ELSE 0 END) > 0 THEN 'yes' "
        f"WHEN count(changed) < count(*) THEN '{UNKNOWN}' ELSE 'no' END AS swapped "
        "FROM swaps GROUP BY hand_seq, seat) AS s ON s.hand_seq = c.hand_seq AND s.seat = c.seat",
        ("yes", "no", UNKNOWN),
    ),
    "seat": Division(
        "CASE WHEN h.button = c.seat THEN 'dealer' ELSE 'big blind' END",
        "INNER JOIN hands AS h ON h.hand_seq = c.hand_seq AND c.players = 2",
        ("dealer", "big blind"),
    ),
}


def net_by_part(facts: FactSource, chosen: HandFilters, by: By | Literal["seat"]) -> list[Row]:
    """A player's net in each part of his hands: n, net, mean, its interval, and a bootstrap's.

    `seat` is of heads-up hands alone.
    """
    order: tuple[str, ...] = ()
    if by == "position" or by == "window":  # as statistics have them
        source = facts_sql(replace(chosen, by=by), "NULL")
    else:
        part, join, order = DIVISIONS[by]
        hands = facts_sql(chosen, "NULL")
        source = f"SELECT c.player, c.net, c.per_chip, {part} AS part FROM ({hands}) AS c {join}"

    def place(row: Row) -> tuple[str, int, tuple[int, str]]:
        known = order.index(row["part"]) if row["part"] in order else len(order)
        return row["player"], known, natural_key(row["part"])

    return sorted(_mean_nets(facts, source), key=place)


def _mean_nets(facts: FactSource, source: str) -> list[Row]:
    """Sum and mean of `net` by player and part, with n, Student's interval and a bootstrap's."""
    rows, each = (facts.rows(file_sql(file, source)) for file in ("results_by", "results_values"))
    values: dict[tuple[str, str], list[Row]] = {}
    for row in sorted(each, key=lambda row: float(row["value"])):
        values.setdefault((row["player"], row["part"]), []).append(row)
    for row in rows:
        row["net"], row["mean"] = rounded(row["net"]), rounded(row["mean"])
        deviation = rounded(row.pop("sd"))
        held = None if deviation is None else student(row["mean"], deviation, row["n"])
        row["low"], row["high"] = held or (None, None)
        mine = values.get((row["player"], row["part"]), [])
        row |= _bootstrap_ends([one["value"] for one in mine], [one["times"] for one in mine])
    return rows


def win_rates(
    facts: FactSource, chosen: HandFilters, deals: Mapping[str, int]
) -> dict[str, list[Row]]:
    """Win rates by player: the mean over hands, and over decks of mirrored matches; and the mean
    price of a card in an auction, where a bid of his was chosen.

    `deals` is how often each mirrored match deals its decks.
    """
    rates_of: dict[str, list[Row]] = {}
    hands = facts_sql(chosen, "NULL")
    for unit, source in (("hand", hands), ("price", _PRICES_SQL.format(hands=hands))):
        for row in sorted(_mean_nets(facts, source), key=lambda row: str(row["player"])):
            del row["part"]
            rates_of.setdefault(row.pop("player"), []).append({"unit": unit, **row})
    decks: dict[str, list[float]] = {}
    for row in facts.rows(winnings_sql("winnings_by_deck", chosen, deals)) if deals else ():
        decks.setdefault(row["player"], []).append(float(row["net"]))
    for player, nets in decks.items():
        n, mean = len(nets), rounded(fmean(nets))
        assert mean is not None
        held = student(mean, stdev(nets), n) if n > 1 else None
        low, high = (rounded(end) for end in held or (None, None))
        net = rounded(sum(nets))
        rate = {"unit": "deck", "n": n, "net": net, "mean": mean, "low": low, "high": high}
        rates_of[player].insert(1, rate | _bootstrap_ends(nets, [1] * n))
    return rates_of


_PRICES_SQL = """
    SELECT c.player, a.price AS net, c.per_chip, c.part FROM ({hands}) AS c
    INNER JOIN auctions AS a ON a.hand_seq = c.hand_seq AND a.seat = c.seat
    WHERE a.outcome <> 'lost' AND coalesce(a.origin, 'chosen') NOT IN ('forced', 'default')
"""


def _bootstrap_ends(values: Sequence[float], times: Sequence[int]) -> Row:
    """The bootstrap interval of a mean: nets and prices have heavy tails."""
    low, high = (rounded(end) for end in bootstrap_mean(values, times) or (None, None))
    return {"drawn_low": low, "drawn_high": high}


def rake_by_method(facts: FactSource, chosen: HandFilters) -> dict[str, dict[str, float]]:
    """The rake that each player paid by each method, in the hands that the filters leave; in chips.

    Who pays depends on everybody in a hand, so the player is looked for afterwards.
    """
    dealt = "SELECT hand_seq, match, seat, player, put_in, per_chip, game, number, position"
    hands = f"SELECT hand_seq FROM ({facts_sql(chosen, 'NULL')})"
    rows = (
        f"{dealt}, '' AS part, h.rake FROM facts INNER JOIN (SELECT hand_seq, rake FROM hands "
        f"WHERE rake > 0) AS h USING (hand_seq) WHERE hand_seq IN ({hands}) AND per_chip > 0"
    )
    found: dict[str, dict[str, float]] = {}
    rake = file_sql("results_rake", rows)
    for row in facts.rows(rake):
        if chosen.player in (None, row["player"]):
            found.setdefault(row["player"], {})[row["method"]] = round(float(row["rake"]), 6)
    return found


class StreetLuckTable:
    """A table of the luck that each chance event of some hands brought."""

    def __init__(self, leaves: Iterable[Leaf], rules: Rulebook) -> None:
        rows = [row for leaf in leaves for row in luck_rows(leaf, rules)]
        self._tables = ArrowTables({"streets": luck_table(rows)})

    def close(self) -> None:
        """Let go of the table."""
        self._tables.close()

    def rows(self, player: str | None = None) -> list[Row]:
        """Chips won by luck for each player and chance, with the interval of the mean."""
        where = f" WHERE player = {quoted(player)}" if player is not None else ""
        chosen = f"SELECT *, '' AS part FROM streets{where}"
        rows = self._tables.ask("results_streets", chosen)
        drawn = Bootstrap()
        drawn.load(self._tables, "results_streets", chosen, ("chips",))
        order = list(CHANCES)
        for row in rows:
            key = (row["player"], row.pop("part"), row["chance"])
            mean, deviation = row.pop("chips_mean"), row.pop("sd")
            held = None if deviation is None else student(mean, deviation, row["times"])
            row["mean"], (row["low"], row["high"]) = mean, held or (None, None)
            again = bootstrap_ends(drawn.deals("results_streets", "chips", *key))
            row["drawn_low"], row["drawn_high"] = again
        return sorted(rows, key=lambda row: (row["player"], order.index(row["chance"])))
