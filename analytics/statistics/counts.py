"""Count what players did over all of their hands, and each statistic before each hand.

Hands by the million are played in some thousand patterns (`projections.flag_encoding`). So the
facts are asked once how often who played which, and a question that reads nothing but what a
pattern says, and counts, is asked of each pattern once: a player's count is the sum over his
patterns, each as often as he played it. Any other question is asked of the facts themselves.

A player's history is every statistic as it stood before each of his hands: running sums, never the
future. The questions of `statistics.catalogue` are asked of each hand by itself; what they count is
added up in the order in which hands closed, without the hand at which it is read.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from analytics.projections.flag_encoding import Ints, arrow_array, decode_patterns, rows_by_pair
from analytics.sql import ArrowTables, FactSource, HandFilters, facts_sql, file_sql, sql_text
from analytics.statistics.catalogue import STATISTICS, Statistic

PATTERNS_SQL = (
    "SELECT player, part, pattern, count(*) AS hands FROM filtered GROUP BY player, part, pattern"
)
BY_HAND_SQL = "SELECT * REPLACE ({'part': part, 'hand': hand_seq} AS part) FROM"
BY_SEAT_SQL = (
    "SELECT * REPLACE "
    "({'part': part, 'hand_seq': hand_seq, 'hand': hand, 'seat': seat} AS part) FROM"
)
Floats = NDArray[np.float64]
DealSums = list[tuple[int, int, int]]
Key = tuple[str, str]


class PlayerCounts(NamedTuple):
    """What one player did: sums by column, and how often he played each of his patterns.

    `other_ratios` has the deals of those ratios that patterns do not hold.
    """

    player: str
    part: str
    sums: Mapping[str, Any]
    counts: Mapping[str, Floats]
    patterns: Ints
    hands: Ints
    other_ratios: Mapping[str, DealSums]

    def deals(self, name: str) -> DealSums:
        """The hands with each value of `NAME_k` and `NAME_n`, which a bootstrap draws from."""
        if name in self.other_ratios:
            return self.other_ratios[name]
        above, below = (self.counts[f"{name}_{end}"][self.patterns] for end in "kn")
        size = int(below.max()) + 1
        each = np.bincount((above * size + below).astype(np.int64), self.hands)
        return [(*divmod(int(at), size), int(each[at])) for at in np.flatnonzero(each)]


def player_counts(
    facts: FactSource, filters: HandFilters, wanted: Iterable[Statistic]
) -> Iterator[PlayerCounts]:
    """Count what these statistics need, for each player and part."""
    wanted = tuple(wanted)
    often = facts.ask(f"WITH filtered AS ({facts_sql(filters)}) {PATTERNS_SQL}")
    patterns = often["pattern"].combine_chunks().dictionary_encode()
    counts, others = _pattern_counts(
        patterns.dictionary, dict.fromkeys(statistic.file for statistic in wanted)
    )
    unpatterned = _FactCounts(
        facts, filters, [statistic for statistic in wanted if statistic.file in others]
    )
    whole = np.column_stack([np.zeros(len(patterns.dictionary)), *counts.values()])
    which, times = patterns.indices.to_numpy(), often["hands"].to_numpy()
    for key, at in rows_by_pair(often["player"], often["part"]):
        his = arrow_array(which[at]).dictionary_encode()
        ways = his.dictionary.to_numpy()
        hands = np.bincount(his.indices, times[at]).astype(np.int64)
        sums = dict(zip(counts, (hands @ whole[ways]).tolist()[1:], strict=True))
        sums |= unpatterned.sums.get(key, {})
        yield PlayerCounts(*key, sums, counts, ways, hands, unpatterned.deals.get(key, {}))


def opportunity_rows(tables: ArrowTables, filtered: str, wanted: Sequence[Statistic]) -> pa.Table:
    """A row for each opportunity that these shares count in named hands: `look` is the name of the
    share, `done` whether it was taken. `filtered` is the SELECT that their SQL files read.
    """
    rows = tables.arrow("SELECT player, part, hand_seq, hand, pattern FROM filtered", filtered)
    patterns = rows["pattern"].combine_chunks().dictionary_encode()
    counts, others = _pattern_counts(
        patterns.dictionary, dict.fromkeys(statistic.file for statistic in wanted)
    )
    hands, which = rows.drop_columns("pattern"), patterns.indices.to_numpy()
    parts = [hands.slice(0, 0).append_column("look", pa.array([], pa.string()))]
    done = [np.zeros(0, dtype=np.int32)]
    for statistic in wanted:
        named = hands
        name = statistic.prefix
        if statistic.file in others:
            answer = tables.arrow(
                "SELECT player, part.part AS part, part.hand_seq AS hand_seq, part.hand AS hand, "
                f"{name}_k AS k, {name}_n AS n FROM (\n{sql_text(statistic.file)})",
                f"{BY_SEAT_SQL} ({filtered})",
            )
            named = answer.drop_columns(["k", "n"]).cast(hands.schema)
            k, n = (answer[end].cast(pa.float64()).fill_null(0).to_numpy() for end in "kn")
        else:
            k, n = (counts[f"{name}_{end}"][which] for end in "kn")
        for times, taken in ((k, 1), (n - k, 0)):
            at = np.repeat(np.arange(len(times)), times.astype(np.int64))
            parts.append(
                named.take(arrow_array(at)).append_column(
                    "look", pa.repeat(statistic.name, len(at))
                )
            )
            done.append(np.full(len(at), taken, dtype=np.int32))
    return pa.concat_tables(parts).append_column("done", arrow_array(np.concatenate(done)))


def _pattern_counts(patterns: pa.Array, files: Iterable[str]) -> tuple[dict[str, Floats], set[str]]:
    """The counts of each pattern, column by column; and the SQL files that need more than a
    pattern holds, or more than counts.
    """
    import duckdb

    counts: dict[str, Floats] = {}
    others = set()
    size = len(patterns)
    numbers = pa.table({"player": arrow_array(np.arange(size)), "part": pa.repeat("", size)})
    rows = decode_patterns(patterns)
    for name in rows.column_names:
        numbers = numbers.append_column(name, rows[name])
    tables = ArrowTables({"patterns": numbers})
    try:
        for file in files:
            try:
                answer = tables.file_table(file, "SELECT * FROM patterns")
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


class _FactCounts:
    """Counts of SQL files that patterns cannot answer: sums, and the deals of ratios."""

    def __init__(
        self, facts: FactSource, filters: HandFilters, wanted: Sequence[Statistic]
    ) -> None:
        self.sums: dict[Key, dict[str, Any]] = {}
        self.deals: dict[Key, dict[str, DealSums]] = {}
        for file in dict.fromkeys(statistic.file for statistic in wanted):
            sql = file_sql(file, facts_sql(filters))
            for row in facts.rows(sql):
                self.sums.setdefault((row["player"], row["part"]), {}).update(row)
        for name, file in {
            statistic.prefix: statistic.file for statistic in wanted if statistic.kind == "ratio"
        }.items():
            sql = (
                f"WITH filtered AS ({BY_HAND_SQL} ({facts_sql(filters)})) "
                "SELECT player, part.part AS part, "
                f"{name}_k AS k, {name}_n AS n, count(*) AS hands FROM (\n{sql_text(file)}) "
                f"GROUP BY ALL ORDER BY ALL"
            )
            for row in facts.rows(sql):
                deals = self.deals.setdefault((row["player"], row["part"]), {})
                deals.setdefault(name, []).append(
                    (int(row["k"] or 0), int(row["n"] or 0), row["hands"])
                )


Counts = NDArray[np.int64]


class History(NamedTuple):
    """Hands in order, and each statistic's value before each hand (NaN for none), and its n."""

    hands: list[str]
    values: Mapping[str, Floats]
    n: Mapping[str, Counts]


def history(facts: FactSource, filters: HandFilters) -> History:
    """The statistics of `filters.player` before each of his filtered hands."""
    source = facts_sql(filters)
    rows = facts.ask(f"SELECT hand_seq, match, number FROM ({source}) ORDER BY hand_seq")
    places = rows["hand_seq"].to_numpy()
    names = zip(rows["match"].to_pylist(), rows["number"].to_pylist(), strict=True)
    values: dict[str, Floats] = {}
    counts: dict[str, Counts] = {}
    for file in dict.fromkeys(statistic.file for statistic in STATISTICS.values()):
        each = facts.ask(
            f"WITH filtered AS ({BY_HAND_SQL} ({source})) "
            f"SELECT * REPLACE (part.hand AS part) FROM (\n{sql_text(file)})"
        )
        at = np.searchsorted(places, each["part"].to_numpy())
        for statistic in STATISTICS.values():
            if statistic.file == file:
                values[statistic.name], counts[statistic.name] = _running_values(
                    statistic, each, at, len(places)
                )
    return History([f"{match}/{number}" for match, number in names], values, counts)


def _running_values(
    statistic: Statistic, each: pa.Table, at: Counts, size: int
) -> tuple[NDArray[np.float64], Counts]:
    """The value of a statistic before each hand, and its n."""

    def column(end: str) -> Floats:
        found = np.zeros(size)
        found[at] = each[f"{statistic.prefix}_{end}"].cast(pa.float64()).fill_null(0).to_numpy()
        return found

    own = column("n")
    n = _sums_before(own)
    with np.errstate(divide="ignore", invalid="ignore"):
        if statistic.kind == "sum":
            value = np.round(_sums_before(column("sum")), 6)
        elif statistic.kind in ("mean", "spread"):
            amount = column("mean") * own
            mean = _sums_before(amount) / n
            value = statistic.scale * mean
            if statistic.kind == "spread":
                squares = _sums_before(column("mean") * amount)
                value = statistic.scale * np.sqrt(
                    np.maximum(squares - n * mean * mean, 0) / (n - 1)
                )
                value[n < 2] = np.nan
        else:
            value = _sums_before(column("k")) / n
    if statistic.kind != "sum":
        value[n == 0] = np.nan
    return value, n.astype(np.int64)


def _sums_before(amounts: Floats) -> Floats:
    """The sums of the amounts before each."""
    return np.cumsum(amounts) - amounts
