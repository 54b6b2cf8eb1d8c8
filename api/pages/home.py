"""`/`: what this is, search, what is played, disputed and newest; or first steps."""

from collections.abc import Iterable, Sequence

from fastapi import APIRouter, Request
from fastapi.responses import Response
from msgspec.structs import asdict

from api.http.ask import Ask
from api.http.routes.questions import page_of
from api.pages.disputed_hands import disputed_hands
from api.pages.hand_line import taken_apart
from api.pages.matches import with_rules
from api.pages.site import page
from api.problem import Problem
from api.questions.declared import hands
from api.questions.declared.matches import MatchRow, Which, matches, played_of, rows_of
from api.viewpoints.progress import without_progress
from api.viewpoints.views import Viewed
from store.snapshot import NoLedger

router = APIRouter(include_in_schema=False)
LISTED = 10
HANDS = 8


@router.get("/")
def home(request: Request, ask: Ask, judge: bool = False) -> Response:
    try:
        with ask.viewed() as viewed:
            found = matches(viewed, Which(newest=True, limit=LISTED), without_progress)
            rows = with_rules(viewed, found.rows)
            totals = viewed.rows(TOTALS)[0]
            disputed = disputed_hands(ask, viewed, totals["hands"], judge=judge)
            newest, _ = page_of(hands.QUESTION, ask, viewed, HANDS, None, {"newest": True})
            running = _running(viewed, found.rows, [row.match for row in newest.rows])
    except (NoLedger, Problem) as none:
        if isinstance(none, Problem) and none.kind != "unavailable":
            raise
        return page(request, ask, "first_steps.html")
    if not rows:
        return page(request, ask, "first_steps.html")
    return page(
        request,
        ask,
        "home.html",
        rows=rows,
        running=running,
        newest=[asdict(row) | {"line": taken_apart(row.line or "")} for row in newest.rows],
        totals=totals,
        disputed=disputed,
    )


def _running(viewed: Viewed, newest: Sequence[MatchRow], played: Iterable[str]) -> list[MatchRow]:
    """Announced matches that have not ended: the newest ones, and those of the last hands."""
    known = {row.match for row in newest}
    others = {name: played_of(viewed, name) for name in dict.fromkeys(played) if name not in known}
    rows = [*rows_of(viewed, others), *newest]
    return [row for row in rows if row.dealing is not None and not row.ended]


TOTALS = """
SELECT count(*) AS hands, count(DISTINCT match) AS matches, max(last_at) AS last FROM hands
"""
