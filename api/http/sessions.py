"""Browsers that may see more than the public: a link that works once, and the session it begins.

`muckrake serve` prints a link, `/login?once=TOKEN`. Who opens it first gets a cookie that no script
can read and no other site can send. Of both tokens only hashes are kept, in the ledger's private
folder, so any worker takes either, and a session outlives a restart.

Nothing is signed. Starlette's `SessionMiddleware` signs what a browser keeps: whoever has copied
such a cookie stays in after the logout, and a link that works once cannot be made of it.
"""

import secrets
import time
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path
from typing import Literal

from msgspec import Struct

from api.http.private_files import LOGINS, PrivateFile

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
        return self._add("link", scopes, seconds)

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
            logins.append(Login("session", _hash(session), link.scopes, int(moment) + SESSION_S))
        return session

    def session(self, token: str, now: float | None = None) -> Login | None:
        """The session of this cookie, if it still lasts."""
        found = _found(self._file.all(), "session", token)
        moment = time.time() if now is None else now
        return None if found is None or moment >= found.until else found

    def leave(self, token: str) -> None:
        """The session is over, wherever it is asked for."""
        with self._file.changing() as logins:
            found = _found(logins, "session", token)
            if found is not None:
                logins.remove(found)

    def _add(self, kind: Literal["link", "session"], scopes: tuple[str, ...], seconds: int) -> str:
        token = secrets.token_urlsafe(32)
        now = int(time.time())
        with self._file.changing() as logins:
            logins[:] = [one for one in logins if now < one.until]
            logins.append(Login(kind, _hash(token), scopes, now + seconds))
        return token


def once_url(ledger: Path, base: str, scopes: tuple[str, ...], to: str = "/") -> str:
    """A link to this server that may be opened once, and leads to a page of it."""
    from urllib.parse import urlencode

    asked = {"once": Sessions(ledger).link(scopes)} | ({} if to == "/" else {"to": to})
    return f"{base.rstrip('/')}/login?{urlencode(asked)}"


def _found(logins: list[Login] | tuple[Login, ...], kind: str, token: str) -> Login | None:
    digest = _hash(token)
    same = (one for one in logins if one.kind == kind and compare_digest(one.hash, digest))
    return next(same, None)


def _hash(token: str) -> str:
    return sha256(b"muckrake/login/v1\x00" + token.encode()).hexdigest()
