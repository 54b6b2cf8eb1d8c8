"""Spots: all that a flag asks of an action, as one small number.

There are thousands of different spots and millions of actions. So what is an opportunity in which
spot, and what takes it, is worked out once for every spot there can be; an action looks it up. The
answer is words of 64 bits, as many as flags need: a bit for each opportunity, one for each deed.
"""

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np

from analytics.replay.flags import (
    AFTER_FLOP,
    BEFORE_FLOP,
    CALL,
    CHECK,
    FLAGS,
    FOLD,
    POSTFLOP,
    PREFLOP,
    RAISE,
    Flag,
)
from store.columns.cells import Column

KIND = np.array([FOLD, CHECK, CALL, RAISE, RAISE])  # by action
_DEED = 31  # the flags of a word, and where the bits of their deeds begin
WORDS = -(-len(FLAGS) // _DEED)
PLACES = {name: divmod(at, _DEED) for at, name in enumerate(FLAGS)}  # which word, which bit


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
    return Spots(BEFORE_FLOP, PREFLOP)


@cache
def postflop() -> Spots:
    """What each spot after the flop means."""
    return Spots(AFTER_FLOP, POSTFLOP)


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


def columns(words: Sequence[Column]) -> dict[str, tuple[Column, Column]]:
    """Of each flag whether there was an opportunity, and what was done, packed as Arrow does it."""
    packed = []
    for word in words:
        bits = np.unpackbits(word.view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")
        packed.append(np.packbits(np.ascontiguousarray(bits.T), axis=1, bitorder="little"))
    return {
        name: (packed[word][bit], packed[word][_DEED + bit]) for name, (word, bit) in PLACES.items()
    }
