"""The example notebook runs, cell by cell, on the exports that it names; no Jupyter is needed."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.sessions import printed

NOTEBOOK = Path(__file__).parent.parent / "docs" / "examples" / "read_export.ipynb"


def cells(kind: str) -> list[str]:
    """The sources of its cells of one kind."""
    notebook = json.loads(NOTEBOOK.read_text("utf-8"))
    return ["".join(it["source"]) for it in notebook["cells"] if it["cell_type"] == kind]


@pytest.fixture
def exports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """Two matches, exported as the notebook says."""
    ledger = ("--ledger", str(tmp_path / "ledger"))
    for game in ("auction-2024-mit", "swap-2022-mit"):
        printed(capsys, "play", game, "--hands", "30", "--seed", "7", "--match", game, *ledger)
    for table in ("players", "bids"):
        out = ("--out", str(tmp_path / f"{table}.parquet"))
        printed(capsys, "export", "--to", "parquet", "--table", table, *out, *ledger)
    return tmp_path


def test_every_cell_of_the_example_runs(exports: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPORT", str(exports))
    names: dict[str, Any] = {}
    for source in cells("code"):
        exec(compile(source, NOTEBOOK.name, "exec"), names)
    won: pl.DataFrame = names["won"]
    assert ["auction-2024-mit", "swap-2022-mit"] == won["match"].unique(
        maintain_order=True
    ).to_list()
    assert [30] * 4 == won["hands"].to_list()
    assert 0 == won["net"].sum()
    assert {True, False} == set(names["bids"]["won"].to_list())
    assert "auditor" == names["view"]


def test_the_commands_of_the_example_name_tables_that_there_are() -> None:
    text = "\n".join(cells("markdown"))
    for table in ("players", "bids"):
        assert f"--format parquet --table {table} --out {table}.parquet" in text


def test_nothing_of_a_run_is_kept_in_the_example() -> None:
    notebook = json.loads(NOTEBOOK.read_text("utf-8"))
    for cell in notebook["cells"]:
        assert cell.get("outputs", []) == []
        assert cell.get("execution_count") is None
