"""The views that somebody asks in SQL are the tables that are made of what he sees, and no more."""

from collections.abc import Iterator

import pyarrow as pa
import pytest

from analytics.projections.facts import facts_projection
from api.exporting.redacted_tables import TABLES, view_tables
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.redaction import Redactor
from api.viewpoints.viewer import Viewer
from engine.games import GAMES
from store.log.streams import Leaf
from store.reader import Snapshot
from store.sql.result_values import json_rows
from store.tables.projection import STANDARD
from tests.asking.seen_ledgers import in_order, ledger_of, matches, viewers
from tests.hands import covering, steps
from tests.profiles import sized

SOME = sized(quick=covering(GAMES, steps), ci=covering(GAMES, steps), slow=GAMES)
PLAYED = matches(SOME.values())
VIEWERS = viewers(PLAYED)
STRANGERS = sized((), VIEWERS[:1], VIEWERS)  # others are asked in `test_viewed_stranger` first
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


@pytest.fixture(scope="module")
def leaves(snapshot: Snapshot) -> list[Leaf]:
    """All that was recorded, read once."""
    return list(snapshot.leaves())


def same(expected: pa.Table, got: pa.Table) -> None:
    """The same rows; where they are not, those of both sides that differ."""
    assert expected.column_names == got.column_names
    here, there = in_order(expected, got.schema), in_order(got, got.schema)
    if here != there:
        assert here.to_pylist() == there.to_pylist()


def test_every_view_is_what_is_made_of_sight_alone(viewed: LedgerView, leaves: list[Leaf]) -> None:
    for name in TABLES:
        expected = pa.concat_tables(view_tables(leaves, name, viewed.redactor))
        same(expected, viewed.ask(f"FROM {name}"))
        if name != "facts" and viewed.viewer in STRANGERS:  # a stranger's SQL reaches no facts
            same(expected, viewed.ask_untrusted(f"FROM {name}"))


def test_facts_are_those_of_the_events_that_are_seen(
    viewed: LedgerView, snapshot: Snapshot
) -> None:
    """Nothing in them but the class of hole cards depends on what is hidden."""
    redactor = viewed.redactor
    seen = [
        leaf if redactor.viewer.auditor else redactor.redact(leaf).leaf
        for leaf in snapshot.leaves()
    ]
    same(
        facts_projection(snapshot.ruleset).build(seen),
        viewed.ask("SELECT * EXCLUDE (hand, unit) FROM facts"),
    )


def test_a_hand_is_seen_as_its_rows_are(viewed: LedgerView, snapshot: Snapshot) -> None:
    counted = {row["hand"]: row["events"] for row in viewed.rows("SELECT hand, events FROM hands")}
    for hand in [*counted][:: sized(3, 2, 1)]:
        assert counted[hand] == len(viewed.redacted_hand(hand).events)
    assert {one.hand for one in snapshot.hands()} == counted.keys()


def test_who_may_see_everything_of_a_match_sees_what_the_auditor_does(snapshot: Snapshot) -> None:
    public, auditor = LedgerView(snapshot, Viewer()), LedgerView(snapshot, Viewer("auditor"))
    told = {one.name for one in PLAYED if one.kind in ("open", "after")}
    assert told == public.open_matches == auditor.open_matches
    for name in (one.name for one in STANDARD):
        columns = ", ".join(f'"{it}"' for it in public.ask(f"FROM {name} LIMIT 0").column_names)
        opened = ", ".join(f"'{match}'" for match in sorted(public.open_matches))
        sql = f"SELECT {columns} FROM {name} WHERE match IN ({opened}) ORDER BY ALL"
        assert auditor.rows(sql) == public.rows(sql) == json_rows(public.ask_untrusted(sql))


def test_the_ledgers_have_what_is_hidden_and_what_is_not(snapshot: Snapshot) -> None:
    """The laws above are not empty: there are gaps, voids, secrets and shown cards."""
    auditor, public = LedgerView(snapshot, Viewer("auditor")), LedgerView(snapshot, Viewer())
    sql = "SELECT count(*) AS n FROM"
    (voided,) = auditor.rows(f"{sql} hands WHERE voided")
    assert voided["n"] > len(SOME)
    (bids,) = auditor.rows(f"{sql} events WHERE type = 'BidPlaced'")
    (all_rows,), (seen_rows,) = (one.rows(f"{sql} events") for one in (auditor, public))
    assert 4 < all_rows["n"] - seen_rows["n"] < bids["n"]
    (hidden,) = public.rows(f"{sql} players WHERE hole LIKE '%hidden%'")
    (known,) = public.rows(f"{sql} players WHERE hole NOT LIKE '%hidden%'")
    assert hidden["n"] > 0
    assert known["n"] > 0


def test_eyes_that_are_a_seat_s_in_one_match_see_nothing_of_his_in_another(
    snapshot: Snapshot,
) -> None:
    his = tuple(one.name for one in PLAYED if one.kind == "after")
    redactor = Redactor(snapshot, Viewer("seat:ursa", his))
    rows = pa.concat_tables(view_tables(snapshot.leaves(), "players", redactor)).to_pylist()
    closed = [row for row in rows if row["match"].startswith("closed")]
    assert closed
    assert all(row["showed"] or "hidden" in row["hole"] or not row["hole"] for row in closed)
