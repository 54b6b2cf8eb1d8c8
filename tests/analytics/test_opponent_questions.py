"""Every SQL file about opponents answers what its text file says, in a portable dialect.

The pages are those of `auction_pages`; the match is as long as the page, so that its end is known.
"""

from decimal import Decimal
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pyarrow as pa
import pytest

from analytics.intervals import Mean, welch
from analytics.opponents.opponent_tables import OpponentScope, OpponentTables, opponent_tables
from analytics.opponents.report_measures import LOOKS, NUMBERS, STATISTIC_LOOKS
from analytics.opponents.report_sections import OpponentSections
from analytics.sql import SQL_FOLDER, ArrowTables, sql_text
from analytics.statistics.catalogue import STATISTICS, Statistic, estimate
from analytics.statistics.counts import opportunity_rows
from store.columns.codec import encoded_table
from store.log.streams import Leaf
from tests.analytics.auction_pages import RULES, page
from tests.analytics.portable import FORBIDDEN, opens_with_its_question_and_its_definition, trees

PAGES = Path(__file__).parent / "opponents"
FILES = sorted(path.stem for path in SQL_FOLDER.glob("opponent_*.sql"))
# Which rows a file is asked of; those of the last two are chances.
SOURCES = {
    "opponent_ends": "ends",
    "opponent_faulted": "ends",
    "opponent_locked": "ends",
    "opponent_faults": "faults",
}
MADE = {"opponent_acts": "acts", "opponent_results": "ends"}  # files that make a table of these
OF_CHANCES = ("opponent_shares", "opponent_hands")


def told(leaves: list[Leaf]) -> OpponentTables:
    """Everything of these hands, every strength counted."""
    asked = OpponentScope("p0", lengths={"m": len(leaves)})
    return opponent_tables([encoded_table(leaves)], RULES, asked, lambda rows, total: rows)


def answered(file: str, leaves: list[Leaf]) -> list[dict[str, Any]]:
    """By DuckDB, over all players."""
    found = told(leaves)
    tables = ArrowTables(
        {"acts": found.acts, "ends": found.ends, "faults": found.faults, "facts": found.facts}
    )
    if file in MADE:
        return tables.rows(f"SELECT * FROM {MADE[file]}")
    if file in OF_CHANCES:
        parts = (tables.file_table("opponent_looks", _all("acts")), _flags(tables))
        tables = ArrowTables({"looks": parts[0], "flags": parts[1]})
        return tables.ask(file, "SELECT * FROM looks UNION ALL SELECT * FROM flags")
    if file == "chances":
        found_rows: list[dict[str, Any]] = _flags(tables).to_pylist()
        return found_rows
    return tables.ask(file, _all(SOURCES.get(file, "acts")))


def _flags(tables: ArrowTables) -> pa.Table:
    return opportunity_rows(tables, _all("facts"), [STATISTICS[name] for name in STATISTIC_LOOKS])


def _all(table: str) -> str:
    return f"SELECT *, '' AS part FROM {table}"


@pytest.mark.parametrize("file", sorted(path.stem for path in PAGES.glob("*.txt")))
def test_a_question_answers_what_its_text_says(file: str) -> None:
    leaves, columns, expected = page(PAGES / f"{file}.txt")
    found = [[_near(row[name]) for name in columns] for row in answered(file, leaves)]
    for row in expected:
        assert [_near(value) for value in row] in found


def _near(value: Any) -> Any:
    return round(float(value), 4) if isinstance(value, int | float | Decimal) else value


def test_the_page_of_chances_tells_all_of_them() -> None:
    leaves, columns, expected = page(PAGES / "opponent_looks.txt")
    found = [[row[name] for name in columns] for row in answered("opponent_looks", leaves)]
    assert sorted(expected) == sorted(found)


@pytest.mark.parametrize("file", FILES)
def test_a_file_opens_with_its_question_and_its_definition(file: str) -> None:
    opens_with_its_question_and_its_definition(file)


@pytest.mark.parametrize("file", FILES)
def test_a_file_is_in_the_portable_dialect(file: str) -> None:
    for tree in trees(file):
        assert [] == list(tree.find_all(*FORBIDDEN))


def test_every_question_has_its_text() -> None:
    """But that of faults, whose hands no rule page can say: `test_faults`."""
    pages = {path.stem for path in PAGES.glob("*.txt")} - {"chances"}
    assert FILES == sorted([*pages, "opponent_faults"])


def test_every_look_is_a_row_of_its_file() -> None:
    for name, look in LOOKS.items():
        stem = name.rpartition("_")[0] if name.endswith(STREETS) else name
        assert look.file == "opponent_looks"
        assert f"'{name}'" in sql_text(look.file) or f"'{stem}_'" in sql_text(look.file)


def test_a_chance_of_a_share_is_a_row_and_a_hand_may_have_several(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether patterns tell of it or not."""
    monkeypatch.setattr("analytics.sql.SQL_FOLDER", tmp_path)
    counted = "sum(flop_calls) AS calls_k, sum(flop_calls + flop_checks) AS calls_n"
    for file, more in (("by_pattern", ""), ("by_hand", ", max(put_in) AS most")):
        text = f"SELECT player, part, {counted}{more} FROM filtered GROUP BY player, part\n"
        (tmp_path / f"{file}.sql").write_text(text, "utf-8")
    facts = told(page(PAGES / "chances.txt").leaves).facts
    expected = sorted(
        (row["player"], row["hand"], done)
        for row in facts.to_pylist()
        for done, times in ((1, row["flop_calls"]), (0, row["flop_checks"]))
        for _ in range(times)
    )
    assert {0, 1} == {done for *_, done in expected}
    for file in ("by_pattern", "by_hand"):
        one = Statistic("calls", "", "", "", file)
        rows = opportunity_rows(ArrowTables({"facts": facts}), _all("facts"), [one]).to_pylist()
        assert {"calls"} == {row["look"] for row in rows}
        assert expected == sorted((row["player"], row["hand"], row["done"]) for row in rows)


STREETS = ("_preflop", "_flop", "_turn", "_river")


def test_every_chance_that_is_counted_has_a_name() -> None:
    """Whatever the files count over hands of every page is told in the report."""
    pages = [one for path in sorted(PAGES.glob("*.txt")) for one in page(path).leaves]
    leaves = [Leaf(at, one.recorded) for at, one in enumerate(pages)]
    looks = {row["look"] for row in answered("opponent_shares", leaves)}
    assert looks
    assert looks <= {*LOOKS, *STATISTIC_LOOKS}


def test_every_number_has_its_columns() -> None:
    ends = {"share": "k", "mean": "mean", "number": "value"}
    leaves = page(PAGES / "opponent_ends.txt").leaves
    rows = {file: answered(file, leaves)[0] for file in {one.file for one in NUMBERS.values()}}
    for name, one in NUMBERS.items():
        assert {f"{name}_n", f"{name}_{ends[one.kind]}"} <= set(rows[one.file])


def test_numbers_of_nothing_are_nothing() -> None:
    asked = OpponentSections("p0", told([]))
    assert ([], [], []) == (list(asked.look_values()), list(asked.numbers()), asked.locks())


def test_a_leak_of_time_is_the_difference_of_two_means_with_welchs_error() -> None:
    """Cards of the three strongest tenths against the three weakest, before the flop."""
    strong, weak = [900, 1_000, 1_300, 800] * 10, [500, 650, 400] * 12
    times = [*((9, ms) for ms in strong), *((2, ms) for ms in weak), (5, 9_000)]
    acts = pa.table(
        {
            "player": ["p0"] * len(times),
            "part": [""] * len(times),
            "street": ["preflop"] * len(times),
            "meant": [True] * len(times),
            "made_pct": pa.nulls(len(times), pa.float64()),
            "faced_pct": pa.nulls(len(times), pa.float64()),
            "tenth": [at for at, _ in times],
            "think_ms": [ms for _, ms in times],
        }
    )
    tables = ArrowTables({"acts": acts})
    (row,) = tables.ask("opponent_numbers", "SELECT * FROM acts")
    tables.close()
    value, _, n, low, high = estimate(NUMBERS["think_leak"], row)
    one, other = (Mean(fmean(it), stdev(it) / len(it) ** 0.5, len(it)) for it in (strong, weak))
    assert fmean(strong) - fmean(weak) == pytest.approx(value)
    assert 36 == n
    assert (low, high) == pytest.approx(welch(one, other), abs=2.0)  # of the fewer: wider


def test_every_look_and_number_is_defined_on_its_page() -> None:
    page = (Path(__file__).parents[2] / "docs" / "opponents.md").read_text("utf-8")
    assert [] == [name for name in (*LOOKS, *NUMBERS) if f"`{name}` |" not in page]


def test_what_pays_is_summed_in_whole_units() -> None:
    rows = answered("opponent_pays", page(PAGES / "opponent_pays.txt").leaves)
    amounts = [row[name] for row in rows for name in ("per_chip", "quarters", "risk", "prize")]
    assert {int, type(None)} == set(map(type, amounts))
