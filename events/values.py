"""What events are made of: a fact, seats, chips, cards, and words for how and by whom."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from events.cards import Card

Seat = Annotated[int, Meta(ge=0, le=22)]
Chips = Annotated[int, Meta(ge=0, le=2**53 - 1)]
Step = Annotated[int, Meta(ge=0, le=99)]
Cards = tuple[Card, ...]
Rank = Literal["2", "3", "4", "5", "6", "7", "8", "9", "T", "J", "Q", "K", "A"]
Played = Annotated[
    str,
    Meta(
        pattern=r"^([0-9]{4}(-[0-9]{2}){2}(T[0-9]{2}(:[0-9]{2}){2}(Z|[+-][0-9]{2}:[0-9]{2})?)?)?$(?!\n)"
    ),
]

Origin = Literal["chosen", "forced", "default", "recorded"]
BlindKind = Literal["small", "big", "straddle", "post", "dead"]
FaultKind = Literal["illegal", "malformed", "late", "disconnected"]
FaultPlace = Literal["action", "bid", "acknowledgement"]
Dealing = Literal["seeded", "committed", "recorded"]
Disclosure = Literal["sealed", "open-after-match", "open"]
Drawer = Literal["player", "dealer"]


class Fact(Struct, frozen=True, tag=True, forbid_unknown_fields=True, gc=False):
    """One fact: immutable, comparable, named in JSON by the field `type`."""
