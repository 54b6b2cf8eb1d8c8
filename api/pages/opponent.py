"""`/players/NAME/opponent`: what of his play stands out, with the hands to look at."""

from contextlib import closing
from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response

from analytics.opponents.faults import CAUSES
from analytics.opponents.leads import leads, titled
from analytics.opponents.report import Opponent
from api.http.routes.named import Named
from api.pages.players import Against
from api.questions import opponents as asking
from api.questions.opponents import About
from api.questions.players import NoSum
from api.viewpoints.selection import Absent

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
def opponent(of: Against, run: bool = False) -> Response:
    context: dict[str, Any] = {"told": None, "why": None, "hands_max": HANDS_MAX}
    with of.viewed() as viewed:
        hands = viewed.snapshot.next_seq
        context |= {"hands": hands, "endings": ENDINGS}
        if hands <= (HANDS_MAX if run else AT_ONCE):
            about = About(of.player, spots=SPOTS, **of.filters)
            try:
                with closing(asking.opponent(viewed, about)) as told:
                    ranked = leads(told)
                    context |= {
                        "told": told.told,
                        "counting": told.unit,
                        "dealt": told.dealt()[0],
                        "compared": ranked.compared,
                        "leads": [(one, titled(one)) for one in ranked.found],
                        "ends": [row for row in told.ends() if row["ending"] != "all"],
                        "locks": told.locks(),
                        "faults": faults(told),
                    }
            except (Absent, NoSum) as reason:
                context["why"] = str(reason)
    return of.sent("opponent.html", "opponent", **context)


def faults(told: Opponent) -> list[dict[str, Any]]:
    """Kinds of replies that could not be used, each with the newest hand and how often it came."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for row in told.faults():
        cause = CAUSES.get(row["suggested"] or "") or row["kind"]
        one = found.setdefault((row["step"], cause), {"step": row["step"], "cause": cause, "n": 0})
        one["n"] += 1
        one["hand"] = row["hand"]
    return sorted(found.values(), key=lambda one: -int(one["n"]))
