"""`muckrake hud`: what it tells while a match is played is what `stats` says of the same hands."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from api.cli import replay as command
from api.main import main
from dealer.play import play
from engine.games import GAMES
from events.ledger import Append
from events.match import MatchEnded, MatchStarted
from events.types import Events
from store.ledger import FileLedger, open_ledger
from tests.exports import AT, ledger_of, start_of, started
from tests.sessions import printed, said, told

Captured = pytest.CaptureFixture[str]


def _append(ledger: FileLedger, hands: tuple[Events, ...]) -> None:
    ledger.append(*(Append(start_of(hand).hand, 0, hand, AT) for hand in hands))


def _followed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured, *words: str
) -> list[dict[str, Any]]:
    """A match of 230 hands is followed: between two looks its writer goes on."""
    records = tuple(play(GAMES["auction-2024"], "m", 230, "hud"))
    start: MatchStarted = started(records[0])
    ledger_of(folder, records[:40], (start,), end=False)
    ledger, lock = open_ledger(folder, "a test")

    def looks(seconds: float | None) -> Iterator[None]:
        for first, last in ((40, 130), (130, 150), (150, 220), (220, 230)):
            _append(ledger, records[first:last])
            if last == 230:
                ledger.append(Append("m", 1, (MatchEnded((0, 0), "over"),), AT))
            yield

    monkeypatch.setattr(command, "repeat_every", looks)
    lines = printed(capsys, "hud", "m", "--json", "--ledger", str(folder), *words).splitlines()
    ledger.close()
    lock.release()
    return [json.loads(line) for line in lines]


def test_a_match_whose_writer_is_gone_is_told_to_its_last_hand_and_waited_for_no_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    records = tuple(play(GAMES["auction-2024"], "m", 130, "hud"))
    ledger_of(tmp_path, records[:40], (started(records[0]),), end=False)
    ledger, lock = open_ledger(tmp_path, "a test")

    def looks(seconds: float | None) -> Iterator[None]:
        _append(ledger, records[40:])
        yield
        ledger.close()
        lock.release()  # as the system does it for a process that is killed
        yield
        yield

    monkeypatch.setattr(command, "repeat_every", looks)
    assert 1 == main(["hud", "m", "--json", "--ledger", str(tmp_path)])
    out, err = capsys.readouterr()
    assert [100, 130] == [json.loads(line)["hands"] for line in out.splitlines()]
    assert "muckrake: m has no end: its writer is gone, and nobody goes on with it\n" == err


@pytest.mark.ci
def test_each_hundred_hands_are_told_as_stats_counts_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    found = _followed(tmp_path, monkeypatch, capsys)
    assert [(100, False), (200, False), (230, True)] == [(it["hands"], it["over"]) for it in found]
    for one in found:
        asked = ("stats", "--match", "m", "--numbers", f"1-{one['hands']}")
        again = told(capsys, *asked, "--ledger", str(tmp_path))
        assert again["players"] == one["players"]


def test_a_viewpoint_is_told_what_it_may_know(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """Of hole cards, beside the auditor's all, only those that were shown."""
    *_, last = _followed(tmp_path, monkeypatch, capsys, "--as", "public", "--every", "50")
    assert "public" == last["as"]
    assert all(it["known"] == it["shown"] < it["hands"] == 230 for it in last["players"])


def test_a_match_that_is_over_is_told_once(tmp_path: Path, capsys: Captured) -> None:
    records = tuple(play(GAMES["auction-2024"], "m", 5, "hud"))
    ledger_of(tmp_path, records, (started(records[0]),))
    text = printed(capsys, "hud", "m", "--ledger", str(tmp_path))
    assert text.count("VPIP") == 1
    assert "random-0" in text


def test_a_match_that_nobody_announced_is_one_that_nobody_plays(
    tmp_path: Path, capsys: Captured
) -> None:
    ledger_of(tmp_path, tuple(play(GAMES["auction-2024"], "m", 5, "hud")))
    (line,) = printed(capsys, "hud", "m", "--json", "--ledger", str(tmp_path)).splitlines()
    assert json.loads(line)["over"]


def test_what_is_not_there_is_said(tmp_path: Path, capsys: Captured) -> None:
    ledger_of(tmp_path, tuple(play(GAMES["auction-2024"], "m", 1, "hud")))
    ledger = ("--ledger", str(tmp_path))
    assert "there is no match nope" in said(capsys, 5, "hud", "nope", *ledger)
    assert "no seat in any hand" in said(capsys, 4, "hud", "m", "--as", "seat:nobody", *ledger)
    assert "0 is not in the range" in said(capsys, 2, "hud", "m", "--every", "0", *ledger)
