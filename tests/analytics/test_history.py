"""Statistics as they stood before each hand: those of `stats --before`, and blind to the future."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from analytics.statistics.catalogue import STATISTICS
from dealer.deck import SeededDecks
from dealer.play import hand_records, plan
from engine.games import named
from events.ledger import Append
from events.types import Event, HandStarted
from store.ledger import open_ledger
from tests.profiles import sized
from tests.sessions import Captured, printed, said, told

HANDS = 40


def _hands(seed: str, match: str = "m") -> list[tuple[Event, ...]]:
    planned = plan(named("auction-2024"), match, HANDS, seed, ("random", "tight"))
    return list(hand_records(planned, SeededDecks(seed)))


def _kept(folder: Path, hands: Sequence[tuple[Event, ...]]) -> Path:
    ledger, lock = open_ledger(folder, "a test")
    for events in hands:
        assert isinstance(events[0], HandStarted)
        ledger.append(Append(events[0].hand, 0, events, 1))
    ledger.close()
    lock.release()
    return folder


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    hands = [*_hands("7"), *_hands("8", "second")]
    return _kept(tmp_path_factory.mktemp("history"), hands)


def _rows(capsys: Captured, folder: Path, *words: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = told(
        capsys, "history", "random-0", *words, "--ledger", str(folder)
    )["hands"]
    return rows


@pytest.mark.parametrize("filters", [(), *sized((), (("--match", "second"),)), ("--vs", "tight-1")])
def test_every_row_is_the_answer_of_stats_before_that_hand(
    filters: tuple[str, ...], here: Path, capsys: Captured
) -> None:
    rows = _rows(capsys, here, *filters)
    assert len(rows) == (HANDS if "--match" in filters else 2 * HANDS)
    for at in (0, *sized((2,), (1, 2, 17)), len(rows) - 1):
        words = ("stats", "random-0", *filters, "--before", rows[at]["hand"])
        players = told(capsys, *words, "--ledger", str(here))["players"]
        assert at == rows[at]["hands"]
        if not at:
            assert [] == players
            assert {0} == {rows[0][f"{name}_n"] for name in STATISTICS}
            continue
        for name, one in players[0]["stats"].items():
            mine = rows[at][name], rows[at][f"{name}_n"]
            assert mine == (pytest.approx(one["value"], abs=1e-6), one["n"]), name


def test_two_worlds_that_differ_only_afterwards_have_the_same_rows(
    tmp_path: Path, capsys: Captured
) -> None:
    """Up to the first hand that differs, whose row says nothing of it."""
    one, other = _hands("7"), _hands("9")
    worlds = (
        _kept(tmp_path / "one", one),
        _kept(tmp_path / "other", [*one[:20], *other[20:]]),
        _kept(tmp_path / "shorter", one[:21]),
    )
    first, second, shorter = (_rows(capsys, it) for it in worlds)
    assert first[:21] == second[:21] == shorter
    assert first[21:] != second[21:]


def test_files_have_every_statistic_and_people_a_few(
    here: Path, tmp_path: Path, capsys: Captured
) -> None:
    file = tmp_path / "history.parquet"
    words = ("history", "random-0", "--ledger", str(here))
    assert "" == printed(capsys, *words, "--out", str(file))
    frame = pl.read_parquet(file)
    columns = [column for name in STATISTICS for column in (name, f"{name}_n")]
    assert ["hand", "hands", *columns, "unit"] == frame.columns
    assert (2 * HANDS, 0) == (frame.height, frame["hands"][0])
    head, *lines = printed(capsys, *words).splitlines()
    assert ["before", "hands", "VPIP"] == head.split("\t")[:3]
    assert 2 * HANDS == len(lines)


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("nobody",), 5, "nobody called nobody was dealt a hand"),
        (("random-0", "--match", "x"), 5, "there is no hand of match x"),
        (("random-0", "--before", "m/99"), 5, "there is no hand m/99"),
    ],
)
def test_what_cannot_be_told_is_one_sentence(
    words: tuple[str, ...], code: int, sentence: str, here: Path, capsys: Captured
) -> None:
    assert said(capsys, code, "history", *words, "--ledger", str(here)).startswith(sentence)
