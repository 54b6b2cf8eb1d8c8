"""Cursors of lists over HTTP, and the key in `private/cursor.key` that seals them.

A cursor says where a list goes on: it holds the last key that was sent. What the list was of (path,
viewpoint, filter, order) is sealed with it, so it opens nothing else. It is sealed by AES-SIV
(RFC 5297): the same place has the same cursor, so two answers that are alike are alike to the byte,
and a key that tells of what is hidden stays hidden in it: the package itsdangerous would sign it,
and leave it to be read by all. A cursor holds no snapshot's token, which counts hidden events.
"""

import binascii
import secrets
from base64 import b64decode, urlsafe_b64encode
from pathlib import Path
from typing import Any

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from api.http.credentials import locked_private_folder
from api.problem import Problem
from store.proof.ledger_secrets import SecretExposed, SecretFolder

CURSORS_FILE = "cursor.key"
KEY_BYTES = 64
_BLOCK = 32  # lengths are rounded up to this: how many digits a key has is nobody's business


def cursor_key(ledger: Path) -> bytes:
    """The key that encrypts cursors; drawn by the process that needs it first."""
    text = SecretFolder(ledger).read(CURSORS_FILE)
    if text is None:
        with locked_private_folder(ledger) as private:
            text = private.read(CURSORS_FILE)
            if text is None:
                text = secrets.token_hex(KEY_BYTES).encode() + b"\n"
                private.write(CURSORS_FILE, text)
    try:
        key = bytes.fromhex(text.decode())
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise SecretExposed(
            f"{SecretFolder(ledger).folder / CURSORS_FILE} is not {2 * KEY_BYTES} hex digits"
        )
    return key


class Cursors:
    """Encodes and decodes the cursors of one ledger's lists."""

    def __init__(self, key: bytes) -> None:
        self._seal = AESSIV(key)

    def encode(self, last: Any, *about: Any) -> str:
        """The cursor after this key, in the list of which `about` says everything."""
        plain = msgspec.json.encode(last)
        padded = plain + b" " * (-len(plain) % _BLOCK)
        sealed = self._seal.encrypt(padded, [msgspec.json.encode(about)])
        return urlsafe_b64encode(sealed).decode().rstrip("=")

    def decode(self, cursor: str, *about: Any) -> Any:
        """The key that a cursor was made of; refused if it is of another list, or not ours."""
        try:
            spelled = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
            sealed = b64decode(spelled, b"-_", validate=True)
            return msgspec.json.decode(self._seal.decrypt(sealed, [msgspec.json.encode(about)]))
        except (InvalidTag, binascii.Error, ValueError):
            sentence = "this cursor is not of this list: take next_cursor of its last page as it is"
            raise Problem("wrong-cursor", sentence) from None
