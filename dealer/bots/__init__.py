"""Players made of a few lines, by name; each sees what its seat may see, and answers legally."""

from collections.abc import Callable

from dealer.bots.bot import Bot, BuiltIn
from dealer.bots.built_in import (
    AggressiveBot,
    BidderBot,
    CallerBot,
    PotOddsBot,
    RandomBot,
    TightBot,
)
from dealer.bots.seen import Histories, SeatTurn, Seen, look

BOTS: dict[str, Callable[[str], Bot]] = {
    "random": RandomBot,
    "caller": CallerBot,
    "tight": TightBot,
    "aggressive": AggressiveBot,
    "pot-odds": PotOddsBot,
    "bidder": BidderBot,
}
"""Each is made from a seed, plays alike from the same seed, and keeps nothing between hands."""

__all__ = ["BOTS", "Bot", "BuiltIn", "Histories", "RandomBot", "SeatTurn", "Seen", "look"]
