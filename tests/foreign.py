"""Foreign files of our own making, for tests of the import: logs that our hands could have left;
and a ledger for them."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from dealer.play import play
from engine.games import GAMES
from events.types import Events
from formats.mit.write import write
from store.ledger import FileLedger, open_ledger
from store.proof.ledger_secrets import NONCES, SecretFolder

ROUNDS = 30


def records(game: str = "auction-2024-mit", rounds: int = ROUNDS, seed: str = "7") -> list[Events]:
    """Hands of random bots, dealt in turns."""
    return list(play(GAMES[game], "m", rounds, seed))


def gamelog(
    path: Path,
    game: str = "auction-2024-mit",
    rounds: int = ROUNDS,
    seed: str = "7",
) -> Path:
    """A gamelog of such hands in this file."""
    path.write_text(write(records(game, rounds, seed)), encoding="utf-8")
    return path


@contextmanager
def opened(folder: Path) -> Iterator[FileLedger]:
    """A ledger, closed in the end, so that it can be opened again; all have one secret, so that the
    same file is called the same in each."""
    folder.mkdir(parents=True, exist_ok=True)
    if SecretFolder(folder).nonces() is None:
        SecretFolder(folder).write(NONCES, b"5e" * 32 + b"\n")
    ledger, lock = open_ledger(folder, "test")
    try:
        yield ledger
    finally:
        ledger.close()
        lock.release()


def edited(path: Path, edits: Iterable[tuple[str, str]]) -> Path:
    """The file with some of its text replaced; each must be there."""
    text = path.read_text("utf-8")
    for old, new in edits:
        assert old in text
        text = text.replace(old, new, 1)
    path.write_text(text, encoding="utf-8")
    return path


def misjudged(path: Path) -> Path:
    """A log of two rounds whose second pays the wrong player; the sums of the log fit."""
    path.write_text(_MISJUDGED, encoding="utf-8")
    return path


_MISJUDGED = """\
6.9630 MIT Pokerbots - ursa vs lynx

Round #1, ursa (0), lynx (0)
ursa posts the blind of 1
lynx posts the blind of 2
ursa dealt [As Kd]
lynx dealt [2c 7d]
ursa folds
ursa awarded -1
lynx awarded 1
Players did not reach flop. No auction occured.

Round #2, lynx (1), ursa (-1)
lynx posts the blind of 1
ursa posts the blind of 2
lynx dealt [5s 5d]
ursa dealt [Ts Td]
lynx folds
lynx awarded 1
ursa awarded -1
Players did not reach flop. No auction occured.

Final, ursa (-2), lynx (2)
"""
