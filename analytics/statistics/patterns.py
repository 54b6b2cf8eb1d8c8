"""Sums over many hands, out of the ways in which they were played.

Hands by the million are played in some thousand ways (`stored.packed`). So the facts are asked once
how often who played which way, and each way is looked at once (`sums`): what a player did is the
sum over his ways, each as often as he played it. That is exact, because every SQL file but one adds
up whole numbers over hands. Nets are not alike in hands played alike, so of them and of their
squares the facts are asked for sums, too (`money`).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from analytics.statistics.alike import Places, alike, column, numbered
from analytics.statistics.hands import WHO, Played
from analytics.statistics.money import Money
from analytics.statistics.sums import Said, counts
from analytics.stored.packed import WAYS, apart, unpacked

MONEY = "winnings"
Numbers = NDArray[np.float64]
Cells = list[tuple[int, int, int]]


class Tally(NamedTuple):
    """What one player did: sums by column, and how often he played each of his ways."""

    player: str
    part: str
    sums: Mapping[str, Any]
    counts: Mapping[str, Numbers]
    ways: Places
    hands: Places

    def cells(self, name: str) -> Cells:
        """Hands by how much of `NAME_k` and of `NAME_n` they had, which a bootstrap draws from."""
        above, below = (self.counts[f"{name}_{end}"][self.ways].astype(np.int64) for end in "kn")
        size = int(below.max()) + 1
        each = np.bincount(above * size + below, self.hands)
        return [(*divmod(int(at), size), int(each[at])) for at in np.flatnonzero(each)]


def tallies(hands: Played, files: Sequence[str]) -> Iterator[Tally]:
    """Everything that these files count, of each player and part."""
    often = hands.often()
    played, said = _ways(hands, often)
    counted = counts(said, len(said[WAYS[0]]), [file for file in files if file != MONEY])
    whole = np.column_stack([np.zeros(len(said[WAYS[0]])), *counted.values()])
    money = _money(often) if MONEY in files else {}
    way, times = (played[name].to_numpy() for name in ("way", "hands"))
    for key, at in alike(played["player"], played["part"]):
        his = column(way[at]).dictionary_encode()
        ways = his.dictionary.to_numpy()
        each = np.bincount(his.indices, times[at]).astype(np.int64)
        sums = (each @ whole[ways]).tolist()[1:]
        told = dict(zip(counted, sums, strict=True)) | money.get(key, {})
        yield Tally(*key, told, counted, ways, each)


def _ways(hands: Played, often: pa.Table) -> tuple[pa.Table, Said]:
    """Who played which way how often, and what each way says.

    A hand that has no numbers (`stored.packed`) is a way of its own.
    """
    packed = often.filter(pc.is_valid(often["ways"]))
    way, ways, acts = numbered(packed["ways"], packed["acts"])
    played = packed.select(list(WHO)).append_column("way", column(way))
    said = unpacked(ways, acts)
    if often["ways"].null_count:
        others = hands.unusual()
        more = column(np.arange(len(ways), len(ways) + others.num_rows))
        theirs = others.select(list(WHO)).append_column("way", more).cast(played.schema)
        played = pa.concat_tables([played, theirs])
        more_said = apart(others)
        said = {name: np.concatenate([each, more_said[name]]) for name, each in said.items()}
    return played, said


def _money(often: pa.Table) -> dict[tuple[str, str], dict[str, Any]]:
    """Winnings by player and part."""
    money = Money(often)
    return {key: money.of(at) for key, at in alike(often["player"], often["part"])}
