"""A question that has no page made by hand: what it asks, and its tables as a terminal has them."""

from collections.abc import Callable
from inspect import Parameter
from typing import Any, NamedTuple

import msgspec
from fastapi import APIRouter, Request
from fastapi.responses import Response

from api.http.ask import Ask
from api.http.routes.questions import FIXED, Named, formats, query_parameters, signed
from api.pages.addresses import Addresses, Sort
from api.pages.players import others_of
from api.pages.site import page
from api.problem import Problem
from api.questions import games as rulesets
from api.questions.declared import every
from api.questions.question import API, Question, Sheet, params_of
from engine.catalogue import CATALOGUE, KINDS, meaning
from engine.changes import partner_of
from engine.game import Game, fingerprint
from engine.games import RULESETS, is_dealt
from engine.parameters import parameters, spelled


def routes(questions: list[Question]) -> APIRouter:
    """A page for each that has none; a list's is made by hand."""
    router = APIRouter(include_in_schema=False, route_class=Named)
    for question in questions:
        if question.page is None and question.pages is None:
            router.add_api_route(question.path, endpoint(question))
    return router


def endpoint(question: Question) -> Callable[..., Response]:
    """The page of a question, which takes what its route takes."""

    def shown(request: Request, ask: Ask, sort: Sort = None, **values: Any) -> Response:
        if missing := [name for name in needed if values[name] is None]:
            with ask.viewed(by_tag=values.get("by_tag")) as viewed:
                choices = {missing[0]: others_of(viewed, values["player"])}
            sentence = f"{question.name} takes one more player, `{missing[0]}`"
            raise Problem("invalid", sentence, choices=choices)
        params = params_of(question, values, people=True)
        with ask.viewed(values.get("unit"), values.get("by_tag")) as viewed:
            if question.bound is not None:
                question.bound(viewed, params)
            sheets = list(question.sheets_of(question.ask(viewed, params, ask.watch), params))
        to, player = Addresses(request.query_params.get("as")), values.get("player")
        by_tag = values.get("by_tag")
        trail = [("Players", to.players(by_tag))] if player else []
        return page(
            request,
            ask,
            "question.html",
            question=question,
            by_tag=by_tag,
            sheets=[sheet for sheet in sheets if isinstance(sheet, Sheet)],
            notes=[sheet for sheet in sheets if not isinstance(sheet, Sheet)],
            trail=[*trail, (player, to.player(player, by_tag=by_tag))] if player else trail,
            players=(player,) if player and not by_tag else (),
            formats=[(kind, at(request, kind)) for kind in formats(question)],
        )

    every = query_parameters(question, question.path, people=True)
    needed = [
        one.name
        for one in every
        if one.default is Parameter.empty and f"{{{one.name}}}" not in question.path
    ]
    every = [  # without a value of one that is needed, the page offers all values
        one.replace(annotation=one.annotation | None, default=None) if one.name in needed else one
        for one in every
    ]
    sort = Parameter("sort", Parameter.KEYWORD_ONLY, annotation=Sort, default=None)
    return signed(shown, [*FIXED, *every, sort])


def at(request: Request, kind: str) -> str:
    """The same in a format."""
    url = request.url.remove_query_params("sort").include_query_params(format=kind)
    return f"{API}{url.path}?{url.query}"


router = routes(every())


class PolicyAnswer(NamedTuple):
    """A question that documents leave open, what this ruleset says to it, and what its partner."""

    policy: str
    question: str
    value: str
    meaning: str
    entries: tuple[str, ...]
    partner: str | None


@router.get("/games")
def games(request: Request, ask: Ask, sort: Sort = None) -> Response:
    """The rulesets."""
    every = RULESETS.values()
    groups = (
        ("To play by", "in matches dealt here", [it for it in every if is_dealt(it)]),
        ("Of imported hands", "as others wrote them", [it for it in every if not is_dealt(it)]),
    )
    return page(request, ask, "games.html", groups=groups, fingerprint=fingerprint)


@router.get("/games/{game}")
def game(request: Request, ask: Ask, game: str) -> Response:
    """A ruleset, and every question that it answers."""
    with ask.viewed() as viewed:
        ruleset = rulesets.seen_game(viewed, game)
    partner = partner_of(ruleset)
    to = Addresses(request.query_params.get("as"))
    return page(
        request,
        ask,
        "game.html",
        trail=(("Rulesets", to.games()),),
        game=ruleset,
        mark=fingerprint(ruleset),
        dealt=is_dealt(ruleset),
        partner=partner,
        parameters=parameters(ruleset).values(),
        script=[repr(step) for step in ruleset.script],
        kinds=[(kind, words, answers(ruleset, partner, kind)) for kind, words in KINDS.items()],
        plain=msgspec.json.format(msgspec.json.encode(ruleset, order="sorted"), indent=2).decode(),
    )


def answers(game: Game, partner: Game | None, kind: str) -> list[PolicyAnswer]:
    """What a ruleset says to all questions of one class."""
    found_answers = []
    for name, policy in CATALOGUE.items():
        if policy.kind != kind:
            continue
        value = getattr(game, name)
        other = value if partner is None else getattr(partner, name)
        differs = None if other == value else meaning(name, other) or spelled(other)
        found_answers.append(
            PolicyAnswer(
                name,
                policy.question,
                spelled(value),
                meaning(name, value),
                policy.entries,
                differs,
            )
        )
    return found_answers
