"""What a fast path follows, so that it can leave every other ruleset to the engine.

A fast path decides hands by rules written a second time, for speed. It declares beside its code, by
kind of struct, the values of each field that these rules know. Nothing else is followed: no other
value, no field that it does not name unless it has its default, no kind of step that it does not
name, and no subclass. So a policy that is added later sends hands to the engine until the fast path
is told what it means; its default is what games did before.
"""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from engine.game import Reading

# By kind of struct and field: what the field may be. A type stands for all of its values, a range
# for its whole numbers, a kind of struct for those that are followed themselves; anything else
# for itself. A row is followed if each of its entries is.
Followed = Mapping[type[Struct], Mapping[str, tuple[object, ...]]]

EITHER = (False, True)
# What is said of rules and tables, and what no event of a hand depends on but whose card came next:
# every fast path follows this. Of clocks only what is asked once somebody's time has run out.
UNASKED: Mapping[str, tuple[object, ...]] = {
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


def unfollowed(one: Struct, followed: Followed) -> str | None:
    """The first part of a ruleset, a step or a rake that is not followed; None if all of it is."""
    if type(one) not in followed:
        return type(one).__name__
    known = followed[type(one)]
    for field in msgspec.structs.fields(one):
        value: Any = getattr(one, field.name)
        if field.name in known:
            wrong = _other(value, known[field.name], followed)
        else:
            wrong = None if _same(value, field.default) else str(value)
        if wrong is not None:
            return f"{field.name} {wrong}"
    return None


def _other(value: object, may: tuple[object, ...], followed: Followed) -> str | None:
    """What of a value is not followed."""
    if isinstance(value, tuple):
        return next((wrong for it in value if (wrong := _other(it, may, followed))), None)
    if isinstance(value, Struct):
        return unfollowed(value, followed) if type(value) in may else type(value).__name__
    return None if any(_is(value, one) for one in may) else str(value)


def _is(value: object, may: object) -> bool:
    if isinstance(may, range):
        return type(value) is int and value in may
    return type(value) is may if isinstance(may, type) else _same(value, may)


def _same(value: object, other: object) -> bool:
    """Whether two values are equal and of one type: True is no 1."""
    return type(value) is type(other) and value == other
