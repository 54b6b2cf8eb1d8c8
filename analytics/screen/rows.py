"""Event rows of a ledger as columns of numbers: what the screen reads, before any rule is asked.

Cards are places in a 52-bit mask (`odds.rank.mask`), words are numbered, rows of numbers keep where
they begin. Replies that failed (`Faulted`) move nothing and are left out; so are a match's records.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from events.cards import DECK, UNKNOWN
from odds.rank import mask
from store.columns.layout import KINDS

Column = Any  # an array of numbers; which kind depends on how much must fit

CODES = {name: code for code, name in enumerate(KINDS)}
FAULT = CODES["Faulted"]
ORIGINS = {"chosen": 0, "default": 1, "forced": 2, "recorded": 3}
BLINDS = {"small": 0, "big": 1, "straddle": 2, "post": 3, "dead": 4}
UNKNOWN_CARD, NO_CARD, FOREIGN = 52, -1, 53
PLACES = {card: mask((card,)).bit_length() - 1 for card in DECK} | {UNKNOWN: UNKNOWN_CARD}
LARGE = 1 << 30  # chips from here on do not fit the screen's columns
BAD = -(1 << 30)  # stands where a value is missing: no rule ever expects it


class Ragged(NamedTuple):
    """A row of numbers for each event: which it is of the different ones, and what is in those."""

    index: Column  # by event
    values: Column  # of all different rows, one after another
    starts: Column
    counts: Column
    short: Column  # a row of one or two numbers as one (`pair`); of others, what no rule expects

    def many(self, rows: Column) -> Column:
        """How many numbers these events have."""
        return self.counts.take(self.index.take(rows, mode="clip"))

    def entry(self, rows: Column, place: Column | int) -> Column:
        """The number at one place of each row's; of shorter rows anything."""
        starts = self.starts.take(self.index.take(rows, mode="clip"))
        return self.values.take(starts + place, mode="clip")

    def all(self, rows: Column, count: int) -> Column:
        """The numbers of events that have so many, place by place."""
        starts = self.starts.take(self.index.take(rows))
        return self.values.take(starts + np.arange(count)[:, None], mode="clip")

    def one_or_two(self, rows: Column) -> Column:
        """The numbers of events that have one, or two as a `pair`."""
        return self.short.take(self.index.take(rows, mode="clip"))


def pair(first: Column, second: Column) -> Column:
    """Two numbers as one; where the second is -1, the first alone."""
    found: Column = first + ((second + 1).astype(np.int64) << 32)
    return found


class Rows(NamedTuple):
    """Whole hands, one after another: `first[h]` is where a hand's rows begin, and the end."""

    first: Column
    hand_seq: Column
    match: Column
    number: Column
    game: Column
    ruleset: Column
    strange: Column  # a row that no hand of rules could hold: a fault of a seat that is not there
    cells: dict[str, Column]
    ragged: dict[str, Ragged]

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
NUMBERS = ("seat", "next", "amount", "to", "bet", "size", "step", "button", "price", "pot", "slot")
TRUTHS = {"full": True, "sealed": False, "dead_small": False, "told": False}
CARDS = ("card1", "card2", "card3", "card4", "card5", "old", "new")
RAGGED = ("stacks", "seats", "shares", "bids")


def read(table: pa.Table, words: Words) -> Rows:
    """The hands of a table of events; every one of them is whole in it."""
    codes = _coded(table, "type", CODES, -1)
    hand = pc.is_valid(table["number"]).to_numpy(zero_copy_only=False)
    faults = (codes == FAULT) & hand
    seq = table["hand_seq"].to_numpy()
    heads = np.flatnonzero(hand & np.append(True, seq[1:] != seq[:-1]))
    cells = {"kind": codes}
    for name in NUMBERS:
        cells[name] = _numbers(table, name)
    for name, filler in TRUTHS.items():
        cells[name] = _truths(table, name, filler)
    cells["street"] = _worded(table, "street", words)
    cells["origin"] = _coded(table, "origin", ORIGINS, 4)
    cells["blind"] = _coded(table, "kind", BLINDS, 9)
    for name in CARDS:
        cells[name] = _coded(table, name, PLACES, FOREIGN, NO_CARD)
    cells["many"] = _many(table)
    cells["assumed"] = _assumed(table)
    ragged = {name: _ragged(table, name) for name in RAGGED}
    match = _worded(table, "match", words, heads)
    number = pc.fill_null(table["number"], 0).to_numpy().take(heads)
    keep = np.flatnonzero(hand & ~faults)
    first = np.append(np.searchsorted(keep, heads), len(keep))
    starts = keep.take(first[:-1], mode="clip")
    game, ruleset = (_worded(table, name, words, starts) for name in ("game", "ruleset"))
    seats = ragged["stacks"].many(heads)
    of = np.searchsorted(heads, np.flatnonzero(faults), side="right") - 1
    wrong = (cells["seat"][faults] >= seats.take(of)) | (cells["seat"][faults] < 0)
    strange = np.zeros(len(heads), dtype=bool)
    strange[of[wrong]] = True
    if len(keep) < table.num_rows:
        cells = {name: cell.take(keep) for name, cell in cells.items()}
        ragged = {name: it._replace(index=it.index.take(keep)) for name, it in ragged.items()}
    return Rows(first, seq.take(heads), match, number, game, ruleset, strange, cells, ragged)


def gathered(tables: Sequence[pa.Table], words: Words) -> Rows:
    """The hands of several tables, one after another; tables that are alike are read as one."""
    parts = [
        read(pa.concat_tables(some).unify_dictionaries(), words)
        for _, alike in groupby(tables, key=lambda one: one.schema.remove_metadata())
        if (some := list(alike))
    ]
    return joined(parts)


def joined(parts: Sequence[Rows]) -> Rows:
    """Several tables' hands as one."""
    if len(parts) == 1:
        return parts[0]
    sizes = np.cumsum([0, *(int(it.first[-1]) for it in parts)])
    firsts = [it.first[:-1] + size for it, size in zip(parts, sizes, strict=False)]
    cells = {name: np.concatenate([it.cells[name] for it in parts]) for name in parts[0].cells}
    return Rows(
        np.concatenate([*firsts, sizes[-1:]]),
        np.concatenate([it.hand_seq for it in parts]),
        np.concatenate([it.match for it in parts]),
        np.concatenate([it.number for it in parts]),
        np.concatenate([it.game for it in parts]),
        np.concatenate([it.ruleset for it in parts]),
        np.concatenate([it.strange for it in parts]),
        cells,
        {name: _one_after_another([it.ragged[name] for it in parts]) for name in RAGGED},
    )


def _one_after_another(parts: Sequence[Ragged]) -> Ragged:
    rows = np.cumsum([0, *(len(it.starts) for it in parts)])
    values = np.cumsum([0, *(len(it.values) for it in parts)])
    return Ragged(
        np.concatenate([it.index + row for it, row in zip(parts, rows, strict=False)]),
        np.concatenate([it.values for it in parts]),
        np.concatenate([it.starts + value for it, value in zip(parts, values, strict=False)]),
        np.concatenate([it.counts for it in parts]),
        np.concatenate([it.short for it in parts]),
    )


def _numbers(table: pa.Table, name: str) -> Column:
    """A column of numbers that fit 32 bits; larger ones stop at the edge, missing ones are bad."""
    if name not in table.column_names:
        return np.full(table.num_rows, BAD, dtype=np.int32)
    column = table[name]
    if column.null_count:
        column = pc.fill_null(column, BAD)
    found = column.to_numpy()
    if found.dtype != np.int32:
        if len(found) and (found.max() > LARGE or found.min() < BAD):
            found = np.clip(found, BAD, LARGE)
        found = found.astype(np.int32)
    return found


def _truths(table: pa.Table, name: str, filler: bool) -> Column:
    if name not in table.column_names:
        return np.full(table.num_rows, filler)
    return pc.fill_null(table[name], filler).to_numpy(zero_copy_only=False)


def _indexed(table: pa.Table, name: str) -> tuple[Column, list[Any]]:
    """A column of text as numbers of its words; what is missing has the number after the last."""
    column = table[name].combine_chunks()
    if isinstance(column, pa.ChunkedArray):
        column = column.chunk(0) if column.num_chunks else pa.array([], pa.string())
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    words = column.dictionary.to_pylist()
    indices = column.indices
    if indices.null_count:
        indices = pc.fill_null(indices, len(words))
    return indices.to_numpy(), words


def _coded(
    table: pa.Table, name: str, codes: dict[str, int], other: int, missing: int | None = None
) -> Column:
    """A column of words as their codes."""
    missing = other if missing is None else missing
    if name not in table.column_names:
        return np.full(table.num_rows, missing, dtype=np.int8)
    indices, words = _indexed(table, name)
    known = np.array([*(codes.get(word, other) for word in words), missing], dtype=np.int8)
    return known.take(indices)


def _worded(table: pa.Table, name: str, words: Words, rows: Column | None = None) -> Column:
    """A column of words as their numbers, in all rows or some."""
    if name not in table.column_names:
        return np.full(table.num_rows if rows is None else len(rows), BAD, dtype=np.int32)
    indices, found = _indexed(table, name)
    indices = indices if rows is None else indices.take(rows)
    numbers = [BAD if word is None else words.number(word) for word in found]
    return np.array([*numbers, BAD], dtype=np.int32).take(indices)


def _many(table: pa.Table) -> Column:
    """Whether an event has more cards than there are columns."""
    if "more_cards" not in table.column_names:
        return np.zeros(table.num_rows, dtype=bool)
    return pc.is_valid(table["more_cards"]).to_numpy(zero_copy_only=False)


def _assumed(table: pa.Table) -> Column:
    """Whether a hand takes something for so that its source does not say."""
    if "assumed" not in table.column_names:
        return np.zeros(table.num_rows, dtype=bool)
    indices, words = _indexed(table, "assumed")
    return np.array([*(word not in (None, "[]") for word in words), False]).take(indices)


def _ragged(table: pa.Table, name: str) -> Ragged:
    """Rows of numbers; each different row is read once."""
    if name in table.column_names:
        index, words = _indexed(table, name)
    else:
        index, words = np.zeros(table.num_rows, dtype=np.int32), []
    rows = pc.split_pattern(pa.array([word or None for word in words], pa.string()), " ")
    counts = pc.fill_null(pc.list_value_length(rows), 0).to_numpy(zero_copy_only=False)
    counts = np.append(counts.astype(np.int64), 0)
    values = rows.flatten().cast(pa.int64()).to_numpy(zero_copy_only=False)
    values = np.append(np.clip(values, BAD, LARGE), BAD).astype(np.int32)
    starts = np.cumsum(counts) - counts
    second = np.where(counts == 2, values.take(starts + 1, mode="clip"), -1)
    short = np.where((counts == 1) | (counts == 2), pair(values.take(starts), second), BAD)
    return Ragged(index, values, starts, counts, short)
