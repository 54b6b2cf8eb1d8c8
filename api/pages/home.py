"""`/`: the last matches, what is disputed in them, or the first steps where there is no ledger."""

from fastapi import APIRouter, Request
from fastapi.responses import Response

from api.http.ask import Ask
from api.pages.disputed_hands import disputed_hands
from api.pages.matches import with_rules
from api.pages.site import page
from api.problem import Problem
from api.questions import matches
from store.snapshot import NoLedger

router = APIRouter(include_in_schema=False)
LISTED = 10


@router.get("/")
def home(request: Request, ask: Ask, judge: bool = False) -> Response:
    try:
        with ask.viewed() as viewed:
            found = matches.page(viewed, None, LISTED, newest=True)
            rows = with_rules(viewed, found.rows)
            totals = viewed.rows(TOTALS)[0]
            disputed = disputed_hands(ask, viewed, totals["hands"], judge=judge)
    except (NoLedger, Problem) as none:
        if isinstance(none, Problem) and none.kind != "unavailable":
            raise
        return page(request, ask, "first_steps.html")
    if not rows:
        return page(request, ask, "first_steps.html")
    return page(request, ask, "home.html", rows=rows, totals=totals, disputed=disputed)


TOTALS = """
SELECT count(*) AS hands, count(DISTINCT match) AS matches, max(last_at) AS last FROM hands
"""
