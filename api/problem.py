"""What goes wrong over HTTP, as problem documents (RFC 9457): a name that stays, and one sentence.

No sentence tells what its reader may not see: what is forbidden is said before anybody looks
whether it exists.
"""

from typing import Any, NamedTuple

JSON = "application/problem+json"


class Kind(NamedTuple):
    """A kind of problem: its status, and its title in the words of every such document."""

    status: int
    title: str


KINDS: dict[str, Kind] = {
    "bad-request": Kind(400, "The request cannot be understood"),
    "wrong-filter": Kind(400, "The filter cannot be read"),
    "wrong-cursor": Kind(400, "The cursor is not one of ours"),
    "query-refused": Kind(400, "The query is not answered"),
    "unauthenticated": Kind(401, "The key is not known"),
    "forbidden": Kind(403, "This viewpoint may not see that"),
    "not-found": Kind(404, "There is no such thing"),
    "method-not-allowed": Kind(405, "This is not done here"),
    "not-acceptable": Kind(406, "There is no such format of it"),
    "too-slow": Kind(408, "It came too slowly"),
    "conflict": Kind(409, "Something stands against it"),
    "too-large": Kind(413, "That is too much at once"),
    "uri-too-long": Kind(414, "The address is too long"),
    "unsupported-media-type": Kind(415, "This kind of content is not read"),
    "misdirected": Kind(421, "This server has another name"),
    "invalid": Kind(422, "A value is not what it should be"),
    "too-many-requests": Kind(429, "Too many requests"),
    "headers-too-large": Kind(431, "The headers are too long"),
    "internal": Kind(500, "It failed here"),
    "damaged": Kind(500, "The ledger is damaged"),
    "unavailable": Kind(503, "It cannot be answered now"),
    "no-room": Kind(507, "There is no room for it"),
}
URN = "urn:muckrake:problem:"
_HEADERS = {"unauthenticated": {"WWW-Authenticate": 'Bearer realm="muckrake"'}}


class Problem(Exception):
    """A refusal or a failure: its kind, its sentence, and members of its own."""

    def __init__(self, kind: str, detail: str, **members: Any) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail
        self.members = members
        self.headers: dict[str, str] = dict(_HEADERS.get(kind, {}))

    @property
    def status(self) -> int:
        return KINDS[self.kind].status

    def document(self) -> dict[str, Any]:
        """As it is sent."""
        kind = KINDS[self.kind]
        named = {"type": f"{URN}{self.kind}", "title": kind.title}
        return {**named, "status": kind.status, "detail": self.detail, **self.members}

    def after(self, seconds: float) -> "Problem":
        """The same problem, with the time after which to try again."""
        self.headers["Retry-After"] = str(max(1, round(seconds)))
        return self
