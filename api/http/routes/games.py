"""`/api/v1/games`: the rulesets, with their texts, parameters, fingerprints and citations."""

from typing import Annotated

from fastapi import APIRouter, Path, Request
from fastapi.responses import Response

from api.http.answer import document, format_of, listed, media, sent
from api.http.ask import Ask
from api.problem import Problem
from api.questions import games as asking

router = APIRouter(prefix="/api/v1/games", tags=["games"])
_LIST = ("json", "ndjson", "csv")
_ONE = ("json", "md")


@router.get(
    "",
    operation_id="games",
    summary="Every ruleset, on a line each",
    response_class=Response,
    responses=media(*_LIST),
)
def games(request: Request) -> Response:
    return listed(request, asking.listed(), offered=_LIST)


@router.get(
    "/{game}",
    operation_id="game",
    summary="One ruleset in full: script, parameters, policies with the entries they cite",
    response_class=Response,
    responses=media(*_ONE),
)
def game(
    request: Request,
    ask: Ask,
    game: Annotated[
        str,
        Path(
            max_length=2_000,
            description="A ruleset's name, perhaps of one that was changed "
            "(`site-nl.big-20`), or its fingerprint.",
        ),
    ],
) -> Response:
    kind = format_of(request, _ONE)
    try:
        with ask.viewed() as viewed:
            found = asking.seen_game(viewed, game)
    except asking.NoGame as unknown:
        raise Problem("not-found", str(unknown)) from None
    if kind == "md":
        return sent(request, asking.as_markdown(found).encode(), "md")
    return document(request, asking.in_full(found))
