"""A hand that no record can be of is kept as a note, counted, and changes the exit code."""

import json
from pathlib import Path
from typing import Any

import pytest

from api.importing.input_copies import TEXT_MAX
from events.match import MatchEnded, SourceNoted
from store.reader import Reader
from tests.formats.test_format_phh import ONE, TWO
from tests.http.clients import site_of
from tests.sessions import Captured, printed, told
from tests.test_web_pages import read

STOPS = TWO.replace(', "p1 f"]', "]")
OTHER = TWO.replace('"FT"', '"PO"')


def phhs(*hands: str) -> str:
    return "".join(f"[{number}]{hand}" for number, hand in enumerate(hands, 1))


@pytest.fixture(autouse=True)
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "ledger"
    monkeypatch.setenv("MUCKRAKE_LEDGER", str(folder))
    return folder


@pytest.fixture
def match(tmp_path: Path, capsys: Captured) -> str:
    (tmp_path / "some.phhs").write_text(phhs(ONE, STOPS, TWO, OTHER, ONE))
    (one,) = told(capsys, "import", str(tmp_path / "some.phhs"), code=3)["files"]
    assert (5, [True, True]) == (one["hands"], [bool(it["line"]) for it in one["skipped"]])
    return str(one["match"])


def _own(ledger: Path, match: str) -> list[Any]:
    return [one.event for one in Reader(ledger).snapshot().live.read(match)]


def test_place_reason_and_text_are_in_the_ledger(ledger: Path, match: str) -> None:
    *_, first, second, end = _own(ledger, match)
    assert isinstance(end, MatchEnded)
    for note, text, reason in ((first, STOPS, "stop in the middle"), (second, OTHER, "PO is")):
        assert isinstance(note, SourceNoted)
        assert ("phh", "left out") == (note.format, note.dialect)
        line, _, why = note.header.partition("\n")
        assert line.startswith("line ")
        assert reason in why
        assert text.strip() in note.footer
    assert "[3]" not in first.footer


def test_the_same_file_again_adds_nothing(
    ledger: Path, match: str, tmp_path: Path, capsys: Captured
) -> None:
    size = Reader(ledger).snapshot().next_pos
    (again,) = told(capsys, "import", str(tmp_path / "some.phhs"), code=3)["files"]
    assert (0, size) == (again["imported"], Reader(ledger).snapshot().next_pos)


def test_it_is_counted_at_every_door(ledger: Path, match: str, capsys: Captured) -> None:
    (row,) = told(capsys, "matches")["matches"]
    assert (2, 2) == (row["hands"], row["left_out"])  # one hand comes twice
    assert "left_out" in printed(capsys, "matches").split("\n")[0].split("\t")
    site = site_of(ledger)
    (listed,) = site.as_("auditor").get("/api/v1/matches").json()["data"]
    assert 2 == listed["left_out"]
    for path in ("/", "/matches", f"/matches/{match}"):
        assert "2 left out" in read(site, path)


@pytest.mark.parametrize("words", [[], ["--engine"]])
def test_an_audit_of_all_says_it_and_ends_with_its_code(
    match: str, capsys: Captured, words: list[str]
) -> None:
    printed(capsys, "audit", "--all", *words, code=3)
    document = json.loads(printed(capsys, "audit", "--all", "--json", *words, code=3))
    assert {match: 2} == document["left_out"]
    assert "left_out" not in json.loads(printed(capsys, "audit", f"{match}/1", "--json"))


def test_its_text_is_for_auditors(match: str, capsys: Captured) -> None:
    """It may tell cards that nobody was shown; that a hand was left out may be known."""
    asked = "SELECT dialect, header, footer FROM events WHERE dialect = 'left out'"
    assert "KcKd" in printed(capsys, "sql", asked)
    public = printed(capsys, "sql", asked, "--as", "public")
    assert "left out" in public
    assert "KcKd" not in public
    assert "stop in the middle" not in public


def test_a_long_text_is_cut(tmp_path: Path, capsys: Captured, ledger: Path) -> None:
    long = STOPS + "_note = '" + "x" * 3 * TEXT_MAX + "'\n"
    (tmp_path / "long.phhs").write_text(phhs(long, TWO))
    (one,) = told(capsys, "import", str(tmp_path / "long.phhs"), code=3)["files"]
    notes = [it for it in _own(ledger, one["match"]) if isinstance(it, SourceNoted)]
    assert [TEXT_MAX] == [len(it.footer) for it in notes if it.dialect == "left out"]


def test_strict_leaves_nothing_out(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "some.phhs").write_text(phhs(ONE, STOPS))
    (one,) = told(capsys, "import", "--strict", str(tmp_path / "some.phhs"), code=1)["files"]
    assert "under --strict" in one["refused"]["reason"]


def test_it_is_kept_once_beside_hands_that_come_again(capsys: Captured, tmp_path: Path) -> None:
    """In a file of which nothing else was new it vanished, and so did its reason."""
    for name, hands in (("a", (ONE, TWO)), ("b", (ONE, TWO, STOPS)), ("c", (ONE, TWO, STOPS))):
        path = tmp_path / f"{name}.phhs"
        path.write_text(phhs(*hands) + "\n" * (name == "c"))
        (found,) = told(capsys, "import", str(path), code=0 if name == "a" else 3)["files"]
        assert (name != "a") == len(found["skipped"])
        assert (2 if name == "a" else 0) == found["imported"]
    assert [0, 1] == sorted(one["left_out"] for one in told(capsys, "matches")["matches"])
    printed(capsys, "audit", "--all", code=3)
