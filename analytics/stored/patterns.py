"""How a hand was played, as one word: hands that were played alike have the same pattern.

There are thousands of ways to play a hand and millions of hands, so a question about all of them
counts the hands of each pattern first. A pattern has a character for each flag and other truth:
`+`, `-`, or `.` where there was no opportunity; and for each count of actions the character that
comes so many places after `0`.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from analytics.replay.flags import COUNTS, FLAGS
from analytics.replay.spots import taken
from analytics.stored.grouping import coded, column, grouped
from store.columns.cells import Column

TRUTHS = ("saw_flop", "saw_turn", "saw_river", "showdown", "won")  # never unknown
NAMES = (*FLAGS, *TRUTHS, *COUNTS)
_NEVER, _NOT, _DONE, _NONE = map(ord, ".-+0")
_LETTERS = np.array([_NEVER, _NOT, _DONE])
_GAP, _GAP_SIZE = 0xD800, 0x800  # numbers that are no characters


def patterns(words: Sequence[Column], truths: Sequence[Column], counts: Column) -> pa.Array:
    """The pattern of each row: words of flags, then what `TRUTHS` and `COUNTS` name."""
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


def said(known: pa.Array) -> pa.Table:
    """What each of these patterns says, in the columns of facts."""
    letters = np.array(known.to_pylist(), dtype=f"U{len(NAMES)}").view(np.uint32)
    found = {}
    for name, each in zip(NAMES, letters.reshape(-1, len(NAMES)).T, strict=True):
        if name in COUNTS:
            letter = each.astype(np.int32)
            found[name] = pa.array(letter - _GAP_SIZE * (letter >= _GAP) - _NONE)
        else:
            found[name] = pa.array(each == _DONE, mask=each == _NEVER)
    return pa.table(found)
