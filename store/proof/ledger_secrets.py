"""The secrets of one ledger: their folder, which nobody else may read, and the nonces made of one.

    private/signing.key    who signs: a private key as C2SP writes it
    private/nonce.key      what every nonce of a commitment is derived from
    private/log.key        what the marks of this ledger's writer are made with (frames.py)
    private/decks/MATCH    what the decks of a committed match are derived from
    private/bots.json      which folder of this machine each bot's name is for

What is drawn is durable before it is used. The folder is for its owner alone (0700,
files 0600); wider permissions are refused, for a secret that others can read is none.

By which nonces a leaf was made says a salt of each of the ledger's openings, too:

    tree/nonces    the digest of the secret, then for each opening that closed something a line
                   FIRST SALT: leaves from this one on are made with this salt

A copy of the ledger that is put back and written to again draws another salt, so nothing that is
committed to in it has a nonce that was ever given away, not even for the same value. Leaves before
the first of these lines were made by version 1 of the nonces, which have no salt.
"""

import os
import re
import secrets
import stat
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import msgspec

from events.ledger import DeckChain, Recorded
from events.lines import Nonces, leaf_bytes, nonces_of
from store.folder.disk import Disk, RealDisk, archive_url, replace_file
from store.folder.frames import Damaged, Marks
from store.log.streams import split_stream
from store.proof.note import Signer
from store.proof.tree_file import FOLDER as TREE

FOLDER = "private"
VARIABLE = "MUCKRAKE_PRIVATE"  # where the secrets of an archive's ledger are, if anywhere
SIGNING = "signing.key"
NONCES = "nonce.key"
LOG = "log.key"
LOG_DRAWN = "log.key.drawn"  # until the ledger bears marks
DECKS = "decks"
_NAME = b"muckrake/nonce-secret/v1\x00"
_HEX = re.compile(rb"[0-9a-f]{64}\n")


class SecretExposed(OSError):
    """A secret that others can read, or that is not what it should be."""


class Secrets(NamedTuple):
    """The secrets of a ledger: nonces, signing key, marks; `new` names those just drawn.

    Without `marks` what it writes bears none.
    """

    nonces: bytes
    signer: Signer
    new: tuple[str, ...] = ()
    marks: Marks | None = None


def secret_name(nonces: bytes | None) -> str:
    """A name of the secret of nonces, which tells nothing of it; empty where there is none."""
    return "" if nonces is None else sha256(_NAME + nonces).hexdigest()


class SecretFolder:
    """The folder of a ledger's secrets, which only its owner may read."""

    def __init__(self, ledger: Path) -> None:
        elsewhere = os.environ.get(VARIABLE) if archive_url(ledger) else None
        self.folder = Path(elsewhere) if elsewhere else ledger / FOLDER

    def secrets(self, origin: str | None = None) -> Secrets:
        """Read the secrets, drawing what is lacking; a new signing key is named `origin`."""
        new = []
        if (nonces := self.nonces()) is None:
            nonces = secrets.token_bytes(32)
            self.write(NONCES, nonces.hex().encode() + b"\n")
            new.append(NONCES)
        if (signer := self.signer()) is None:
            signer = Signer.new(origin or f"muckrake.local/{secrets.token_hex(4)}")
            self.write(SIGNING, signer.spelled())
            new.append(SIGNING)
        return Secrets(nonces, signer, tuple(new))

    def signer(self) -> Signer | None:
        """The signing key; None if there is none."""
        spelled = self.read(SIGNING)
        return None if spelled is None else Signer.read(spelled)

    def nonces(self) -> bytes | None:
        """The secret that nonces are derived from; None if there is none."""
        return self._secret(NONCES)

    def marks(self, draw: bool = False) -> Marks | None:
        """The key of the writer's marks; None if there is none, and none is to be drawn.

        A key that was drawn takes its place when the ledger bears marks: `settle`.
        """
        if (key := self._secret(LOG)) is not None:
            return Marks(key)
        if (key := self._secret(LOG_DRAWN)) is None and draw:
            key = secrets.token_bytes(32)
            self.write(LOG_DRAWN, key.hex().encode() + b"\n")
        return None if key is None else Marks(key, strict=False)

    def settle(self) -> None:
        """The ledger bears marks: from now on nothing without one is taken."""
        if (self.folder / LOG_DRAWN).exists():
            (self.folder / LOG_DRAWN).rename(self.folder / LOG)
            RealDisk(self.folder).sync_folder("")

    def _secret(self, name: str) -> bytes | None:
        text = self.read(name)
        if text is not None and not _HEX.fullmatch(text):
            raise SecretExposed(f"{self.folder / name} is not 64 hex digits and a newline")
        return None if text is None else bytes.fromhex(text.decode())

    def keep(self, match: str, chain: DeckChain) -> None:
        """Keep one more chain of a match's decks, durable on return."""
        self.write(_deck(match), msgspec.json.encode((*self.chains(match), chain)) + b"\n")

    def chains(self, match: str) -> tuple[DeckChain, ...]:
        """Every chain of this match, in order; none if its decks were never committed."""
        text = self.read(_deck(match))
        return msgspec.json.decode(text, type=tuple[DeckChain, ...]) if text else ()

    def read(self, name: str) -> bytes | None:
        """Read a file of the folder, or None; one that others can read is refused."""
        path = self.folder / name
        try:
            for place in (self.folder, path):
                _check_closed(place)
            return path.read_bytes()
        except FileNotFoundError:
            return None

    def write(self, name: str, data: bytes) -> None:
        """Write a file of the folder: aside, synced, renamed, every new folder synced."""
        path = self.folder / name
        for folder in dict.fromkeys((self.folder, path.parent)):
            if not folder.is_dir():
                folder.mkdir(0o700)
                RealDisk(folder.parent).sync_folder("")
        _check_closed(self.folder)
        aside = path.with_name(f"{path.name}.tmp")
        aside.unlink(missing_ok=True)
        handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(handle)
        aside.rename(path)
        RealDisk(path.parent).sync_folder("")


def _deck(match: str) -> str:
    assert "/" not in match
    assert match[:1] not in ("", ".")
    return f"{DECKS}/{match}"


def _check_closed(path: Path) -> None:
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        right = "700" if path.is_dir() else "600"
        raise SecretExposed(f"{path} is open to others (mode {mode:o}): chmod {right} {path}")


SALTS_FILE = f"{TREE}/nonces"
SALT_BYTES = 32
_LINE = re.compile(r"(0|[1-9][0-9]{0,17}) ([0-9a-f]{64})")
_nonces_of = lru_cache(maxsize=256)(nonces_of)


class SaltedSecret(NamedTuple):
    """The secret of nonces under one salt; without a salt nonces are those of version 1."""

    secret: bytes
    salt: bytes = b""

    @property
    def name(self) -> str:
        """A name of both, which tells nothing of the secret."""
        return secret_name(self.secret + self.salt)

    def of(self, match: str) -> Nonces:
        """The nonces of a match."""
        return _nonces_of(self.secret, match, self.salt)


class Salts(NamedTuple):
    """The secret of nonces, and from which leaf on which salt was used."""

    secret: bytes
    firsts: tuple[int, ...] = ()
    salts: tuple[bytes, ...] = ()

    @property
    def now(self) -> SaltedSecret:
        """The salted secret of the next leaf."""
        return SaltedSecret(self.secret, self.salts[-1] if self.salts else b"")

    def of(self, stream: str, hand_seq: int) -> Nonces:
        """The nonces of a leaf of this stream, by its place in the tree."""
        place = bisect_right(self.firsts, hand_seq) - 1
        salt = self.salts[place] if place >= 0 else b""
        return SaltedSecret(self.secret, salt).of(split_stream(stream)[0])

    def leaf(self, hand_seq: int, recorded: Sequence[Recorded]) -> bytes:
        """The bytes of a leaf, by its place in the tree."""
        return leaf_bytes(hand_seq, recorded, self.of(recorded[0].stream, hand_seq))


def drawn_salt() -> bytes:
    """A salt that was never used before."""
    return secrets.token_bytes(SALT_BYTES)


def salts_of(disk: Disk, secret: bytes) -> Salts:
    """The salts of a ledger, with their secret."""
    return _read(disk.read(SALTS_FILE), secret) if has_salts(disk) else Salts(secret)


def check_secret(disk: Disk, secret: bytes) -> None:
    """The secret of nonces stays the same for ever."""
    if has_salts(disk) and not disk.read(SALTS_FILE).startswith(
        f"{secret_name(secret)}\n".encode()
    ):
        raise Damaged(
            "private/nonce.key is not the secret that this ledger began with: without that"
            " one its records cannot be verified; put it back from a copy"
        )


def writer_salts(disk: Disk, secret: bytes, next_seq: int) -> Salts:
    """The salts of a ledger that is opened for writing, with a fresh one for what closes now.

    Durable on return; the salt of an opening in which nothing closed gives way.
    """
    check_secret(disk, secret)
    known = salts_of(disk, secret)
    kept = [pair for pair in zip(known.firsts, known.salts, strict=True) if pair[0] < next_seq]
    kept.append((next_seq, drawn_salt()))
    rows = "".join(f"{first} {salt.hex()}\n" for first, salt in kept)
    replace_file(disk, SALTS_FILE, f"{secret_name(secret)}\n{rows}".encode())
    return Salts(secret, *zip(*kept, strict=True))


def has_salts(disk: Disk) -> bool:
    """Whether a ledger has begun to say by which nonces its leaves are made."""
    return TREE in disk.names("") and SALTS_FILE.removeprefix(f"{TREE}/") in disk.names(TREE)


@lru_cache(maxsize=4)
def _read(text: bytes, secret: bytes) -> Salts:
    _, *lines = text.decode(errors="replace").removesuffix("\n").split("\n")
    matches = [_LINE.fullmatch(line) for line in lines]
    pairs = [(int(match[1]), bytes.fromhex(match[2])) for match in matches if match]
    if len(pairs) != len(lines) or pairs != sorted(dict(pairs).items()):
        raise Damaged(f"{SALTS_FILE} is not the name of a secret, and salts in the order of leaves")
    return Salts(secret, tuple(first for first, _ in pairs), tuple(salt for _, salt in pairs))
