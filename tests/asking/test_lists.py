"""A list at the command line: all of it in one go, or a part and where it goes on."""

import csv
import json
from pathlib import Path

import polars as pl
import pytest

from api.cli import questions
from api.main import main
from tests.profiles import sized


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A match of two and one of five, and one that has only been announced."""
    folder = tmp_path_factory.mktemp("lists") / "ledger"
    for words in (
        ("auction-2024", "--hands", "12", "--seed", "1", "--match", "scrim"),
        ("site-nl", "--hands", "9", "--seed", "4", "--seats", "5", "--match", "a.ring"),
    ):
        assert main(["play", *words, "--ledger", str(folder)]) == 0
    return folder


@pytest.fixture(autouse=True)
def ledger(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUCKRAKE_LEDGER", str(folder))


NAMES = {"hands": "hand", "matches": "match", "players": "player"}
AT_A_TIME = {"hands": sized("5", "2", "1"), "matches": "1", "players": "1"}
lists = pytest.mark.parametrize("name", NAMES)


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    assert main([*words]) == 0
    return capsys.readouterr().out


@lists
def test_parts_of_a_list_are_the_list(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = json.loads(printed(capsys, name, "--json"))
    assert {"schema", name, "next"} == {*whole}
    assert (f"muckrake.{name}/1", None) == (whole["schema"], whole["next"])
    assert len(whole[name]) > 1
    found: list[object] = []
    after: list[str] = []
    while True:
        part = json.loads(printed(capsys, name, "--json", "--limit", AT_A_TIME[name], *after))
        found += part[name]
        if part["next"] is None:
            break
        assert part["next"] == part[name][-1][NAMES[name]]
        assert len(part[name]) == int(AT_A_TIME[name])
        after = ["--after", part["next"]]
    assert whole[name] == found
    monkeypatch.setattr(questions, "ROWS_AT_ONCE", 1)
    assert whole == json.loads(printed(capsys, name, "--json"))


@lists
def test_a_list_that_goes_on_says_after_which_row(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([name, "--limit", "1"]) == 0
    told = capsys.readouterr()
    header, row = told.out.splitlines()
    assert NAMES[name] == header.split("\t")[0]
    first = row.split("\t")[0]
    assert f"there are more: --after {first}\n" == told.err
    assert main([name, "--after", first]) == 0
    assert first not in [row.split("\t")[0] for row in capsys.readouterr().out.splitlines()]


@lists
def test_a_list_does_not_go_on_after_what_is_not_in_it(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([name, "--after", "nobody/1"]) == 5
    told = capsys.readouterr()
    assert "" == told.out
    assert "nobody/1" in told.err


@lists
def test_a_list_goes_into_files(
    name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    texts, columns = tmp_path / "list.csv", tmp_path / "list.parquet"
    assert "" == printed(capsys, name, "--csv", str(texts), "--parquet", str(columns))
    rows = json.loads(printed(capsys, name, "--json"))[name]
    read = pl.read_parquet(columns)
    assert [dict.fromkeys(read.columns) | row for row in rows] == read.to_dicts()
    found = list(csv.DictReader(texts.read_text().splitlines()))
    assert [row[NAMES[name]] for row in rows] == [row[NAMES[name]] for row in found]
    lists = [key for key, value in rows[0].items() if isinstance(value, list)]
    assert [[row[key] for key in lists] for row in rows] == [
        [json.loads(row[key]) for key in lists] for row in found
    ]
