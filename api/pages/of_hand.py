"""What the pages of one hand have in common: whose it is, where it stands, what is beside it."""

from typing import Any

from fastapi import Request

from api.http.ask import Asked
from api.pages.addresses import Addresses
from api.problem import Problem
from api.questions.frames import opening
from api.questions.games import address
from api.rules import Rules
from api.viewpoints.records import started
from api.viewpoints.seen import OF_A_SEED
from api.viewpoints.sight import Sight
from api.viewpoints.views import Viewed
from events import types as t
from store.log.leaf import split


def of_hand(request: Request, ask: Asked, viewed: Viewed, sight: Sight, tab: str) -> dict[str, Any]:
    """What `hand.html` needs; `players` of it are the seats that an auditor may look from."""
    start = opening(sight)
    if start is None:
        raise Problem("conflict", f"{sight.stream} does not begin as a hand does")
    match, number = split(sight.stream)
    assert number is not None
    to = Addresses(request.query_params.get("as"))
    announced = started(viewed.snapshot, match)
    game = Rules(viewed.snapshot, None).marked(start.ruleset)
    return {
        "tab": tab,
        "hand": sight.stream,
        "match": match,
        "number": number,
        "start": start,
        "rules": start.game if game is None else address(game),
        "players": start.players,
        "stacks": _stacks(start.stacks),
        "unit": viewed.eyes.units.get(start.ruleset),
        "at": sight.ones[-1].stored.at,
        "over": any(isinstance(one.seen, t.HandEnded | t.HandVoided) for one in sight.ones),
        "open": sight.open,
        "of_a_seed": OF_A_SEED if announced and announced.dealing == "seeded" else None,
        "earlier": _there(viewed, match, number - 1),
        "later": _there(viewed, match, number + 1),
        "trail": (("Matches", to.matches()), (match, to.match(match))),
    }


def _there(viewed: Viewed, match: str, number: int) -> str | None:
    """A hand of this match, if it is over."""
    hand = f"{match}/{number}"
    return None if number < 0 or viewed.snapshot.hand_seq(hand) is None else hand


def _stacks(stacks: tuple[int, ...]) -> tuple[int, ...]:
    """One, if all brought the same."""
    return stacks[:1] if len(set(stacks)) == 1 else stacks
