"""What seats put in before anybody chooses: antes and blinds."""

from msgspec import Struct

from engine.policies import Policies
from engine.seats import clockwise
from engine.turn import Command, IllegalCommand, Turn
from events.state import Hand
from events.types import AntePosted, BlindKind, BlindPosted, Events


class Unasked(Struct, frozen=True):
    """A step that happens by itself, on entering: nobody is asked, so nobody can answer."""

    def done(self, game: Policies, hand: Hand) -> bool:
        return True

    def turn(self, game: Policies, hand: Hand) -> Turn:
        raise AssertionError("this step asks nobody")

    def decide(self, game: Policies, hand: Hand, command: Command) -> Events:
        raise IllegalCommand("nobody is asked here: what is forced is put in by itself")

    def leave(self, game: Policies, hand: Hand) -> Events:
        return ()


class Antes(Unasked, frozen=True, tag=True):
    """Every seat puts in its ante, or what it has (U7)."""

    amount: int

    def enter(self, game: Policies, hand: Hand, at: int) -> Events:
        return _antes(hand, self.amount)


class Blinds(Unasked, frozen=True, tag=True):
    """Antes of every seat, then a small and a big blind; a short seat posts what it has."""

    small: int
    big: int
    ante: int = 0

    def enter(self, game: Policies, hand: Hand, at: int) -> Events:
        """Antes from the left of the button, then the two blinds."""
        antes = _antes(hand, self.ante) if self.ante else ()
        left = list(hand.stacks)
        for ante in antes:
            left[ante.seat] -= ante.amount
        small, big = _posters(game, hand)
        blinds = []
        if small is not None and self.small and left[small]:
            blinds.append(posted(game, small, self.small, left[small], "small"))
        if self.big and left[big]:
            blinds.append(posted(game, big, self.big, left[big], "big"))
        return (*antes, *blinds)


def posted(game: Policies, seat: int, blind: int, stack: int, kind: BlindKind) -> BlindPosted:
    """A blind cut by the stack; the others owe it in full, or what was really posted (G13)."""
    amount = min(blind, stack)
    return BlindPosted(seat, amount, blind if game.short_blind == "full" else amount, kind)


def _antes(hand: Hand, ante: int) -> tuple[AntePosted, ...]:
    """From the left of the button, each as much of the ante as it has."""
    order = clockwise(hand, hand.start.button)
    return tuple(AntePosted(seat, min(ante, hand.stacks[seat])) for seat in order)


def _posters(game: Policies, hand: Hand) -> tuple[int | None, int]:
    """Left of the button and the next; of two players the button posts the small one (G14)."""
    order = clockwise(hand, hand.start.button)
    if hand.start.dead_small:
        return None, order[0]
    if len(order) == 2 and game.heads_up_blinds == "button_small":
        return order[1], order[0]
    return order[0], order[1]
