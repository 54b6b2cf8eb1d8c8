"""Games of Pokerbots that only its engine defines: River of Blood, Bounty and Toss or Hold'em.

No document of their rules is public; those of 2022 and 2024 have one, and a file of their own.
"""

from engine.game import Game, Reading
from engine.steps import (
    Betting,
    Blinds,
    DealBoard,
    DealHole,
    DrawBounties,
    Run,
    Showdown,
    TossHole,
)

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
