"""`/fairness`: what was dealt, beside what chance alone would have dealt; for an auditor's eyes."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from analytics.fairness.dealing import LEVEL
from api.http.ask import Ask
from api.pages.players import Narrow, clean
from api.pages.site import page
from api.questions.declared.fairness import HANDS_MAX, FairnessParams, Tested
from api.questions.declared.fairness import fairness as tested_by
from api.viewpoints.selection import Absent

router = APIRouter(include_in_schema=False)
AT_ONCE = 3_000  # hands that are tested while somebody waits for a page


@router.get("/fairness")
def fairness(
    request: Request,
    ask: Ask,
    match: Narrow = None,
    run: Annotated[bool, Query()] = False,
) -> Response:
    name = clean(match)
    context: dict[str, Any] = {"match": name, "level": LEVEL, "hands_max": HANDS_MAX}
    context |= {"found": None, "why": None, "tested": (), "hands": 0}
    if not ask.viewer.auditor:
        return page(request, ask, "fairness.html", **context)
    ledger = ask.snapshot()
    hands = sum(1 for _ in ledger.hands(name)) if name else ledger.next_seq
    context["hands"] = hands
    if hands > (HANDS_MAX if run else AT_ONCE):
        return page(request, ask, "fairness.html", **context)
    try:
        with ask.viewed() as viewed:
            found = tested_by(viewed, FairnessParams(name))
    except Absent as reason:
        return page(request, ask, "fairness.html", **context | {"why": str(reason)})
    tested = [(one, judgement(one)) for one in found.tests]
    return page(request, ask, "fairness.html", **context | {"found": found, "tested": tested})


def judgement(test: Tested) -> str:
    """A test's verdict as one of the shapes that pages draw."""
    if test.counted is None:
        return "unknown"
    return "agree" if test.counted >= LEVEL else "differ"
