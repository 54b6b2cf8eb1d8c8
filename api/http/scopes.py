"""What a key or a login may be good for."""

import re

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
