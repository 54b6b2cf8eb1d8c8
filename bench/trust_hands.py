"""A hand made believable and checked again: canonical bytes, commitments, digests, the whole pass.

The hands are heads-up auction hands of the random bots, as a ledger holds them.
"""

import json
from collections.abc import Callable, Sequence
from functools import cache
from hashlib import sha256
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import rfc8785

from bench.runner import Bench, Contender, one_by_one
from dealer.play import play
from engine.games import GAMES
from events.codec import encode
from events.ledger import Append, Recorded
from events.lines import Nonces, leaf_bytes, lines, openings
from events.views import Auditor
from store.folder.disk import RealDisk
from store.ledger import FileLedger
from store.proof.ledger_secrets import Secrets
from store.proof.note import Signer
from store.reader import Reader, Snapshot
from store.verify import Verifier

HANDS = 5_000
SECRETS = Secrets(bytes(range(32)), Signer("muckrake.local/bench", bytes(32)))
NONCES = Nonces(bytes(32))
Leaf = tuple[Recorded, ...]


def canonical() -> Bench:
    """The same events by others' encoders; all of them write the same bytes."""
    hands, told = _hands(), [[json.loads(line) for line in lines(one, NONCES)] for one in _hands()]
    assert all(
        rfc8785.dumps(line) == text
        for leaf, record in zip(hands[:50], told[:50], strict=True)
        for line, text in zip(record, lines(leaf, NONCES), strict=True)
    )
    fast = msgspec.json.Encoder(order="sorted").encode
    return Bench(
        "A hand as canonical bytes",
        "hand",
        "hand",
        (
            Contender("events alone", one_by_one(_encoded, hands)),
            Contender("public lines, with commitments", _over(lambda one: lines(one, NONCES))),
            Contender("msgspec, sorted", one_by_one(lambda it: [*map(fast, it)], told), "msgspec"),
            Contender("json, sorted", one_by_one(lambda it: [*map(_json, it)], told)),
            Contender("rfc8785", one_by_one(lambda it: [*map(rfc8785.dumps, it)], told), "rfc8785"),
        ),
        micros=True,
    )


def committing() -> Bench:
    hands = _hands()
    opened = [openings(one, NONCES, Auditor()) for one in hands]
    many = sum(map(len, opened)) / len(opened)
    return Bench(
        f"The hidden fields of a hand: {many:.1f} on average",
        "hand",
        "hand",
        (
            Contender("nonces derived", _over(lambda one: openings(one, NONCES, Auditor()))),
            Contender("leaf: lines, commitments, digest", _over(lambda one: _leaf(one))),
            Contender(
                f"{2 * many:.0f} times SHA-256",
                one_by_one(lambda it: [sha256(one.nonce) for one in (*it, *it)], opened),
            ),
        ),
        micros=True,
    )


def verifying() -> Bench:
    """As `muckrake verify --all` goes: read, decoded, hashed, compared, folded, counted."""
    ledger = _ledger()
    return Bench(
        "Hands verified again, one core",
        "hand",
        "hand",
        (
            Contender("leaf from events in memory", _over(lambda one: _leaf(one))),
            Contender("read from segments", lambda many: _read(ledger, many)),
            Contender("the whole of verify --all", lambda many: _verified(ledger, many)),
        ),
        size=HANDS,
        micros=True,
    )


def _leaf(one: Leaf) -> bytes:
    return leaf_bytes(0, one, NONCES)


def _over(act: Callable[[Leaf], object]) -> Callable[[int], int]:
    return one_by_one(act, _hands())


def _encoded(one: Leaf) -> list[bytes]:
    return [encode(it.event) for it in one]


def _json(line: object) -> str:
    return json.dumps(line, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _read(ledger: Snapshot, many: int) -> int:
    done = 0
    while done < many:
        done += sum(1 for _ in ledger.leaves())
    return done


def _verified(ledger: Snapshot, many: int) -> int:
    """Whole passes, as many as it takes."""
    done = 0
    while done < many:
        verifier = Verifier(ledger, SECRETS.nonces)
        done += sum(1 for _ in verifier.leaves())
        assert verifier.verified().ok
    return done


@cache
def _hands() -> Sequence[Leaf]:
    position = count()
    return [
        tuple(
            Recorded(next(position), f"m/{number}", index, 1_700_000_000_000 + number, event)
            for index, event in enumerate(hand)
        )
        for number, hand in enumerate(play(GAMES["auction-2024"], "m", HANDS, "bench"), start=1)
    ]


_folders: list[TemporaryDirectory[str]] = []


@cache
def _ledger() -> Snapshot:
    _folders.append(TemporaryDirectory(prefix="muckrake-bench-"))
    folder = Path(_folders[0].name)
    ledger = FileLedger(RealDisk(folder), secrets=SECRETS)
    for hand in _hands():
        ledger.append(Append(hand[0].stream, 0, tuple(one.event for one in hand), hand[0].at))
    ledger.seal()
    ledger.close()
    return Reader(folder).snapshot()
