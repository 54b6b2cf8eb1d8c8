"""`/games` and `/games/G`: the rulesets, and every question that one of them answers."""

from typing import NamedTuple

import msgspec
from fastapi import APIRouter, Request
from fastapi.responses import Response

from api.http.ask import Ask
from api.pages.site import Addresses, page
from api.problem import Problem
from api.questions import games as asking
from engine.catalogue import CATALOGUE, KINDS, meaning
from engine.changes import partner_of
from engine.game import Game, fingerprint
from engine.games import RULESETS, is_dealt
from engine.parameters import parameters, spelled

router = APIRouter(include_in_schema=False)


class Answer(NamedTuple):
    """A question that documents leave open, what this ruleset says to it, and what its partner."""

    policy: str
    question: str
    value: str
    meaning: str
    entries: tuple[str, ...]
    partner: str | None


@router.get("/games")
def games(request: Request, ask: Ask) -> Response:
    groups = (
        ("Dealt here", "muckrake play, match", [g for g in RULESETS.values() if is_dealt(g)]),
        ("Of records", "muckrake import", [g for g in RULESETS.values() if not is_dealt(g)]),
    )
    return page(request, ask, "games.html", groups=groups, fingerprint=fingerprint)


@router.get("/games/{game}")
def game(request: Request, ask: Ask, game: str) -> Response:
    try:
        with ask.viewed() as viewed:
            found = asking.seen_game(viewed, game)
    except asking.NoGame as unknown:
        raise Problem("not-found", str(unknown)) from None
    partner = partner_of(found)
    to = Addresses(request.query_params.get("as"))
    return page(
        request,
        ask,
        "game.html",
        trail=(("Rulesets", to.games()),),
        game=found,
        mark=fingerprint(found),
        dealt=is_dealt(found),
        partner=partner,
        parameters=parameters(found).values(),
        script=[repr(step) for step in found.script],
        kinds=[(kind, words, answers(found, partner, kind)) for kind, words in KINDS.items()],
        plain=msgspec.json.format(msgspec.json.encode(found, order="sorted"), indent=2).decode(),
    )


def answers(game: Game, partner: Game | None, kind: str) -> list[Answer]:
    """What a ruleset says to all questions of one class."""
    told = []
    for name, policy in CATALOGUE.items():
        if policy.kind != kind:
            continue
        value = getattr(game, name)
        other = value if partner is None else getattr(partner, name)
        differs = None if other == value else meaning(name, other) or spelled(other)
        told.append(
            Answer(
                name,
                policy.question,
                spelled(value),
                meaning(name, value),
                policy.entries,
                differs,
            )
        )
    return told
