"""`/players/NAME/opponent`: what of his play stands out, with the hands to look at."""

from contextlib import closing
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from analytics.opponents.faults import CAUSES
from analytics.opponents.leads import leads, titled
from analytics.opponents.report import Opponent
from api.http.ask import Ask
from api.http.routes.named import Named
from api.pages.of_player import Narrow, Player, clean, of_player
from api.pages.site import page
from api.problem import Problem
from api.questions import opponents as asking
from api.questions.opponents import About
from api.questions.players import Nonsense, NoSum
from api.viewpoints.views import Viewed
from api.viewpoints.wanted import Absent

router = APIRouter(include_in_schema=False, route_class=Named)
AT_ONCE = 10_000  # hands that are read while somebody waits for a page
HANDS_MAX = 50_000  # of more, the command line does it
SPOTS = 200  # acts that were shown down, whose strength is counted
ENDINGS = {
    "preflop": "street=preflop",
    "flop": "street=flop",
    "turn": "street=turn",
    "river": "street=river",
    "showdown": "{}:showdown",
}


@router.get("/players/{player}/opponent")
def opponent(
    request: Request,
    ask: Ask,
    player: Player,
    vs: Narrow = None,
    match: Narrow = None,
    game: Narrow = None,
    unit: Narrow = None,
    run: Annotated[bool, Query()] = False,
) -> Response:
    unit = clean(unit=unit)["unit"]
    narrowed = clean(vs=vs, match=match, game=game)
    context = of_player(request, ask, player, "opponent", {**narrowed, "unit": unit})
    context |= {"told": None, "why": None, "hands_max": HANDS_MAX}
    with ask.viewed(unit) as viewed:
        hands = viewed.snapshot.next_seq
        context |= {"hands": hands, "endings": ENDINGS}
        if hands > (HANDS_MAX if run else AT_ONCE):
            return page(request, ask, "opponent.html", **context)
        try:
            found = _found(viewed, About(player, spots=SPOTS, **narrowed))
        except (Absent, NoSum) as reason:
            return page(request, ask, "opponent.html", **context | {"why": str(reason)})
        except Nonsense as reason:
            raise Problem("bad-request", str(reason)) from None
    return page(request, ask, "opponent.html", **context | found)


def _found(viewed: Viewed, about: About) -> dict[str, Any]:
    with closing(asking.opponent(viewed, about)) as told:
        ranked = leads(told)
        return {
            "told": told.told,
            "counting": told.unit,
            "dealt": told.dealt()[0],
            "compared": ranked.compared,
            "leads": [(one, titled(one)) for one in ranked.found],
            "ends": [row for row in told.ends() if row["ending"] != "all"],
            "locks": told.locks(),
            "faults": faults(told),
        }


def faults(told: Opponent) -> list[dict[str, Any]]:
    """Kinds of replies that could not be used, each with the newest hand and how often it came."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for row in told.faults():
        cause = CAUSES.get(row["suggested"] or "") or row["kind"]
        one = found.setdefault((row["step"], cause), {"step": row["step"], "cause": cause, "n": 0})
        one["n"] += 1
        one["hand"] = row["hand"]
    return sorted(found.values(), key=lambda one: -int(one["n"]))
