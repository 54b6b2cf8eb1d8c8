"""What the tests of the command line say and look up: commands, their answers, their ledgers."""

import json
from pathlib import Path
from typing import Any

import pytest

from api.main import main
from dealer.play import play
from engine.game import fingerprint, to_json
from engine.games import GAMES, RULESETS
from events.ledger import Append
from events.types import Events, HandStarted
from store.ledger import open_ledger
from store.reader import Reader

Captured = pytest.CaptureFixture[str]
SCRIM = ("auction-2024", "--hands", "40", "--seed", "7", "--match", "scrim")
PAIRS = ("urcs-1998", "--hands", "12", "--seed", "3", "--seats", "4", "--match", "pairs")


def printed(capsys: Captured, *words: str, code: int = 0) -> str:
    """What a command prints that ends with this code."""
    assert main(list(words)) == code
    out, _ = capsys.readouterr()
    return out


def told(capsys: Captured, *words: str, code: int = 0) -> Any:
    """The document of a command; its schema is the command's."""
    document = json.loads(printed(capsys, *words, "--json", code=code))
    assert document.pop("schema") == f"muckrake.{words[0]}/1"
    return document


def said(capsys: Captured, code: int, *words: str) -> str:
    """The one sentence of a command that ends with this code; it prints no data."""
    assert main(list(words)) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return err.removeprefix("muckrake: ").rstrip()


def dealt(words: tuple[str, ...] = SCRIM) -> tuple[Events, ...]:
    """The hands that these words play."""
    given = dict(zip(words[1::2], words[2::2], strict=True))
    seats = int(given["--seats"]) if "--seats" in given else None
    hands = int(given["--hands"])
    return tuple(play(GAMES[words[0]], given["--match"], hands, given["--seed"], seats))


def kept(folder: Path, stream: str) -> tuple[Any, ...]:
    """What a ledger holds of a stream."""
    return tuple(one.event for one in Reader(folder).read(stream))


def name(record: Events) -> str:
    """The hand's id."""
    start = record[0]
    assert isinstance(start, HandStarted)
    return start.hand


def forged(tmp_path: Path, *records: Events) -> tuple[str, str]:
    """A ledger of these records; it believes what it is told."""
    ledger, lock = open_ledger(tmp_path, "a forger")
    ledger.append(*(Append(name(record), 0, record, 1) for record in records))
    ledger.close()
    lock.release()
    return "--ledger", str(tmp_path)


def of_every_game(folder: Path, hands: int = 2) -> tuple[str, ...]:
    """Add hands of every ruleset there is to a ledger, not sealed; each match is called as its
    ruleset. Their names."""
    ledger, lock = open_ledger(folder, "a test")
    for match, game in RULESETS.items():
        ledger.keep_ruleset(fingerprint(game), to_json(game))
        records = play(game, match, hands, match, 2)
        ledger.append(*(Append(name(record), 0, record, 1) for record in records))
    ledger.close()
    lock.release()
    return tuple(RULESETS)
