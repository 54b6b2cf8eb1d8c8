"""`muckrake match`: what is written, what is told, and what is left when it is cut short."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, get_args

import pytest
from msgspec.structs import replace

from api.main import main
from api.playing.wire_match import last_open_deck
from dealer.deck import check_deal
from dealer.wire.program import GRUFF, STEADY
from dealer.wire.protocol import wire_plan
from dealer.wire.sandbox import SandboxKind
from engine.games import GAMES
from events.evolve import replay
from events.match import DeckCommitted, DeckOpened, MatchStarted, NonceGiven
from events.types import BlindPosted
from formats.hand_records import hand_record
from formats.mit.read import read
from formats.source import SourceHand
from store.reader import Reader
from tests.processes import Popen
from tests.sessions import Captured, printed, said, told
from tests.wire.misfits import MISFITS, bot, left_behind

ROOT = Path(__file__).parents[2]

needs_examples = pytest.mark.skipif(
    not (shutil.which("python3") and shutil.which("bash")),
    reason="the example bots need python3 and bash on the PATH",
)


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the commands of a test write and read."""
    monkeypatch.setenv("MUCKRAKE_LEDGER", str(tmp_path / "ledger"))
    return tmp_path / "ledger"


def _bots(tmp_path: Path, *odd: str) -> list[str]:
    """The folders of so many bots; the first are these misfits, the others are good."""
    names = [*odd, "good", "plain"][:2]
    return [str(bot(tmp_path, name, MISFITS.get(name, "")).folder) for name in names]


@needs_examples
def test_the_example_bots_play_a_match_that_is_kept_audited_and_logged(
    ledger: Path, tmp_path: Path, capsys: Captured
) -> None:
    log = tmp_path / "made" / "log.txt"
    words = ["--hands", "30", "--seed", "5", "--match", "scrim", "--gamelog", str(log)]
    document = told(capsys, "match", str(STEADY), str(GRUFF), *words)
    assert document["players"] == ["steady", "gruff"]
    assert (document["hands"], document["reason"]) == (30, "every hand was played")
    best = max(range(2), key=lambda seat: document["nets"][seat])
    assert (document["winner"], document["draw"]) == (document["players"][best], False)
    assert [1 + (seat != best) for seat in range(2)] == document["places"]
    assert document["faults"] == []
    for one in document["bots"]:
        assert one["kept_apart"] in get_args(SandboxKind)
        assert one["not_kept_because"] or one["kept_apart"] == (
            "user+namespaces" if os.geteuid() == 0 else "namespaces"
        )
    assert [(0, None), (0, None)] == [(one["exit"], one["silent"]) for one in document["bots"]]
    assert "differ" in printed(capsys, "audit", "--all")
    source = read(log.read_bytes())
    assert ("A3", ("steady", "gruff")) == (source.dialect, source.players)
    for hand in source.hands:
        assert isinstance(hand, SourceHand)
        ours = replay(_hand(ledger, "scrim", hand.number))
        theirs = replay(hand_record(hand, f"scrim/{hand.number}"))
        assert (ours.stacks, ours.hole, ours.board) == (theirs.stacks, theirs.hole, theirs.board)


def test_the_same_seed_and_the_same_bots_make_the_same_hands(
    ledger: Path, tmp_path: Path, capsys: Captured
) -> None:
    for name in ("one", "two"):
        words = [*_bots(tmp_path), "--hands", "5", "--seed", "9", "--match", name]
        printed(capsys, "match", *words)
    stored = [
        [replay(_hand(ledger, name, number)).stacks for number in range(1, 6)]
        for name in ("one", "two")
    ]
    assert stored[0] == stored[1]


def test_a_report_says_why_a_bot_was_folded_and_what_it_printed(
    ledger: Path, tmp_path: Path, capsys: Captured
) -> None:
    words = ["--hands", "4", "--seed", "1", "--match", "m", "--logs", str(tmp_path / "logs")]
    text = printed(capsys, "match", *_bots(tmp_path, "crash"), *words, code=1)
    assert "crash was not asked any more: its connection broke" in text
    assert "why was crash folded" in text
    assert "it closed its connection, or sent an empty line" in text
    assert text.rstrip().endswith("ValueError: out of ideas")
    assert b"Traceback" in (tmp_path / "logs/crash.txt").read_bytes()
    assert b"" == (tmp_path / "logs/good.txt").read_bytes()


@pytest.mark.parametrize(
    ("odd", "build", "failed"),
    [
        # test_wire_misfits.py holds before what is said of it, in less than a second
        pytest.param("exit", [], "it never connected", marks=pytest.mark.ci),
        ("crash", [], "its connection broke"),
        ("lie", ["/no/compiler"], "its build command cannot be started: "),
    ],
)
def test_a_bot_that_fails_is_exit_code_1_and_its_hands_are_kept_and_marked(
    odd: str, build: list[str], failed: str, ledger: Path, tmp_path: Path, capsys: Captured
) -> None:
    misfit = bot(tmp_path, odd, MISFITS[odd], build)
    words = [str(misfit.folder), *_bots(tmp_path)[:1], "--hands", "4", "--match", "m"]
    assert 1 == main(["match", *words, "--json"])
    out, err = capsys.readouterr()
    one, other = json.loads(out)["bots"]
    assert one["failed"].startswith(failed)
    assert other["failed"] is None
    sentence = f"muckrake: {odd} failed ({one['failed']}): what was played for it is kept"
    assert sentence == err.splitlines()[-1]
    played = [event for number in range(1, 5) for event in _hand(ledger, "m", number)]
    assert any(getattr(event, "origin", None) == "default" for event in played)


def test_a_bot_that_only_lies_or_loses_is_no_failure(
    ledger: Path, tmp_path: Path, capsys: Captured
) -> None:
    document = told(capsys, "match", *_bots(tmp_path, "lie"), "--hands", "4")
    assert [None, None] == [one["failed"] for one in document["bots"]]
    assert document["bots"][0]["faults"]


def test_equal_reasons_are_one_row_with_a_count(
    ledger: Path, tmp_path: Path, capsys: Captured
) -> None:
    rude = bot(tmp_path, "rude", "def odd(line): return '?'")
    words = [str(rude.folder), *_bots(tmp_path)[:1], "--hands", "4", "--match", "m"]
    text = printed(capsys, "match", *words)
    rows = [line for line in text.splitlines() if "no reply begins with '?'" in line]
    (only,) = rows
    assert 3 <= int(only.split()[0])


def test_what_a_bot_wrote_is_not_let_at_the_terminal(
    ledger: Path, tmp_path: Path, capsys: Captured
) -> None:
    rude = bot(tmp_path, "rude", "def odd(line): print('\\x1b[2J'); return '\\x1b[31mR'")
    text = printed(capsys, "match", str(rude.folder), *_bots(tmp_path)[:1], "--hands", "3")
    assert "\\\\u001b[31mR" in text.replace("\\u", "\\\\u")
    assert "\\x1b[2J" in text
    assert "\x1b" not in text


def test_mirrored_hands_are_kept_in_pairs(ledger: Path, tmp_path: Path, capsys: Captured) -> None:
    words = ["--hands", "8", "--seed", "2", "--match", "m", "--mirror"]
    log = tmp_path / "log.txt"
    document = told(capsys, "match", *_bots(tmp_path), *words, "--gamelog", str(log))
    assert (document["mirrored"], document["hands"]) == (True, 8)
    for number in (1, 3, 5, 7):
        one, two = (replay(_hand(ledger, "m", n)) for n in (number, number + 1))
        assert (one.hole, one.board) == (two.hole[::-1], two.board)
    assert 8 == sum(1 for hand in read(log.read_bytes()).hands if isinstance(hand, SourceHand))


@pytest.mark.parametrize("mirror", [[], ["--mirror"]])
def test_committed_decks_are_those_that_were_dealt_and_open_when_none_comes_again(
    mirror: list[str], ledger: Path, tmp_path: Path, capsys: Captured
) -> None:
    words = ["--hands", "6", "--disclosure", "open", "--match", "m"]
    document = told(capsys, "match", *_bots(tmp_path), *words, *mirror)
    assert (document["seed"], document["hands"]) == (None, 6)
    records: list[Any] = [one.event for one in Reader(ledger).read("m")]
    first = [type(record) for record in records[:4]]
    assert [MatchStarted, DeckCommitted, NonceGiven, NonceGiven] == first
    opened = [record.number for record in records if isinstance(record, DeckOpened)]
    assert opened[-1] in ((5, 6) if mirror else (6,))
    assert not mirror or len(opened) == 1
    rules = GAMES["auction-2024-mit"]
    rules = replace(rules, deck_slots="fixed") if mirror else rules
    for number in range(1, 7):
        assert "agree" == check_deal(rules, records, _hand(ledger, "m", number)).verdict
    printed(capsys, "verify", "--all", code=7)


def test_a_committed_match_that_is_cut_short_opens_what_was_dealt_and_no_more() -> None:
    """Of a mirrored one with hands 1 4 5 8 2 3 6 7 in this order, five were played."""
    usual = wire_plan(GAMES["auction-2024-mit"], "m", ("a", "b"), 8)
    mirrored = wire_plan(GAMES["auction-2024-mit"], "m", ("a", "b"), 8, mirrored=True)
    assert [0, 3, 8] == [last_open_deck(usual, played, False) for played in (0, 3, 8)]
    assert [0, 0, 0] == [last_open_deck(mirrored, played, False) for played in (0, 3, 8)]
    assert [0, 1, 4, 8, 8] == [last_open_deck(mirrored, played, True) for played in (0, 1, 2, 5, 8)]


def test_misuse_is_one_sentence(ledger: Path, tmp_path: Path, capsys: Captured) -> None:
    one, two = _bots(tmp_path)
    assert "is no folder: a bot is a folder with a commands.json in it" in said(
        capsys, 5, "match", one, str(tmp_path / "nobody")
    )
    assert "each deck is dealt twice: 3 hands are no pairs" in said(
        capsys, 2, "match", one, two, "--hands", "3", "--mirror"
    )
    assert "--seed decides no committed deck: leave it out" in said(
        capsys, 2, "match", one, two, "--dealing", "committed", "--seed", "7"
    )
    printed(capsys, "match", one, two, "--hands", "1", "--match", "m")
    assert f"there is a match m in {ledger} already: give this one another name" == said(
        capsys, 1, "match", one, two, "--hands", "1", "--match", "m"
    )


@pytest.mark.parametrize(
    ("number", "code"),
    [
        pytest.param(signal.SIGINT, 130, id="Ctrl-C"),
        pytest.param(signal.SIGTERM, 143, id="SIGTERM", marks=pytest.mark.ci),
        pytest.param(signal.SIGKILL, -signal.SIGKILL, id="SIGKILL"),
    ],
)
def test_however_a_match_is_cut_short_no_bot_is_left_and_what_was_answered_is_kept(
    number: signal.Signals, code: int, ledger: Path, tmp_path: Path, capsys: Captured
) -> None:
    folders = _bots(tmp_path)
    words = ["match", *folders, "--hands", "99999", "--match", "m", "--ledger", str(ledger)]
    program = "import sys; from api.main import main; sys.exit(main(sys.argv[1:]))"
    running = Popen(
        [sys.executable, "-c", program, *words],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    _until(lambda: len(_durable(ledger)) > 5)
    before = _durable(ledger)
    running.send_signal(number)
    running.communicate(timeout=20)
    assert code == running.returncode
    _until(lambda: not any(left_behind(Path(folder)) for folder in folders))
    assert before <= _durable(ledger)
    printed(capsys, "doctor")
    assert "differ" in printed(capsys, "audit", "--all")


def _durable(ledger: Path) -> set[str]:
    """The hands that are over, as a reader sees them now."""
    if not (ledger / "manifest.json").exists():
        return set()
    return {one.stream for one in Reader(ledger).snapshot().read_from(0) if "/" in one.stream}


def _until(true: Any, seconds: float = 15) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _hand(ledger: Path, match: str, number: int) -> Any:
    return [one.event for one in Reader(ledger).read(f"{match}/{number}")]


def test_what_was_played_for_a_bot_that_died_counts_in_no_tendency(
    ledger: Path, tmp_path: Path, capsys: Captured
) -> None:
    """A tendency counts choices; `decisions` has the others by their origin, for who asks."""
    words = [*_bots(tmp_path, "crash"), "--hands", "30", "--seed", "1", "--match", "m"]
    printed(capsys, "match", *words, code=1)
    mine: list[tuple[int, Any]] = [
        (number, event)
        for number in range(1, 31)
        for event in _hand(ledger, "m", number)
        if getattr(event, "seat", None) == 0 and not isinstance(event, BlindPosted)
    ]
    default = [one for _, one in mine if getattr(one, "origin", None) == "default"]
    chose = {number for number, one in mine if getattr(one, "origin", None) == "chosen"}
    assert len(default) > 30 > len(chose) > 0
    (player,) = told(capsys, "stats", "crash")["players"]
    assert (player["hands"], player["stats"]["vpip"]["n"]) == (30, len(chose))
    asked = "SELECT count(*) AS n FROM decisions WHERE player = 'crash' AND origin = 'default'"
    assert str(len(default)) in printed(capsys, "sql", asked)
