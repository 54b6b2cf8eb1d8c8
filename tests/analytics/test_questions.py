"""Every SQL file answers what its text file says, on two engines, in a dialect that others read."""

import sqlite3
from decimal import Decimal
from math import sqrt
from typing import Any

import duckdb
import pyarrow as pa
import pytest
import sqlglot
from sqlglot import expressions as ex

from analytics.projections.facts import facts_projection
from analytics.sql import SQL_FOLDER, HandFilters, facts_sql, file_sql
from analytics.statistics.catalogue import STATISTICS
from tests.analytics.portable import opens_with_its_question_and_its_definition, trees
from tests.analytics.told_hands import QUESTIONS, question

# These have tests of their own.
OTHERS = ("bids", "swaps", "opponent", "winnings_by", "results", "counters", "gate", "ratings")
FILES = sorted(path.stem for path in SQL_FOLDER.glob("*.sql") if not path.stem.startswith(OTHERS))
# What other engines do not have, or silently answer otherwise (`list(x ORDER BY y)` did).
FORBIDDEN = (ex.Qualify, ex.IntDiv, ex.Lambda, ex.PercentileCont, ex.ArrayAgg, ex.Star)


def answered(file: str, rows: pa.Table) -> list[dict[str, Any]]:
    """By DuckDB, over all facts."""
    con = duckdb.connect()
    con.register("facts", rows)
    asked = con.sql(file_sql(file, facts_sql(HandFilters())))
    found: list[dict[str, Any]] = asked.to_arrow_table().to_pylist()
    return found


@pytest.mark.parametrize("file", FILES)
def test_a_question_answers_what_its_text_says(file: str) -> None:
    asked = question(QUESTIONS / f"{file}.txt")
    rows = facts_projection(lambda mark: None).build(asked.leaves)
    found = {row["player"]: row for row in answered(file, rows)}
    for expected in asked.rows:
        row = dict(zip(asked.columns, expected, strict=True))
        mine = {name: found[row["player"]][name] for name in asked.columns}
        assert _near(row) == _near(mine)


@pytest.mark.parametrize("file", FILES)
def test_another_engine_answers_the_same(file: str) -> None:
    """SQLite, unchanged; the one function that it lacks is lent to it."""
    asked = question(QUESTIONS / f"{file}.txt")
    rows = facts_projection(lambda mark: None).build(asked.leaves)
    con = sqlite3.connect(":memory:")
    con.create_function("sqrt", 1, sqrt)
    names = ", ".join(f'"{name}"' for name in rows.column_names)
    con.execute(f"CREATE TABLE facts ({names})")
    marks = ", ".join("?" * rows.num_columns)
    con.executemany(
        f"INSERT INTO facts VALUES ({marks})", [[*it.values()] for it in rows.to_pylist()]
    )
    told = con.execute(file_sql(file, facts_sql(HandFilters())))
    columns = [one[0] for one in told.description]
    other = [dict(zip(columns, row, strict=True)) for row in told]

    def place(row: dict[str, Any]) -> str:
        return f"{row['player']} {row.get('class')}"

    ours = sorted(answered(file, rows), key=place)
    for mine, theirs in zip(ours, sorted(other, key=place), strict=True):
        assert _near(mine) == _near(theirs)


def _near(row: dict[str, Any]) -> dict[str, Any]:
    """Numbers to five digits, whatever an engine makes of a sum."""
    told = (int, float, Decimal)
    return {name: round(float(it), 5) if isinstance(it, told) else it for name, it in row.items()}


@pytest.mark.parametrize("file", FILES)
def test_a_file_opens_with_its_question_and_its_definition(file: str) -> None:
    opens_with_its_question_and_its_definition(file)


@pytest.mark.parametrize("file", FILES)
def test_a_file_is_in_the_portable_dialect(file: str) -> None:
    for tree in trees(file):
        assert [] == [node for node in tree.find_all(*FORBIDDEN) if not _counts_rows(node)]
        assert {"filtered", "alike", "added"} >= {one.name for one in tree.find_all(ex.Table)}


def test_the_linter_finds_what_other_engines_read_otherwise() -> None:
    for wrong in ("SELECT a // 2", "SELECT list(x ORDER BY y) FROM t", "SELECT * FROM t"):
        (tree,) = sqlglot.parse(wrong, dialect="duckdb")
        assert tree is not None
        assert [node for node in tree.find_all(*FORBIDDEN) if not _counts_rows(node)]


def _counts_rows(node: ex.Expression) -> bool:
    return isinstance(node, ex.Star) and isinstance(node.parent, ex.Count)


def test_every_question_has_its_text_and_every_statistic_its_columns() -> None:
    assert FILES == sorted(path.stem for path in QUESTIONS.glob("*.txt"))
    empty = facts_projection(lambda mark: None).build([])
    con = duckdb.connect()
    con.register("facts", empty)
    for one in STATISTICS.values():
        asked = file_sql(one.file, facts_sql(HandFilters()))
        ends = {"share": "k", "ratio": "k", "sum": "sum", "mean": "mean", "spread": "sd"}
        columns = set(con.sql(asked).columns)
        assert {f"{one.prefix}_n", f"{one.prefix}_{ends[one.kind]}"} <= columns


def test_every_statistic_is_defined_on_its_page() -> None:
    page = (SQL_FOLDER.parents[1] / "docs" / "statistics.md").read_text("utf-8")
    assert [] == [name for name in STATISTICS if f"`{name}` |" not in page]
