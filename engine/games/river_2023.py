"""River of Blood 2023: the engine that dealt it; no document of its rules is public."""

from engine.game import Game, Reading
from engine.steps import Betting, Blinds, DealBoard, DealHole, Run, Showdown

RIVER_2023_MIT = Game(
    name="river-2023-mit",
    document="the Pokerbots engine of 2023",
    script=(
        Blinds(small=1, big=2),
        DealHole(2),
        Betting("preflop", 2),
        DealBoard(3),
        Betting("flop", 2),
        DealBoard(4),
        Betting("turn", 2),
        DealBoard(5),
        Betting("river", 2),
        Run(2),
        Showdown(),
    ),
    seats_min=2,
    seats_max=2,
    stack=400,
    hands=1000,
    raise_ceiling="effective_stack",
    hole_order="pairs_from_dealer",
    time_out="bot_default",
    ask_when_closed=True,
    flushes="first_suit",
    readings=(Reading("V2", "flushes", "best", "the best five of all cards are the hand"),),
)
