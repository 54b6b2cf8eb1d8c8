"""Pages of hands are all hands once, in order; facets are counts of filters; worlds look alike."""

import random
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.questions.declared import hands
from api.questions.declared.hands import HandRow, list_key, read_hands
from api.questions.filters_hands import FACETS, _cached_facets, facets
from api.questions.filters_parser import parse_filter
from api.questions.filters_sql import filter_sql
from api.questions.filters_tree import Filter
from api.questions.judging import verdict_table
from api.questions.verdicts import Judged, Verdicts
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.viewer import Viewer
from engine.games import RULESETS
from events import types as t
from events.types import Events
from store.reader import Snapshot
from store.sql.guard import Refused
from tests.asking.seen_ledgers import ledger_of, matches, worlds
from tests.exports import start_of
from tests.profiles import examples, sized

GAMES = ("auction-2024", "swap-2022", "probability", *sized((), ("site-nl-standard",)))
PLAYED = matches(RULESETS[game] for game in GAMES)
VIEWS = ("auditor", "public", "seat:ursa")
FILTERS = (
    *("", "pot>20 & !voided", "showdown | walk", "ursa:net>0", "contested", "verdict=agree"),
    *("hole=A?", "!hole=A?", "bid>0", "swapped | !swapped", "pot=123456"),
)
SECRETS = ("", "ursa:net>0", "hole=A?", "!hole=A?", "bid>0", "swapped | !swapped", "verdict=agree")


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    return ledger_of(tmp_path_factory.mktemp("listed") / "ledger", PLAYED)


@pytest.fixture(scope="module")
def judged(snapshot: Snapshot, tmp_path_factory: pytest.TempPathFactory) -> Judged:
    return Verdicts(tmp_path_factory.mktemp("verdicts")).known(snapshot, snapshot.next_seq)


@pytest.fixture(scope="module")
def eyes(snapshot: Snapshot) -> dict[str, LedgerView]:
    return {view: LedgerView(snapshot, Viewer(view)) for view in VIEWS}


def in_order(viewed: LedgerView, one: Filter, judged: Judged) -> list[str]:
    """The hands that pass, asked for in one question."""
    condition = filter_sql(one, None, verdict_table(viewed, judged))
    rows = viewed.rows(f"SELECT hand FROM hands WHERE {condition} ORDER BY hand_seq")
    return [row["hand"] for row in rows]


@examples(4)
@given(
    text=st.sampled_from(FILTERS),
    view=st.sampled_from(VIEWS),
    limit=st.sampled_from((13, 60, 500)),
    newest=st.booleans(),
    window=st.sampled_from((1, 64, 8192)),
)
def test_pages_are_all_hands_once_in_their_order(
    text: str,
    view: str,
    limit: int,
    newest: bool,
    window: int,
    eyes: dict[str, LedgerView],
    judged: Judged,
) -> None:
    viewed, one = eyes[view], parse_filter(text)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(hands, "FIRST_WINDOW", window)
        found: list[str] = []
        after: int | None = None
        for _ in range(500):
            told = read_hands(viewed, one, after, limit, newest, judged)
            assert len(told.rows) == limit or told.next is None
            found += [row.hand for row in told.rows]
            if told.next is None:
                break
            after = told.next
            assert after == list_key(viewed, found[-1])
    expected = in_order(viewed, one, judged)
    assert (expected[::-1] if newest else expected) == found


def test_a_row_says_what_was_played(snapshot: Snapshot, eyes: dict[str, LedgerView]) -> None:
    streets = {0: "preflop", 3: "flop", 4: "turn", 5: "river"}
    rows = {row.hand: row for row in read_hands(eyes["public"], limit=1_000).rows}
    hands = [one.hand for one in snapshot.hands()]
    assert hands == list(rows)
    for hand in hands:
        record = cast(Events, tuple(one.event for one in snapshot.read(hand)))
        row, start = rows[hand], start_of(record)
        board = [card for one in record if isinstance(one, t.BoardDealt) for card in one.cards]
        match, _, number = hand.rpartition("/")
        assert (match, int(number)) == (row.match, row.number)
        assert (list(start.players), board) == (row.players, row.board)
        assert streets[len(board)] == row.street
        won = [name for name, net in zip(start.players, row.net, strict=True) if net > 0]
        assert set(won) <= set(row.winners)
        paid = {seat for one in record if isinstance(one, t.PotSplit) for seat in one.seats}
        assert set(row.winners) <= {start.players[seat] for seat in paid}
        assert bool(row.winners) != row.void


def test_verdicts_are_told_as_far_as_they_are_known(
    eyes: dict[str, LedgerView], judged: Judged
) -> None:
    told = {
        view: {row.hand: row.verdict for row in read_hands(one, limit=1_000, judged=judged).rows}
        for view, one in eyes.items()
    }
    assert None not in told["auditor"].values()
    for hand, verdict in told["public"].items():
        is_open = hand.startswith(("open-", "after-"))
        assert verdict == (told["auditor"][hand] if is_open else None)
    unjudged = read_hands(eyes["auditor"], parse_filter("verdict=agree"), limit=1_000)
    assert [] == unjudged.rows
    assert {None} == {row.verdict for row in read_hands(eyes["auditor"], limit=1_000).rows}


@pytest.mark.parametrize("view", sized(VIEWS[2:], VIEWS[1:2], VIEWS))
@pytest.mark.parametrize("text", sized(FILTERS[::2], FILTERS[1::2], FILTERS))
def test_each_value_of_a_facet_finds_as_many_hands_as_it_says(
    view: str, text: str, eyes: dict[str, LedgerView], judged: Judged
) -> None:
    viewed, one = eyes[view], parse_filter(text)
    counted = facets(viewed, one, judged)
    assert len(in_order(viewed, one, judged)) == counted.hands
    for name in FACETS:
        for value in getattr(counted, name)[:: sized(3, 3, 1)]:
            narrowed = in_order(viewed, parse_filter(value.filter), judged)
            assert value.hands == len(narrowed), value
        sizes = [value.hands for value in getattr(counted, name)]
        assert name == "street" or all(more >= less for more, less in pairwise(sizes))
    for name in ("game", "street", "showdown"):
        assert sum(value.hands for value in getattr(counted, name)) == counted.hands
    passed = in_order(viewed, one, judged)
    assert _outcomes(viewed, passed) == {it.value: it.hands for it in counted.auction}
    verdicts = sum(value.hands for value in counted.verdict)
    assert verdicts == sum(1 for row in _rows(viewed, one, judged) if row.verdict)


def _outcomes(viewed: LedgerView, passed: list[str]) -> dict[str, int]:
    """Hand by hand: by how many won its auctions, if it was not voided."""
    won = Counter(row["hand"] for row in viewed.rows("SELECT hand FROM bids WHERE won"))
    voided = {row["hand"] for row in viewed.rows("SELECT hand FROM hands WHERE voided")}
    names = [("none", "won", "tied")[min(2, won[hand])] for hand in passed if hand not in voided]
    return dict(Counter(names))


def _rows(viewed: LedgerView, one: Filter, judged: Judged) -> list[HandRow]:
    return read_hands(viewed, one, limit=1_000_000, judged=judged).rows


def test_what_was_counted_is_told_again_until_more_is_judged(
    eyes: dict[str, LedgerView], judged: Judged, monkeypatch: pytest.MonkeyPatch
) -> None:
    viewed, one = eyes["auditor"], parse_filter("pot>=1")
    first = facets(viewed, one, judged)
    with monkeypatch.context() as patched:
        patched.setattr(viewed.query, "ask", None)
        assert first == facets(viewed, one, judged)
    none = Judged(judged.rows.slice(0, 0), judged.rows.num_rows)
    assert first.verdict
    assert [] == facets(viewed, one, none).verdict
    assert first == facets(viewed, one, judged)


def test_only_so_many_counts_are_kept(
    eyes: dict[str, LedgerView], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.questions.filters_hands.FACETS_MAX", 2)
    viewed = eyes["public"]
    for least in (1, 2, 1, 3):
        facets(viewed, parse_filter(f"pot>={least}"))
    assert ["pot>=1", "pot>=3"] == list(_cached_facets[viewed.query])


def test_only_the_largest_of_many_are_told(eyes: dict[str, LedgerView]) -> None:
    counted = facets(eyes["public"])
    assert len({one.name for one in PLAYED}) > 10 == len(counted.match)
    assert 10 == len(counted.player)


def test_a_page_takes_no_longer_than_it_may(eyes: dict[str, LedgerView]) -> None:
    with pytest.raises(Refused, match="stopped: no answer within 0 s"):
        read_hands(eyes["public"], seconds=0)


TWO_WORLDS = sized(SECRETS, SECRETS, FILTERS)
Listed = dict[str, tuple[Any, Any]]


def listed_worlds(folder: Path, seen_by: Viewer) -> list[tuple[Snapshot, Judged]]:
    """Two ledgers that a viewer cannot tell apart, with their verdicts."""
    played = PLAYED[: sized(10, len(PLAYED))]
    others = worlds(played, seen_by, random.Random(5))
    assert played != others
    found = []
    for name, one in (("here", played), ("there", others)):
        snapshot = ledger_of(folder / name, one, name)
        judged = Verdicts(folder / "cache").known(snapshot, snapshot.next_seq)
        found.append((snapshot, judged))
    return found


def listed(world: tuple[Snapshot, Judged], viewer: Viewer, texts: Iterable[str]) -> Listed:
    """What is answered of each filter: its hands, and what they have."""
    snapshot, judged = world
    viewed = LedgerView(snapshot, viewer)
    told: Listed = {}
    for text in texts:
        one = parse_filter(text)
        told[text] = (
            read_hands(viewed, one, limit=1_000, judged=judged),
            facets(viewed, one, judged),
        )
    viewed.close()
    return told


@pytest.fixture(scope="module", params=["seat:ursa", *sized([], ["public"])])
def in_two_worlds(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Viewer, list[tuple[Snapshot, Judged]]]:
    viewer = Viewer(request.param)
    return viewer, listed_worlds(tmp_path_factory.mktemp("worlds"), viewer)


def test_worlds_that_a_viewer_cannot_tell_apart_are_listed_alike(
    in_two_worlds: tuple[Viewer, list[tuple[Snapshot, Judged]]],
) -> None:
    viewer, both = in_two_worlds
    here, there = (listed(world, viewer, TWO_WORLDS) for world in both)
    assert here[""][0].rows
    assert here == there


def test_an_auditor_would_tell_them_apart(
    in_two_worlds: tuple[Viewer, list[tuple[Snapshot, Judged]]],
) -> None:
    """The law above is not empty: filters by cards, bids and verdicts count otherwise."""
    texts = ("hole=A?", "!hole=A?", "bid>0", "verdict=agree")
    here, there = (listed(world, Viewer("auditor"), texts) for world in in_two_worlds[1])
    counts = {text: (here[text][1].hands, there[text][1].hands) for text in texts}
    assert all(one != other for one, other in counts.values()), counts
