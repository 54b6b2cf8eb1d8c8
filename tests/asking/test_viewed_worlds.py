"""Two ledgers that differ only in what a viewer may not see answer him alike."""

import random
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from analytics.sql import HandFilters
from analytics.statistics.compute import find_statistics, statistic_values
from api.exporting.redacted_tables import TABLES
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.viewer import Viewer
from engine.games import GAMES
from store.sql.guard import Refused
from tests.asking.seen_ledgers import ledger_of, matches, viewers, worlds
from tests.profiles import sized

SOME = (
    "auction-2024",
    "swap-2022-mit",
    "bounty-2025-mit",
    *sized((), (), ("probability", "urcs-1998")),
)
PLAYED = matches(GAMES[name] for name in SOME)
EVERY = tuple(one for one in viewers(PLAYED) if not one.auditor)
CURIOUS = sized(EVERY[1:2], EVERY[2:], EVERY)  # the public is first in `test_viewed_law`
APPROXIMATE = "std, avg, q25, q50, q75"  # these depend on the order of threads
SELDOM = (
    "SELECT hand, events, last_at FROM hands WHERE events > 20",
    "SELECT hole, count(*), sum(net) FROM players GROUP BY hole",
    "SELECT count(*) FROM players WHERE hole LIKE 'A%A%'",
    "SELECT player, avg(amount), max(amount), count(origin) FROM bids GROUP BY player",
    "SELECT street, changed, count(*) FROM swaps GROUP BY ALL",
    "SELECT hand_seq, max(idx), sum(amount), list(redacted ORDER BY idx) FROM events GROUP BY ALL",
    "SELECT raw, \"where\", count(*) FROM events WHERE type = 'Faulted' GROUP BY ALL",
    "SELECT rank, hit, payer, count(*) FROM events GROUP BY ALL",
    "SELECT seed, header, footer FROM events WHERE number IS NULL",
    "SELECT * FROM events e JOIN events f ON e.hand_seq = f.hand_seq AND e.idx = f.idx + 1",
    f"SELECT * EXCLUDE ({APPROXIMATE}) FROM (SUMMARIZE events)",
    f"SELECT * EXCLUDE ({APPROXIMATE}) FROM (SUMMARIZE players)",
    "SELECT player, street, action, max(amount), count(origin) FROM decisions GROUP BY ALL",
    "SELECT made, tenth, hole, count(*), sum(think_ms) FROM decisions GROUP BY ALL",
    f"SELECT * EXCLUDE ({APPROXIMATE}) FROM (SUMMARIZE decisions)",
    "DESCRIBE bids",
)
FAILING = (
    "SELECT CAST(hole AS INTEGER) FROM players WHERE hole LIKE 'hidden%'",
    "SELECT CAST(cards AS INTEGER) FROM events WHERE redacted = 'cards'",
    "SELECT CASE WHEN amount IS NULL THEN 0 ELSE error('told') END FROM bids",
    "SELECT error('met') FROM events WHERE type = 'Faulted' AND \"where\" = 'bid'",
    "FROM events WHERE CASE WHEN \"where\" = 'bid' AND {closed} THEN error('met') ELSE true END",
    "FROM events WHERE CASE WHEN raw = 'A1.6' AND {closed} THEN error('met') ELSE true END",
    "FROM events WHERE CASE WHEN old <> new AND {closed} THEN error('met') ELSE true END",
    "FROM swaps WHERE CASE WHEN changed AND {closed} THEN error('met') ELSE true END",
    "FROM players WHERE CASE WHEN hole LIKE '%A%' AND {closed} THEN error('met') ELSE true END",
    "SELECT sum(CASE WHEN origin <> 'hidden' AND {closed} THEN error('met') ELSE 1 END) FROM bids",
    "FROM decisions WHERE CASE WHEN hole LIKE '%A%' AND {closed} THEN error('met') ELSE true END",
    "FROM decisions WHERE CASE WHEN amount > 9 AND {closed} THEN error('met') ELSE true END",
    "FROM decisions WHERE CASE WHEN made <> 'pair' AND {closed} THEN error('met') ELSE true END",
    "SELECT pos FROM events",
    "SELECT first_pos FROM hands",
    "SELECT told FROM swaps",
)
CLOSED = "(match LIKE 'closed%' OR match LIKE 'bare%')"


@pytest.fixture(scope="module", params=CURIOUS, ids=lambda one: f"{one.view} {len(one.matches)}")
def pair(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[LedgerView, LedgerView]:
    """Through the same eyes, a ledger and another."""
    viewer: Viewer = request.param
    folder = tmp_path_factory.mktemp("worlds")
    others = worlds(PLAYED, viewer, random.Random(repr(viewer)))
    assert PLAYED != others
    here, there = ledger_of(folder / "here", PLAYED), ledger_of(folder / "there", others, "other")
    return LedgerView(here, viewer), LedgerView(there, viewer)


def differing(
    pair: tuple[LedgerView, LedgerView],
    asked: tuple[str, ...],
    ask: Callable[[LedgerView, str], Any],
) -> list[str]:
    here, there = pair
    return [sql for sql in asked if ask(here, sql) != ask(there, sql)]


def test_every_row_is_the_same(pair: tuple[LedgerView, LedgerView]) -> None:
    asked = tuple(f"FROM {name} ORDER BY ALL" for name in TABLES)
    assert [] == differing(pair, asked, LedgerView.ask)
    # A stranger's rows are copies of our own (`test_viewed_law`); facts he does not reach.
    few = tuple(sql for sql in asked if "bids" in sql or "decisions" in sql)
    assert [] == differing(pair, sized(few, few, asked[:-1]), LedgerView.ask_untrusted)


def test_every_question_has_the_same_answer(pair: tuple[LedgerView, LedgerView]) -> None:
    asked = tuple(f"FROM ({sql}) ORDER BY ALL" for sql in SELDOM[:: sized(4, 2, 1)])
    assert [] == differing(pair, asked, LedgerView.ask_untrusted)


def test_every_failure_is_the_same_sentence(pair: tuple[LedgerView, LedgerView]) -> None:
    """A condition that fails on what it meets tells what it met."""

    def ask(viewed: LedgerView, sql: str) -> pa.Table | str:
        try:
            return viewed.ask_untrusted(f"FROM ({sql.format(closed=CLOSED)}) ORDER BY ALL")
        except Refused as refusal:
            return str(refusal)

    assert [] == differing(pair, sized(FAILING[::4], FAILING[::2], FAILING), ask)


def test_every_statistic_is_the_same(pair: tuple[LedgerView, LedgerView]) -> None:
    """Sums of fractions differ in their last digits with the order of threads."""
    told = [list(statistic_values(one, HandFilters(), find_statistics("all"))) for one in pair]
    here, there = (
        [(*it[:3], *(n if n is None else round(n, 6) for n in it[3:8])) for it in one]
        for one in told
    )
    assert here
    assert here == there


def test_every_hand_is_seen_alike(pair: tuple[LedgerView, LedgerView]) -> None:
    here, there = pair
    for hand in [one.hand for one in here.snapshot.hands()][::7]:
        assert here.redacted_hand(hand) == there.redacted_hand(hand)


def test_an_auditor_can_tell_the_worlds_apart(pair: tuple[LedgerView, LedgerView]) -> None:
    """The law above is not empty: every view has a difference, but the one without a secret."""
    here, there = (LedgerView(one.snapshot, Viewer("auditor")) for one in pair)
    names = TABLES
    asked = {name: f"FROM {name} ORDER BY ALL" for name in names}
    assert ["pots"] == [it for it, sql in asked.items() if here.ask(sql) == there.ask(sql)]
