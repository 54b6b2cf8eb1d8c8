"""The turns that a hand waits for, their legal answers, and refusals of others in a sentence."""

from typing import Literal

from msgspec import Struct

from events.cards import UNKNOWN, Cards, Rank
from events.types import BlindKind

CardKind = Literal["hole", "board", "third"]
Place = Literal["top", "bottom"]


class IllegalCommand(ValueError):
    """An answer the rules refuse: what was asked, what was possible, and why."""


# Turns: who must answer, and what he may answer.


class ToAct(Struct, frozen=True, tag=True):
    """A seat may fold, check, call, raise to `raise_min`..`raise_max`; `veto` names why not."""

    seat: int
    fold: bool
    check: bool
    call: int
    raise_min: int | None = None
    raise_max: int | None = None
    veto: str | None = None


class ToStraddle(Struct, frozen=True, tag=True):
    """A seat may put in its straddle, or all it has, or fold."""

    seat: int
    amount: int


class ToBid(Struct, frozen=True, tag=True):
    """A seat may bid 0..`bid_max`."""

    seat: int
    bid_max: int


class ToToss(Struct, frozen=True, tag=True):
    """A seat must lay one of its `slots` hole cards on the board."""

    seat: int
    slots: int


class ToDeal(Struct, frozen=True, tag=True):
    """The dealer gives so many cards, for the seats of `to` in that order or for the board.

    `slots` are places in the deck, where the ruleset fixes them so that a mirrored hand gets
    the same cards (G21).
    """

    count: int
    kind: CardKind
    to: tuple[int, ...] = ()
    place: Place = "top"
    burn: int = 0
    slots: tuple[int, ...] = ()


class ToSwap(Struct, frozen=True, tag=True):
    """Chance replaces each of these hole cards, or does not: `chance` times in `of`."""

    at_risk: tuple[tuple[int, int], ...]
    chance: int
    of: int
    slots: tuple[int, ...] = ()


class ToDraw(Struct, frozen=True, tag=True):
    """Chance names a rank for each of these seats; it names the same ones for so many `hands`."""

    seats: tuple[int, ...]
    hands: int


class ToShow(Struct, frozen=True, tag=True):
    """A seat shows its hand, or may muck it; `announce` if it must name its five cards."""

    seat: int
    may_muck: bool
    announce: bool = False


class Over(Struct, frozen=True, tag=True):
    """The hand is over: no seat is to act."""


Turn = ToAct | ToStraddle | ToBid | ToToss | ToDeal | ToSwap | ToDraw | ToShow | Over


# Commands: what somebody answers.

Will = Literal["chosen", "default"]


class Fold(Struct, frozen=True, tag=True):
    """Give up the hand."""

    seat: int
    origin: Will = "chosen"


class Check(Struct, frozen=True, tag=True):
    """Pass, with nothing to match."""

    seat: int
    origin: Will = "chosen"


class Call(Struct, frozen=True, tag=True):
    """Match the bet, or put in all that is left."""

    seat: int
    origin: Will = "chosen"


class Raise(Struct, frozen=True, tag=True):
    """Bet, or raise, so that the seat's bet of this round is `to`."""

    seat: int
    to: int
    origin: Will = "chosen"


class Straddle(Struct, frozen=True, tag=True):
    """Put in the straddle."""

    seat: int
    origin: Will = "chosen"


class Post(Struct, frozen=True, tag=True):
    """Put in a blind out of turn, as a newcomer; handed to `begin`.

    It is a big blind, unless a dead one names the small blind as its amount (M3).
    """

    seat: int
    kind: BlindKind = "post"
    amount: int | None = None


class Bid(Struct, frozen=True, tag=True):
    """Bid for the card; not `sealed` if the transport shows the bid to those who bid later."""

    seat: int
    amount: int
    sealed: bool = True
    origin: Will = "chosen"


class Toss(Struct, frozen=True, tag=True):
    """Lay the hole card in this slot on the board; `card` only where nobody recorded it before."""

    seat: int
    slot: int
    card: str = UNKNOWN
    origin: Will = "chosen"


class Deal(Struct, frozen=True, tag=True):
    """The cards asked for, in the order of the deck."""

    cards: Cards


class Swap(Struct, frozen=True, tag=True):
    """For every card at risk its replacement, or None where it stays."""

    cards: tuple[str | None, ...]


class Draw(Struct, frozen=True, tag=True):
    """The ranks asked for, seat by seat."""

    ranks: tuple[Rank, ...]


class Show(Struct, frozen=True, tag=True):
    """Turn the hand up; `cards` only where nobody recorded them before."""

    seat: int
    cards: Cards = ()


class Muck(Struct, frozen=True, tag=True):
    """Throw the hand away unseen."""

    seat: int


class Announce(Struct, frozen=True, tag=True):
    """Show, and name five cards as the hand."""

    seat: int
    cards: Cards


class TimeOut(Struct, frozen=True, tag=True):
    """The clock of this seat has run out."""

    seat: int


class Disconnect(Struct, frozen=True, tag=True):
    """The connection of this seat is gone."""

    seat: int


class Reconnect(Struct, frozen=True, tag=True):
    """The connection of this seat is back."""

    seat: int


Command = (
    Fold
    | Check
    | Call
    | Raise
    | Straddle
    | Post
    | Bid
    | Toss
    | Deal
    | Swap
    | Draw
    | Show
    | Muck
    | Announce
    | TimeOut
    | Disconnect
    | Reconnect
)
