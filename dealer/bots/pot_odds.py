"""Stays if the pot pays for it: exact equity against what a call costs; bets what is well ahead."""

from fractions import Fraction

from dealer.bots.bot import BuiltIn, leave, pot_raise, stay
from dealer.bots.seen import Seen
from dealer.bots.strength import against_all, against_one
from engine.turn import Command, ToAct

AHEAD = Fraction(3, 5)  # of a pot with one rival
RAISES = 2


class PotOddsBot(BuiltIn):
    """Takes every rival to hold any cards at all, and bids nothing."""

    def __init__(self, seed: str) -> None:
        """The same cards are always played alike."""

    def act(self, seen: Seen, asked: ToAct) -> Command:
        if against_one(seen) >= AHEAD and seen.raises < RAISES:
            return pot_raise(seen, asked, 2, 3)
        pays = against_all(seen) * (seen.pot + asked.call) >= asked.call
        return stay(asked) if pays else leave(asked)
