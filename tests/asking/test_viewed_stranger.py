"""Somebody else's SQL over what he may see: all of it is answered, nothing else can be reached."""

from collections import Counter, defaultdict
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from api.playing.recording import ledger_projections
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.masks import MaskedQuery
from api.viewpoints.viewer import Viewer
from engine.games import GAMES
from store.folder.disk import RealDisk
from store.ledger import FileLedger
from store.reader import Reader, Snapshot
from store.sql.guard import Refused
from store.sql.query import Query
from store.sql.result_values import json_rows
from store.sql.untrusted_query import UntrustedQuery
from store.sql.worker_pool import shared_pool
from tests.asking.seen_ledgers import ledger_of, matches
from tests.profiles import sized

PLAYED = matches((GAMES["auction-2024"], GAMES["swap-2022"]))
OF_A_MATCH = Viewer("seat:lynx", ("closed-auction-2024",))
KINDS = tuple(one.kind for one in PLAYED)
VIEWERS = (*sized((), (Viewer(),), (Viewer(), Viewer("seat:ursa"))), OF_A_MATCH)


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    """A ledger with sealed and hot hands."""
    return ledger_of(tmp_path_factory.mktemp("strange"), PLAYED)


@pytest.fixture(scope="module", params=VIEWERS, ids=lambda one: f"{one.view} {len(one.matches)}")
def viewed(request: pytest.FixtureRequest, snapshot: Snapshot) -> LedgerView:
    """The ledger through somebody's eyes."""
    return LedgerView(snapshot, request.param)


@pytest.fixture(scope="module")
def public(snapshot: Snapshot) -> LedgerView:
    """The same through everybody's."""
    return LedgerView(snapshot, Viewer())


@pytest.fixture(scope="module")
def auditor(snapshot: Snapshot) -> LedgerView:
    """The whole of it."""
    return LedgerView(snapshot, Viewer("auditor"))


REFUSED = (
    "FROM _hands",
    "FROM _hands_0",
    "FROM facts",
    "FROM information_schema.tables",
    "FROM information_schema.columns",
    'WITH "information_schema.tables" AS (SELECT 1) SELECT * FROM information_schema.tables',
    "FROM duckdb_views",
    "FROM duckdb_views()",
    "FROM duckdb_tables()",
    "FROM duckdb_columns()",
    "FROM duckdb_functions()",
    "FROM duckdb_dependencies()",
    "FROM duckdb_temporary_files()",
    "FROM sqlite_master",
    "FROM sqlite_temp_master",
    "FROM pg_catalog.pg_views",
    "FROM pg_views",
    "FROM pragma_table_info('hands')",
    "FROM query('FROM hands')",
    "FROM query_table('hands')",
    "FROM histogram('hands', 'pot')",
    "FROM histogram_values('hands', pot)",
    "FROM seq_scan('hands')",
    "FROM arrow_scan(1, 2, 3)",
    "FROM read_parquet('segments/*.parquet')",
    "FROM 'segments/events*.parquet'",
    "FROM glob('*')",
    "SELECT pg_get_viewdef(oid) FROM range(9000) t(oid)",
    "SELECT PG_GET_VIEWDEF(1)",
    "SELECT (SELECT any_value(sql) FROM duckdb_views)",
    "SHOW TABLES",
    "SHOW ALL TABLES",
    "FROM (SHOW ALL TABLES)",
    "SHOW DATABASES",
    "SHOW TABLES FROM temp",
    "DESCRIBE",
    "SHOW _hands",
    "DESCRIBE duckdb_views",
    "SUMMARIZE sqlite_master",
    "CREATE MACRO hole(x) AS x",
    "PREPARE q AS FROM hands",
    "EXECUTE q",
    "EXPLAIN FROM hands",
    "SET VARIABLE x = 1",
)
# A name given by WITH means that in its own place; elsewhere it would be looked up in DuckDB.
SHADOWED = (
    "WITH {name} AS (SELECT * FROM {name}) SELECT * FROM {name}",
    "SELECT * FROM {name}, (WITH {name} AS (SELECT 1 AS x) SELECT * FROM {name}) t",
    "SELECT * FROM (WITH {name} AS (SELECT 1 AS x) FROM {name}) t, {name}",
    "WITH a AS (SELECT * FROM {name}), {name} AS (SELECT 1 AS x) SELECT * FROM a",
    "WITH a AS (WITH {name} AS (SELECT 1 AS x) FROM {name}) SELECT * FROM a, {name}",
    "WITH RECURSIVE {name} AS (SELECT * FROM {name} UNION ALL SELECT 1) SELECT * FROM {name}",
    "SELECT (WITH {name} AS (SELECT 1 AS x) SELECT x FROM {name}) FROM {name}",
    "FROM {name} UNION ALL (WITH {name} AS (SELECT 1 AS x) FROM {name})",
    "SELECT * FROM hands WHERE EXISTS (FROM {name})",
    "SELECT * FROM hands ORDER BY (SELECT count(*) FROM {name})",
    "PIVOT {name} ON seat IN (0, 1) USING count(*)",
    "TABLE {name}",
    "SUMMARIZE {name}",
    "DESCRIBE {name}",
    "SHOW {name}",
    "FROM temp.{name}",
    "FROM temp.main.{name}",
    "FROM main.{name}",
)


@pytest.mark.parametrize("sql", REFUSED)
def test_nothing_but_the_views_can_be_named(viewed: LedgerView, sql: str) -> None:
    with pytest.raises(Refused):
        viewed.ask_untrusted(sql)


@pytest.fixture(scope="module")
def secret_names(viewed: LedgerView) -> list[str]:
    """What tables of ours are called behind the views, each drawn at random."""
    viewed.rows("SELECT * FROM events, hands, players, bids, swaps, pots LIMIT 0")
    made = "SELECT view_name FROM duckdb_views() WHERE NOT internal AND view_name[1] = '_'"
    names = [str(row["view_name"]) for row in viewed.rows(made)]
    assert len(names) > 6
    assert all(len(name) == 33 for name in names)
    return names


@pytest.mark.parametrize("sql", SHADOWED)
def test_not_even_who_knows_a_name_can_use_it(
    viewed: LedgerView, secret_names: list[str], sql: str
) -> None:
    """Neither a table of ours, nor one of the process that answers, nor one of DuckDB's."""
    ours = secret_names[: sized(1, 3)]
    for name in (*ours, "duckdb_views", *sized((), ("sqlite_master",)), "rows", "part0"):
        with pytest.raises(Refused, match=r"^there is no table|^SHOW is refused"):
            viewed.ask_untrusted(sql.format(name=name))


def test_every_macro_that_reads_duckdb_s_own_tables_is_refused(viewed: LedgerView) -> None:
    found = duckdb.execute(
        "SELECT DISTINCT function_name FROM duckdb_functions()"
        " WHERE function_type = 'macro' AND macro_definition ILIKE '%select%'"
    ).fetchall()
    assert found
    for (name,) in found:
        with pytest.raises(Refused, match=f"{name} is refused"):
            viewed.ask_untrusted(f"SELECT {name}(1, 2)")


ANSWERED = (
    "WITH hands AS (SELECT * FROM hands) SELECT * FROM hands",
    "WITH a AS (FROM hands), b AS (FROM a) SELECT * FROM b, A",
    "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 5) FROM r",
    "SELECT (WITH x AS (FROM bids) SELECT count(*) FROM x)",
    "SELECT * FROM (WITH x AS (FROM pots) FROM x) JOIN players USING (hand_seq, seat)",
    "DESCRIBE events",
    "SHOW hands",
    "SUMMARIZE swaps",
    "SELECT histogram(pot) FROM hands",
)


@pytest.mark.parametrize("sql", ANSWERED)
def test_a_question_is_answered(viewed: LedgerView, sql: str) -> None:
    assert viewed.ask_untrusted(sql).num_rows > 0


@pytest.mark.parametrize(
    "condition",
    [
        "\"where\" = 'bid'",
        "raw = 'A1.6'",
        "kind = 'malformed' OR pot > 10000",
        "type = 'BidPlaced' AND (amount >= 0 OR origin <> 'hidden')",
        "type = 'HoleDealt' AND cards NOT LIKE 'hidden%'",
        "type = 'MatchStarted' AND seed <> 'hidden'",
        "type = 'SourceNoted' AND header LIKE '# seed%'",
    ],
)
def test_no_condition_meets_what_is_hidden(
    condition: str, public: LedgerView, auditor: LedgerView
) -> None:
    """A condition that fails on a row tells of it, even if the row would be left out later."""
    sql = f"FROM events WHERE CASE WHEN ({condition}) AND {{}} THEN error('met') ELSE true END"
    closed, opened = "match LIKE 'closed%'", "match LIKE '%a%'"
    assert public.ask_untrusted(sql.format(closed)).num_rows > 0
    with pytest.raises(Refused, match="met"):
        auditor.ask_untrusted(sql.format(opened))


def test_rows_that_came_after_a_snapshot_are_not_met_either(snapshot: Snapshot) -> None:
    early = Snapshot(snapshot.live, snapshot.next_pos, 20)
    for asked in (UntrustedQuery(Query(early)), UntrustedQuery(MaskedQuery(early, Viewer()))):
        for name in ("hands", "events", *sized((), ("players", "pots"))):
            sql = f"FROM {name} WHERE CASE WHEN hand_seq >= 20 THEN error('met') ELSE true END"
            found = asked.ask(sql)["hand_seq"].to_pylist()
            assert found
            assert max(found) < 20


def test_without_the_guard_there_is_nothing_but_what_the_views_show(
    viewed: LedgerView, auditor: LedgerView
) -> None:
    """The process that answers holds copies: whatever it says of itself, no other row is in it."""
    views = viewed.query.public
    said = unguarded(
        viewed,
        "SELECT database_name AS of, view_name AS name, '' AS columns FROM duckdb_views()"
        " WHERE NOT internal UNION ALL SELECT database_name, table_name, (SELECT"
        " string_agg(column_name, ' ' ORDER BY column_index) FROM duckdb_columns() c"
        " WHERE c.table_oid = t.table_oid AND c.database_oid = t.database_oid)"
        " FROM duckdb_tables() t",
    )
    tables = defaultdict[str, list[str]](list)  # of the same columns: they are read together
    for row in said:
        if row["name"] == "rows":
            tables[row["columns"]].append(f'FROM "{row["of"]}".main."{row["name"]}"')
    assert {row["name"] for row in said} == {*views, "rows"}
    assert sum(map(len, tables.values())) > len(views) == len(tables)
    met = Counter[str]()
    for some in tables.values():
        met += Counter(str(row) for row in unguarded(viewed, " UNION ALL ".join(some)))
    shown = Counter(str(row) for name in views for row in viewed.rows(f"FROM {name}"))
    assert shown == met
    known = Counter(str(row) for name in views for row in auditor.rows(f"FROM {name}"))
    assert known != met
    for sql in ("FROM duckdb_settings()", "FROM duckdb_databases()", "FROM duckdb_views()"):
        assert str(viewed.snapshot.live.folder) not in str(unguarded(viewed, sql))


def unguarded(viewed: LedgerView, sql: str) -> list[dict[str, Any]]:
    """The answer to a statement that nobody has looked at, by a process with all tables."""
    strangers = UntrustedQuery(viewed.query)
    with ExitStack() as stack:
        files, views = strangers._shown({"views": strangers.views, "words": None}, stack)
        answer = shared_pool().ask({"views": views, "rows_max": None}, files, sql, 20)
    return json_rows(pa.ipc.open_stream(answer.pieces).read_all())


def test_our_own_questions_see_the_same_rows(viewed: LedgerView) -> None:
    for name in ("hands", "events", "players", "bids", "swaps", "pots", "decisions"):
        sql = f"SELECT count(*) AS n, sum(hash(t)) AS h FROM {name} t"
        assert viewed.rows(sql) == json_rows(viewed.ask_untrusted(sql))


def test_an_answer_has_its_limits(viewed: LedgerView) -> None:
    with pytest.raises(Refused, match=r"^the answer has more than 5 rows: add a LIMIT$"):
        viewed.ask_untrusted("FROM events", rows_max=5)
    with pytest.raises(Refused, match=r"^stopped: no answer within 0\.2 s$"):
        viewed.ask_untrusted("SELECT count(*) FROM range(1000000000) a, range(1000) b", seconds=0.2)
    assert 1 == viewed.ask_untrusted("SELECT 1", rows_max=5, seconds=5).num_rows


@pytest.mark.ci
@pytest.mark.parametrize("viewer", VIEWERS, ids=lambda one: f"{one.view} {len(one.matches)}")
def test_what_is_withheld_stays_so_when_its_files_go(viewer: Viewer, tmp_path: Path) -> None:
    some = tuple(one for one in PLAYED if one.kind in sized(("closed", "after"), KINDS))
    viewed = LedgerView(ledger_of(tmp_path, some), viewer)
    every = ("hands", "events", "bids", "swaps")
    asked = [f"FROM {name} ORDER BY ALL" for name in sized(("events",), every)]
    before = [json_rows(viewed.ask_untrusted(sql)) for sql in asked]
    ledger = FileLedger(RealDisk(tmp_path), ledger_projections(tmp_path))
    ledger.compact(grace_ms=0)
    ledger.close()
    for again in (viewed, LedgerView(Reader(tmp_path).snapshot(), viewer)):
        assert before == [json_rows(again.ask_untrusted(sql)) for sql in asked]
        assert before == [again.rows(sql) for sql in asked]
