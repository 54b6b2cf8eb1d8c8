"""Where things are: the address of every page, with the viewpoint that was chosen."""

import re
from functools import cache
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote, urlencode

from msgspec import Struct
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from api.http.compression import PACKERS, encoding_of

STATIC = Path(__file__).parent / "static"
_FOREVER = "public, max-age=31536000, immutable"
_HASHED = re.compile(r"(?P<stem>.+)\.[0-9a-f]{12}(?P<kind>\.[a-z0-9]+)")


@cache
def hashed(name: str) -> str:
    """The address of a static file: `/static/style.<digest>.css`."""
    file = STATIC / name
    digest = sha256(file.read_bytes()).hexdigest()[:12]
    return f"/static/{Path(name).with_suffix('')}.{digest}{file.suffix}"


@cache
def packed(name: str, how: str) -> bytes:
    """A file in fewer bytes: packed once, for it is the same for everybody."""
    return PACKERS[how]()((STATIC / name).read_bytes(), True)


class Files(StaticFiles):
    """Static files; one that is asked for by its digest never changes."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        named = _HASHED.fullmatch(path)
        plain = f"{named['stem']}{named['kind']}" if named else path
        current = named is not None and (STATIC / plain).is_file() and hashed(plain).endswith(path)
        answer = await super().get_response(plain if current else path, scope)
        answer.headers["Cache-Control"] = _FOREVER if current else "no-cache"
        answer.headers["Vary"] = "Accept-Encoding"
        how = encoding_of(Headers(scope=scope).get("accept-encoding", ""))
        if not current or how is None or scope["method"] != "GET" or answer.status_code != 200:
            return answer
        headers = {name: answer.headers[name] for name in ("Cache-Control", "Content-Type", "Vary")}
        return Response(packed(plain, how), headers={**headers, "Content-Encoding": how})


def _part(name: object) -> str:
    return quote(str(name), safe="")


class Addresses(Struct, frozen=True):
    """Addresses, as seen from a page: whoever looks through other eyes goes on doing so."""

    view: str | None = None

    def home(self, **asked: str) -> str:
        return self._at("/", **asked)

    def page(self, *path: str, **asked: str) -> str:
        """Any page by the parts of its path, unless what is asked of it says through whose eyes."""
        asked = {**({} if self.view is None else {"as": self.view}), **asked}
        return Addresses()._at("/" + "/".join(map(_part, path)), **asked)

    def matches(self, after: str | None = None) -> str:
        return self._at("/matches", after=after)

    def match(self, match: str, **asked: str | int | None) -> str:
        return self._at(f"/matches/{_part(match)}", **asked)

    def hands(self, q: str = "", **asked: str | int | None) -> str:
        """The hands that a filter finds."""
        return self._at("/hands", q=q or None, **asked)

    def hand(self, hand: str, page: str = "", event: int | None = None) -> str:
        """A page of a hand MATCH/NUMBER: its replay, `audit` or `events`."""
        match, _, number = hand.rpartition("/")
        at = self._at(f"/hands/{_part(match)}/{_part(number)}" + (f"/{page}" if page else ""))
        return at if event is None else f"{at}#{event}"

    def players(self) -> str:
        return self._at("/players")

    def player(self, name: str, page: str = "", **asked: str | int | tuple[str, ...] | None) -> str:
        """A page of a player: `grid`, `winnings`, `bids` or `swaps`, or himself."""
        return self._at(f"/players/{_part(name)}" + (f"/{page}" if page else ""), **asked)

    def place(self, template: str, named: dict[str, str], **asked: str | int | None) -> str:
        """The page of a question: an address with names in braces, and its parameters."""
        return self._at(template.format_map({key: _part(it) for key, it in named.items()}), **asked)

    def fairness(self, match: str | None = None, run: str | None = None) -> str:
        return self._at("/fairness", match=match, run=run)

    def live(self, match: str | None = None) -> str:
        return self._at("/live", match=match)

    def embedded(self, *path: str, **asked: str | None) -> str:
        """A page that may stand in a frame of another site."""
        return self._at("/embed/" + "/".join(map(_part, path)), **asked)

    def verify(self) -> str:
        """Where a bundle is judged in the browser."""
        return self._at("/verify")

    def games(self) -> str:
        return self._at("/games")

    def game(self, game: str, policy: str | None = None) -> str:
        """A ruleset, or one of its policies."""
        at = self._at(f"/games/{_part(game)}")
        return at if policy is None else f"{at}#{_part(policy)}"

    def api(self, *path: str | int, **asked: str | int | tuple[str, ...] | None) -> str:
        """A path under `/api/v1`: `api("hands", match, number, "events")`."""
        return self._at("/api/v1/" + "/".join(map(_part, path)), **asked)

    def _at(self, path: str, **asked: str | int | tuple[str, ...] | None) -> str:
        given = {name: value for name, value in asked.items() if value not in (None, ())}
        if self.view is not None:
            given["as"] = self.view
        return f"{path}?{urlencode(given, doseq=True)}" if given else path
