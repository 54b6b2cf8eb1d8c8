"""Ask a ledger about its players: `ask("vpip", "ledger", player="lynx")` gives a Polars frame.

A question is the name of a statistic, several names, `all`, or `grid`. Each is answered by SQL
files in `analytics/sql/`, one question a file; all of them read `chosen`, the facts that the
filters leave, and nothing else.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from analytics.facts_names import COUNTS
from analytics.facts_packed import WAYS, unpacked
from analytics.statistics import STATISTICS, Statistic
from analytics.statistics_chosen import Chosen, table
from analytics.statistics_intervals import Interval, bootstrapped, steady, student, wilson
from analytics.stored import stored
from store.projections import STANDARD
from store.query import Query
from store.reader import Reader, Snapshot

if TYPE_CHECKING:
    import polars as pl

SQL = Path(__file__).parent / "sql"
SECONDS = 600.0
MONEY = "winnings"  # sums of nets: no two hands are alike in those
SPREAD = "aggression_hands"
Counted = Mapping[str, Any]


class Answer(NamedTuple):
    """One statistic of one player: `k` out of `n`, and how far it can be trusted."""

    player: str
    part: str
    statistic: str
    value: float | None
    k: int | None
    n: int
    low: float | None
    high: float | None


class Facts(Protocol):
    """Where facts are asked for in SQL, as the view `facts`: a ledger's, or others like them."""

    def ask(self, sql: str) -> pa.Table:
        """The answer as a table."""
        ...

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """The answer as plain values."""
        ...


class UnknownQuestion(ValueError):
    """No statistic has this name."""


def ask(
    question: str | Sequence[str], ledger: str | Path | Snapshot, **filters: Any
) -> "pl.DataFrame":
    """The answer as a frame; `filters` are the fields of `Chosen`."""
    import polars as pl

    snapshot = ledger if isinstance(ledger, Snapshot) else Reader(Path(ledger)).snapshot()
    query = views(snapshot)
    chosen = Chosen(**filters)
    try:
        if question == "grid":
            return pl.DataFrame(rows_of("grid", query, chosen), infer_schema_length=None)
        found = answers(query, chosen, named(question))
        return pl.DataFrame(list(found), schema=COLUMNS, orient="row")
    finally:
        query.close()


COLUMNS: dict[str, Any] = {
    "player": str,
    "part": str,
    "statistic": str,
    "value": float,
    "k": int,
    "n": int,
    "low": float,
    "high": float,
}


def views(snapshot: Snapshot) -> Query:
    """The views of a snapshot, those that need rules among them."""
    return Query(snapshot, (*STANDARD, *stored(snapshot.ruleset)), ours=True, seconds=SECONDS)


def named(question: str | Iterable[str]) -> tuple[Statistic, ...]:
    """The statistics that a question names."""
    if question == "all":
        return tuple(STATISTICS.values())
    names = (question,) if isinstance(question, str) else tuple(question)
    for name in names:
        if name not in STATISTICS:
            raise UnknownQuestion(f"there is no statistic {name}: {', '.join(STATISTICS)}")
    return tuple(STATISTICS[name] for name in names)


@cache
def text_of(file: str) -> str:
    """The SQL of one question."""
    return (SQL / f"{file}.sql").read_text("utf-8")


def rows_of(
    file: str, query: Facts, chosen: Chosen, known: str = "coalesce(cards, shown)"
) -> list[dict[str, Any]]:
    """One file's answer, players and parts in order."""
    rows = query.rows(f"WITH chosen AS ({table(chosen, known)}) SELECT * FROM (\n{text_of(file)})")
    return sorted(rows, key=lambda row: (row["player"], natural(row["part"])))


def natural(part: str) -> tuple[int, str]:
    """Windows by their first hand, anything else by its letters."""
    return (int(part), "") if part.isdigit() else (0, part)


def answers(query: Facts, chosen: Chosen, wanted: Sequence[Statistic]) -> Iterator[Answer]:
    """Every statistic of every player and part, in the order asked for."""
    files = list(dict.fromkeys(one.file for one in wanted))
    if any(one.kind == "ratio" for one in wanted):
        files.append(SPREAD)
    counted: dict[tuple[str, str], dict[str, Any]] = {}
    told = _played(query, chosen, [file for file in files if file != MONEY])
    if MONEY in files:
        told[MONEY] = rows_of(MONEY, query, chosen)
    spread = _spread(told.pop(SPREAD, ()))
    for rows in told.values():
        for row in rows:
            counted.setdefault((row["player"], row["part"]), {}).update(row)
    for player, part in sorted(counted, key=lambda one: (one[0], natural(one[1]))):
        cells = spread.get((player, part), ())
        for one in wanted:
            yield Answer(player, part, one.name, *_judged(one, counted[player, part], cells))


def _played(query: Facts, chosen: Chosen, files: Sequence[str]) -> dict[str, list[Any]]:
    """Answers about how hands were played: those played alike are counted together first."""
    if not files:
        return {}
    import duckdb

    those = f"WITH chosen AS ({table(chosen)}) SELECT"
    alike = query.ask(
        f"{those} player, part, ways, acts, count(*) AS hands FROM chosen"
        " GROUP BY player, part, ways, acts"
    )
    rows = unpacked(alike.filter(pc.is_valid(alike["ways"])))
    if alike["ways"].null_count:
        names = ", ".join(("player", "part", "CAST(hands AS BIGINT) AS hands", *WAYS, *COUNTS))
        others = query.ask(f"{those} {names} FROM chosen WHERE ways IS NULL")
        rows = pa.concat_tables([rows, others])
    con = duckdb.connect()
    try:
        con.register("chosen", rows)
        return {file: con.sql(text_of(file)).to_arrow_table().to_pylist() for file in files}
    finally:
        con.close()


Numbers = tuple[float | None, int | None, int, float | None, float | None]


def _judged(one: Statistic, row: Counted, cells: Sequence[Counted]) -> Numbers:
    """Value, k, n and interval of one statistic out of a row of counts."""
    name = one.counted
    n = int(row[f"{name}_n"] or 0)
    if one.kind in ("mean", "spread"):
        mean, deviation = steady(row[f"{name}_mean"]), steady(row[f"{name}_sd"])
        if one.kind == "spread":
            return (None if deviation is None else one.scale * deviation), None, n, None, None
        if mean is None:
            return None, None, n, None, None
        held = student(mean, deviation or 0.0, n)
        return one.scale * mean, None, n, *_ends(held, one.scale)
    if one.kind == "sum":
        return round(row[f"{name}_sum"] or 0.0, 6), None, n, None, None
    k = int(row[f"{name}_k"] or 0)
    if n == 0:
        return None, k, 0, None, None
    held = wilson(k, n) if one.kind == "share" else bootstrapped(_cells(one, cells))
    return k / n, k, n, *_ends(held)


def _ends(held: Interval | None, scale: float = 1.0) -> tuple[float | None, float | None]:
    return (held[0] * scale, held[1] * scale) if held else (None, None)


def _spread(rows: Iterable[Counted]) -> dict[tuple[str, str], list[Counted]]:
    """Rows of `aggression_hands` by player and part."""
    found: dict[tuple[str, str], list[Counted]] = {}
    for row in rows:
        found.setdefault((row["player"], row["part"]), []).append(row)
    return found


def _cells(one: Statistic, rows: Sequence[Counted]) -> list[tuple[int, int, int]]:
    """Hands by bets and raises, and by calls, of the street that is asked about or of all."""
    streets = (one.street,) if one.street else ("flop", "turn", "river")
    counted: dict[tuple[int, int], int] = {}
    for row in rows:
        above = sum(int(row[f"{at}_raised"]) for at in streets)
        below = sum(int(row[f"{at}_called"]) for at in streets)
        counted[above, below] = counted.get((above, below), 0) + int(row["hands"])
    return [(above, below, hands) for (above, below), hands in sorted(counted.items())]
