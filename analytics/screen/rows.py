"""Whole hands of a ledger as columns of numbers: what the screen reads, before any rule is asked.

Cards are places in a 52-bit mask (`odds.rank.mask`), words are numbered. Replies that failed
(`Faulted`) move nothing and are left out; so are a match's records.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from analytics.replay.layout import BLINDS, KIND
from events.cards import DECK, UNKNOWN
from odds.rank import mask
from store.columns.cells import BAD, Cells, Column, Ragged

ORIGINS = {"chosen": 0, "default": 1, "forced": 2, "recorded": 3}
UNKNOWN_CARD, NO_CARD, FOREIGN = 52, -1, 53
PLACES = {card: mask((card,)).bit_length() - 1 for card in DECK} | {UNKNOWN: UNKNOWN_CARD}
NUMBERS = ("seat", "next", "amount", "to", "bet", "size", "step", "price", "pot", "slot")
TRUTHS = {"full": True, "sealed": False, "told": False}
CARDS = ("card1", "card2", "card3", "card4", "card5", "old", "new")
LISTS = ("seats", "shares", "bids")
HEAD = (
    *("hand_seq", "match", "number", "game", "ruleset"),
    *("button", "dead_small", "assumed", "stacks"),
)
COLUMNS = (  # of events: all others say nothing that a rule asks for
    *("type", "street", "origin", "kind", "more_cards"),
    *(*HEAD, *NUMBERS, *TRUTHS, *CARDS, *LISTS),
)


class Rows(NamedTuple):
    """Whole hands, one after another: `first[h]` is where a hand's rows begin, and the end.

    `start` has the cells of the row that each hand begins with.
    """

    first: Column
    hand_seq: Column
    match: Column
    number: Column
    game: Column
    ruleset: Column
    strange: Column  # a row that no hand of rules could hold: a fault of a seat that is not there
    start: dict[str, Column]
    stacks: Ragged  # by hand
    cells: dict[str, Column]
    lists: dict[str, Ragged]

    @property
    def hands(self) -> int:
        return len(self.first) - 1


class Words:
    """Words as numbers: each gets the next one when it is first met; names of steps come first."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._words: list[str] = []
        for word in STEPS:
            self.number(word)

    def number(self, word: str) -> int:
        """The number of a word."""
        if word not in self._numbers:
            self._numbers[word] = len(self._words)
            self._words.append(word)
        return self._numbers[word]

    def word(self, number: int) -> str:
        """The word of a number."""
        return self._words[number]


STEPS = ("posts", "hole", "preflop", "flop", "auction", "swap", "turn", "river", "showdown")


def read(tables: Sequence[pa.Table], words: Words) -> Rows:
    """The hands of tables of events, in order; every one of them is whole in its table."""
    strange: list[int] = []
    tables = [_of_hands(one, strange) for one in tables]
    columns = Cells(*tables)
    seq = columns.numbers("hand_seq")
    first = np.flatnonzero(np.append(True, seq[1:] != seq[:-1])[: columns.size])
    heads = columns.only(first)
    cells = {"kind": _coded(columns, "type", KIND)}
    cells |= {name: columns.small(name) for name in NUMBERS}
    cells |= {name: columns.truths(name, missing=it) for name, it in TRUTHS.items()}
    cells |= {name: _coded(columns, name, PLACES, FOREIGN, NO_CARD) for name in CARDS}
    cells["street"] = columns.coded("street", words.number, BAD)
    cells["origin"] = _coded(columns, "origin", ORIGINS, 4)
    cells["blind"] = _coded(columns, "kind", BLINDS, 9)
    cells["many"] = columns.there("more_cards")
    return Rows(
        np.append(first, columns.size),
        seq.take(first),
        heads.coded("match", words.number, BAD),
        heads.numbers("number"),
        heads.coded("game", words.number, BAD),
        heads.coded("ruleset", words.number, BAD),
        np.isin(seq.take(first), strange),
        {
            "button": heads.small("button"),
            "dead_small": heads.truths("dead_small"),
            "assumed": _coded(heads, "assumed", {"[]": 0}, 1, 0).view(np.bool_),
        },
        heads.ragged("stacks"),
        cells,
        {name: columns.ragged(name) for name in LISTS},
    )


def _of_hands(table: pa.Table, strange: list[int]) -> pa.Table:
    """The rows of hands without their faults; what a hand begins with stays, whatever it is.

    To `strange` go hands with a fault of a seat that is not there.
    """
    hand = pc.is_valid(table["number"])
    if not table["number"].null_count and not _says(table, "Faulted"):
        return table
    table = table.filter(hand)
    columns = Cells(table)
    seq = columns.numbers("hand_seq")
    first = np.append(True, seq[1:] != seq[:-1])[: columns.size]
    faults = columns.codes("type", KIND) == KIND["Faulted"]
    heads = np.flatnonzero(first).take((np.cumsum(first) - 1)[faults])
    seat = columns.numbers("seat", np.flatnonzero(faults), -1)
    wrong = (seat < 0) | (seat >= columns.ragged("stacks").many(heads))
    strange += seq.take(heads)[wrong].tolist()
    return table.filter(pa.array(first | ~faults))


def _says(table: pa.Table, kind: str) -> bool:
    """Whether there are events of a kind, or were among rows that these were taken from."""
    return any(
        pc.index(one.dictionary if pa.types.is_dictionary(one.type) else one, kind).as_py() >= 0
        for one in table["type"].chunks
    )


def _coded(
    columns: Cells, name: str, codes: Mapping[str, int], other: int = -1, missing: int | None = None
) -> Column:
    """Text as the codes of its words, each in a byte."""
    missing = other if missing is None else missing
    return columns.coded(name, lambda word: codes.get(word, other), missing, np.int8)
