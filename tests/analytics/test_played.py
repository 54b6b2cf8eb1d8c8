"""One player's hands read from the files are those that SQL finds, whatever filters there are."""

import os
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from analytics.projections.facts import facts_projection
from analytics.sql import HandFilters
from analytics.statistics.compute import (
    PlayerFacts,
    fastest_source,
    find_statistics,
    sql_file_rows,
    statistic_values,
)
from api.questions.player_measures import has_row
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.viewer import Viewer
from dealer.play import play
from engine.games import GAMES
from events.ledger import Append
from store.folder.disk import RealDisk
from store.folder.frames import Damaged
from store.ledger import FileLedger
from store.reader import Reader
from store.sql.query import Query
from tests.profiles import sized

EVERY = find_statistics("all")
FACTS = facts_projection(lambda mark: None)
NEVER = 1 << 40  # hands that are sealed only when a test says so


SMALL = FACTS._replace(rows=50)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three matches in three segments of many row groups, the last of them without facts, and hands
    in the log."""
    found = tmp_path_factory.mktemp("played")
    ledger = FileLedger(RealDisk(found), (SMALL,), seal_hands=NEVER)
    for at, game in enumerate(("site-nl", "site-fl", "auction-2024", "urcs-1998")):
        if at == 2:
            ledger.close()
            ledger = FileLedger(RealDisk(found), (), seal_hands=NEVER)
        for number, events in enumerate(play(GAMES[game], f"m{at}", 40, "played"), 1):
            ledger.append(Append(f"m{at}/{number}", 0, events, 0))
        if at < 3:
            ledger.seal()
    return found


@pytest.fixture(scope="module")
def query(folder: Path) -> Query:
    return Query(Reader(folder).snapshot(), (SMALL,))


FILTERS: tuple[dict[str, Any], ...] = (
    {},
    {"by": "position"},
    {"by": "game"},
    {"by": "match"},
    {"by": "match", "match": "m1"},
    {"by": "position", "positions": ("BTN", "SB"), "game": "site-nl"},
    {"positions": ("BB",)},
    {"game": "auction-2024"},
    {"game": "no such"},
    {"match": "m3"},
    {"hands": (5, 30)},
    {"before": 77},
    {"before": 100, "hands": (11, 40), "by": "game"},
    {"by": "window"},
)
FEW = tuple(FILTERS[at] for at in (0, 4, 5, 8, 10, 12, 13))  # each filter and each part of them


class Slow:
    """All of them, in SQL alone."""

    def __init__(self, query: Query) -> None:
        self.ask, self.rows = query.ask, query.rows


@pytest.mark.parametrize("filters", sized(FEW, FILTERS), ids=str)
@pytest.mark.parametrize("player", ["random-0", *sized((), (), ("random-5", "nobody"))])
def test_what_is_read_is_what_sql_finds(query: Query, player: str, filters: dict[str, Any]) -> None:
    chosen = HandFilters(player=player, **filters)
    assert isinstance(fastest_source(query, chosen), PlayerFacts)
    slow = Slow(query)
    assert list(statistic_values(slow, chosen, EVERY)) == list(
        statistic_values(query, chosen, EVERY)
    )
    for file in ("dealt", "grid"):
        found, read = (_sorted(sql_file_rows(file, it, chosen)) for it in (slow, query))
        assert found == read


def _sorted(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Means to nine digits, in whatever order they were added up."""
    near = [
        {name: round(it, 9) if isinstance(it, float) else it for name, it in row.items()}
        for row in rows
    ]
    return sorted(near, key=repr)


def test_what_takes_more_than_one_pass_is_told_by_sql(query: Query) -> None:
    one = HandFilters(player="random-0")
    several = (replace(one, others=True), replace(one, vs="random-1"), replace(one, by="opponent"))
    for chosen in (HandFilters(), *several):
        assert fastest_source(query, chosen) is query


def test_who_is_told_less_than_everything_is_told_by_sql(folder: Path) -> None:
    viewed = LedgerView(Reader(folder).snapshot(), Viewer("public"))
    assert fastest_source(viewed.query, HandFilters(player="random-0")) is viewed.query


def test_a_snapshot_of_earlier_is_told_by_sql(folder: Path) -> None:
    now = Reader(folder).snapshot()
    early = Reader(folder).snapshot(f"{now.next_pos}.{now.next_seq - 60}")
    query = Query(early, (SMALL,))
    chosen = HandFilters(player="random-0")
    assert fastest_source(query, chosen) is query
    assert list(statistic_values(query, chosen, EVERY))


def test_one_player_needs_no_database(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(memory: str, threads: int) -> None:
        raise AssertionError("a database is opened")

    monkeypatch.setattr("store.sql.query.shared_engine", none)
    viewed = LedgerView(Reader(folder).snapshot(), Viewer("auditor"))
    assert has_row(viewed, "player", "random-1")
    assert not has_row(viewed, "player", "nobody")
    assert len(EVERY) == len(
        list(statistic_values(viewed.query, HandFilters(player="random-1"), EVERY))
    )
    with pytest.raises(AssertionError, match="a database is opened"):
        has_row(viewed, "match", "m0")


def test_no_statistic_comes_from_a_row_group_that_is_not_as_it_was_sealed(tmp_path: Path) -> None:
    """Not in a new process, and not when the file changes between two questions."""
    ledger = FileLedger(RealDisk(tmp_path), (SMALL,), seal_hands=NEVER)
    for number, events in enumerate(play(GAMES["site-nl"], "m", 40, "hurt"), 1):
        ledger.append(Append(f"m/{number}", 0, events, 0))
    ledger.seal()
    (path,) = (tmp_path / "segments").glob("facts-*")
    whole, chosen = path.read_bytes(), HandFilters(player="random-3")
    os.utime(path, ns=(0, 0))
    asked = Query(Reader(tmp_path).snapshot(), (SMALL,))
    assert list(statistic_values(asked, chosen, EVERY))
    for place in (4, len(whole) // 4, len(whole) - 9):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        for one in (asked, Query(Reader(tmp_path).snapshot(), (SMALL,))):
            with pytest.raises(Damaged, match=f"^segments/{path.name} is not as it was sealed"):
                list(statistic_values(one, chosen, EVERY))
    path.write_bytes(whole)
    assert list(statistic_values(asked, chosen, EVERY))


def test_a_file_that_tells_no_bounds_is_read_whole(
    folder: Path, query: Query, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ledgers of older versions have such files."""
    chosen = HandFilters(player="random-0")
    expected = list(statistic_values(query, chosen, EVERY))
    monkeypatch.setattr("store.segments.parquet_files._bounds", lambda told: (None, None))
    again = Query(Reader(folder).snapshot(), (SMALL,))
    assert expected == list(statistic_values(again, chosen, EVERY))
