"""Sessions with a ledger as a user has them: what was played is listed, and answers SQL."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from api.main import main
from api.playing.matches import SEEDED_DECKS
from api.playing.recording import (
    ALL_PLAYED,
    FLUSH_S,
    STOPPED,
    Recording,
    finished_hand,
    seeded_start,
)
from api.viewpoints.redaction import replay_seen
from dealer.play import play
from engine.games import GAMES
from events import types as t
from events.codec import encode_hand
from events.ledger import Append, Appended
from events.match import MatchEnded
from events.state import Finished
from events.types import Events, HandStarted
from events.views import Auditor, see
from store.ledger import open_ledger
from tests.processes import Popen
from tests.sessions import PAIRS, SCRIM, dealt, forged, kept, printed, said, told
from tests.store.memory import MemoryLedger

Captured = pytest.CaptureFixture[str]
pytestmark = pytest.mark.usefixtures("chosen")


# play


def test_played_hands_are_in_the_ledger_to_the_byte(folder: Path) -> None:
    for words in (SCRIM, PAIRS):
        for record in dealt(words):
            start = record[0]
            assert isinstance(start, HandStarted)
            assert encode_hand(record) == encode_hand(kept(folder, start.hand))


def test_a_match_begins_and_ends_with_its_records(folder: Path) -> None:
    start, end = kept(folder, "scrim")
    assert (start.dealing, start.disclosure, start.seed) == ("seeded", "sealed", "7")
    assert start.players == ("random-0", "random-1")
    assert end == MatchEnded(nets(dealt()), ALL_PLAYED)
    assert 0 == sum(end.nets)


def nets(records: tuple[Events, ...]) -> tuple[int, ...]:
    """What each seat of a heads-up match won, from the shares that were paid."""
    won = [0, 0]
    for record in records:
        hand = replay_seen(see(record, Auditor()))
        for seat in (0, 1):
            won[seat] += hand.stacks[seat] - hand.start.stacks[seat]
    return tuple(won)


def test_play_says_in_one_line_what_it_played(capsys: Captured, tmp_path: Path) -> None:
    assert main(["play", *SCRIM, "--ledger", str(tmp_path / "here")]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("scrim  auction-2024  40 hands  ")
    assert out.endswith("  seed 7\n")
    warned, last = err.splitlines()
    assert warned == SEEDED_DECKS
    assert last.startswith(f"{ALL_PLAYED}: 40 in {tmp_path / 'here'}, ")


def _won(nets: tuple[int, ...]) -> dict[str, Any]:
    """Of two who do not end even."""
    best = [nets[0], nets[1]].index(max(nets))
    places = [1 + best, 2 - best]
    return {"winner": f"random-{best}", "leader": None, "draw": False, "places": places}


def test_play_as_json(capsys: Captured, tmp_path: Path) -> None:
    document = told(capsys, "play", *SCRIM, "--ledger", str(tmp_path))
    assert "records" not in document
    start, end = kept(tmp_path, "scrim")
    assert document == {
        "seed": "7",
        "disclosure": "sealed",
        "match": "scrim",
        "game": "auction-2024",
        "ruleset": start.ruleset,
        "players": ["random-0", "random-1"],
        "hands": 40,
        "events": 2 + sum(map(len, dealt())),
        "nets": list(end.nets),
        "reason": ALL_PLAYED,
        **_won(end.nets),
    }


def test_a_match_without_a_name_is_given_one(capsys: Captured, tmp_path: Path) -> None:
    words = ("play", "site-nl", "--seed", "7", "--ledger", str(tmp_path))
    first, second = (printed(capsys, *words).split()[0] for _ in range(2))
    assert first != second
    assert len(first) == 12
    assert kept(tmp_path, f"{first}/1")[1:] == kept(tmp_path, f"{second}/1")[1:]


def test_what_may_be_seen_later_is_recorded(tmp_path: Path) -> None:
    words = ["play", "site-nl", "--match", "m", "--disclosure", "open-after-match"]
    assert main([*words, "--ledger", str(tmp_path)]) == 0
    assert kept(tmp_path, "m")[0].disclosure == "open-after-match"


def test_a_match_is_played_once(capsys: Captured, folder: Path) -> None:
    assert said(capsys, 1, "play", "probability", "--match", "scrim") == (
        f"there is a match scrim in {folder} already: give this one another name"
    )


@pytest.mark.parametrize("name", ["a/b", "", "-x", "two words", "ünal", "x" * 65])
def test_a_match_is_named_in_a_plain_word(capsys: Captured, name: str) -> None:
    assert "cannot name a match: letters, digits" in said(
        capsys, 2, "play", "auction-2024", f"--match={name}"
    )


def test_rulesets_of_foreign_records_are_not_dealt(capsys: Captured) -> None:
    sentence = said(capsys, 2, "play", "pluribus")
    assert sentence.startswith("pluribus is for foreign records and is not dealt: there are urcs")


def test_a_folder_that_cannot_be_made_is_one_sentence(capsys: Captured) -> None:
    sentence = said(capsys, 1, "play", "auction-2024", "--ledger", "/proc/ledger")
    assert "/proc/ledger" in sentence


def test_a_full_disk_ends_a_match_with_one_sentence(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was answered before is there, and the next match goes on behind it."""
    write, written = os.write, []

    def full(handle: int, data: bytes) -> int:
        written.append(len(data))
        if len(written) > 12:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(handle, data)

    words = ("--ledger", str(tmp_path))
    with monkeypatch.context() as patched:
        patched.setattr("store.folder.disk.os.write", full)
        patched.setattr("api.playing.recording.FLUSH_S", 0)
        many = ("play", "auction-2024", "--hands", "50", "--match", "m", *words)
        assert "No space left on device" in said(capsys, 1, *many)
    assert kept(tmp_path, "m/1")[-1] == t.HandEnded()
    assert main(["play", "site-nl", *words]) == 0
    capsys.readouterr()
    one, two = told(capsys, "matches", *words)["matches"]
    assert (one["match"], one["status"], two["status"]) == ("m", "not ended", ALL_PLAYED)
    assert [] == told(capsys, "doctor", *words)["findings"]


def test_a_second_writer_is_told_who_writes(capsys: Captured, tmp_path: Path) -> None:
    ledger, lock = open_ledger(tmp_path, "play derby")
    sentence = said(capsys, 1, "play", "auction-2024", "--ledger", str(tmp_path))
    assert "is being written by play derby (process " in sentence
    ledger.close()
    lock.release()
    assert main(["play", "site-nl", "--ledger", str(tmp_path)]) == 0


def test_readers_do_not_mind_a_writer(capsys: Captured, tmp_path: Path) -> None:
    ledger, lock = open_ledger(tmp_path, "play derby")
    (record,) = play(GAMES["auction-2024"], "derby", 1, "1")
    ledger.append(Append("derby/1", 0, record, 1))
    assert printed(capsys, "replay", "derby/1", "--ledger", str(tmp_path)).count("\n") == len(
        record
    )
    ledger.close()
    lock.release()


def test_hands_wait_for_a_tenth_of_a_second_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a hand costs: the next commit takes along all that came meanwhile."""
    passed_s, each_s = 0.0, 0.008

    class Watched(MemoryLedger):
        calls: list[tuple[float, int]]

        def append(self, *appends: Append) -> tuple[Appended, ...]:
            self.calls.append((passed_s, len(appends)))
            return super().append(*appends)

    def slowly(records: tuple[Events, ...]) -> Iterator[Finished]:
        nonlocal passed_s
        for record in records:
            passed_s += each_s
            yield finished_hand(record)

    clock = SimpleNamespace(monotonic=lambda: passed_s, time_ns=time.time_ns)
    monkeypatch.setattr("api.playing.recording.time", clock)
    records, ledger = dealt(), Watched()
    ledger.calls = []
    recording = Recording(
        ledger, seeded_start("scrim", records[0], "7", "sealed"), GAMES["auction-2024"]
    )
    assert records == tuple(recording.keep(slowly(records), lambda: False))
    moments = [moment for moment, _ in ledger.calls]
    gaps = [later - sooner for sooner, later in pairwise(moments)]
    assert max(gaps) < FLUSH_S + 2 * each_s
    assert 1 < len(ledger.calls) < len(records)
    assert sum(count for _, count in ledger.calls) == 1 + len(records)


def test_a_hand_that_no_other_follows_does_not_wait_for_company() -> None:
    records, ledger = dealt(), MemoryLedger()

    def pausing() -> Iterator[Finished | None]:
        yield finished_hand(records[0])
        assert not ledger.read("scrim/1")
        yield None
        assert ledger.read("scrim/1")
        yield finished_hand(records[1])

    recording = Recording(
        ledger, seeded_start("scrim", records[0], "7", "sealed"), GAMES["auction-2024"]
    )
    assert records[:2] == tuple(recording.keep(pausing(), lambda: False))


def test_ctrl_c_ends_a_match_after_its_last_hand(capsys: Captured, tmp_path: Path) -> None:
    door = "import sys; from api.main import main; sys.exit(main())"
    words = ["play", "auction-2024", "--hands", "1000000", "--match", "long", "--json"]
    process = Popen(
        [sys.executable, "-c", door, *words, "--ledger", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for(lambda: kept(tmp_path, "long/1"))
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert err.splitlines()[-1].startswith(f"{STOPPED}: ")
    hands = json.loads(out)["hands"]
    assert kept(tmp_path, "long")[-1].reason == STOPPED
    assert kept(tmp_path, f"long/{hands}")[-1] == t.HandEnded()
    assert () == kept(tmp_path, f"long/{hands + 1}")
    assert main(["audit", "--all", "--ledger", str(tmp_path)]) == 0


# matches and hands


def test_matches_are_listed_with_what_they_came_to(capsys: Captured, folder: Path) -> None:
    header, scrim, pairs = printed(capsys, "matches").splitlines()
    columns = "match game ruleset players tags hands left_out first last nets unit status result"
    assert columns == header.replace("\t", " ")
    assert scrim.split("\t")[:2] == ["scrim", "auction-2024"]
    assert pairs.split("\t")[:2] == ["pairs", "urcs-1998"]
    start, end = kept(folder, "scrim")
    one, other = told(capsys, "matches")["matches"]
    assert one.pop("first") <= one.pop("last")
    assert other["hands"] == 12
    assert {"dealing": "seeded", "disclosure": "sealed", "ended": True}.items() <= one.items()
    assert scrim.split("\t")[-1] == one["result"]
    game, status = "auction-2024", ALL_PLAYED
    about = {"match": "scrim", "game": game, "ruleset": start.ruleset, "status": status}
    about |= {"players": ["random-0", "random-1"], "hands": 40, "left_out": 0, "unit": "chip"}
    assert {**about, "nets": list(end.nets), **_won(end.nets)}.items() <= one.items()


def test_a_match_that_was_cut_off_is_listed_as_not_ended(capsys: Captured, tmp_path: Path) -> None:
    first, *_ = dealt()
    words = forged(tmp_path, first)
    ledger, lock = open_ledger(tmp_path, "play later")
    ledger.append(Append("later", 0, (seeded_start("later", first, "7", "sealed"),), 2))
    ledger.close()
    lock.release()
    one, two = told(capsys, "matches", *words)["matches"]
    assert (one["match"], one["players"], one["status"]) == ("scrim", None, "not ended")
    assert (two["match"], two["hands"], two["first"]) == ("later", 0, None)


def test_hands_are_listed_in_the_order_they_ended(capsys: Captured) -> None:
    hands = told(capsys, "hands")
    assert hands["next"] is None
    assert [hand["hand"] for hand in hands["hands"]] == [
        *(f"scrim/{number}" for number in range(1, 41)),
        *(f"pairs/{number}" for number in range(1, 13)),
    ]
    for record, hand in zip(dealt(), hands["hands"], strict=False):
        end = replay_seen(see(record, Auditor()))
        assert {key: hand[key] for key in ("match", "game", "players", "board", "void")} == {
            "match": "scrim",
            "game": "auction-2024",
            "players": list(end.start.players),
            "board": list(end.board),
            "void": False,
        }
        assert hand["net"] == [
            left - brought for left, brought in zip(end.stacks, end.start.stacks, strict=True)
        ]
        paid = [sum(event.shares) for event in record if isinstance(event, t.PotSplit)]
        assert hand["pot"] == sum(paid)
        assert hand["showdown"] == any(isinstance(event, t.Shown) for event in record)


def test_hands_page_by_page_are_all_hands(capsys: Captured) -> None:
    seen: list[str] = []
    words: tuple[str, ...] = ()
    while True:
        page = told(capsys, "hands", "--match", "scrim", "--limit", "15", *words)
        seen += [hand["hand"] for hand in page["hands"]]
        if page["next"] is None:
            break
        words = ("--after", page["next"])
    assert seen == [f"scrim/{number}" for number in range(1, 41)]


def test_hands_in_a_pipe_are_lines_and_the_rest_is_told_beside_them(capsys: Captured) -> None:
    assert main(["hands", "--match", "pairs", "--limit", "2"]) == 0
    out, err = capsys.readouterr()
    header, one, _ = out.splitlines()
    assert header.split("\t")[:3] == ["hand", "match", "game"]
    assert one.split("\t")[:3] == ["pairs/1", "pairs", "urcs-1998"]
    assert err == "there are more: --after pairs/2\n"


@pytest.mark.parametrize(
    ("code", "words", "sentence"),
    [
        (5, ("hands", "--match", "x"), "there is no match x: muckrake matches lists those there"),
        (5, ("hands", "--after", "x/1"), "there is no hand x/1 that has ended"),
        (5, ("hands", "--after", "x'; --"), "there is no hand x'; -- that has ended"),
        (2, ("hands", "--limit", "0"), "0 is not in the range x>=1"),
        (1, ("sql", "SELEKT 1"), "syntax error"),
        (1, ("sql", "SELECT * FROM secrets"), "there is no table secrets: there are events, "),
        (1, ("sql", "SELECT 1; SELECT 2"), "one statement is answered, this is 2"),
        (1, ("sql", "DROP VIEW hands"), "only SELECT is answered"),
    ],
)
def test_what_cannot_be_listed_is_said_in_one_sentence(
    capsys: Captured, code: int, words: tuple[str, ...], sentence: str
) -> None:
    assert sentence in said(capsys, code, *words)


# sql


def test_sql_answers_over_the_views(capsys: Captured) -> None:
    events = 4 + sum(len(record) for words in (SCRIM, PAIRS) for record in dealt(words))
    counted = {"hands": 52, "players": 2 * 40 + 4 * 12, "events": events}
    for view, count in counted.items():
        assert told(capsys, "sql", f"SELECT count(*) AS n FROM {view}")["rows"] == [{"n": count}]
    for view in ("bids", "swaps", "pots"):
        assert "hand_seq" in printed(capsys, "sql", f"SELECT * FROM {view} LIMIT 1")


def test_sql_in_a_pipe_has_one_line_a_row(capsys: Captured) -> None:
    query = "SELECT 1 AS n, NULL AS nothing, true AS yes, 'a\tb\nc' AS text, [1, 2] AS list"
    assert printed(capsys, "sql", query) == (
        "n\tnothing\tyes\ttext\tlist\n1\t\ttrue\ta\\tb\\nc\t[1, 2]\n"
    )
    assert printed(capsys, "sql", "SELECT hand FROM hands WHERE false") == "hand\n"


def test_sql_writes_no_file(capsys: Captured, tmp_path: Path) -> None:
    aim = tmp_path / "stolen.csv"
    said(capsys, 1, "sql", f"COPY hands TO '{aim}'")
    said(capsys, 1, "sql", f"WITH x AS (COPY hands TO '{aim}') SELECT 1")
    said(capsys, 1, "sql", f"ATTACH '{aim}'")
    said(capsys, 1, "sql", "SELECT * FROM read_text('/etc/hostname')")
    assert not aim.exists()


def wait_for(seen: Any) -> None:
    """Until another process has done it; a minute is too long."""
    for _ in range(6_000):
        with suppress(Exception):  # there is no ledger yet
            if seen():
                return
        time.sleep(0.01)
    raise AssertionError("it never came")
