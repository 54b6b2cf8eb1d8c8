"""`/players/NAME/opponent`: what of his play stands out, with the hands to look at."""

import shlex
from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response

from analytics.opponents.measures import ALL_LOOKS
from api.http.routes.named import Named
from api.pages.players import OfPlayer
from api.questions.declared.opponent import HANDS_MAX
from api.questions.opponents import Fault, OpponentParams, report
from api.questions.players import NoSum
from api.viewpoints.selection import Absent

router = APIRouter(include_in_schema=False, route_class=Named)
AT_ONCE = 10_000  # hands that are read while somebody waits for a page
SPOTS = 200  # acts that were shown down, whose strength is counted
OPTIONS = {"hands": "numbers"}  # what the command calls a filter, where that differs
ENDINGS = {
    "preflop": "street=preflop",
    "flop": "street=flop",
    "turn": "street=turn",
    "river": "street=river",
    "showdown": "{}:showdown",
}


@router.get("/players/{player}/opponent")
def opponent(of: OfPlayer, run: bool = False) -> Response:
    filters = {OPTIONS.get(name, name): it for name, it in of.filters.items() if it}
    options = "".join(f" --{name} {shlex.quote(it)}" for name, it in filters.items())
    context: dict[str, Any] = {"found": None, "why": None, "hands_max": HANDS_MAX}
    context["command"] = f"muckrake opponent {shlex.quote(of.player)}{options}"
    with of.viewed() as viewed:
        hands = viewed.snapshot.next_seq
        context |= {"hands": hands, "endings": ENDINGS, "looks": ALL_LOOKS}
        if hands <= (HANDS_MAX if run else AT_ONCE):
            try:
                found = report(viewed, OpponentParams(of.player, spots=SPOTS, **of.filters))
                context |= {"found": found, "faults": faults(found.faults)}
            except (Absent, NoSum) as reason:
                context["why"] = str(reason)
    return of.sent("opponent.html", "opponent", **context)


def faults(every: Sequence[Fault]) -> list[dict[str, Any]]:
    """Kinds of replies that could not be used, each with the newest hand and how often it came."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for one in every:
        cause = one.cause or one.kind
        kind = found.setdefault((one.step, cause), {"step": one.step, "cause": cause, "n": 0})
        kind["n"] += 1
        kind["hand"] = one.hand
    return sorted(found.values(), key=lambda kind: -int(kind["n"]))
