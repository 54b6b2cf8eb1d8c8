"""What an import refuses: by what it is, with line and reason; and that nothing of it is kept."""

import json
from pathlib import Path
from typing import Any

import pytest

from api.importing.spill import SpillFile
from formats.registry import Format, format_of
from store.proof.ledger_secrets import SaltedSecret
from store.reader import Reader
from tests.foreign import edited, gamelog, misjudged
from tests.sessions import Captured, printed, said

YEARS = {
    "Blotto (2021)": "Round #1, A (0), B (0)\nA posts the blind of 1 on board 1\n",
}
OTHERS = {
    b"": "the file is empty",
    b"\n\n\n": "the file is empty",
    b"\x1f\x8b\x08\x00": "this is a gzip file: unpack it first",
    b"PK\x03\x04rest": "this is a zip archive: unpack it first",
    b"PAR1....": "this is a Parquet file, no hand history",
    b'{"ohh": {"spec_version": "1.2.2"}}': "ohh: object missing required field site_name",
    b'{\n "ohh": {\n': "the file ends in the middle of this object",
    b'{"type": "HandStarted"}': "this is a JSON file",
    b"<!DOCTYPE html>": "this is a web page: save the log itself, not the page around it",
    b"dear diary,": "no hand history that is known begins so: 'dear diary,'",
    b"dear\0diary": "a zero byte: this is no text in UTF-8, UTF-16 or cp1252",
    b"Full Tilt Poker Game #1: Table": "this is a hand of Full Tilt Poker, not of PokerStars",
    b"<<<<<<< HEAD\n": "a git merge marker: two files are mixed in this one",
    b"x" * (3 << 20): "a line of more than 1048576 bytes",
    b'variant = "PO"\n': "variant PO is pot-limit Omaha hold'em: only NT and FT",
    b"# a hand\nvariant = ": "this is not TOML: invalid value",
    b"STATE:0:f:x": "a STATE line has 6 fields, not 4",
    b"PokerStars Hand #1:  Omaha Pot Limit ($1/$2 USD) - 2020/01/01\n": "Omaha Pot Limit is not",
}


def imported(capsys: Captured, *words: object, code: int) -> list[dict[str, Any]]:
    """What the document says of each file."""
    document = json.loads(printed(capsys, "import", *map(str, words), "--json", code=code))
    files: list[dict[str, Any]] = document["files"]
    return files


@pytest.fixture(autouse=True)
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Commands without `--ledger` write this one."""
    folder = tmp_path / "ledger"
    monkeypatch.setenv("MUCKRAKE_LEDGER", str(folder))
    return folder


@pytest.mark.parametrize("text", OTHERS, ids=lambda text: repr(text[:12]))
def test_what_is_no_hand_history_is_refused_by_what_it_is(
    capsys: Captured, tmp_path: Path, ledger: Path, text: bytes
) -> None:
    file = tmp_path / "file"
    file.write_bytes(text)
    (one,) = imported(capsys, file, code=1)
    assert one["refused"]["line"] >= 0
    assert one["refused"]["reason"].startswith(OTHERS[text])
    assert (None, 0, None) == (one["hands"], one["imported"], one["match"])
    assert 0 == Reader(ledger).snapshot().next_pos


@pytest.mark.parametrize("year", YEARS)
def test_other_years_are_refused_by_their_games(
    capsys: Captured, tmp_path: Path, year: str
) -> None:
    file = tmp_path / "gamelog.txt"
    blinds = "A posts the blind of 1\nB posts the blind of 2\n"
    text = f"6.9630 MIT Pokerbots - A vs B\n\n{YEARS[year]}{blinds}\nFinal, A (0), B (0)\n"
    file.write_text(text)
    (one,) = imported(capsys, file, code=1)
    assert year in one["refused"]["reason"]


@pytest.mark.parametrize(
    ("edit", "line"),
    [
        (("lynx posts the blind of 2\n", "<<<<<<< HEAD\nlynx posts the blind of 2\n"), 5),
        (("Round #2", "Round #3"), 13),
        (("lynx (1), ursa (-1)", "lynx (5), ursa (-5)"), 13),
        (("lynx folds\nlynx awarded", "lynx dances\nlynx awarded"), 18),
        (("[5s 5d]", "[5s 5x]"), 16),
        (("\nFinal, ursa (-2), lynx (2)\n", ""), 22),
    ],
)
def test_a_damaged_log_is_refused_at_its_line(
    capsys: Captured, tmp_path: Path, ledger: Path, edit: tuple[str, str], line: int
) -> None:
    log = edited(misjudged(tmp_path / "gamelog.txt"), [edit])
    (one,) = imported(capsys, log, code=1)
    assert line == one["refused"]["line"]
    assert 0 == Reader(ledger).snapshot().next_pos


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_a_log_in_another_encoding_is_the_same_log(
    capsys: Captured, tmp_path: Path, encoding: str
) -> None:
    log = misjudged(tmp_path / "gamelog.txt")
    log.write_bytes(log.read_text().encode(encoding))
    (one,) = imported(capsys, log, code=3)
    assert (2, 1) == (one["imported"], one["differ"])


def test_what_is_not_there_is_refused_and_the_rest_is_imported(
    capsys: Captured, tmp_path: Path
) -> None:
    absent = tmp_path / "absent.txt"
    one, two = imported(capsys, absent, gamelog(tmp_path / "a.txt"), code=1)
    assert {"line": 0, "reason": "there is no such file"} == one["refused"]
    assert 30 == two["imported"]


def test_a_month_without_its_parts_is_refused(capsys: Captured, tmp_path: Path) -> None:
    month = tmp_path / "199504"
    month.mkdir()
    (month / "hdb").write_text("797220001 1 1 2 0/0 0/0 0/0 0/0\n")
    (one,) = imported(capsys, month, code=1)
    assert ("irc", str(month)) == (one["format"], one["file"])
    assert "there is no hroster in it" in one["refused"]["reason"]


def test_a_reader_that_fails_on_one_file_does_not_stop_the_others(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It should not; but a file from a stranger is where it would."""

    first, second = gamelog(tmp_path / "a.txt"), gamelog(tmp_path / "b.txt", seed="3")

    def failing(content: bytes | Path) -> Format:
        if content == first.read_bytes():
            raise RecursionError("too deep")
        return format_of(content)

    monkeypatch.setattr("api.importing.worker.format_of", failing)
    one, two = imported(capsys, first, second, code=1)
    failed = "the reader failed, which it should not: RecursionError: too deep"
    assert (failed, 30) == (one["refused"]["reason"], two["imported"])


def test_a_folder_without_a_file_says_so(capsys: Captured, tmp_path: Path) -> None:
    (tmp_path / "logs" / "deep").mkdir(parents=True)
    (tmp_path / "logs" / ".hidden").write_text("dear diary,")
    (one,) = imported(capsys, tmp_path / "logs", code=1)
    assert "no file is in this folder, but for hidden ones" == one["refused"]["reason"]


def test_a_full_disk_is_not_the_fault_of_the_file(
    capsys: Captured, tmp_path: Path, ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What waits is written to a device that has no room; the sentence names the ledger's disk."""

    def begin(spill: SpillFile, path: Path, at: int, nonces: SaltedSecret | None) -> None:
        made(spill, path, at, nonces)
        spill._file = Path("/dev/full").open("wb")  # noqa: SIM115  # the spill file closes it

    made = SpillFile.__init__
    monkeypatch.setattr(SpillFile, "__init__", begin)
    log = gamelog(tmp_path / "gamelog.txt")
    sentence = said(capsys, 1, "import", str(log))
    assert f"the disk of {ledger} is full: what was read has no room there" in sentence
    assert "gamelog.txt" not in sentence
    assert not list(ledger.glob(".import-*"))
