"""Cursors: where a list goes on, sealed so that nobody reads or makes one but this ledger's server.

A cursor holds the last key that was told. What the list was of (path, viewpoint, filter, order) is
sealed with it, so it opens nothing else. It is sealed by AES-SIV (RFC 5297): the same place has the
same cursor, so two answers that are alike are alike to the byte, and a key that tells of what is
hidden stays hidden in it: the package itsdangerous would sign it, and leave it to be read by all.
All workers of a ledger share its key, `private/cursor.key`. A cursor holds no snapshot's token,
which counts hidden events.
"""

import binascii
from base64 import b64decode, urlsafe_b64encode
from typing import Any

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from api.problem import Problem

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
