"""What one seat, the public or an auditor may see of a record: a projection with types of its own.

A door that shows events to somebody accepts only `Seen`, so forgetting to redact is a type error.
Which fields are hidden from whom stands in `events/hidden.py`. The projection looks at one event at
a time and never back: what was hidden stays hidden in place, and what is revealed later (a shown
hand, the bids of a settled auction) is a later event. A stream that somebody follows therefore
never changes behind him.
"""

from collections.abc import Iterable
from typing import Annotated, Any, cast, get_args

from msgspec import Meta, Struct

from events import types as t
from events.cards import Card, Rank
from events.hidden import FIELDS, Secret
from events.match import (
    Dealing,
    DeckCommitted,
    DeckOpened,
    Disclosure,
    Match,
    MatchEnded,
    NonceGiven,
    Tagged,
)
from events.types import FaultKind, FaultPlace, Origin


class Hidden(Struct, frozen=True):
    """Something that was recorded and that this viewpoint may not see; `??` was never recorded."""

    redacted: Annotated[bool, Meta(description="always true")] = True


HIDDEN = Hidden()


class Public(Struct, frozen=True):
    """Anybody, without a seat."""


class Seated(Struct, frozen=True):
    """The player at this seat."""

    seat: int


class Auditor(Struct, frozen=True):
    """Who may read the whole record."""


Viewpoint = Public | Seated | Auditor


class HoleDealtSeen(Struct, frozen=True, tag="HoleDealt"):
    """Cards for a seat: its own, or only how many."""

    seat: int
    cards: tuple[Card | Hidden, ...]


class BountyDrawnSeen(Struct, frozen=True, tag="BountyDrawn"):
    """The rank that is a seat's bounty: for that seat."""

    seat: int
    rank: Rank | Hidden


class BidPlacedSeen(Struct, frozen=True, tag="BidPlaced"):
    """A bid: why it was made would tell its size, so both are hidden together."""

    seat: int
    amount: int | Hidden
    sealed: bool
    origin: Origin | Hidden


class CardSwappedSeen(Struct, frozen=True, tag="CardSwapped"):
    """A card was at risk; whether it changed is for its holder."""

    seat: int
    slot: int
    old: Card | Hidden
    new: Card | Hidden
    changed: bool | Hidden


class FaultedSeen(Struct, frozen=True, tag="Faulted"):
    """A reply could not be used; its text is for its sender."""

    seat: int
    raw: str | Hidden
    kind: FaultKind
    where: FaultPlace


class MatchStartedSeen(Struct, frozen=True, tag="MatchStarted"):
    """A match as announced: a seed would tell every card to come."""

    match: str
    game: str
    ruleset: str
    players: tuple[str, ...]
    dealing: Dealing
    disclosure: Disclosure
    sealed_bids: bool
    seed: str | Hidden | None
    deals: int = 1


class SourceNotedSeen(Struct, frozen=True, tag="SourceNoted"):
    """A foreign file was imported; its own words may name a seed, a card or a reply to a bid."""

    format: str
    dialect: str
    header: str | Hidden
    footer: str | Hidden


Open = (
    t.HandStarted
    | t.StepEntered
    | t.AntePosted
    | t.BlindPosted
    | t.BoardDealt
    | t.BettingOpened
    | t.Folded
    | t.Checked
    | t.Called
    | t.Bet
    | t.Raised
    | t.AuctionSettled
    | t.Tossed
    | t.UncalledReturned
    | t.Announced
    | t.Shown
    | t.Mucked
    | t.PotSplit
    | t.BountySettled
    | t.RakeTaken
    | t.TimedOut
    | t.Disconnected
    | t.Reconnected
    | t.Claimed
    | t.HandVoided
    | t.HandEnded
    | Tagged
    | DeckCommitted
    | NonceGiven
    | DeckOpened
    | MatchEnded
)
Seen = (
    Open
    | HoleDealtSeen
    | BountyDrawnSeen
    | BidPlacedSeen
    | CardSwappedSeen
    | FaultedSeen
    | MatchStartedSeen
    | SourceNotedSeen
)


def viewpoint(view: str, players: tuple[str, ...]) -> Viewpoint:
    """The viewpoint that `public`, `seat:NAME` or `auditor` names in a hand of these players."""
    if view == "public":
        return Public()
    if view == "auditor":
        return Auditor()
    kind, _, name = view.partition(":")
    if kind == "seat" and name in players:
        return Seated(players.index(name))
    seats = ", ".join(f"seat:{player}" for player in players)
    raise ValueError(f"{view} is no viewpoint here: there are public, auditor, {seats}")


def see(events: Iterable[t.Event | Match], who: Viewpoint) -> tuple[Seen, ...]:
    """The stream as this viewpoint may see it."""
    seen = (see_one(event, who) for event in events)
    return tuple(event for event in seen if event is not None)


def see_one(event: t.Event | Match, who: Viewpoint) -> Seen | None:
    """One event as this viewpoint may see it; None if even that it happened is hidden."""
    hidden = FIELDS[type(event)]
    if not hidden.secrets:
        return cast(Open, event)
    if hidden.is_withheld(event) and not _holds(who, "seat", event):
        return None
    seen = {field: getattr(event, field) for field in hidden.clear.split()}
    for secret in hidden.secrets:
        value = secret.of(event)
        if value is not None and not may_see(who, secret, event):
            # of cards it is known how many they are
            value = (HIDDEN,) * len(value) if isinstance(value, tuple) else HIDDEN
        seen[secret.field] = value
    return cast(Seen, seen_as(type(event))(**seen))


def may_see(who: Viewpoint, secret: Secret, event: t.Event | Match) -> bool:
    """Whether a viewpoint sees a secret of an event."""
    if _holds(who, secret.holder, event):
        return True
    if secret.sealed_by is not None and isinstance(who, Seated):
        return not getattr(event, secret.sealed_by)
    return secret.revealed_by is not None and bool(getattr(event, secret.revealed_by))


def _holds(who: Viewpoint, holder: str, event: Any) -> bool:
    """An auditor has everybody's secrets, a player those of his seat, the public none."""
    if isinstance(who, Seated):
        return holder == "seat" and bool(who.seat == event.seat)
    return isinstance(who, Auditor)


def seen_as(kind: type[t.Event | Match]) -> type[Any]:
    """The type in which an event of this kind is seen."""
    return _SEEN[kind.__name__]


_SEEN: dict[str, type[Any]] = {kind.__struct_config__.tag: kind for kind in get_args(Seen)}
