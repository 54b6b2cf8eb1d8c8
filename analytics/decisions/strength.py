"""How strong a hand was when its player decided, as far as he could know: his cards and the board.

Before the flop its tenth of all hands of two, afterwards the category of the best five.
"""

from functools import cache

import numpy as np
import pyarrow as pa

from analytics.replay.rulebook import Rulebook
from odds.batch import Showdown, showdown
from odds.counting import CLASSES, class_of, hands_of
from odds.preflop import stored
from odds.rank import CATEGORIES, Cards, mask
from odds.tables import SIZES
from store.columns.cells import Column


@cache
def _tenths(rules: Showdown) -> dict[str, int]:
    """Each class of two cards in its tenth of all 1,326 hands, the weakest first."""
    odds = stored()[rules]
    order = sorted(CLASSES, key=lambda name: (2 * odds[name][0] + odds[name][1], name))
    found, below = {}, 0
    for name in order:
        hands = len(hands_of(name))
        found[name] = 1 + 10 * (2 * below + hands) // (2 * 1_326)
        below += hands
    return found


def tenth(hole: Cards, rules: Showdown) -> int | None:
    """1, the weakest tenth of all hands, to 10; the middle of its class decides."""
    return _tenths(rules)[class_of(hole)] if len(hole) == 2 else None


def tenths(hole: pa.Array, ruleset: pa.Array, wanted: Column, rules: Rulebook) -> pa.Array:
    """The tenths of these cards where they are wanted, by the rules of each hand."""
    cards, by = hole.dictionary_encode(), ruleset.dictionary_encode()
    known = np.zeros((len(by.dictionary) + 1, len(cards.dictionary) + 1), dtype=np.int32)
    for at, mark in enumerate(by.dictionary.to_pylist()):
        how = rules.showdown(mark)
        for to, text in enumerate(cards.dictionary.to_pylist()):
            known[at, to] = 0 if how is None else tenth(tuple(text.split()), how) or 0
    found = known[_numbers(by), _numbers(cards)]
    return pa.array(found, mask=(found == 0) | ~wanted)


def made(hole: pa.Array, board: pa.Array, ruleset: pa.Array, rules: Rulebook) -> pa.Array:
    """The category of the best five of cards and board, by the rules of each hand."""
    marks = ruleset.dictionary_encode()
    by, held, lies = _numbers(marks), _masks(hole), _masks(board)
    cards, common = np.bitwise_count(held), np.bitwise_count(lies)
    found = np.full(len(held), -1)
    size = cards + common
    can = (cards > 0) & (common > 0) & ((held & lies) == 0) & np.isin(size, SIZES) & (common <= 5)
    for at, mark in enumerate(marks.dictionary.to_pylist()):
        how = rules.showdown(mark)
        if how is None:
            continue
        alike = cards * np.int64(8) + common
        for one in np.unique(alike[can & (by == at)]).tolist():
            rows = np.flatnonzero(can & (by == at) & (alike == one))
            found[rows] = showdown(held[rows], lies[rows], how) >> 12  # `odds.rank.category`
    return pa.array(CATEGORIES, pa.string()).take(pa.array(found, mask=found < 0))


def _masks(cards: pa.Array) -> Column:
    """Cards in words as masks; nothing, or a card twice, as none."""
    words = cards.dictionary_encode()
    named = [text.split() for text in words.dictionary.to_pylist()]
    known = [mask(one) if len({*one}) == len(one) else 0 for one in named]
    return np.array([*known, 0], dtype=np.int64).take(_numbers(words))


def _numbers(words: pa.DictionaryArray) -> Column:
    """Which word each is; the one after the last where there is none."""
    return words.indices.fill_null(len(words.dictionary)).to_numpy()
