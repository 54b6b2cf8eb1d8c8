"""Spots: all that a definition asks of an action, as one small number.

There are thousands of different spots and millions of actions. So what is an opportunity in which
spot, and what takes it, is worked out once for every spot there can be; an action looks it up.
"""

from collections.abc import Callable, Iterator, Mapping
from types import SimpleNamespace

import numpy as np

from analytics.replay.flags import FLAGS
from store.columns.cells import Column

Chances = Iterator[tuple[str, Column, Column]]  # of each flag: the opportunity, and what takes it
FOLD, CHECK, CALL, RAISE = range(4)  # a bet is a raise here
KIND = np.array([FOLD, CHECK, CALL, RAISE, RAISE])  # by action
DONE = len(FLAGS)  # a word has a bit for each opportunity, and from here on one for each deed
assert 2 * DONE < 63


def word(**taken: bool) -> int:
    """The word of these opportunities, each of them taken or not."""
    bits = ((FLAGS.index(name), done) for name, done in taken.items())
    return sum(1 << bit | done << DONE + bit for bit, done in bits)


class Spots:
    """The spots of some fields, so many bits each; `define` tells what they mean for flags."""

    def __init__(
        self, fields: Mapping[str, int], define: Callable[[SimpleNamespace], Chances]
    ) -> None:
        ends = np.cumsum(list(fields.values())).tolist()
        self._shifts = {
            name: end - bits for (name, bits), end in zip(fields.items(), ends, strict=True)
        }
        every = np.arange(1 << ends[-1])
        spot = SimpleNamespace()
        for name, bits in fields.items():
            values = every >> self._shifts[name] & (1 << bits) - 1
            setattr(spot, name, values.astype(bool) if bits == 1 else values)
        self.words = np.zeros(len(every), dtype=np.int64)
        for name, chance, taken in define(spot):
            bit = FLAGS.index(name)
            self.words |= chance * (np.int64(1) << bit)
            self.words |= (chance & taken) * (np.int64(1) << (DONE + bit))

    def meaning(self, **fields: Column) -> Column:
        """The words of actions in these spots."""
        spot: Column = 0
        for name, shift in self._shifts.items():
            spot = spot | fields[name].astype(np.int32) << shift
        return self.words.take(spot)
