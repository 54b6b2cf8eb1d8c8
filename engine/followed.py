"""Declare the policy values that a fast path follows; it leaves other rulesets to the engine.

A fast path decides hands by rules written a second time, for speed. It declares beside its code, by
kind of struct, the values of each field that these rules know. Nothing else is followed: no other
value, no field that it does not name unless it has its default, no kind of step that it does not
name, and no subclass. So a policy that is added later sends hands to the engine until the fast path
is told what it means; its default is what games did before.
"""

from collections.abc import Mapping, Set
from functools import cache
from typing import Any

import msgspec
from msgspec import Struct

from engine.catalogue import CATALOGUE, Kind
from engine.game import Game, Reading
from engine.policies import Policies

# By kind of struct and field: what the field may be. A type stands for all of its values, a range
# for its whole numbers, a kind of struct for those that are followed themselves; anything else
# for itself. A row is followed if each of its entries is.
Followed = Mapping[type[Struct], Mapping[str, tuple[object, ...]]]

EITHER = (False, True)
# What is said of rules and tables, and what no event of a hand depends on but whose card came next:
# every fast path follows this. Of clocks only what is asked once somebody's time has run out.
FOLLOWED_BY_ALL: Mapping[str, tuple[object, ...]] = {
    "name": (str,),
    "document": (str,),
    "partner": (str, None),
    "readings": (Reading,),
    "unit": (str,),
    "stack": (int,),
    "hands": (int, None),
    "seats_min": (int,),
    "seats_max": (int,),
    "burn": (0, 1),
    "deck_slots": ("sequential", "fixed"),
    "third_card": ("top", "bottom"),
    "time_out": ("none", "bot_default", "all_in_if_paid", "fold_or_check"),
    "contributed": ("any", "voluntary"),
    "reconnect": ("add", "reset"),
    "extensions": ("once", "every"),
    "button": ("moving", "dead"),
    "stacks": ("reset", "carried"),
    "broke": ("leaves", "buys_in", "set_anew"),
}


def unfollowed(part: Struct, followed: Followed) -> str | None:
    """The first part of a ruleset, a step or a rake that is not followed; None if all of it is."""
    if type(part) not in followed:
        return type(part).__name__
    return _first_other(part, followed[type(part)], followed, frozenset())


def unknown(
    game: Policies, known: Mapping[str, tuple[object, ...]], unused: Set[str]
) -> str | None:
    """The first policy with a value that is not known to a fast path which asks only some of them.

    `unused` are policies that the path does not read. One in neither set must have its default.
    A kind of struct stands for all of its values here.
    """
    return _first_other(game, known, {}, unused)


def of_other_kinds(*kinds: Kind) -> frozenset[str]:
    """The policies that are of none of these kinds, and what is only said of a ruleset."""
    others = {name for name, policy in CATALOGUE.items() if policy.kind not in kinds}
    return frozenset(others | {*Game.__struct_fields__} - {*Policies.__struct_fields__})


def _first_other(
    part: Struct, known: Mapping[str, tuple[object, ...]], followed: Followed, unused: Set[str]
) -> str | None:
    for name, default in _defaults(type(part)):
        value: Any = getattr(part, name)
        if name in unused:
            continue
        if name in known:
            wrong = _other(value, known[name], followed)
        else:
            wrong = None if _same(value, default) else str(value)
        if wrong is not None:
            return f"{name} {wrong}"
    return None


@cache
def _defaults(kind: type[Struct]) -> tuple[tuple[str, Any], ...]:
    """The fields of a struct; found once, for each hand of a file may have stakes of its own."""
    return tuple((field.name, field.default) for field in msgspec.structs.fields(kind))


def _other(value: object, may: tuple[object, ...], followed: Followed) -> str | None:
    """The part of a value that is not followed."""
    for allowed in may:
        if isinstance(allowed, range):
            follows = type(value) is int and value in allowed
        elif isinstance(allowed, type):
            follows = type(value) is allowed and not isinstance(value, Struct)
        else:
            follows = _same(value, allowed)
        if follows:
            return None
    if isinstance(value, tuple):
        return next((wrong for entry in value if (wrong := _other(entry, may, followed))), None)
    if isinstance(value, Struct) and type(value) in may:
        return unfollowed(value, followed) if followed else None
    return type(value).__name__ if isinstance(value, Struct) else str(value)


def _same(value: object, other: object) -> bool:
    """Whether two values are equal and of one type: True is no 1."""
    return type(value) is type(other) and value == other
