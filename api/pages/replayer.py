"""`/hands/M/N`: a hand replayed: every frame is drawn here, and a script only turns the pages.

Without a script a frame is shown by its address (`#12`), as every deep link has it.
"""

from itertools import groupby
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from api.http.ask import Ask
from api.pages.hand_line import pieces
from api.pages.of_hand import of_hand
from api.pages.site import page
from api.questions.frames import frames
from api.rules import Rules

router = APIRouter(include_in_schema=False)


@router.get("/hands/{match}/{number}")
def replayer(request: Request, ask: Ask, match: str, number: str) -> Response:
    with ask.viewed() as viewed:
        sight = viewed.sight(f"{match}/{number}")
        context = of_hand(request, ask, viewed, sight, "replay")
        game = Rules(viewed.snapshot, None).marked(context["start"].ruleset)
    told = frames(sight, ask.viewer.view, game)
    drawn = [drawable(one) for one in told["frames"]]
    return page(
        request,
        ask,
        "replayer.html",
        **context,
        drawn=drawn,
        marks=told["marks"],
        big_blind=told["big_blind"],
        broken=told["broken"],
    )


def drawable(frame: dict[str, Any]) -> dict[str, Any]:
    """A frame as the template wants it: cards in the rows in which they came."""
    board = frame["board"]
    return {
        **frame,
        "pieces": pieces(frame["line"]),
        "board": [row for row in (board[:3], board[3:4], board[4:]) if row],
        "won": {seat for award in frame["awards"] for seat in award["seats"]},
        "seats": [{**seat, "rows": rows(seat)} for seat in frame["seats"]],
    }


def rows(seat: dict[str, Any]) -> list[list[Any]]:
    """A seat's cards, those of each deal together; a swapped one with what it was."""
    changed = {one["slot"]: one for one in seat["swaps"] if one["changed"] is True}
    cards = [
        {"now": card, "was": changed[slot]["old"] if slot in changed else None}
        for slot, card in enumerate(seat["cards"])
    ]
    deal = [number for number, count in enumerate(seat["dealt"]) for _ in range(count)]
    paired = zip(deal, cards, strict=False)
    return [[card for _, card in row] for _, row in groupby(paired, key=lambda one: one[0])]
