"""`/players/NAME/winnings`: how his winnings grew, as lines that a script draws, and as a table."""

import json
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from markupsafe import Markup

from analytics.winnings import LINES, Winnings
from api.asking import stats as counted
from api.asking.players import Nonsense
from api.asking.winnings import winnings
from api.http.ask import Ask
from api.http.problem import Problem
from api.http.routes.named import Named
from api.pages.of_player import Narrow, Player, clean, of_player
from api.pages.site import page

router = APIRouter(include_in_schema=False, route_class=Named)
POINTS = 800
ROWS = 12  # of the table below the graph


@router.get("/players/{player}/winnings")
def winning(
    request: Request,
    ask: Ask,
    player: Player,
    vs: Narrow = None,
    match: Narrow = None,
    game: Narrow = None,
) -> Response:
    narrowed = clean(vs=vs, match=match, game=game)
    context = of_player(request, ask, player, "winnings", narrowed)
    with ask.viewed() as viewed:
        try:
            chosen = counted.chosen_of(viewed, player, **narrowed)
        except Nonsense as reason:
            raise Problem("bad-request", str(reason)) from None
        told = winnings(viewed, chosen, POINTS)
    step = max(1, len(told.points) // ROWS)
    rows = [*told.points[:-1:step], *told.points[-1:]]
    return page(
        request, ask, "winnings.html", **context, told=told, rows=rows, lines=LINES,
        drawn=inert(curves(told)),
    )  # fmt: skip


def curves(told: Winnings) -> dict[str, Any]:
    """The lines in columns, as the drawing script takes them."""
    names = ("k", "net", "showdown", "without", "auctions", "band")
    columns = {name: [getattr(one, name) for one in told.points] for name in names}
    return {**columns, "hand": [one.hand for one in told.points]}


def inert(value: Any) -> Markup:
    """JSON that can stand in a page: nothing in it ends the element that holds it."""
    text = json.dumps(value, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace("&", "\\u0026"))
