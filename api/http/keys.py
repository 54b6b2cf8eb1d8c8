"""Who may ask for what: API keys (`mr_ID_SECRET_CHECK`), logins of browsers, and their scopes; and
what seals cursors. All of it is kept in the ledger's private folder, for all of its processes:

    private/cursor.key    what cursors are sealed with
    private/keys          API keys: hashes of their secrets, never a secret
    private/logins        login links and sessions of browsers: hashes as well

Any process may change these, so each change is made under a lock of its own, which is not the
ledger's: a key can be revoked while a match is being played. A reader takes none: files are
replaced as a whole, and read again when they are others.

The id names a key in lists and logs. The check refuses a key that was mistyped or cut before
anything is looked up; it proves nothing. The secret has 256 bits, so a plain SHA-256 of it can be
kept: nobody guesses it from there.

`muckrake serve` prints a link, `/login?once=TOKEN`, that works once. Who opens it first gets a
cookie that no script can read and no other site can send. Of both tokens only hashes are kept, so
any worker takes either, and a session outlives a restart. Nothing is signed. Starlette's
`SessionMiddleware` signs what a browser keeps: who has copied such a cookie stays in after the
logout, and a link that works once cannot be made of it.

A cursor says where a list goes on: it holds the last key that was sent. What the list was of (path,
viewpoint, filter, order) is sealed with it, so it opens nothing else. It is sealed by AES-SIV
(RFC 5297): the same place has the same cursor, so two answers that are alike are alike to the byte,
and a key that tells of what is hidden stays hidden in it: the package itsdangerous would sign it,
and leave it to be read by all. A cursor holds no snapshot's token, which counts hidden events.
"""

import binascii
import os
import re
import secrets
import time
import zlib
from base64 import b64decode, urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path
from typing import Any, Generic, Literal, TypedDict, TypeVar

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from msgspec import Struct

from api.problem import Problem
from store.folder.disk import lock_file, make_durable_folder
from store.proof.ledger_secrets import SecretExposed, SecretFolder

READ = "hands:read"
AUDIT = "audit:read"
WRITE = "matches:write"
ADMIN = "keys:admin"
SCOPES = {
    READ: "what is public, also in SQL",
    AUDIT: "everything, as the auditor sees it",
    WRITE: "play matches, import files, stop jobs",
    ADMIN: "make and revoke keys",
}
SEAT_SCOPES = {
    "seat:NAME": "what NAME sees, in every match that he plays",
    "seat:NAME@MATCH": "what NAME sees in this match",
}
SEAT_SCOPE = re.compile(r"seat:(?P<name>[^@]+)(?:@(?P<match>[^@/]+))?")


class NoScope(ValueError):
    """A scope that there is not."""


def scope_of(text: str) -> str:
    """A scope as it is spelled, or the sentence which there are."""
    if text in SCOPES or SEAT_SCOPE.fullmatch(text):
        return text
    raise NoScope(f"there is no scope {text[:80]}: there are {', '.join((*SCOPES, *SEAT_SCOPES))}")


CURSORS = "cursor.key"
KEYS = "keys"
LOGINS = "logins"
T = TypeVar("T")


@contextmanager
def alone(ledger: Path) -> Iterator[SecretFolder]:
    """The private folder, while no other process changes what we keep there; made if need be."""
    folder = SecretFolder(ledger).folder
    make_durable_folder(ledger, 0o700)
    folder.mkdir(0o700, exist_ok=True)
    handle = os.open(folder / "http.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        lock_file(handle)
        yield SecretFolder(ledger)
    finally:
        os.close(handle)


def cursor_key(ledger: Path) -> bytes:
    """The key that seals cursors; drawn by the process that needs it first."""
    text = SecretFolder(ledger).read(CURSORS)
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
        raise SecretExposed(
            f"{SecretFolder(ledger).folder / CURSORS} is not {2 * KEY_BYTES} hex digits"
        )
    return key


class PrivateFile(Generic[T]):
    """A file of things in the private folder, as it is now."""

    def __init__(self, ledger: Path, name: str, kind: type[T]) -> None:
        self._ledger = ledger
        self._name = name
        self._kind = kind
        self._path = SecretFolder(ledger).folder / name
        self._read: tuple[Any, tuple[T, ...]] = (None, ())

    def all(self) -> tuple[T, ...]:
        """Everything in it; read again only if the file is another."""
        try:
            found = self._path.stat()
        except FileNotFoundError:
            return ()
        mark = (found.st_ino, found.st_mtime_ns, found.st_size)
        if self._read[0] != mark:
            self._read = (mark, self._things(SecretFolder(self._ledger)))
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

    def _things(self, private: SecretFolder) -> tuple[T, ...]:
        text = private.read(self._name)
        return () if text is None else msgspec.json.decode(text, type=tuple[self._kind, ...])  # type: ignore[name-defined]


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


class KeyDocument(TypedDict):
    """A key as JSON, without its secret."""

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
            left = [key for key in keys if key.id != id_]
            gone = len(left) < len(keys)
            keys[:] = left
        return gone

    def known(self, spelled: str, now: float | None = None) -> Key:
        """The key of this spelling; `NoKey` says what is wrong, and never which part was right."""
        parts = _KEY.fullmatch(spelled)
        if parts is None or parts["check"] != _check(spelled.rpartition("_")[0]):
            raise NoKey(_MISTYPED)
        digest = _hash(parts["secret"])
        key = next((one for one in self.all() if one.id == parts["id"]), None)
        if not compare_digest(digest, key.hash if key else _hash("")) or key is None:
            raise NoKey("nobody here knows this key: it was revoked, or is another ledger's")
        if key.ended(time.time() if now is None else now):
            raise NoKey("this key has expired: muckrake key create makes another")
        return key


def as_json(key: Key) -> KeyDocument:
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


def _hash(secret: str, kind: str = "api-key") -> str:
    return sha256(f"muckrake/{kind}/v1\x00{secret}".encode()).hexdigest()


LINK_S = 10 * 60
SESSION_S = 12 * 60 * 60


class Login(Struct, frozen=True):
    """A link nobody has opened, or a session; `until` in seconds since 1970."""

    kind: Literal["link", "session"]
    hash: str
    scopes: tuple[str, ...]
    until: int

    @property
    def id(self) -> str:
        """What it is called in logs."""
        return self.hash[:8]


class Sessions:
    """Links and sessions of one ledger, as all of its processes know them."""

    def __init__(self, ledger: Path) -> None:
        self._ledger = ledger
        self._file = PrivateFile(ledger, LOGINS, Login)

    @property
    def cookie(self) -> str:
        """Its name; another for each ledger, for a browser has one jar for all ports of a host."""
        return f"muckrake_{sha256(str(self._ledger.resolve()).encode()).hexdigest()[:8]}"

    def link(self, scopes: tuple[str, ...], seconds: int = LINK_S) -> str:
        """The token of a link that somebody may open once."""
        token = secrets.token_urlsafe(32)
        now = int(time.time())
        with self._file.changing() as logins:
            logins[:] = [login for login in logins if now < login.until]
            logins.append(Login("link", _hash(token, "login"), scopes, now + seconds))
        return token

    def enter(self, token: str, now: float | None = None) -> str | None:
        """The session that a link begins; None if it was opened before, or is too old."""
        moment = time.time() if now is None else now
        with self._file.changing() as logins:
            link = _found(logins, "link", token)
            if link is None:
                return None
            logins.remove(link)  # whatever becomes of it, nobody opens it again
            if moment >= link.until:
                return None
            session = secrets.token_urlsafe(32)
            logins.append(
                Login("session", _hash(session, "login"), link.scopes, int(moment) + SESSION_S)
            )
        return session

    def session(self, token: str, now: float | None = None) -> Login | None:
        """The session of this cookie, if it still lasts."""
        session = _found(self._file.all(), "session", token)
        moment = time.time() if now is None else now
        return None if session is None or moment >= session.until else session

    def leave(self, token: str) -> None:
        """The session is over, wherever it is asked for."""
        with self._file.changing() as logins:
            found = _found(logins, "session", token)
            if found is not None:
                logins.remove(found)


def once_url(ledger: Path, base: str, scopes: tuple[str, ...], to: str = "/") -> str:
    """A link to this server that may be opened once, and leads to a page of it."""
    from urllib.parse import urlencode

    query = {"once": Sessions(ledger).link(scopes)} | ({} if to == "/" else {"to": to})
    return f"{base.rstrip('/')}/login?{urlencode(query)}"


def _found(logins: list[Login] | tuple[Login, ...], kind: str, token: str) -> Login | None:
    digest = _hash(token, "login")
    same = (login for login in logins if login.kind == kind and compare_digest(login.hash, digest))
    return next(same, None)
