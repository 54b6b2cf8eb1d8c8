"""`/api/v1/matches/MATCH`: who played what, what came of it, what was signed for, if it holds;
`/api/v1/hands/MATCH/NUMBER`: a hand as it is seen, its events, frames, proof and audit; and
`/api/v1/log/...`: the tree in which it is proved.

A hand that cannot change any more for its viewer may be kept for ever; a client asks for any other
again, with its tag.

The tree over all that has closed is served as C2SP tlog-tiles serves one. It is for everybody and
opens nothing: who keeps checkpoints can hold this ledger to them.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any
from urllib.parse import quote, urlencode

import msgspec
from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import RedirectResponse, Response

from api.auditing.hand_report import audit_entry, audit_text
from api.exporting.hand_logs import CannotExport
from api.http.access import Auth
from api.http.responses import (
    IMMUTABLE,
    NO_CACHE,
    bytes_response,
    content_types,
    format_of,
    json_response,
)
from api.printable import printable_lines as lines_of
from api.problem import Problem
from api.questions import hand as hand_question
from api.questions.declared.matches import match_of
from api.questions.frames import frames
from api.questions.hand import UnknownRuleset, judge_visible
from api.questions.proof import LEAVES_MAX, Tree, bundle, proof, root_of_match, verify_leaves
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.redaction import RedactedEvents
from store.proof.note import to_base64
from store.proof.tree import Refuted

router = APIRouter(default_response_class=Response)
_canonical = msgspec.json.Encoder(order="sorted").encode

HAND_HISTORY_FORMATS = ("phh", "ohh", "pokerstars")  # of other programs
SUFFIXES = {"pokerstars": "txt"}  # of their files, where that is not the format's name
Match = Annotated[str, Path(max_length=200, examples=["scrim"])]
Number = Annotated[str, Path(pattern="^(0|[1-9][0-9]{0,17})$", examples=["12"])]


@router.get(
    "/api/v1/matches/{match}",
    tags=["matches"],
    operation_id="match",
    summary="One match: players, ruleset, disclosure, commitments to decks, nets, who won",
    responses=content_types("json"),
)
def match(request: Request, ask: Auth, match: Match) -> Response:
    with ask.viewed() as viewed:
        return json_response(request, match_of(viewed, match))


@router.get(
    "/api/v1/matches/{match}/root",
    tags=["matches"],
    operation_id="match_root",
    summary="The signed checkpoint that covers the last hand of a match",
    description="`covered` is false for the moment between a hand's end and the next signature."
    " As text it is the checkpoint alone.",
    responses=content_types("json", "txt"),
)
def match_root(request: Request, ask: Auth, match: Match) -> Response:
    kind = format_of(request, ("json", "txt"))
    with ask.viewed() as viewed:
        last = match_of(viewed, match).last_seq
        if last is None:
            raise Problem("not-found", f"no hand of {match} has ended: nothing covers one")
        tree_document = root_of_match(viewed, match, last)
    if kind == "txt":
        return bytes_response(request, tree_document["checkpoint"].encode(), "txt")
    return json_response(request, tree_document)


@router.get(
    "/api/v1/matches/{match}/verify",
    tags=["matches"],
    operation_id="verify_match",
    summary="Every leaf of a match made again, led to the signed root, its chips counted",
    description="For auditors. Awards are not judged: that is an audit. A match of more leaves"
    f" than {LEAVES_MAX:,} is verified by a job: POST to the same address.",
    responses=content_types("json"),
)
def verify_match(request: Request, ask: Auth, match: Match) -> Response:
    ask.require_auditor(f"{ask.viewer.view} verifies no match: only an auditor does")
    with ask.viewed() as viewed:
        match_of(viewed, match)
        verified_match = verify_leaves(viewed, match, LEAVES_MAX)
    if verified_match is None:
        sentence = f"{match} has more than {LEAVES_MAX:,} leaves: POST here, and a job verifies it"
        raise Problem("too-large", sentence)
    return json_response(request, verified_match)


@router.get(
    "/api/v1/hands/{match}/{number}",
    tags=["hands"],
    operation_id="hand",
    summary="One hand: who played, what came, who won what, and all of it on one line",
    description="As text it is the hand's lines in notation; `phh`, `ohh` and `pokerstars` are"
    " documents for other programs.",
    responses=content_types("json", "txt", *HAND_HISTORY_FORMATS),
)
def hand(request: Request, ask: Auth, match: Match, number: Number) -> Response:
    kind = format_of(request, ("json", "txt", *HAND_HISTORY_FORMATS))
    with _redacted_hand(ask, match, number) as (viewed, redacted_hand):
        cache = _cache_control(viewed, redacted_hand)
        if kind == "json":
            return json_response(request, hand_question.summary(viewed, redacted_hand), cache=cache)
        if kind == "txt":
            text = lines_of(hand_question.notation_lines(redacted_hand))
            return bytes_response(request, text.encode(), "txt", cache=cache)
        try:
            history = hand_question.hand_history(viewed, redacted_hand, kind)
        except CannotExport as reason:
            raise Problem("not-acceptable", str(reason)) from None
        return bytes_response(
            request,
            history,
            kind,
            cache=cache,
            filename=_file_name(redacted_hand, SUFFIXES.get(kind, kind)),
        )


@router.get(
    "/api/v1/hands/{match}/{number}/events",
    tags=["hands"],
    operation_id="events",
    summary="The events of a hand as they are seen, in order",
    description='Numbered as they are seen (`idx`). What is hidden is `{"redacted": true}`; a card'
    " that nobody recorded is `??`.",
    responses=content_types("json", "ndjson"),
)
def events(request: Request, ask: Auth, match: Match, number: Number) -> Response:
    kind = format_of(request, ("json", "ndjson"))
    with _redacted_hand(ask, match, number) as (viewed, redacted_hand):
        cache = _cache_control(viewed, redacted_hand)
        rows = list(hand_question.event_rows(redacted_hand))
        if kind == "ndjson":
            lines = b"".join(_canonical(row) + b"\n" for row in rows)
            return bytes_response(request, lines, "ndjson", cache=cache)
        page = {"data": rows, "next_cursor": None, "has_more": False}
        return json_response(
            request, {**page, "view": hand_question.view_of(viewed, redacted_hand)}, cache=cache
        )


@router.get(
    "/api/v1/hands/{match}/{number}/frames",
    tags=["hands"],
    operation_id="frames",
    summary="The table after each event, ready to be drawn, and marks for a slider",
    responses=content_types("json"),
)
def all_frames(request: Request, ask: Auth, match: Match, number: Number) -> Response:
    with _redacted_hand(ask, match, number) as (viewed, redacted_hand):
        return json_response(
            request, _frames_of(viewed, redacted_hand), cache=_cache_control(viewed, redacted_hand)
        )


@router.get(
    "/api/v1/hands/{match}/{number}/state",
    tags=["hands"],
    operation_id="state",
    summary="The table after one event",
    description="`at` counts events as they are seen, from 0; without it, the table as it is last."
    " As text it is the same for a letter: stacks, cards, odds, and the hand so far on one line."
    " A picture of it is at `/hands/{match}/{number}/picture?at=N`.",
    responses=content_types("json", "txt"),
)
def state(
    request: Request,
    ask: Auth,
    match: Match,
    number: Number,
    at: Annotated[
        int | None, Query(ge=0, lt=2**31, description="After this event, as it is seen.")
    ] = None,
) -> Response:
    kind = format_of(request, ("json", "txt"))
    with _redacted_hand(ask, match, number) as (viewed, redacted_hand):
        found = _frames_of(viewed, redacted_hand)
        place = hand_question.frame_index(found, at)
        cache = _cache_control(viewed, redacted_hand)
        if kind == "txt":
            text = lines_of(hand_question.frame_text(redacted_hand, found, place))
            return bytes_response(request, text.encode(), "txt", cache=cache)
        return json_response(request, found["frames"][place], cache=cache)


@router.get(
    "/api/v1/hands/{match}/{number}/proof",
    tags=["hands"],
    operation_id="proof",
    summary="The receipt of a hand, its public lines, and the openings for this viewpoint",
    description="As a zip it is the bundle of evidence, with a program that verifies it.",
    responses=content_types("json", "zip"),
)
def hand_proof(request: Request, ask: Auth, match: Match, number: Number) -> Response:
    kind = format_of(request, ("json", "zip"))
    with _redacted_hand(ask, match, number) as (viewed, redacted_hand):
        if kind == "json":
            return json_response(request, proof(viewed, redacted_hand))
        return bytes_response(
            request, bundle(viewed, redacted_hand), "zip", filename=_file_name(redacted_hand, "zip")
        )


@router.get(
    "/api/v1/hands/{match}/{number}/audit",
    tags=["hands"],
    operation_id="audit",
    summary="The hand decided again by its rules, and what other readings would have paid",
    description="For auditors. Who sat at the table gets the same of what he sees (`basis` is then"
    " `sight`): a card that he may not see counts as one that nobody recorded.",
    responses={
        **content_types("json", "txt"),
        303: {"description": "As a page it stands at an address of its own."},
    },
)
def audit(
    request: Request,
    ask: Auth,
    match: Match,
    number: Number,
    ruleset: Annotated[
        str | None, Query(max_length=100, description="Decide by these rules, not the hand's own.")
    ] = None,
) -> Response:
    kind = format_of(request, ("json", "txt", "html"))
    if kind == "html":
        query = {"as": request.query_params.get("as"), "ruleset": ruleset}
        encoded = urlencode({name: value for name, value in query.items() if value is not None})
        page = f"/hands/{quote(match, safe='')}/{number}/audit"
        return RedirectResponse(f"{page}?{encoded}" if encoded else page, 303)
    with _redacted_hand(ask, match, number) as (viewed, redacted_hand):
        if not redacted_hand.open and hand_question.seat_of(viewed.viewer, redacted_hand) is None:
            raise Problem("forbidden", "an audit is for an auditor, or for who sat at the table")
        try:
            record, game, report = judge_visible(viewed.snapshot, redacted_hand, ruleset)
        except UnknownRuleset as reason:
            raise Problem("not-found" if ruleset is None else "invalid", str(reason)) from None
        text = audit_text(game, record, report)
        if kind == "txt":
            return bytes_response(request, text.encode(), "txt")
        basis = {
            "basis": "record" if redacted_hand.open else "sight",
            "view": hand_question.view_of(viewed, redacted_hand),
        }
        return json_response(
            request, {**audit_entry(record, game, report), **basis, "text": str(text)}
        )


@contextmanager
def _redacted_hand(
    ask: Auth, match: str, number: str
) -> Iterator[tuple[LedgerView, RedactedEvents]]:
    with ask.viewed() as viewed:
        yield viewed, viewed.redacted_hand(f"{match}/{number}")


def _frames_of(viewed: LedgerView, redacted_hand: RedactedEvents) -> dict[str, Any]:
    return frames(
        redacted_hand,
        hand_question.view_of(viewed, redacted_hand),
        hand_question.ruleset_of_hand(viewed, redacted_hand),
    )


def _cache_control(viewed: LedgerView, redacted_hand: RedactedEvents) -> str:
    return IMMUTABLE if hand_question.is_settled(viewed, redacted_hand) else NO_CACHE


def _file_name(redacted_hand: RedactedEvents, suffix: str) -> str:
    return f"{re.sub(r'[^A-Za-z0-9._-]', '-', redacted_hand.stream)}.{suffix}"


@router.get(
    "/api/v1/log/checkpoint",
    tags=["log"],
    operation_id="checkpoint",
    summary="The newest signed checkpoint: how large the tree is, and its root",
    description="A C2SP tlog-checkpoint. Keep it: later the ledger can be held to it.",
    responses=content_types("txt"),
)
def checkpoint(request: Request, ask: Auth) -> Response:
    return bytes_response(request, Tree(ask.snapshot()).note, "txt")


@router.get(
    "/api/v1/log/key",
    tags=["log"],
    operation_id="log_key",
    summary="The public keys that have signed for this ledger, the newest last",
    description="Compare it with the one that you know from somewhere else: docs/trust.md.",
    responses=content_types("txt"),
)
def key(request: Request, ask: Auth) -> Response:
    keys = Tree(ask.snapshot()).keys
    return bytes_response(request, "".join(f"{one.text()}\n" for one in keys).encode(), "txt")


@router.get(
    "/api/v1/log/tile/entries/{path:path}",
    tags=["log"],
    operation_id="entries",
    summary="The leaves behind a tile of level 0: up to 256 entries",
    description="Each is two bytes of length, then the leaf: which record it is, and the digest of"
    " its public lines. The SHA-256 of a zero byte and a leaf is its hash in the tile.",
    responses=content_types("tile"),
)
def entries(
    request: Request, ask: Auth, path: Annotated[str, Path(max_length=80, examples=["000.p/9"])]
) -> Response:
    return _tile(request, Tree(ask.snapshot()).entries, path)


@router.get(
    "/api/v1/log/tile/{path:path}",
    tags=["log"],
    operation_id="tile",
    summary="A tile of the tree: up to 256 hashes of one level",
    description="`0/x001/067` is full, `0/067.p/9` has the first 9 hashes. Neither ever changes.",
    responses=content_types("tile"),
)
def tile(
    request: Request, ask: Auth, path: Annotated[str, Path(max_length=80, examples=["0/000.p/9"])]
) -> Response:
    return _tile(request, Tree(ask.snapshot()).tile, path)


def _tile(request: Request, read: Callable[[str], bytes], path: str) -> Response:
    try:
        content = read(path)
    except Refuted as reason:
        raise Problem("not-found", str(reason)) from None
    return bytes_response(request, content, "tile", cache=IMMUTABLE)


@router.get(
    "/api/v1/log/consistency",
    tags=["log"],
    operation_id="consistency",
    summary="The proof that the tree only grew from one size to another",
    description="As text it is the body that a C2SP witness is sent: the old size, the proof, and"
    " the newest checkpoint.",
    responses=content_types("json", "txt"),
)
def consistency(
    request: Request,
    ask: Auth,
    old: Annotated[int, Query(alias="from", ge=0, lt=2**63, description="A size it had once.")],
    new: Annotated[
        int | None,
        Query(alias="to", ge=0, lt=2**63, description="A later size; else the newest signed for."),
    ] = None,
) -> Response:
    kind = format_of(request, ("json", "txt"))
    tree = Tree(ask.snapshot())
    try:
        grown = tree.consistency(old, tree.size if new is None else new)
    except Refuted as reason:
        raise Problem("invalid", str(reason)) from None
    if kind == "json":
        ends = {"from": (grown.old, grown.old_root), "to": (grown.new, grown.new_root)}
        heads = {name: {"size": size, "root": to_base64(it)} for name, (size, it) in ends.items()}
        return json_response(request, {**heads, "proof": list(map(to_base64, grown.proof))})
    if grown.new != tree.size:
        raise Problem("not-acceptable", f"as text it ends in the checkpoint of {tree.size} leaves")
    head = "".join(f"{line}\n" for line in (f"old {old}", *map(to_base64, grown.proof), ""))
    return bytes_response(request, head.encode() + tree.note, "txt")
