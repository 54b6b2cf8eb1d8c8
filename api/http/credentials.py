"""Who may ask for what: API keys (`mr_ID_SECRET_CHECK`), logins of browsers, and their scopes,
kept in the ledger's private folder for all of its processes:

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
"""

import os
import re
import secrets
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path
from typing import Any, Generic, Literal, TypedDict, TypeVar

import msgspec
from msgspec import Struct

from store.folder.disk import lock_file, make_durable_folder
from store.proof.ledger_secrets import SecretFolder

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


class UnknownScope(ValueError):
    """A text that is no scope."""


def checked_scope(text: str) -> str:
    """The scope that a text names, as it is written; else an error that lists all scopes."""
    if text in SCOPES or SEAT_SCOPE.fullmatch(text):
        return text
    raise UnknownScope(
        f"there is no scope {text[:80]}: there are {', '.join((*SCOPES, *SEAT_SCOPES))}"
    )


KEYS_FILE = "keys"
LOGINS_FILE = "logins"
T = TypeVar("T")


@contextmanager
def locked_private_folder(ledger: Path) -> Iterator[SecretFolder]:
    """Open the ledger's private folder, made if need be, while no other process changes keys or
    logins."""
    folder = SecretFolder(ledger).folder
    make_durable_folder(ledger, 0o700)
    folder.mkdir(0o700, exist_ok=True)
    handle = os.open(folder / "http.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        lock_file(handle)
        yield SecretFolder(ledger)
    finally:
        os.close(handle)


class PrivateFile(Generic[T]):
    """A file of keys or logins in the private folder, read again when it has changed."""

    def __init__(self, ledger: Path, name: str, kind: type[T]) -> None:
        self._ledger = ledger
        self._name = name
        self._kind = kind
        self._path = SecretFolder(ledger).folder / name
        self._read: tuple[Any, tuple[T, ...]] = (None, ())

    def items(self) -> tuple[T, ...]:
        """Everything in the file; read again only if the file is another."""
        try:
            found = self._path.stat()
        except FileNotFoundError:
            return ()
        mark = (found.st_ino, found.st_mtime_ns, found.st_size)
        if self._read[0] != mark:
            self._read = (mark, self._read_items(SecretFolder(self._ledger)))
        return self._read[1]

    @contextmanager
    def changing(self) -> Iterator[list[T]]:
        """A list of the file's items to change; written durably at the end, if it was changed."""
        with locked_private_folder(self._ledger) as private:
            before = self._read_items(private)
            things = list(before)
            yield things
            if tuple(things) != before:
                private.write(self._name, msgspec.json.encode(things) + b"\n")

    def _read_items(self, private: SecretFolder) -> tuple[T, ...]:
        text = private.read(self._name)
        return () if text is None else msgspec.json.decode(text, type=tuple[self._kind, ...])  # type: ignore[name-defined]


PREFIX = "mr"
_KEY = re.compile(r"mr_(?P<id>[0-9a-f]{8})_(?P<secret>[0-9a-f]{64})_(?P<check>[0-9a-f]{8})")
_MISTYPED = "this is no key: one looks like mr_ID_SECRET_CHECK, and this was cut or mistyped"


class Key(Struct, frozen=True):
    """An API key as it is kept; times in whole seconds since 1970."""

    id: str
    name: str
    scopes: tuple[str, ...]
    hash: str
    created: int
    expires: int | None = None

    def has_expired(self, now: float) -> bool:
        """Whether the key's time is over."""
        return self.expires is not None and now >= self.expires


class KeyDocument(TypedDict):
    """A key as JSON, without its secret."""

    id: str
    name: str
    scopes: list[str]
    created: str
    expires: str | None
    expired: bool


class InvalidKey(Exception):
    """A text that is no key, or a key that was revoked or has expired."""


class Keys:
    """The keys of one ledger, as all of its processes know them."""

    def __init__(self, ledger: Path) -> None:
        self._file = PrivateFile(ledger, KEYS_FILE, Key)

    def all(self) -> tuple[Key, ...]:
        """Every key, in the order they were made."""
        return self._file.items()

    def make(
        self, scopes: tuple[str, ...], name: str = "", expires: int | None = None
    ) -> tuple[Key, str]:
        """Make a key; also its whole text, which is not kept and cannot be shown again."""
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
        """Revoke a key; whether there was one."""
        with self._file.changing() as keys:
            left = [key for key in keys if key.id != id_]
            gone = len(left) < len(keys)
            keys[:] = left
        return gone

    def find(self, spelled: str, now: float | None = None) -> Key:
        """The key of this text; `InvalidKey` says what is wrong, and never which part was right."""
        parts = _KEY.fullmatch(spelled)
        if parts is None or parts["check"] != _check(spelled.rpartition("_")[0]):
            raise InvalidKey(_MISTYPED)
        digest = _hash(parts["secret"])
        key = next((one for one in self.all() if one.id == parts["id"]), None)
        if not compare_digest(digest, key.hash if key else _hash("")) or key is None:
            raise InvalidKey("nobody here knows this key: it was revoked, or is another ledger's")
        if key.has_expired(time.time() if now is None else now):
            raise InvalidKey("this key has expired: muckrake key create makes another")
        return key


def as_json(key: Key) -> KeyDocument:
    """A key as it is listed, here and by `muckrake key list`."""
    return {
        "id": key.id,
        "name": key.name,
        "scopes": list(key.scopes),
        "created": rfc3339(key.created),
        "expires": None if key.expires is None else rfc3339(key.expires),
        "expired": key.has_expired(time.time()),
    }


def rfc3339(seconds: int) -> str:
    """Seconds since 1970 as RFC 3339."""
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


def _check(text: str) -> str:
    return f"{zlib.crc32(text.encode()):08x}"


def _hash(secret: str, kind: str = "api-key") -> str:
    return sha256(f"muckrake/{kind}/v1\x00{secret}".encode()).hexdigest()


LINK_S = 10 * 60
SESSION_S = 12 * 60 * 60


class Login(Struct, frozen=True):
    """A login link that nobody has opened, or a session; `until` in seconds since 1970."""

    kind: Literal["link", "session"]
    hash: str
    scopes: tuple[str, ...]
    until: int

    @property
    def id(self) -> str:
        """The name of a session in logs."""
        return self.hash[:8]


class Sessions:
    """The login links and sessions of one ledger, as all of its processes know them."""

    def __init__(self, ledger: Path) -> None:
        self._ledger = ledger
        self._file = PrivateFile(ledger, LOGINS_FILE, Login)

    @property
    def cookie_name(self) -> str:
        """The name of the session's cookie; another for each ledger, for a browser has one jar
        for all ports of a host."""
        return f"muckrake_{sha256(str(self._ledger.resolve()).encode()).hexdigest()[:8]}"

    def make_link(self, scopes: tuple[str, ...], seconds: int = LINK_S) -> str:
        """Make a login link, and return the token that opens it once."""
        token = secrets.token_urlsafe(32)
        now = int(time.time())
        with self._file.changing() as logins:
            logins[:] = [login for login in logins if now < login.until]
            logins.append(Login("link", _hash(token, "login"), scopes, now + seconds))
        return token

    def open_link(self, token: str, now: float | None = None) -> str | None:
        """Begin the session of a link's token; None if it was opened before, or is too old."""
        moment = time.time() if now is None else now
        with self._file.changing() as logins:
            link = _find_login(logins, "link", token)
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

    def find(self, token: str, now: float | None = None) -> Login | None:
        """The session of this cookie, if it still lasts."""
        session = _find_login(self._file.items(), "session", token)
        moment = time.time() if now is None else now
        return None if session is None or moment >= session.until else session

    def end(self, token: str) -> None:
        """End the session of this cookie."""
        with self._file.changing() as logins:
            found = _find_login(logins, "session", token)
            if found is not None:
                logins.remove(found)


def login_url(ledger: Path, base: str, scopes: tuple[str, ...], to: str = "/") -> str:
    """A link to this server that may be opened once, logs its browser in, and leads to a page."""
    from urllib.parse import urlencode

    query = {"once": Sessions(ledger).make_link(scopes)} | ({} if to == "/" else {"to": to})
    return f"{base.rstrip('/')}/login?{urlencode(query)}"


def _find_login(logins: list[Login] | tuple[Login, ...], kind: str, token: str) -> Login | None:
    digest = _hash(token, "login")
    same = (login for login in logins if login.kind == kind and compare_digest(login.hash, digest))
    return next(same, None)
