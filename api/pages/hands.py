"""`/hands`: the hands that a filter finds, each on one line; the filter stands in the address."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse, Response
from msgspec.structs import asdict

from api.http.ask import Ask
from api.http.routes.questions import page_of
from api.pages.addresses import Addresses
from api.pages.disputed_hands import AT_ONCE
from api.pages.find import place
from api.pages.hand_line import taken_apart
from api.pages.site import page
from api.questions.declared.hands import QUESTION
from api.questions.facets import FACETS, facets
from api.questions.filters import WrongFilter, parsed, said
from api.questions.filters_sql import asks_verdicts
from api.questions.filters_tree import FIELDS, FLAGS
from api.questions.verdicts import verdicts_of

router = APIRouter(include_in_schema=False)
LISTED = 50  # hands of a page
COUNTED_AT_ONCE = 100_000  # hands of a ledger; in a larger one the list comes before its counts
EXAMPLES = (
    "pot>100 & showdown",
    "contested",
    "player(auction-won & price>100 & showdown & collected=0)",
    "board=As?? & street=river",
    "hole=AA | hole=KK",
)


@router.get("/hands")
def hands(
    request: Request,
    ask: Ask,
    q: Annotated[str, Query(max_length=2_000)] = "",
    after: Annotated[str | None, Query(max_length=500)] = None,
    order: Literal["newest", "oldest"] = "newest",
    counts: Literal["now", "later"] | None = None,
) -> Response:
    context: dict[str, Any] = {
        "q": q.strip(),
        "order": order,
        "kept": None if order == "newest" else order,
        "further": after is not None,
        "fields": FIELDS,
        "flags": FLAGS,
        "examples": EXAMPLES,
    }
    try:
        one = parsed(q)
    except WrongFilter as wrong:
        typing = request.headers.get("hx-request") is not None
        with ask.viewed() as viewed:
            at = place(viewed, Addresses(request.query_params.get("as")), q.strip())
        if at is not None and not typing:
            return RedirectResponse(at, 303)
        status = 200 if typing else 400
        return page(request, ask, "hands.html", wrong=wrong, place=at, status=status, **context)
    with ask.viewed() as viewed:
        judged = verdicts_of(viewed.snapshot).known(viewed.snapshot, AT_ONCE)
        waiting = asks_verdicts(one) and judged.left > 0
        if waiting and ask.viewer.auditor:
            ask.service.judging.begin(viewed.snapshot)
        few = viewed.snapshot.next_seq <= COUNTED_AT_ONCE
        counting = after is None and (counts == "now" or (few and counts is None))
        asked = {"filter": said(one), "newest": order == "newest"}
        found, following = page_of(QUESTION, ask, viewed, LISTED, after, asked)
        context |= {
            "rows": [asdict(row) | {"line": taken_apart(row.line or "")} for row in found.rows],
            "following": following,
            "counted": facets(viewed, one, judged) if counting else None,
            "left": judged.left,
            "waiting": waiting and (ask.viewer.auditor or bool(viewed.opened)),
            "known": judged.rows.num_rows,
            "hands": viewed.rows("SELECT count(*) AS hands FROM hands")[0]["hands"]
            if waiting
            else 0,
        }
    return page(request, ask, "hands.html", wrong=None, place=None, facets=FACETS, **context)
