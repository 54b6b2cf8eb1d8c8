"""`/hands/M/N/events`: a record event by event, as it is seen, and what each one changed."""

from typing import Any, NamedTuple

import msgspec
from fastapi import APIRouter, Request
from fastapi.responses import Response

from api.http.ask import Ask
from api.pages.hand import of_hand
from api.pages.site import page
from api.questions.frames import frames, in_words
from api.questions.proof import proof
from api.questions.tree import NoSecrets, Unsigned
from api.rules import Rules
from api.viewpoints.redaction import RedactedEvents
from api.viewpoints.selection import Unfinished
from api.viewpoints.views import Viewed
from events.hidden import FIELDS
from events.sentences import name_at
from events.types import HandEnded, HandVoided
from store.proof.tree import Refuted

router = APIRouter(include_in_schema=False)
_COUNTS = ("street", "pot", "rake")
_OF_A_SEAT = ("stack", "bet", "standing", "cards")


@router.get("/hands/{match}/{number}/events")
def events(request: Request, ask: Ask, match: str, number: str) -> Response:
    with ask.viewed() as viewed:
        redacted_hand = viewed.redacted_hand(f"{match}/{number}")
        context = of_hand(request, ask, viewed, redacted_hand, "events")
        commitments = committed(viewed, redacted_hand)
        game = Rules(viewed.snapshot, None).marked(context["start"].ruleset)
    told = frames(redacted_hand, ask.viewer.view, game)
    begins = {mark["idx"]: mark["name"] for mark in told["marks"]}
    drawn, said = told["frames"], in_words(redacted_hand)
    parts: list[tuple[str, list[dict[str, Any]]]] = [("start", [])]
    for idx, one in enumerate(redacted_hand.ones[: len(drawn)]):
        seat = getattr(one.seen, "seat", None)
        secret = not one.hidden and type(one.seen).__name__.endswith("Seen")  # told to this viewer
        row = {
            "idx": idx,
            "at": drawn[idx]["at"],
            "said": said[idx],
            "kind": drawn[idx]["type"],
            "hidden": one.hidden,
            "holder": name_at(told["players"], seat) if secret and seat is not None else None,
            "json": msgspec.json.format(msgspec.json.encode(one.seen), indent=2).decode(),
            "committed": commitments[idx],
            "changes": changes(drawn[idx - 1] if idx else None, drawn[idx], told["players"]),
        }
        if idx in begins:
            parts.append((begins[idx], []))
        parts[-1][1].append(row)
    return page(request, ask, "events.html", **context, parts=parts, broken=told["broken"])


def changes(
    before: dict[str, Any] | None, after: dict[str, Any], players: list[str]
) -> list[tuple[str, Any, Any]]:
    """What is not as it was before the event: a name, what was, what is."""
    if before is None:
        return []
    found = [(name, before[name], after[name]) for name in _COUNTS if before[name] != after[name]]
    if before["board"] != after["board"]:
        found.append(("board", before["board"], after["board"]))
    for player, was, now in zip(players, before["seats"], after["seats"], strict=True):
        found += [
            (f"{player}: {name.replace('cards', 'hand')}", was[name], now[name])
            for name in _OF_A_SEAT
            if was[name] != now[name]
        ]
    return found


class Committed(NamedTuple):
    """A hidden field, its commitment, and the nonce if the viewer may open it."""

    field: str
    commitment: str
    nonce: str | None


def committed(viewed: Viewed, redacted_hand: RedactedEvents) -> list[tuple[Committed, ...]]:
    """The commitments of each event as seen; none where nothing was signed for yet."""
    try:
        told = proof(viewed, redacted_hand)
    except (NoSecrets, Refuted, Unfinished, Unsigned):
        return [() for _ in redacted_hand.ones]
    nonces = {(one["line"], one["field"]): one["nonce"] for one in told["openings"]}
    lines = iter(
        tuple(
            Committed(field, value["commitment"], nonces.get((number, field)))
            for field, value in msgspec.json.decode(line).items()
            if isinstance(value, dict) and "commitment" in value
        )
        for number, line in enumerate(told["lines"])
    )
    found: list[tuple[Committed, ...]] = []
    over = False
    for one in redacted_hand.ones:
        over = over or isinstance(one.seen, HandEnded | HandVoided)
        event = one.stored.event  # a reply that a bid failed with is in the line of the bid
        waits = FIELDS[type(event)].is_withheld(event) and not over
        found.append(() if waits else next(lines, ()))
    return found
