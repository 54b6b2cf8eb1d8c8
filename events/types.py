"""The event types of a hand.

Names of events and fields are storage names: an old ledger holds them for ever.
An `amount` is what moved, already cut by the stack; a total ends in `to`.
`next` is the seat that must answer now; nobody, when the round is over.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from events.cards import Card, Cards, Rank

Seat = Annotated[int, Meta(ge=0, le=22)]
Chips = Annotated[int, Meta(ge=0, le=2**53 - 1)]
Step = Annotated[int, Meta(ge=0, le=99)]
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


class Fact(Struct, frozen=True, tag=True, forbid_unknown_fields=True, gc=False):
    """One fact: immutable, comparable, named in JSON by the field `type`."""


# What opens a hand and marks its way.


class HandStarted(Fact, frozen=True, omit_defaults=True):
    """A hand begins under a ruleset, its players in seat order with what each brings.

    `dead_small`: nobody posts a small blind, because its seat has just been left (M1).
    `assumed`: what this record takes for so although its source does not say it, each a short text
    like `stack 400` that begins with a word of docs/import.md.
    `played`: when, as its source says it, in RFC 3339: with an offset where it names a zone, a day
    alone where it names no more, empty where it does not say it or the hand was played here.
    """

    hand: str
    game: str
    ruleset: str
    button: Seat
    players: tuple[str, ...]
    stacks: tuple[Chips, ...]
    dead_small: bool = field(default_factory=bool)  # a factory's value is never left out
    assumed: tuple[str, ...] = ()
    played: Played = ""

    def __post_init__(self) -> None:
        if len(self.players) != len(self.stacks):
            raise ValueError(f"{len(self.players)} players bring {len(self.stacks)} stacks")


class StepEntered(Fact, frozen=True):
    """The script waits at this step; a betting round says so with `BettingOpened` instead."""

    step: Step
    name: str


# What is put in before anybody chooses.


class AntePosted(Fact, frozen=True):
    """A seat puts its ante into the pot: a stake, but no bet of any round."""

    seat: Seat
    amount: Chips


class BlindPosted(Fact, frozen=True):
    """A forced bet: the amount that moved, and the bet it makes (more, if the seat was short)."""

    seat: Seat
    amount: Chips
    to: Chips
    kind: BlindKind
    origin: Origin = "forced"


# What chance gives.


class HoleDealt(Fact, frozen=True):
    """Private cards for one seat, added to those it holds."""

    seat: Seat
    cards: Cards


class BoardDealt(Fact, frozen=True):
    """Common cards, added to the board."""

    cards: Cards


class CardSwapped(Fact, frozen=True):
    """A hole card was at risk: written whether it changed or not, so presence tells nothing.

    `told`: the others may know whether it changed (S5).
    """

    seat: Seat
    slot: Annotated[int, Meta(ge=0, le=3)]
    old: Card
    new: Card
    told: bool = False


class BountyDrawn(Fact, frozen=True):
    """A seat is told the rank that is its bounty: his own, and nobody else's to know."""

    seat: Seat
    rank: Rank


# What players choose.


class BettingOpened(Fact, frozen=True):
    """A round of betting begins: the bet to match, the size a full raise has, who is first."""

    step: Step
    street: str
    bet: Chips
    size: Chips
    next: Seat | None


class Folded(Fact, frozen=True):
    """A seat gives up its claim to every pot."""

    seat: Seat
    next: Seat | None
    origin: Origin = "chosen"


class Checked(Fact, frozen=True):
    """A seat passes with nothing to match."""

    seat: Seat
    next: Seat | None
    origin: Origin = "chosen"


class Called(Fact, frozen=True):
    """A seat matches the bet, or as much of it as its stack can."""

    seat: Seat
    amount: Chips
    next: Seat | None
    origin: Origin = "chosen"


class Bet(Fact, frozen=True):
    """The opening bet of a round; `full` if it is large enough to count as one."""

    seat: Seat
    amount: Chips
    full: bool
    next: Seat | None
    origin: Origin = "chosen"


class Raised(Fact, frozen=True):
    """A seat puts in `amount`, which makes its bet of this round `to`; `full` if it counts."""

    seat: Seat
    amount: Chips
    to: Chips
    full: bool
    next: Seat | None
    origin: Origin = "chosen"


class BidPlaced(Fact, frozen=True):
    """A bid for a card; sealed, unless the transport showed it to those who bid later."""

    seat: Seat
    amount: Chips
    sealed: bool
    origin: Origin = "chosen"


class Tossed(Fact, frozen=True):
    """A seat lays the hole card of this slot face up on the board; later slots move up by one."""

    seat: Seat
    slot: Annotated[int, Meta(ge=0, le=3)]
    cards: Cards
    origin: Origin = "chosen"


class AuctionSettled(Fact, frozen=True):
    """The winners each pay `price` into the pot, as dead money; `bids` in the order of bidding."""

    seats: tuple[Seat, ...]
    price: Chips
    bids: tuple[Chips, ...]
    sealed: bool


# What ends a hand.


class UncalledReturned(Fact, frozen=True):
    """The part of the last bet that nobody matched goes back."""

    seat: Seat
    amount: Chips


class Announced(Fact, frozen=True):
    """A player names five cards as his hand, and they bind him."""

    seat: Seat
    cards: Cards


class Shown(Fact, frozen=True):
    """A seat turns its hole cards up."""

    seat: Seat
    cards: Cards


class Mucked(Fact, frozen=True):
    """A seat throws its hand away unseen."""

    seat: Seat


class RakeTaken(Fact, frozen=True):
    """The house takes its cut of one pot."""

    pot: Step
    amount: Chips


class PotSplit(Fact, frozen=True):
    """One pot is paid out: who is paid, and how much each."""

    pot: Step
    seats: tuple[Seat, ...]
    shares: tuple[Chips, ...]

    def __post_init__(self) -> None:
        if len(self.seats) != len(self.shares):
            raise ValueError(f"{len(self.seats)} seats are paid {len(self.shares)} shares")


class BountySettled(Fact, frozen=True):
    """Whether a seat that is paid hit its bounty, and what `payer` owes it for that beside the pot.

    The stack of the payer may come to less than nothing: the sum stays, and his match counts it.
    """

    seat: Seat
    payer: Seat
    hit: bool
    amount: Chips


class Claimed(Fact, frozen=True):
    """What a foreign source says that every seat won or lost, and the house took; it cannot be so.

    The chips of the record are paid by its rules: no chip of this claim ever moved in it. Where the
    source does not say the rake, it is the rules'.
    """

    nets: tuple[int, ...]
    rake: Chips


class HandVoided(Fact, frozen=True):
    """The hand does not count: every contribution goes back to who made it."""

    reason: str


class HandEnded(Fact, frozen=True):
    """Nothing more can happen to chips or cards of this hand."""


# What clocks, connections and programs do.


class TimedOut(Fact, frozen=True):
    """A seat did not answer in time; `all_in` if it stays in for what it has paid."""

    seat: Seat
    all_in: bool
    next: Seat | None


class Disconnected(Fact, frozen=True):
    """A seat's connection is gone; its clock runs on."""

    seat: Seat


class Reconnected(Fact, frozen=True):
    """A seat's connection is back."""

    seat: Seat


class Faulted(Fact, frozen=True):
    """A program's reply could not be used; its raw text is kept, a default action follows."""

    seat: Seat
    raw: str
    kind: FaultKind
    where: FaultPlace


Event = (
    HandStarted
    | StepEntered
    | AntePosted
    | BlindPosted
    | HoleDealt
    | BoardDealt
    | BountyDrawn
    | BettingOpened
    | Folded
    | Checked
    | Called
    | Bet
    | Raised
    | BidPlaced
    | AuctionSettled
    | Tossed
    | CardSwapped
    | UncalledReturned
    | Announced
    | Shown
    | Mucked
    | PotSplit
    | BountySettled
    | RakeTaken
    | TimedOut
    | Disconnected
    | Reconnected
    | Faulted
    | Claimed
    | HandVoided
    | HandEnded
)
Events = tuple[Event, ...]
