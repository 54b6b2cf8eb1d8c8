"""`/players/NAME/winnings`: how his winnings grew, as lines that a script draws, and as a table.

A window of it (`first` to `last` of his hands) is said in numbers and leads to its hands: a script
asks for it where somebody drags over the graph, a form where there is no script.
"""

import json
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Query
from fastapi.responses import Response
from markupsafe import Markup

from analytics.luck.streets import CHANCES
from analytics.results.winnings import LINES, Point, Winnings
from api.http.routes.named import Named
from api.pages.addresses import Addresses
from api.pages.players import OfPlayer, PlayerPage
from api.pages.site import frame
from api.questions.declared.results import Luck, ResultsParams, luck
from api.questions.declared.winnings import WinningsParams, winnings
from api.questions.filters_tree import word
from api.questions.players import NoSum

router = APIRouter(include_in_schema=False, route_class=Named)
POINTS = 800
ROWS = 12  # of the table below the graph
READ_MAX = 20_000  # hands of a ledger that a page reads for luck; of more, the command line does it
NO_HAND = "there is no hand of his here"
SPOTS = 30  # hands of a player in which the luck of each card is counted
NOTHING = Point(0, "", 0.0, 0.0, 0.0, 0.0, None, 0.0)
Place = Annotated[int | None, Query(ge=1, le=2**31)]


class Window(NamedTuple):
    """His hands from one to another, what they brought, and the filter that finds them."""

    first: int
    last: int
    net: float
    showdown: float
    without: float
    auctions: float
    filter: str


@router.get("/players/{player}/winnings")
def winning(
    of: OfPlayer,
    first: Place = None,
    last: Place = None,
    streets: Annotated[bool, Query(alias="luck")] = False,
) -> Response:
    lucky = None
    told, why = told_of(of)
    with of.viewed() as viewed:
        small = viewed.snapshot.next_seq <= READ_MAX
        if streets and small and told.points:
            lucky = card_luck(luck(viewed, ResultsParams(of.player, spots=SPOTS, **of.filters)))
    at = Addresses().embedded("players", of.player, "winnings", **of.filtered)
    return grown(
        of,
        told,
        why,
        first,
        last,
        "winnings.html",
        lines=LINES,
        lucky=lucky,
        small=small,
        read_max=READ_MAX,
        chances=CHANCES,
        frame=frame(of.request, of.ask, at, f"Winnings of {of.player}"),
    )


def told_of(of: PlayerPage) -> tuple[Winnings, str]:
    """How his winnings grew; if nothing can be drawn, why."""
    with of.viewed() as viewed:
        try:
            return winnings(viewed, WinningsParams(of.player, POINTS, **of.filters)), NO_HAND
        except NoSum as reason:
            return Winnings(of.player, 0, 0.0, (), None, 0, 0.0, ()), str(reason)


def grown(
    of: PlayerPage,
    told: Winnings,
    why: str,
    first: int | None,
    last: int | None,
    template: str,
    **more: Any,
) -> Response:
    """A page with the graph, of the whole or of the hands from one to another."""
    step = max(1, len(told.points) // ROWS)
    return of.sent(
        template,
        "winnings",
        told=told,
        why=why,
        rows=[*told.points[:-1:step], *told.points[-1:]],
        window=window(told, of.player, of.also, first, last),
        drawn=inert(curves(told)),
        **more,
    )


def window(
    told: Winnings, player: str, also: str, first: int | None, last: int | None
) -> Window | None:
    """The hands between two points that are drawn, nothing narrower than what was asked for."""
    if not told.points or (first is None and last is None):
        return None
    first, last = min(first or 1, told.hands), min(last or told.hands, told.hands)
    first, last = min(first, last), max(first, last)
    before = next((one for one in reversed(told.points) if one.k < first), NOTHING)
    end = next(one for one in told.points if one.k >= last)
    after = f" & hand>{word(before.hand)}" if before.k else ""
    found = f"player={word(player)} & !voided{also}{after} & hand<={word(end.hand)}"
    return Window(
        before.k + 1,
        end.k,
        end.net - before.net,
        end.showdown - before.showdown,
        end.without - before.without,
        end.auctions - before.auctions,
        found,
    )


def curves(told: Winnings) -> dict[str, Any]:
    """The lines in columns, as the drawing script takes them."""
    names = ("k", "net", "showdown", "without", "auctions", "band")
    columns = {name: [getattr(one, name) for one in told.points] for name in names}
    return {**columns, "hand": [one.hand for one in told.points]}


def inert(value: Any) -> Markup:
    """JSON that can stand in a page: nothing in it ends the element that holds it."""
    text = json.dumps(value, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace("&", "\\u0026"))


def card_luck(found: Luck) -> dict[str, Any]:
    """What each card did to him, in hands whose cards the viewer knows, evenly spread."""
    rows = [row for each in found.chances.values() for row in each]
    most = max((abs(row.chips) for row in rows), default=0.0) or 1.0
    return {"rows": rows, "known": found.known, "hands": found.counted, "most": most}
