"""A question that has no page made by hand: what it asks, and its tables as a terminal has them."""

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from api.http.ask import Ask
from api.http.routes.named import Named
from api.http.routes.questions import FIXED, asked_for, formats, signed
from api.pages.site import Addresses, page
from api.questions.declared import every
from api.questions.question import API, Question, Sheet, asked
from api.viewpoints.viewer import without_progress


def routes(questions: list[Question]) -> APIRouter:
    """A page for each that has none; a list's is made by hand."""
    router = APIRouter(include_in_schema=False, route_class=Named)
    for one in questions:
        if one.page is None and one.pages is None:
            router.add_api_route(one.path, endpoint(one))
    return router


def endpoint(question: Question) -> Callable[..., Response]:
    """The page of a question, which takes what its route takes."""

    def shown(request: Request, ask: Ask, **given: Any) -> Response:
        params = asked(question, given, people=True)
        with ask.viewed(given.get("unit")) as viewed:
            if question.bound is not None:
                question.bound(viewed, params)
            told = list(question.told(question.ask(viewed, params, without_progress), params))
        to, player = Addresses(request.query_params.get("as")), given.get("player")
        trail = [("Players", to.players())] if player else []
        return page(
            request,
            ask,
            "question.html",
            question=question,
            sheets=[one for one in told if isinstance(one, Sheet)],
            notes=[one for one in told if not isinstance(one, Sheet)],
            trail=[*trail, (player, to.player(player))] if player else trail,
            players=(player,) if player else (),
            formats=[(kind, at(request, kind)) for kind in formats(question)],
        )

    return signed(shown, [*FIXED, *asked_for(question, question.path, people=True)])


def at(request: Request, kind: str) -> str:
    """The same in a format."""
    asked = request.url.include_query_params(format=kind)
    return f"{API}{asked.path}?{asked.query}"


router = routes(every())
