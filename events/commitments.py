"""Hidden values of a record, as commitments: fixed now, opened later to who may see them.

A commitment is a digest of a value and a nonce that nobody can guess; without the nonce not even
a value with two possibilities can be found by trying. Nonces are derived from one key a match, so
none is stored, and from the value, so none is used for two. docs/record-format.md has every byte.
"""

import hmac
from binascii import hexlify
from collections.abc import Iterable
from hashlib import sha256
from typing import Any, NamedTuple

import msgspec

COMMITMENT = b"muckrake/commitment/v1\x00"
NONCES = b"muckrake/nonces/v1\x00"
SALTED = b"muckrake/nonces/v2\x00"

_canonical = msgspec.json.Encoder(order="sorted").encode


class Opening(NamedTuple):
    """A hidden value and its nonce: with both anybody can check the commitment in that line."""

    line: int
    field: str
    value: Any
    nonce: bytes


class Nonces:
    """The nonces of a match: one for each field of each event, all from one key.

    `of_values`: one for each value of each field, since version 2.

    Known, the key opens that match and no other. This is HMAC-SHA256 as the standard library has
    it, spelled out, with the key's two blocks hashed once: a hash goes on from a copy of theirs.
    """

    def __init__(self, key: bytes, *, of_values: bool = False) -> None:
        self._of_values = of_values
        block = key.ljust(64, b"\0")
        self._inner = sha256(bytes(byte ^ 0x36 for byte in block))
        self._outer = sha256(bytes(byte ^ 0x5C for byte in block))

    def of(self, stream: str, index: int, field: str, value: Any) -> bytes:
        """The nonce of one field of one event, in which this is hidden."""
        inner, outer = self._inner.copy(), self._outer.copy()
        inner.update(f"{stream}\n{index}\n{field}".encode())
        if self._of_values:
            inner.update(b"\n" + _canonical(value))
        outer.update(inner.digest())
        return outer.digest()

    def begun(self, stream: str) -> Any:
        """Where every nonce of a stream begins, for `hide`."""
        found = self._inner.copy()
        found.update(f"{stream}\n".encode())
        return found

    def hide(
        self, begun: Iterable[Any], places: Iterable[bytes], values: Iterable[bytes]
    ) -> list[bytes]:
        """Many hidden values, as `commitment` would hide each: by what its stream begins with, its
        place, `INDEX\\nFIELD`, and its canonical bytes."""
        found = []
        for stream, place, value in zip(begun, places, values, strict=True):
            inner, outer = stream.copy(), self._outer.copy()
            inner.update(b"%b\n%b" % (place, value) if self._of_values else place)
            outer.update(inner.digest())
            found.append(hexlify(sha256(COMMITMENT + outer.digest() + value).digest()))
        return found


def nonces_of(secret: bytes, match: str, salt: bytes = b"") -> Nonces:
    """The nonces of a match, from the secret of its ledger and a salt; version 1 had no salt."""
    if not salt:
        return Nonces(hmac.digest(secret, NONCES + match.encode(), "sha256"))
    key = hmac.digest(secret, SALTED + salt + match.encode(), "sha256")
    return Nonces(key, of_values=True)


def commitment(nonce: bytes, value: Any) -> str:
    """The digest that stands where the value is hidden."""
    return sha256(COMMITMENT + nonce + _canonical(value)).hexdigest()
