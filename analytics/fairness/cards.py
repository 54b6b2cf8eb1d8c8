"""The cards of every hand in the order they were dealt, each with its place: what chance did.

A place is `hole dealer 1`, `board 4`, `third dealer` or `swap turn dealer 1`; with more seats they
count from the button. A match in which a card of a kind was never recorded is left out for
that kind altogether: cards that are known because somebody won with them are no sample. Of a
mirrored deck only the first hand counts, for it is one shuffle.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from events.cards import known
from events.types import BoardDealt, Cards, CardSwapped, HoleDealt, StepEntered
from store.log.leaf import Leaf, split


class Card(Struct, frozen=True):
    """A card, the kind of its place and the place, and how many of the deck were gone before."""

    kind: str
    place: str
    card: str
    gone: Cards


class Deal(Struct, frozen=True):
    """One hand's cards in order."""

    hand: str
    match: str
    number: int
    cards: tuple[Card, ...]
    holes: tuple[Cards, ...]

    @property
    def repeated(self) -> bool:
        """Whether a card was dealt twice."""
        seen = [one.card for one in self.cards]
        return len(seen) != len(set(seen))


class Dealt(Struct, frozen=True):
    """All of them; `left_out` counts matches by the kind of card that was not recorded."""

    deals: tuple[Deal, ...]
    left_out: dict[str, int]


def dealt(leaves: Iterable[Leaf], deals: Mapping[str, int]) -> Dealt:
    """The deals of a record, without what was not recorded."""
    found: list[Deal] = []
    lacking: set[tuple[str, str]] = set()
    for leaf in leaves:
        match, number = split(leaf.stream)
        if leaf.hand is None or number is None or (number - 1) % deals.get(match, 1):
            continue
        cards = tuple(_cards(leaf))
        lacking |= {(match, one.kind) for one in cards if known((one.card,)) is None}
        found.append(Deal(leaf.stream, match, number, cards, _holes(leaf)))
    whole = tuple(_without(one, lacking) for one in found)
    kinds = [kind for _, kind in lacking]
    return Dealt(whole, {kind: kinds.count(kind) for kind in sorted(set(kinds))})


def _without(deal: Deal, lacking: set[tuple[str, str]]) -> Deal:
    """A deal of a match in which some kinds of card are not known; without holes nothing is."""
    if not any(match == deal.match for match, _ in lacking):
        return deal
    if (deal.match, "hole") in lacking:
        return Deal(deal.hand, deal.match, deal.number, (), ())
    left = tuple(one for one in deal.cards if (deal.match, one.kind) not in lacking)
    return Deal(deal.hand, deal.match, deal.number, left, deal.holes)


def _cards(leaf: Leaf) -> Iterator[Card]:
    """Cards in the order of their events."""
    hand = leaf.hand
    assert hand is not None
    seats = len(hand.start.players)
    gone: Cards = ()
    board, swaps = 0, 0
    held = [0] * seats
    for one in leaf.recorded:
        event: Any = one.event
        if isinstance(event, StepEntered) and event.name == "swap":
            swaps += 1
        new: list[tuple[str, str, str]] = []
        if isinstance(event, HoleDealt):
            who = _who(event.seat, hand.start.button, seats)
            for card in event.cards:
                held[event.seat] += 1
                third = held[event.seat] > 2
                place = f"third {who}" if third else f"hole {who} {held[event.seat]}"
                new.append(("third" if third else "hole", place, card))
        elif isinstance(event, BoardDealt):
            for card in event.cards:
                board += 1
                new.append(("board", f"board {board}", card))
        elif isinstance(event, CardSwapped) and event.new != event.old:
            who = _who(event.seat, hand.start.button, seats)
            street = "flop" if swaps < 2 else "turn"
            new.append(("swap", f"swap {street} {who} {event.slot + 1}", event.new))
        for kind, place, card in new:
            yield Card(kind, place, card, gone)
            gone = (*gone, card)


def _who(seat: int, button: int, seats: int) -> str:
    away = (seat - button) % seats
    if away == 0:
        return "dealer"
    return "big blind" if seats == 2 else f"dealer + {away}"


def _holes(leaf: Leaf) -> tuple[Cards, ...]:
    """The first two cards of each seat, the dealer's first."""
    hand = leaf.hand
    assert hand is not None
    held: dict[int, Cards] = {}
    for one in leaf.recorded:
        if isinstance(one.event, HoleDealt) and one.event.seat not in held:
            held[one.event.seat] = one.event.cards[:2]
    seats, button = len(hand.start.players), hand.start.button
    order = [(button + away) % seats for away in range(seats)]
    return tuple(held.get(seat, ()) for seat in order)
