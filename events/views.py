"""What one seat, the public or an auditor may see of a record: a projection with types of its own.

A door that shows events to somebody accepts only `Seen`, so forgetting to redact is a type error.
The projection looks at one event at a time and never back: what was hidden stays hidden in place,
and what is revealed later (a shown hand, the bids of a settled auction) is a later event. A stream
that somebody follows therefore never changes behind him.
"""

from collections.abc import Iterable
from typing import Annotated

from msgspec import Meta, Struct

from events import types as t
from events.cards import Card


class Hidden(Struct, frozen=True):
    """Something that was recorded and that this viewpoint may not see; `??` was never recorded."""

    redacted: Annotated[bool, Meta(description="always true")] = True


HIDDEN = Hidden()


class Public(Struct, frozen=True):
    """Whoever walks past the table."""


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


class BidPlacedSeen(Struct, frozen=True, tag="BidPlaced"):
    """A bid: why it was made would tell its size, so both are hidden together."""

    seat: int
    amount: int | Hidden
    sealed: bool
    origin: t.Origin | Hidden


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
    kind: t.FaultKind
    where: t.FaultPlace


class MatchStartedSeen(Struct, frozen=True, tag="MatchStarted"):
    """A match as announced: a seed would tell every card to come."""

    match: str
    game: str
    ruleset: str
    players: tuple[str, ...]
    dealing: t.Dealing
    disclosure: t.Disclosure
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
    | t.UncalledReturned
    | t.Announced
    | t.Shown
    | t.Mucked
    | t.PotSplit
    | t.RakeTaken
    | t.TimedOut
    | t.Disconnected
    | t.Reconnected
    | t.Claimed
    | t.HandVoided
    | t.HandEnded
    | t.DeckCommitted
    | t.NonceGiven
    | t.DeckOpened
    | t.MatchEnded
)
Seen = (
    Open
    | HoleDealtSeen
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
    there = ", ".join(f"seat:{player}" for player in players)
    raise ValueError(f"{view} is no viewpoint here: there are public, auditor, {there}")


def see(events: Iterable[t.Event | t.Match], who: Viewpoint) -> tuple[Seen, ...]:
    """The stream as this viewpoint may see it."""
    seen = (see_one(event, who) for event in events)
    return tuple(event for event in seen if event is not None)


def see_one(event: t.Event | t.Match, who: Viewpoint) -> Seen | None:
    """One event as this viewpoint may see it; None if even that it happened is hidden."""
    match event:
        case t.HoleDealt(seat=seat, cards=cards):
            mine = _is_own(who, seat)
            return HoleDealtSeen(seat, cards if mine else (HIDDEN,) * len(cards))
        case t.BidPlaced():
            return _bid(event, who)
        case t.CardSwapped(seat=seat, slot=slot, old=old, new=new):
            if _is_own(who, seat):
                return CardSwappedSeen(seat, slot, old, new, old != new)
            return CardSwappedSeen(seat, slot, HIDDEN, HIDDEN, old != new if event.told else HIDDEN)
        case t.Faulted(seat=seat, raw=raw, kind=kind, where=where):
            if _is_own(who, seat):
                return FaultedSeen(seat, raw, kind, where)
            # that a sealed bid failed would tell that it counts as 0
            return None if where == "bid" else FaultedSeen(seat, HIDDEN, kind, where)
        case t.MatchStarted():
            return _match(event, who)
        case t.SourceNoted(format=name, dialect=dialect, header=header, footer=footer):
            if isinstance(who, Auditor):
                return SourceNotedSeen(name, dialect, header, footer)
            return SourceNotedSeen(name, dialect, HIDDEN, HIDDEN)
        case _:
            return event


def _is_own(who: Viewpoint, seat: int) -> bool:
    """An auditor sees every seat's secrets, a player his own, the public none."""
    return isinstance(who, Auditor) or (isinstance(who, Seated) and who.seat == seat)


def _bid(event: t.BidPlaced, who: Viewpoint) -> Seen:
    """Sealed: for its bidder only. Open: for every seat, and still not for the public (A1)."""
    if _is_own(who, event.seat) or (isinstance(who, Seated) and not event.sealed):
        return BidPlacedSeen(event.seat, event.amount, event.sealed, event.origin)
    return BidPlacedSeen(event.seat, HIDDEN, event.sealed, HIDDEN)


def _match(event: t.MatchStarted, who: Viewpoint) -> Seen:
    """Only an auditor may know the seed."""
    hide = event.seed is not None and not isinstance(who, Auditor)
    return MatchStartedSeen(
        event.match,
        event.game,
        event.ruleset,
        event.players,
        event.dealing,
        event.disclosure,
        event.sealed_bids,
        HIDDEN if hide else event.seed,
        event.deals,
    )
