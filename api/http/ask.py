"""Who is asking: a caller's scopes, the viewpoint he asks from, and the service that answers him.

`?as=VIEW` chooses among the viewpoints that a caller has; without it he sees the most he may.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from fastapi import Depends, Query, Request
from msgspec import Struct

from api.http.keys import ADMIN, AUDIT, READ, SEAT_SCOPE, WRITE
from api.http.ledger_service import LedgerService
from api.problem import Problem
from api.viewpoints.viewer import (
    AUDITOR,
    PUBLIC,
    SEAT,
    NoViewpoint,
    ShowProgress,
    Viewer,
    viewer_of,
)
from api.viewpoints.views import Viewed
from store.reader import Snapshot

__all__ = ["ADMIN", "AUDIT", "READ", "WRITE", "Ask", "Access", "Caller", "access"]


class Caller(Struct, frozen=True):
    """A key's or a login's name and scopes; who has neither may read what is public."""

    name: str | None = None
    scopes: frozenset[str] = frozenset({READ})
    id: str | None = None  # of the key or session, for logs and limits

    def viewer(self, wanted: str | None) -> Viewer:
        """The viewpoint he asks for, if it is his; the one that sees most, if he names none."""
        if wanted is None:
            return self._best()
        try:
            viewer = viewer_of(wanted)
        except NoViewpoint as reason:
            raise Problem("bad-request", str(reason)) from None
        if viewer.view == PUBLIC or AUDIT in self.scopes:
            return viewer
        seats = self._seats()
        if viewer.player is not None and viewer.player in seats:
            return Viewer(viewer.view, seats[viewer.player])
        raise Problem("forbidden", f"{wanted[:80]} is not among the viewpoints of this caller")

    def has(self, scope: str) -> bool:
        """Whether he may do what the scope is for; an auditor sees what every seat sees."""
        if parts := SEAT_SCOPE.fullmatch(scope):
            seats = self._seats()
            whole = parts["name"] in seats and not seats[parts["name"]]
            return bool({scope, AUDIT} & self.scopes) or whole
        return scope in self.scopes

    def _best(self) -> Viewer:
        if AUDIT in self.scopes:
            return Viewer(AUDITOR)
        seats = self._seats()
        name = min(seats, default=None)
        return Viewer() if name is None else Viewer(f"{SEAT}{name}", seats[name])

    def _seats(self) -> dict[str, tuple[str, ...]]:
        """The matches of each seat that is his; all of them where none is named."""
        seats: dict[str, set[str] | None] = {}
        for scope in self.scopes:
            if parts := SEAT_SCOPE.fullmatch(scope):
                known = seats.setdefault(parts["name"], set())
                if parts["match"] is None or known is None:
                    seats[parts["name"]] = None
                else:
                    known.add(parts["match"])
        return {name: tuple(sorted(matches or ())) for name, matches in seats.items()}


class Access:
    """One request's caller, viewpoint and service; `path` is what cursors are written for."""

    def __init__(
        self, caller: Caller, viewer: Viewer, service: LedgerService, path: str = ""
    ) -> None:
        self.caller = caller
        self.viewer = viewer
        self.service = service
        self.path = path

    @property
    def owner(self) -> str:
        """Whose a job of his is: a key's or a session's; the name, where there is neither."""
        return self.caller.id or self.caller.name or ""

    @property
    def watch(self) -> ShowProgress:
        """What is called with how far a long answer is, if somebody looks."""
        return self.service.watch

    def needs(self, scope: str) -> None:
        """Refused before anything is looked up."""
        if scope not in self.caller.scopes:
            raise Problem("forbidden", f"this needs a key with the scope {scope}")

    def snapshot(self) -> Snapshot:
        """The ledger of this moment for this viewer."""
        return self.service.snapshot(self.viewer)

    @contextmanager
    def viewed(self, unit: str | None = None, by_tag: str | None = None) -> Iterator[Viewed]:
        """The ledger as this viewer sees it; of hands that are played for `unit`, and of
        players as `by_tag` calls them, if named."""
        with self.service.viewed(self.viewer) as viewed:
            yield viewed.of(unit, by_tag)

    def cursor(self, last: Any, *about: Any) -> str | None:
        """Where this list goes on after the key `last`; None if it does not (`last` is None).

        `about` is whatever else decides what is in the list: its filter as written, its order.
        Path and viewpoint need not be named. Keys and `about` are plain values, as JSON has them.
        """
        if last is None:
            return None
        return self.service.cursors.written(last, self.path, self._viewpoint(), *about)

    def after(self, cursor: str | None, *about: Any) -> Any:
        """The key that a cursor of this list was written of; None without a cursor."""
        if cursor is None:
            return None
        return self.service.cursors.read(cursor, self.path, self._viewpoint(), *about)

    def _viewpoint(self) -> tuple[str, tuple[str, ...]]:
        return self.viewer.view, self.viewer.matches


async def access(
    request: Request,
    view: Annotated[str | None, Query(alias="as", description="The viewpoint asked from.")] = None,
) -> Access:
    """For every route that shows something of the ledger."""
    caller: Caller = getattr(request.state, "caller", Caller())
    viewer = caller.viewer(view)
    request.state.view = viewer.view
    return Access(caller, viewer, request.app.state.service, request.url.path)


Ask = Annotated[Access, Depends(access)]
