"""`/hands/M/N`: a hand replayed: every frame is drawn here, and a script only turns the pages.

Without a script a frame is shown by its address (`#12`), as every deep link has it. `of_hand` gives
what all pages of a hand have in common: whose it is, where it stands, what is beside it.
"""

from itertools import groupby
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from api.http.ask import Access, Ask
from api.pages.addresses import Addresses
from api.pages.site import page
from api.problem import Problem
from api.questions.frames import frames, in_words, opening
from api.questions.games import address
from api.rules import Rules
from api.viewpoints.records import started
from api.viewpoints.redaction import RedactedEvents
from api.viewpoints.rendering import OF_A_SEED
from api.viewpoints.views import Viewed
from events import types as t
from events.sentences import Sentence
from store.log.leaf import split

router = APIRouter(include_in_schema=False)


@router.get("/hands/{match}/{number}")
def replayer(request: Request, ask: Ask, match: str, number: str) -> Response:
    with ask.viewed() as viewed:
        redacted_hand = viewed.redacted_hand(f"{match}/{number}")
        context = of_hand(request, ask, viewed, redacted_hand, "replay")
        game = Rules(viewed.snapshot, None).marked(context["start"].ruleset)
    told = frames(redacted_hand, ask.viewer.view, game)
    said = in_words(redacted_hand)
    drawn = [drawable(one, said[one["idx"]]) for one in told["frames"]]
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


def drawable(frame: dict[str, Any], said: Sentence) -> dict[str, Any]:
    """A frame as the template wants it: cards in the rows in which they came."""
    board = frame["board"]
    return {
        **frame,
        "said": said,
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


def of_hand(
    request: Request, ask: Access, viewed: Viewed, redacted_hand: RedactedEvents, tab: str
) -> dict[str, Any]:
    """What `hand.html` needs; `players` of it are the seats that an auditor may look from."""
    start = opening(redacted_hand)
    if start is None:
        raise Problem("conflict", f"{redacted_hand.stream} does not begin as a hand does")
    match, number = split(redacted_hand.stream)
    assert number is not None
    to = Addresses(request.query_params.get("as"))
    announced = started(viewed.snapshot, match)
    game = Rules(viewed.snapshot, None).marked(start.ruleset)
    return {
        "tab": tab,
        "hand": redacted_hand.stream,
        "match": match,
        "number": number,
        "start": start,
        "rules": start.game if game is None else address(game),
        "players": start.players,
        "stacks": start.stacks[:1] if len(set(start.stacks)) == 1 else start.stacks,
        "unit": viewed.redactor.units.get(start.ruleset),
        "at": redacted_hand.ones[-1].stored.at,
        "over": any(isinstance(one.seen, t.HandEnded | t.HandVoided) for one in redacted_hand.ones),
        "open": redacted_hand.open,
        "of_a_seed": OF_A_SEED if announced and announced.dealing == "seeded" else None,
        "earlier": _there(viewed, match, number - 1),
        "later": _there(viewed, match, number + 1),
        "trail": (("Matches", to.matches()), (match, to.match(match))),
    }


def _there(viewed: Viewed, match: str, number: int) -> str | None:
    """A hand of this match, if it is over."""
    hand = f"{match}/{number}"
    return None if number < 0 or viewed.snapshot.hand_seq(hand) is None else hand
