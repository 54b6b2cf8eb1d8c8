"""The equity of a hand against unseen cards, or while cards may still be swapped.

Exact, from the flop on.

Theory
------
Two cards against two unseen ones on a flop are 1,070,190 deals, and with an auction's third card
46 million. Enumerating them all is the oracle in the tests. Here they are counted in two parts:

1.  As if there were no flushes for the rival. Then suits do not matter to him, and his cards are
    a multiset of ranks: 91 pairs or 455 triples, each with as many ways as its ranks still have
    cards. Our own hand is known on every board, flushes and all; boards with equal ranks on which
    we are worth the same are one row.

2.  What flushes change. Only rival hands that make a flush are looked at: on each board those with
    enough cards of its suit, which are few. Each is compared twice, as what it is and as what its
    ranks make, and the difference is added.

`drawn` cards of our own may be unseen too: each is laid out, and takes its place among the cards
that the rival cannot hold. The cards of a rival's flush are named, for they make it; of the others
the ranks are enough.

A card that is swapped is replaced by any of those left, and who drew it and lost it again does not
matter, so only which of the present cards survive counts. What was swapped away is dead.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odds.batch import (
    BOARD,
    CHUNK,
    STANDARD,
    SUIT,
    Counts,
    Masks,
    Odds,
    Showdown,
    Values,
    codes_of,
    columns,
    disjoint,
    enough,
    equities,
    multisets,
    showdown,
    subsets,
    unseen,
    ways_to_take,
    with_hole,
    worth,
    worth_of_ranks,
)
from odds.ranges import kept, survivors
from odds.rank import Cards, mask

PLACES = np.arange(52, dtype=np.int64)
CELLS = CHUNK * 2  # as many comparisons at a time stay in the processor's cache


class Spot(NamedTuple):
    """The known cards as masks, and how many unseen cards each side has besides."""

    mine: int
    theirs: int
    board: int
    rest: Masks
    drawn: int
    dealt: int
    rules: Showdown

    @property
    def size(self) -> int:
        """The number of cards that the rival's hand has in the end."""
        return self.theirs.bit_count() + self.dealt + BOARD


class Lines(NamedTuple):
    """All boards to come, a row each, with the values of both hands there.

    `mine` has a column for each card of `drawn` (the empty mask where none is drawn); `possible`
    is false where that card lies on the board. `held` are the cards that come, by suit and rank,
    and `left` those that may. `by_ranks` is what each multiset of the rival's ranks is worth
    without a flush: a row for each kind of board, which `kind` tells.
    """

    run_outs: Masks
    drawn: Masks
    mine: Values
    possible: NDArray[np.bool_]
    held: Counts
    left: Counts
    kind: NDArray[np.intp]
    by_ranks: Values


Cells = NDArray[np.bool_]


class Flush(NamedTuple):
    """Rival hands with so many cards of a suit: which of it, and every multiset of other ranks.

    `ranks` tells which multiset both make together: a row for each of `inside`.
    """

    suit: int
    inside: Masks
    picks: Counts
    ranks: NDArray[np.intp]


def by_flushes(spot: Spot, lines: Lines) -> Counts:
    """The wins and ties that the rival's flushes add or take away."""
    sums = np.zeros(2, dtype=np.int64)
    for suit in range(0, 52, 13):
        of_suit_known = np.bitwise_count((lines.run_outs | spot.board | spot.theirs) >> suit & SUIT)
        for have in range(max(0, BOARD - spot.dealt), int(of_suit_known.max()) + 1):
            rows = (of_suit_known == have).nonzero()[0]
            for of_suit in range(max(0, BOARD - have), spot.dealt + 1):
                inside = subsets(spot.rest[(spot.rest >> suit & SUIT) != 0], of_suit)
                picks, codes = multisets(spot.dealt - of_suit)
                whole = codes_of(inside)[:, None] + codes
                ranks = np.searchsorted(multisets(spot.dealt)[1], whole)
                flush = Flush(suit, inside, picks, ranks)
                step = max(1, CELLS // max(1, flush.ranks.size))
                for start in range(0, len(rows), step):
                    sums += _difference(spot, lines, rows[start : start + step], flush)
    return sums


def _difference(spot: Spot, lines: Lines, rows: Counts, flush: Flush) -> Counts:
    """Wins and ties of some boards with flushes, less those that ranks alone would give."""
    run_outs = lines.run_outs[rows]
    kinds = lines.kind[rows] * lines.by_ranks.shape[1]
    ranks = lines.by_ranks.ravel().take(kinds[:, None, None] + flush.ranks)
    with_flush = np.maximum(ranks, _flush_values(spot, run_outs | spot.board, flush)[:, :, None])
    unblocked = (run_outs[:, None] & flush.inside) == 0
    others = [suit for suit in range(4) if suit * 13 != flush.suit]
    left = (lines.left - lines.held[rows])[:, others].sum(axis=1)
    gone = by_suit(lines.drawn)[:, others].sum(axis=1)
    kinds_of_drawn = {ranks_gone.tobytes(): ranks_gone for ranks_gone in gone}
    ways = {kind: ways_to_take(left - of, flush.picks) for kind, of in kinds_of_drawn.items()}
    sums = np.zeros(2, dtype=np.int64)
    for column, drawn in enumerate(lines.drawn):
        mine = lines.mine[rows, column][:, None, None]
        free = unblocked & ((flush.inside & drawn) == 0) & lines.possible[rows, column][:, None]
        each = ways[gone[column].tobytes()]
        # A flush is worth no less than its ranks: it only takes wins away.
        sums[0] -= _weighed((ranks < mine) & (with_flush >= mine), free, each)
        sums[1] += _weighed(with_flush == mine, free, each) - _weighed(ranks == mine, free, each)
    return sums


def _flush_values(spot: Spot, boards: Masks, flush: Flush) -> Values:
    """The values of flushes: a row a board, a column for the cards of the suit."""
    tables, inside = columns(spot.size, spot.rules), flush.inside >> flush.suit

    def values(known: Masks) -> Values:
        keys = tables.suit.take((known >> flush.suit & SUIT)[:, None] | inside)
        return (keys >> 32).astype(np.uint16)

    found = values(boards | spot.theirs)
    if spot.rules.hole_min:
        # At most four cards of the board count (U21): matters where all five are of the suit.
        five = np.bitwise_count(boards >> flush.suit & SUIT) == BOARD
        known = boards[five]
        if len(known):
            each = [values((known ^ card) | spot.theirs) for card in each_card(known)]
            found[five] = np.max(each, axis=0)
    return found if tables.coarse is None else tables.coarse.take(found)


def _weighed(cells: Cells, free: Cells, ways: Counts) -> int:
    """The number of deals in some cells: board, cards of the suit, ranks of the others."""
    if ways.shape[1] == 1:  # there are no others
        return int(np.count_nonzero(cells[:, :, 0] & free))
    return int(((cells & free[:, :, None]).sum(axis=1) * ways).sum())


def against_unseen(
    hole: Cards,
    board: Cards,
    *,
    dealt: int = 2,
    drawn: int = 0,
    rival: Cards = (),
    dead: Cards = (),
    rules: Showdown = STANDARD,
) -> Odds:
    """The odds of a hand, and `drawn` cards more, against `rival` and `dealt` cards more."""
    held, known, gone = mask(hole), mask(rival), mask(dead)
    return odds_of_masks(
        held, mask(board), dealt=dealt, drawn=drawn, rival=known, dead=gone, rules=rules
    )


def odds_of_masks(
    hole: int,
    board: int,
    *,
    dealt: int = 2,
    drawn: int = 0,
    rival: int = 0,
    dead: int = 0,
    rules: Showdown = STANDARD,
) -> Odds:
    """The odds of a hand against unseen cards, all cards given as masks."""
    on_board = board.bit_count()
    if not 3 <= on_board <= BOARD:
        raise ValueError(f"unseen cards are counted from the flop on, not on {on_board} cards")
    if drawn not in (0, 1) or dealt not in (1, 2, 3):
        raise ValueError("at most one unseen card is drawn, and one to three are the rival's")
    if drawn and rules.hole_min:
        raise ValueError("where a hole card must be used, none is drawn")
    known = disjoint(hole, rival, board, dead)
    enough(known, BOARD - on_board + drawn + dealt)
    spot = Spot(hole, rival, board, unseen(known), drawn, dealt, rules)
    if on_board == BOARD and not drawn:
        # nothing is to come: the rival's hands are few, and each is compared
        theirs = subsets(spot.rest, dealt) | rival
        boards = np.full(len(theirs), board, dtype=np.int64)
        mine = showdown(np.array([hole]), boards[:1], rules)
        values = showdown(theirs, boards, rules)
        wins, ties = np.count_nonzero(values < mine), np.count_nonzero(values == mine)
        return Odds(len(theirs), (int(wins), int(ties)))
    lines = lines_of(spot)
    wins, ties = _by_ranks(spot, lines) + by_flushes(spot, lines)
    left, to_come = len(spot.rest), BOARD - on_board
    ours = comb(left, to_come) * comb(left - to_come, drawn)
    return Odds(ours * comb(left - to_come - drawn, dealt), (int(wins), int(ties)))


def _by_ranks(spot: Spot, lines: Lines) -> Counts:
    """Part one: wins and ties, if the rival's cards had no suits.

    Lines that differ in suits alone are one row, and count as often as they are alike: those with
    the same ranks on the board, the same rank that is drawn, and the same worth of ours.
    """
    picks, _ = multisets(spot.dealt)
    drawn = np.array([int(card).bit_length() % 13 for card in lines.drawn])
    packed = (lines.kind[:, None] << 4 | drawn) << 16 | lines.mine
    row, column = lines.possible.nonzero()
    _, first, alike = np.unique(packed[row, column], return_index=True, return_counts=True)
    row, column = row[first], column[first]
    left = (lines.left - lines.held).sum(axis=1)
    gone = by_suit(lines.drawn).sum(axis=1)
    sums = np.zeros(2, dtype=np.int64)
    step = max(1, CELLS // len(picks))
    for start in range(0, len(row), step):
        at, card = row[start : start + step], column[start : start + step]
        theirs, mine = lines.by_ranks[lines.kind[at]], lines.mine[at, card][:, None]
        ways = ways_to_take(left[at] - gone[card], picks) * alike[start : start + step, None]
        sums += ways[theirs < mine].sum(), ways[theirs == mine].sum()
    return sums


def lines_of(spot: Spot) -> Lines:
    """The lines of a spot: every board that can come from the cards that are left."""
    run_outs = subsets(spot.rest, BOARD - spot.board.bit_count())
    drawn = subsets(spot.rest, spot.drawn)
    hands = (run_outs | (spot.mine | spot.board))[:, None] | drawn
    size = spot.mine.bit_count() + spot.drawn + BOARD
    possible = (run_outs[:, None] & drawn) == 0
    # Where a card lies on the board already a hand is short, and its value means nothing.
    mine = worth(hands.ravel(), size, spot.rules)
    if spot.rules.hole_min:
        hole = np.full(len(run_outs), spot.mine, dtype=np.int64)
        with_hole(mine, hole, run_outs | spot.board, spot.mine.bit_count(), spot.rules)
    _, first, kind = np.unique(codes_of(run_outs), return_index=True, return_inverse=True)
    by_ranks = _lines_by_ranks(spot, run_outs[first] | spot.board)
    return Lines(
        run_outs,
        drawn,
        mine.reshape(hands.shape),
        possible,
        by_suit(run_outs),
        by_suit(np.bitwise_or.reduce(spot.rest, keepdims=True)),
        kind,
        by_ranks,
    )


def _lines_by_ranks(spot: Spot, boards: Masks) -> Values:
    """The value of every multiset of ranks with each board, flushes left out."""
    on_board, (_, codes) = codes_of(boards)[:, None], multisets(spot.dealt)
    cards = (codes_of(card)[:, None] for card in each_card(boards))
    hands = on_board + codes_of(spot.theirs) + codes
    return worth_of_ranks(hands, on_board, cards, spot.size, spot.rules)


def each_card(boards: Masks) -> list[Masks]:
    """The first card of every board, then the second, and so on."""
    cards = []
    for _ in range(BOARD):
        cards.append(boards & -boards)
        boards = boards ^ cards[-1]
    return cards


def by_suit(masks: Masks) -> Counts:
    """Masks as arrays, a row a mask: for each suit and rank, 1 if the card is there."""
    return (masks[:, None] >> PLACES & 1).reshape(len(masks), 4, 13)


def share_with_swaps(
    hole: Cards,
    rival: Cards,
    board: Cards,
    chances: Sequence[tuple[int, int]],
    dead: Cards = (),
    rules: Showdown = STANDARD,
) -> Fraction:
    """The first hand's part of the pot; `chances` are those of swaps to come: 5 in 100."""
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
