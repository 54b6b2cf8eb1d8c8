"""The ledger kept in order from the command line: compacted, and examined for damage."""

import os
import shutil
import threading
from pathlib import Path

import pytest
from msgspec.structs import replace

from api.auditing.record import start_of
from api.main import main
from dealer.play import play
from engine.games import GAMES
from events.ledger import Append
from store.folder.frames import frame, frames
from store.ledger import open_ledger
from store.reader import Reader
from tests.sessions import SCRIM, printed, said, told

Captured = pytest.CaptureFixture[str]
pytestmark = pytest.mark.usefixtures("chosen")


def test_compacting_changes_files_and_nothing_else(capsys: Captured, tmp_path: Path) -> None:
    words = ("--ledger", str(tmp_path))
    before = None
    for number in (1, 2, 3):
        assert main(["play", "site-nl", "--match", f"m{number}", "--seed", "1", *words]) == 0
        assert main(["compact", *words]) == 0
    capsys.readouterr()
    before = tuple(Reader(tmp_path).read_from(0))
    assert told(capsys, "doctor", *words)["ledger"]["segments"] == 1
    assert main(["play", "site-nl", "--match", "m4", "--seed", "1", *words]) == 0
    capsys.readouterr()
    document = told(capsys, "compact", *words)
    assert document["segments"] == {"before": 2, "after": 1}
    assert document["retired"] > 0
    after = tuple(Reader(tmp_path).read_from(0))
    assert before == after[: len(before)]
    assert document["events"] == len(after)
    assert printed(capsys, "compact", *words).startswith("nothing to merge: 1 segment, ")


def test_the_doctor_finds_nothing_wrong_and_says_what_is_there(capsys: Captured) -> None:
    *_, check, left = printed(capsys, "doctor").splitlines()
    assert check == "check             every file is sound"
    seldom = "each sealed hand with its leaf, chips and cards: muckrake verify --all does"
    assert left == f"not compared      {seldom}"
    document = told(capsys, "doctor")
    assert document["not_compared"] == [seldom]
    assert {"muckrake", "python", "pyarrow", "duckdb", "disk_free", "folder"} < set(document)
    assert document["findings"] == []
    assert document["ledger"]["log_bytes"] > 0
    assert document["ledger"]["writer"] is None


def test_the_doctor_needs_no_ledger(capsys: Captured, tmp_path: Path) -> None:
    nowhere = str(tmp_path / "nowhere")
    document = told(capsys, "doctor", "--ledger", nowhere)
    assert (document["ledger"], document["findings"]) == (None, [])
    assert "none here: muckrake play makes one" in printed(capsys, "doctor", "--ledger", nowhere)
    assert not Path(nowhere).exists()


def test_the_doctor_says_who_writes(capsys: Captured, tmp_path: Path) -> None:
    ledger, lock = open_ledger(tmp_path, "play derby")
    document = told(capsys, "doctor", "--ledger", str(tmp_path))
    assert document["ledger"]["writer"] == f"play derby (process {os.getpid()})"
    assert document["findings"] == []
    ledger.close()
    lock.release()
    assert told(capsys, "doctor", "--ledger", str(tmp_path))["ledger"]["writer"] is None


def test_the_doctor_takes_no_writer_at_work_for_damage(capsys: Captured, tmp_path: Path) -> None:
    """The log grows while it is read, and so does what is known to be durable of it."""
    (record,) = play(GAMES["auction-2024"], "derby", 1, "1")
    start = start_of(record)
    ledger, lock = open_ledger(tmp_path, "play derby")

    def write() -> None:
        for number in range(1, 2_001):
            hand = (replace(start, hand=f"derby/{number}"), *record[1:])
            ledger.append(Append(f"derby/{number}", 0, hand, number))

    writer = threading.Thread(target=write)
    writer.start()
    found = []
    while writer.is_alive():
        found.append(told(capsys, "doctor", "--ledger", str(tmp_path))["findings"])
    assert found
    ledger.close()
    lock.release()
    assert all(finding["note"] for findings in found for finding in findings)


def spoiled(path: Path) -> None:
    """One bit in the middle is not what it was."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def test_damage_to_the_log_is_named_and_nothing_is_served(capsys: Captured, tmp_path: Path) -> None:
    words = ("--ledger", str(tmp_path))
    for number in (1, 2, 3):
        assert main(["play", "site-nl", "--match", f"m{number}", "--seed", "1", *words]) == 0
    capsys.readouterr()
    (log,) = (tmp_path / "log").iterdir()
    spoiled(log)
    (finding,) = told(capsys, "doctor", *words, code=3)["findings"]
    assert finding["file"] == f"log/{log.name}"
    assert isinstance(finding["place"], int)
    assert "\ndamage  " in printed(capsys, "doctor", *words, code=3)
    for command in (("matches",), ("hands",), ("audit", "--all"), ("replay", "m1/1")):
        assert "is damaged at byte" in said(capsys, 3, *command, *words)
    assert "is damaged at byte" in said(capsys, 3, "play", "auction-2024", *words)
    assert "is damaged at byte" in said(capsys, 3, "compact", *words)


def test_damage_to_a_segment_names_the_hands_in_it(capsys: Captured, tmp_path: Path) -> None:
    words = ("--ledger", str(tmp_path))
    assert main(["play", *SCRIM, *words]) == 0
    assert main(["compact", *words]) == 0
    capsys.readouterr()
    (events,) = (tmp_path / "segments").glob("events-*")
    spoiled(events)
    (finding,) = told(capsys, "doctor", *words, code=3)["findings"]
    assert finding["file"] == f"segments/{events.name}"
    assert finding["hand"].startswith("scrim/1 to scrim/40")
    assert "is not as it was sealed" in said(capsys, 3, "replay", "scrim/1", *words)
    assert "is not as it was sealed" in said(capsys, 3, "audit", "--all", *words)
    assert "is not as it was sealed" in said(capsys, 3, "sql", "SELECT 1 FROM events", *words)


@pytest.mark.parametrize("command", [("hands",), ("matches",), ("sql", "SELECT pot FROM hands")])
def test_sql_is_not_asked_of_a_damaged_table(
    capsys: Captured, tmp_path: Path, command: tuple[str, ...]
) -> None:
    """DuckDB would answer from the spoiled bytes."""
    words = ("--ledger", str(tmp_path))
    assert main(["play", *SCRIM, *words]) == 0
    assert main(["compact", *words]) == 0
    capsys.readouterr()
    (table,) = (tmp_path / "segments").glob("hands-*")
    spoiled(table)
    assert f"segments/{table.name} is not as it was sealed" in said(capsys, 3, *command, *words)


def test_a_damaged_manifest_is_named(capsys: Captured, tmp_path: Path) -> None:
    words = ("--ledger", str(tmp_path))
    assert main(["play", "site-nl", *words]) == 0
    capsys.readouterr()
    spoiled(tmp_path / "manifest.json")
    (finding,) = told(capsys, "doctor", *words, code=3)["findings"]
    assert finding["file"] == "manifest.json"
    assert "manifest.json" in said(capsys, 3, "matches", *words)


# What is whole in itself, and was rewritten.


def examined(capsys: Captured, folder: Path) -> list[str]:
    """What the doctor finds wrong."""
    findings = told(capsys, "doctor", "--ledger", str(folder), code=3)["findings"]
    return [one["sentence"] for one in findings if not one["note"]]


@pytest.fixture
def small(capsys: Captured, tmp_path: Path) -> Path:
    words = ("--hands", "3", "--seed", "1", "--ledger", str(tmp_path / "led"))
    assert main(["play", "auction-2024", *words]) == 0
    capsys.readouterr()
    return tmp_path / "led"


def log_of(folder: Path) -> Path:
    (log,) = (folder / "log").iterdir()
    return log


@pytest.mark.parametrize("key", ["its own", "lost"])
def test_a_hand_rewritten_with_its_checksum_is_found(
    capsys: Captured, small: Path, key: str
) -> None:
    """By the mark of its frame; by its leaf, where the key of marks is not there."""
    log = log_of(small)
    old = list(frames(log.read_bytes()))
    assert b'"type":"Folded"' in b"".join(one.payload for one in old)
    log.write_bytes(
        b"".join(
            frame(one.pos, one.payload.replace(b'"seat":0', b'"seat":1'), one.mark) for one in old
        )
    )
    if key == "lost":
        (small / "private/log.key").unlink()
    (told, *_) = examined(capsys, small)
    assert ("without the mark of" if key == "its own" else "are not those that tree/ch") in told


def test_a_ruleset_that_was_rewritten_is_found(capsys: Captured, small: Path) -> None:
    (path,) = (small / "rulesets").iterdir()
    path.write_bytes(path.read_bytes().replace(b'"seats_max":2', b'"seats_max":3'))
    (sentence,) = examined(capsys, small)
    assert f"rulesets/{path.name} holds the rules of " in sentence
    assert main(["verify", "--all", "--ledger", str(small)]) == 3
    path.write_bytes(b"[]")
    capsys.readouterr()
    (sentence,) = examined(capsys, small)
    assert f"rulesets/{path.name} cannot be read" in sentence


def test_an_end_that_was_cut_off_is_found(capsys: Captured, small: Path) -> None:
    """Whole frames, and what said that they were durable."""
    log = log_of(small)
    *_, last, _ = (one.end for one in frames(log.read_bytes()))
    log.write_bytes(log.read_bytes()[:last])
    (small / "watermark").unlink()
    for sentence in examined(capsys, small):
        assert " was signed for 5 closed streams, and 4 are there: the end is lost" in sentence


def test_what_could_not_be_compared_is_said(capsys: Captured, small: Path) -> None:
    shutil.rmtree(small / "private")
    document = told(capsys, "doctor", "--ledger", str(small))
    assert [one.partition(":")[0] for one in document["not_compared"]] == [
        "marks of its writer",
        "the newest hands with the checkpoint",
        "each sealed hand with its leaf, chips and cards",
    ]
