"""The steps a script is made of: each knows what it waits for and what an answer makes."""

from engine.steps.auction import Auction
from engine.steps.betting import Betting, Run
from engine.steps.deal import DealBoard, DealHole, DrawBounties
from engine.steps.forced import Antes, Blind, Blinds, Posts, Straddle
from engine.steps.showdown import Showdown
from engine.steps.swap import SwapHole, TossHole

__all__ = [
    "Antes",
    "AnyStep",
    "Auction",
    "Betting",
    "Blind",
    "Blinds",
    "DealBoard",
    "DealHole",
    "DrawBounties",
    "Posts",
    "Run",
    "Showdown",
    "Straddle",
    "SwapHole",
    "TossHole",
]

AnyStep = (
    Antes
    | Blinds
    | Posts
    | Blind
    | Straddle
    | DealHole
    | DealBoard
    | Betting
    | Auction
    | SwapHole
    | TossHole
    | DrawBounties
    | Run
    | Showdown
)
