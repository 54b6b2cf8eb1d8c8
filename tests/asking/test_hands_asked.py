"""A question reads and counts the hands that it is about, and makes nobody else wait."""

from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from api.main import main
from api.playing.recording import ledger_projections
from api.problem import Problem
from api.questions import filters_hands as spreads
from api.questions.declared.fairness import FairnessParams, fairness
from api.questions.filters_hands import facets
from api.questions.filters_parser import parse_filter
from api.questions.luck import street_luck
from api.questions.opponent_report import OpponentParams, report
from api.questions.player_measures import check_hand_count, count_hands, player_filters
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.viewer import Viewer
from store.ledger import open_ledger
from store.reader import Reader
from store.segments.reading import SegmentFiles

PLAYED = (("mine", 4, "2"), ("theirs", 6, "3"), ("also", 5, "2"))  # hands, and seats


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three matches, each sealed by itself; in one of them a third player sits."""
    folder = tmp_path_factory.mktemp("asked") / "ledger"
    for match, hands, seats in PLAYED:
        words = ("--hands", str(hands), "--seats", seats, "--seed", match, "--match", match)
        assert main(["play", "site-nl", *words, "--ledger", str(folder)]) == 0
        ledger, lock = open_ledger(folder, "a test", ledger_projections(folder))
        ledger.seal()
        ledger.close()
        lock.release()
    return folder


@pytest.fixture(params=["auditor", "public"])
def viewed(request: pytest.FixtureRequest, folder: Path) -> Iterator[LedgerView]:
    viewed = LedgerView(Reader(folder).snapshot(), Viewer(request.param))
    yield viewed
    viewed.close()


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The first place in each segment whose events are read."""
    read: list[int] = []
    events = SegmentFiles.events

    def noted(self: SegmentFiles, segment: Any, *asked: Any) -> Any:
        read.append(segment.first_seq)
        return events(self, segment, *asked)

    monkeypatch.setattr(SegmentFiles, "events", noted)
    return read


def test_a_report_on_an_opponent_reads_no_hand_that_he_was_not_dealt_in(
    viewed: LedgerView, read: list[int]
) -> None:
    found = report(viewed, OpponentParams("random-2", spots=0))
    assert 6 == found.hands
    assert 1 == len(set(read))


def test_luck_reads_no_hand_that_he_was_not_dealt_in(viewed: LedgerView, read: list[int]) -> None:
    street_luck(viewed, player_filters(viewed, "random-2"), 1)
    assert 1 == len(set(read))


def test_a_limit_counts_the_hands_that_the_filters_leave(viewed: LedgerView) -> None:
    """Neither hands of others nor records of matches are among them."""
    asked = {
        15: OpponentParams("random-0"),
        4: OpponentParams("random-0", match="mine"),
        6: OpponentParams("random-0", vs="random-2"),
        2: OpponentParams("random-0", match="also", hands="2-3"),
    }
    assert [*asked] == [count_hands(viewed, params) for params in asked.values()]
    check_hand_count(viewed, asked[2], 2, "no more")
    with pytest.raises(Problem, match="these are 2 hands, and no more"):
        check_hand_count(viewed, asked[2], 1, "no more")


@pytest.mark.parametrize(("match", "hands"), [(None, 15), ("mine", 4)])
def test_how_far_a_test_of_fairness_is_counts_hands_and_no_records(
    folder: Path, match: str | None, hands: int
) -> None:
    told = []

    def watch(items: Any, doing: str, total: int) -> Any:
        items = list(items)
        told.append((doing, len(items), total))
        return items

    viewed = LedgerView(Reader(folder).snapshot(), Viewer("auditor"))
    fairness(viewed, FairnessParams(match), watch)
    assert ("reading hands", hands, hands) == told[0]


def test_a_count_of_one_visitor_makes_no_other_wait(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first is held inside; who asks something else of the same views is answered."""
    viewed = LedgerView(Reader(folder).snapshot(), Viewer())
    inside, go_on = Event(), Event()
    counted = spreads._count_facets

    def held(viewed: LedgerView, one: Any, *rest: Any) -> Any:
        if one == parse_filter("pot>5"):
            inside.set()
            assert go_on.wait(60)
        return counted(viewed, one, *rest)

    monkeypatch.setattr(spreads, "_count_facets", held)
    first = Thread(target=facets, args=(viewed, parse_filter("pot>5")))
    first.start()
    assert inside.wait(60)
    try:
        assert 15 == facets(viewed, seconds=30).hands
    finally:
        go_on.set()
        first.join()
    viewed.close()
