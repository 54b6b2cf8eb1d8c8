"""The state of a hand after some of its events: chips, cards, betting round, shown hands.

All chips of a hand are in `stacks`, `pot` or `rake`, and the sum stays.
"""

from typing import Literal, NamedTuple

from msgspec import Struct

from events.cards import Cards, Rank
from events.types import Events, HandStarted

Standing = Literal["live", "all_in", "folded"]


class Round(Struct, frozen=True, gc=False):
    """One round of betting; it dies when the next step begins.

    `matched` is the bet that each seat last answered (-1: not yet asked), so a live seat owes
    an answer while `matched < bet`. `level` is the last bet that counted as a full one, `size`
    the largest full bet or raise so far, `raisers` who made them, `poster` the last blind.
    `least` is how far a raise must go if every raise so far, short ones too, is to be matched by
    as much again.
    Blinds start a round before it is opened.
    """

    bets: tuple[int, ...]
    matched: tuple[int, ...]
    opened: bool = False
    bet: int = 0
    size: int = 0
    level: int = 0
    least: int = 0
    raisers: tuple[int, ...] = ()
    next: int | None = None
    poster: int | None = None
    straddled: bool = False
    folds: int = 0


class Auction(Struct, frozen=True, gc=False):
    """Bids for a card, in order of bidding; `due` are the winners who wait for theirs."""

    bids: tuple[tuple[int, int], ...] = ()
    sealed: bool = True
    settled: bool = False
    due: tuple[int, ...] = ()


class Showing(Struct, frozen=True, gc=False):
    """Seats that have shown or mucked, and announced hands."""

    shown: tuple[int, ...] = ()
    mucked: tuple[int, ...] = ()
    announced: tuple[tuple[int, Cards], ...] = ()


class Hand(Struct, frozen=True, gc=False):
    """A hand after some of its events: everything that a rule or a page may ask.

    `forced` is the part of `paid` that was ante or blind, `tapped` what every seat had paid when
    this one went all-in (nothing, if it did not), `opener` and `aggressor` the first and the last
    to bet or raise in the latest round. `payers` have paid for a hit of another's bounty, and may
    owe for it.
    """

    start: HandStarted
    stacks: tuple[int, ...]
    paid: tuple[int, ...]
    dead: tuple[int, ...]
    forced: tuple[int, ...]
    tapped: tuple[tuple[int, ...], ...]
    standing: tuple[Standing, ...]
    hole: tuple[Cards, ...]
    board: Cards = ()
    discards: Cards = ()
    bounties: tuple[tuple[int, Rank], ...] = ()
    payers: tuple[int, ...] = ()
    pot: int = 0
    rake: int = 0
    step: int = 0
    street: str = ""
    round: Round | None = None
    opener: int | None = None
    aggressor: int | None = None
    auction: Auction | None = None
    swaps: int = 0
    showing: Showing = Showing()
    absent: tuple[int, ...] = ()
    over: bool = False
    voided: bool = False


def opened(event: HandStarted) -> Hand:
    """A hand to which nothing but its start has happened."""
    none = (0,) * len(event.stacks)
    live: Standing = "live"
    return Hand(
        start=event,
        stacks=event.stacks,
        paid=none,
        dead=none,
        forced=none,
        tapped=((),) * len(event.stacks),
        standing=(live,) * len(event.stacks),
        hole=((),) * len(event.stacks),
    )


class Finished(NamedTuple):
    """A whole hand: its record, and what each seat has at its end."""

    record: Events
    stacks: tuple[int, ...]
