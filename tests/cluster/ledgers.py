"""A ledger of many games for tests of tasks: sealed in several segments, and some not sealed."""

import shutil
from pathlib import Path

from api.main import main
from engine.games import RULESETS
from events.ledger import Append
from store.ledger import open_ledger
from store.reader import Reader
from tests.sessions import dealt, name, of_every_game

PLAYED = ("auction", "swaps", "limit", "tables", *RULESETS, "late")
_GAMES = (
    (
        *("auction-2024", "--hands", "12", "--seed", "1", "--match", PLAYED[0]),
        *("--tags", "random-0=bot:bear,version:1", "--tags", "random-1=bot:lynx"),
    ),
    ("swap-2022", "--hands", "6", "--seed", "2", "--match", PLAYED[1]),
    ("urcs-1998", "--hands", "5", "--seats", "4", "--match", PLAYED[2], "--disclosure", "open"),
    ("site-nl", "--hands", "6", "--seats", "5", "--seed", "3", "--match", PLAYED[3]),
)


def mixed(folder: Path) -> Path:
    """Each of the first matches is sealed alone, then hands of every ruleset together; then come
    one that is not, and a hand paid to the wrong seat."""
    where = ("--ledger", str(folder))
    for words in (*_GAMES, None):
        if words is None:
            of_every_game(folder)
        else:
            assert main(["play", *words, *where]) == 0
        ledger, lock = open_ledger(folder, "a test")
        ledger.seal()
        ledger.close()
        lock.release()
    first, second, *_ = dealt()
    ledger, lock = open_ledger(folder, "a forger")
    wrong = (*second[:-2], second[-1])
    ledger.append(*(Append(name(one), 0, one, 1) for one in (first, wrong)))
    ledger.close()
    lock.release()
    assert (
        main(["play", "auction-2024", "--hands", "4", "--seed", "4", "--match", PLAYED[-1], *where])
        == 0
    )
    return folder


def damaged(ledger: Path, folder: Path) -> str:
    """A copy of a ledger with one bit of its first segment turned; the name of the file."""
    shutil.copytree(ledger, folder)
    first = Reader(folder).snapshot().parts().segments[0].files["events"]
    file = folder / first
    content = bytearray(file.read_bytes())
    content[len(content) // 3] ^= 1
    file.chmod(0o600)
    file.write_bytes(content)
    return first
