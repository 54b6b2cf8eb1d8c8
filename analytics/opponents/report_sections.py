"""The sections of a report on one opponent: looks, sizes, bids, ends, faults, locked wins.

`OpponentSections` asks SQL files about the tables of an opponent, as a whole or by parts. What pays
against him, and what stands out, is in `opponents.leads`; the report itself is put together in
`api/questions/opponent_report.py`.
"""

from collections.abc import Callable, Iterator
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from analytics.intervals import rounded, student, wilson
from analytics.opponents.opponent_tables import STATES, OpponentTables
from analytics.opponents.report_measures import LOOKS, NUMBERS, STATISTIC_LOOKS
from analytics.sql import WINDOW, ArrowTables, HandFilters, natural_key, quoted, sql_text
from analytics.statistics.catalogue import (
    STATISTICS,
    Bootstrap,
    CountedHands,
    Ends,
    Measure,
    MeasureValue,
    bootstrap_ends,
    estimate,
    mean_names,
)
from analytics.statistics.compute import StatisticValue, statistic_values
from analytics.statistics.counts import opportunity_rows

By = Literal["position", "window", "match", "game", "locked"]
Row = dict[str, Any]
_PART_COLUMNS: dict[By, str] = {
    "position": "e.position",
    "window": f"CAST(e.number - (e.number - 1) % {WINDOW} AS VARCHAR)",
    "match": "e.match",
    "game": "e.game",
    "locked": "coalesce(e.state, 'not known')",
}
_FILES = {
    "opponent_numbers": "acts",
    "opponent_bids": "acts",
    "opponent_faulted": "ends",
    "opponent_locked": "ends",
}
ENDINGS = ("all", "preflop", "flop", "turn", "river", "showdown", "he_folds", "others_fold")


class OpponentSections:
    """Query the tables of an opponent for single sections of a report on him."""

    def __init__(self, player: str, source: OpponentTables, unit: str | None = None) -> None:
        self.player = player
        self.unit = unit  # what amounts count
        self.source = source
        tables = {name: getattr(source, name) for name in ("acts", "ends", "faults", "facts")}
        self._tables = ArrowTables(tables)
        self._looks: dict[tuple[By | None, bool], ArrowTables] = {}

    def close(self) -> None:
        """Let go of the tables."""
        for tables in (self._tables, *self._looks.values()):
            tables.close()

    def hand_counts(self, by: By | None = None) -> list[Row]:
        """The hands of each part, and in how many his cards are known."""
        sql = (
            "SELECT part, count(*) AS hands, sum(CASE WHEN known THEN 1 ELSE 0 END) AS known "
            f"FROM ({self._rows_sql('ends', by)}) GROUP BY part"
        )
        return sorted(self._tables.rows(sql), key=lambda row: natural_key(row["part"]))

    def decided_hands(self) -> list[tuple[str, int]]:
        """His hands after he or his rival had won the match, by match and number."""
        won = f"player = {quoted(self.player)} AND NOT {_UNDECIDED_SQL}"
        rows = self._tables.rows(f"SELECT match, number FROM ends AS e WHERE {won}")
        return [(row["match"], int(row["number"])) for row in rows]

    def undecided_count(self) -> int:
        """The number of his hands before anybody had won the match."""
        return int(sum(row["hands"] for row in self.hand_counts())) - len(self.decided_hands())

    def look_counts(self, by: By | None = None) -> list[Row]:
        """The k and n of his looks."""
        where = f" WHERE player = {quoted(self.player)}"
        return self._look_tables(by).ask("opponent_shares", f"SELECT * FROM looks{where}")

    def undecided_look_counts(self) -> list[Row]:
        """The k and n of all players' looks in hands before anybody had won the match."""
        return self._look_tables(None, undecided=True).ask("opponent_shares", "SELECT * FROM looks")

    def newest_hands(self) -> dict[tuple[str, int], list[str]]:
        """His newest undecided hands by look, and by whether he did it (1) or let it pass (0)."""
        chosen = f"SELECT * FROM looks WHERE player = {quoted(self.player)}"
        found: dict[tuple[str, int], list[str]] = {}
        rows = self._look_tables(None, undecided=True).ask("opponent_hands", chosen)
        for row in sorted(rows, key=lambda it: int(it["place"])):
            found.setdefault((row["look"], int(row["done"])), []).append(row["hand"])
        return found

    def counterplay_sums(self) -> list[Row]:
        """What answering a look would have made of his undecided hands, by look and unit: sums of
        whole units over hands, worth in quarters."""
        return self._tables.rows(f"""
            WITH filtered AS ({_part_rows_sql("acts", None, _UNDECIDED_SQL)}),
            hands AS (
                SELECT look, per_chip, hand_seq, sum(done) AS k, count(*) AS n,
                    sum(quarters) AS quarters, sum(risk) AS risk, sum(prize) AS prize
                FROM ({sql_text("opponent_pays")})
                WHERE player = {quoted(self.player)} GROUP BY look, per_chip, hand_seq
            )
            SELECT look, per_chip, sum(k) AS k, sum(n) AS n, sum(quarters) AS quarters,
                sum(quarters * quarters) AS squares, sum(risk) AS risk, sum(prize) AS prize
            FROM hands GROUP BY look, per_chip ORDER BY look, per_chip
        """)

    def counterplay_hands(self, look: str) -> list[str]:
        """His newest ten undecided hands in which an answer to a look pays."""
        rows = self._tables.rows(f"""
            WITH filtered AS ({_part_rows_sql("acts", None, _UNDECIDED_SQL)})
            SELECT DISTINCT hand, hand_seq FROM ({sql_text("opponent_pays")})
            WHERE player = {quoted(self.player)} AND look = {quoted(look)} AND done = 1
            ORDER BY hand_seq DESC LIMIT 10
        """)
        return [row["hand"] for row in rows]

    def counted_hands(self, look: str, *, pays: bool) -> CountedHands:
        """His undecided hands behind the k and the n of a look, each as often as it is counted; of
        what answering it pays, or of what he did beside the others."""
        if pays:
            rows = self._tables.rows(f"""
                WITH filtered AS ({_part_rows_sql("acts", None, _UNDECIDED_SQL)})
                SELECT hand_seq, done FROM ({sql_text("opponent_pays")}) {self._where_sql(look)}
            """)
        else:
            chances = self._look_tables(None, undecided=True)
            rows = chances.rows(f"SELECT hand_seq, done FROM looks {self._where_sql(look)}")
        every = tuple([int(row["hand_seq"]) for row in rows])
        done = tuple([at for at, row in zip(every, rows, strict=True) if row["done"]])
        return CountedHands(done, every)

    def _where_sql(self, look: str) -> str:
        return f"WHERE player = {quoted(self.player)} AND look = {quoted(look)} ORDER BY hand_seq"

    def look_values(self, by: By | None = None) -> Iterator[MeasureValue]:
        """The share and interval of each look; those that statistics count are left out."""
        counted = {(row["part"], row["look"]): row for row in self.look_counts(by)}
        for part in [row["part"] for row in self.hand_counts(by)]:
            for name in LOOKS:
                row = counted.get((part, name), {"k": 0, "n": 0})
                yield MeasureValue(
                    self.player, part, name, *share_with_interval(int(row["k"]), int(row["n"]))
                )

    def numbers(
        self, by: By | None = None, *, with_bootstrap: bool = False
    ) -> Iterator[MeasureValue]:
        """The numbers, parts one after the other; on request with bootstrap intervals."""
        drawn = Bootstrap()
        if with_bootstrap:
            for file, table in _FILES.items():
                drawn.load(
                    self._tables, file, self._rows_sql(table, by), mean_names(NUMBERS.values())
                )
        found: dict[tuple[str, str], Row] = {}
        for file, table in _FILES.items():
            for row in self._tables.ask(file, self._rows_sql(table, by)):
                found[row["part"], file] = row
        for part in [row["part"] for row in self.hand_counts(by)]:
            for measure in NUMBERS.values():
                numbers = estimate(measure, found.get((part, measure.file), {}))
                drawn_ends = self._bootstrap_ends(drawn, measure, part)
                unit = self.unit if measure.amount else None
                yield MeasureValue(self.player, part, measure.name, *numbers, *drawn_ends, unit)

    def statistics(self, by: By | None = None) -> Iterator[MeasureValue]:
        """The statistics of a tracker, counted from what this viewpoint sees."""
        wanted = tuple(STATISTICS.values())
        chosen = HandFilters(player=self.player, by=None if by == "locked" else by)
        if by != "locked":
            for answer in statistic_values(_TableFacts(self._tables), chosen, wanted):
                yield self._measured(answer, answer.part)
            return
        rows = self._tables.table(self._rows_sql("facts", by))
        for state in (*STATES, "not known"):
            tables = ArrowTables({"facts": rows.filter(pc.equal(rows["part"], state))})
            try:
                for answer in statistic_values(_TableFacts(tables), chosen, wanted):
                    yield self._measured(answer, state)
            finally:
                tables.close()

    def _measured(self, one: StatisticValue, part: str) -> MeasureValue:
        """A statistic as a measure of a part; amounts are of one money."""
        unit = self.unit if STATISTICS[one.statistic].amount else None
        return MeasureValue(*one[:-1], unit=unit)._replace(part=part)

    def section(self, file: str, by: By | None = None) -> list[Row]:
        """The rows of a section: `mix`, `sizes`, `ends` or `faults`."""
        rows = self._tables.ask(f"opponent_{file}", self._rows_sql(_SOURCES[file], by))
        for row in rows:
            row.pop("player")
            row |= {name: int(value) for name, value in row.items() if name in _WHOLE}
        return sorted(rows, key=lambda row: (natural_key(row["part"]), *_ORDERS[file](row)))

    def ends(self, by: By | None = None) -> list[Row]:
        """Nets by how hands ended, with Student's interval of the mean and a bootstrap's."""
        rows = self.section("ends", by)
        drawn = Bootstrap()
        drawn.load(self._tables, "opponent_ends", self._rows_sql("ends", by), ("net",))
        for row in rows:
            mean, deviation = rounded(row["net_mean"]), rounded(row.pop("net_sd"))
            row["net_mean"] = mean
            held = None
            if mean is not None and deviation is not None:
                held = student(mean, deviation, row["hands"])
            row["low"], row["high"] = held or (None, None)
            deals = drawn.deals("opponent_ends", "net", self.player, row["part"], row["ending"])
            row["drawn_low"], row["drawn_high"] = bootstrap_ends(deals)
            row["unit"] = self.unit
        return rows

    def faults(self) -> list[Row]:
        """His replies that could not be used, the oldest first."""
        sql = f"SELECT * EXCLUDE (hand_seq, seat) FROM faults WHERE player = {quoted(self.player)}"
        rows = self._tables.rows(f"{sql} ORDER BY hand_seq")
        return [{**row, "unit": self.unit} for row in rows]

    def locks(self) -> list[Row]:
        """Matches that somebody had won before their end: since when, and who stopped playing."""
        return [{**row, "unit": self.unit} for row in self.source.locks]

    def _bootstrap_ends(self, drawn: Bootstrap, one: Measure, part: str) -> Ends:
        """The bootstrap interval of a mean, or of a difference of means."""
        if one.name == "think_leak":
            sides = NUMBERS["think_strong"], NUMBERS["think_weak"]
            return drawn.difference_ends(*sides, self.player, part)
        return drawn.ends_of(one, self.player, part)

    def _look_tables(self, by: By | None, *, undecided: bool = False) -> ArrowTables:
        """A table of all players' looks, a row a chance; if `undecided`, before a win."""
        if (by, undecided) not in self._looks:
            where = _UNDECIDED_SQL if undecided else "TRUE"
            every = self._tables.file_table("opponent_looks", _part_rows_sql("acts", by, where))
            shares = [STATISTICS[name] for name in STATISTIC_LOOKS]
            flags = opportunity_rows(self._tables, _part_rows_sql("facts", by, where), shares)
            self._looks[by, undecided] = ArrowTables({"looks": pa.concat_tables([every, flags])})
        return self._looks[by, undecided]

    def _rows_sql(self, table: str, by: By | None) -> str:
        """SQL that selects his rows of a table, by part."""
        return _part_rows_sql(table, by, f"c.player = {quoted(self.player)}")


_UNDECIDED_SQL = "coalesce(e.state, 'open') = 'open'"


def _part_rows_sql(table: str, by: By | None, where: str) -> str:
    """SQL that selects rows of a table, each with the part it belongs to."""
    part = _PART_COLUMNS[by] if by else "''"
    return (
        f"SELECT c.*, {part} AS part FROM {table} AS c "
        f"INNER JOIN ends AS e ON c.hand_seq = e.hand_seq AND c.seat = e.seat WHERE {where}"
    )


def share_with_interval(
    k: int, n: int
) -> tuple[float | None, int, int, float | None, float | None]:
    """A share, its k and n, and Wilson's interval."""
    low, high = wilson(k, n) or (None, None)
    return (k / n if n else None), k, n, low, high


_SOURCES = {"mix": "acts", "sizes": "acts", "ends": "ends", "faults": "faults"}
_WHOLE = frozenset({"hands", "folds", "checks", "calls", "raises", "bets", "faults", "tenth"})
_STREETS = ("flop", "turn", "river")


# Tenths, sizes and ends in their own order; faults the most frequent first.
_ORDERS: dict[str, Callable[[Row], tuple[Any, ...]]] = {
    "mix": lambda row: (row["tenth"],),
    "sizes": lambda row: (_STREETS.index(row["street"]), row["up_to"] or 1_000),
    "ends": lambda row: (ENDINGS.index(row["ending"]),),
    "faults": lambda row: (-row["faults"], row["step"], row["kind"], row["suggested"] or ""),
}


class _TableFacts:
    """Serve an opponent's facts where statistics expect those of a ledger."""

    def __init__(self, tables: ArrowTables) -> None:
        self._tables = tables

    def ask(self, sql: str) -> pa.Table:
        return self._tables.table(sql)

    def rows(self, sql: str) -> list[Row]:
        return self._tables.rows(sql)
