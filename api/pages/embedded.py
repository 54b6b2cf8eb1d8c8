"""Pages for other sites: a match's feed and a player's winnings in a frame, a table as a picture.

`/embed/...` stands in a frame of another site's page. It is what the public sees: a cookie makes no
difference. `muckrake serve --frame-origin` says which sites may frame it; without it none may.
Links open a page beside it.

`/hands/MATCH/NUMBER/picture` is the table at a moment as an SVG, to be put into a letter: the felt
of the replayer, by its template and its style sheets, with what happened and the hand so far on one
line beneath. It needs nothing else: no script, no font, no other address.
"""

from functools import cache
from math import ceil
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import Response

from api.auditing.record import RulesetLookup
from api.http.access import Access, Auth, Caller
from api.http.middleware import CONTENT_SECURITY_POLICY
from api.http.routes.questions import EncodedPathRoute
from api.pages.addresses import Addresses
from api.pages.hands import drawn_frames
from api.pages.live import live_update
from api.pages.players import FilterText, RequestedPlayer, form_value
from api.pages.site import STATIC, TEMPLATES, page_response
from api.pages.winnings import PointNumber, graph_response, winnings_or_why
from api.problem import Problem
from api.questions.frames import event_sentences, frames, hand_start
from api.questions.hand import frame_index
from api.questions.one_line import events_line
from api.viewpoints.viewer import PUBLIC, Viewer

router = APIRouter(include_in_schema=False, route_class=EncodedPathRoute)
_ADDRESSES = Addresses(PUBLIC)
EMBED_PATH = "/embed/"


async def _public_access(request: Request) -> Access:
    request.state.view = PUBLIC
    return Access(Caller(), Viewer(), request.app.state.service, request.url.path)


@router.get("/embed/live")
def live(
    request: Request, ask: Annotated[Access, Depends(_public_access)], match: FilterText = None
) -> Response:
    """A match's feed, for a frame of another site."""
    name = form_value(match)
    shown = live_update(request, ask, name, framed=True, whole=_ADDRESSES.live(name), to=_ADDRESSES)
    return framed_response(shown, ask)


@router.get("/embed/players/{player}/winnings")
def winnings(
    of: RequestedPlayer,
    ask: Annotated[Access, Depends(_public_access)],
    first: PointNumber = None,
    last: PointNumber = None,
) -> Response:
    """A player's winnings, for a frame of another site."""
    whole = _ADDRESSES.player(of.player, "winnings", **of.query)
    public = of._replace(ask=ask)
    shown = graph_response(
        public,
        *winnings_or_why(public),
        first,
        last,
        "framed_winnings.html",
        framed=True,
        whole=whole,
        to=_ADDRESSES,
    )
    return framed_response(shown, ask)


def framed_response(answer: Response, ask: Access) -> Response:
    """An answer that the sites which may frame it can show, if there are any."""
    if sites := ask.service.settings.frame_origins:
        policy = CONTENT_SECURITY_POLICY.replace(
            "frame-ancestors 'none'", f"frame-ancestors {' '.join(sites)}"
        )
        answer.headers["Content-Security-Policy"] = policy
        answer.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    return answer


picture_router = APIRouter(include_in_schema=False)
STYLE_FILES = ("style.css", "replayer.css")
WIDE, LINE, LETTERS = 900, 20, 110  # in its own units: a line of notation holds so many letters
HIGH = 540  # without its notation
_SVG = 'xmlns="http://www.w3.org/2000/svg"'


@cache
def picture_style() -> str:
    """Styles of colours, cards and the felt, without what follows from the width of a window."""
    return "".join(
        (STATIC / name).read_text("utf-8").partition("@media")[0] for name in STYLE_FILES
    )


@picture_router.get("/hands/{match}/{number}/picture")
def picture(
    request: Request,
    ask: Auth,
    match: str,
    number: str,
    at: Annotated[int | None, Query(ge=0, lt=2**31)] = None,
) -> Response:
    """The table after one event, as its viewer sees it; without `at`, as it is last."""
    with ask.viewed() as viewed:
        redacted_hand = viewed.redacted_hand(f"{match}/{number}")
        start = hand_start(redacted_hand)
        if start is None:
            raise Problem("conflict", f"{redacted_hand.stream} does not begin as a hand does")
        game = RulesetLookup(viewed.snapshot, None).by_fingerprint(start.ruleset)
        unit = viewed.redactor.units.get(start.ruleset)
    document = frames(redacted_hand, ask.viewer.view, game)
    place = frame_index(document, at)
    notation = events_line([event.seen for event in redacted_hand.events[: place + 1]])
    drawing = TEMPLATES.get_template("picture.svg").render(
        one=drawn_frames(document, event_sentences(redacted_hand))[place],
        last=len(document["frames"]) - 1,
        hand=redacted_hand.stream,
        start=start,
        unit=unit,
        viewer=ask.viewer,
        notation=notation,
        style=picture_style(),
        wide=WIDE,
        high=HIGH + LINE * ceil(len(notation) / LETTERS),
    )
    # shapes that a page draws among its own elements are SVG only by name in a document of XML
    body = drawing.replace("<svg ", f"<svg {_SVG} ").replace(f"{_SVG} {_SVG}", _SVG)
    return page_response(request, body.encode(), kind="image/svg+xml")
