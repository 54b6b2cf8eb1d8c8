"""Bundles of evidence: written from a ledger, and checked by the script that lies in each of them.

The script has to do with what every Python brings, so its two signatures are checked in plain
Python; beside it stands what they cost there and in a library.
"""

from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from api.evidence.bundle import make_bundle
from api.evidence.verify import is_signed, unzipped, verify
from bench.runner import Bench, Contender, one_by_one
from dealer.play import play
from engine.game import fingerprint, to_json
from engine.games import GAMES
from events.ledger import Append
from store.ledger import open_ledger
from store.reader import Reader, Snapshot

HANDS = 50
GAME = GAMES["auction-2024"]

_folders: list[TemporaryDirectory[str]] = []


def writing() -> Bench:
    """From a ledger of few hands: a larger one takes longer to find the hand and its proof."""
    ledger = _ledger()
    names = [f"m/{number}" for number in range(1, HANDS + 1)]
    return Bench(
        "A bundle written",
        "bundle",
        "bundle",
        (
            Contender(
                "for the auditor",
                one_by_one(lambda name: make_bundle(ledger, name, "auditor"), names),
            ),
            Contender(
                "for the public",
                one_by_one(lambda name: make_bundle(ledger, name, "public"), names),
            ),
        ),
        micros=True,
    )


def checking() -> Bench:
    """As `verify.py` does, without starting a Python for it."""
    whole = [unzipped(make_bundle(_ledger(), f"m/{n}", "auditor")) for n in range(1, HANDS + 1)]
    public = [unzipped(make_bundle(_ledger(), f"m/{n}", "public")) for n in range(1, HANDS + 1)]
    assert not any(verify(files).problems for files in (*whole, *public))
    private, text = Ed25519PrivateKey.from_private_bytes(bytes(32)), sha256().digest()
    key, signed = private.public_key(), private.sign(text)
    known = key.public_bytes_raw()
    return Bench(
        "A bundle checked by its own script",
        "bundle",
        "bundle",
        (
            Contender("verify.py, all opened", one_by_one(verify, whole)),
            Contender("verify.py, nothing opened", one_by_one(verify, public)),
            Contender(
                "two signatures in Python", one_by_one(lambda _: _twice(known, signed, text), [0])
            ),
            Contender(
                "two signatures in a library",
                one_by_one(lambda _: (key.verify(signed, text), key.verify(signed, text)), [0]),
                "cryptography",
            ),
        ),
        micros=True,
    )


def _twice(known: bytes, signed: bytes, text: bytes) -> None:
    assert is_signed(known, signed, text)
    assert is_signed(known, signed, text)


@cache
def _ledger() -> Snapshot:
    _folders.append(TemporaryDirectory(prefix="muckrake-bench-"))
    folder = Path(_folders[0].name)
    ledger, lock = open_ledger(folder, "a bench")
    ledger.keep_ruleset(fingerprint(GAME), to_json(GAME))
    for number, hand in enumerate(play(GAME, "m", HANDS, "bench"), start=1):
        ledger.append(Append(f"m/{number}", 0, hand, 1_700_000_000_000 + number))
    ledger.close()
    lock.release()
    return Reader(folder).snapshot()
