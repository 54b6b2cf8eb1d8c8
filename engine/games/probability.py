"""The multiway no-limit hold'em of the article on probability, and ordinary no-limit beside it."""

from msgspec.structs import replace

from engine.game import Game, Reading
from engine.steps import Betting, Blinds, DealBoard, DealHole, Showdown

PROBABILITY = Game(
    name="probability",
    document="Texas Hold'em: Probability",
    script=(
        Blinds(small=5, big=10),
        DealHole(2),
        Betting("preflop", 10),
        DealBoard(3),
        Betting("flop", 10),
        DealBoard(4),
        Betting("turn", 10),
        DealBoard(5),
        Betting("river", 10),
        Showdown(),
    ),
    seats_min=2,
    seats_max=23,
    stack=1000,
    partner="probability-standard",
    ranking="top_card",
    straights="cyclic",
    odd_chips="first_left_all",
    stacks="carried",
    broke="leaves",
    readings=(
        Reading("P1", "straights", "standard", "elsewhere a straight may not wrap past the ace"),
        Reading("P3 P4", "ranking", "standard", "elsewhere all five cards are compared"),
        Reading("P6", "odd_chips", "clockwise_each", "elsewhere odd chips go one to each winner"),
    ),
)

PROBABILITY_STANDARD = replace(
    PROBABILITY,
    name="probability-standard",
    document="common practice",
    partner="probability",
    ranking="standard",
    straights="standard",
    odd_chips="clockwise_each",
    show_first="last_aggressor",
    muck="losers_may",
    readings=(
        Reading(
            "P1",
            "straights",
            "cyclic",
            '"Consecutive ranks such as a straight may cycle, '
            'for example Q, K, A, 2, 3 also constitutes a straight."',
        ),
        Reading("P3 P4", "ranking", "top_card", '"Flush: the highest rank card in hand."'),
        Reading(
            "P6",
            "odd_chips",
            "first_left_all",
            '"the remainder will be distributed according to predetermined rules, such as '
            'the small blind player [...] receiving the remaining chips."',
        ),
    ),
)
