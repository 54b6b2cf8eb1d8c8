"""Players made of a few lines, by name; each sees what its seat may see, and answers legally."""

from collections.abc import Callable

from dealer.bots.aggressive import AggressiveBot
from dealer.bots.bidder import BidderBot
from dealer.bots.bot import Bot, BuiltIn
from dealer.bots.caller import CallerBot
from dealer.bots.pot_odds import PotOddsBot
from dealer.bots.random import RandomBot
from dealer.bots.seen import Asked, Histories, Seen, look
from dealer.bots.tight import TightBot

BOTS: dict[str, Callable[[str], Bot]] = {
    "random": RandomBot,
    "caller": CallerBot,
    "tight": TightBot,
    "aggressive": AggressiveBot,
    "pot-odds": PotOddsBot,
    "bidder": BidderBot,
}
"""Each is made from a seed, plays alike from the same seed, and keeps nothing between hands."""

__all__ = ["BOTS", "Asked", "Bot", "BuiltIn", "Histories", "RandomBot", "Seen", "look"]
