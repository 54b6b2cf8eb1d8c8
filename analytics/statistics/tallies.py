"""What players did, added up over all of their hands.

Hands by the million are played in some thousand patterns (`projections.patterns`). So the facts are
asked once how often who played which, and a question that reads nothing but what a pattern says,
and counts, is asked of each pattern once: what a player did is the sum over his patterns, each as
often as he played it. Any other question is asked of the facts themselves.

A player's history is every statistic as it stood before each of his hands: running sums, never the
future. The questions of `statistics.catalogue` are asked of each hand by itself; what they count is
added up in the order in which hands closed, without the hand at which it is read.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from analytics.projections.patterns import Places, column, rows_by_pair, unpacked
from analytics.sql.chosen import Chosen, Facts, Tables, table, text_of
from analytics.statistics.catalogue import STATISTICS, Statistic

OFTEN = "SELECT player, part, pattern, count(*) AS hands FROM chosen GROUP BY player, part, pattern"
HANDS = "SELECT * REPLACE ({'part': part, 'hand': hand_seq} AS part) FROM"
SEATS = (
    "SELECT * REPLACE "
    "({'part': part, 'hand_seq': hand_seq, 'hand': hand, 'seat': seat} AS part) FROM"
)
Numbers = NDArray[np.float64]
Deals = list[tuple[int, int, int]]
Key = tuple[str, str]


class Tally(NamedTuple):
    """What one player did: sums by column, and how often he played each of his patterns.

    `other_ratios` has the deals of those ratios that patterns do not tell.
    """

    player: str
    part: str
    sums: Mapping[str, Any]
    counts: Mapping[str, Numbers]
    patterns: Places
    hands: Places
    other_ratios: Mapping[str, Deals]

    def deals(self, name: str) -> Deals:
        """Hands by how much of `NAME_k` and of `NAME_n` they had, which a bootstrap draws from."""
        if name in self.other_ratios:
            return self.other_ratios[name]
        above, below = (self.counts[f"{name}_{end}"][self.patterns] for end in "kn")
        size = int(below.max()) + 1
        each = np.bincount((above * size + below).astype(np.int64), self.hands)
        return [(*divmod(int(at), size), int(each[at])) for at in np.flatnonzero(each)]


def tallies(facts: Facts, chosen: Chosen, wanted: Iterable[Statistic]) -> Iterator[Tally]:
    """Everything that the questions of these statistics count, of each player and part."""
    wanted = tuple(wanted)
    often = facts.ask(f"WITH chosen AS ({table(chosen)}) {OFTEN}")
    patterns = often["pattern"].combine_chunks().dictionary_encode()
    counts, others = _counted(
        patterns.dictionary, dict.fromkeys(statistic.file for statistic in wanted)
    )
    unpatterned = _Unpatterned(
        facts, chosen, [statistic for statistic in wanted if statistic.file in others]
    )
    whole = np.column_stack([np.zeros(len(patterns.dictionary)), *counts.values()])
    which, times = patterns.indices.to_numpy(), often["hands"].to_numpy()
    for key, at in rows_by_pair(often["player"], often["part"]):
        his = column(which[at]).dictionary_encode()
        ways = his.dictionary.to_numpy()
        hands = np.bincount(his.indices, times[at]).astype(np.int64)
        sums = dict(zip(counts, (hands @ whole[ways]).tolist()[1:], strict=True))
        sums |= unpatterned.sums.get(key, {})
        yield Tally(*key, sums, counts, ways, hands, unpatterned.deals.get(key, {}))


def chances(tables: Tables, chosen: str, wanted: Sequence[Statistic]) -> pa.Table:
    """A row for each chance that these shares count in hands that have names: `look` is the name of
    the share, `done` whether the chance was taken. `chosen` is what their questions read.
    """
    rows = tables.arrow("SELECT player, part, hand_seq, hand, pattern FROM chosen", chosen)
    patterns = rows["pattern"].combine_chunks().dictionary_encode()
    counts, others = _counted(
        patterns.dictionary, dict.fromkeys(statistic.file for statistic in wanted)
    )
    hands, which = rows.drop_columns("pattern"), patterns.indices.to_numpy()
    parts = [hands.slice(0, 0).append_column("look", pa.array([], pa.string()))]
    done = [np.zeros(0, dtype=np.int32)]
    for statistic in wanted:
        named = hands
        name = statistic.counted
        if statistic.file in others:
            answer = tables.arrow(
                "SELECT player, part.part AS part, part.hand_seq AS hand_seq, part.hand AS hand, "
                f"{name}_k AS k, {name}_n AS n FROM (\n{text_of(statistic.file)})",
                f"{SEATS} ({chosen})",
            )
            named = answer.drop_columns(["k", "n"]).cast(hands.schema)
            k, n = (answer[end].cast(pa.float64()).fill_null(0).to_numpy() for end in "kn")
        else:
            k, n = (counts[f"{name}_{end}"][which] for end in "kn")
        for times, taken in ((k, 1), (n - k, 0)):
            at = np.repeat(np.arange(len(times)), times.astype(np.int64))
            parts.append(
                named.take(column(at)).append_column("look", pa.repeat(statistic.name, len(at)))
            )
            done.append(np.full(len(at), taken, dtype=np.int32))
    return pa.concat_tables(parts).append_column("done", column(np.concatenate(done)))


def _counted(patterns: pa.Array, files: Iterable[str]) -> tuple[dict[str, Numbers], set[str]]:
    """What each pattern counts, column by column; and the files that ask for more than patterns
    say, or for more than how many.
    """
    import duckdb

    counts: dict[str, Numbers] = {}
    others = set()
    size = len(patterns)
    numbers = pa.table({"player": column(np.arange(size)), "part": pa.repeat("", size)})
    rows = unpacked(patterns)
    for name in rows.column_names:
        numbers = numbers.append_column(name, rows[name])
    tables = Tables({"patterns": numbers})
    try:
        for file in files:
            try:
                answer = tables.table_of(file, "SELECT * FROM patterns")
            except duckdb.BinderException:
                others.add(file)
                continue
            names = answer.column_names[2:]
            if not all(name.endswith(("_k", "_n")) for name in names):
                others.add(file)
                continue
            where = answer["player"].to_numpy()
            for name in names:
                counts[name] = np.zeros(size)
                counts[name][where] = answer[name].cast(pa.float64()).fill_null(0).to_numpy()
    finally:
        tables.close()
    return counts, others


class _Unpatterned:
    """What questions say that are asked of the facts themselves: sums, and of a ratio the deals."""

    def __init__(self, facts: Facts, chosen: Chosen, wanted: Sequence[Statistic]) -> None:
        self.sums: dict[Key, dict[str, Any]] = {}
        self.deals: dict[Key, dict[str, Deals]] = {}
        for file in dict.fromkeys(statistic.file for statistic in wanted):
            sql = f"WITH chosen AS ({table(chosen)}) SELECT * FROM (\n{text_of(file)})"
            for row in facts.rows(sql):
                self.sums.setdefault((row["player"], row["part"]), {}).update(row)
        for name, file in {
            statistic.counted: statistic.file for statistic in wanted if statistic.kind == "ratio"
        }.items():
            sql = (
                f"WITH chosen AS ({HANDS} ({table(chosen)})) SELECT player, part.part AS part, "
                f"{name}_k AS k, {name}_n AS n, count(*) AS hands FROM (\n{text_of(file)}) "
                f"GROUP BY ALL ORDER BY ALL"
            )
            for row in facts.rows(sql):
                deals = self.deals.setdefault((row["player"], row["part"]), {})
                deals.setdefault(name, []).append(
                    (int(row["k"] or 0), int(row["n"] or 0), row["hands"])
                )


Counts = NDArray[np.int64]


class History(NamedTuple):
    """The hands in order, and by statistic its value before each, which may be none (NaN), and out
    of how many."""

    hands: list[str]
    values: Mapping[str, Numbers]
    n: Mapping[str, Counts]


def history(facts: Facts, chosen: Chosen) -> History:
    """The course of `chosen.player`, over the hands that the filters leave."""
    source = table(chosen)
    rows = facts.ask(f"SELECT hand_seq, match, number FROM ({source}) ORDER BY hand_seq")
    places = rows["hand_seq"].to_numpy()
    names = zip(rows["match"].to_pylist(), rows["number"].to_pylist(), strict=True)
    values: dict[str, Numbers] = {}
    counts: dict[str, Counts] = {}
    for file in dict.fromkeys(statistic.file for statistic in STATISTICS.values()):
        each = facts.ask(
            f"WITH chosen AS ({HANDS} ({source})) "
            f"SELECT * REPLACE (part.hand AS part) FROM (\n{text_of(file)})"
        )
        at = np.searchsorted(places, each["part"].to_numpy())
        for statistic in STATISTICS.values():
            if statistic.file == file:
                values[statistic.name], counts[statistic.name] = _running(
                    statistic, each, at, len(places)
                )
    return History([f"{match}/{number}" for match, number in names], values, counts)


def _running(
    statistic: Statistic, each: pa.Table, at: Counts, size: int
) -> tuple[NDArray[np.float64], Counts]:
    """The value of a statistic before each hand, and out of how many."""

    def column(end: str) -> Numbers:
        found = np.zeros(size)
        found[at] = each[f"{statistic.counted}_{end}"].cast(pa.float64()).fill_null(0).to_numpy()
        return found

    own = column("n")
    n = _before(own)
    with np.errstate(divide="ignore", invalid="ignore"):
        if statistic.kind == "sum":
            value = np.round(_before(column("sum")), 6)
        elif statistic.kind in ("mean", "spread"):
            amount = column("mean") * own
            mean = _before(amount) / n
            value = statistic.scale * mean
            if statistic.kind == "spread":
                squares = _before(column("mean") * amount)
                value = statistic.scale * np.sqrt(
                    np.maximum(squares - n * mean * mean, 0) / (n - 1)
                )
                value[n < 2] = np.nan
        else:
            value = _before(column("k")) / n
    if statistic.kind != "sum":
        value[n == 0] = np.nan
    return value, n.astype(np.int64)


def _before(amounts: Numbers) -> Numbers:
    """The sum of all before each."""
    return np.cumsum(amounts) - amounts
