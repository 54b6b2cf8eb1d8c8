"""The rulesets there are: as rows, as plain values with what each policy means, as a text."""

from typing import Any

import msgspec

from engine.catalogue import CATALOGUE, meaning
from engine.game import Game, fingerprint
from engine.games import GAMES, RULESETS, named

Row = dict[str, Any]


class NoGame(LookupError):
    """No ruleset has this name; the sentence lists those there are."""


def game_of(name: str) -> Game:
    """The ruleset of this name, or of this fingerprint."""
    for game in RULESETS.values():
        if fingerprint(game) == name:
            return game
    try:
        return named(name)
    except LookupError as unknown:
        raise NoGame(str(unknown)) from None


def listed() -> list[Row]:
    """Every ruleset on one line."""
    return [
        {
            "name": game.name,
            "fingerprint": fingerprint(game),
            "dealt": game.name in GAMES,
            "seats_min": game.seats_min,
            "seats_max": game.seats_max,
            "stack": game.stack,
            "hands": game.hands,
            "partner": game.partner,
            "document": game.document,
        }
        for game in RULESETS.values()
    ]


def as_json(game: Game) -> Row:
    """A ruleset as plain values, each policy with what its value means."""
    plain = msgspec.to_builtins(game)
    policies = [
        {
            "policy": name,
            "value": plain[name],
            "meaning": meaning(name, getattr(game, name)),
            "class": policy.kind,
            "entries": policy.entries,
        }
        for name, policy in CATALOGUE.items()
    ]
    rest = {key: value for key, value in plain.items() if key not in CATALOGUE}
    about = {"name": game.name, "fingerprint": fingerprint(game), "dealt": game.name in GAMES}
    return {**about, **rest, "policies": policies}


def as_markdown(game: Game) -> str:
    """Everything that makes the ruleset, for reading: script, policies with citations, readings."""
    said = [f"# {game.name}", "", f"{game.document}. Fingerprint `{fingerprint(game)}`.", ""]
    said += ["## Script", ""]
    said += [f"{number}. `{step!r}`" for number, step in enumerate(game.script)]
    said += ["", "## Policies", "", "| policy | value | entries | meaning |", "|---|---|---|---|"]
    for name, policy in CATALOGUE.items():
        value = getattr(game, name)
        cells = (name, str(value), ", ".join(policy.entries), meaning(name, value))
        said.append(f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |")
    if game.readings:
        said += ["", "## Readings tried on every hand", ""]
    for reading in game.readings:
        said.append(f"- {reading.entry}: {reading.policy} `{reading.value}`: {reading.sentence}")
    return "\n".join(said) + "\n"
