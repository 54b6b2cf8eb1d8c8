"""A game is a value: a script of steps and a set of named policies, fingerprinted."""

import hashlib
from functools import cache
from typing import Protocol

import msgspec

from engine.policies import Policies
from engine.steps import AnyStep
from engine.turn import Command, Turn
from events.state import Hand
from events.types import Events

# Policies that came after rulesets had been kept. While one has its default it is left out of a
# ruleset's text, so that no older fingerprint changes.
LATER: tuple[str, ...] = ("broke", "forced_all_in", "flushes", "bounty")


class Step(Protocol):
    """One line of a script.

    `enter` says what happens by itself when the hand comes here, and announces the step if it
    will wait; `done` tells whether nobody is left to answer; `turn` is the question; `decide`
    turns an answer into events or refuses it; `leave` is what happens by itself afterwards.
    """

    def enter(self, game: Policies, hand: Hand, at: int) -> Events: ...
    def done(self, game: Policies, hand: Hand) -> bool: ...
    def turn(self, game: Policies, hand: Hand) -> Turn: ...
    def decide(self, game: Policies, hand: Hand, command: Command) -> Events: ...
    def leave(self, game: Policies, hand: Hand) -> Events: ...


class Reading(msgspec.Struct, frozen=True):
    """Another way to read one sentence: the policy it replaces, and where that is argued."""

    entry: str
    policy: str
    value: str | int
    sentence: str


class Game(Policies, frozen=True, kw_only=True, cache_hash=True):
    """A ruleset: its name, the document it comes from, its script, and how else it is read."""

    name: str
    document: str
    script: tuple[AnyStep, ...]
    seats_min: int = 2
    seats_max: int = 23
    stack: int
    hands: int | None = None
    partner: str | None = None
    readings: tuple[Reading, ...] = ()


def to_json(game: Game) -> bytes:
    """The whole game as canonical JSON, but for later policies at their default."""
    values = msgspec.to_builtins(game)
    for field in msgspec.structs.fields(game):
        if field.name in LATER and getattr(game, field.name) == field.default:
            del values[field.name]
    return msgspec.json.encode(values, order="sorted")


def from_json(text: bytes) -> Game:
    """The game that this JSON spells."""
    return msgspec.json.decode(text, type=Game)


def kept_game(text: bytes | None, mark: str) -> Game | None:
    """The ruleset of a text that was kept under a fingerprint; None if the text is of another.

    A later program may have written a policy, a value or a step that this one lacks: to leave it
    out would be to judge by other rules than were played by.
    """
    if text is None:
        return None
    try:
        game = from_json(text)
    except msgspec.DecodeError:
        return None
    return game if fingerprint_of(text) == mark == fingerprint(game) else None


@cache
def fingerprint(game: Game) -> str:
    """Sixteen hex digits that name these rules; every hand's first event holds them."""
    return fingerprint_of(to_json(game))


def fingerprint_of(text: bytes) -> str:
    """The fingerprint of a ruleset's text as it was written, perhaps by an older version.

    What is said about the rules (document, partner, readings) may be reworded without changing
    them, so it is left out.
    """
    rules = msgspec.json.decode(text)
    for field in ("document", "partner", "readings"):
        rules.pop(field, None)
    return hashlib.sha256(msgspec.json.encode(rules, order="sorted")).hexdigest()[:16]
