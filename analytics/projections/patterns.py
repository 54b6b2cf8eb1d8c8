"""What flags say of an action, as a number, and of a hand, as a word: its spot and its pattern.

A spot is all that a flag asks of an action, as one small number. There are thousands of different
spots and millions of actions. So what is an opportunity in which spot, and what takes it, is worked
out once for every spot there can be; an action looks it up. The answer is words of 64 bits, as many
as flags need: a bit for each opportunity, one for each deed.

A pattern is how a hand was played, as one word: hands of the same actions have the same pattern.
There are thousands of ways to play a hand and millions of hands, so a question about all of them
counts the hands of each pattern first. A pattern has a character for each flag and other truth:
`+`, `-`, or `.` where there was no opportunity; and for each count of actions the character that
comes so many places after `0`. Rows are grouped by what columns say, in columns and not row by row.
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
from store.columns.cells import Column

KIND = np.array([FOLD, CHECK, CALL, RAISE, RAISE])  # by action
_DEED = 31  # the flags of a word, and where the bits of their deeds begin
WORDS = -(-len(FLAGS) // _DEED)
PLACES = {name: divmod(at, _DEED) for at, name in enumerate(FLAGS)}  # which word, which bit
TRUTHS = ("saw_flop", "saw_turn", "saw_river", "showdown", "won")  # never unknown
NAMES = (*FLAGS, *TRUTHS, *ACTION_COUNTS)
_NEVER, _NOT, _DONE, _NONE = map(ord, ".-+0")
_LETTERS = np.array([_NEVER, _NOT, _DONE])
_GAP, _GAP_SIZE = 0xD800, 0x800  # numbers that are no characters
Places = NDArray[np.int64]
Coded = tuple[Places, int]  # a number for each row, and below what they all are
_MOST = 2**62


class Spots:
    """The spots of some fields, so many bits each, and what they mean for some flags."""

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
            """Of every spot, whether a field is this number, or one of these."""
            return np.isin(np.arange(1 << fields[name]), numbers).take(spot[name])

        self._words = np.zeros((WORDS, len(every)), dtype=np.int64)
        for flag in flags:
            chance = np.ones(len(every), dtype=bool)
            for name, numbers in flag.when.items():
                assert name in spot, f"the flag {flag.name} asks for {name}: {', '.join(spot)}"
                chance &= among(name, numbers)
            assert chance.any(), f"the flag {flag.name} has no opportunity in any spot"
            for word, bits in enumerate(_bits({flag.name: False})):
                self._words[word] |= chance * bits
            for word, bits in enumerate(_bits({flag.name: True})):
                self._words[word] |= (chance & among("kind", flag.takes)) * bits

    def meaning(self, **fields: Column) -> list[Column]:
        """The words of actions in these spots."""
        spot: Column = 0
        for name, shift in self._shifts.items():
            spot = spot | fields[name].astype(np.int32) << shift
        return [word.take(spot) for word in self._words]


@cache
def preflop() -> Spots:
    """What each spot before the flop means."""
    return Spots(PREFLOP_FIELDS, PREFLOP)


@cache
def postflop() -> Spots:
    """What each spot after the flop means."""
    return Spots(POSTFLOP_FIELDS, POSTFLOP)


def straddled() -> list[Column]:
    """The words of a straddle that might have been a fold (U4)."""
    return _bits({it.name: it.straddled for it in FLAGS.values() if it.straddled is not None})


def _bits(taken: Mapping[str, bool]) -> list[Column]:
    """The words of these opportunities, each of them taken or not."""
    words = [0] * WORDS
    for name, done in taken.items():
        word, bit = PLACES[name]
        words[word] |= 1 << bit | done << _DEED + bit
    return [np.int64(word) for word in words]


def taken(words: Sequence[Column]) -> list[Column]:
    """Of each flag 0 for no opportunity, 1 for one that was let pass, 2 for one that was taken."""
    return [
        (words[word] >> bit & 1) + (words[word] >> _DEED + bit & 1) for word, bit in PLACES.values()
    ]


def packed(words: Sequence[Column]) -> dict[str, tuple[Column, Column]]:
    """Of each flag whether there was an opportunity, and what was done, packed as Arrow does it."""
    parts = []
    for word in words:
        bits = np.unpackbits(word.view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")
        parts.append(np.packbits(np.ascontiguousarray(bits.T), axis=1, bitorder="little"))
    return {
        name: (parts[word][bit], parts[word][_DEED + bit]) for name, (word, bit) in PLACES.items()
    }


def patterns(words: Sequence[Column], truths: Sequence[Column], counts: Column) -> pa.Array:
    """The pattern of each row: words of flags, then what `TRUTHS` and `ACTION_COUNTS` name."""
    sizes = ((count, int(count.max(initial=0)) + 1) for count in counts)
    each = (*(coded(column(word)) for word in words), *((it, 2) for it in truths), *sizes)
    which, places = grouped(each)
    found = [_LETTERS.take(it) for it in taken([word.take(places) for word in words])]
    found += [_LETTERS.take(it.take(places) + 1) for it in truths]
    for count in counts:
        letter = count.take(places) + _NONE
        found.append(letter + _GAP_SIZE * (letter >= _GAP))
    letters = np.ascontiguousarray(np.array(found, dtype=np.uint32).T)
    known = pa.array(letters.view(f"U{len(NAMES)}").ravel().tolist(), pa.string())
    return known.take(column(which))


def unpacked(known: pa.Array) -> pa.Table:
    """What each of these patterns says, in the columns of facts."""
    letters = np.array(known.to_pylist(), dtype=f"U{len(NAMES)}").view(np.uint32)
    columns_by_name = {}
    for name, each in zip(NAMES, letters.reshape(-1, len(NAMES)).T, strict=True):
        if name in ACTION_COUNTS:
            letter = each.astype(np.int32)
            columns_by_name[name] = pa.array(letter - _GAP_SIZE * (letter >= _GAP) - _NONE)
        else:
            columns_by_name[name] = pa.array(each == _DONE, mask=each == _NEVER)
    return pa.table(columns_by_name)


def rows_by_pair(
    one: pa.ChunkedArray, other: pa.ChunkedArray
) -> Iterator[tuple[tuple[Any, Any], Places]]:
    """Each pair of values that occurs, and its rows in order."""
    which, first, second = numbered(one, other)
    order = np.argsort(which, kind="stable")
    ends = np.flatnonzero(np.diff(which[order], prepend=-1, append=-1))
    values = zip(first.to_pylist(), second.to_pylist(), strict=True)
    for both, (start, end) in zip(values, pairwise(ends.tolist()), strict=True):
        yield both, order[start:end]


def numbered(one: pa.ChunkedArray, other: pa.ChunkedArray) -> tuple[Places, pa.Array, pa.Array]:
    """The number of each row's pair, and the values of each pair by its number."""
    which, places = grouped(map(coded, (one, other)))
    return which, *(it.combine_chunks().take(column(places)) for it in (one, other))


def coded(values: pa.Array | pa.ChunkedArray) -> Coded:
    """A small number for each value."""
    whole = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    words = whole.dictionary_encode()
    size = len(words.dictionary)  # none is a value, too
    return words.indices.fill_null(size).to_numpy().astype(np.int64), size + 1


def grouped(columns: Iterable[Coded]) -> tuple[Places, Places]:
    """The number of each row's group, whose rows say the same in all columns; a row of each."""
    (code, span), *others = columns
    for numbers, values in others:
        if span * values > _MOST:
            code, span = coded(column(code))
        code, span = code * values + numbers, span * values
    which, _ = coded(column(code))
    places = np.zeros(which.max(initial=-1) + 1, np.int64)
    places[which[::-1]] = np.arange(len(which))[::-1]
    return which, places


def column(numbers: NDArray[Any]) -> pa.Array:
    """The same numbers for Arrow: `pa.array` would look for pandas first, which takes longer than
    many a question."""
    kind = pa.from_numpy_dtype(numbers.dtype)
    return pa.Array.from_buffers(kind, len(numbers), [None, pa.py_buffer(numbers)])
