"""HTTP problem documents (RFC 9457): every kind of problem with its status and title.

No sentence tells a caller what he may not see: a request is forbidden before anything is looked up.
"""

from typing import Any, NamedTuple

PROBLEM_JSON = "application/problem+json"


class ProblemKind(NamedTuple):
    """The status and the title of a kind of problem."""

    status: int
    title: str


PROBLEM_KINDS: dict[str, ProblemKind] = {
    "bad-request": ProblemKind(400, "The request cannot be understood"),
    "wrong-filter": ProblemKind(400, "The filter cannot be read"),
    "wrong-cursor": ProblemKind(400, "The cursor is not one of ours"),
    "query-refused": ProblemKind(400, "The query is not answered"),
    "unauthenticated": ProblemKind(401, "The key is not known"),
    "forbidden": ProblemKind(403, "This viewpoint may not see that"),
    "not-found": ProblemKind(404, "There is no such thing"),
    "method-not-allowed": ProblemKind(405, "This is not done here"),
    "not-acceptable": ProblemKind(406, "There is no such format of it"),
    "too-slow": ProblemKind(408, "It came too slowly"),
    "conflict": ProblemKind(409, "Something stands against it"),
    "too-large": ProblemKind(413, "That is too much at once"),
    "uri-too-long": ProblemKind(414, "The address is too long"),
    "unsupported-media-type": ProblemKind(415, "This kind of content is not read"),
    "misdirected": ProblemKind(421, "This server has another name"),
    "invalid": ProblemKind(422, "A value is not what it should be"),
    "too-many-requests": ProblemKind(429, "Too many requests"),
    "headers-too-large": ProblemKind(431, "The headers are too long"),
    "internal": ProblemKind(500, "It failed here"),
    "damaged": ProblemKind(500, "The ledger is damaged"),
    "unavailable": ProblemKind(503, "It cannot be answered now"),
    "no-room": ProblemKind(507, "There is no room for it"),
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
        return PROBLEM_KINDS[self.kind].status

    def document(self) -> dict[str, Any]:
        """The JSON members of the problem document."""
        kind = PROBLEM_KINDS[self.kind]
        named = {"type": f"{URN}{self.kind}", "title": kind.title}
        return {**named, "status": kind.status, "detail": self.detail, **self.members}

    def after(self, seconds: float) -> "Problem":
        """The same problem, with a `Retry-After` header."""
        self.headers["Retry-After"] = str(max(1, round(seconds)))
        return self
