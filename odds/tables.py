"""The tables behind every hand value: how they are built, stored and read back.

Theory
------
A hand of 5 to 8 cards is four suit masks of 13 bits, one bit a rank, deuce lowest. A value is
``category << 12 | index``: categories run from high card (0) to straight flush (8), the index
counts the distinct hands of that category from the weakest, a higher value wins and an equal
value ties.

1.  Five cards first. `ladder` lists every distinct *finish* in order. A finish is two rank sets:
    `main`, the ranks that make the category, and `rest`, the kickers. Two sets of equal size
    compare like plain numbers, because the highest rank is the highest bit; so a finish is
    ordered by `main`, then `rest`, with no case analysis. A straight is named by its last rank
    alone: in the wheel that is the five, and where straights are cyclic J-Q-K-A-2 ends in a two
    and is the lowest of thirteen (P2).

2.  What suits do not decide depends only on how often each rank is held, so the counts are
    written as digits of base 5: seven digits for ranks 2 to 8 (`low`), six for 9 to A (`high`).
    A rank is held at most once per suit, so adding the codes of the four suit masks adds digits
    without a carry.

3.  `suit[mask]` packs both codes of one suit mask and, when the mask has five ranks or more, the
    flush or straight flush they make:

        bits  0-16  low code        5^7 =  78,125
        bits 17-30  high code       5^6 =  15,625
        bits 32-47  flush value, else 0

    Five suited cards out of eight leave three, so only one suit can have a flush, and the upper
    part of the four summed entries simply *is* its value.

4.  `low[code]` numbers the low codes with the same count of cards, and `high[n][code]` is the
    first slot of a high code in hands of n cards. Their sum is a minimal perfect index into
    `rank[n]`, which has one slot for each multiset of n ranks: 6,175, 18,395, 49,205, 120,055.

        key   = suit[s0] + suit[s1] + suit[s2] + suit[s3]
        value = max(key >> 32, rank[n][high[n][key >> 17 & 16383] + low[key & 131071]])

    That one `max` also settles a flush against the quads or full house that eight cards can
    hold beside it.

5.  A slot of `rank[n]` is filled from four rank sets, the ranks held at least once, twice, three
    and four times: quads are any rank of the fourth, a full house a rank of the third and
    another of the second, and so on. A straight is read off the first set, and the larger value
    stands: a straight beats trips, and quads beat the straight beside them.

Only the straight rule changes these tables. Coarser comparisons are lookups on the finished
value; they live in `odds.rank`.

The built tables ship as `ranks.bin`, because building takes most of a second and reading a few
milliseconds. `python -m odds.tables` writes it again; a test proves that it equals a fresh build.
"""

from __future__ import annotations

import sys
import zlib
from array import array
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Literal, NamedTuple

Straights = Literal["standard", "cyclic"]
Finish = tuple[int, int]
"""Two rank sets: the ranks that make the category, then the kickers."""

STRAIGHTS: tuple[Straights, ...] = ("standard", "cyclic")
SIZES = range(5, 9)
"""How many cards a hand may have."""
STORED_AT = Path(__file__).with_name("ranks.bin")

HIGH_CARD, PAIR, TWO_PAIR, TRIPS, STRAIGHT, FLUSH, FULL_HOUSE, QUADS, STRAIGHT_FLUSH = range(9)


class Tables(NamedTuple):
    """The columns of one straight rule; `high` and `rank` are keyed by the number of cards."""

    suit: array[int]
    low: array[int]
    high: Mapping[int, array[int]]
    rank: Mapping[int, array[int]]


@cache
def ladder(straights: Straights) -> tuple[tuple[Finish, ...], ...]:
    """Every distinct five-card finish: `ladder(...)[category][index]`, weakest first."""
    straight = runs(straights)
    loose = tuple((0, five) for five in _rank_sets(5) if five not in straight)
    run_ends = tuple((last, 0) for last in sorted(straight.values()))
    return (
        loose,
        _finishes(1, 3),
        _finishes(2, 1),
        _finishes(1, 2),
        run_ends,
        loose,
        _finishes(1, 1),
        _finishes(1, 1),
        run_ends,
    )


def build(straights: Straights) -> Tables:
    """Derive the tables from the ladder alone; takes some tenths of a second."""
    value_of = {
        (category, *finish): category << 12 | index
        for category, finishes in enumerate(ladder(straights))
        for index, finish in enumerate(finishes)
    }
    straight_runs = runs(straights).items()
    last_of = [  # for each rank set the last rank of the best straight in it, or 0
        max((last for run, last in straight_runs if not run & ~ranks), default=0)
        for ranks in range(8192)
    ]

    def by_counts(held: int) -> int:
        last = last_of[held & 8191]
        straight = value_of[STRAIGHT, last, 0] if last else 0
        # A loose high card is on the ladder only if no straight took its place.
        return max(straight, value_of.get(_finish_by_counts(held), 0))

    def by_suit(mask: int) -> int:
        if mask.bit_count() < 5:
            return 0
        last = last_of[mask]
        return value_of[(STRAIGHT_FLUSH, last, 0) if last else (FLUSH, 0, _highest(5)[mask])]

    lows: list[list[int]] = [[] for _ in range(4 * 7 + 1)]
    low = array("H")
    for cards, held in _holdings(7):
        # Zeros where no hand is so large keep the stored file small.
        low.append(len(lows[cards]) if cards in range(9) else 0)
        lows[cards].append(held)
    high = {size: array("I") for size in SIZES}
    rank = {size: array("H") for size in SIZES}
    for cards, held in _holdings(6):
        for size in SIZES:
            high[size].append(len(rank[size]) if cards <= size else 0)
            if cards <= size:
                rank[size].extend(by_counts(held << 7 | rest) for rest in lows[size - cards])
    suit = array("q")
    for mask in range(8192):  # its ranks 2 to 8 in base 5, 9 to A from bit 17 up, and the flush
        suit.append(_ones(mask & 127) | _ones(mask >> 7) << 17 | by_suit(mask) << 32)
    return Tables(suit, low, high, rank)


def dump(tables: Mapping[Straights, Tables]) -> bytes:
    """The columns as raw little-endian numbers, compressed; `low` and `high` are stored once."""
    raw = bytearray()
    for column in _columns(tables):
        little = column[:]
        if sys.byteorder == "big":
            little.byteswap()
        raw += little.tobytes()
    return zlib.compress(raw, 9)


def load(blob: bytes) -> dict[Straights, Tables]:
    """Read the tables that `dump` wrote."""
    slots = {5: 6175, 6: 18395, 7: 49205, 8: 120055}
    tables = {
        straights: Tables(  # columns of the right type and length, all zero
            array("q", bytes(8 * 8192)),
            array("H", bytes(2 * 5**7)),
            {size: array("I", bytes(4 * 5**6)) for size in SIZES},
            {size: array("H", bytes(2 * slots[size])) for size in SIZES},
        )
        for straights in STRAIGHTS
    }
    shared = tables["standard"]
    tables["cyclic"] = tables["cyclic"]._replace(low=shared.low, high=shared.high)
    raw = memoryview(zlib.decompress(blob))
    for column in _columns(tables):
        width = len(column) * column.itemsize
        column[:] = array(column.typecode, raw[:width].tobytes())
        if sys.byteorder == "big":
            column.byteswap()
        raw = raw[width:]
    return tables


@cache
def stored() -> Mapping[Straights, Tables]:
    """The tables as shipped, read once per process."""
    return load(STORED_AT.read_bytes())


def _columns(tables: Mapping[Straights, Tables]) -> Iterator[array[int]]:
    """The columns in the order of the stored file."""
    yield tables["standard"].low
    yield from tables["standard"].high.values()
    for straights in STRAIGHTS:
        yield tables[straights].suit
        yield from tables[straights].rank.values()


def _rank_sets(size: int) -> tuple[int, ...]:
    """All sets of `size` ranks, weakest first."""
    sets = combinations([1 << rank for rank in range(13)], size)
    return tuple(sorted(map(sum, sets)))


def _finishes(main: int, rest: int) -> tuple[Finish, ...]:
    """All finishes of `main` ranks that make the category and `rest` kickers, weakest first."""
    return tuple(
        (made, kickers)
        for made in _rank_sets(main)
        for kickers in _rank_sets(rest)
        if not made & kickers
    )


def runs(straights: Straights) -> dict[int, int]:
    """The rank set of each straight, and its last rank.

    Under both rules the ace comes last or before the two; cyclic straights may also have it inside.
    """
    lasts = range(13) if straights == "cyclic" else range(3, 13)
    return {sum(1 << (last - back) % 13 for back in range(5)): 1 << last for last in lasts}


@cache
def _highest(size: int) -> list[int]:
    """The `size` highest ranks of each rank set."""
    kept: list[int] = []
    for ranks in range(8192):
        without_lowest = ranks & ranks - 1
        kept.append(ranks if ranks.bit_count() <= size else kept[without_lowest])
    return kept


def _ones(ranks: int) -> int:
    """A digit 1 of base 5 for each rank held, so that added codes count: 0b101 makes 26."""
    return int(f"{ranks:b}", 5)


def _holdings(ranks: int) -> Iterator[tuple[int, int]]:
    """The count of cards and four rank sets, packed 13 bits apart, of each code of `ranks` digits.

    The sets are the ranks held at least once, twice, three and four times.
    """
    at_least = (0, 1, 1 | 1 << 13, 1 | 1 << 13 | 1 << 26, 1 | 1 << 13 | 1 << 26 | 1 << 39)
    holdings: list[tuple[int, int]] = [(0, 0)]
    for code in range(1, 5**ranks):
        cards, held = holdings[code // 5]
        copies = code % 5
        holdings.append((cards + copies, held << 1 | at_least[copies]))
    return iter(holdings)


def _finish_by_counts(held: int) -> tuple[int, int, int]:
    """Category, main and rest of the best hand that is neither a straight nor a flush."""
    once, twice, thrice, four = (held >> shift & 8191 for shift in (0, 13, 26, 39))
    highest = _highest(1)
    if four:
        quads = highest[four]
        return QUADS, quads, highest[once ^ quads]
    if thrice:
        trips = highest[thrice]
        if twice ^ trips:
            return FULL_HOUSE, trips, highest[twice ^ trips]
        return TRIPS, trips, _highest(2)[once ^ trips]
    pairs = _highest(2)[twice]
    if pairs.bit_count() == 2:
        return TWO_PAIR, pairs, highest[once ^ pairs]
    if pairs:
        return PAIR, pairs, _highest(3)[once ^ pairs]
    return HIGH_CARD, 0, _highest(5)[once]


if __name__ == "__main__":
    STORED_AT.write_bytes(dump({straights: build(straights) for straights in STRAIGHTS}))
