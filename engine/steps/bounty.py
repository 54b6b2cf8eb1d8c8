"""Chance names a rank for each seat: a bounty, if the seat wins with a card of it (B1)."""

from typing import get_args

from msgspec import Struct

from engine.policies import Policies
from engine.seats import clockwise
from engine.turn import Command, Draw, IllegalCommand, ToDraw
from events.cards import Rank
from events.state import Hand
from events.types import BountyDrawn, Events, StepEntered

_RANKS = get_args(Rank)


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
