"""`/embed/...`: a match's feed and a player's winnings, to stand in a frame of another site's page.

They are what the public sees: a cookie makes no difference. `muckrake serve
--frame-origin` says which sites may frame them; without it none may. Links open a page beside it.
"""

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from api.http.ask import Access, Caller
from api.http.layers import POLICY
from api.http.routes.questions import Named
from api.pages.addresses import Addresses
from api.pages.live import followed
from api.pages.players import Narrow, OfPlayer, clean
from api.pages.winnings import Place, grown, winnings_or_why
from api.viewpoints.viewer import PUBLIC, Viewer

router = APIRouter(include_in_schema=False, route_class=Named)
_TO = Addresses(PUBLIC)
FRAMES = "/embed/"


async def _public(request: Request) -> Access:
    request.state.view = PUBLIC
    return Access(Caller(), Viewer(), request.app.state.service, request.url.path)


@router.get("/embed/live")
def live(
    request: Request, ask: Annotated[Access, Depends(_public)], match: Narrow = None
) -> Response:
    """A match's feed, to stand in a frame of another site."""
    name = clean(match)
    shown = followed(request, ask, name, framed=True, whole=_TO.live(name), to=_TO)
    return framed(shown, ask)


@router.get("/embed/players/{player}/winnings")
def winnings(
    of: OfPlayer,
    ask: Annotated[Access, Depends(_public)],
    first: Place = None,
    last: Place = None,
) -> Response:
    """A player's winnings, to stand in a frame of another site."""
    whole = _TO.player(of.player, "winnings", **of.filtered)
    public = of._replace(ask=ask)
    shown = grown(
        public,
        *winnings_or_why(public),
        first,
        last,
        "framed_winnings.html",
        framed=True,
        whole=whole,
        to=_TO,
    )
    return framed(shown, ask)


def framed(answer: Response, ask: Access) -> Response:
    """An answer that the sites which may frame it can show, if there are any."""
    if sites := ask.service.settings.frame_origins:
        policy = POLICY.replace("frame-ancestors 'none'", f"frame-ancestors {' '.join(sites)}")
        answer.headers["Content-Security-Policy"] = policy
        answer.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    return answer
