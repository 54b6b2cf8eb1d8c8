"""Every SQL file about auctions and luck answers what its text file says, in a portable dialect."""

from decimal import Decimal
from functools import cache
from typing import Any

import pytest

from analytics.auctions import third_card_worth
from analytics.auctions.bidding import MEASURES, auctions_sql
from analytics.luck.luck_queries import MEASURES as OF_LUCK
from analytics.luck.luck_queries import luck_sql
from analytics.sql import SQL_FOLDER, ArrowTables
from tests.analytics.auction_pages import (
    PAGES,
    auctions,
    auctions_table,
    page,
    played_rows,
    played_table,
    risks,
    risks_table,
    worths,
)
from tests.analytics.portable import FORBIDDEN, opens_with_its_question_and_its_definition, trees

FILES = sorted(
    path.stem for path in SQL_FOLDER.glob("*.sql") if path.stem.startswith(("bids", "swaps"))
)


@cache
def answered(file: str) -> list[dict[str, Any]]:
    """By DuckDB, over the hands of the file's page."""
    leaves = page(PAGES / f"{file}.txt").leaves
    rows = auctions(leaves)
    tables = ArrowTables(
        {
            "auctions": auctions_table(rows),
            "worths": third_card_worth.worth_table(worths(rows)),
            "played": played_table(played_rows(leaves)),
            "risks": risks_table(risks(leaves)),
        }
    )
    bids = file.startswith("bids")
    return tables.ask(file, auctions_sql(None, None) if bids else luck_sql(file, None, None))


@pytest.mark.parametrize("file", FILES)
def test_a_question_answers_what_its_text_says(file: str) -> None:
    _, columns, expected = page(PAGES / f"{file}.txt")
    found = [[_near(row[name]) for name in columns] for row in answered(file)]
    for row in expected:
        assert [_near(value) for value in row] in found


def _near(value: Any) -> Any:
    return round(float(value), 4) if isinstance(value, int | float | Decimal) else value


@pytest.mark.parametrize("file", FILES)
def test_a_file_opens_with_its_question_and_its_definition(file: str) -> None:
    opens_with_its_question_and_its_definition(file)


@pytest.mark.parametrize("file", FILES)
def test_a_file_is_in_the_portable_dialect(file: str) -> None:
    for tree in trees(file):
        assert [] == list(tree.find_all(*FORBIDDEN))


def test_every_question_has_its_text() -> None:
    assert FILES == sorted(path.stem for path in PAGES.glob("*.txt"))


@pytest.mark.parametrize("one", [*MEASURES.values(), *OF_LUCK.values()], ids=lambda one: one.name)
def test_every_measure_has_its_columns(one: Any) -> None:
    ends = {"share": "k", "mean": "mean", "ratio": "value", "number": "value"}
    assert {f"{one.prefix}_n", f"{one.prefix}_{ends[one.kind]}"} <= set(answered(one.file)[0])
