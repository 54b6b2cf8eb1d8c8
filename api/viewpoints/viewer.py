"""Viewers: a viewpoint by name, and in which matches a seat is his."""

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct

PUBLIC = "public"
AUDITOR = "auditor"
SEAT = "seat:"


class UnknownViewpoint(ValueError):
    """A viewpoint that nobody could have."""


class Viewer(Struct, frozen=True):
    """A viewpoint: `public`, `seat:NAME` or `auditor`.

    A seat may be his in some matches only; elsewhere he sees what the public does.
    """

    view: str = PUBLIC
    matches: tuple[str, ...] = ()

    @property
    def auditor(self) -> bool:
        return self.view == AUDITOR

    @property
    def player(self) -> str | None:
        """The player whose seat the viewpoint is, if it is one."""
        return self.view.removeprefix(SEAT) if self.view.startswith(SEAT) else None

    @property
    def label(self) -> str:
        """The viewer's name in a sentence: the public, an auditor, or the player."""
        return {PUBLIC: "the public", AUDITOR: "an auditor"}.get(self.view) or self.player or ""

    def sits_in(self, match: str) -> bool:
        """Whether his seat is his in this match, if anybody of that name plays it."""
        return self.player is not None and (not self.matches or match in self.matches)


def viewer_of(view: str) -> Viewer:
    """The viewpoint of this name; a name that nobody could have is refused."""
    if view in (PUBLIC, AUDITOR) or (view.startswith(SEAT) and view != SEAT):
        return Viewer(view)
    raise UnknownViewpoint(f"{view} is no viewpoint: there are public, seat:NAME and auditor")


ShowProgress = Callable[[Iterable[Any], str, int], Iterable[Any]]


def without_progress(items: Iterable[Any], doing: str, total: int) -> Iterable[Any]:
    """Pass the items on, and show no progress."""
    return items
