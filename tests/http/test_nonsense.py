"""Nonsense in SQL, filters and bodies: a value or a refusal in one sentence, and never a 500."""

import csv
import io
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest
from starlette.testclient import TestClient

from api.main import main
from store.sql.result_values import DEPTH_MAX, distinct_names
from tests.http.clients import site_of
from tests.profiles import in_turn, sized
from tests.sessions import Captured

YEARS = "outside the years 1 to 9999"
TEXT = "CAST(... AS VARCHAR) tells it as text"
DIGITS = "more than 38 digits"
DEEP = "deep"

# What is asked as x, and what JSON says of it; or a refusal, of which a part is quoted.
VALUES: dict[str, Any] = {
    "NULL": None,
    "'nan'::DOUBLE": None,
    "1e308 * 10": None,
    "'-inf'::FLOAT": None,
    "-0.0::DOUBLE": -0.0,
    "18446744073709551615::UBIGINT": 18446744073709551615,
    "9007199254740993": 9007199254740993,
    "99999999999999999999999999999999999999::DECIMAL(38, 0)": 10**38 - 1,
    "1::UHUGEINT": 1,
    "[NULL, [NULL]]": [None, [None]],
    "[{'a': NULL}, NULL]": [{"a": None}, None],
    "(-99999999999999999999999999999999999999)::HUGEINT": 1 - 10**38,
    "'9'.repeat(200)::BIGNUM": "9" * 200,
    "'\\xAA\\x00'::BLOB": "aa00",
    "'10101'::BIT": "10101",
    "bitstring_agg(1)": "1",
    "'b'::ENUM('a', 'b')": "b",
    "'00000000-0000-0000-0000-000000000001'::UUID": "00000000-0000-0000-0000-000000000001",
    "'{\"a\": 1}'::JSON": '{"a": 1}',
    "union_value(num := 2)": "2",
    "'x'::UNION(num INT, s VARCHAR)": "x",
    "NULL::UNION(num INT, s VARCHAR)": None,
    "MAP {'a': 1}": [["a", 1]],
    "MAP {[1]: {'a': NULL}}": [[[1], {"a": None}]],
    "MAP {INTERVAL 1 DAY: '1'::BIT}": [["1 day", "1"]],
    "histogram(1)": [[1, 1]],
    "[]": [],
    "[[1], [], NULL]": [[1], [], None],
    "[1, 2]::INT[2]": [1, 2],
    "[INTERVAL 1 DAY]::INTERVAL[1]": ["1 day"],
    "{'a': [{'b': INTERVAL 1 DAY}]}": {"a": [{"b": "1 day"}]},
    "{'select': '1'::BIT, 'a \"b': 1}": {"select": "1", 'a "b': 1},
    "ROW(1, INTERVAL 1 DAY)": {"element1": 1, "element2": "1 day"},
    "{'a': 'nan'::DOUBLE}": {"a": None},
    "INTERVAL 100000 YEARS": "100000 years",
    "INTERVAL '-1 month 2 days 3 seconds'": "-1 month 2 days 00:00:03",
    "TIMETZ '12:00:00+15:59'": "12:00:00+15:59",
    "TIME_NS '12:00:00.123456789'": "12:00:00.123456789",
    "TIME '12:00:00.5'": "12:00:00.500000",
    "DATE '0001-01-01'": "0001-01-01",
    "DATE '9999-12-31'": "9999-12-31",
    "TIMESTAMP '9999-12-31 23:59:59.999999'": "9999-12-31T23:59:59.999Z",
    "TIMESTAMP '0001-01-01'": "0001-01-01T00:00:00.000Z",
    "TIMESTAMPTZ '2024-01-02 03:04:05+05'": "2024-01-01T22:04:05.000Z",
    "[TIMESTAMPTZ '2024-01-02 03:04:05+05']": ["2024-01-01T22:04:05.000Z"],
    "TIMESTAMP_NS '2200-01-01 00:00:00.123456000'": "2200-01-01T00:00:00.123Z",
    "[TIMESTAMP_NS '2200-01-01 00:00:00.123456789']": ["2200-01-01 00:00:00.123456789"],
    "DATE 'infinity'::VARCHAR": "infinity",
    "DATE '20000-01-01'::VARCHAR": "20000-01-01",
    "chr(0)": "\0",
    "'a' || chr(8232) || chr(8238) || chr(27)": "a\u2028\u202e\x1b",
    'from_json(\'{"a":"POINT(1 2)"}\', \'{"a":"GEOMETRY"}\')': {"a": "POINT (1 2)"},
    "(" * 900 + "1" + ")" * 900: 1,
    "- " * 900 + "1": 1,
}
REFUSED = {
    "DATE 'infinity'": YEARS,
    "DATE '-infinity'": YEARS,
    "DATE '20000-01-01'": YEARS,
    "DATE '0044-03-15 (BC)'": YEARS,
    "make_date(5000000, 1, 1)": YEARS,
    "TIMESTAMP 'infinity'": YEARS,
    "TIMESTAMPTZ '-infinity'": YEARS,
    "TIMESTAMP '10000-01-01'": YEARS,
    "TIMESTAMP '0001-01-01' - INTERVAL 1 MICROSECOND": YEARS,
    "TIMESTAMP_S '200000-01-01'": YEARS,
    "TIMESTAMP_MS '200000-01-01'": YEARS,
    "'infinity'::TIMESTAMP_S": YEARS,
    "'infinity'::TIMESTAMP_NS": YEARS,
    "TIME '24:00:00'": YEARS,
    "[DATE 'infinity', NULL]": YEARS,
    "{'a': [DATE '20000-01-01']}": YEARS,
    "MAP {DATE 'infinity': 1}": YEARS,
    "MAP {1: TIMESTAMP 'infinity'}": YEARS,
    "[DATE '20000-01-01']::DATE[1]": YEARS,
    "170141183460469231731687303715884105727::HUGEINT": DIGITS,
    "[170141183460469231731687303715884105727::HUGEINT]": DIGITS,
    "340282366920938463463374607431768211455::UHUGEINT": "DECIMAL(38,0)",
    "chr(55296)": "55296",
    "1 / 'x'": "Could not convert",
    "DATE '2000-02-30'": "2000-02-30",
    "(" * 9_900 + "1" + ")" * 9_900: DEEP,
    "NOT " * 900 + "true": DEEP,
    "NOT " * 2_000 + "true": DEEP,
    "abs(" * 900 + "1" + ")" * 900: DEEP,
    "[" * 20 + "1" + "]" * 20: DEEP,
    "[" * 200 + "1" + "]" * 200: DEEP,
    "[" * 5_000 + "1" + "]" * 5_000: DEEP,
    "{'a':" * 20 + "1" + "}" * 20: DEEP,
    "{'a':" * 900 + "1" + "}" * 900: DEEP,
    "NULL::INT" + "[]" * 100: DEEP,
    "NULL::INT" + "[]" * 900: DEEP,
    "1" + "+1" * 900: DEEP,
    "1" + "+1" * 4_000: DEEP,
    "(SELECT " * 200 + "1" + ")" * 200: DEEP,
    "?": "parameter",
    "$1": "parameter",
    "DEFAULT": "DEFAULT",
    "*": "*",
}
NAMES = {
    "SELECT 1 AS x, 2 AS x, 3 AS x": ["x", "x_1", "x_2"],
    "SELECT 1 AS x, 2 AS x_1, 3 AS x": ["x", "x_1", "x_2"],
    "SELECT 1 AS x, 2 AS x, 3 AS x_1": ["x", "x_2", "x_1"],
    "SELECT 1 AS x, 2 AS \"X\"": ["x", "X_1"],
    "SELECT 1 AS \"a b\"\"c\", 2 AS \"a b\"\"c\"": ['a b"c', 'a b"c_1'],
    "SELECT * FROM (SELECT 1 AS x) a, (SELECT 2 AS x) b": ["x", "x_1"],
    "SELECT INTERVAL 1 DAY AS x, INTERVAL 1 DAY AS x": ["x", "x_1"],
    "SELECT 'a' AS hand_seq, 1 AS hand, 'x' AS number, 'y' AS \"at\", 2 AS \"b.c\"": [
        *("hand_seq", "hand", "number", "at", "b.c"),
    ],
}  # fmt: skip

Told = list[dict[str, Any]] | str  # rows, or why there are none


@pytest.fixture(scope="module")
def client(house: Path) -> Iterator[TestClient]:
    """Somebody who may ask everything, and is told if a request raises."""
    with site_of(house).as_("auditor") as client:
        yield client


def asked(client: TestClient, sql: str, kind: str) -> Any:
    """The body of an answer in a format, or the sentence of a refusal."""
    answer = client.post(f"/api/v1/sql?format={kind}", json={"q": sql})
    if answer.status_code == 400:
        told = answer.json()
        assert told["type"] == "urn:muckrake:problem:query-refused"
        assert "\n" not in told["detail"]
        return told["detail"]
    assert answer.status_code == 200, (kind, sql[:99], answer.text[:300])
    return answer.content


def of_json(body: bytes) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(body)["rows"]
    return rows


def of_ndjson(body: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in body.splitlines()]


def of_csv(body: bytes) -> list[dict[str, Any]]:
    return list(csv.DictReader(io.StringIO(body.decode(), newline="")))


def of_arrow(body: bytes) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pa.ipc.open_stream(body).read_all().to_pylist()
    return rows


def of_parquet(body: bytes) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(io.BytesIO(body)).to_pylist()
    return rows


READ: dict[str, Callable[[bytes], list[dict[str, Any]]]] = {
    "json": of_json,
    "ndjson": of_ndjson,
    "csv": of_csv,
    "arrow": of_arrow,
    "parquet": of_parquet,
}


EACH = [(expression, kind) for expression in VALUES for kind in READ]


@pytest.mark.parametrize(
    ("expression", "kind"),
    sized(in_turn(VALUES, [*READ]), in_turn(VALUES, [*READ]), EACH),
    ids=lambda text: text[:30],
)
def test_a_strange_value_is_a_value_in_every_format(
    client: TestClient, expression: str, kind: str
) -> None:
    body = asked(client, f"SELECT {expression} AS x, 1 AS y", kind)
    assert isinstance(body, bytes), body
    (row,) = READ[kind](body)
    assert ["x", "y"] == list(row)
    value = VALUES[expression]
    if kind in ("json", "ndjson"):
        assert value == row["x"]
        assert json.dumps(value, sort_keys=True) == json.dumps(row["x"], sort_keys=True)
    elif kind == "csv":
        flat = json.dumps(value) if isinstance(value, list | dict) else value
        assert ("" if flat is None else str(flat)) == row["x"]
    elif isinstance(value, str | int) and "::BLOB" not in expression and value != -0.0:
        assert value == row["x"] or not isinstance(row["x"], str)


@pytest.mark.parametrize(
    ("expression", "kind"), in_turn(REFUSED, [*READ]), ids=lambda text: text[:30]
)
def test_what_is_no_value_is_refused_in_a_sentence(
    client: TestClient, expression: str, kind: str
) -> None:
    said = asked(client, f"SELECT {expression} AS x", kind)
    assert isinstance(said, str)
    assert REFUSED[expression].lower() in said.lower()
    if REFUSED[expression] in (YEARS, DIGITS):
        assert said.endswith(f"in the column x: {TEXT}")


@pytest.mark.parametrize(("sql", "kind"), in_turn(NAMES, [*READ]))
def test_a_name_twice_is_renamed_and_nothing_is_dropped(
    client: TestClient, sql: str, kind: str
) -> None:
    (row,) = READ[kind](asked(client, sql, kind))
    names = NAMES[sql]
    assert names == (sorted(row, key=names.index) if kind == "ndjson" else list(row))
    assert len(names) == len({str(value) for value in row.values()}) or "INTERVAL" in sql


def test_names_that_are_made_collide_with_none() -> None:
    dice = random.Random(5)
    for _ in range(2_000):
        given = [dice.choice("xXyé") + dice.choice(["", "_1", "_2"]) for _ in range(6)]
        told = distinct_names(given)
        assert len({name.lower() for name in told}) == len(told)
        for before, after in zip(given, told, strict=True):
            assert after == before or after.rpartition("_")[0] == before
        firsts = {name.lower(): place for place, name in reversed(list(enumerate(given)))}
        assert all(told[place] == given[place] for place in firsts.values())


def test_rows_stay_in_order_when_a_column_is_told_otherwise(client: TestClient) -> None:
    sql = "SELECT to_days(i::INT) AS d, i AS i, i AS i FROM range(20000) t(i) ORDER BY hash(i)"
    rows = of_json(asked(client, sql, "json"))
    plain = of_json(asked(client, "SELECT i FROM range(20000) t(i) ORDER BY hash(i)", "json"))
    assert [row["i"] for row in plain] == [row["i_1"] for row in rows]


@pytest.mark.parametrize("more", [[], ["--json"]], ids=["drawn", "json"])
@pytest.mark.parametrize("part", range(sized(1, 2, 4)))
def test_the_command_says_the_same(
    capsys: Captured, house: Path, part: int, more: list[str]
) -> None:
    parts = sized(8, 4)
    first = (part + bool(more)) % parts  # of other ones as JSON
    for expression in [*VALUES, *REFUSED, *NAMES][first::parts]:
        sql = expression if expression in NAMES else f"SELECT {expression} AS x"
        code = main(["sql", "--ledger", str(house), *more, "--", sql])
        out, err = capsys.readouterr()
        if expression in REFUSED:
            assert (code, out) == (1, "")
            assert err.startswith("muckrake: "), err
            assert err.count("\n") == 1
        else:
            assert (code, err) == (0, ""), expression
            names = NAMES.get(expression, ["x"])
            if more:
                assert names == list(json.loads(out)["rows"][0])
            else:
                head, row, end = out.split("\n")
                assert end == ""
                assert names == head.split("\t")
                assert len(names) == len(row.split("\t"))


LEAVES = (
    *("1", "NULL", "'x'", "1.5", "'nan'::DOUBLE", "DATE '2024-01-02'", "INTERVAL 1 MONTH"),
    *("TIMETZ '12:00:00-03'", "'101'::BIT", "'\\xFF'::BLOB", "true", "now()", "3::UHUGEINT"),
    *("union_value(n := 1)", "'a'::ENUM('a')", "5::BIGNUM", "TIME '12:00'", "2::HUGEINT"),
    *("TIMESTAMP_NS '2024-01-02'", "TIMESTAMP_S '2024-01-02'", "'[1]'::JSON", "1e300"),
)


def drawn(dice: random.Random, depth: int) -> str:
    """An expression of some type."""
    one = dice.choice(LEAVES)
    if depth == 0 or dice.random() < 0.2:
        return one
    parts = [drawn(dice, depth - 1) for _ in range(2)]
    match dice.choice(("list", "array", "struct", "map", "row", "nested")):
        case "list":
            return f"[{parts[0]}, NULL]"
        case "array":
            return f"array_value({parts[0]}, {parts[0]})"
        case "struct":
            return f"{{'a': {parts[0]}, 'B b': {parts[1]}}}"
        case "map":
            return f"MAP {{{one if one != 'NULL' else 1}: {parts[1]}}}"
        case "row":
            return f"ROW({parts[0]}, {parts[1]})"
    return f"[[{parts[0]}]]"


@pytest.mark.parametrize("seed", range(sized(3, 5, 40)))
def test_drawn_types_are_values_in_every_format(client: TestClient, seed: int) -> None:
    dice = random.Random(seed)
    columns = ", ".join(f"{drawn(dice, 3)} AS c{place}" for place in range(6))
    rows = {}
    for kind, read in READ.items():
        body = asked(client, f"SELECT {columns} FROM range(2)", kind)
        assert isinstance(body, bytes), body
        rows[kind] = read(body)
        assert 2 == len(rows[kind])
        assert 6 == len(rows[kind][0])
    if "now()" not in columns:
        assert rows["json"] == rows["ndjson"]


def test_a_value_that_is_nested_as_deep_as_may_be_is_told(client: TestClient) -> None:
    deep = DEPTH_MAX - 1
    for expression in ("[" * deep + "1" + "]" * deep, "{'a':" * deep + "1" + "}" * deep):
        for kind, read in READ.items():
            assert read(asked(client, f"SELECT {expression} AS x", kind))


DEEP_FILTERS = (
    "(" * 900 + "walk" + ")" * 900,
    "!" * 1_500 + "walk",
    "(" * 1_500,
    " & ".join(["walk"] * 200),
    "pot>" + "9" * 1_000,
    "hole=" + "A" * 1_000,
    "at>99999-01-01",
    "at>0000-00-00",
    "at<-44-03-15",
    "net>=-99999999999999999999999999",
    "pot>1e308",
    '"' + "\\" * 999,
    'match="\0"',
    'player="\u202e"',
)


@pytest.mark.parametrize("text", DEEP_FILTERS, ids=lambda text: text[:20])
def test_a_filter_of_nonsense_is_refused_with_its_place(client: TestClient, text: str) -> None:
    for where in ("/api/v1/hands", "/hands"):
        answer = client.get(where, params={"q": text})
        assert answer.status_code in (200, 400), answer.text[:300]
        if answer.status_code == 400 and where.startswith("/api"):
            kinds = ("wrong-filter", "bad-request")  # a name that nobody can have is no filter
            assert answer.json()["type"].rpartition(":")[2] in kinds
            assert len(answer.json()["detail"]) < 2_000


BODIES = {
    "10,000 lists": "[" * 10_000 + "]" * 10_000,
    "100,000 lists": "[" * 100_000 + "]" * 100_000,
    "10,000 objects": '{"q":' * 10_000 + "1" + "}" * 10_000,
    "a list that never ends": "[" * 100_000,
    "a deep value in a member": '{"q": ' + "[" * 5_000 + "]" * 5_000 + "}",
    "a number of 5,000 digits": '{"q": ' + "9" * 5_000 + "}",
    "a number out of range": '{"q": 1e999}',
    "half a surrogate": '{"q": "\\ud800"}',
    "a NUL": '{"q": "SELECT \\u0000 1"}',
    "NaN": '{"q": NaN}',
}


@pytest.mark.parametrize("where", ["/api/v1/sql", "/api/v1/matches", "/api/v1/keys"])
@pytest.mark.parametrize("name", BODIES)
def test_a_body_of_nonsense_is_refused(client: TestClient, name: str, where: str) -> None:
    answer = client.post(
        where, content=BODIES[name].encode(), headers={"Content-Type": "application/json"}
    )
    assert 400 <= answer.status_code < 500, answer.text[:300]
    assert answer.headers["content-type"].startswith("application/problem+json")
