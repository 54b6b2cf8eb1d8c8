"""Count the odds of two cards against any two before the flop: the table of the 169 classes.

Theory
------
One hand against 1,225 others on 1,712,304 boards is two thousand million deals. But on one board
all 1,081 hands can be ranked at once. For each hand then: how many are worse, less those worse
ones that hold one of its own two cards, for they cannot be the rival's. Boards that differ in
suits alone are one, so 134,459 boards settle every class, exactly, under every ranking.

The table ships as `preflop.bin`, and `odds.ranges` looks hands up in it. `python -m odds.preflop`
counts it again, in some minutes.
"""

import zlib
from collections.abc import Iterator
from itertools import islice, permutations, product
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from odds.batch import Showdown, Values, columns, worth_on_board
from odds.ranges import ALL_RULES, CLASSES, STORED_AT, hands_of, hands_up_to_suits, hole_class
from odds.rank import BIT, HoleMin, Ranking
from odds.tables import Straights

BOARDS_AT_ONCE = 64
Counts = NDArray[np.int64]


def dump(tables: dict[Showdown, Counts]) -> bytes:
    """The tables as they are stored: little-endian, rules in order, classes in order."""
    numbers = np.stack([tables[rules] for rules in ALL_RULES]).astype("<i8")
    return zlib.compress(numbers.tobytes(), 9)


def count(
    straights: Straights, hole_min: HoleMin, boards: Iterator[tuple[int, int]] | None = None
) -> dict[Showdown, Counts]:
    """Wins and ties of each class over all boards, or over these (a board, and how many alike)."""
    fine = Showdown(straights, "standard", hole_min)
    rankings = [Showdown(straights, ranking, hole_min) for ranking in get_args(Ranking)]
    sums = {rules: np.zeros((len(CLASSES), 2), dtype=np.int64) for rules in rankings}
    boards = boards or hands_up_to_suits(5)
    while batch := tuple(islice(boards, BOARDS_AT_ONCE)):
        board, alike = np.array(batch, dtype=np.int64).T
        # the 47 other cards of each board, by place in the deck, and every two of them as a mask
        free = (board[:, None] >> np.arange(52) & 1) == 0
        cards = free.nonzero()[1].reshape(len(board), 47)
        bits = np.int64(1) << cards
        hands = bits[:, FIRST] | bits[:, SECOND]
        boards_of_hands = np.repeat(board, hands.shape[1])
        values = worth_on_board(hands.ravel(), boards_of_hands, 2, fine).reshape(hands.shape)
        classes = _CLASS_OF_CARDS[cards[:, FIRST], cards[:, SECOND]].ravel()
        for rules in rankings:
            coarse = columns(7, rules).coarse
            seen = values if coarse is None else coarse.take(values)
            for column, deals in enumerate(_wins_and_ties(seen)):
                weighed = (deals * alike[:, None]).ravel()
                # Sums of one batch stay far below 2**53, where floats stop being whole numbers.
                counts = np.bincount(classes, weights=weighed, minlength=len(CLASSES))
                sums[rules][:, column] += counts.astype(np.int64)
    return {rules: counts // _HANDS_OF_CLASS[:, None] for rules, counts in sums.items()}


FIRST, SECOND = np.triu_indices(47, 1)
_HANDS_OF_CLASS = np.array([len(hands_of(name)) for name in CLASSES], dtype=np.int64)


def _wins_and_ties(values: Values) -> tuple[Counts, Counts]:
    """For each hand of each board: how many hands without its cards are worse, and how many equal.

    A hand shares a card with those in the row of its first card and in that of its second, and
    stands itself in both.
    """
    square = np.zeros((len(values), 47, 47), dtype=np.uint16)
    square[:, FIRST, SECOND] = square[:, SECOND, FIRST] = values
    below, equal = (np.zeros(square.shape, dtype=np.int16) for _ in range(2))
    for card in range(47):
        other = square[:, :, card : card + 1]
        below += square > other
        equal += square == other
    # The diagonal is no hand: worth 0, it is below every other and must not be counted.
    below = below - 1
    in_rows_below = (below + below.transpose(0, 2, 1))[:, FIRST, SECOND]
    in_rows_equal = (equal + equal.transpose(0, 2, 1))[:, FIRST, SECOND]
    order = np.sort(values, axis=1)
    places = [
        (np.searchsorted(line, row, "left"), np.searchsorted(line, row, "right"))
        for line, row in zip(order, values, strict=True)
    ]
    left, right = (np.array(side, dtype=np.int64) for side in zip(*places, strict=True))
    return left - in_rows_below, right - left - in_rows_equal + 1


def _class_of_cards() -> Counts:
    """The class of two cards, by their places among the 52 bits."""
    place = {name: at for at, name in enumerate(CLASSES)}
    card = {bit.bit_length() - 1: name for name, bit in BIT.items()}
    classes = np.zeros((52, 52), dtype=np.int64)
    for first, second in permutations(range(52), 2):
        classes[first, second] = place[hole_class((card[first], card[second]))]
    return classes


_CLASS_OF_CARDS = _class_of_cards()


if __name__ == "__main__":
    tables: dict[Showdown, Counts] = {}
    for straights, hole_min in product(get_args(Straights), get_args(HoleMin)):
        tables |= count(straights, hole_min)
    STORED_AT.write_bytes(dump(tables))
