"""By which nonces each leaf was made: a secret of the ledger, and a salt of each of its openings.

    tree/nonces    the digest of the secret, then for each opening that closed something a line
                   FIRST SALT: leaves from this one on are made with this salt

A copy of the ledger that is put back and written to again draws another salt, so nothing that is
committed to in it has a nonce that was ever given away, not even for the same value. Leaves before
the first of these lines were made by version 1 of the nonces, which have no salt.
"""

import re
import secrets
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from events.commitments import Nonces, nonces_of
from events.ledger import Recorded
from events.lines import leaf_bytes
from store.folder.disk import Disk, put
from store.folder.frames import Damaged
from store.log.leaf import split
from store.proof.private import name_of
from store.proof.tree_file import FOLDER

FILE = f"{FOLDER}/nonces"
SALT_BYTES = 32
_LINE = re.compile(r"(0|[1-9][0-9]{0,17}) ([0-9a-f]{64})")
_nonces_of = lru_cache(maxsize=256)(nonces_of)


class Salted(NamedTuple):
    """The secret of nonces under one salt; without a salt they are those of version 1."""

    secret: bytes
    salt: bytes = b""

    @property
    def name(self) -> str:
        """A name of both, which tells nothing of the secret."""
        return name_of(self.secret + self.salt)

    def of(self, match: str) -> Nonces:
        """The nonces of a match."""
        return _nonces_of(self.secret, match, self.salt)


class Salts(NamedTuple):
    """The secret of nonces, and from which leaf on which salt was used."""

    secret: bytes
    firsts: tuple[int, ...] = ()
    salts: tuple[bytes, ...] = ()

    @property
    def now(self) -> Salted:
        """What the next leaf is made with."""
        return Salted(self.secret, self.salts[-1] if self.salts else b"")

    def of(self, stream: str, hand_seq: int) -> Nonces:
        """The nonces of a leaf of this stream, by its place in the tree."""
        place = bisect_right(self.firsts, hand_seq) - 1
        salt = self.salts[place] if place >= 0 else b""
        return Salted(self.secret, salt).of(split(stream)[0])

    def leaf(self, hand_seq: int, recorded: Sequence[Recorded]) -> bytes:
        """The bytes of a leaf, by its place in the tree."""
        return leaf_bytes(hand_seq, recorded, self.of(recorded[0].stream, hand_seq))


def drawn_salt() -> bytes:
    """A salt that was never used before."""
    return secrets.token_bytes(SALT_BYTES)


def salts_of(disk: Disk, secret: bytes) -> Salts:
    """What the ledger says of its salts."""
    return _read(disk.read(FILE), secret) if _is_there(disk) else Salts(secret)


def check_secret(disk: Disk, secret: bytes) -> None:
    """The secret of nonces stays the same for ever."""
    if _is_there(disk) and not disk.read(FILE).startswith(f"{name_of(secret)}\n".encode()):
        raise Damaged(
            "private/nonce.key is not the secret that this ledger began with: without that"
            " one its records cannot be verified; put it back from a copy"
        )


def opened(disk: Disk, secret: bytes, next_seq: int) -> Salts:
    """The salts of a ledger that is opened for writing, with a fresh one for what closes now.

    Durable on return; the salt of an opening in which nothing closed gives way.
    """
    check_secret(disk, secret)
    known = salts_of(disk, secret)
    kept = [pair for pair in zip(known.firsts, known.salts, strict=True) if pair[0] < next_seq]
    kept.append((next_seq, drawn_salt()))
    rows = "".join(f"{first} {salt.hex()}\n" for first, salt in kept)
    put(disk, FILE, f"{name_of(secret)}\n{rows}".encode())
    return Salts(secret, *zip(*kept, strict=True))


def _is_there(disk: Disk) -> bool:
    return FOLDER in disk.names("") and FILE.removeprefix(f"{FOLDER}/") in disk.names(FOLDER)


@lru_cache(maxsize=4)
def _read(text: bytes, secret: bytes) -> Salts:
    _, *lines = text.decode(errors="replace").removesuffix("\n").split("\n")
    matches = [_LINE.fullmatch(line) for line in lines]
    pairs = [(int(match[1]), bytes.fromhex(match[2])) for match in matches if match]
    if len(pairs) != len(lines) or pairs != sorted(dict(pairs).items()):
        raise Damaged(f"{FILE} is not the name of a secret, and salts in the order of leaves")
    return Salts(secret, tuple(first for first, _ in pairs), tuple(salt for _, salt in pairs))
