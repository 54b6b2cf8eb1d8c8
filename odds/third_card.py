"""The exact value and price of one more hole card, in an auction of two on the flop."""

from fractions import Fraction
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from odds.batch import STANDARD, Odds, Showdown, equities
from odds.ranges import canonical
from odds.rank import Cards, mask
from odds.unseen import against_unseen, odds_of_masks

Tie = Literal["split", "no_change"]
"""The values of the policy `showdown_tie`."""

BACK: dict[Tie, Fraction] = {"split": Fraction(1, 2), "no_change": Fraction(1)}
"""Which part of an auction's price its payer takes back in a tie at showdown (A9)."""


class ThirdCard(Struct, frozen=True):
    """The odds with a third card against two (`won`), with two against three, and two against two.

    `tied` is three against three, where both hands are known. The third cards themselves are
    unknown in each: nobody has seen them when the bids are made.
    """

    won: Odds
    lost: Odds
    neither: Odds
    tied: Odds | None = None

    @property
    def gain(self) -> Fraction:
        """The equity that the card adds, compared with nobody getting it."""
        return self.won.share - self.neither.share

    @property
    def swing(self) -> Fraction:
        """The stake of an auction of two: the equity with the card, less that while the rival has
        it."""
        return self.won.share - self.lost.share

    @property
    def of_rival(self) -> "ThirdCard":
        """The rival's odds, where both hands are known: he wins what we lose."""
        tied = None if self.tied is None else _turned(self.tied)
        return ThirdCard(_turned(self.lost), _turned(self.won), _turned(self.neither), tied)

    def value(self, pot: int) -> Fraction:
        """The card's value in chips, if nothing is bet any more."""
        return pot * self.swing


class Outcomes(Struct, frozen=True):
    """The chips that winning, losing or tying an auction of two brings, if nothing is bet later.

    Counted from the auction on, over a pot of which each put in half. A price joins the pot; in a
    tie at showdown the ruleset's `tie` says what of it its payer takes back, and who did not pay
    it has the rest.
    """

    card: ThirdCard
    pot: int
    tie: Tie

    def won(self, price: int) -> Fraction:
        """Three cards against two, at this price."""
        return self.card.won.share * self.pot - self._lost_of_own_price * price

    def lost(self, price: int) -> Fraction:
        """Two cards against three, for which the rival pays this price."""
        return self.card.lost.share * self.pot + self._won_of_rivals_price * price

    def tied(self, bid: int) -> Fraction:
        """Three cards each, for which both pay their bid: the winner of the hand has both bids."""
        odds = self.card.tied
        assert odds is not None, "three cards against three were not counted"
        return odds.share * self.pot + Fraction(odds.wins - odds.losses, odds.deals) * bid

    @property
    def break_even(self) -> Fraction | None:
        """The price at which winning and losing pay the same; None: no price is too high.

        It is unbounded where the payer never loses a chip of it, nor ever wins one of the rival's.
        """
        each = self._lost_of_own_price + self._won_of_rivals_price
        return self.card.value(self.pot) / each if each else None

    @property
    def _lost_of_own_price(self) -> Fraction:
        odds = self.card.won
        return (odds.losses + (1 - BACK[self.tie]) * odds.ties) / odds.deals

    @property
    def _won_of_rivals_price(self) -> Fraction:
        odds = self.card.lost
        return (odds.wins + (1 - BACK[self.tie]) * odds.ties) / odds.deals


def third_card(hole: Cards, board: Cards, rules: Showdown = STANDARD) -> ThirdCard:
    """The third card for a player who knows his own cards and the board, against any two."""
    return _up_to_suits(*canonical(mask(hole), mask(board)), rules)


def third_card_of_masks(hole: int, board: int, rules: Showdown = STANDARD) -> ThirdCard:
    """The third card of hole and board given as masks, uncached."""
    return ThirdCard(
        won=odds_of_masks(hole, board, drawn=1, rules=rules),
        lost=odds_of_masks(hole, board, dealt=3, rules=rules),
        neither=odds_of_masks(hole, board, rules=rules),
    )


_up_to_suits = lru_cache(maxsize=1 << 16)(third_card_of_masks)


@lru_cache(maxsize=1 << 14)
def third_card_known(
    hole: Cards, rival: Cards, board: Cards, rules: Showdown = STANDARD
) -> ThirdCard:
    """The third card where both hands are known, as in a record afterwards."""
    return ThirdCard(
        won=_turned(against_unseen(rival, board, rival=hole, dealt=1, rules=rules)),
        lost=against_unseen(hole, board, rival=rival, dealt=1, rules=rules),
        neither=equities((hole, rival), board, rules=rules)[0],
        tied=against_unseen(hole, board, rival=rival, dealt=1, drawn=1, rules=rules),
    )


def _turned(odds: Odds) -> Odds:
    """The odds of the other of two hands."""
    return Odds(odds.deals, (odds.losses, odds.ties))
