"""One player's hands read from the files are those that SQL finds, whatever filters there are."""

import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from msgspec.structs import replace

from analytics.sql.chosen import Chosen
from analytics.statistics.answers import answered, answers, named
from analytics.statistics.hands import Read, Told, played
from analytics.stored.facts import facts
from api.questions.players import is_there
from api.viewpoints.viewer import Viewer
from api.viewpoints.views import Viewed
from dealer.play import play
from engine.games import GAMES
from events.ledger import Append
from store.folder.disk import RealDisk
from store.folder.frames import Damaged
from store.ledger import FileLedger
from store.reader import Reader
from store.sql.query import Query
from store.tables.projection import EventRows, Projection
from tests.analytics.test_ways import unnumbered

EVERY = named("all")
FACTS = facts(lambda mark: None)
NEVER = 1 << 40  # hands that are sealed only when a test says so


def _odd(events: EventRows) -> pa.Table:
    """Facts of which those of every eighth hand have no numbers."""
    rows = FACTS.from_rows(events)
    return unnumbered(rows, pc.equal(pc.bit_wise_and(rows["hand_seq"], 7), 3))


ODD = Projection("facts", FACTS.version, _odd, FACTS.columns, rows=50)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three matches in three segments of many row groups, the last of them without facts, and hands
    in the log."""
    found = tmp_path_factory.mktemp("played")
    ledger = FileLedger(RealDisk(found), (ODD,), seal_hands=NEVER)
    for at, game in enumerate(("site-nl", "site-fl", "auction-2024", "urcs-1998")):
        if at == 2:
            ledger.close()
            ledger = FileLedger(RealDisk(found), (), seal_hands=NEVER)
        for number, events in enumerate(play(GAMES[game], f"m{at}", 40, "played"), 1):
            ledger.append(Append(f"m{at}/{number}", 0, events, 0))
        if at < 3:
            ledger.seal()
    return found


@pytest.fixture
def query(folder: Path) -> Query:
    return Query(Reader(folder).snapshot(), (ODD,))


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
)


@pytest.mark.parametrize("filters", FILTERS, ids=str)
@pytest.mark.parametrize("player", ["random-0", "random-5", "nobody"])
def test_what_is_read_is_what_sql_finds(query: Query, player: str, filters: dict[str, Any]) -> None:
    chosen = Chosen(player=player, **filters)
    read, told = played(query, chosen), Told(query, chosen)
    assert isinstance(read, Read)
    assert list(answered(told, EVERY)) == list(answered(read, EVERY))
    assert _sorted(told.dealt()) == _sorted(read.dealt())


def test_hands_without_numbers_are_among_them(query: Query) -> None:
    read = played(query, Chosen(player="random-0"))
    assert read.unusual().num_rows > 10
    assert read.often()["ways"].null_count > 5


def _sorted(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: (row["player"], row["part"]))


def test_what_takes_more_than_one_pass_is_told_by_sql(query: Query) -> None:
    one = Chosen(player="random-0")
    several = (replace(one, others=True), replace(one, vs="random-1"), replace(one, by="opponent"))
    for chosen in (Chosen(), *several, replace(one, by="window")):
        assert isinstance(played(query, chosen), Told)


def test_who_is_told_less_than_everything_is_told_by_sql(folder: Path) -> None:
    viewed = Viewed(Reader(folder).snapshot(), Viewer("public"))
    assert isinstance(played(viewed.query, Chosen(player="random-0")), Told)


def test_a_snapshot_of_earlier_is_told_by_sql(folder: Path) -> None:
    now = Reader(folder).snapshot()
    early = Reader(folder).snapshot(f"{now.next_pos}.{now.next_seq - 60}")
    query = Query(early, (ODD,))
    chosen = Chosen(player="random-0")
    assert isinstance(played(query, chosen), Told)
    assert list(answers(query, chosen, EVERY))


def test_one_player_needs_no_database(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(memory: str, threads: int) -> None:
        raise AssertionError("a database is opened")

    monkeypatch.setattr("store.sql.query.engine_of", none)
    viewed = Viewed(Reader(folder).snapshot(), Viewer("auditor"))
    assert is_there(viewed, "player", "random-1")
    assert not is_there(viewed, "player", "nobody")
    assert len(EVERY) == len(list(answers(viewed.query, Chosen(player="random-1"), EVERY)))
    with pytest.raises(AssertionError, match="a database is opened"):
        is_there(viewed, "match", "m0")


def test_no_statistic_comes_from_a_row_group_that_is_not_as_it_was_sealed(tmp_path: Path) -> None:
    """Not in a new process, and not when the file changes between two questions."""
    ledger = FileLedger(RealDisk(tmp_path), (ODD,), seal_hands=NEVER)
    for number, events in enumerate(play(GAMES["site-nl"], "m", 40, "hurt"), 1):
        ledger.append(Append(f"m/{number}", 0, events, 0))
    ledger.seal()
    (path,) = (tmp_path / "segments").glob("facts-*")
    whole, chosen = path.read_bytes(), Chosen(player="random-3")
    os.utime(path, ns=(0, 0))
    asked = Query(Reader(tmp_path).snapshot(), (ODD,))
    assert list(answers(asked, chosen, EVERY))
    for place in (4, len(whole) // 4, len(whole) - 9):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        for one in (asked, Query(Reader(tmp_path).snapshot(), (ODD,))):
            with pytest.raises(Damaged, match=f"^segments/{path.name} is not as it was sealed"):
                list(answers(one, chosen, EVERY))
    path.write_bytes(whole)
    assert list(answers(asked, chosen, EVERY))


def test_a_file_that_tells_no_bounds_is_read_whole(
    folder: Path, query: Query, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ledgers of older versions have such files."""
    chosen = Chosen(player="random-0")
    expected = list(answers(query, chosen, EVERY))
    monkeypatch.setattr("store.segments.reading._bounds", lambda told: (None, None))
    again = Query(Reader(folder).snapshot(), (ODD,))
    assert expected == list(answers(again, chosen, EVERY))
