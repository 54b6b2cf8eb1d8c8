"""`/hands/M/N/events`: a record event by event, as it is seen, and what each one changed."""

from typing import Any

import msgspec
from fastapi import APIRouter, Request
from fastapi.responses import Response

from api.http.ask import Ask
from api.pages.committed import committed
from api.pages.hand_line import pieces
from api.pages.of_hand import of_hand
from api.pages.site import page
from api.questions.frames import frames
from api.report import name_at
from api.rules import Rules
from api.viewpoints.sight import One

router = APIRouter(include_in_schema=False)
_COUNTS = ("street", "pot", "rake")
_OF_A_SEAT = ("stack", "bet", "standing", "cards")


@router.get("/hands/{match}/{number}/events")
def events(request: Request, ask: Ask, match: str, number: str) -> Response:
    with ask.viewed() as viewed:
        sight = viewed.sight(f"{match}/{number}")
        context = of_hand(request, ask, viewed, sight, "events")
        commitments = committed(viewed, sight)
        game = Rules(viewed.snapshot, None).marked(context["start"].ruleset)
    told = frames(sight, ask.viewer.view, game)
    begins = {mark["idx"]: mark["name"] for mark in told["marks"]}
    drawn = told["frames"]
    parts: list[tuple[str, list[dict[str, Any]]]] = [("start", [])]
    for idx, one in enumerate(sight.ones[: len(drawn)]):
        row = {
            "idx": idx,
            "at": drawn[idx]["at"],
            "line": pieces(drawn[idx]["line"]),
            "kind": drawn[idx]["type"],
            "hidden": one.hidden,
            "holder": _holder(one, told["players"]),
            "json": _json(one),
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


def _holder(one: One, players: list[str]) -> str | None:
    """Whose secret it is that the event tells this viewer, if it tells any."""
    seat = getattr(one.seen, "seat", None)
    if seat is None or one.hidden or not type(one.seen).__name__.endswith("Seen"):
        return None
    return name_at(players, seat)


def _json(one: One) -> str:
    """The event as the HTTP API sends it."""
    return msgspec.json.format(msgspec.json.encode(one.seen), indent=2).decode()
