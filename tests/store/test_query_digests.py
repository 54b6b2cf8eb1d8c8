"""SQL over damage: no answer, a sentence that names the file; and no file is compared in vain."""

import os
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from store.folder.disk import RealDisk
from store.folder.frames import Damaged
from store.reader import Reader
from store.sql.guard import Refused
from store.sql.query import Query
from store.sql.sessions import fetch_table
from tests.store.test_query import asking, filled


@pytest.mark.parametrize("ours", [False, True], ids=["a stranger's", "ours"])
@pytest.mark.parametrize("view", ["events", "hands", "players"])
def test_no_answer_comes_from_a_file_that_is_not_as_it_was_sealed(
    tmp_path: Path, view: str, ours: bool
) -> None:
    """DuckDB would answer from the spoiled bytes, or fail with words of its own."""
    filled(tmp_path, lambda count: count == 11).close()
    (path,) = (tmp_path / "segments").glob(f"{view}-*")
    asked = asking(Reader(tmp_path).snapshot(), ours)
    assert asked.ask(f"FROM {view}").num_rows
    whole = path.read_bytes()
    for place in (4, len(whole) // 2, len(whole) - 9):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        for one in (asked, asking(Reader(tmp_path).snapshot(), ours)):
            with pytest.raises(Damaged, match=f"^segments/{path.name} is not as it was sealed"):
                one.ask(f"FROM {view.upper()}")
    assert asked.ask("FROM pots").num_rows, "other files are as they were"
    path.write_bytes(whole)
    assert asked.ask(f"FROM {view}").num_rows


def test_a_digest_is_compared_once_while_the_file_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(tmp_path, lambda count: count == 11).close()
    (path,) = (tmp_path / "segments").glob("hands-*")
    os.utime(path, ns=(0, 0))  # long ago: of what has only just changed a time is no proof
    read: list[str] = []
    real = RealDisk.read

    def counted(disk: RealDisk, path: str, *given: int) -> bytes:
        read.extend([path] * path.startswith("segments/hands-"))
        return real(disk, path, *given)

    monkeypatch.setattr(RealDisk, "read", counted)
    asked = [Query(Reader(tmp_path).snapshot()) for _ in range(3)]
    for one in asked * 2:
        assert one.ask("FROM hands").num_rows
    assert 2 == len(read)  # its bytes, and that there are no more
    os.utime(path, ns=(1, 1))
    assert asked[0].ask("FROM hands").num_rows
    assert 4 == len(read)


def test_a_view_is_made_when_it_is_named(tmp_path: Path) -> None:
    """Whoever asks for pots folds no hand for the other tables, and opens none of their files."""
    filled(tmp_path, lambda count: count == 11).close()
    asked = Query(Reader(tmp_path).snapshot())
    for view in ("events", "hands", "players", "bids"):
        for path in (tmp_path / "segments").glob(f"{view}-*"):
            path.write_bytes(b"")
    assert asked.ask("SELECT * FROM pots NATURAL JOIN (FROM Pots)").num_rows
    with pytest.raises(Damaged, match="is not as it was sealed"):
        asked.ask("SELECT * FROM pots WHERE hand IN (SELECT hand FROM hands)")


def test_a_short_answer_is_remembered_as_long_as_its_files_are_what_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One over tables of its own is not, nor a long one, nor one that failed."""
    filled(tmp_path, lambda count: count == 11).close()
    query = Query(Reader(tmp_path).snapshot())
    counted: list[str] = []

    def asked(con: duckdb.DuckDBPyConnection, sql: str) -> pa.Table:
        counted.append(sql)
        return fetch_table(con, sql)

    monkeypatch.setattr("store.sql.query.fetch_table", asked)
    short, own, long = "SELECT sum(hand_seq) AS n FROM hands", "FROM mine", "FROM range(5000)"
    first = query.ask(short)
    for number in (1, 2):
        mine = pa.table({"n": [number]})
        assert mine == query.ask(own, also={"mine": mine})
        assert 5000 == query.ask(long).num_rows
        with pytest.raises(Refused, match="nothing"):
            query.ask("SELECT nothing FROM hands")
        assert first == query.ask(short)
    assert [1, 2, 2] == [counted.count(one) for one in (short, own, long)]
    (path,) = (tmp_path / "segments").glob("hands-*")
    whole = path.read_bytes()
    path.write_bytes(whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:])
    with pytest.raises(Damaged, match="is not as it was sealed"):
        query.ask(short)
