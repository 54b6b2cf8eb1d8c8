"""What the HTTP door keeps in the ledger's private folder, for all of its processes.

    private/cursor.key    what cursors are sealed with
    private/keys          API keys: hashes of their secrets, never a secret
    private/logins        login links and sessions of browsers: hashes as well

Any process may change these, so each change is made under a lock of its own, which is not the
ledger's: a key can be revoked while a match is being played. A reader takes none: files are
replaced as a whole, and read again when they are others.

A cursor says where a list goes on: it holds the last key that was sent. What the list was of (path,
viewpoint, filter, order) is sealed with it, so it opens nothing else. It is sealed by AES-SIV
(RFC 5297): the same place has the same cursor, so two answers that are alike are alike to the byte,
and a key that tells of what is hidden stays hidden in it: the package itsdangerous would sign it,
and leave it to be read by all. A cursor holds no snapshot's token, which counts hidden events.
"""

import binascii
import os
import secrets
from base64 import b64decode, urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from api.problem import Problem
from store.folder.disk import lock_file, make_whole
from store.proof.private import Exposed, Private

KEY_BYTES = 64
_BLOCK = 32  # lengths are rounded up to this: how many digits a key has is nobody's business


class Cursors:
    """Cursors of one ledger."""

    def __init__(self, key: bytes) -> None:
        self._seal = AESSIV(key)

    def written(self, last: Any, *about: Any) -> str:
        """The cursor after this key, in the list of which `about` says everything."""
        plain = msgspec.json.encode(last)
        padded = plain + b" " * (-len(plain) % _BLOCK)
        sealed = self._seal.encrypt(padded, [msgspec.json.encode(about)])
        return urlsafe_b64encode(sealed).decode().rstrip("=")

    def read(self, cursor: str, *about: Any) -> Any:
        """The key that it was written of; refused if it is of another list, or not ours."""
        try:
            spelled = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
            sealed = b64decode(spelled, b"-_", validate=True)
            return msgspec.json.decode(self._seal.decrypt(sealed, [msgspec.json.encode(about)]))
        except (InvalidTag, binascii.Error, ValueError):
            sentence = "this cursor is not of this list: take next_cursor of its last page as it is"
            raise Problem("wrong-cursor", sentence) from None


CURSORS = "cursor.key"
KEYS = "keys"
LOGINS = "logins"
T = TypeVar("T")


@contextmanager
def alone(ledger: Path) -> Iterator[Private]:
    """The private folder, while no other process changes what we keep there; made if need be."""
    folder = Private(ledger).folder
    make_whole(ledger, 0o700)
    folder.mkdir(0o700, exist_ok=True)
    handle = os.open(folder / "http.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        lock_file(handle)
        yield Private(ledger)
    finally:
        os.close(handle)


def cursor_key(ledger: Path) -> bytes:
    """The key that seals cursors; drawn by the process that needs it first."""
    text = Private(ledger).read(CURSORS)
    if text is None:
        with alone(ledger) as private:
            text = private.read(CURSORS)
            if text is None:
                text = secrets.token_hex(KEY_BYTES).encode() + b"\n"
                private.write(CURSORS, text)
    try:
        key = bytes.fromhex(text.decode())
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise Exposed(f"{Private(ledger).folder / CURSORS} is not {2 * KEY_BYTES} hex digits")
    return key


class PrivateFile(Generic[T]):
    """A file of things in the private folder, as it is now."""

    def __init__(self, ledger: Path, name: str, kind: type[T]) -> None:
        self._ledger = ledger
        self._name = name
        self._kind = kind
        self._path = Private(ledger).folder / name
        self._read: tuple[Any, tuple[T, ...]] = (None, ())

    def all(self) -> tuple[T, ...]:
        """Everything in it; read again only if the file is another."""
        try:
            found = self._path.stat()
        except FileNotFoundError:
            return ()
        mark = (found.st_ino, found.st_mtime_ns, found.st_size)
        if self._read[0] != mark:
            self._read = (mark, self._things(Private(self._ledger)))
        return self._read[1]

    @contextmanager
    def changing(self) -> Iterator[list[T]]:
        """What is in it, to be changed; kept durably at the end, if it was changed."""
        with alone(self._ledger) as private:
            before = self._things(private)
            things = list(before)
            yield things
            if tuple(things) != before:
                private.write(self._name, msgspec.json.encode(things) + b"\n")

    def _things(self, private: Private) -> tuple[T, ...]:
        text = private.read(self._name)
        return () if text is None else msgspec.json.decode(text, type=tuple[self._kind, ...])  # type: ignore[name-defined]
