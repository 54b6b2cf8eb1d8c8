"""The folder of secrets of one ledger: what is in it, and that nobody else may read it.

    private/signing.key    who signs: a private key as C2SP writes it
    private/nonce.key      what every nonce of a commitment is derived from
    private/log.key        what the marks of this ledger's writer are made with (frames.py)
    private/decks/MATCH    what the decks of a committed match are derived from
    private/bots.json      which folder of this machine each bot's name is for

What is drawn is durable before it is used. The folder is for its owner alone (0700,
files 0600); wider permissions are refused, for a secret that others can read is none.
"""

import os
import re
import secrets
import stat
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import msgspec

from events.ledger import DeckChain
from store.folder.disk import origin_of
from store.folder.frames import Marks
from store.proof.note import Signer

FOLDER = "private"
VARIABLE = "MUCKRAKE_PRIVATE"  # where the secrets of an archive's ledger are, if anywhere
SIGNING = "signing.key"
NONCES = "nonce.key"
LOG = "log.key"
LOG_DRAWN = "log.key.drawn"  # until the ledger bears marks
DECKS = "decks"
_NAME = b"muckrake/nonce-secret/v1\x00"
_HEX = re.compile(rb"[0-9a-f]{64}\n")


class Exposed(OSError):
    """A secret that others can read, or that is not what it should be."""


class Secrets(NamedTuple):
    """What a ledger needs to vouch for itself; `new` names what was drawn just now.

    Without `marks` what it writes bears none.
    """

    nonces: bytes
    signer: Signer
    new: tuple[str, ...] = ()
    marks: Marks | None = None


def name_of(nonces: bytes | None) -> str:
    """A name of the secret of nonces, which tells nothing of it; empty where there is none."""
    return "" if nonces is None else sha256(_NAME + nonces).hexdigest()


class Private:
    """The secrets of the ledger in a folder."""

    def __init__(self, ledger: Path) -> None:
        elsewhere = os.environ.get(VARIABLE) if origin_of(ledger) else None
        self.folder = Path(elsewhere) if elsewhere else ledger / FOLDER

    def secrets(self, origin: str | None = None) -> Secrets:
        """Both keys; what is lacking is drawn. A new signing key takes `origin` as its name."""
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
        """Who signs; None if there is no key."""
        spelled = self.read(SIGNING)
        return None if spelled is None else Signer.read(spelled)

    def nonces(self) -> bytes | None:
        """What nonces are derived from; None if there is nothing."""
        return self._secret(NONCES)

    def marks(self, draw: bool = False) -> Marks | None:
        """How a writer marks what he writes; None if there is no key, and none is to be drawn.

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
            _sync(self.folder)

    def _secret(self, name: str) -> bytes | None:
        text = self.read(name)
        if text is not None and not _HEX.fullmatch(text):
            raise Exposed(f"{self.folder / name} is not 64 hex digits and a newline")
        return None if text is None else bytes.fromhex(text.decode())

    def keep(self, match: str, chain: DeckChain) -> None:
        """One more chain of a match's decks, durable on return."""
        self.write(_deck(match), msgspec.json.encode((*self.chains(match), chain)) + b"\n")

    def chains(self, match: str) -> tuple[DeckChain, ...]:
        """Every chain of this match, in order; none if its decks were never committed."""
        text = self.read(_deck(match))
        return msgspec.json.decode(text, type=tuple[DeckChain, ...]) if text else ()

    def read(self, name: str) -> bytes | None:
        """One of its files; None if there is none. One that others can read is refused."""
        path = self.folder / name
        try:
            for place in (self.folder, path):
                _check_closed(place)
            return path.read_bytes()
        except FileNotFoundError:
            return None

    def write(self, name: str, data: bytes) -> None:
        """Aside, synced, renamed, and every folder on the way told."""
        path = self.folder / name
        for folder in dict.fromkeys((self.folder, path.parent)):
            if not folder.is_dir():
                folder.mkdir(0o700)
                _sync(folder.parent)
        _check_closed(self.folder)
        aside = path.with_name(f"{path.name}.tmp")
        aside.unlink(missing_ok=True)
        handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(handle)
        aside.rename(path)
        _sync(path.parent)


def _deck(match: str) -> str:
    assert "/" not in match
    assert match[:1] not in ("", ".")
    return f"{DECKS}/{match}"


def _check_closed(path: Path) -> None:
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        right = "700" if path.is_dir() else "600"
        raise Exposed(f"{path} is open to others (mode {mode:o}): chmod {right} {path}")


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
