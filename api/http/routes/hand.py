"""`/api/v1/hands/MATCH/NUMBER`: a hand as it is seen, its events, frames, proof and audit.

A hand that cannot change any more for whoever asks may be kept for ever; any other is asked for
again with its tag.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any
from urllib.parse import quote, urlencode

import msgspec
from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import RedirectResponse, Response

from api.exporting.texts import CannotExport
from api.http.answer import ANEW, FOREVER, MEDIA, document, format_of, sent
from api.http.ask import Ask
from api.printable import page as lines_of
from api.problem import Problem
from api.questions import hand as told
from api.questions.frames import frames
from api.questions.hand import NoRules, judged
from api.questions.proof import bundle, proof
from api.report import as_json, as_text
from api.viewpoints.redaction import RedactedEvents
from api.viewpoints.views import Viewed

router = APIRouter(prefix="/api/v1/hands/{match}/{number}", tags=["hands"])
_canonical = msgspec.json.Encoder(order="sorted").encode

Match = Annotated[str, Path(max_length=200, examples=["scrim"])]
Number = Annotated[str, Path(pattern="^(0|[1-9][0-9]{0,17})$", examples=["12"])]


def _formats(*kinds: str) -> dict[int | str, dict[str, Any]]:
    return {200: {"content": {MEDIA[kind]: {} for kind in kinds}}}


@router.get(
    "",
    operation_id="hand",
    summary="One hand: who played, what came, who won what, and all of it on one line",
    description="As text it is the hand's lines in notation, as PHH a document for other programs.",
    response_class=Response,
    responses=_formats("json", "phh", "txt"),
)
def hand(request: Request, ask: Ask, match: Match, number: Number) -> Response:
    kind = format_of(request, ("json", "phh", "txt"))
    with _seen(ask, match, number) as (viewed, redacted_hand):
        cache = _cache(viewed, redacted_hand)
        if kind == "json":
            return document(request, told.summary(viewed, redacted_hand), cache=cache)
        if kind == "txt":
            text = lines_of(told.lines(redacted_hand))
            return sent(request, text.encode(), "txt", cache=cache)
        try:
            history = told.history(viewed, redacted_hand)
        except CannotExport as reason:
            raise Problem("not-acceptable", str(reason)) from None
        return sent(request, history, "phh", cache=cache, filename=_file(redacted_hand, "phh"))


@router.get(
    "/events",
    operation_id="events",
    summary="The events of a hand as they are seen, in order",
    description='Numbered as they are seen (`idx`). What is hidden is `{"redacted": true}`; a card'
    " that nobody recorded is `??`.",
    response_class=Response,
    responses=_formats("json", "ndjson"),
)
def events(request: Request, ask: Ask, match: Match, number: Number) -> Response:
    kind = format_of(request, ("json", "ndjson"))
    with _seen(ask, match, number) as (viewed, redacted_hand):
        cache = _cache(viewed, redacted_hand)
        rows = list(told.event_rows(redacted_hand))
        if kind == "ndjson":
            lines = b"".join(_canonical(row) + b"\n" for row in rows)
            return sent(request, lines, "ndjson", cache=cache)
        page = {"data": rows, "next_cursor": None, "has_more": False}
        return document(request, {**page, "view": told.view_of(viewed, redacted_hand)}, cache=cache)


@router.get(
    "/frames",
    operation_id="frames",
    summary="The table after each event, ready to be drawn, and marks for a slider",
    response_class=Response,
    responses=_formats("json"),
)
def all_frames(request: Request, ask: Ask, match: Match, number: Number) -> Response:
    with _seen(ask, match, number) as (viewed, redacted_hand):
        return document(
            request, _frames(viewed, redacted_hand), cache=_cache(viewed, redacted_hand)
        )


@router.get(
    "/state",
    operation_id="state",
    summary="The table after one event",
    description="`at` counts events as they are seen, from 0; without it, the table as it is last.",
    response_class=Response,
    responses=_formats("json"),
)
def state(
    request: Request,
    ask: Ask,
    match: Match,
    number: Number,
    at: Annotated[
        int | None, Query(ge=0, lt=2**31, description="After this event, as it is seen.")
    ] = None,
) -> Response:
    with _seen(ask, match, number) as (viewed, redacted_hand):
        drawn = _frames(viewed, redacted_hand)["frames"]
        place = len(drawn) - 1 if at is None else at
        if not 0 <= place < len(drawn):
            last = len(drawn) - 1
            sentence = f"{redacted_hand.stream} has events 0..{last} to be seen here, not {place}"
            raise Problem("not-found", sentence)
        return document(request, drawn[place], cache=_cache(viewed, redacted_hand))


@router.get(
    "/proof",
    operation_id="proof",
    summary="The receipt of a hand, its public lines, and the openings for this viewpoint",
    description="As a zip it is the bundle of evidence, with a program that verifies it.",
    response_class=Response,
    responses=_formats("json", "zip"),
)
def hand_proof(request: Request, ask: Ask, match: Match, number: Number) -> Response:
    kind = format_of(request, ("json", "zip"))
    with _seen(ask, match, number) as (viewed, redacted_hand):
        if kind == "json":
            return document(request, proof(viewed, redacted_hand))
        return sent(
            request, bundle(viewed, redacted_hand), "zip", filename=_file(redacted_hand, "zip")
        )


@router.get(
    "/audit",
    operation_id="audit",
    summary="The hand decided again by its rules, and what other readings would have paid",
    description="For auditors. Who sat at the table gets the same of what he sees (`basis` is then"
    " `sight`): a card that he may not see counts as one that nobody recorded.",
    response_class=Response,
    responses={
        **_formats("json", "txt"),
        303: {"description": "As a page it stands at an address of its own."},
    },
)
def audit(
    request: Request,
    ask: Ask,
    match: Match,
    number: Number,
    ruleset: Annotated[
        str | None, Query(max_length=100, description="Decide by these rules, not the hand's own.")
    ] = None,
) -> Response:
    kind = format_of(request, ("json", "txt", "html"))
    if kind == "html":
        asked = {"as": request.query_params.get("as"), "ruleset": ruleset}
        given = urlencode({name: value for name, value in asked.items() if value is not None})
        page = f"/hands/{quote(match, safe='')}/{number}/audit"
        return RedirectResponse(f"{page}?{given}" if given else page, 303)
    with _seen(ask, match, number) as (viewed, redacted_hand):
        if not redacted_hand.open and told.seat_of(viewed.viewer, redacted_hand) is None:
            raise Problem("forbidden", "an audit is for an auditor, or for who sat at the table")
        try:
            record, game, report = judged(viewed.snapshot, redacted_hand, ruleset)
        except NoRules as reason:
            raise Problem("not-found" if ruleset is None else "invalid", str(reason)) from None
        text = as_text(game, record, report)
        if kind == "txt":
            return sent(request, text.encode(), "txt")
        basis = {
            "basis": "record" if redacted_hand.open else "sight",
            "view": told.view_of(viewed, redacted_hand),
        }
        return document(request, {**as_json(record, game, report), **basis, "text": str(text)})


@contextmanager
def _seen(ask: Ask, match: str, number: str) -> Iterator[tuple[Viewed, RedactedEvents]]:
    with ask.viewed() as viewed:
        yield viewed, viewed.redacted_hand(f"{match}/{number}")


def _frames(viewed: Viewed, redacted_hand: RedactedEvents) -> dict[str, Any]:
    return frames(
        redacted_hand, told.view_of(viewed, redacted_hand), told.rules_of(viewed, redacted_hand)
    )


def _cache(viewed: Viewed, redacted_hand: RedactedEvents) -> str:
    return FOREVER if told.is_settled(viewed, redacted_hand) else ANEW


def _file(redacted_hand: RedactedEvents, suffix: str) -> str:
    return f"{re.sub(r'[^A-Za-z0-9._-]', '-', redacted_hand.stream)}.{suffix}"
