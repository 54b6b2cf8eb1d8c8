"""Makes the frozen ledgers of this version: `python -m tests.store.frozen.make FOLDER SIGNED`.

Run once for every version of the format, when it is settled, into folders of its own; then never
again for that version. What it leaves must be read, and replay to the states beside it, for ever.
The ledger in `SIGNED` has keys, a tree and marks; it must verify, and answer as the same events
answer that are written today. Its secrets are nobody's.
"""

import shutil
import sys
from itertools import count
from pathlib import Path
from typing import Any

import msgspec

from dealer.play import play
from engine.games import GAMES
from events import types as t
from events.evolve import replay
from events.ledger import Append, Record, is_match
from events.match import MatchEnded, MatchStarted, SourceNoted
from events.types import Event
from store.folder.disk import RealDisk
from store.ledger import FileLedger, open_ledger
from store.tables.projection import STANDARD

START = 1_732_200_000_000
SEALED = ("auction-2024-mit", "swap-2022", "urcs-1998")
HOT = "site-pl"
MATCHES = ("auction-2024", "swap-2022", "site-nl", "bounty-2025-mit", "toss-2026-mit")
SEQUENCE = count(1)


def make(folder: Path) -> None:
    """Two segments, a log with one more match, and an answer to everything that was asked."""
    shutil.rmtree(folder, ignore_errors=True)
    ledger = FileLedger(RealDisk(_made(folder / "ledger")), STANDARD, clock=lambda: START)
    for place, game in enumerate((*SEALED, HOT)):
        first, *rest = play(GAMES[game], game, 4, "frozen")
        start = first[0]
        assert isinstance(start, t.HandStarted)
        began = MatchStarted(
            game, game, start.ruleset, start.players, "seeded", "sealed", True, seed="frozen"
        )
        ledger.append(_one(game, 0, (began,), place))
        for number, events in enumerate((first, *rest), start=1):
            half = len(events) // 2
            ledger.append(_one(f"{game}/{number}", 0, events[:half], place))
            ledger.append(_one(f"{game}/{number}", half, events[half:], place))
        ended = (SourceNoted("made", "v1", "", "end\n"), MatchEnded((0, 0), "all hands played"))
        ledger.append(_one(game, 1, ended, place))
        if game in SEALED[1:]:
            ledger.seal()
    held = list(ledger.read_from(0))
    ledger.close()
    streams: dict[str, list[Record]] = {}
    for one in held:
        streams.setdefault(one.stream, []).append(one.event)
    told = {
        "positions": [[one.pos, one.stream, one.index, one.at] for one in held],
        "streams": {
            name: {"events": events, "state": None if is_match(name) else _state(events)}
            for name, events in streams.items()
        },
    }
    text = msgspec.json.format(msgspec.json.encode(told, order="sorted"), indent=0)
    (folder / "expected.json").write_bytes(text + b"\n")


def make_signed(folder: Path) -> None:
    """Two segments, and the last matches in the log; a hand is one append."""
    ledger, lock = open_ledger(folder, "frozen", STANDARD)
    for game in MATCHES:
        hands = list(play(GAMES[game], game, 6, "frozen"))
        start = hands[0][0]
        assert isinstance(start, t.HandStarted)
        began = MatchStarted(
            game, game, start.ruleset, start.players, "seeded", "sealed", True, seed="frozen"
        )
        ledger.append(Append(game, 0, (began,), START))
        for number, events in enumerate(hands, start=1):
            ledger.append(Append(f"{game}/{number}", 0, events, START + number))
        ledger.append(Append(game, 1, (MatchEnded((0, 0), "all hands played"),), START + 99))
        if game in ("auction-2024", "site-nl"):
            ledger.seal()
    ledger.close()
    lock.release()


def _one(stream: str, expected: int, events: tuple[Record, ...], minute: int) -> Append:
    return Append(stream, expected, events, START + 60_000 * minute, "frozen", next(SEQUENCE))


def _state(events: list[Any]) -> Any:
    hand: list[Event] = events
    return msgspec.to_builtins(replay(hand))


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


if __name__ == "__main__":
    make(Path(sys.argv[1]))
    make_signed(Path(sys.argv[2]))
