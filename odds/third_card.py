"""What one more hole card is worth in an auction on the flop: exact, for all that can be seen."""

from fractions import Fraction
from functools import lru_cache

from msgspec import Struct

from odds.batch import STANDARD, Showdown
from odds.counting import canonical
from odds.equity import Odds, equities
from odds.rank import Cards, mask
from odds.unseen import against_unseen, counted


class ThirdCard(Struct, frozen=True):
    """The odds with a third card against two (`won`), with two against three, and two against two.

    The card itself is unknown in each: nobody has seen it when the bids are made.
    """

    won: Odds
    lost: Odds
    neither: Odds

    @property
    def gain(self) -> Fraction:
        """Over nobody getting the card."""
        return self.won.share - self.neither.share

    @property
    def swing(self) -> Fraction:
        """Over the rival getting it: the part of the pot that an auction of two is about."""
        return self.won.share - self.lost.share

    def value(self, pot: int) -> Fraction:
        """What the card is worth in chips, if nothing is bet any more."""
        return pot * self.swing

    def break_even(self, pot: int) -> Fraction | None:
        """The price at which winning and losing pay the same, for it joins the pot; None: any."""
        return None if self.swing == 1 else pot * self.swing / (1 - self.swing)


def third_card(hole: Cards, board: Cards, rules: Showdown = STANDARD) -> ThirdCard:
    """For who sees his own cards and the board, against any two; spots alike in suits are one."""
    return _alike(*canonical(mask(hole), mask(board)), rules)


@lru_cache(maxsize=1 << 16)
def _alike(hole: int, board: int, rules: Showdown) -> ThirdCard:
    return counted_third_card(hole, board, rules)


def counted_third_card(hole: int, board: int, rules: Showdown = STANDARD) -> ThirdCard:
    """The same of masks, and counted anew."""
    return ThirdCard(
        won=counted(hole, board, drawn=1, rules=rules),
        lost=counted(hole, board, dealt=3, rules=rules),
        neither=counted(hole, board, rules=rules),
    )


def third_card_known(
    hole: Cards, rival: Cards, board: Cards, rules: Showdown = STANDARD
) -> ThirdCard:
    """For who sees both hands, as a record does afterwards."""
    with_rival = against_unseen(rival, board, rival=hole, dealt=1, rules=rules)
    return ThirdCard(
        won=Odds(with_rival.deals, (with_rival.losses, with_rival.ties)),
        lost=against_unseen(hole, board, rival=rival, dealt=1, rules=rules),
        neither=equities((hole, rival), board, rules=rules)[0],
    )
