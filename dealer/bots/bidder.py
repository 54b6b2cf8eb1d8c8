"""Bids what a third card is worth, exactly; without an auction it is the bot of pot odds."""

from dealer.bots.pot_odds import PotOddsBot
from dealer.bots.seen import Seen
from dealer.bots.strength import third
from engine.turn import ToBid
from odds.third_card import Outcomes


class BidderBot(PotOddsBot):
    """The price at which getting the card and losing it to the rival pay the same, by the rules."""

    def bid(self, seen: Seen, asked: ToBid) -> int:
        price = Outcomes(third(seen), seen.pot, seen.game.showdown_tie).break_even
        return asked.bid_max if price is None else min(asked.bid_max, int(price))
