"""Which shape the JSON answer of each operation has; `docs/openapi.json` tells it.

A route without a line here fails a test, and so does an answer that is not as its line says
(`tests/http/shaped.py`).
"""

from collections.abc import Mapping
from inspect import cleandoc
from typing import Any, Literal, TypedDict, get_args

import msgspec

from api.http.keys import KeyTold
from api.jobs.jobs import JobTold
from api.questions.declared import every
from api.questions.shapes import hands, matches, opponents, players
from events.views import Seen

REF = "#/components/schemas/{name}"


class Viewpoint(TypedDict):
    """Through whose eyes you see this; in which matches, if not in all."""

    view: str
    matches: list[str]


class Welcome(TypedDict):
    """Version, viewpoint and where to go on."""

    version: str
    viewpoint: Viewpoint
    links: dict[str, str]


class Health(TypedDict):
    """That all is well."""

    status: Literal["ok", "ready"]


class Rows(TypedDict):
    """The rows of an answer in SQL, each a value by column."""

    schema: str
    rows: list[dict[str, Any]]


class EventRow(TypedDict):
    """An event as it is seen, in its envelope; `_with_events` puts every type of event here."""


class Events(hands.Page):
    """The events of a hand, in order."""

    data: list[EventRow]
    view: str


class JobsTold(hands.Page):
    """Your jobs, the newest first."""

    data: list[JobTold]


class KeysTold(hands.Page):
    """Every key, without its secret."""

    data: list[KeyTold]


class NewKey(KeyTold):
    """A key that was made just now, and how it is spelled: nobody is told that again."""

    key: str


ANSWERS: Mapping[str, Any] = {
    "root": Welcome,
    "keys": KeysTold,
    "make_key": NewKey,
    "health": Health,
    "ready": Health,
    "matches": matches.Matches,
    "match": matches.MatchTold,
    "match_root": matches.Root,
    "verify_match": matches.MatchVerified,
    "hands": hands.Hands,
    "hand": hands.Summary,
    "events": Events,
    "frames": hands.Frames,
    "state": hands.Frame,
    "proof": hands.Proof,
    "audit": hands.Audit,
    "consistency": matches.Consistency,
    "play": JobTold,
    "import": JobTold,
    "verify": JobTold,
    "jobs": JobsTold,
    "job": JobTold,
    "cancel": JobTold,
    "fairness": matches.Fairness,
    "match_fairness": matches.Fairness,
    "players": players.Players,
    "player": players.PlayerTold,
    "player_grid": players.Grid,
    "player_winnings": players.Winnings,
    "player_opponent": opponents.Opponent,
    "games": matches.Games,
    "game": matches.GameTold,
    "sql": Rows,
    "ask_sql": Rows,
    **{one.operation: one.answer for one in every()},
}


def of_answers() -> tuple[dict[str, Any], dict[str, Any]]:
    """A schema for each operation, and the components that these name."""
    names = list(ANSWERS)
    schemas, parts = msgspec.json.schema_components(ANSWERS.values(), ref_template=REF)
    _with_events(parts)
    omitting = {one.__name__ for one in get_args(Seen) if one.__struct_config__.omit_defaults}
    for name, part in parts.items():
        _whole(part, told=name not in omitting)
    return dict(zip(names, schemas, strict=True)), parts


def _with_events(parts: dict[str, Any]) -> None:
    """`EventRow` is any type of event, with the members of its envelope beside its own."""
    (told, envelope), kinds = msgspec.json.schema_components(
        (Seen, hands.Envelope), ref_template=REF
    )
    around = kinds.pop(_name(envelope))["properties"]
    told = told | {"description": EventRow.__doc__}
    for one in told["anyOf"]:
        event = kinds[_name(one)]
        event["properties"] |= around
        event["required"] = [*event["required"], *around]
    parts |= {**kinds, EventRow.__name__: told}


def _whole(part: dict[str, Any], *, told: bool) -> None:
    """A default is in the JSON all the same, unless its struct says not; words at the margin."""
    if "description" in part:
        part["description"] = cleandoc(part["description"])
    members = part.get("properties", {})
    there = {*part.get("required", ())}
    there |= {name for name, one in members.items() if told and "default" in one}
    if there:
        part["required"] = [name for name in members if name in there]


def _name(reference: dict[str, str]) -> str:
    return reference["$ref"].rpartition("/")[2]
