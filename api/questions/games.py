"""The rulesets: found by name, changed by settings, and as rows, documents and Markdown."""

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from api.questions.json_types import GameDocument, ParameterDocument, Policy
from engine.catalogue import CATALOGUE, meaning
from engine.changes import changed, ruleset
from engine.faults import fault
from engine.game import Game, fingerprint, kept_game
from engine.games import RULESETS, is_dealt
from engine.parameters import PEERS, parameters

if TYPE_CHECKING:
    from api.viewpoints.ledger_view import LedgerView

Row = dict[str, Any]
FindRuleset = Callable[[str], bytes | None]
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,199}", re.ASCII)
_FINGERPRINT = re.compile(r"[0-9a-f]{16}")
_COMPUTED = ("schema", "fingerprint", "dealt", "policies", "parameters")  # told, and not read back


class UnknownGame(LookupError):
    """A name that no ruleset has; the sentence lists those there are."""


class InvalidRuleset(ValueError):
    """A ruleset that was sent and is none, or could not be played; the sentence says why."""


def game_of(name: str, kept: FindRuleset | None = None) -> Game:
    """The ruleset of this name or fingerprint; of a fingerprint, perhaps one that a ledger
    `kept`."""
    for game in RULESETS.values():
        if fingerprint(game) == name:
            return game
    found = kept_game(kept(name), name) if kept and _FINGERPRINT.fullmatch(name) else None
    if found is not None:
        return found
    try:
        return ruleset(name)
    except LookupError as unknown:
        raise UnknownGame(str(unknown)) from None


def visible_game(viewed: "LedgerView", name: str) -> Game:
    """The ruleset of a name or fingerprint, or one that a visible hand was dealt by."""
    kept = viewed.ruleset
    try:
        return game_of(name, kept)
    except UnknownGame:
        found = NAME.fullmatch(name) and viewed.rows(
            f"SELECT ruleset FROM hands WHERE game = '{name}' ORDER BY hand_seq LIMIT 1"
        )
        if not found:
            raise
        return game_of(found[0]["ruleset"], kept)


def game_address(game: Game) -> str:
    """The name of a ruleset in addresses: its name, if that is enough, else its fingerprint."""
    try:
        return game.name if ruleset(game.name) == game else fingerprint(game)
    except LookupError:
        return fingerprint(game)


def game_with_settings(
    name: str | None, settings: Mapping[str, Any], handed_in: Any = None
) -> Game:
    """The ruleset of a name, or one that is sent as plain values, changed by settings.

    `UnknownGame`, `InvalidRuleset` and `Impossible` say in one sentence why there is none.
    """
    game = game_of(name or "") if handed_in is None else game_from_document(handed_in)
    texts = {  # settings as they are typed: JSON has numbers and true, too
        key: ("yes" if value else "no") if isinstance(value, bool) else str(value)
        for key, value in settings.items()
    }
    return changed(game, texts)


def game_from_document(document: Any) -> Game:
    """A ruleset from plain values, as `game_document` makes them or as a ledger keeps its text.

    One that has the name of another ruleset must be that one, so that no two rules share a name.
    """
    values = _ruleset_fields(document)
    try:
        game = msgspec.convert(values, Game)
    except msgspec.ValidationError as reason:
        raise InvalidRuleset(f"this is no ruleset: {reason}") from None
    if place := _unknown_field(values, msgspec.to_builtins(game), "$"):
        raise InvalidRuleset(f"this is no ruleset: there is no {place}")
    if not NAME.fullmatch(game.name):
        raise InvalidRuleset(
            f"{game.name!r} cannot name a ruleset: letters, digits, '.', '_' and '-'"
        )
    if game.name.partition(".")[0] in RULESETS:
        # The ruleset that has this name here already, if it is the same.
        base = game.name.partition(".")[0]
        rename = f"give these rules a name of their own, such as {base}-mine"
        try:
            own = ruleset(game.name)
        except LookupError:
            raise InvalidRuleset(f"{game.name} says what was changed in {base}: {rename}") from None
        if fingerprint(own) == fingerprint(game):
            return own
        fields = (one for one in game.__struct_fields__ if one not in ("document", "readings"))
        other = [field for field in fields if getattr(game, field) != getattr(own, field)]
        raise InvalidRuleset(f"{game.name} has another {', '.join(other)} here: {rename}")
    # Habits of other engines, by which no hand is dealt.
    peers = [f"{name}={value}" for name, value in PEERS if getattr(game, name) == value]
    why = fault(game) or (f"{peers[0]} only explains foreign records" if peers else None)
    if why:
        raise InvalidRuleset(f"no hand could be played by {game.name}: {why}")
    # The partner is a ruleset that there is, and each reading a policy with such a value.
    if game.partner is not None:
        try:
            ruleset(game.partner)
        except LookupError as unknown:
            raise InvalidRuleset(f"{game.name} has a partner that is not here: {unknown}") from None
    for reading in game.readings:
        changed_game = {**msgspec.to_builtins(game), reading.policy: reading.value}
        try:
            known = reading.policy in CATALOGUE and msgspec.convert(changed_game, Game)
        except msgspec.ValidationError:
            known = False
        if not known:
            raise InvalidRuleset(
                f"no reading is {reading.policy} {reading.value}: docs/policies.md lists all"
            )
    return game


def _ruleset_fields(document: Any) -> Row:
    """The fields of a ruleset, its policies among them; of a document, of the one that is in it."""
    if isinstance(document, dict) and "games" in document:
        games = document["games"]
        if not isinstance(games, list) or len(games) != 1:
            raise InvalidRuleset(
                "a file of rulesets holds one of them here: muckrake games GAME --json"
            )
        document = games[0]
    if not isinstance(document, dict):
        raise InvalidRuleset(f"a ruleset is an object, not {type(document).__name__}")
    policies = document.get("policies", [])
    values = {name: value for name, value in document.items() if name not in _COMPUTED}
    for at, policy in enumerate(policies if isinstance(policies, list) else [policies]):
        if not isinstance(policy, dict) or not {"policy", "value"} <= policy.keys():
            raise InvalidRuleset(
                f"this is no ruleset: $.policies[{at}] names no policy and its value"
            )
        if not isinstance(policy["policy"], str) or policy["policy"] in values:
            raise InvalidRuleset(
                f"this is no ruleset: $.policies[{at}] says {policy['policy']} again"
            )
        values[policy["policy"]] = policy["value"]
    return values


def _unknown_field(handed_in: Any, known: Any, place: str) -> str | None:
    """The place of a field that rulesets do not have; None if there is none."""
    if isinstance(handed_in, dict) and isinstance(known, dict):
        for name, value in handed_in.items():
            path = f"{place}.{name}"
            if name not in known:
                return path
            if unknown := _unknown_field(value, known[name], path):
                return unknown
    if isinstance(handed_in, list) and isinstance(known, list | tuple):
        for at, (one, other) in enumerate(zip(handed_in, known, strict=False)):
            if unknown := _unknown_field(one, other, f"{place}[{at}]"):
                return unknown
    return None


def game_rows() -> list[Row]:
    """A row for each ruleset."""
    return [
        {
            "name": game.name,
            "fingerprint": fingerprint(game),
            "dealt": is_dealt(game),
            "seats_min": game.seats_min,
            "seats_max": game.seats_max,
            "stack": game.stack,
            "hands": game.hands,
            "partner": game.partner,
            "document": game.document,
        }
        for game in RULESETS.values()
    ]


def game_document(game: Game) -> GameDocument:
    """A ruleset in full, each policy with what its value means."""
    return GameDocument(
        name=game.name,
        fingerprint=fingerprint(game),
        dealt=is_dealt(game),
        document=game.document,
        script=game.script,
        seats_min=game.seats_min,
        seats_max=game.seats_max,
        stack=game.stack,
        hands=game.hands,
        partner=game.partner,
        readings=game.readings,
        policies=[
            Policy(
                name, getattr(game, name), meaning(name, getattr(game, name)), it.kind, it.entries
            )
            for name, it in CATALOGUE.items()
        ],
        parameters=[
            ParameterDocument(parameter.name, parameter.text, parameter.kind.may, parameter.about)
            for parameter in parameters(game).values()
        ],
    )


def game_markdown(game: Game) -> str:
    """A ruleset in Markdown: script, policies with citations, readings."""
    lines = [f"# {game.name}", "", f"{game.document}. Fingerprint `{fingerprint(game)}`.", ""]
    lines += ["## Script", ""]
    lines += [f"{number}. `{step!r}`" for number, step in enumerate(game.script)]
    lines += ["", "## Policies", "", "| policy | value | entries | meaning |", "|---|---|---|---|"]
    for name, policy in CATALOGUE.items():
        value = getattr(game, name)
        cells = (name, str(value), ", ".join(policy.entries), meaning(name, value))
        lines.append(f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |")
    lines += ["", "## Parameters", "", "| parameter | value | possible |", "|---|---|---|"]
    lines += [
        f"| {parameter.name} | {parameter.text} | {parameter.kind.may} |"
        for parameter in parameters(game).values()
    ]
    if game.readings:
        lines += ["", "## Readings tried on every hand", ""]
    for reading in game.readings:
        lines.append(f"- {reading.entry}: {reading.policy} `{reading.value}`: {reading.sentence}")
    return "\n".join(lines) + "\n"
