"""What chance owes: cards from the deck, and a rank for each seat, its bounty if it wins with a
card of it (B1). The step asks for so many, a dealer answers, the rules check them."""

from functools import lru_cache
from typing import get_args

from msgspec import Struct

from engine.policies import Policies
from engine.seats import clockwise, contenders
from engine.turn import Command, Deal, Draw, IllegalCommand, ToDeal, ToDraw
from events.cards import DECK, UNKNOWN, Cards, Rank, is_card
from events.state import Hand
from events.types import BoardDealt, BountyDrawn, Event, Events, HoleDealt, StepEntered

_DECK = frozenset(DECK)
_STREETS = {3: "flop", 4: "turn", 5: "river"}
_RANKS = get_args(Rank)


class DealHole(Struct, frozen=True, tag=True):
    """So many private cards to every seat."""

    count: int

    def enter(self, game: Policies, hand: Hand, at: int) -> Events:
        return (StepEntered(at, "hole"),)

    def done(self, game: Policies, hand: Hand) -> bool:
        return min([len(hand.hole[seat]) for seat in contenders(hand)]) >= self.count

    def turn(self, game: Policies, hand: Hand) -> ToDeal:
        """Two at once from the dealer round, or one at a time from his left (G15)."""
        to = _around(clockwise(hand, hand.start.button), self.count, game.hole_order)
        slots = tuple(range(len(to))) if game.deck_slots == "fixed" else ()
        return ToDeal(len(to), "hole", to, slots=slots)

    def decide(self, game: Policies, hand: Hand, command: Command) -> Events:
        return to_seats(game, hand, self.turn(game, hand), command)

    def leave(self, game: Policies, hand: Hand) -> Events:
        return ()


class DealBoard(Struct, frozen=True, tag=True, omit_defaults=True, repr_omit_defaults=True):
    """Common cards, until there are `total` of them; every seat was dealt `hole` before."""

    total: int
    street: str = ""  # left out while it is what the total says, so no older fingerprint changes
    hole: int = 2

    def enter(self, game: Policies, hand: Hand, at: int) -> Events:
        return (StepEntered(at, self.street or _STREETS.get(self.total, "board")),)

    def done(self, game: Policies, hand: Hand) -> bool:
        return len(hand.board) >= self.total

    def turn(self, game: Policies, hand: Hand) -> ToDeal:
        dealt = len(hand.board)
        if game.deck_slots == "sequential":
            return ToDeal(self.total - dealt, "board", burn=game.burn)
        first = self.hole * len(hand.stacks)  # the board lies right after the hole cards (G21)
        first -= max(0, first - sum(map(len, hand.hole)))  # tossed cards took no place (H1)
        slots = tuple(range(first + dealt, first + self.total))
        return ToDeal(self.total - dealt, "board", slots=slots)

    def decide(self, game: Policies, hand: Hand, command: Command) -> Events:
        return (BoardDealt(dealt(game, hand, self.total - len(hand.board), command)),)

    def leave(self, game: Policies, hand: Hand) -> Events:
        return ()


class DrawBounties(Struct, frozen=True, tag=True):
    """Each seat is told its bounty, the button first; so many hands in a row it is the same."""

    hands: int

    def enter(self, game: Policies, hand: Hand, at: int) -> Events:
        return (StepEntered(at, "bounties"),)

    def done(self, game: Policies, hand: Hand) -> bool:
        return len(hand.bounties) > 0

    def turn(self, game: Policies, hand: Hand) -> ToDraw:
        return ToDraw(clockwise(hand, hand.start.button - 1), self.hands)

    def decide(self, game: Policies, hand: Hand, command: Command) -> Events:
        """A rank for each seat."""
        seats = self.turn(game, hand).seats
        if not isinstance(command, Draw):
            raise IllegalCommand(
                f"chance owes {len(seats)} bounties: {type(command).__name__} does not answer that"
            )
        if len(command.ranks) != len(seats):
            raise IllegalCommand(f"{len(seats)} bounties are to be drawn, not {len(command.ranks)}")
        for rank in command.ranks:
            if rank not in _RANKS:
                raise IllegalCommand(f"{rank} is no rank: {' '.join(_RANKS)} are")
        return tuple(map(BountyDrawn, seats, command.ranks))

    def leave(self, game: Policies, hand: Hand) -> Events:
        return ()


@lru_cache(maxsize=1 << 10)
def _around(order: tuple[int, ...], count: int, hole_order: str) -> tuple[int, ...]:
    """The seats of a deal in the order of their cards; few tables differ."""
    if hole_order == "one_each_from_left":
        return order * count
    return tuple(seat for seat in (order[-1], *order[:-1]) for _ in range(count))


def to_seats(game: Policies, hand: Hand, question: ToDeal, command: Command) -> Events:
    """The cards of a deal, given out in the order that was asked for; one event a seat."""
    cards = dealt(game, hand, question.count, command)
    held: dict[int, list[str]] = {seat: [] for seat in question.to}
    for seat, card in zip(question.to, cards, strict=True):
        held[seat].append(card)
    events: list[Event] = [HoleDealt(seat, tuple(own)) for seat, own in held.items()]
    return tuple(events)


def dealt(game: Policies, hand: Hand, count: int, command: Command) -> Cards:
    """So many cards, none of them in play already."""
    if not isinstance(command, Deal):
        raise IllegalCommand(
            f"the dealer owes {count} cards: {type(command).__name__} does not answer that"
        )
    if len(command.cards) != count:
        raise IllegalCommand(f"{count} cards are to be dealt, not {len(command.cards)}")
    return unused(game, hand, command.cards)


def unused(game: Policies, hand: Hand, cards: Cards) -> Cards:
    """These cards, if each is one and none is in play; several may be unknown.

    A card that was swapped away is dead, unless the ruleset puts it back (S2). Cards are looked
    at one by one only where that is needed to say what is wrong.
    """
    seen = set(hand.board)
    seen.update(*hand.hole)
    if game.swap_discard == "dead":
        seen.update(hand.discards)
    new = set(cards)
    if len(new) == len(cards) and new <= _DECK and new.isdisjoint(seen):
        return cards
    for card in cards:
        if card == UNKNOWN:
            continue
        if card in seen:
            raise IllegalCommand(f"{card} is already in play")
        if not is_card(card):
            raise IllegalCommand(f"{card} is not a card: a rank and a suit, such as As, or ??")
        seen.add(card)
    return cards
