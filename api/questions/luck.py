"""Luck of swaps, of run-outs and of every street, in the hands that a viewpoint sees."""

from collections.abc import Sequence
from contextlib import closing
from typing import Annotated, Any, Generic, NamedTuple, TypeVar

import msgspec
import pyarrow as pa
from msgspec import Struct

from analytics.luck.equity_cache import equity_cache
from analytics.luck.luck_queries import MEASURES, By, LuckQueries
from analytics.luck.street_luck import is_countable
from analytics.projections import played
from analytics.projections.equity import RunOut, luck_rows, unsupported_rule
from analytics.replay.rules import Rulebook
from analytics.results.net_breakdown import StreetLuckTable
from analytics.results.winnings_curve import winnings_sql
from analytics.sql import HandFilters, JoinedViews, hand_terms, player_terms, quoted, where
from analytics.sql import facts_sql as table_of
from analytics.statistics.catalogue import MeasureValue, with_unit
from api.questions.filters_values import ranges_text
from api.questions.player_measures import filters_of_params, money_of
from api.questions.question import Anybody, Filters, Param
from api.viewpoints.hand_selection import NotInLedger
from api.viewpoints.ledger_view import LedgerView, filtered_leaves
from api.viewpoints.redaction import with_settled_bids
from api.viewpoints.viewer import ShowProgress, without_progress
from api.viewpoints.withheld_events import MIRRORED, query_events
from events.types import HandStarted
from store.folder.disk import cache_folder
from store.log.streams import Leaf

Row = dict[str, Any]
T = TypeVar("T")
LUCK_MEASURES = ("net_ev", "luck", "luck_error", "adjusted", "net_ev_hand")  # measures of run-outs


class LuckParams(Filters, frozen=True):
    """Parameters of luck: the player, hands, split, and of how many swaps and run-outs it is
    counted.

    Of everybody, people get no means that are drawn again; the curve is for a caller who asks for
    it.
    """

    player: Anybody = None
    by: Annotated[By | None, Param("Split.", query="split")] = None
    spots: Annotated[
        int | None,
        Param(
            "Of how many swapped cards, evenly spread, the equity is counted.",
            most=100,
            http_default=10,
        ),
    ] = 200
    runouts: Annotated[
        int | None,
        Param(
            "Of how many hands that closed with cards to come, evenly spread, luck is counted.",
            most=500,
            http_default=100,
        ),
    ] = 2000
    table: str | None = None
    people: bool = False


class Chance(Struct, frozen=True):
    """What one chance came to, so many times."""

    chance: str
    times: int
    chips: float
    mean: float | None
    low: float | None
    high: float | None
    drawn_low: float | None
    drawn_high: float | None
    error: float | None


class StreetLuck(NamedTuple):
    """By player what every chance came to; in how many hands all cards are known, and how many of
    them were counted."""

    chances: dict[str, list[Chance]]
    known: int | None
    counted: int


class LuckAnswer(NamedTuple):
    """The measures of luck in some hands; `counted`: how many hands and swaps were valued; the
    unit of amounts; the games whose luck is not counted."""

    queries: LuckQueries
    found: list[MeasureValue]
    counted: dict[str, int]
    unit: str | None
    uncounted: tuple[str, ...]


def luck(
    viewed: LedgerView,
    params: LuckParams,
    watch: ShowProgress = without_progress,
    *,
    with_bootstrap: bool = False,
) -> LuckAnswer:
    """Luck in the hands of a question, as long as the views are there; `NotInLedger` without hands.

    Where luck is counted in none of the games, no number is given without it: it would be the net.
    """
    chosen = filters_of_params(viewed, params)
    hands = where(hand_terms(chosen))
    if not viewed.rows(f"SELECT 1 FROM played{hands} LIMIT 1"):
        raise NotInLedger("no hand was played here")
    unit = money_of(viewed, table_of(chosen))
    lucks, closed, ran = _luck_by_seat(viewed, chosen, params.runouts, watch)
    # Swaps with their equities, or a sample of those that could be valued.
    terms = [*player_terms(chosen), *hand_terms(chosen)]
    swaps = viewed.ask(
        "SELECT hand_seq, street, seat, slot, ruleset, spot, changed"
        f" FROM risks{where([*terms, 'spot IS NOT NULL'])} ORDER BY hand_seq, street, seat, slot"
    )
    changes, rules = _even_sample(swaps, params.spots), Rulebook(viewed.snapshot.ruleset)
    for row in changes:
        row["spot"] = played.decoded_swap_spot(row["spot"])
        row["before"] = row["after"] = None
    equities = equity_cache(cache_folder())
    played.add_swap_equities(watch(changes, "counting swaps", len(changes)), rules, equities.share)
    values = [{name: row[name] for name in _SWAP_SCHEMA.names} for row in changes]
    valued = pa.Table.from_pylist(values, _SWAP_SCHEMA)
    views = {"played": _PLAYED_SQL.format(where=hands), "risks": _RISKS_SQL.format(where=hands)}
    tables = {
        "lucks": lucks,
        "changes": valued,
        "mirrored": query_events(viewed.snapshot, MIRRORED),
    }
    queries = LuckQueries(JoinedViews(viewed.query, views, tables), params.vs)
    counted = {"swaps": swaps.num_rows, "valued": len(changes), "closed": closed, "run_out": ran}
    measures = queries.measures(params.player, params.by, with_bootstrap=with_bootstrap)
    games: dict[str, bool] = {}  # whether run-outs of each are counted
    for row in viewed.rows(f"SELECT DISTINCT game, ruleset FROM played{where(terms)}"):
        game = rules.of(row["ruleset"])
        counts = game is None or unsupported_rule(game) is None
        games[row["game"]] = games.get(row["game"], True) and counts
    without = tuple(sorted(name for name, counts in games.items() if not counts))
    every = [
        one
        for one in with_unit(measures, MEASURES, unit)
        if len(without) < len(games) or one.statistic not in LUCK_MEASURES
    ]
    return LuckAnswer(queries, every, counted, unit, without)


class EvenSample(Generic[T]):
    """An evenly spaced sample of a stream of unknown length: the same items every time.

    With twice as many as wanted every other one is let go, and from then on only every second,
    fourth, eighth is taken.
    """

    def __init__(self, wanted: int | None) -> None:
        self.wanted = wanted
        self.seen = 0
        self._kept: list[T] = []
        self._step = 1

    def add(self, one: T) -> None:
        """Offer the next item of the stream."""
        if self.seen % self._step == 0 and self.wanted != 0:
            self._kept.append(one)
            if self.wanted is not None and len(self._kept) == 2 * self.wanted:
                self._kept = self._kept[::2]
                self._step *= 2
        self.seen += 1

    def items(self) -> list[T]:
        """The sample: as many items as wanted, or all."""
        have = len(self._kept)
        if self.wanted is None or have <= self.wanted:
            return list(self._kept)
        return [self._kept[at * have // self.wanted] for at in range(self.wanted)]


def street_luck(
    viewed: LedgerView,
    chosen: HandFilters,
    spots: int | None,
    watch: ShowProgress = without_progress,
) -> StreetLuck:
    """Luck street by street in so many hands, of those whose cards are all known."""
    if spots == 0:  # then nobody looks
        return StreetLuck({}, None, 0)
    rules = Rulebook(viewed.snapshot.ruleset)
    every: EvenSample[Leaf] = EvenSample(spots)
    wanted = {chosen.player, chosen.vs} - {None}
    for leaf in filtered_leaves(viewed, chosen, watch):
        start = leaf.recorded[0].event
        is_seated = isinstance(start, HandStarted) and wanted <= set(start.players)
        if is_seated and is_countable(leaf, rules):
            every.add(leaf)
    those = every.items()
    chances: dict[str, list[Chance]] = {}
    with closing(StreetLuckTable(watch(those, "counting luck", len(those)), rules)) as streets:
        for row in streets.rows(chosen.player):
            chances.setdefault(row.pop("player"), []).append(Chance(**row))
    return StreetLuck(chances, every.seen, len(those))


def nets_without_luck(
    viewed: LedgerView,
    chosen: HandFilters,
    runouts: int | None,
    watch: ShowProgress = without_progress,
) -> dict[int, float]:
    """A player's net of each hand that was counted, without luck; by `hand_seq`."""
    assert chosen.player is not None
    lucks, _, _ = _luck_by_seat(viewed, chosen, runouts, watch)
    rows = viewed.query.ask(
        "SELECT l.hand_seq, l.net_ev FROM lucks AS l JOIN played AS p"
        " ON p.hand_seq = l.hand_seq AND p.seat = l.seat"
        f" WHERE p.player = {quoted(chosen.player)}",
        also={"lucks": lucks},
    )
    return dict(zip(rows["hand_seq"].to_pylist(), rows["net_ev"].to_pylist(), strict=True))


def mirrored_matches(viewed: LedgerView) -> dict[str, int]:
    """The matches that deal each deck in several hands in a row, and in how many."""
    rows = query_events(viewed.snapshot, MIRRORED)
    return dict(zip(rows["match"].to_pylist(), rows["deals"].to_pylist(), strict=True))


def mirrored_ranges(viewed: LedgerView, chosen: HandFilters) -> str:
    """The hands of a player's whole mirrored decks, as a filter names `hands`; else nothing."""
    deals = mirrored_matches(viewed)
    decks = viewed.rows(winnings_sql("winnings_by_deck", chosen, deals)) if deals else ()
    return ranges_text(
        (deck["match"], number)
        for deck in decks
        for number in range(deck["first_number"], deck["last_number"] + 1)
    )


def mirror_size_sql(viewed: LedgerView, match: str) -> str:
    """SQL for the number of hands in a row that the match in this column deals of one deck."""
    cases = "".join(
        f" WHEN {quoted(one)} THEN {deals}" for one, deals in mirrored_matches(viewed).items()
    )
    return f"CASE {match}{cases} ELSE 1 END" if cases else "1"


def _luck_by_seat(
    viewed: LedgerView, chosen: HandFilters, runouts: int | None, watch: ShowProgress
) -> tuple[pa.Table, int, int]:
    """Luck by hand and seat; how many of these hands may have closed, and how many were looked
    at."""
    terms = [*hand_terms(chosen), "may_close"]
    if chosen.player is not None:
        his = f"SELECT hand_seq FROM played WHERE player = {quoted(chosen.player)}"
        terms.append(f"hand_seq IN ({his})")
    every = viewed.ask(
        "SELECT hand_seq, any_value(hand) AS hand, any_value(ruleset) AS ruleset,"
        " any_value(unit) AS unit, any_value(spot) AS spot, any_value(why) AS why"
        f" FROM played{where(terms)} GROUP BY hand_seq ORDER BY hand_seq"
    )
    hands = _even_sample(every, runouts)
    rules, known = Rulebook(viewed.snapshot.ruleset), equity_cache(cache_folder())
    rows: list[Row] = []  # what luck did to each seat, as far as the viewer knows the cards
    for row in watch(hands, "counting run-outs", len(hands)):
        spot: RunOut | str | None
        if row["spot"] is not None:
            spot = msgspec.json.decode(row["spot"], type=RunOut)
        elif row["why"] is not None or viewed.viewer.auditor:
            continue
        else:  # what the hand's own events say to this viewer
            spot = played.run_out_of(with_settled_bids(viewed.redacted_hand(row["hand"])), rules)
        if isinstance(spot, RunOut):
            rows += luck_rows(row, spot, rules, known.worth)
    return pa.Table.from_pylist(rows, _LUCK_SCHEMA), every.num_rows, len(hands)


def uncounted_sentence(games: Sequence[str]) -> str:
    """The sentence on games whose luck is not counted; empty without any."""
    names = ", ".join(games)
    return f"luck of run-outs is not counted in {names}: hands stand at their net" if games else ""


def _even_sample(rows: pa.Table, most: int | None) -> list[Row]:
    """So many rows, evenly spaced over the record, the same ones every time; None: all."""
    size = rows.num_rows
    if most is not None and most < size:
        rows = rows.take(pa.array([at * size // most for at in range(most)], pa.int64()))
    spread: list[Row] = rows.to_pylist()
    return spread


_LUCK_SCHEMA = pa.schema(
    {
        "hand_seq": pa.int64(),
        "seat": pa.int32(),
        "net_ev": pa.float64(),
        "error": pa.float64(),
        "equity": pa.float64(),
    }
)
_SWAP_SCHEMA = pa.schema(
    {
        "hand_seq": pa.int64(),
        "street": pa.string(),
        "seat": pa.int32(),
        "slot": pa.int32(),
        "before": pa.float64(),
        "after": pa.float64(),
    }
)
_PLAYED_SQL = """
    SELECT
        p.hand_seq, p.hand, p.match, p.number, p.game, p.seat, p.player, p.role, p.net,
        (p.number - 1) // coalesce(m.deals, 1) AS deal, coalesce(m.deals, 1) AS deals,
        coalesce(l.net_ev, p.net) AS net_ev, l.hand_seq IS NOT NULL AS adjusted,
        coalesce(l.error, 0.0) AS error, l.equity, p.took, p.showdown, p.price, p.swapped
    FROM (SELECT * FROM played{where}) AS p
    LEFT JOIN lucks AS l ON l.hand_seq = p.hand_seq AND l.seat = p.seat
    LEFT JOIN mirrored AS m ON m.match = p.match
"""
_RISKS_SQL = """
    SELECT r.* EXCLUDE (spot), c.before, c.after
    FROM (SELECT * FROM risks{where}) AS r
    LEFT JOIN changes AS c
        ON c.hand_seq = r.hand_seq AND c.street = r.street AND c.seat = r.seat AND c.slot = r.slot
"""
