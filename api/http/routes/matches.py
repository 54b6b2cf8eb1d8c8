"""`/api/v1/matches/{match}`: who played what, what came of it, what was signed for, if it holds."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from fastapi.responses import Response

from api.http.answer import MEDIA, document, format_of, sent
from api.http.ask import AUDIT, Ask
from api.problem import Problem
from api.questions.match import match_of
from api.questions.proof import LEAVES_MAX, root, verified

router = APIRouter(prefix="/api/v1/matches", tags=["matches"])
EITHER: dict[int | str, dict[str, Any]] = {200: {"content": {MEDIA["json"]: {}, MEDIA["txt"]: {}}}}
Match = Annotated[str, Path(max_length=200, examples=["scrim"])]


@router.get(
    "/{match}",
    operation_id="match",
    summary="One match: players, ruleset, disclosure, commitments to decks, nets, who won",
    response_class=Response,
    responses={200: {"content": {MEDIA["json"]: {}}}},
)
def match(request: Request, ask: Ask, match: Match) -> Response:
    with ask.viewed() as viewed:
        return document(request, match_of(viewed, match))


@router.get(
    "/{match}/root",
    operation_id="match_root",
    summary="The signed checkpoint that covers the last hand of a match",
    description="`covered` is false for the moment between a hand's end and the next signature."
    " As text it is the checkpoint alone.",
    response_class=Response,
    responses=EITHER,
)
def match_root(request: Request, ask: Ask, match: Match) -> Response:
    kind = format_of(request, ("json", "txt"))
    with ask.viewed() as viewed:
        last = match_of(viewed, match).last_seq
        if last is None:
            raise Problem("not-found", f"no hand of {match} has ended: nothing covers one")
        told = root(viewed, match, last)
    if kind == "txt":
        return sent(request, told["checkpoint"].encode(), "txt")
    return document(request, told)


@router.get(
    "/{match}/verify",
    operation_id="verify_match",
    summary="Every leaf of a match made again, led to the signed root, its chips counted",
    description="For auditors. Awards are not judged: that is an audit. A match of more leaves"
    f" than {LEAVES_MAX:,} is verified by a job: POST to the same address.",
    response_class=Response,
    responses={200: {"content": {MEDIA["json"]: {}}}},
)
def verify_match(request: Request, ask: Ask, match: Match) -> Response:
    ask.needs(AUDIT)
    if not ask.viewer.auditor:  # who looks through other eyes is told what they see
        raise Problem("forbidden", f"{ask.viewer.view} verifies no match: only an auditor does")
    with ask.viewed() as viewed:
        match_of(viewed, match)
        found = verified(viewed, match, LEAVES_MAX)
    if found is None:
        sentence = f"{match} has more than {LEAVES_MAX:,} leaves: POST here, and a job verifies it"
        raise Problem("too-large", sentence)
    return document(request, found)
