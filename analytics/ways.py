"""Sums over many hands, out of the ways in which they were played.

Hands by the million are played in some thousand ways (`facts_packed`). So the facts are asked once
how often who played which way, and the SQL files once what a way counts, all in one pass: what a
player did is the sum over his ways, each as often as he played it. That is exact, because every
file but one adds up whole numbers over hands. Nets are not alike in hands played alike, so of them
and of their squares the facts are asked for sums, too.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from analytics.alike import Places, alike, numbered
from analytics.facts_names import COUNTS
from analytics.facts_packed import WAYS, unpacked
from analytics.questions import text_of, together
from analytics.statistics_chosen import Chosen, table
from store.query import MEMORY, THREADS
from store.sessions import engine_of

MONEY = "winnings"
Numbers = NDArray[np.float64]
Cells = list[tuple[int, int, int]]

OFTEN = """
SELECT
    player, part, ways, acts, showdown, per_chip, big_blind, big_bet,
    count(*) AS hands, sum(nets) AS nets, sum(squares) AS squares
FROM chosen
GROUP BY player, part, ways, acts, showdown, per_chip, big_blind, big_bet
"""


class Asked(Protocol):
    """Whatever answers SQL about facts with a table."""

    def ask(self, sql: str) -> pa.Table: ...


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


def tallies(facts: Asked, chosen: Chosen, files: Sequence[str]) -> Iterator[Tally]:
    """Everything that these files count, of each player and part."""
    those = f"WITH chosen AS ({table(chosen)})"
    often = facts.ask(f"{those}{OFTEN}")
    played, ways = _ways(facts, those, often)
    counts = _counts(ways, [file for file in files if file != MONEY])
    whole = np.column_stack([np.zeros(ways.num_rows), *counts.values()])
    money = _money(often) if MONEY in files else {}
    way, hands = (played[name].to_numpy() for name in ("way", "hands"))
    for key, at in alike(played["player"], played["part"]):
        sums = (hands[at] @ whole[way[at]]).tolist()[1:]
        told = dict(zip(counts, sums, strict=True)) | money.get(key, {})
        yield Tally(*key, told, counts, way[at], hands[at])


def _ways(facts: Asked, those: str, often: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Who played which way how often; and every way as the facts of one hand that was so played.

    A hand that has no numbers (`facts_packed`) is a way of its own.
    """
    packed = often.filter(pc.is_valid(often["ways"]))
    way, ways, acts = numbered(packed["ways"], packed["acts"])
    who = ["player", "part", "hands"]
    played = packed.select(who).append_column("way", pa.array(way))
    told = {"player": pa.nulls(len(ways), pa.string()), "part": pa.array(range(len(ways)))}
    once = pa.array(np.ones(len(ways)))
    every = unpacked(pa.table({**told, "ways": ways, "acts": acts, "hands": once}))
    if often["ways"].null_count:
        names = ", ".join((*WAYS, *COUNTS))
        others = facts.ask(f"{those} SELECT player, part, {names} FROM chosen WHERE ways IS NULL")
        more = pa.array(range(len(ways), len(ways) + others.num_rows))
        ones = np.ones(others.num_rows)
        theirs = others.select(who[:2]).append_column("hands", pa.array(ones.astype(np.int64)))
        played = pa.concat_tables([played, theirs.append_column("way", more)])
        others = others.set_column(1, "part", more).append_column("hands", pa.array(ones))
        every = pa.concat_tables([every, others.select(every.column_names)])
    return played, every


def _counts(ways: pa.Table, files: Sequence[str]) -> dict[str, Numbers]:
    """What a hand of each way counts: a column for each of the files' columns."""
    if not files:
        return {}
    found = _asked(together(files), ways)
    order = np.argsort(found["part"])
    return {name: found[name][order] for name in [*found][2:]}


def _money(often: pa.Table) -> dict[tuple[str, str], dict[str, Any]]:
    """Winnings by player and part."""
    found = _asked(text_of(MONEY), often)
    columns = (column.tolist() for column in found.values())  # masked: nothing was added up
    rows = (dict(zip(found, row, strict=True)) for row in zip(*columns, strict=True))
    return {(row["player"], row["part"]): row for row in rows}


def _asked(sql: str, chosen: pa.Table) -> dict[str, NDArray[Any]]:
    """One question about a table of our own, column by column."""
    con = engine_of(MEMORY, THREADS).cursor()
    try:
        con.register("chosen", chosen)
        return con.execute(sql).fetchnumpy()
    finally:
        con.close()
