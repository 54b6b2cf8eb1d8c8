"""Every statistic of every player and part: what was counted, and how far it can be trusted.

Each is answered by SQL files in `analytics/sql/`, one question a file; all of them read `chosen`,
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
from analytics.sql.chosen import (
    Chosen,
    Counted,
    Facts,
    Tables,
    by_part,
    moneys,
    natural,
    table,
    text_of,
)
from analytics.statistics.catalogue import STATISTICS, Numbers, Statistic
from store.reader import Reader, Snapshot
from store.sql.answers import plain
from store.sql.query import Query
from store.sql.views import NOBODY, Called
from store.tables.projection import STANDARD

if TYPE_CHECKING:
    from analytics.statistics.tallies import Tally

SECONDS = 600.0


class Answer(NamedTuple):
    """One statistic of one player: `k` out of `n`, and how far it can be trusted.

    `unit` is what an amount counts; there is none of hands that were played for several moneys.
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


class UnknownQuestion(ValueError):
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


def views(snapshot: Snapshot, only: frozenset[str] | None = None, called: Called = NOBODY) -> Query:
    """The views of a snapshot, those that need rules among them; of hands in these units only, of
    players as they are called."""
    known = (*STANDARD, *ruleset_projections(snapshot.ruleset))
    return Query(snapshot, known, seconds=SECONDS, only=only, called=called)


def named(question: str | Iterable[str]) -> tuple[Statistic, ...]:
    """The statistics that a question names."""
    if question == "all":
        return tuple(STATISTICS.values())
    names = (question,) if isinstance(question, str) else tuple(question)
    for name in names:
        if name not in STATISTICS:
            raise UnknownQuestion(f"there is no statistic {name}: {', '.join(STATISTICS)}")
    return tuple(STATISTICS[name] for name in names)


def rows_of(
    file: str, query: Facts, chosen: Chosen, known: str = "coalesce(cards, shown)"
) -> list[dict[str, Any]]:
    """The answer of a SQL file, players and parts in order."""
    rows = soonest(query, chosen).rows(
        f"WITH chosen AS ({table(chosen, known)}) SELECT * FROM (\n{text_of(file)})"
    )
    return sorted(rows, key=lambda row: (row["player"], natural(row["part"])))


def soonest(facts: Facts, chosen: Chosen) -> Facts:
    """The facts, or those of the player that is asked about, where they can be read at once."""
    alone = chosen.player is not None and chosen.vs is None and not chosen.others
    if alone and chosen.by != "opponent" and isinstance(facts, Query) and facts.reads:
        assert chosen.player is not None
        return OnePlayer(facts, chosen.player)
    return facts


class OnePlayer:
    """One player's facts, from the files: of each question the columns that it names."""

    def __init__(self, query: Query, player: str) -> None:
        self._query = query
        self._player = player

    def ask(self, sql: str) -> pa.Table:
        """The answer as a table."""
        words = set(re.findall(r"\w+", sql))
        wanted = [name for name in SCHEMA.names if name in words]
        tables = Tables({"facts": self._query.about("facts", self._player, wanted)})
        try:
            return tables.table(sql)
        finally:
            tables.close()

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """The answer as plain values."""
        return plain(self.ask(sql))


def answers(query: Facts, chosen: Chosen, wanted: Sequence[Statistic]) -> Iterator[Answer]:
    """Every statistic of every player and part, in the order asked for."""
    from analytics.statistics.tallies import tallies  # few questions need it

    counted = tallies(soonest(query, chosen), chosen, wanted)
    for tally in sorted(counted, key=lambda tally: (tally.player, natural(tally.part))):
        for statistic in wanted:
            yield Answer(tally.player, tally.part, statistic.name, *_judged(statistic, tally))


def in_units(query: Counted, chosen: Chosen, rows: Iterable[Answer]) -> Iterator[Answer]:
    """These answers, amounts with what they count; of several moneys an amount has no value."""
    known = moneys(query.units)
    parts = by_part(query, chosen) if len(known) > 1 else {}
    for row in rows:
        if not STATISTICS[row.statistic].amount:
            yield row
        elif len(known) < 2:
            yield row._replace(unit=known[0] if known else None)
        elif unit := parts.get((row.player, row.part)):
            yield row._replace(unit=unit)
        else:
            yield row._replace(value=None, low=None, high=None)


def _judged(statistic: Statistic, tally: "Tally") -> Numbers:
    """Value, k, n and interval of one statistic out of what was counted."""
    name, row = statistic.counted, tally.sums
    n = int(row.get(f"{name}_n") or 0)
    if statistic.kind in ("mean", "spread"):
        mean, deviation = rounded(row.get(f"{name}_mean")), rounded(row.get(f"{name}_sd"))
        if statistic.kind == "spread":
            return (None if deviation is None else statistic.scale * deviation), None, n, None, None
        if mean is None:
            return None, None, n, None, None
        interval = student(mean, deviation or 0.0, n)
        return statistic.scale * mean, None, n, *_ends(interval, statistic.scale)
    if statistic.kind == "sum":
        return round(row.get(f"{name}_sum") or 0.0, 6), None, n, None, None
    k = int(row.get(f"{name}_k") or 0)
    if n == 0:
        return None, k, 0, None, None
    if statistic.kind == "share":
        return k / n, k, n, *_ends(wilson(k, n))
    return k / n, k, n, *_ends(bootstrap_ratio(tally.deals(name)))


def _ends(interval: Interval | None, scale: float = 1.0) -> tuple[float | None, float | None]:
    return (interval[0] * scale, interval[1] * scale) if interval else (None, None)


if TYPE_CHECKING:
    import polars as pl


def ask(
    question: str | Sequence[str], ledger: str | Path | Snapshot, **filters: Any
) -> "pl.DataFrame":
    """The answer as a frame; `filters` are the fields of `Chosen`."""
    import polars as pl

    query = views(snapshot_of(ledger))
    chosen = Chosen(**filters)
    try:
        if question == "grid":
            return pl.DataFrame(rows_of("grid", query, chosen), infer_schema_length=None)
        rows = in_units(query, chosen, answers(query, chosen, named(question)))
        return pl.DataFrame(list(rows), schema=COLUMNS, orient="row")
    finally:
        query.close()


def snapshot_of(ledger: str | Path | Snapshot) -> Snapshot:
    """A ledger as it is now; a snapshot that is taken once answers all questions alike."""
    return ledger if isinstance(ledger, Snapshot) else Reader(Path(ledger)).snapshot()
