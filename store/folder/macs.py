"""Marks: a MAC over whatever the writer of a ledger writes, under a key that only he has.

Each frame of the hot log bears one over its position, its payload and the mark before it, the first
one over where the log begins, which the manifest says. So no frame can be added, changed, moved,
left out between others, or brought from another log. The manifest bears one over all of it; it has
the digests of the segments and the root of the tree, so what is sealed is under it, too.
"""

import hmac
import secrets
from typing import NamedTuple

SIZE = 32
_FRAME = b"muckrake/frame/v1\x00"
_LOG = b"muckrake/log/v1\x00"
_MANIFEST = b"muckrake/manifest/v1\x00"


class Marks(NamedTuple):
    """The key; `strict` says that the ledger bears marks already, and nothing without is taken."""

    key: bytes
    strict: bool = True

    def of_manifest(self, body: bytes) -> str:
        """The mark of a manifest."""
        return hmac.digest(self.key, _MANIFEST + body, "sha256").hex()

    def chain(self, begin: str, path: str) -> "Chain":
        """The marks of a log, from its beginning on."""
        return Chain(self.key, _LOG + bytes.fromhex(begin) + path.encode())


class Chain:
    """The marks of one log's frames, one after the other."""

    def __init__(self, key: bytes, begin: bytes) -> None:
        self._key = key
        self._last = hmac.digest(key, begin, "sha256")

    def next(self, pos: int, payload: bytes) -> bytes:
        """The mark of the next frame."""
        data = b"".join((_FRAME, self._last, pos.to_bytes(8, "little"), payload))
        self._last = hmac.digest(self._key, data, "sha256")
        return self._last


def new_begin() -> str:
    """Where a new log begins: drawn, so that none begins as another did."""
    return secrets.token_hex(SIZE)
