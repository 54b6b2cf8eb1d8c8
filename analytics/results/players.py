"""What a player's results are made of: luck street by street, play, rake; and net by parts.

Beside them stand the counters that the organisers of bot matches keep of each game, with all that
is odd in them. They count words in a log. So they count what nobody chose, and tell ties as nothing
else here does; `COUNTERS` says of each what it is, and which number of ours asks the same better.
"""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, stdev
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from analytics.auctions.bidding import POTS, sized
from analytics.intervals import bootstrap_mean, rounded, student
from analytics.luck import streets as luck_streets
from analytics.replay.rules import Rulebook
from analytics.results.winnings import asked
from analytics.sql.chosen import Chosen, Facts, Tables, natural, quoted, table, text_of
from analytics.statistics.catalogue import Resampled, ends
from store.log.streams import Leaf

Row = dict[str, Any]
T = TypeVar("T")
METHODS = {
    "dealt": "the rake of a hand, divided evenly among those who were dealt in",
    "contributed": "divided evenly among those who put chips in",
    "weighted": "divided by the chips that each put in",
}
By = Literal["street", "position", "window", "pot", "auction", "swap"]
UNKNOWN = "not known"


class Divided(NamedTuple):
    """How hands are divided: the part of one, what says so beside its facts, parts in order."""

    part: str
    join: str
    order: tuple[str, ...]


# Of what the asker's own views show: a swap that is hidden from him is in the part `not known`.
DIVIDED = {
    "street": Divided(
        f"coalesce(nullif(h.street, ''), '{UNKNOWN}')",
        "INNER JOIN hands AS h ON h.hand_seq = c.hand_seq",
        ("preflop", "flop", "turn", "river", "showdown"),
    ),
    "pot": Divided(
        f"CASE WHEN c.per_chip IS NULL THEN '{UNKNOWN}' "
        f"ELSE {sized('CAST(h.pot AS DOUBLE) / c.per_chip')} END",
        "INNER JOIN hands AS h ON h.hand_seq = c.hand_seq",
        POTS,
    ),
    "auction": Divided(
        "coalesce(a.outcome, 'not held')",
        "LEFT JOIN (SELECT hand_seq, seat, CASE WHEN min(outcome) = max(outcome) "
        "THEN min(outcome) ELSE 'several' END AS outcome FROM auctions GROUP BY hand_seq, seat) "
        "AS a ON a.hand_seq = c.hand_seq AND a.seat = c.seat",
        ("won", "lost", "tied", "several", "not held"),
    ),
    "swap": Divided(
        "coalesce(s.swapped, 'no')",
        "LEFT JOIN (SELECT hand_seq, seat, CASE "
        "WHEN sum(CASE WHEN changed THEN 1 ELSE 0 END) > 0 THEN 'yes' "
        f"WHEN count(changed) < count(*) THEN '{UNKNOWN}' ELSE 'no' END AS swapped "
        "FROM swaps GROUP BY hand_seq, seat) AS s ON s.hand_seq = c.hand_seq AND s.seat = c.seat",
        ("yes", "no", UNKNOWN),
    ),
    "seat": Divided(
        "CASE WHEN h.button = c.seat THEN 'dealer' ELSE 'big blind' END",
        "INNER JOIN hands AS h ON h.hand_seq = c.hand_seq AND c.players = 2",
        ("dealer", "big blind"),
    ),
}


def nets_by(facts: Facts, chosen: Chosen, by: By | Literal["seat"]) -> list[Row]:
    """A row for each player and part of his hands: n, net, mean, its interval, and drawn again.

    `seat` is of heads-up hands alone.
    """
    order: tuple[str, ...] = ()
    if by == "position" or by == "window":  # as statistics have them
        source = table(replace(chosen, by=by), "NULL")
    else:
        part, join, order = DIVIDED[by]
        hands = table(chosen, "NULL")
        source = f"SELECT c.player, c.net, c.per_chip, {part} AS part FROM ({hands}) AS c {join}"

    def place(row: Row) -> tuple[str, int, tuple[int, str]]:
        known = order.index(row["part"]) if row["part"] in order else len(order)
        return row["player"], known, natural(row["part"])

    return sorted(_means(facts, source), key=place)


def _means(facts: Facts, source: str) -> list[Row]:
    """Of the chips in `net`, by player and part: n, sum, mean, its interval, and drawn again."""
    rows, each = (
        facts.rows(f"WITH chosen AS ({source}) SELECT * FROM (\n{text_of(file)})")
        for file in ("results_by", "results_values")
    )
    values: dict[tuple[str, str], list[Row]] = {}
    for row in sorted(each, key=lambda row: float(row["value"])):
        values.setdefault((row["player"], row["part"]), []).append(row)
    for row in rows:
        row["net"], row["mean"] = rounded(row["net"]), rounded(row["mean"])
        deviation = rounded(row.pop("sd"))
        held = None if deviation is None else student(row["mean"], deviation, row["n"])
        row["low"], row["high"] = held or (None, None)
        mine = values.get((row["player"], row["part"]), [])
        row |= _again([one["value"] for one in mine], [one["times"] for one in mine])
    return rows


def rates(facts: Facts, chosen: Chosen, deals: Mapping[str, int]) -> dict[str, list[Row]]:
    """By player what he wins on average: a row over hands, and one over decks of mirrored matches;
    and what he pays for a card in an auction, where a bid of his was chosen.

    `deals` is how often each mirrored match deals its decks.
    """
    rates_of: dict[str, list[Row]] = {}
    hands = table(chosen, "NULL")
    for unit, source in (("hand", hands), ("price", _PRICES.format(hands=hands))):
        for row in sorted(_means(facts, source), key=lambda row: str(row["player"])):
            del row["part"]
            rates_of.setdefault(row.pop("player"), []).append({"unit": unit, **row})
    decks: dict[str, list[float]] = {}
    for row in facts.rows(asked("curve_decks", chosen, deals)) if deals else ():
        decks.setdefault(row["player"], []).append(float(row["net"]))
    for player, nets in decks.items():
        n, mean = len(nets), rounded(fmean(nets))
        assert mean is not None
        held = student(mean, stdev(nets), n) if n > 1 else None
        low, high = (rounded(end) for end in held or (None, None))
        net = rounded(sum(nets))
        rate = {"unit": "deck", "n": n, "net": net, "mean": mean, "low": low, "high": high}
        rates_of[player].insert(1, rate | _again(nets, [1] * n))
    return rates_of


_PRICES = """
    SELECT c.player, a.price AS net, c.per_chip, c.part FROM ({hands}) AS c
    INNER JOIN auctions AS a ON a.hand_seq = c.hand_seq AND a.seat = c.seat
    WHERE a.outcome <> 'lost' AND coalesce(a.origin, 'chosen') NOT IN ('forced', 'default')
"""


def _again(values: Sequence[float], times: Sequence[int]) -> Row:
    """The ends of a mean whose hands or decks are drawn again: nets and prices have heavy tails."""
    low, high = (rounded(end) for end in bootstrap_mean(values, times) or (None, None))
    return {"drawn_low": low, "drawn_high": high}


def rakes(facts: Facts, chosen: Chosen) -> dict[str, dict[str, float]]:
    """By player and method, the rake of the hands that the filters leave; in chips.

    Who pays depends on everybody in a hand, so the player is looked for afterwards.
    """
    dealt = "SELECT hand_seq, match, seat, player, put_in, per_chip, game, number, position"
    hands = f"SELECT hand_seq FROM ({table(chosen, 'NULL')})"
    rows = (
        f"{dealt}, '' AS part, h.rake FROM facts INNER JOIN (SELECT hand_seq, rake FROM hands "
        f"WHERE rake > 0) AS h USING (hand_seq) WHERE hand_seq IN ({hands}) AND per_chip > 0"
    )
    found: dict[str, dict[str, float]] = {}
    asked = f"WITH chosen AS ({rows}) SELECT * FROM (\n{text_of('results_rake')})"
    for row in facts.rows(asked):
        if chosen.player in (None, row["player"]):
            found.setdefault(row["player"], {})[row["method"]] = round(float(row["rake"]), 6)
    return found


class Streets:
    """What every chance of some hands came to."""

    def __init__(self, leaves: Iterable[Leaf], rules: Rulebook) -> None:
        rows = [row for leaf in leaves for row in luck_streets.rows_of(leaf, rules)]
        self._tables = Tables({"streets": luck_streets.table(rows)})

    def close(self) -> None:
        """Let go of the table."""
        self._tables.close()

    def rows(self, player: str | None = None) -> list[Row]:
        """A row for each player and chance, in the order in which they come."""
        where = f" WHERE player = {quoted(player)}" if player is not None else ""
        chosen = f"SELECT *, '' AS part FROM streets{where}"
        rows = self._tables.ask("results_streets", chosen)
        drawn = Resampled()
        drawn.ask(self._tables, "results_streets", chosen, ("chips",))
        order = list(luck_streets.CHANCES)
        for row in rows:
            key = (row["player"], row.pop("part"), row["chance"])
            mean, deviation = row.pop("chips_mean"), row.pop("sd")
            held = None if deviation is None else student(mean, deviation, row["times"])
            row["mean"], (row["low"], row["high"]) = mean, held or (None, None)
            again = ends(drawn.deals("results_streets", "chips", *key))
            row["drawn_low"], row["drawn_high"] = again
        return sorted(rows, key=lambda row: (row["player"], order.index(row["chance"])))


class Spread(Generic[T]):
    """So many of a stream whose length nobody knows, evenly spaced: the same ones every time.

    When there are twice as many as wanted every other one is let go, and from then on only every
    second, fourth, eighth is taken.
    """

    def __init__(self, wanted: int | None) -> None:
        self.wanted = wanted
        self.seen = 0
        self._kept: list[T] = []
        self._step = 1

    def add(self, one: T) -> None:
        """The next of the stream."""
        if self.seen % self._step == 0 and self.wanted != 0:
            self._kept.append(one)
            if self.wanted is not None and len(self._kept) == 2 * self.wanted:
                self._kept = self._kept[::2]
                self._step *= 2
        self.seen += 1

    def chosen(self) -> list[T]:
        """Those wanted."""
        have = len(self._kept)
        if self.wanted is None or have <= self.wanted:
            return list(self._kept)
        return [self._kept[at * have // self.wanted] for at in range(self.wanted)]


class Counter(Struct, frozen=True):
    """One of theirs: its title, what it counts, and how ours differs."""

    title: str
    meaning: str
    ours: str


COUNTERS: dict[str, Counter] = {
    "raises": Counter(
        "Raises",
        "lines `raises to`: all raises before the flop, later those over a bet",
        "`afq` counts chosen bets and raises after the flop, `pfr` hands with one before it",
    ),
    "bets": Counter("Bets", "lines `bets`: the first of a street after the flop", "as above"),
    "calls": Counter("Calls", "lines `calls`, forced ones too", "chosen ones in `af` and `vpip`"),
    "checks": Counter(
        "Checks",
        "lines `checks`: also those of who has no chips left, and those in place of a bad reply",
        "a look `check_flop` and so on counts chosen ones, out of chances",
    ),
    "folds": Counter(
        "Folds", "lines `folds`, those in place of a bad reply too", "`fold_flop` and so on"
    ),
    "shows": Counter("Shows", "lines `shows`: both players at every showdown", "`wtsd`"),
    "all_ins": Counter(
        "All-ins", "lines `went all in`, which no engine writes: always 0", "the filter `all-in`"
    ),
    "bid_mean": Counter(
        "Mean bid",
        "of all lines `bids`, those of who has nothing to bid too; 0 without any",
        "`bid` is the mean of chosen bids",
    ),
    "auctions_won": Counter(
        "Auctions won",
        "lines `won the auction`: a tie has one for each, so both won it",
        "`won` and `tied` are apart, and of chosen bids",
    ),
    "won_without": Counter(
        "Won without the card",
        "hands with a gain after the rival alone won the auction; ties are skipped",
        "`won_in_vain` of the rival, a split not counted as lost",
    ),
    "net_swapped": Counter(
        "Net, swapped",
        "the sum of nets of hands in which a card of his own was swapped",
        "`net_swapped` is their mean, with its interval",
    ),
    "bankroll": Counter(
        "Bankroll",
        "before hands 100, 200 up to 1000: the sum of the nets of 99, 199 up to 999 hands",
        "the graph's `net` stands after a hand",
    ),
}


def counters(facts: Facts, chosen: Chosen) -> list[Row]:
    """A row for each player of each match, in order; `bankroll` by the hand it stands before."""
    rows, bankrolls = (
        facts.rows(f"WITH chosen AS ({lines(chosen)}) SELECT * FROM (\n{text_of(file)})")
        for file in ("counters", "counters_bankroll")
    )
    found = {
        (row["match"], row["player"]): {name: _number(it) for name, it in row.items()}
        | {"bankroll": {}}
        for row in rows
    }
    for row in sorted(bankrolls, key=lambda row: int(row["number"])):
        mine = found[row["match"], row["player"]]["bankroll"]
        mine[str(row["number"])] = _number(row["bankroll"])
    return [found[key] for key in sorted(found)]


def lines(chosen: Chosen) -> str:
    """The lines of a log, as events and tables have them: whose, in which hand, how much."""
    return _LINES.format(mine=table(chosen, "NULL"), lines=", ".join(map(quoted, _ACTS)))


_ACTS = ("Raised", "Bet", "Called", "Checked", "Folded", "Shown")
_LINES = """
    SELECT f.match, f.player, f.number, log.line, log.amount
    FROM ({mine}) AS f
    INNER JOIN (
        SELECT hand_seq, seat, type AS line, 0 AS amount FROM events WHERE type IN ({lines})
        UNION ALL SELECT hand_seq, seat, 'BidPlaced', amount FROM bids
    ) AS log ON log.hand_seq = f.hand_seq AND log.seat = f.seat
    UNION ALL
    SELECT match, player, number, 'net', CAST(net AS DOUBLE) / per_chip FROM ({mine})
    UNION ALL
    SELECT f.match, f.player, f.number,
        CASE WHEN a.outcome = 'lost' THEN 'lost' ELSE 'won' END, CAST(f.net AS DOUBLE) / f.per_chip
    FROM ({mine}) AS f
    INNER JOIN auctions AS a ON a.hand_seq = f.hand_seq AND a.seat = f.seat
    UNION ALL
    SELECT f.match, f.player, f.number,
        CASE WHEN s.changed > 0 THEN 'swapped' ELSE 'not known' END,
        CAST(f.net AS DOUBLE) / f.per_chip
    FROM ({mine}) AS f
    INNER JOIN (
        SELECT hand_seq, seat, sum(CASE WHEN changed THEN 1 ELSE 0 END) AS changed,
            count(*) - count(changed) AS hidden
        FROM swaps GROUP BY hand_seq, seat
    ) AS s ON s.hand_seq = f.hand_seq AND s.seat = f.seat
    WHERE s.changed > 0 OR s.hidden > 0
"""


def _number(value: Any) -> Any:
    """Whole numbers as such."""
    if isinstance(value, str) or value is None:
        return value
    return int(value) if float(value).is_integer() else round(float(value), 6)
