"""The log of a match that bots played: `match --gamelog` and `export` write the same bytes."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest

from dealer.play import play
from dealer.wire.protocol import why_not_spoken
from engine.games import GAMES, RULESETS
from events.evolve import replay
from formats.hand_records import hand_record
from formats.mit.dialects import dialects_of, own_dialect
from formats.mit.read import read
from formats.mit.write import ordered_rounds
from formats.source import ImportRules, SourceHand
from store.reader import Reader
from tests.profiles import in_turn, sized
from tests.sessions import Captured, printed, said
from tests.wire.misfits import MISFITS, bot

SPOKEN = [name for name, game in RULESETS.items() if why_not_spoken(game) is None]
MIRROR: tuple[list[str], ...] = ([], ["--mirror"])
PAIRS = (("crash", "lie"), ("lie", "crash"))


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the commands of a test write and read."""
    monkeypatch.setenv("MUCKRAKE_LEDGER", str(tmp_path / "ledger"))
    return tmp_path / "ledger"


def _folders(tmp_path: Path, names: tuple[str, ...]) -> list[str]:
    return [str(bot(tmp_path, name, MISFITS.get(name, "")).folder) for name in names]


IN_TURN = in_turn(SPOKEN, MIRROR)


@pytest.mark.parametrize(
    ("played", "pair"),
    in_turn(
        sized(IN_TURN, IN_TURN, [*product(SPOKEN, MIRROR)]),
        (*PAIRS, ("good", "plain")),
    ),
)
def test_match_and_export_write_the_same_log(
    played: tuple[str, list[str]],
    pair: tuple[str, str],
    ledger: Path,
    tmp_path: Path,
    capsys: Captured,
) -> None:
    """Of every game and dialect, with a bot that dies and one that replies what is no text."""
    game, mirror = played
    log, out = tmp_path / "log.txt", tmp_path / "out.txt"
    words = ["match", *_folders(tmp_path, pair), "--ruleset", game, *mirror, "--seed", "4"]
    words += ["--hands", "12", "--match", "m", "--gamelog", str(log)]
    printed(capsys, *words, code=int("crash" in pair))
    printed(capsys, "export", "m", "--format", "mit-gamelog", "--out", str(out))
    assert log.read_bytes() == out.read_bytes()
    source = read(
        log.read_bytes(), ImportRules(RULESETS[game])
    )  # a short log may have no run in it
    assert own_dialect(game) == source.dialect
    hands = [hand for hand in source.hands if isinstance(hand, SourceHand)]
    assert [*range(1, 13)] == [hand.number for hand in hands]
    for hand in hands:
        events: Any = tuple(one.event for one in Reader(ledger).read(f"m/{hand.number}"))
        kept = replay(events)
        assert kept.stacks == replay(hand_record(hand, f"m/{hand.number}")).stacks


# The oldest of each game, and in `ci` all of them.
OLDER = [(game, one) for game in SPOKEN for one in dialects_of(game)[1:][-sized(1, 9) :]]


@pytest.mark.parametrize(("game", "dialect"), OLDER)
def test_an_older_engine_s_log_is_written_and_read_as_such(
    game: str, dialect: str, ledger: Path, tmp_path: Path, capsys: Captured
) -> None:
    log, out, newest = (tmp_path / name for name in ("log.txt", "out.txt", "newest.txt"))
    words = ["match", *_folders(tmp_path, ("good", "plain")), "--ruleset", game, "--seed", "4"]
    words += ["--hands", "20", "--match", "m", "--gamelog", str(log), "--dialect", dialect]
    printed(capsys, *words)
    export = ["export", "m", "--format", "mit-gamelog", "--out"]
    printed(capsys, *export, str(out), "--dialect", dialect)
    printed(capsys, *export, str(newest))
    assert log.read_bytes() == out.read_bytes() != newest.read_bytes()
    assert dialect == read(log.read_bytes()).dialect
    ends = [hand.nets for hand in read(log.read_bytes()).hands if isinstance(hand, SourceHand)]
    assert ends == [
        hand.nets for hand in read(newest.read_bytes()).hands if isinstance(hand, SourceHand)
    ]


def test_a_dialect_that_cannot_be_is_one_sentence_and_nothing_is_played(
    ledger: Path, tmp_path: Path, capsys: Captured
) -> None:
    words = ["match", *_folders(tmp_path, ("good", "plain")), "--hands", "2", "--match", "m"]
    assert "--dialect is of a log: say --gamelog FILE, too" in said(
        capsys, 2, *words, "--dialect", "A1"
    )
    log = ["--gamelog", str(tmp_path / "log.txt"), "--dialect", "S1"]
    wrong = "there is no gamelog of auction-2024-mit in dialect S1: only in A3, A2, A1"
    assert wrong in said(capsys, 2, *words, *log)
    assert not ledger.exists()
    printed(capsys, *words)
    assert wrong in said(capsys, 1, "export", "m", "--format", "mit-gamelog", "--dialect", "S1")
    assert "--dialect is for mit-gamelog, not phh" in said(
        capsys, 2, "export", "m", "--format", "phh", "--dialect", "A1"
    )


def test_a_mirrored_match_that_was_cut_short_has_no_log_with_a_gap() -> None:
    """Of hands 1 4 5 8 2 3 6 7, in this order, some were played."""
    every = tuple(play(GAMES["auction-2024"], "m", 8, "own"))
    order = [every[number - 1] for number in (1, 4, 5, 8, 2, 3, 6, 7)]
    assert every == tuple(ordered_rounds(order, mirrored=True))
    assert every[:1] == tuple(ordered_rounds(order[:1], mirrored=True))
    for played, missing, instead in ((2, 2, 4), (5, 3, 4), (7, 7, 8)):
        sentence = f"round {missing} is not in the ledger, m/{instead} comes in its place"
        with pytest.raises(ValueError, match=sentence):
            tuple(ordered_rounds(order[:played], mirrored=True))
    with pytest.raises(ValueError, match="round 2 is not in the ledger, m/4 comes in its place"):
        tuple(ordered_rounds(order, mirrored=False))
