"""API keys: `mr_ID_SECRET_CHECK`, of which a ledger keeps no more than a hash.

The id names a key in lists and logs. The check refuses a key that was mistyped or cut before
anything is looked up; it proves nothing. The secret has 256 bits, so a plain SHA-256 of it can be
kept: nobody guesses it from there.
"""

import re
import secrets
import time
import zlib
from datetime import UTC, datetime
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path
from typing import TypedDict

from msgspec import Struct

from api.http.private_files import KEYS, PrivateFile

PREFIX = "mr"
_KEY = re.compile(r"mr_(?P<id>[0-9a-f]{8})_(?P<secret>[0-9a-f]{64})_(?P<check>[0-9a-f]{8})")


_MISTYPED = "this is no key: one looks like mr_ID_SECRET_CHECK, and this was cut or mistyped"


class Key(Struct, frozen=True):
    """A key as it is kept; times in whole seconds since 1970."""

    id: str
    name: str
    scopes: tuple[str, ...]
    hash: str
    created: int
    expires: int | None = None

    def ended(self, now: float) -> bool:
        """Whether its time is over."""
        return self.expires is not None and now >= self.expires


class KeyTold(TypedDict):
    """A key as it is told of, without its secret."""

    id: str
    name: str
    scopes: list[str]
    created: str
    expires: str | None
    expired: bool


class NoKey(Exception):
    """What was given as a key is none, or none any more."""


class Keys:
    """The keys of one ledger, as all of its processes know them."""

    def __init__(self, ledger: Path) -> None:
        self._file = PrivateFile(ledger, KEYS, Key)

    def all(self) -> tuple[Key, ...]:
        """Every key, in the order they were made."""
        return self._file.all()

    def make(
        self, scopes: tuple[str, ...], name: str = "", expires: int | None = None
    ) -> tuple[Key, str]:
        """A new key, and how it is spelled: nobody will know that a second time."""
        with self._file.changing() as keys:
            taken = {one.id for one in keys}
            id_ = secrets.token_hex(4)
            while id_ in taken:
                id_ = secrets.token_hex(4)
            secret = secrets.token_hex(32)
            key = Key(id_, name, scopes, _hash(secret), int(time.time()), expires)
            keys.append(key)
        spelled = f"{PREFIX}_{id_}_{secret}"
        return key, f"{spelled}_{_check(spelled)}"

    def revoke(self, id_: str) -> bool:
        """No more of this key; whether there was one."""
        with self._file.changing() as keys:
            left = [one for one in keys if one.id != id_]
            gone = len(left) < len(keys)
            keys[:] = left
        return gone

    def known(self, spelled: str, now: float | None = None) -> Key:
        """The key of this spelling; `NoKey` says what is wrong, and never which part was right."""
        said = _KEY.fullmatch(spelled)
        if said is None or said["check"] != _check(spelled.rpartition("_")[0]):
            raise NoKey(_MISTYPED)
        digest = _hash(said["secret"])
        found = next((one for one in self.all() if one.id == said["id"]), None)
        if not compare_digest(digest, found.hash if found else _hash("")) or found is None:
            raise NoKey("nobody here knows this key: it was revoked, or is another ledger's")
        if found.ended(time.time() if now is None else now):
            raise NoKey("this key has expired: muckrake key create makes another")
        return found


def as_json(key: Key) -> KeyTold:
    """A key as it is listed, here and by `muckrake key list`."""
    return {
        "id": key.id,
        "name": key.name,
        "scopes": list(key.scopes),
        "created": moment(key.created),
        "expires": None if key.expires is None else moment(key.expires),
        "expired": key.ended(time.time()),
    }


def moment(seconds: int) -> str:
    """Seconds since 1970 as RFC 3339."""
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


def _check(text: str) -> str:
    return f"{zlib.crc32(text.encode()):08x}"


def _hash(secret: str) -> str:
    return sha256(b"muckrake/api-key/v1\x00" + secret.encode()).hexdigest()
