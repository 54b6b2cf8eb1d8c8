"""What a known hand is worth while its cards may still be swapped; exact, from the flop on.

A replaced card is any of those left, and who drew it and lost it again does not matter, so only
which of the present cards survive counts. What was swapped away is dead.
"""

from collections.abc import Sequence
from fractions import Fraction

from odds.batch import STANDARD, Showdown
from odds.counting import kept, survivors
from odds.equity import equities
from odds.rank import Cards
from odds.unseen import against_unseen


def share_with_swaps(
    hole: Cards,
    rival: Cards,
    board: Cards,
    chances: Sequence[tuple[int, int]],
    dead: Cards = (),
    rules: Showdown = STANDARD,
) -> Fraction:
    """The first hand's part of the pot; `chances` are those still to come: 5 in 100."""
    if len(hole) != len(rival):
        raise ValueError(f"hands of {len(hole)} and {len(rival)} cards are not swapped here")
    keep = kept(chances)
    total = Fraction(0)
    for mine, held in survivors(hole, keep):
        for theirs, known in survivors(rival, keep):
            if mine * theirs:
                lost = tuple(card for card in (*hole, *rival) if card not in (*held, *known))
                share = _share(held, known, len(hole), board, (*dead, *lost), rules)
                total += mine * theirs * share
    return total


def _share(
    held: Cards, known: Cards, size: int, board: Cards, dead: Cards, rules: Showdown
) -> Fraction:
    """The part of the pot of these cards, filled up to `size` with unseen ones on both sides."""
    drawn, dealt = size - len(held), size - len(known)
    if not held and not known:
        return Fraction(1, 2)  # nothing tells the two apart
    if not drawn and not dealt:
        return equities((held, known), board, dead, rules)[0].share
    if drawn > dealt or not dealt:
        return 1 - _share(known, held, size, board, dead, rules)
    odds = against_unseen(
        held, board, dealt=dealt, drawn=drawn, rival=known, dead=dead, rules=rules
    )
    return odds.share
