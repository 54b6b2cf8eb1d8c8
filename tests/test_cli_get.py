"""`muckrake get`: what the API would answer, with exit codes of the command line."""

import json
from pathlib import Path

import pytest

from tests.sessions import Captured, printed, said

pytestmark = pytest.mark.usefixtures("chosen")


def test_a_path_is_answered_on_stdout(capsys: Captured) -> None:
    told = json.loads(printed(capsys, "get", "/api/v1/matches"))
    assert ["scrim", "pairs"] == sorted((one["match"] for one in told["data"]), reverse=True)
    assert told == json.loads(printed(capsys, "get", "matches"))


def test_the_auditor_asks_unless_another_is_named(capsys: Captured) -> None:
    dealt = "stream?match=scrim&types=HoleDealt&after=start&until=end"
    lines = printed(capsys, "get", dealt, "--format", "ndjson").splitlines()
    assert not any("redacted" in line for line in lines)
    hidden = printed(capsys, "get", dealt, "--format", "ndjson", "--as", "public").splitlines()
    assert len(lines) == len(hidden)
    assert all("redacted" in line for line in hidden[:-1])


def test_a_form_is_chosen_and_a_file_written(capsys: Captured, tmp_path: Path) -> None:
    out = tmp_path / "matches.csv"
    assert "" == printed(capsys, "get", "matches", "--format", "csv", "-o", str(out))
    assert out.read_text().startswith("match,game,")


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("matches/nix",), 5, "there is no match nix"),
        (("nix",), 5, None),
        (("matches", "--as", "seat:"), 2, "seat: is no viewpoint"),
        (("matches", "--format", "xls"), 2, "there is no xls of this"),
        (("stream?after=nix&until=now",), 2, "'nix' is no place of a feed"),
    ],
)
def test_a_refusal_is_a_sentence_and_a_code(
    words: tuple[str, ...], code: int, sentence: str | None, capsys: Captured
) -> None:
    assert (sentence or "") in said(capsys, code, "get", *words)


def test_a_refusal_writes_no_file(capsys: Captured, tmp_path: Path) -> None:
    out = tmp_path / "nix"
    said(capsys, 5, "get", "matches/nix", "-o", str(out))
    assert not out.exists()


def test_without_a_ledger_it_says_how_to_make_one(capsys: Captured, tmp_path: Path) -> None:
    told = said(capsys, 1, "get", "matches", "--ledger", str(tmp_path / "none"))
    assert "muckrake play" in told
