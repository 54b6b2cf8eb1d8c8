"""Compute statistics of players and parts, with their counts and confidence intervals.

Each is answered by SQL files in `analytics/sql/`, one question a file; all of them read `filtered`,
the facts that the filters leave, and nothing else.

`ask("vpip", "ledger", player="lynx")` gives a Polars frame; a question is the name of a statistic,
several names, `all`, or `grid`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from analytics.intervals import Interval, bootstrap_ratio, rounded, student, wilson
from analytics.projections.facts import SCHEMA, ruleset_projections
from analytics.sql import (
    ArrowTables,
    FactSource,
    HandFilters,
    RowsWithUnits,
    currencies,
    currencies_by_part,
    facts_sql,
    file_sql,
    natural_key,
)
from analytics.statistics.catalogue import STATISTICS, Estimate, Statistic
from store.reader import Reader, Snapshot
from store.sql.query import Query
from store.sql.result_values import json_rows
from store.sql.views import NO_DISPLAY_NAMES, DisplayNames
from store.tables.projection import STANDARD

if TYPE_CHECKING:
    from analytics.statistics.counts import PlayerCounts

SECONDS = 600.0


class StatisticValue(NamedTuple):
    """One statistic of one player: its value, `k` out of `n`, and its confidence interval.

    `unit` is the currency of an amount; None where hands were played for several.
    """

    player: str
    part: str
    statistic: str
    value: float | None
    k: int | None
    n: int
    low: float | None
    high: float | None
    unit: str | None = None


class UnknownStatistic(ValueError):
    """No statistic has this name."""


COLUMNS: dict[str, Any] = {
    "player": str,
    "part": str,
    "statistic": str,
    "value": float,
    "k": int,
    "n": int,
    "low": float,
    "high": float,
    "unit": str,
}


def snapshot_query(
    snapshot: Snapshot, only: frozenset[str] | None = None, called: DisplayNames = NO_DISPLAY_NAMES
) -> Query:
    """A query of a snapshot's views, projections included; `only` hands in these units, players
    `called` by other names."""
    known = (*STANDARD, *ruleset_projections(snapshot.ruleset))
    return Query(snapshot, known, seconds=SECONDS, only=only, called=called)


def find_statistics(question: str | Iterable[str]) -> tuple[Statistic, ...]:
    """The statistics that a question names: one, several or `all`."""
    if question == "all":
        return tuple(STATISTICS.values())
    names = (question,) if isinstance(question, str) else tuple(question)
    for name in names:
        if name not in STATISTICS:
            raise UnknownStatistic(f"there is no statistic {name}: {', '.join(STATISTICS)}")
    return tuple(STATISTICS[name] for name in names)


def sql_file_rows(
    file: str, query: FactSource, filters: HandFilters, known: str = "coalesce(cards, shown)"
) -> list[dict[str, Any]]:
    """The rows that a SQL file answers, by player and part."""
    rows = fastest_source(query, filters).rows(file_sql(file, facts_sql(filters, known)))
    return sorted(rows, key=lambda row: (row["player"], natural_key(row["part"])))


def fastest_source(facts: FactSource, filters: HandFilters) -> FactSource:
    """All facts, or only those of the filtered player where they can be read from the files."""
    alone = filters.player is not None and filters.vs is None and not filters.others
    if alone and filters.by != "opponent" and isinstance(facts, Query) and facts.reads:
        assert filters.player is not None
        return PlayerFacts(facts, filters.player)
    return facts


class PlayerFacts:
    """One player's facts, read from the files; only the columns that a question names."""

    def __init__(self, query: Query, player: str) -> None:
        self._query = query
        self._player = player

    def ask(self, sql: str) -> pa.Table:
        """The answer as a table."""
        words = set(re.findall(r"\w+", sql))
        wanted = [name for name in SCHEMA.names if name in words]
        tables = ArrowTables({"facts": self._query.about("facts", self._player, wanted)})
        try:
            return tables.table(sql)
        finally:
            tables.close()

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """The answer as plain values."""
        return json_rows(self.ask(sql))


def statistic_values(
    query: FactSource, filters: HandFilters, wanted: Sequence[Statistic]
) -> Iterator[StatisticValue]:
    """Compute these statistics of every player and part, in the order asked for."""
    from analytics.statistics.counts import player_counts  # few questions need it

    counted = player_counts(fastest_source(query, filters), filters, wanted)
    for tally in sorted(counted, key=lambda tally: (tally.player, natural_key(tally.part))):
        for statistic in wanted:
            yield StatisticValue(
                tally.player, tally.part, statistic.name, *_estimate(statistic, tally)
            )


def with_units(
    query: RowsWithUnits, filters: HandFilters, rows: Iterable[StatisticValue]
) -> Iterator[StatisticValue]:
    """Add the currency to amounts; an amount of several currencies loses its value."""
    known = currencies(query.units)
    parts = currencies_by_part(query, filters) if len(known) > 1 else {}
    for row in rows:
        if not STATISTICS[row.statistic].amount:
            yield row
        elif len(known) < 2:
            yield row._replace(unit=known[0] if known else None)
        elif unit := parts.get((row.player, row.part)):
            yield row._replace(unit=unit)
        else:
            yield row._replace(value=None, low=None, high=None)


def _estimate(statistic: Statistic, tally: "PlayerCounts") -> Estimate:
    """The value, k, n and interval of one statistic from a player's counts."""
    name, row = statistic.prefix, tally.sums
    n = int(row.get(f"{name}_n") or 0)
    if statistic.kind in ("mean", "spread"):
        mean, deviation = rounded(row.get(f"{name}_mean")), rounded(row.get(f"{name}_sd"))
        if statistic.kind == "spread":
            return (None if deviation is None else statistic.scale * deviation), None, n, None, None
        if mean is None:
            return None, None, n, None, None
        interval = student(mean, deviation or 0.0, n)
        return statistic.scale * mean, None, n, *_scaled(interval, statistic.scale)
    if statistic.kind == "sum":
        return round(row.get(f"{name}_sum") or 0.0, 6), None, n, None, None
    k = int(row.get(f"{name}_k") or 0)
    if n == 0:
        return None, k, 0, None, None
    if statistic.kind == "share":
        return k / n, k, n, *_scaled(wilson(k, n))
    return k / n, k, n, *_scaled(bootstrap_ratio(tally.deals(name)))


def _scaled(interval: Interval | None, scale: float = 1.0) -> tuple[float | None, float | None]:
    return (interval[0] * scale, interval[1] * scale) if interval else (None, None)


if TYPE_CHECKING:
    import polars as pl


def ask(
    question: str | Sequence[str], ledger: str | Path | Snapshot, **filters: Any
) -> "pl.DataFrame":
    """The answer as a frame; `filters` are the fields of `HandFilters`."""
    import polars as pl

    query = snapshot_query(snapshot_of(ledger))
    hand_filters = HandFilters(**filters)
    try:
        if question == "grid":
            return pl.DataFrame(
                sql_file_rows("grid", query, hand_filters), infer_schema_length=None
            )
        rows = with_units(
            query, hand_filters, statistic_values(query, hand_filters, find_statistics(question))
        )
        return pl.DataFrame(list(rows), schema=COLUMNS, orient="row")
    finally:
        query.close()


def snapshot_of(ledger: str | Path | Snapshot) -> Snapshot:
    """A ledger as it is now; a snapshot that is taken once answers all questions alike."""
    return ledger if isinstance(ledger, Snapshot) else Reader(Path(ledger)).snapshot()
