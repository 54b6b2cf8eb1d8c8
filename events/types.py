"""Every event that can happen in a hand, and every record that can stand between hands.

Names of events and fields are storage names: an old ledger holds them for ever.
An `amount` is what moved, already cut by the stack; a total ends in `to`.
`next` is the seat that must answer now; nobody, when the round is over.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

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


class _Event(Struct, frozen=True, tag=True, forbid_unknown_fields=True, gc=False):
    """One fact: immutable, comparable, named in JSON by the field `type`."""


class HandStarted(_Event, frozen=True, omit_defaults=True):
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


class StepEntered(_Event, frozen=True):
    """The script waits at this step; a betting round says so with `BettingOpened` instead."""

    step: Step
    name: str


class AntePosted(_Event, frozen=True):
    """A seat puts its ante into the pot: a stake, but no bet of any round."""

    seat: Seat
    amount: Chips


class BlindPosted(_Event, frozen=True):
    """A forced bet: the amount that moved, and the bet it makes (more, if the seat was short)."""

    seat: Seat
    amount: Chips
    to: Chips
    kind: BlindKind
    origin: Origin = "forced"


class HoleDealt(_Event, frozen=True):
    """Private cards for one seat, added to those it holds."""

    seat: Seat
    cards: Cards


class BoardDealt(_Event, frozen=True):
    """Common cards, added to the board."""

    cards: Cards


class CardSwapped(_Event, frozen=True):
    """A hole card was at risk: written whether it changed or not, so presence tells nothing.

    `told`: the others may know whether it changed (S5).
    """

    seat: Seat
    slot: Annotated[int, Meta(ge=0, le=3)]
    old: Card
    new: Card
    told: bool = False


class BountyDrawn(_Event, frozen=True):
    """A seat is told the rank that is its bounty: his own, and nobody else's to know."""

    seat: Seat
    rank: Rank


class BettingOpened(_Event, frozen=True):
    """A round of betting begins: the bet to match, the size a full raise has, who is first."""

    step: Step
    street: str
    bet: Chips
    size: Chips
    next: Seat | None


class Folded(_Event, frozen=True):
    """A seat gives up its claim to every pot."""

    seat: Seat
    next: Seat | None
    origin: Origin = "chosen"


class Checked(_Event, frozen=True):
    """A seat passes with nothing to match."""

    seat: Seat
    next: Seat | None
    origin: Origin = "chosen"


class Called(_Event, frozen=True):
    """A seat matches the bet, or as much of it as its stack can."""

    seat: Seat
    amount: Chips
    next: Seat | None
    origin: Origin = "chosen"


class Bet(_Event, frozen=True):
    """The opening bet of a round; `full` if it is large enough to count as one."""

    seat: Seat
    amount: Chips
    full: bool
    next: Seat | None
    origin: Origin = "chosen"


class Raised(_Event, frozen=True):
    """A seat puts in `amount`, which makes its bet of this round `to`; `full` if it counts."""

    seat: Seat
    amount: Chips
    to: Chips
    full: bool
    next: Seat | None
    origin: Origin = "chosen"


class BidPlaced(_Event, frozen=True):
    """A bid for a card; sealed, unless the transport showed it to those who bid later."""

    seat: Seat
    amount: Chips
    sealed: bool
    origin: Origin = "chosen"


class Tossed(_Event, frozen=True):
    """A seat lays the hole card of this slot face up on the board; later slots move up by one."""

    seat: Seat
    slot: Annotated[int, Meta(ge=0, le=3)]
    cards: Cards
    origin: Origin = "chosen"


class AuctionSettled(_Event, frozen=True):
    """The winners each pay `price` into the pot, as dead money; `bids` in the order of bidding."""

    seats: tuple[Seat, ...]
    price: Chips
    bids: tuple[Chips, ...]
    sealed: bool


class UncalledReturned(_Event, frozen=True):
    """The part of the last bet that nobody matched goes back."""

    seat: Seat
    amount: Chips


class Announced(_Event, frozen=True):
    """A player names five cards as his hand, and they bind him."""

    seat: Seat
    cards: Cards


class Shown(_Event, frozen=True):
    """A seat turns its hole cards up."""

    seat: Seat
    cards: Cards


class Mucked(_Event, frozen=True):
    """A seat throws its hand away unseen."""

    seat: Seat


class RakeTaken(_Event, frozen=True):
    """The house takes its cut of one pot."""

    pot: Step
    amount: Chips


class PotSplit(_Event, frozen=True):
    """One pot is paid out: who is paid, and how much each."""

    pot: Step
    seats: tuple[Seat, ...]
    shares: tuple[Chips, ...]

    def __post_init__(self) -> None:
        if len(self.seats) != len(self.shares):
            raise ValueError(f"{len(self.seats)} seats are paid {len(self.shares)} shares")


class BountySettled(_Event, frozen=True):
    """Whether a seat that is paid hit its bounty, and what `payer` owes it for that beside the pot.

    The stack of the payer may come to less than nothing: the sum stays, and his match counts it.
    """

    seat: Seat
    payer: Seat
    hit: bool
    amount: Chips


class Claimed(_Event, frozen=True):
    """What a foreign source says that every seat won or lost, and the house took; it cannot be so.

    The chips of the record are paid by its rules: no chip of this claim ever moved in it. Where the
    source does not say the rake, it is the rules'.
    """

    nets: tuple[int, ...]
    rake: Chips


class HandVoided(_Event, frozen=True):
    """The hand does not count: every contribution goes back to who made it."""

    reason: str


class HandEnded(_Event, frozen=True):
    """Nothing more can happen to chips or cards of this hand."""


class TimedOut(_Event, frozen=True):
    """A seat did not answer in time; `all_in` if it stays in for what it has paid."""

    seat: Seat
    all_in: bool
    next: Seat | None


class Disconnected(_Event, frozen=True):
    """A seat's connection is gone; its clock runs on."""

    seat: Seat


class Reconnected(_Event, frozen=True):
    """A seat's connection is back."""

    seat: Seat


class Faulted(_Event, frozen=True):
    """A program's reply could not be used; its raw text is kept, a default action follows."""

    seat: Seat
    raw: str
    kind: FaultKind
    where: FaultPlace


class MatchStarted(_Event, frozen=True):
    """A series of hands begins: who plays what, how decks are made, who may see what later.

    Each deck is dealt in so many hands in a row, the players a seat further in each: more than
    one `deals` is a mirrored match (G21).
    """

    match: str
    game: str
    ruleset: str
    players: tuple[str, ...]
    dealing: Dealing
    disclosure: Disclosure
    sealed_bids: bool
    seed: str | None = None
    deals: Annotated[int, Meta(ge=1, le=23)] = 1


class Tagged(_Event, frozen=True):
    """What a player of a match is beside his name: `bot`, `version`, `team`; the last holds."""

    player: str
    tag: str
    value: str


class DeckCommitted(_Event, frozen=True):
    """The dealer commits to the decks of so many hands before the players add their nonces."""

    commitment: str
    hands: Annotated[int, Meta(ge=1, le=2**31 - 1)]


class NonceGiven(_Event, frozen=True, omit_defaults=True):
    """A player's contribution to the shuffles to come; who drew it, since that is recorded."""

    player: str
    nonce: str
    drawn_by: Drawer | None = None


class DeckOpened(_Event, frozen=True):
    """The secret of a hand's deck: it and every earlier deck can now be recomputed."""

    number: Annotated[int, Meta(ge=0, le=2**31 - 1)]
    secret: str


class SourceNoted(_Event, frozen=True):
    """What a foreign file holds besides its hands, so that it can be written again to the byte."""

    format: str
    dialect: str
    header: str
    footer: str


class MatchEnded(_Event, frozen=True):
    """No more hands: what each player won or lost in all, in the order of `MatchStarted`."""

    nets: tuple[int, ...]
    reason: str


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
Match = MatchStarted | DeckCommitted | NonceGiven | DeckOpened | SourceNoted | MatchEnded | Tagged
Events = tuple[Event, ...]
