"""`/hands`: the hands that a filter finds, each on one line; the filter stands in the address."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from api.http.ask import Ask
from api.pages.disputed_hands import AT_ONCE
from api.pages.hand_line import taken_apart
from api.pages.site import page
from api.questions.facets import FACETS, facets
from api.questions.filters import WrongFilter, parsed, said
from api.questions.filters_tree import FIELDS, FLAGS
from api.questions.lines import lines
from api.questions.listing import page as listed

router = APIRouter(include_in_schema=False)
LISTED = 50  # hands of a page
COUNTED_AT_ONCE = 100_000  # hands of a ledger; in a larger one the list comes before its counts
EXAMPLES = (
    "pot>100 & showdown",
    "contested",
    "auction-lost & net>=40",
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
        status = 200 if typing else 400
        return page(request, ask, "hands.html", wrong=wrong, status=status, **context)
    with ask.viewed() as viewed:
        judged = ask.service.verdicts.known(viewed.snapshot, AT_ONCE)
        few = viewed.snapshot.next_seq <= COUNTED_AT_ONCE
        counting = after is None and (counts == "now" or (few and counts is None))
        key = ask.after(after, said(one), order)
        found = listed(viewed, one, key, LISTED, order == "newest", judged)
        told = lines(viewed, [row["hand"] for row in found.rows])
        context |= {
            "rows": [
                {**row, "line": taken_apart(line or "")}
                for row, line in zip(found.rows, told, strict=True)
            ],
            "following": ask.cursor(found.next, said(one), order),
            "counted": facets(viewed, one, judged) if counting else None,
            "left": judged.left,
        }
    return page(request, ask, "hands.html", wrong=None, facets=FACETS, **context)
