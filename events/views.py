"""Redact events for a viewpoint (a seat, the public, an auditor) into types of their own.

Which field of which event is hidden, from whom and until when, stands here first: views, public
lines and their openings, masks of SQL, files, feeds and bots take it from here; in words it stands
in docs/events.md. A field that is not declared is an error at import, so nothing new is shown to
anybody before somebody has said who may see it.

A door that shows events to somebody accepts only `Seen`, so forgetting to redact is a type error.
The projection looks at one event at a time and never back: what was hidden stays hidden in place,
and what is revealed later (a shown hand, the bids of a settled auction) is a later event. A stream
that somebody follows therefore never changes behind him.
"""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, NamedTuple, cast, get_args

from msgspec import Meta, Struct

from events import types as t
from events.cards import Card, Rank
from events.ledger import Record
from events.match import (
    Dealing,
    DeckCommitted,
    DeckOpened,
    Disclosure,
    Match,
    MatchEnded,
    MatchStarted,
    NonceGiven,
    SourceNoted,
    Tagged,
)
from events.types import FaultKind, FaultPlace, Origin


class Secret(NamedTuple):
    """A value that its holder sees: the player at the event's `seat`, or nobody but an auditor.

    Where the flag `sealed_by` is false every seat sees it, too; where the flag `revealed_by` is
    true everybody does. With `differ` the value is whether these two fields differ.
    """

    field: str
    holder: Literal["seat", "auditor"] = "seat"
    sealed_by: str | None = None
    revealed_by: str | None = None
    differ: tuple[str, str] | None = None

    def of(self, event: Record) -> Any:
        """The secret's value in an event."""
        if self.differ is None:
            return getattr(event, self.field)
        one, other = self.differ
        return getattr(event, one) != getattr(event, other)


class Fields(NamedTuple):
    """The fields of one kind of event that everybody sees, and those that are secrets.

    `flags` decide over secrets and are in public lines, but not shown beside them. Where a field
    has the value of `withheld`, only the event's seat may know that it happened.
    """

    clear: str
    secrets: tuple[Secret, ...] = ()
    flags: str = ""
    withheld: tuple[str, str] | None = None

    def is_withheld(self, event: Record) -> bool:
        """Whether only the event's seat may know that it happened."""
        return self.withheld is not None and getattr(event, self.withheld[0]) == self.withheld[1]

    def secret(self, field: str) -> Secret:
        """The secret of this name."""
        return next(one for one in self.secrets if one.field == field)


FIELDS: dict[type[Record], Fields] = {
    t.HandStarted: Fields("hand game ruleset button players stacks dead_small assumed played"),
    t.StepEntered: Fields("step name"),
    t.AntePosted: Fields("seat amount"),
    t.BlindPosted: Fields("seat amount to kind origin"),
    t.HoleDealt: Fields("seat", (Secret("cards"),)),
    t.BoardDealt: Fields("cards"),
    t.BountyDrawn: Fields("seat", (Secret("rank"),)),
    t.BettingOpened: Fields("step street bet size next"),
    t.Folded: Fields("seat next origin"),
    t.Checked: Fields("seat next origin"),
    t.Called: Fields("seat amount next origin"),
    t.Bet: Fields("seat amount full next origin"),
    t.Raised: Fields("seat amount to full next origin"),
    # Why a bid was made would tell its size; a bid that is open is open at the table alone (A1).
    t.BidPlaced: Fields(
        "seat sealed", (Secret("amount", sealed_by="sealed"), Secret("origin", sealed_by="sealed"))
    ),
    t.Tossed: Fields("seat slot cards origin"),
    t.AuctionSettled: Fields("seats price bids sealed"),
    t.CardSwapped: Fields(
        "seat slot",
        (
            Secret("old"),
            Secret("new"),
            Secret("changed", revealed_by="told", differ=("old", "new")),
        ),
        flags="told",
    ),
    t.UncalledReturned: Fields("seat amount"),
    t.Announced: Fields("seat cards"),
    t.Shown: Fields("seat cards"),
    t.Mucked: Fields("seat"),
    t.PotSplit: Fields("pot seats shares"),
    t.BountySettled: Fields("seat payer hit amount"),
    t.RakeTaken: Fields("pot amount"),
    t.TimedOut: Fields("seat all_in next"),
    t.Disconnected: Fields("seat"),
    t.Reconnected: Fields("seat"),
    # That a sealed bid failed would tell that it counts as 0.
    t.Faulted: Fields("seat kind where", (Secret("raw"),), withheld=("where", "bid")),
    t.Claimed: Fields("nets rake"),
    t.HandVoided: Fields("reason"),
    t.HandEnded: Fields(""),
    # A seed would tell every card to come.
    MatchStarted: Fields(
        "match game ruleset players dealing disclosure sealed_bids deals",
        (Secret("seed", "auditor"),),
    ),
    Tagged: Fields("player tag value"),
    DeckCommitted: Fields("commitment hands"),
    NonceGiven: Fields("player nonce drawn_by"),
    DeckOpened: Fields("number secret"),
    # A foreign file's own words may name a seed, a card or a reply to a bid.
    SourceNoted: Fields(
        "format dialect", (Secret("header", "auditor"), Secret("footer", "auditor"))
    ),
    MatchEnded: Fields("nets reason"),
}


def check(table: Mapping[type[Record], Fields]) -> None:
    """Refuse a table that does not say of every field of every event who sees it."""
    for kind in get_args(Record):
        declared: list[str] = []
        if kind in table:
            hidden = table[kind]
            secrets = [secret.field for secret in hidden.secrets if secret.differ is None]
            declared = [*hidden.clear.split(), *hidden.flags.split(), *secrets]
        if kind not in table or sorted(declared) != sorted(kind.__struct_fields__):
            raise TypeError(
                f"of {kind.__name__} events/views.py declares {', '.join(declared) or 'nothing'}:"
                f" its fields are {', '.join(kind.__struct_fields__)}"
            )


check(FIELDS)
FLAGS = tuple(dict.fromkeys(flag for hidden in FIELDS.values() for flag in hidden.flags.split()))


class MatchOpenness(NamedTuple):
    """Whether everybody sees a match's hands, and its own secrets, as an auditor does; whether its
    hands are withheld from everybody else as long as they are not open."""

    hands: bool
    secrets: bool
    withheld: bool


def match_openness(disclosure: Disclosure | None, *, mirrored: bool, over: bool) -> MatchOpenness:
    """The openness of a match that announced this; a match without announcement opens nothing.

    A seed tells the cards of hands to come, so not even an open match shows it before it is over.
    A mirrored match deals each deck again, and who sees one leg knows cards of the others: it is
    disclosed whole, when it is over, and until then nobody sees anything of its hands.
    """
    secrets = over and disclosure in ("open", "open-after-match")
    hands = secrets or (disclosure == "open" and not mirrored)
    return MatchOpenness(hands, secrets, mirrored and not hands)


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
    """A viewpoint that may read the whole record."""


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


UnredactedEvent = (
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
    UnredactedEvent
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
        return cast(UnredactedEvent, event)
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
