"""`export --format delta` and `iceberg`: other programs read the ledger's own files as tables."""

import json
import os
import shutil
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from api.cli.export import LAKEHOUSES, TABLES
from api.main import main
from api.playing.recording import ledger_projections
from store.columns import layout
from store.reader import Reader
from store.sql.query import Query
from store.sql.result_values import json_rows
from tests.archive.ledgers import files, grow, push
from tests.profiles import sized
from tests.sessions import printed, said

Captured = pytest.CaptureFixture[str]


def _library(name: str) -> Any:
    """A library that CI has; elsewhere the test is skipped with the reason."""
    if os.environ.get("MUCKRAKE_LAKEHOUSE") == "require":
        return __import__(name)
    return pytest.importorskip(name, reason=f"{name} reads such tables; CI installs it")


def _rows(to: str, out: Path, table: str) -> pa.Table:
    """Stored rows of a table, as a program reads them that knows nothing of muckrake."""
    if to == "delta":
        deltalake = _library("deltalake")
        delta = deltalake.DeltaTable((out / table).as_uri())
        found = deltalake.QueryBuilder().register(table, delta).execute(f"SELECT * FROM {table}")
        return pa.table(found.read_all())
    from pyiceberg.table import StaticTable

    metadata = out / table / "metadata"
    version = (metadata / "version-hint.text").read_text()
    iceberg = StaticTable.from_metadata(str(metadata / f"v{version}.metadata.json"))
    return iceberg.scan().to_arrow()


def _view(to: str, out: Path, table: str) -> list[dict[str, Any]]:
    """What its SELECT makes of them, in some order of its own."""
    with duckdb.connect(config={"threads": "1"}) as con:
        con.sql("SET TimeZone = 'UTC'")
        con.register(table, _rows(to, out, table))
        made = (out / f"{table}.sql").read_text()
        return json_rows(con.sql(f"SELECT * FROM ({made}) ORDER BY ALL").to_arrow_table())


def _asked(ledger: Path, table: str) -> list[dict[str, Any]]:
    """The same of the ledger itself, without the unit, which no file stores."""
    query = Query(Reader(ledger).snapshot(), ledger_projections(ledger))
    found = query.ask(f"SELECT * FROM {table} LIMIT 0").column_names
    unit = "EXCLUDE (unit)" if "unit" in found else ""
    rows = query.rows(f"SELECT * {unit} FROM {table} ORDER BY ALL")
    query.close()
    return rows


def _play(ledger: Path, match: str, game: str = "auction-2024", hands: int = 30) -> None:
    words = ("--hands", str(hands), "--seed", "5", "--match", match, "--ledger", str(ledger))
    _did("play", game, *words)


def _compact(ledger: Path) -> None:
    _did("compact", "--ledger", str(ledger))


def _did(*words: str) -> None:
    """What it says is of no interest."""
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        assert main([*words]) == 0


@pytest.fixture
def soon_sealed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Closing a ledger seals a few hands as otherwise a thousand."""
    monkeypatch.setattr("store.ledger.CLOSE_HANDS", 100)


@pytest.fixture(params=LAKEHOUSES[: sized(1, None)])
def to(request: pytest.FixtureRequest) -> str:
    """Each format that can be written here."""
    if request.param == "iceberg":
        _library("pyiceberg")
    return str(request.param)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two matches of two games, sealed."""
    folder = tmp_path_factory.mktemp("played") / "ledger"
    _play(folder, "first")
    _play(folder, "swaps", "swap-2022", 8)
    _compact(folder)
    return folder


@pytest.fixture
def ledger(played: Path, tmp_path: Path) -> Path:
    """A copy of it, in a folder whose name an address cannot have as it is."""
    return Path(shutil.copytree(played, tmp_path / "a 100% ledger"))


def _export(capsys: Captured, to: str, ledger: Path, out: Path, *more: str) -> dict[str, Any]:
    """By table what an export did."""
    words = ("export", "--format", to, "--ledger", str(ledger), "--out", str(out), *more)
    document = json.loads(printed(capsys, *words, "--json"))
    assert (document["schema"], document["format"]) == ("muckrake.lakehouse/1", to)
    return {one["table"]: one for one in document["tables"]}


def test_other_programs_read_what_muckrake_sql_answers(
    to: str, ledger: Path, tmp_path: Path, capsys: Captured
) -> None:
    before, out = files(ledger), tmp_path / "lake house"
    made = _export(capsys, to, ledger, out)
    assert list(made) == list(TABLES)
    for table in TABLES:
        asked = _asked(ledger, table)
        assert _view(to, out, table) == asked
        assert asked, table
    assert files(ledger) == before
    assert not list(out.rglob("*.parquet"))


@pytest.mark.usefixtures("soon_sealed")
def test_a_later_export_adds_what_is_new_and_compaction_is_one_commit(
    to: str, ledger: Path, tmp_path: Path, capsys: Captured
) -> None:
    out = tmp_path / "out"
    first = _export(capsys, to, ledger, out)
    assert {(it["added"], it["removed"], it["files"]) for it in first.values()} == {(1, 0, 1)}
    start = first["hands"]["version"]
    assert first["swaps"]["rows"] > 0
    there = files(out)
    again = _export(capsys, to, ledger, out)
    assert files(out) == there
    assert {(it["version"], it["added"], it["files"]) for it in again.values()} == {(start, 0, 1)}

    _play(ledger, "second", hands=120)  # enough that closing the ledger seals them
    more = _export(capsys, to, ledger, out, "--table", "hands")["hands"]
    assert (more["version"], more["added"], more["removed"], more["files"]) == (start + 1, 1, 0, 2)
    assert _view(to, out, "hands") == _asked(ledger, "hands")

    _compact(ledger)
    merged = _export(capsys, to, ledger, out)
    one, two = merged["events"], merged["hands"]
    assert (one["version"], one["added"], one["removed"], one["files"]) == (start + 1, 1, 1, 1)
    assert (two["version"], two["added"], two["removed"], two["files"]) == (start + 2, 1, 2, 1)
    for table in ("events", "hands"):
        assert _view(to, out, table) == _asked(ledger, table)


@pytest.mark.usefixtures("soon_sealed")
def test_a_delta_commit_says_whether_rows_have_changed_and_their_bounds(
    ledger: Path, tmp_path: Path, capsys: Captured
) -> None:
    out = tmp_path / "out"
    _export(capsys, "delta", ledger, out)
    _play(ledger, "second", hands=120)
    _export(capsys, "delta", ledger, out)
    _compact(ledger)
    _export(capsys, "delta", ledger, out)
    commits = [
        [json.loads(line) for line in path.read_text().splitlines()]
        for path in sorted((out / "hands/_delta_log").iterdir())
    ]
    changes = [
        {
            said["dataChange"]
            for one in lines
            for how, said in one.items()
            if how in ("add", "remove")
        }
        for lines in commits
    ]
    assert changes == [{True}, {True}, {False}]  # who follows the table reads no row twice
    added = [one["add"] for lines in commits for one in lines if "add" in one]
    for one in added[:1]:
        said_of = json.loads(one["stats"])
        lowest, highest = said_of["minValues"], said_of["maxValues"]
        assert (lowest["match"], highest["match"]) == ("first", "swaps")
        assert (lowest["number"], highest["number"]) == (1, 30)
        assert said_of["numRecords"] == highest["hand_seq"] + 1
        assert said_of["nullCount"]["number"] == 4  # records of two matches
    with duckdb.connect() as con:
        for one in added[2:]:
            path = one["path"].removeprefix("file://").replace("%20", " ").replace("%25", "%")
            least = con.sql(f"SELECT min(match), max(number), count(*) FROM '{path}'").fetchall()[0]
            said_of = json.loads(one["stats"])
            assert least == (
                said_of["minValues"]["match"],
                said_of["maxValues"]["number"],
                said_of["numRecords"],
            )


def test_an_archive_is_registered_where_it_is(
    to: str, ledger: Path, tmp_path: Path, capsys: Captured
) -> None:
    push(ledger, tmp_path / "archive")
    url, out = (tmp_path / "archive").as_uri(), tmp_path / "out"
    words = ("export", "--format", to, "--out", str(out), "--table", "hands", "--json")
    printed(capsys, *words, "--ledger", url)
    assert _view(to, out, "hands") == _asked(ledger, "hands")
    (ledger / "segments").rename(ledger / "elsewhere")
    assert len(_rows(to, out, "hands")) > 0


def test_what_cannot_be_registered_is_one_sentence_and_changes_nothing(
    to: str, ledger: Path, tmp_path: Path, capsys: Captured
) -> None:
    out = tmp_path / "out"
    words = ("export", "--format", to, "--ledger", str(ledger))
    here = (*words, "--out", str(out))
    assert "keeps what it knows of the tables in --out FOLDER" in said(capsys, 2, *words)
    for view in ("public", "seat:first"):
        told_of = said(capsys, 4, *here, "--as", view)
        assert f"they show every card: only an auditor may have them so, not {view}" in told_of
    for more in (("first",), ("--lossy",), ("--spreadsheet",), ("--on", "local[2]")):
        assert "takes whole segments" in said(capsys, 2, *here, *more)
    for inside in (ledger, ledger / "segments"):
        assert "is in the ledger" in said(capsys, 2, *words, "--out", str(inside))
    grow(tmp_path / "unsealed", 1, 3, sealed=False)
    empty = ("export", "--format", to, "--out", str(out), "--ledger", str(tmp_path / "unsealed"))
    assert "nothing is sealed yet: muckrake compact" in said(capsys, 1, *empty)
    grow(tmp_path / "bare", 1, 3)
    bare = (*empty[:-1], str(tmp_path / "bare"))
    assert "is not kept as it is made today: muckrake compact makes it" in said(capsys, 1, *bare)
    assert not out.exists()

    printed(capsys, *here)
    grow(tmp_path / "bare", 4, 6)
    _compact(tmp_path / "bare")
    there = files(out)
    assert "each has its own folder" in said(capsys, 1, *bare)
    assert files(out) == there
    events = next((ledger / "segments").glob("events-*"))
    sound = events.read_bytes()
    events.write_bytes(sound[:-9] + bytes([sound[-9] ^ 1]) + sound[-8:])
    fresh = (*words, "--out", str(tmp_path / "fresh"))
    assert "is not as it was sealed" in said(capsys, 3, *fresh)
    assert not (tmp_path / "fresh").exists()


def test_an_older_copy_and_another_history_are_refused(
    to: str, ledger: Path, tmp_path: Path, capsys: Captured
) -> None:
    out, aside = tmp_path / "out", tmp_path / "aside"
    shutil.copytree(ledger, aside)
    _play(ledger, "second")
    _compact(ledger)
    _export(capsys, to, ledger, out)
    there = files(out)
    shutil.rmtree(ledger)
    aside.rename(ledger)
    words = ("export", "--format", to, "--ledger", str(ledger), "--out", str(out))
    assert main(list(words)) == 1
    assert "it is an older copy" in capsys.readouterr().err
    shutil.rmtree(ledger)
    for match in ("anew", "once-more", "again", "and-again"):
        _play(ledger, match)
        _compact(ledger)
    assert "was made of another history" in said(capsys, 1, *words)
    assert files(out) == there


def test_a_log_that_another_program_went_on_with_is_left_alone(
    ledger: Path, tmp_path: Path, capsys: Captured
) -> None:
    out = tmp_path / "out"
    _export(capsys, "delta", ledger, out)
    foreign = out / "hands/_delta_log/00000000000000000001.json"
    words = ("export", "--format", "delta", "--ledger", str(ledger), "--out", str(out))
    for text, sentence in (
        ('{"commitInfo":{"engineInfo":"another"}}\n', "was written by another program"),
        ('{"remove":{"path":"x"}}\n', "has a version 1 that cannot be read"),
        ("no JSON", "has a version 1 that cannot be read"),
        ("", "was written by another program"),
    ):
        foreign.write_text(text)
        there = files(out)
        assert sentence in said(capsys, 1, *words)
        assert files(out) == there


def test_of_two_exports_at_once_one_is_refused(
    to: str, ledger: Path, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    from store.archive.object_storage import FolderStorage

    out = tmp_path / "out"
    put = FolderStorage.put_if_unchanged

    def late(self: FolderStorage, name: str, data: bytes, tag: str | None) -> bool:
        if not (out / name).exists():
            put(self, name, b"somebody else's\n", tag)
        return put(self, name, data, tag)

    monkeypatch.setattr(FolderStorage, "put_if_unchanged", late)
    words = ("export", "--format", to, "--ledger", str(ledger), "--out", str(out))
    assert "meanwhile from somebody else: export again" in said(capsys, 1, *words)
    first = {
        "delta": "_delta_log/00000000000000000000.json",
        "iceberg": "metadata/v1.metadata.json",
    }
    assert (out / "events" / first[to]).read_text() == "somebody else's\n"
    assert not list(out.rglob("*.avro"))


@pytest.mark.usefixtures("soon_sealed")
def test_an_iceberg_table_is_asked_by_the_bounds_of_its_files(
    ledger: Path, tmp_path: Path, capsys: Captured
) -> None:
    _library("pyiceberg")
    from pyiceberg.table import StaticTable

    out = tmp_path / "out"
    _play(ledger, "second", hands=120)
    _export(capsys, "iceberg", ledger, out, "--table", "events")
    table = StaticTable.from_metadata(str(out / "events"))
    every = table.scan().to_arrow()
    late = sorted(every["at"].to_pylist())[-100]
    files_of_late = {
        it.file.file_path for it in table.scan(f"at >= '{late.isoformat()}'").plan_files()
    }
    assert len(files_of_late) == 1
    for asked in (f"at >= '{late.isoformat()}'", "match = 'second'", "hand_seq < 30"):
        found = table.scan(asked).to_arrow()
        with duckdb.connect() as con:
            con.sql("SET TimeZone = 'UTC'")
            con.register("every", every)
            quoted = asked.replace("at ", '"at" ')
            right = con.sql(f"SELECT count(*) FROM every WHERE {quoted}").fetchall()[0][0]
        assert 0 < found.num_rows == right < every.num_rows
    assert table.scan("match = 'nobody'").to_arrow().num_rows == 0
    assert not list(table.scan("match > 'z'").plan_files())


def test_an_iceberg_table_that_is_no_table_is_left_alone(
    ledger: Path, tmp_path: Path, capsys: Captured
) -> None:
    _library("pyiceberg")
    out = tmp_path / "out"
    words = ("export", "--format", "iceberg", "--ledger", str(ledger), "--out")
    assert "is no folder: an Iceberg table's metadata" in said(capsys, 1, *words, "s3://bucket/x")
    odd = said(capsys, 1, *words, str(tmp_path / "out#1"))
    assert "has a sign in it that no Iceberg table may name" in odd
    _export(capsys, "iceberg", ledger, out)
    (out / "hands/metadata/v2.metadata.json").write_text("no JSON")
    there = files(out)
    assert "has a version 2 that cannot be read" in said(capsys, 1, *words, str(out))
    first = json.loads((out / "hands/metadata/v1.metadata.json").read_text())
    first["snapshots"][0]["summary"].pop("muckrake")
    (out / "hands/metadata/v2.metadata.json").write_text(json.dumps(first))
    assert "was written by another program" in said(capsys, 1, *words, str(out))
    assert files(out).keys() == there.keys()


def test_without_the_library_one_sentence_names_what_brings_it(
    ledger: Path, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "api.exporting.iceberg", None)
    where = ("--ledger", str(ledger), "--out", str(tmp_path / "out"))
    words = ("export", "--format", "iceberg", *where)
    assert said(capsys, 1, *words) == (
        "there is no pyiceberg here: pip install 'muckrake-poker[lakehouse]' brings it"
    )


def test_a_column_that_a_newer_muckrake_has_is_added_to_the_table(
    to: str, ledger: Path, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, whole = tmp_path / "out", layout.SCHEMA
    older = pa.schema([it for it in whole if it.name not in ("more_cards", "place")])
    lacking = len(whole) - len(older)
    with monkeypatch.context() as before:
        before.setattr(layout, "SCHEMA", older)
        start = _export(capsys, to, ledger, out, "--table", "events")["events"]["version"]
    assert lacking
    assert len(_rows(to, out, "events").column_names) == len(older)
    now = _export(capsys, to, ledger, out, "--table", "events")["events"]
    assert (now["version"], now["added"], now["removed"]) == (start + 1, 0, 0)
    assert len(_rows(to, out, "events").column_names) == len(whole)
    assert _view(to, out, "events") == _asked(ledger, "events")
