"""Encode flags of actions as bits, and facts of a hand as a string; group rows by columns.

A spot is all that a flag asks of an action, packed into one small number. There are thousands of
spots and millions of actions. So what is an opportunity in which spot, and what takes it, is worked
out once for every spot there can be; an action looks it up. The answer is words of 64 bits, as many
as flags need: a bit for each opportunity, one for each deed.

A pattern is how a hand was played, as a string: hands of the same actions have the same pattern.
There are thousands of ways to play a hand and millions of hands, so a question about all of them
counts the hands of each pattern first. A pattern has a character for each flag and other boolean:
`+`, `-`, or `.` where there was no opportunity; and for each count of actions the character that
comes so many places after `0`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from analytics.replay.flags import (
    ACTION_COUNTS,
    CALL,
    CHECK,
    FLAGS,
    FOLD,
    POSTFLOP,
    POSTFLOP_FIELDS,
    PREFLOP,
    PREFLOP_FIELDS,
    RAISE,
    Flag,
)
from store.columns.numpy_columns import Column

KIND_OF_ACTION = np.array([FOLD, CHECK, CALL, RAISE, RAISE])  # by action
_DEED = 31  # the flags of a word, and where the bits of their deeds begin
WORD_COUNT = -(-len(FLAGS) // _DEED)
FLAG_BITS = {name: divmod(at, _DEED) for at, name in enumerate(FLAGS)}  # which word, which bit
BOOLEANS = ("saw_flop", "saw_turn", "saw_river", "showdown", "won")  # never unknown
PATTERN_COLUMNS = (*FLAGS, *BOOLEANS, *ACTION_COUNTS)
_NEVER, _NOT, _DONE, _NONE = map(ord, ".-+0")
_LETTERS = np.array([_NEVER, _NOT, _DONE])
_GAP, _GAP_SIZE = 0xD800, 0x800  # numbers that are no characters
Ints = NDArray[np.int64]
CodedColumn = tuple[Ints, int]  # a number for each row; all are below this
_CODE_LIMIT = 2**62


class SpotFlags:
    """A lookup table from spots (fields of so many bits) to the words of some flags."""

    def __init__(self, fields: Mapping[str, int], flags: Sequence[Flag]) -> None:
        ends = np.cumsum(list(fields.values())).tolist()
        self._shifts = {
            name: end - bits for (name, bits), end in zip(fields.items(), ends, strict=True)
        }
        every = np.arange(1 << ends[-1])
        spot = {
            name: every >> self._shifts[name] & (1 << bits) - 1 for name, bits in fields.items()
        }

        def among(name: str, numbers: int | tuple[int, ...]) -> Column:
            """Whether a field of each spot is this number, or one of these."""
            return np.isin(np.arange(1 << fields[name]), numbers).take(spot[name])

        self._words = np.zeros((WORD_COUNT, len(every)), dtype=np.int64)
        for flag in flags:
            opportunity = np.ones(len(every), dtype=bool)
            for name, numbers in flag.when.items():
                assert name in spot, f"the flag {flag.name} asks for {name}: {', '.join(spot)}"
                opportunity &= among(name, numbers)
            assert opportunity.any(), f"the flag {flag.name} has no opportunity in any spot"
            for word, bits in enumerate(_flag_bits({flag.name: False})):
                self._words[word] |= opportunity * bits
            for word, bits in enumerate(_flag_bits({flag.name: True})):
                self._words[word] |= (opportunity & among("kind", flag.takes)) * bits

    def flag_words(self, **fields: Column) -> list[Column]:
        """The flag words of actions in these spots."""
        spot: Column = 0
        for name, shift in self._shifts.items():
            spot = spot | fields[name].astype(np.int32) << shift
        return [word.take(spot) for word in self._words]


@cache
def preflop_flags() -> SpotFlags:
    """The flags of each spot before the flop."""
    return SpotFlags(PREFLOP_FIELDS, PREFLOP)


@cache
def postflop_flags() -> SpotFlags:
    """The flags of each spot after the flop."""
    return SpotFlags(POSTFLOP_FIELDS, POSTFLOP)


def straddle_words() -> list[Column]:
    """The flag words of a straddle that might have been a fold (U4)."""
    return _flag_bits({it.name: it.straddled for it in FLAGS.values() if it.straddled is not None})


def _flag_bits(taken: Mapping[str, bool]) -> list[Column]:
    """The flag words of these opportunities, each of them taken or not."""
    words = [0] * WORD_COUNT
    for name, done in taken.items():
        word, bit = FLAG_BITS[name]
        words[word] |= 1 << bit | done << _DEED + bit
    return [np.int64(word) for word in words]


def flag_states(words: Sequence[Column]) -> list[Column]:
    """Each flag's state: 0 for no opportunity, 1 for one not taken, 2 for one taken."""
    return [
        (words[word] >> bit & 1) + (words[word] >> _DEED + bit & 1)
        for word, bit in FLAG_BITS.values()
    ]


def flag_bitmaps(words: Sequence[Column]) -> dict[str, tuple[Column, Column]]:
    """Each flag's Arrow bitmaps: whether there was an opportunity, and whether it was taken."""
    parts = []
    for word in words:
        bits = np.unpackbits(word.view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")
        parts.append(np.packbits(np.ascontiguousarray(bits.T), axis=1, bitorder="little"))
    return {
        name: (parts[word][bit], parts[word][_DEED + bit])
        for name, (word, bit) in FLAG_BITS.items()
    }


def encode_patterns(words: Sequence[Column], truths: Sequence[Column], counts: Column) -> pa.Array:
    """Encode each row's flag words, `BOOLEANS` and `ACTION_COUNTS` as its pattern."""
    sizes = ((count, int(count.max(initial=0)) + 1) for count in counts)
    each = (
        *(value_codes(arrow_array(word)) for word in words),
        *((it, 2) for it in truths),
        *sizes,
    )
    which, places = group_rows(each)
    found = [_LETTERS.take(it) for it in flag_states([word.take(places) for word in words])]
    found += [_LETTERS.take(it.take(places) + 1) for it in truths]
    for count in counts:
        letter = count.take(places) + _NONE
        found.append(letter + _GAP_SIZE * (letter >= _GAP))
    letters = np.ascontiguousarray(np.array(found, dtype=np.uint32).T)
    known = pa.array(letters.view(f"U{len(PATTERN_COLUMNS)}").ravel().tolist(), pa.string())
    return known.take(arrow_array(which))


def decode_patterns(known: pa.Array) -> pa.Table:
    """Decode patterns into columns of facts."""
    letters = np.array(known.to_pylist(), dtype=f"U{len(PATTERN_COLUMNS)}").view(np.uint32)
    columns_by_name = {}
    for name, each in zip(
        PATTERN_COLUMNS, letters.reshape(-1, len(PATTERN_COLUMNS)).T, strict=True
    ):
        if name in ACTION_COUNTS:
            letter = each.astype(np.int32)
            columns_by_name[name] = pa.array(letter - _GAP_SIZE * (letter >= _GAP) - _NONE)
        else:
            columns_by_name[name] = pa.array(each == _DONE, mask=each == _NEVER)
    return pa.table(columns_by_name)


def rows_by_pair(
    one: pa.ChunkedArray, other: pa.ChunkedArray
) -> Iterator[tuple[tuple[Any, Any], Ints]]:
    """Group rows by two columns: each pair of values that occurs, and its row numbers in order."""
    which, first, second = pair_numbers(one, other)
    order = np.argsort(which, kind="stable")
    ends = np.flatnonzero(np.diff(which[order], prepend=-1, append=-1))
    values = zip(first.to_pylist(), second.to_pylist(), strict=True)
    for both, (start, end) in zip(values, pairwise(ends.tolist()), strict=True):
        yield both, order[start:end]


def pair_numbers(one: pa.ChunkedArray, other: pa.ChunkedArray) -> tuple[Ints, pa.Array, pa.Array]:
    """Number the pairs of two columns: each row's number, and both values by number."""
    which, places = group_rows(map(value_codes, (one, other)))
    return which, *(it.combine_chunks().take(arrow_array(places)) for it in (one, other))


def value_codes(values: pa.Array | pa.ChunkedArray) -> CodedColumn:
    """A small whole number for each value, and how many there can be; null is a value, too."""
    whole = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    words = whole.dictionary_encode()
    size = len(words.dictionary)
    return words.indices.fill_null(size).to_numpy().astype(np.int64), size + 1


def group_rows(columns: Iterable[CodedColumn]) -> tuple[Ints, Ints]:
    """Number the groups of rows that agree in all columns: each row's number, a row of each."""
    (code, span), *others = columns
    for numbers, values in others:
        if span * values > _CODE_LIMIT:
            code, span = value_codes(arrow_array(code))
        code, span = code * values + numbers, span * values
    which, _ = value_codes(arrow_array(code))
    places = np.zeros(which.max(initial=-1) + 1, np.int64)
    places[which[::-1]] = np.arange(len(which))[::-1]
    return which, places


def arrow_array(numbers: NDArray[Any]) -> pa.Array:
    """An Arrow array of NumPy numbers: `pa.array` would look for pandas first, which is slow."""
    kind = pa.from_numpy_dtype(numbers.dtype)
    return pa.Array.from_buffers(kind, len(numbers), [None, pa.py_buffer(numbers)])
