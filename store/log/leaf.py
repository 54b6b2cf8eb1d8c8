"""A leaf: what closed at once, a hand or one append of match records; nothing ever divides it."""

from functools import cached_property
from typing import Protocol, TypeVar

from msgspec import Struct

from events.evolve import replay
from events.ledger import Record, Recorded, is_match
from events.state import Hand
from events.types import HandStarted


class Leaf(Struct, frozen=True, dict=True):
    """Everything of a hand, or of one append to a match, in order.

    `known` is what the hand adds up to, if a caller has counted it already.
    """

    hand_seq: int
    recorded: tuple[Recorded, ...]
    known: Hand | None = None

    @property
    def stream(self) -> str:
        return self.recorded[0].stream

    @property
    def size(self) -> int:
        """How many events it has."""
        return len(self.recorded)

    @cached_property
    def by_kind(self) -> dict[type[Record], list[Recorded]]:
        """Its events of each kind in order: most who ask want one kind of them."""
        kinds: dict[type[Record], list[Recorded]] = {}
        for recorded in self.recorded:
            kind = type(recorded.event)
            if kind in kinds:
                kinds[kind].append(recorded)
            else:
                kinds[kind] = [recorded]
        return kinds

    @cached_property
    def hand(self) -> Hand | None:
        """What a hand adds up to, counted once for all who ask; nothing for records.

        A record that does not even add up (a seat that is not there) has none either: the ledger
        keeps what it was given, and an audit says what is wrong.
        """
        if self.known is not None:
            return self.known
        if is_match(self.stream) or not isinstance(self.recorded[0].event, HandStarted):
            return None
        try:
            return replay([recorded.event for recorded in self.recorded])  # type: ignore[misc]
        except (LookupError, TypeError, ValueError):
            return None


class Counted(Protocol):
    """What closed at once, with so many events, whatever they are kept in."""

    @property
    def size(self) -> int: ...


AnyLeaf = TypeVar("AnyLeaf", bound=Counted)


def split(stream: str) -> tuple[str, int | None]:
    """A stream as its match and its number; a match's own stream has none."""
    match, slash, number = stream.partition("/")
    return match, int(number) if slash else None
