"""How a file of SQL must look: a question and a definition first, then what every engine reads."""

import sqlglot
from sqlglot import expressions as ex

from analytics.sql import sql_text

DIALECTS = ("duckdb", "spark", "postgres")
# What other engines do not have, or silently answer otherwise (`list(x ORDER BY y)` did).
FORBIDDEN = (ex.Qualify, ex.IntDiv, ex.Lambda, ex.PercentileCont, ex.ArrayAgg, ex.Median)


def opens_with_its_question_and_its_definition(file: str) -> None:
    """Two lines of comment: one asks, one says what is meant."""
    first, second, *_ = sql_text(file).splitlines()
    assert first.startswith("-- ")
    assert first.endswith("?")
    assert second.startswith("-- ")
    assert second.endswith(".")


def trees(file: str) -> list[ex.Expr]:
    """The file as each of the engines reads it."""
    read = [sqlglot.parse(sql_text(file), dialect=dialect) for dialect in DIALECTS]
    found = [tree for (tree,) in read if tree is not None]
    assert len(DIALECTS) == len(found)
    return found
