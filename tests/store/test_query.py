"""SQL over a ledger: the same answer wherever the rows lie, and nothing but an answer."""

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dealer.play import play
from engine.games import GAMES
from events.ledger import Append
from events.match import MatchStarted, NonceGiven
from events.types import HoleDealt
from store.folder.disk import RealDisk
from store.ledger import FileLedger
from store.reader import Reader, Snapshot
from store.sql.guard import Refused
from store.sql.query import Query
from store.sql.untrusted_query import UntrustedQuery
from store.sql.worker_pool import WorkerPool, shared_pool
from store.tables.projection import STANDARD
from tests.profiles import sized
from tests.store.test_contract import begun

Asking = Query | UntrustedQuery
NEVER = 10**9
VIEWS = ("hands", "events", "players", "bids", "swaps", "pots")
PLAYED = {"auction-2024-mit": 12, "swap-2022-mit": 8}
EVERYTHING = {view: f"SELECT * FROM {view} ORDER BY ALL" for view in VIEWS}


def fill(ledger: FileLedger, seal_after: Callable[[int], bool]) -> None:
    """Two matches, one of each sort of hand, and one hand still open."""
    count = 0
    for game, hands in PLAYED.items():
        start = MatchStarted(game, game, "f", ("a", "b"), "seeded", "open", True)
        ledger.append(Append(game, 0, (start,), 1_700_000_000_000))
        for number, events in enumerate(play(GAMES[game], game, hands, "seed"), start=1):
            ledger.append(Append(f"{game}/{number}", 0, events, 1_700_000_000_000 + number))
            count += 1
            if seal_after(count):
                ledger.seal()
    ledger.append(Append("open/1", 0, begun("open/1"), 1_700_000_000_000))


def filled(folder: Path, seal_after: Callable[[int], bool]) -> FileLedger:
    ledger = FileLedger(RealDisk(folder), STANDARD, seal_hands=NEVER)
    fill(ledger, seal_after)
    return ledger


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger with two segments and a hot tail."""
    found = tmp_path_factory.mktemp("ledger")
    filled(found, lambda count: count in (5, 11)).close()
    return found


@pytest.fixture(scope="module")
def query(folder: Path) -> UntrustedQuery:
    """A stranger's questions to it."""
    return UntrustedQuery(Query(Reader(folder).snapshot()))


def asking(snapshot: Snapshot, ours: bool) -> Asking:
    """Our own questions, or a stranger's."""
    return Query(snapshot) if ours else UntrustedQuery(Query(snapshot))


def answers(query: Asking) -> dict[str, list[dict[str, Any]]]:
    return {view: query.rows(sql) for view, sql in EVERYTHING.items()}


def test_there_is_a_view_for_every_table(query: UntrustedQuery) -> None:
    assert {*VIEWS, "rulesets", "tags"} == set(query.views)
    assert [{"n": 0}] == query.rows("SELECT count(*) AS n FROM rulesets")  # this ledger keeps none
    hands = sum(PLAYED.values())
    assert [{"n": hands}] == query.rows("SELECT count(*) AS n FROM hands")
    assert [{"n": 2 * hands}] == query.rows("SELECT count(*) AS n FROM players")
    for view in VIEWS:
        (counted,) = query.rows(f"SELECT count(*) AS n FROM {view}")
        assert counted["n"] > 0


@pytest.fixture(scope="module")
def answered(query: UntrustedQuery) -> dict[str, list[dict[str, Any]]]:
    return answers(query)


@pytest.mark.parametrize(
    "seal_after",
    [
        lambda count: False,
        lambda count: count % sized(4, 2, 1) == 0,
        lambda count: count == 7,
        *sized([], [lambda count: count == 20]),
    ],
    ids=["all hot", "all sealed, few together", "both", *sized([], ["all sealed at once"])],
)
def test_an_answer_does_not_depend_on_where_the_rows_lie(
    tmp_path: Path, answered: dict[str, list[dict[str, Any]]], seal_after: Callable[[int], bool]
) -> None:
    """A stranger's and ours."""
    filled(tmp_path, seal_after).close()
    snapshot = Reader(tmp_path).snapshot()
    for ours in (False, True):
        assert answered == answers(asking(snapshot, ours))


def test_the_view_of_events_opens_with_the_envelope(query: UntrustedQuery) -> None:
    first = query.ask("SELECT * FROM events LIMIT 1").column_names
    assert {"hand_seq", "pos", "hand", "idx", "at", "type"} <= set(first[:8])
    assert not [name for name in first if name.startswith("card") and name != "cards"]


def test_what_a_type_does_not_have_is_null(query: UntrustedQuery) -> None:
    """Stored rows may carry the values of their neighbours; SQL never sees them."""
    rows = query.rows("SELECT * FROM events WHERE type IN ('HandEnded', 'Checked')")
    envelope = {"hand_seq", "pos", "hand", "match", "number", "idx", "at", "type", "unit"}
    for row in rows:
        said = {name for name, value in row.items() if value is not None} - envelope
        assert said <= ({"seat", "next", "origin"} if row["type"] == "Checked" else set())


def test_events_say_what_was_recorded(folder: Path, query: UntrustedQuery) -> None:
    for row in query.rows("SELECT pos, hand, idx, seat, cards FROM events WHERE type='HoleDealt'"):
        one = Reader(folder).read(row["hand"])[row["idx"]]
        assert isinstance(one.event, HoleDealt)
        assert row["pos"] == one.pos
        assert (row["seat"], row["cards"]) == (one.event.seat, " ".join(one.event.cards))


def test_times_are_told_in_the_form_of_rfc_3339(query: UntrustedQuery) -> None:
    rows = query.rows("SELECT \"at\" FROM events WHERE hand = 'auction-2024-mit/1' LIMIT 1")
    assert [{"at": "2023-11-14T22:13:20.001Z"}] == rows


def test_every_answer_can_be_json(query: UntrustedQuery) -> None:
    asked = (
        "SELECT 1.5 AS half, sum(1) AS whole, 'NaN'::DOUBLE AS none, [1, 2] AS list, "
        "{'a': DATE '2024-01-02'} AS day, '\\xAA'::BLOB AS bytes, NULL AS nothing"
    )
    expected = {
        "half": 1.5,
        "whole": 1,
        "none": None,
        "list": [1, 2],
        "day": {"a": "2024-01-02"},
        "bytes": "aa",
        "nothing": None,
    }
    assert expected == json.loads(json.dumps(query.rows(asked)))[0]


def test_open_hands_are_not_told(query: UntrustedQuery) -> None:
    assert [] == query.rows("SELECT * FROM events WHERE hand = 'open/1'")


def test_an_answer_never_changes_for_one_snapshot(tmp_path: Path) -> None:
    ledger = filled(tmp_path, lambda count: count == 7)
    reader = Reader(tmp_path)
    snapshot = reader.snapshot()
    asked = UntrustedQuery(Query(snapshot))
    before = answers(asked)
    for number, events in enumerate(play(GAMES["swap-2022-mit"], "later", 3, "s"), start=1):
        ledger.append(Append(f"later/{number}", 0, events, number))
    ledger.append(Append("swap-2022-mit", 1, (NonceGiven("a", "x"),), 1))
    ledger.seal()
    assert before == answers(asked)
    assert before == answers(Query(snapshot))
    assert before == answers(Query(Reader(tmp_path).snapshot(snapshot.as_of)))
    assert before != answers(Query(reader.snapshot()))


@pytest.mark.parametrize("ours", [False, True], ids=["a stranger's", "ours"])
def test_an_answer_outlives_the_files_it_came_from(tmp_path: Path, ours: bool) -> None:
    ledger = filled(tmp_path, lambda count: count in (5, 11, 15))
    snapshot = Reader(tmp_path).snapshot()
    asked = asking(snapshot, ours)
    before = answers(asked)
    segments = set((tmp_path / "segments").iterdir())
    ledger.compact(grace_ms=0)
    assert not segments & set((tmp_path / "segments").iterdir())
    assert before == answers(asked)
    assert before == answers(asking(snapshot, ours))


def test_an_empty_ledger_has_empty_views(tmp_path: Path, query: UntrustedQuery) -> None:
    FileLedger(RealDisk(tmp_path), STANDARD).close()
    asked = UntrustedQuery(Query(Reader(tmp_path).snapshot()))
    for view in VIEWS:
        empty = asked.ask(f"SELECT * FROM {view}")
        assert 0 == empty.num_rows
        assert query.ask(f"SELECT * FROM {view}").schema.equals(empty.schema)


def test_a_projection_that_was_not_sealed_is_made_from_the_events(
    tmp_path: Path, query: UntrustedQuery
) -> None:
    plain = FileLedger(RealDisk(tmp_path), seal_hands=NEVER)
    fill(plain, lambda count: count == 12)
    assert answers(query) == answers(Query(Reader(tmp_path).snapshot()))


ASKED = (
    "SELECT count(*) FROM hands",
    "FROM players LIMIT 1",
    "WITH x AS (SELECT * FROM bids) SELECT * FROM x, X AS other LIMIT 1;",
    "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT * FROM r",
    "SELECT unnest([1, 2]) UNION ALL SELECT * FROM range(3) ORDER BY 1",
    "DESCRIBE events",
    "SUMMARIZE pots",
    "VALUES (1), (2)",
    "TABLE swaps",
    "PIVOT bids ON seat IN (0, 1) USING count(*) GROUP BY hand_seq",
    'SELECT h.hand_seq FROM "hands" h JOIN players p USING (hand_seq) WHERE p.seat = 0 -- why not',
)


@pytest.mark.parametrize("sql", ASKED)
def test_a_question_is_answered(query: UntrustedQuery, sql: str) -> None:
    assert query.ask(sql).num_rows > 0


ONLY = "only SELECT is answered"
TABLES = "hands, events"
REFUSED = {
    "COPY (SELECT 1) TO '{out}'": f"COPY is refused: {ONLY}",
    "COPY events TO '{segment}' (FORMAT parquet)": f"COPY is refused: {ONLY}",
    "WITH x AS (COPY (SELECT 1) TO '{out}') SELECT 1": f"COPY is refused: {ONLY}",
    "SELECT (WITH x AS (COPY (SELECT 1) TO '{out}') SELECT 1)": f"COPY is refused: {ONLY}",
    "WITH x AS (INSERT INTO hands VALUES (1)) SELECT 1": f"INSERT is refused: {ONLY}",
    "WITH x AS (DELETE FROM hands) SELECT 1": f"DELETE is refused: {ONLY}",
    "WITH x AS (UPDATE hands SET hand_seq = 1) SELECT 1": f"UPDATE is refused: {ONLY}",
    "ATTACH '{out}' AS other": f"ATTACH is refused: {ONLY}",
    "EXPORT DATABASE '{out}'": f"EXPORT is refused: {ONLY}",
    "INSTALL httpfs": f"LOAD is refused: {ONLY}",
    "LOAD httpfs": f"LOAD is refused: {ONLY}",
    "SET threads = 1": f"SET is refused: {ONLY}",
    "RESET threads": f"SET is refused: {ONLY}",
    "PRAGMA database_list": f"PRAGMA is refused: {ONLY}",
    "CALL enable_logging(storage = 'file')": f"CALL is refused: {ONLY}",
    "CREATE TABLE mine AS SELECT 1": f"CREATE is refused: {ONLY}",
    "DROP VIEW hands": f"DROP is refused: {ONLY}",
    "EXPLAIN ANALYZE COPY (SELECT 1) TO '{out}'": f"EXPLAIN is refused: {ONLY}",
    "SELECT 1; SELECT 2": "one statement is answered, this is 2",
    "": "one statement is answered, this is 0",
    "SELECT * FROM read_csv('/etc/passwd')": "read_csv is refused: it reads",
    "SELECT (SELECT content FROM read_text('/etc/passwd'))": "read_text is refused: it reads",
    "FROM read_blob('{segment}')": "read_blob is refused: it reads",
    "FROM parquet_metadata('{segment}')": "parquet_metadata is refused: it reads",
    "FROM glob('/etc/*')": "glob is refused: it reads",
    "FROM query('SELECT 1')": "query is refused: it runs SQL from a text",
    "FROM query_table('hands')": "query_table is refused: it runs SQL from a text",
    "FROM json_execute_serialized_sql('{{}}')": "json_execute_serialized_sql is refused: it",
    "FROM enable_logging(storage = 'file')": "enable_logging is refused: it changes the engine",
    "FROM enable_profiling(save_location = '{out}')": "enable_profiling is refused: it",
    "FROM duckdb_settings()": "duckdb_settings is refused: it tells of the engine",
    "FROM checkpoint()": "checkpoint is refused: it reads",
    "FROM '/etc/passwd'": "there is no table /etc/passwd: there are",
    "FROM '{segment}'": "there is no table {segment}: there are",
    "SUMMARIZE '{segment}'": "there is no table {segment}: there are",
    "FROM information_schema.tables": "there is no table information_schema.tables: there are",
    "FROM duckdb_views": "there is no table duckdb_views: there are",
    "FROM hidden": "there is no table hidden: there are",
    "FROM _events": "there is no table _events: there are",
    "WITH _e AS (SELECT * FROM _e) SELECT * FROM _e": "there is no table _e: there are",
    "FROM _e, (WITH _e AS (SELECT 1) FROM _e) t": "there is no table _e: there are",
    "WITH a AS (FROM _e), _e AS (SELECT 1) FROM a": "there is no table _e: there are",
    "FROM main.hands": "there is no table main.hands: there are",
    "SHOW ALL TABLES": "SHOW is refused: there are",
    "SHOW duckdb_views": "SHOW is refused: there are",
    "SELECT pg_get_viewdef(1)": "pg_get_viewdef is refused: it tells of the engine",
    "SELECT getenv('HOME')": "getenv is refused: it tells of the engine",
    "SELECT nothing FROM hands": "nothing",
    "SELEKT 1": "syntax error",
    "SELECT at FROM events": "columns named like words of SQL (at, full, to, where) stand in",
}


@pytest.mark.parametrize("sql", REFUSED)
def test_anything_else_is_refused_in_one_sentence(
    folder: Path, tmp_path: Path, query: UntrustedQuery, sql: str
) -> None:
    segment = min((folder / "segments").glob("events*"))
    names = {"out": tmp_path / "out", "segment": segment}
    before = contents(folder)
    with pytest.raises(Refused) as refusal:
        query.ask(sql.format(**names))
    assert REFUSED[sql].format(**names) in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert [] == list(tmp_path.iterdir())
    assert before == contents(folder)


WALLED = {
    "WITH x AS (COPY (SELECT 1) TO '{out}') SELECT 1",
    "COPY (SELECT 1) TO '{out}'",
    "COPY (SELECT 1) TO '{segment}' (USE_TMP_FILE false)",
    "ATTACH '{out}' AS other",
    "EXPORT DATABASE '{out}'",
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM read_blob('{segment}')",
    "SELECT * FROM parquet_metadata('{segment}')",
    "SELECT * FROM glob('/etc/*')",
    "SELECT * FROM '/etc/passwd'",
    "SELECT * FROM '{segment}'",
    "SELECT * FROM segment",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET enable_external_access = true",
    "SET allowed_directories = ['/']",
    "RESET lock_configuration",
    "CALL enable_logging(storage = 'file', storage_config = {{'path': '{out}'}})",
    "CALL enable_profiling(save_location = '{out}')",
    "SET VARIABLE x = (SELECT content FROM read_text('/etc/passwd'))",
    "SELECT * FROM arrow_scan(1, 2, 3)",
}


@pytest.mark.parametrize("sql", sorted(WALLED))
def test_the_second_wall_stands_without_the_first(folder: Path, tmp_path: Path, sql: str) -> None:
    """A process answers whatever reaches it, and can touch no file."""
    segment = min((folder / "segments").glob("events*"))
    before = contents(folder)
    statement = sql.format(out=tmp_path / "out", segment=segment)
    with pytest.raises(Refused):
        unguarded(statement)
    assert [] == list(tmp_path.iterdir())
    assert before == contents(folder)


def unguarded(sql: str) -> None:
    """A statement that nobody looked at, in a process without a table."""
    shared_pool().ask({"views": {}, "rows_max": None}, (), sql, 10)


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("ours", [False, True], ids=["a stranger's", "ours"])
def test_a_question_that_takes_too_long_is_stopped(folder: Path, ours: bool) -> None:
    query = Query(Reader(folder).snapshot(), seconds=0.3)
    asked = query if ours else UntrustedQuery(query, seconds=0.3)
    started = time.monotonic()
    with pytest.raises(Refused, match=r"^stopped: no answer within 0\.3 s$"):
        asked.ask("SELECT count(*) FROM range(1000000000) a, range(1000) b")
    assert time.monotonic() - started < 20
    assert asked.ask("SELECT 1").num_rows == 1


@pytest.mark.parametrize("ours", [False, True], ids=["a stranger's", "ours"])
def test_a_question_that_takes_too_much_memory_is_stopped(folder: Path, ours: bool) -> None:
    """It is not spilled to a file either: a reader may write none."""
    query, processes = Query(Reader(folder).snapshot(), memory="64MB"), WorkerPool(memory="64MB")
    asked = query if ours else UntrustedQuery(Query(query.snapshot), processes=processes)
    with pytest.raises(Refused, match=r"^stopped: the answer needs more memory than 64MB$"):
        asked.ask("SELECT count(*) FROM (SELECT DISTINCT range || 'and so on' FROM range(9000000))")
    processes.close()


def test_an_answer_has_no_more_rows_than_allowed(query: UntrustedQuery) -> None:
    assert 5 == query.ask("FROM range(5)", rows_max=5).num_rows
    with pytest.raises(Refused, match=r"^the answer has more than 5 rows: add a LIMIT$"):
        query.ask("FROM range(5000000)", rows_max=5)
    assert 0 == query.ask("FROM range(0)", rows_max=5).num_rows
    assert 1 == query.ask("SELECT 1", rows_max=5).num_rows


def test_threads_take_turns(query: UntrustedQuery) -> None:
    counted: list[int] = []

    def ask() -> None:
        for _ in range(5):
            counted.append(query.rows("SELECT count(*) AS n FROM players")[0]["n"])

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert [2 * sum(PLAYED.values())] * 20 == counted


def test_variables_of_the_program_are_no_tables(folder: Path) -> None:
    query = Query(Reader(folder).snapshot())
    program = query.ask("SELECT 1 AS secret")
    assert 1 == program.num_rows
    with pytest.raises(Refused, match="program does not exist"):
        query.ask("SELECT * FROM program")
