"""Toss or Hold'em 2026: the engine that dealt it."""

from engine.game import Game
from engine.steps import Betting, Blinds, DealBoard, DealHole, Showdown, TossHole

TOSS_2026_MIT = Game(
    name="toss-2026-mit",
    document="the Pokerbots engine of 2026",
    script=(
        Blinds(small=1, big=2),
        DealHole(3),
        Betting("preflop", 2),
        DealBoard(2, "flop", 3),
        TossHole(2),
        Betting("flop", 2),
        DealBoard(5, "turn", 3),
        Betting("turn", 2),
        DealBoard(6, "river", 3),
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
)
