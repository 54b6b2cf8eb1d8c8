"""Auction Hold'em 2024: the document's sequence of play, and the engine that dealt it."""

from msgspec.structs import replace

from engine.game import Game, Reading
from engine.steps import Auction, Betting, Blinds, DealBoard, DealHole, Showdown

AUCTION_2024 = Game(
    name="auction-2024",
    document="Auction Hold'em, Pokerbots 2024",
    script=(
        Blinds(small=1, big=2),
        DealHole(2),
        Betting("preflop", 2),
        DealBoard(3),
        Auction(hole=3),
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
    partner="auction-2024-mit",
    raise_ceiling="effective_stack",
    hole_order="pairs_from_dealer",
    bids="sealed",
    third_card="top",
    showdown_tie="no_change",
    time_out="bot_default",
    readings=(
        Reading(
            "A9",
            "showdown_tie",
            "split",
            "the 2024 engine splits the pot: the payer of the auction loses half its price",
        ),
    ),
)

AUCTION_2024_MIT = replace(
    AUCTION_2024,
    name="auction-2024-mit",
    document="the Pokerbots engine of 2024",
    partner="auction-2024",
    bids="leaked",
    third_card="bottom",
    showdown_tie="split",
    ask_when_closed=True,
    readings=(
        Reading(
            "A9",
            "showdown_tie",
            "no_change",
            '"In the case of a tie, players\' bankrolls do not change."',
        ),
    ),
)
