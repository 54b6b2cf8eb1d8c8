"""What a measure comes to, out of a row of its SQL file; a mean also with its deals drawn again.

The amounts behind the means of a file are asked for by the file itself: its last SELECT makes way
for one that tells them instead of their average. So no mean is defined a second time.
"""

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from analytics.ask import Numbers
from analytics.bids_measures import Measure
from analytics.questions import text_of
from analytics.statistics_intervals import Interval, steady, student, wilson
from analytics.tables import Source

Row = dict[str, Any]
Key = tuple[str, ...]  # player, part, and whatever else a file divides by
Cells = list[tuple[float, int, int]]
# Where something happens several times in a hand the hand is drawn; elsewhere a row is a deal.
HANDS = ("opponent_numbers", "swaps_luck")
_MEAN = re.compile(r"^ *avg\((?P<what>.+)\) AS (?P<name>\w+)_mean,?$", re.MULTILINE)
_SOURCE = re.compile(r"^ *FROM (?P<source>.+?)^ *GROUP BY (?P<keys>.+?)$", re.MULTILINE | re.DOTALL)
_OF_TABLE = re.compile(r"\b\w+\.")
Ends = tuple[float | None, float | None]
NEVER: Ends = (None, None)


class Measured(NamedTuple):
    """One number about a player, as an `Answer` has it; a mean's interval also drawn again."""

    player: str
    part: str
    statistic: str
    value: float | None
    k: int | None
    n: int
    low: float | None
    high: float | None
    drawn_low: float | None = None
    drawn_high: float | None = None

    @property
    def drawn(self) -> Interval | None:
        """The interval with deals drawn again, if an end is so far off that a person should know:
        by a tenth of Student's interval, four times what the draws may be off."""
        if None in (self.low, self.high, self.drawn_low, self.drawn_high):
            return None
        assert self.low is not None
        assert self.high is not None
        assert self.drawn_low is not None
        assert self.drawn_high is not None
        off = max(abs(self.low - self.drawn_low), abs(self.high - self.drawn_high))
        return (self.drawn_low, self.drawn_high) if off > (self.high - self.low) / 10 else None


def judged(one: Measure, row: Row) -> Numbers:
    """Value, k, n and interval of one measure out of a row of its file."""
    name = one.counted
    n = int(row.get(f"{name}_n") or 0)
    if one.kind == "share":
        k = int(row.get(f"{name}_k") or 0)
        low, high = wilson(k, n) or NEVER
        return (k / n if n else None), k, n, low, high
    if one.kind == "number":
        return steady(row.get(f"{name}_value")), None, n, None, None
    mean, deviation = steady(row.get(f"{name}_mean")), steady(row.get(f"{name}_sd"))
    held = student(mean, deviation, n) if mean is not None and deviation is not None else None
    return mean, None, n, *(held or NEVER)


class Again:
    """The amounts behind the means of some files, drawn again when somebody asks."""

    def __init__(self) -> None:
        self._cells: dict[tuple[str, str, Key], Cells] = {}

    def ask(self, tables: Source, file: str, chosen: str, names: Iterable[str]) -> None:
        """The amounts behind these means of a file; it may have none of them."""
        if not (sql := amounts(file, names)):
            return
        *keys, named, above, below, times = tables.told(sql, chosen).to_pydict().values()
        told = sorted(zip(zip(*keys, strict=True), named, above, below, times, strict=True))
        for key, name, value, number, often in told:
            self._cells.setdefault((file, name, key), []).append((value, int(number), int(often)))

    def of(self, one: Measure, *key: str) -> Ends:
        """The ends of a mean of a player's part."""
        return ends(self.cells(one.file, one.counted, *key, *((one.basis,) if one.basis else ())))

    def less(self, one: Measure, other: Measure, *key: str) -> Ends:
        """Those of the first less the second, which is of other deals."""
        from analytics.redrawn import of_difference

        sides = (self.cells(it.file, it.counted, *key) for it in (one, other))
        low, high = of_difference(*sides) or NEVER
        return steady(low), steady(high)

    def cells(self, file: str, name: str, *key: str) -> Cells:
        """Sums, of how many, and in how many deals."""
        return self._cells.get((file, name, key), [])


def means(measures: Iterable[Measure]) -> set[str]:
    """Which of them are means, as files call them."""
    return {one.counted for one in measures if one.kind == "mean"}


def ends(cells: Cells) -> Ends:
    """Of a mean whose deals are drawn again."""
    from analytics.redrawn import of_cells  # numpy comes with it

    low, high = of_cells(cells) or NEVER
    return steady(low), steady(high)


def amounts(file: str, names: Iterable[str]) -> str:
    """A question: which sums each of these means of a file is made of, and how often was there
    each; nothing where it has none of them."""
    text = text_of(file)
    wanted = set(names)
    found = [one for one in _MEAN.finditer(text) if one["name"] in wanted]
    if not found:
        return ""
    source = _SOURCE.search(text, found[-1].end())
    assert source, f"{file}.sql has no GROUP BY after its means"
    told = (_each(file, one["name"], one["what"], *source.groups()) for one in found)
    return text[: text.rindex("\nSELECT")] + "\n" + "\nUNION ALL\n".join(told)


def _each(file: str, name: str, what: str, source: str, keys: str) -> str:
    """The amounts of one mean, of deals in which there was any."""
    amount = f"CAST({what} AS DOUBLE)"
    if file in HANDS:
        sums = f"round(sum({amount}), 9) AS above, count({what}) AS below"
        rows = f"SELECT {keys}, {sums} FROM {source} GROUP BY {keys}, hand_seq"
    else:
        rows = f"SELECT {keys}, {amount} AS above, 1 AS below FROM {source}"
    named = _OF_TABLE.sub("", keys)
    return (
        f"SELECT {named}, '{name}' AS measure, above, below, count(*) AS times "
        f"FROM ({rows}) AS deals WHERE above IS NOT NULL GROUP BY {named}, above, below"
    )
