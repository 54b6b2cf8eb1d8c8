"""The list of names that a stranger's SQL may use, held against DuckDB's own catalogue."""

import sys
from collections.abc import Iterator

import duckdb
import pytest

from store.sql.guard import (
    Refused,
    allowed_names,
    checked_statement,
    known_table_names,
    lower_ascii,
    table_names,
)
from store.sql.worker import warm_connection
from tests.profiles import sized

VIEWS = ("hands", "events")
SYNTAX = {  # names that the parser makes, or that the binder knows without the catalogue
    *("!", "->", "<>", "coalesce", "ifnull", "grouping", "grouping_id", "binary", "c", "posix"),
    *("current_time", "current_timestamp", "localtime", "localtimestamp"),
}
SPELT = (
    "SELECT {name}()",
    "SELECT {capital}()",
    'SELECT "{name}"(1)',
    "SELECT main.{quoted}(1)",
    "SELECT pg_catalog.{quoted}(1)",
    "SELECT system.main.{quoted}(1)",
    "SELECT (1).{quoted}()",
    "SELECT hands.{quoted}() FROM hands",
    "SELECT {quoted}(1) OVER ()",
    "SELECT list_transform([1], lambda x: {quoted}(x))",
    "SELECT [{quoted}(x) FOR x IN [1]]",
    "SELECT * REPLACE ({quoted}(1) AS hand) FROM hands",
    "SELECT COLUMNS(c -> {quoted}(c)) FROM hands",
    "SELECT 1 WHERE EXISTS (SELECT {quoted}(1))",
    "SELECT 1 FROM hands GROUP BY {quoted}(1) HAVING {quoted}(1) ORDER BY {quoted}(1)",
    "SELECT 1 LIMIT {quoted}(1)",
    "SELECT sum(1 ORDER BY {quoted}(1)) FILTER ({quoted}(1))",
    "WITH x AS (SELECT {quoted}(1)) FROM x",
    "VALUES ({quoted}(1))",
    "FROM {quoted}()",
    "FROM {capital}(1)",
    "FROM main.{quoted}(1)",
    "FROM range({quoted}(1))",
    "FROM hands JOIN events ON {quoted}(1)",
    "PIVOT hands ON hand IN ('a') USING {quoted}(1)",
    "DESCRIBE SELECT {quoted}(1)",
    "SUMMARIZE SELECT {quoted}(1)",
)


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    """An engine as strangers have it."""
    engine = warm_connection("500MB")
    engine.sql("CREATE TEMP VIEW hands AS SELECT 'a' AS hand")
    engine.sql("CREATE TEMP VIEW events AS SELECT 'a' AS hand")
    yield engine
    engine.close()


def column(con: duckdb.DuckDBPyConnection, sql: str) -> list[str]:
    return [str(value) for (value,) in con.execute(sql).fetchall()]


def functions(con: duckdb.DuckDBPyConnection, *kinds: str) -> list[str]:
    listed = ", ".join(f"'{kind}'" for kind in kinds)
    return column(
        con,
        "SELECT DISTINCT lower(function_name) FROM duckdb_functions()"
        f" WHERE function_type IN ({listed}) ORDER BY 1",
    )


def undecided(found: list[str], allowed: frozenset[str]) -> list[str]:
    """What is wrong with the list for these names of the catalogue, one sentence each."""
    told = []
    for name in found:
        refused = allowed_names().reason(name) is not None
        if not refused and name not in allowed:
            told.append(f"{name} is new in DuckDB: allow or refuse it in store/sql/sql_names.toml")
        if refused and name in allowed:
            told.append(f"{name} is both allowed and refused in store/sql/sql_names.toml")
    return told


def test_every_name_of_the_catalogue_is_allowed_or_refused(con: duckdb.DuckDBPyConnection) -> None:
    # `histogram` is refused as a table only: as an aggregate it sums; `uuid` is a type, not a draw.
    called = functions(con, "scalar", "aggregate", "macro", "window")
    called.remove("histogram")
    assert [] == undecided(called, allowed_names().functions)
    read = functions(con, "table", "table_macro", "pragma")
    assert [] == undecided(read, allowed_names().tables)
    types = column(con, "SELECT DISTINCT lower(type_name) FROM duckdb_types()")
    types.remove("uuid")
    assert [] == undecided(types, allowed_names().types)
    collations = column(con, "SELECT DISTINCT lower(collname) FROM pragma_collations()")
    assert [] == undecided(collations, allowed_names().collations)


def test_a_name_on_neither_list_fails_with_a_sentence() -> None:
    assert ["zap is new in DuckDB: allow or refuse it in store/sql/sql_names.toml"] == undecided(
        ["zap", "upper"], allowed_names().functions
    )


def test_nothing_is_on_the_list_that_does_not_exist(con: duckdb.DuckDBPyConnection) -> None:
    everything = column(
        con,
        "SELECT lower(function_name) FROM duckdb_functions() UNION SELECT lower(type_name)"
        " FROM duckdb_types() UNION SELECT lower(collname) FROM pragma_collations()",
    )
    listed = allowed_names().functions | allowed_names().types | allowed_names().collations
    assert set() == listed - set(everything) - SYNTAX


def test_an_allowed_macro_is_made_of_allowed_names_alone(con: duckdb.DuckDBPyConnection) -> None:
    """A macro's text is not in the tree of who calls it: so it is read here."""
    made = con.execute(
        "SELECT function_name, macro_definition FROM duckdb_functions()"
        " WHERE function_type = 'macro'"
    ).fetchall()
    allowed = [text for name, text in made if name in allowed_names().functions]
    assert len(allowed) > 50
    for text in allowed:
        checked_statement(con, f"SELECT {text}", VIEWS)


NAMED = (
    "current_setting",
    "json_serialize_plan",
    "pg_sleep",
    "read_csv",
    "txid_current",
    "version",
)


def test_no_spelling_of_a_refused_function_passes(con: duckdb.DuckDBPyConnection) -> None:
    found = functions(con, "scalar", "aggregate", "macro", "table", "table_macro", "pragma")
    refused = [name for name in found if name not in allowed_names().functions and " " not in name]
    assert {*NAMED, "current_query_id"} <= set(refused)
    some_refused = [name for at, name in enumerate(refused) if at % sized(3, 1) == 0]
    for number, name in enumerate(dict.fromkeys((*NAMED, *some_refused))):
        told = {"name": name, "quoted": f'"{name}"', "capital": f'"{name.upper()}"'}
        some = SPELT if name in NAMED else SPELT[number % len(SPELT) :][: sized(1, 3)]
        for sql in some:
            with pytest.raises((Refused, duckdb.ParserException)) as refusal:
                checked_statement(con, sql.format(**told), VIEWS)
            if refusal.type is Refused:
                assert f"{name} is refused: " in str(refusal.value).lower(), sql
            else:
                assert "{name}" in sql, "only an unquoted name may be a word of SQL"


@pytest.mark.parametrize(
    "sql",
    [
        "FROM histogram('hands', hand)",
        "SELECT 'x'::GEOMETRY",
        "SELECT TRY_CAST('x' AS VARIANT)",
        "SELECT []::STRUCT(a VARIANT)[]",
        "SELECT 'x'::main.\"TYPE\"",
        "SELECT user",
        'SELECT "Current_User"',
        "SELECT hand FROM hands WHERE session_user = 'duckdb'",
        "SELECT current_schema, current_catalog",
        "SELECT current_setting('threads')",
        "SELECT 'threads'.current_setting()",
        "SELECT json_serialize_plan('SELECT 1')",
    ],
)
def test_refused_names_are_refused_with_a_reason(con: duckdb.DuckDBPyConnection, sql: str) -> None:
    with pytest.raises(Refused, match=r"is refused: (it|a|no) "):
        checked_statement(con, sql, VIEWS)


def test_what_does_not_exist_is_said_with_what_does(con: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(Refused, match=r"^there is no function uper: perhaps upper"):
        checked_statement(con, "SELECT uper('x')", VIEWS)
    with pytest.raises(Refused, match=r"^there is no function curent_setting\b(?!.*current_s)"):
        checked_statement(con, "SELECT curent_setting('x')", VIEWS)
    with pytest.raises(Refused, match=r"^there is no type MOOD"):
        checked_statement(con, "SELECT 'x'::MOOD", VIEWS)
    with pytest.raises(Refused, match=r"^there is no collation klingon"):
        checked_statement(con, "SELECT 'x' COLLATE klingon.noaccent", VIEWS)


def test_a_function_that_needs_no_parentheses_is_known_as_one(
    con: duckdb.DuckDBPyConnection,
) -> None:
    """Whatever stands alone and is answered, though no column is called so, must be listed."""
    words = column(
        con,
        "SELECT function_name FROM duckdb_functions() UNION SELECT keyword_name"
        " FROM duckdb_keywords()",
    )
    found = set()
    for word in words:
        try:
            con.sql(f'SELECT "{word}"')
        except duckdb.Error:
            continue
        found.add(word)
    assert {"current_user", "user", "current_date"} <= found
    assert set() == found - allowed_names().bare


CALLS = (
    "SELECT {call}([1], {name})",
    "SELECT [1].{call}({name})",
    "SELECT l.{call}({name}) FROM (SELECT [1] AS l) t",
    "SELECT t.l.{call}({name}) FROM (SELECT [1] AS l) t",
    "SELECT main.{call}([1], {name})",
    "SELECT system.main.{call}([1], {name})",
    "SELECT l.{call}({name}, 'sum') FROM (SELECT [1] AS l) t",
    "SELECT main.{call}({name}, 'sum') FROM (SELECT [1] AS main) t",
)


@pytest.mark.parametrize("call", ["list_aggr", "LIST_AGGREGATE", "array_aggr", "aggregate"])
@pytest.mark.parametrize("sql", CALLS)
def test_no_aggregate_is_reached_by_a_text_that_is_refused_by_name(
    con: duckdb.DuckDBPyConnection, call: str, sql: str
) -> None:
    for name in ("'sum_no_overflow'", "'Combine_Aggr'", "'sum_no' || '_overflow'", "upper('x')"):
        with pytest.raises(Refused, match=r"is refused"):
            checked_statement(con, sql.format(call=call, name=name), VIEWS)
    if "main" not in sql and "'sum'" not in sql:
        answer = con.sql(checked_statement(con, sql.format(call=call, name="'sum'"), VIEWS))
        assert [(1,)] == answer.fetchall()


def test_letters_are_compared_as_duckdb_compares_them(con: duckdb.DuckDBPyConnection) -> None:
    """The Kelvin sign is a small k to Python, and no k at all to DuckDB."""
    cased = [chr(code) for code in range(sys.maxunicode + 1) if chr(code).lower() != chr(code)]
    cased += [chr(code) for code in range(128) if chr(code).isalpha()]
    assert "\u212a" in cased
    for letter in cased:
        try:
            con.sql(f'WITH "{letter}" AS (SELECT 1) FROM "{letter.lower()}"')
            same = True
        except duckdb.CatalogException:
            same = False
        assert same == (lower_ascii(letter) == lower_ascii(letter.lower())), hex(ord(letter))


@pytest.mark.parametrize("name", ["duckdb_views", "duckdb_settings"])
def test_a_kelvin_sign_names_no_table_of_duckdb_s(
    con: duckdb.DuckDBPyConnection, name: str
) -> None:
    alike = name.replace("k", "\u212a")
    for sql in (
        f'WITH "{alike}" AS (SELECT 1) FROM {name}',
        f'WITH RECURSIVE "{alike}" AS (SELECT 1 UNION ALL SELECT 1 FROM {name}) SELECT 1',
    ):
        with pytest.raises(Refused, match=f"^there is no table {name}"):
            checked_statement(con, sql, VIEWS)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT {'a': [1, 2]}.a[1], MAP {'x': 1}['x'], [x + 1 FOR x IN [1, 2] IF x > 1]",
        "SELECT list_sum([1]), [3, 1].list_sort(), list_reduce([1, 2], lambda a, b: a + b)",
        "SELECT now() - INTERVAL 7 DAY, current_date, CURRENT_TIMESTAMP, today()",
        "SELECT date_trunc('week', TIMESTAMP '2024-01-02'), extract(hour FROM TIME '12:00')",
        "SELECT median(hand), quantile_cont(1, 0.5), mode(hand) FROM hands",
        "SELECT row_number() OVER w, lag(hand) OVER w FROM hands WINDOW w AS (ORDER BY hand)",
        "SELECT hand COLLATE de.noaccent, hand ~ 'a', hand SIMILAR TO 'a' FROM hands",
        "SELECT '{\"a\":1}'::JSON -> 'a', '{\"a\":1}' ->> '$.a', json_extract('{}', '$.b')",
        "SELECT TRY_CAST('x' AS INT), 'a'::ENUM ('a', 'b'), 1::UNION (a INT, b VARCHAR)",
        "SELECT 2 ** 3, 5!, @(-1), ~1, 7 // 2, 1 << 2, 1 IS DISTINCT FROM NULL, 'a' ^@ 'a'",
        "SELECT random() < 1, hash(hand), md5(hand) FROM hands USING SAMPLE 1 ROWS",
        "FROM json_each('{\"a\": 1}')",
        "SELECT t.user FROM (SELECT 1 AS user) t",
        "UNPIVOT (SELECT 1 AS a, 2 AS b) ON a, b INTO NAME n VALUE v",
    ],
)
def test_what_analysts_ask_is_answered(con: duckdb.DuckDBPyConnection, sql: str) -> None:
    assert con.sql(checked_statement(con, sql, VIEWS)).to_arrow_table().num_rows


def test_every_reason_is_a_clause(con: duckdb.DuckDBPyConnection) -> None:
    for pattern, why in allowed_names().refused:
        assert pattern
        assert why[0].islower()
        assert not why.endswith(".")


@pytest.mark.parametrize(
    ("sql", "alike", "other"),
    [
        (
            "SELECT 1 FROM hands WHERE match = 'm' AND pot > 7",
            "SELECT 23 FROM hands WHERE match = 'it''s -- FROM events' AND pot > 0",
            "SELECT 1 FROM events WHERE match = 'm' AND pot > 7",
        ),
        (
            "SELECT 1 -- what it's\nFROM hands",
            "SELECT 1 -- FROM events, it's\nFROM hands",
            "SELECT 1 -- what it's\nFROM events -- isn't it",
        ),
        (
            'SELECT 1 AS "it\'s" FROM hands',
            'SELECT 2 AS "it\'s" FROM hands',
            "SELECT 1 AS \"it's\" FROM events WHERE match = 'm'",
        ),
        (
            "SELECT 1 /* it's */ FROM hands",
            "SELECT 1 /* FROM\nevents */ FROM hands",
            "SELECT 1 /* it's */ FROM events /* isn't it */",
        ),
    ],
)
def test_statements_that_differ_in_texts_alone_are_parsed_once(
    con: duckdb.DuckDBPyConnection,
    monkeypatch: pytest.MonkeyPatch,
    sql: str,
    alike: str,
    other: str,
) -> None:
    """What is a text or a comment to DuckDB names no table, and hides none."""
    parsed: list[str] = []

    def counted(con: duckdb.DuckDBPyConnection, sql: str) -> set[str] | None:
        parsed.append(sql)
        return table_names(con, sql)

    monkeypatch.setattr("store.sql.guard._named", {})
    monkeypatch.setattr("store.sql.guard.table_names", counted)
    assert [{"hands"}, {"hands"}, {"events"}] == [
        known_table_names(con, one) for one in (sql, alike, other)
    ]
    assert [{"hands"}, {"hands"}, {"events"}] == [
        table_names(con, one) for one in (sql, alike, other)
    ]
    assert [sql, other] == parsed
