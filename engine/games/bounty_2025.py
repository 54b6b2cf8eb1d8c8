"""Bounty Hold'em 2025: the engine that dealt it."""

from engine.game import Game
from engine.steps import Betting, Blinds, DealBoard, DealHole, DrawBounties, Showdown

BOUNTY_2025_MIT = Game(
    name="bounty-2025-mit",
    document="the Pokerbots engine of 2025",
    script=(
        Blinds(small=1, big=2),
        DealHole(2),
        DrawBounties(hands=25),
        Betting("preflop", 2),
        DealBoard(3),
        Betting("flop", 2),
        DealBoard(4),
        Betting("turn", 2),
        DealBoard(5),
        Betting("river", 2),
        Showdown(),
    ),
    seats_min=2,
    seats_max=2,
    stack=400,
    hands=1000,
    raise_ceiling="effective_stack",
    fold_when_free=True,
    hole_order="pairs_from_dealer",
    time_out="bot_default",
    ask_when_closed=True,
    bounty="half_and_ten",
)
