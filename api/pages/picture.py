"""`/hands/MATCH/NUMBER/picture`: the table at a moment as an SVG, to be put into a letter.

It is the felt of the replayer, by its template and its style sheets, with what happened and the
hand so far on one line beneath. It needs nothing else: no script, no font, no other address.
"""

from functools import cache
from math import ceil
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from api.http.ask import Ask
from api.pages.hands import drawn
from api.pages.site import STATIC, TEMPLATES, sent
from api.problem import Problem
from api.questions.frames import frames, in_words, opening
from api.questions.hand import place_of
from api.questions.one_line import line_of
from api.rules import Rules

router = APIRouter(include_in_schema=False)
STYLES = ("style.css", "replayer.css")
WIDE, LINE, LETTERS = 900, 20, 110  # in its own units: a line of notation holds so many letters
HIGH = 540  # without its notation
_SVG = 'xmlns="http://www.w3.org/2000/svg"'


@cache
def style() -> str:
    """Colours, cards and the felt, without what follows from the width of a window."""
    return "".join((STATIC / name).read_text("utf-8").partition("@media")[0] for name in STYLES)


@router.get("/hands/{match}/{number}/picture")
def picture(
    request: Request,
    ask: Ask,
    match: str,
    number: str,
    at: Annotated[int | None, Query(ge=0, lt=2**31)] = None,
) -> Response:
    """The table after one event, as its viewer sees it; without `at`, as it is last."""
    with ask.viewed() as viewed:
        redacted_hand = viewed.redacted_hand(f"{match}/{number}")
        start = opening(redacted_hand)
        if start is None:
            raise Problem("conflict", f"{redacted_hand.stream} does not begin as a hand does")
        game = Rules(viewed.snapshot, None).marked(start.ruleset)
        unit = viewed.redactor.units.get(start.ruleset)
    document = frames(redacted_hand, ask.viewer.view, game)
    place = place_of(document, at)
    notation = line_of([event.seen for event in redacted_hand.events[: place + 1]])
    drawing = TEMPLATES.get_template("picture.svg").render(
        one=drawn(document, in_words(redacted_hand))[place],
        last=len(document["frames"]) - 1,
        hand=redacted_hand.stream,
        start=start,
        unit=unit,
        viewer=ask.viewer,
        notation=notation,
        style=style(),
        wide=WIDE,
        high=HIGH + LINE * ceil(len(notation) / LETTERS),
    )
    # shapes that a page draws among its own elements are SVG only by name in a document of XML
    body = drawing.replace("<svg ", f"<svg {_SVG} ").replace(f"{_SVG} {_SVG}", _SVG)
    return sent(request, body.encode(), kind="image/svg+xml")
