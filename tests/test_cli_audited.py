"""An audit in files: row by row what the document says."""

import csv
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from api.main import main
from tests.sessions import dealt, forged, printed, said, told

Captured = pytest.CaptureFixture[str]


def _rows(document: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Hand, pot and seat; what it is paid, nets, and what other readings pay the seat."""
    return [
        (
            *(one[it] for it in ("hand", "ruleset", "verdict")),
            *(pot[it] for it in ("pot", "low", "high", "amount", "dead", "folded", "rake")),
            seat,
            *(_share(pot, seat)[it] for it in ("recorded", "decided", "exact", "odd")),
            one["recorded"][seat],
            one["decided"][seat],
            ", ".join(f"{it['entry']} {it['nets'][seat]:+d}" for it in one["readings"]),
        )
        for one in document["hands"]
        for pot in one["pots"]
        for seat in range(len(one["recorded"]))
    ]


def _share(pot: dict[str, Any], seat: int) -> dict[str, Any]:
    nothing = {"recorded": 0, "decided": 0, "exact": "0", "odd": 0}
    return next((share for share in pot["shares"] if share["seat"] == seat), nothing)


COLUMNS = (
    *("hand", "ruleset", "verdict", "pot", "low", "high", "amount", "dead", "folded", "rake"),
    *("seat", "recorded", "decided", "exact", "odd", "recorded_net", "decided_net", "readings"),
)


def test_a_file_has_a_row_a_hand_pot_and_seat(capsys: Captured, tmp_path: Path) -> None:
    """In seed 1 a tie comes early, and the readings of a tie differ (A9)."""
    words = ("--ledger", str(tmp_path / "l"))
    assert main(["play", "auction-2024", "--hands", "60", "--seed", "1", *words]) == 0
    assert main(["play", "site-nl", "--seats", "5", "--hands", "40", "--seed", "1", *words]) == 0
    capsys.readouterr()
    names = [line.split()[0] for line in printed(capsys, "hands", *words).splitlines()[1:]]
    expected = _rows(told(capsys, "audit", *names, *words))
    into = tmp_path / "audit.parquet"
    printed(capsys, "audit", "--all", "--parquet", str(into), *words)
    assert expected == pl.read_parquet(into).select(COLUMNS).rows()
    assert {"agree", "contested"} == {row[2] for row in expected}
    assert {0, 1} < {row[3] for row in expected}
    text = tmp_path / "audit.csv"
    printed(capsys, "audit", "--all", "--csv", str(text), *words)
    with text.open() as file:
        rows = list(csv.DictReader(file))
    assert [row["readings"] for row in rows] == [row[-1] for row in expected]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["audit.csv", "audit.parquet", "l"]


@pytest.mark.parametrize("how", [(), ("--engine",)])
def test_of_many_hands_pots_are_told_where_somebody_may_ask(
    how: tuple[str, ...], capsys: Captured, tmp_path: Path
) -> None:
    words = ("--ledger", str(tmp_path / "l"))
    assert main(["play", "auction-2024", "--hands", "60", "--seed", "1", *words]) == 0
    capsys.readouterr()
    hands = told(capsys, "audit", "--all", *how, *words)["hands"]
    assert {("agree", True), ("contested", False)} == {
        (one["verdict"], one["pots"] is None) for one in hands
    }


def test_what_is_wrong_is_in_the_file_and_in_the_exit_code(
    capsys: Captured, tmp_path: Path
) -> None:
    first, second, *_ = dealt()
    words = forged(tmp_path, first, (*second[:-2], second[-1]))
    into = tmp_path / "audit.csv"
    printed(capsys, "audit", "--all", "--csv", str(into), *words, code=3)
    assert "differ" in into.read_text()


def test_a_bundle_is_no_table(capsys: Captured, tmp_path: Path) -> None:
    files = ("--evidence", str(tmp_path / "a.zip"), "--csv", str(tmp_path / "a.csv"))
    sentence = said(capsys, 2, "audit", "scrim/1", *files)
    assert "--evidence is one file" in sentence
