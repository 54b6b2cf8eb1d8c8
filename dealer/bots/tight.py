"""Waits for good cards: the better part of starting hands, then a pair of its own or more."""

from collections import Counter
from fractions import Fraction

from dealer.bots.bot import BuiltIn, leave, pot_raise, stay
from dealer.bots.seen import Seen
from dealer.bots.strength import against_one
from engine.turn import Command, ToAct
from events.types import Cards
from odds.rank import category, ranker
from odds.tables import FULL_HOUSE, HIGH_CARD, PAIR, QUADS, TRIPS, TWO_PAIR

GOOD, VERY_GOOD = (
    Fraction(11, 20),
    Fraction(5, 8),
)  # of the pot, before the flop, against any two cards
RAISES = 2


class TightBot(BuiltIn):
    """Raises little and gives up soon; it bids nothing."""

    def __init__(self, seed: str) -> None:
        """It leaves nothing to chance, and needs no seed."""

    def act(self, seen: Seen, asked: ToAct) -> Command:
        good, very_good = _before_flop(seen) if not seen.board else _after_flop(seen)
        if very_good and seen.raises < RAISES:
            return pot_raise(seen, asked, 1, 2)
        return stay(asked) if good else leave(asked)


def _before_flop(seen: Seen) -> tuple[bool, bool]:
    worth = against_one(seen)
    return worth >= GOOD, worth >= VERY_GOOD


def _after_flop(seen: Seen) -> tuple[bool, bool]:
    """Something that the board alone does not give everybody; and two pair or more."""
    game = seen.game
    kind = category(ranker(game.straights, game.ranking, game.hole_min)(seen.hole, seen.board))
    own = kind > _on_board(seen)
    return own, own and kind >= TWO_PAIR


def _on_board(seen: Seen) -> int:
    """What the common cards are for everybody."""
    if len(seen.board) == 5:
        return category(ranker(seen.game.straights)((), seen.board))
    return _by_counts(seen.board)


def _by_counts(board: Cards) -> int:
    shape = sorted(Counter(card[0] for card in board).values(), reverse=True)
    kinds = {(2, 2): TWO_PAIR, (3, 2): FULL_HOUSE, (4,): QUADS, (3,): TRIPS, (2,): PAIR}
    return kinds.get(tuple(count for count in shape if count > 1), HIGH_CARD)
