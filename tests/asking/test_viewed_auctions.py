"""Auctions, swaps and luck as stored, seen through other eyes: what is made of their events alone.

The stored rows are masked in SQL. Here the same rows are made by walking every hand as it is seen.
"""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from analytics.projections.auctions import SCHEMA
from analytics.projections.equity import RunOut, find_run_out
from analytics.projections.facts import PROJECTION_NAMES, ruleset_projections
from analytics.replay.rules import Rulebook
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.redaction import with_settled_bids
from engine.games import GAMES
from events.ledger import is_match
from store.columns.codec import arrow_table
from store.log.streams import Leaf
from store.reader import Snapshot
from tests.analytics import walked_auctions, walked_played, walked_risks
from tests.asking.seen_ledgers import ledger_of, matches, sorted_rows, viewers
from tests.hands import covering, steps
from tests.profiles import sized

PLAYED = matches(sized(quick=covering(GAMES, steps), ci=covering(GAMES), slow=GAMES).values())
VIEWERS = viewers(PLAYED)
names = [f"{one.view} in {len(one.matches) or 'all'}" for one in VIEWERS]


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    """Matches of every game."""
    return ledger_of(tmp_path_factory.mktemp("seen"), PLAYED)


@pytest.fixture(scope="module", params=VIEWERS, ids=names)
def viewed(request: pytest.FixtureRequest, snapshot: Snapshot) -> Iterator[LedgerView]:
    """The ledger through somebody's eyes."""
    made = LedgerView(snapshot, request.param)
    yield made
    made.close()


def seen(viewed: LedgerView) -> list[Leaf]:
    """Every hand as he sees it, each bid where its settlement told it."""
    every = (leaf for leaf in viewed.snapshot.leaves() if not is_match(leaf.stream))
    eyes = viewed.redactor
    return [leaf if eyes.viewer.auditor else with_settled_bids(eyes.redact(leaf)) for leaf in every]


def test_auctions_are_those_that_are_walked(viewed: LedgerView) -> None:
    walked = [row for leaf in seen(viewed) for row in walked_auctions.rows_of(leaf)]
    expected = arrow_table(walked, SCHEMA)
    got = viewed.ask("SELECT * EXCLUDE (hand) FROM auctions").select(expected.column_names)
    assert expected.num_rows
    assert sorted_rows(expected.drop_columns("plain")) == sorted_rows(got.drop_columns("plain"))


def test_cards_at_risk_are_those_that_are_walked(viewed: LedgerView) -> None:
    expected = walked_risks.build(viewed.snapshot.ruleset, seen(viewed))
    got = viewed.ask("SELECT * EXCLUDE (hand) FROM risks").select(expected.column_names)
    assert expected.num_rows
    assert sorted_rows(expected) == sorted_rows(got)


def test_what_hands_came_to_is_what_is_walked(viewed: LedgerView) -> None:
    expected = walked_played.build(viewed.snapshot.ruleset, seen(viewed))
    got = viewed.ask("SELECT * EXCLUDE (hand) FROM played").select(expected.column_names)
    lucky = ["spot", "why"]  # elsewhere these are for the hand's own walk to say
    if not viewed.viewer.auditor:
        opened = pa.array(sorted(viewed.open_matches), pa.string())
        mine = pc.is_in(expected["match"], opened)
        theirs = pc.is_in(got["match"], opened)
        assert sorted_rows(expected.filter(mine)) == sorted_rows(got.filter(theirs))
        assert got.filter(pc.invert(theirs))["spot"].null_count == len(
            got.filter(pc.invert(theirs))
        )
        expected, got = expected.drop_columns(lucky), got.drop_columns(lucky)
    assert sorted_rows(expected) == sorted_rows(got)


def test_no_hand_closes_for_somebody_that_may_not_close_for_all(viewed: LedgerView) -> None:
    """`may_close` chooses the hands that are looked at: it must be the same for all, and leave
    out none that anybody could count."""
    rules = Rulebook(viewed.snapshot.ruleset)
    every = [leaf for leaf in viewed.snapshot.leaves() if not is_match(leaf.stream)]
    counted = 0
    for whole, leaf in zip(every, seen(viewed), strict=True):
        end, events = leaf.hand, [one.event for one in leaf.recorded]
        if end is None or end.voided or whole.hand is None:
            continue
        game = rules.of(end.start.ruleset)
        assert game is not None
        may = walked_played.may_close(events, end)
        assert walked_played.may_close([one.event for one in whole.recorded], whole.hand) == may
        found = find_run_out(events, end, game)
        assert may or found is None
        counted += isinstance(found, RunOut)
    assert counted or not viewed.viewer.auditor


def test_every_stored_table_is_made_of_leaves_alone(snapshot: Snapshot) -> None:
    """Building in parts and joining the parts gives the same table."""
    leaves = list(snapshot.leaves())
    tables = ruleset_projections(snapshot.ruleset)
    assert PROJECTION_NAMES == tuple(one.name for one in tables)
    for one in tables:
        whole = one.build(leaves)
        halves = [one.build(leaves[: len(leaves) // 2]), one.build(leaves[len(leaves) // 2 :])]
        assert whole == pa.concat_tables(halves).combine_chunks()
        assert whole.num_rows
