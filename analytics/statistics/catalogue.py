"""The catalogue of statistics and measures: titles, SQL files, and how values are made of rows.

A statistic is done / opportunity, with a Wilson interval where it is a share. The SQL file that
counts it has the columns `NAME_k` and `NAME_n`.

Of measures a share is `k` of `n` with a Wilson interval, a mean has Student's and one with its
deals drawn again, a ratio of sums the latter, a number has none. The amounts behind the means and
ratios of a file come from the file itself: its last SELECT is replaced by one that has them instead
of their average. So none is defined a second time.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

from analytics.intervals import (
    FEW,
    Interval,
    bootstrap_deals_mean,
    bootstrap_difference,
    rounded,
    student,
    wilson,
)
from analytics.replay.flags import FLAGS, POSTFLOP_STREETS
from analytics.sql import SqlFileSource, natural_key, sql_text

Kind = Literal["share", "ratio", "sum", "mean", "spread"]


class Statistic(NamedTuple):
    """A statistic's definition. `street` is the only one that counts; all, where it is empty."""

    name: str
    title: str
    done: str
    opportunity: str
    file: str
    kind: Kind = "share"
    street: str = ""
    column: str = ""
    scale: float = 1.0
    few: int = FEW

    @property
    def amount(self) -> bool:
        """Whether it is an amount of money, and no share or big blinds."""
        return self.name in ("net", "net_showdown", "net_without", "net_hand")

    @property
    def prefix(self) -> str:
        """How its columns in its SQL file begin."""
        return self.column or self.name


def _flag(flag: str, title: str, file: str, name: str = "") -> Statistic:
    """The share of a flag: how often it was done, out of its opportunities."""
    it = FLAGS[flag]
    fields = (name or flag, title, it.done, it.opportunity, file)
    return Statistic(*fields, street=it.street, column=flag if name else "")


_CHOICES = (
    _flag("vpip", "VPIP", "preflop_entry"),
    Statistic(
        "vpip_all", "VPIP of all hands", "as `vpip`", "dealt in", "preflop_entry", street="preflop"
    ),
    _flag("pfr", "PFR", "preflop_entry"),
    _flag("pfr_able", "PFR when able", "preflop_entry"),
    _flag("limp", "Limp", "preflop_entry"),
    _flag("rfi", "Raise first in", "preflop_entry"),
    _flag("three_bet", "3-bet", "reraises"),
    _flag("squeeze", "Squeeze", "reraises"),
    _flag("four_bet", "4-bet", "reraises"),
    _flag("four_bet_opener", "4-bet as opener", "reraises"),
    _flag("cold_four_bet", "Cold 4-bet", "reraises"),
    _flag("fold_to_3bet", "Fold to 3-bet", "reraises"),
    _flag("fold_to_3bet_opener", "Fold to 3-bet as opener", "reraises"),
    _flag("steal", "Steal", "steals"),
    _flag("fold_to_steal_sb", "Fold SB to steal", "steals"),
    _flag("fold_to_steal_bb", "Fold BB to steal", "steals"),
    _flag("resteal", "Resteal", "steals"),
    *(_flag(f"cbet_{at}", f"C-bet {at}", "continuation_bets") for at in POSTFLOP_STREETS),
    *(
        _flag(f"fold_to_cbet_{at}", f"Fold to {at} c-bet", "continuation_bets")
        for at in POSTFLOP_STREETS
    ),
    _flag("donk", "Donk bet", "lead_bets"),
    _flag("float_bet", "Float", "lead_bets", name="float"),
    Statistic("check_raise", "Check-raise", "raised", "checked, then faced a bet", "lead_bets"),
    *(_flag(f"check_raise_{at}", f"Check-raise, {at}", "lead_bets") for at in POSTFLOP_STREETS),
    Statistic(
        "bet_when_checked_to",
        "Bet when checked to",
        "bet",
        "first action, all checked",
        "lead_bets",
    ),
    *(
        _flag(f"bet_when_checked_to_{at}", f"Bet when checked to, {at}", "lead_bets")
        for at in POSTFLOP_STREETS
    ),
)


def _by_street(
    name: str, title: str, done: str, opportunity: str, kind: Kind = "share"
) -> Iterator[Statistic]:
    """A measure of aggression over all streets from the flop on, and on each."""
    yield Statistic(name, title, done, opportunity, "aggression", kind)
    for at in POSTFLOP_STREETS:
        yield Statistic(
            f"{name}_{at}", f"{title}, {at}", done, f"{opportunity}; {at}", "aggression", kind, at
        )


_MONEY = ("hands", "winnings")
# Aggression, showdowns and money.
_SUMS: tuple[Statistic, ...] = (
    *_by_street("af", "Aggression factor", "bets and raises", "calls", "ratio"),
    *_by_street("afq", "Aggression frequency", "bets and raises", "bets, raises, calls and folds"),
    Statistic("wtsd", "Went to showdown", "reached showdown", "saw the flop", "showdowns"),
    Statistic("wsd", "Won at showdown", "won money", "reached showdown", "showdowns"),
    Statistic("wwsf", "Won when saw flop", "won money", "saw the flop", "showdowns"),
    Statistic("net", "Net", "chips won or lost", "hands", "winnings", "sum"),
    Statistic(
        "net_showdown", "Net at showdown", "as `net`", "showdowns reached", "winnings", "sum"
    ),
    Statistic("net_without", "Net without showdown", "as `net`", "other hands", "winnings", "sum"),
    Statistic("net_hand", "Net a hand", "mean of `net`", "hands", "winnings", "mean"),
    Statistic(
        "bb_100",
        "Big blinds per 100",
        "100 × mean of net / big blind",
        *_MONEY,
        "mean",
        column="bb",
        scale=100,
    ),
    Statistic(
        "BB_100",
        "Big bets per 100",
        "100 × mean of net / big bet (limit games)",
        *_MONEY,
        "mean",
        column="big_bet",
        scale=100,
    ),
    Statistic(
        "sd_100",
        "Deviation per 100",
        "10 × standard deviation of net / big blind",
        *_MONEY,
        "spread",
        column="bb",
        scale=10,
    ),
)

STATISTICS: dict[str, Statistic] = {one.name: one for one in (*_CHOICES, *_SUMS)}


MeasureKind = Literal["share", "mean", "ratio", "number"]
Basis = Literal["own", "known"]
Estimate = tuple[float | None, int | None, int, float | None, float | None]  # value, k, n, ends
BASES: tuple[Basis, ...] = ("own", "known")


class Measure(NamedTuple):
    """A measure's definition. Where it rests on a basis, that is the end of its name.

    An `amount` is one of money, and no share, number or part of a pot.
    """

    name: str
    title: str
    meaning: str
    file: str
    kind: MeasureKind = "mean"
    basis: Basis | None = None
    amount: bool = False

    @property
    def few(self) -> int:
        """The least n at which it says something; 0 for a plain number."""
        return 0 if self.kind == "number" else FEW

    @property
    def prefix(self) -> str:
        """How its columns in its SQL file begin."""
        return self.name.removesuffix(f"_{self.basis}")


Row = dict[str, Any]
Key = tuple[str, ...]  # player, part, and whatever else a file divides by
DealSums = list[tuple[float, float, int]]
# Where something happens several times in a hand the hand is drawn; elsewhere a row is a deal.
FILES_BY_HAND = ("opponent_numbers", "swaps_luck")
_MEAN = re.compile(r"^ *avg\((?P<what>.+)\) AS (?P<name>\w+)_mean,?$", re.MULTILINE)
_RATIO = re.compile(
    r"^ *sum\((?P<over>.+)\) / nullif\(sum\((?P<under>.+)\), 0\) AS (?P<name>\w+)_value,?$",
    re.MULTILINE,
)
_SOURCE = re.compile(r"^ *FROM (?P<source>.+?)^ *GROUP BY (?P<keys>.+?)$", re.MULTILINE | re.DOTALL)
_TABLE_PREFIX = re.compile(r"\b\w+\.")
Ends = tuple[float | None, float | None]
NO_INTERVAL: Ends = (None, None)


class MeasureValue(NamedTuple):
    """One measure of a player, as a `StatisticValue`; a mean has a bootstrap interval, too."""

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
    unit: str | None = None

    @property
    def drawn(self) -> Interval | None:
        """The bootstrap interval, if an end is so far off that a person should know: by a tenth of
        Student's interval, four times what the draws may be off."""
        if None in (self.low, self.high, self.drawn_low, self.drawn_high):
            return None
        assert self.low is not None
        assert self.high is not None
        assert self.drawn_low is not None
        assert self.drawn_high is not None
        off = max(abs(self.low - self.drawn_low), abs(self.high - self.drawn_high))
        return (self.drawn_low, self.drawn_high) if off > (self.high - self.low) / 10 else None


def estimate(measure: Measure, row: Row) -> Estimate:
    """The value, k, n and interval of one measure from a row of its SQL file."""
    name = measure.prefix
    n = int(row.get(f"{name}_n") or 0)
    if measure.kind == "share":
        k = int(row.get(f"{name}_k") or 0)
        low, high = wilson(k, n) or NO_INTERVAL
        return (k / n if n else None), k, n, low, high
    if measure.kind in ("number", "ratio"):
        return rounded(row.get(f"{name}_value")), None, n, None, None
    mean, deviation = rounded(row.get(f"{name}_mean")), rounded(row.get(f"{name}_sd"))
    held = student(mean, deviation, n) if mean is not None and deviation is not None else None
    return mean, None, n, *(held or NO_INTERVAL)


def measure_value(
    measure: Measure, row: Row, drawn: "Bootstrap", who: str, part: str
) -> MeasureValue:
    """One measure of a player's part; the interval of a ratio is a bootstrap one."""
    numbers, ends = estimate(measure, row), drawn.ends_of(measure, who, part)
    if measure.kind == "ratio":
        return MeasureValue(who, part, measure.name, *numbers[:3], *ends)
    return MeasureValue(who, part, measure.name, *numbers, *ends)


def measure_values(
    measures: Mapping[str, Measure], answers: Mapping[str, Iterable[Row]], drawn: "Bootstrap"
) -> Iterator[MeasureValue]:
    """Every measure of each player and part, in their order, from the rows of all SQL files."""
    counted: dict[tuple[str, str], dict[tuple[str, str | None], Row]] = {}
    for file, rows in answers.items():
        for row in rows:
            mine = counted.setdefault((row["player"], row["part"]), {})
            mine[file, row.get("basis")] = row
    for who, part in sorted(counted, key=lambda key: (key[0], natural_key(key[1]))):
        for measure in measures.values():
            row = counted[who, part].get((measure.file, measure.basis), {})
            yield measure_value(measure, row, drawn, who, part)


class CountedHands(NamedTuple):
    """The hands in a measure's k and n, by `hand_seq`: each as often as it is counted."""

    k: tuple[int, ...]
    n: tuple[int, ...]


BY_HAND: Literal["hand"] = "hand"  # the parts of an answer may be hands


def counted_hands(
    measures: Iterable[Measure], answers: Mapping[str, Iterable[Row]]
) -> dict[str, CountedHands]:
    """The hands that measures of a player count, from answers that were divided by hand."""
    hands_of = {}
    for measure in measures:
        rows = [row for row in answers.get(measure.file, ()) if row.get("basis") == measure.basis]
        k, n = (
            tuple(
                sorted(
                    int(row["part"])
                    for row in rows
                    for _ in range(int(row.get(f"{measure.prefix}_{end}") or 0))
                )
            )
            for end in "kn"
        )
        hands_of[measure.name] = CountedHands(k, n)
    return hands_of


def with_unit(
    rows: Iterable[MeasureValue], amounts: Mapping[str, Measure], unit: str | None
) -> Iterator[MeasureValue]:
    """Add the unit to values that are amounts."""
    for row in rows:
        yield row._replace(unit=unit) if amounts[row.statistic].amount else row


class Bootstrap:
    """Bootstrap intervals of means and ratios, from the amounts behind them in SQL files."""

    def __init__(self) -> None:
        self._deals: dict[tuple[str, str, Key], DealSums] = {}

    def load(self, tables: SqlFileSource, file: str, filtered: str, names: Iterable[str]) -> None:
        """Load the amounts behind these numbers of a file; it may have none of them."""
        if not (sql := amounts_sql(file, names)):
            return
        *keys, named, above, below, times = tables.arrow(sql, filtered).to_pydict().values()
        counted = sorted(zip(zip(*keys, strict=True), named, above, below, times, strict=True))
        for key, name, value, number, often in counted:
            self._deals.setdefault((file, name, key), []).append((value, number, int(often)))

    def ends_of(self, measure: Measure, *key: str) -> Ends:
        """The bootstrap interval of a mean, or ratio, of a player's part."""
        basis = (measure.basis,) if measure.basis else ()
        return bootstrap_ends(self.deals(measure.file, measure.prefix, *key, *basis))

    def difference_ends(self, first: Measure, second: Measure, *key: str) -> Ends:
        """The bootstrap interval of the first less the second, which is of other deals."""
        sides = (self.deals(measure.file, measure.prefix, *key) for measure in (first, second))
        low, high = bootstrap_difference(*sides) or NO_INTERVAL
        return rounded(low), rounded(high)

    def deals(self, file: str, name: str, *key: str) -> DealSums:
        """The loaded sums, and in how many deals they were."""
        return self._deals.get((file, name, key), [])


def mean_names(measures: Iterable[Measure]) -> set[str]:
    """The names of means in SQL files."""
    return {measure.prefix for measure in measures if measure.kind == "mean"}


def ratio_names(measures: Iterable[Measure]) -> set[str]:
    """The names of ratios of sums in SQL files."""
    return {measure.prefix for measure in measures if measure.kind == "ratio"}


def bootstrap_ends(deals: DealSums) -> Ends:
    """The bootstrap interval of a mean over deals."""
    low, high = bootstrap_deals_mean(deals) or NO_INTERVAL
    return rounded(low), rounded(high)


def amounts_sql(file: str, names: Iterable[str]) -> str:
    """The SQL of the sums behind these means and ratios of a file, and how often each was there;
    empty where it has none of them."""
    text = sql_text(file)
    measures = set(names)
    kinds = (_MEAN, _RATIO)
    matches = [
        match for kind in kinds for match in kind.finditer(text) if match["name"] in measures
    ]
    if not matches:
        return ""
    source = _SOURCE.search(text, max(match.end() for match in matches))
    assert source, f"{file}.sql has no GROUP BY after its means"
    table, keys = source.groups()
    named = _TABLE_PREFIX.sub("", keys)
    selects = []
    for match in matches:  # the amounts of a mean, or both of a ratio, of deals that have any
        terms, group = match.groupdict(), ""
        if "over" in terms:
            above, below = terms["over"], terms["under"]
        elif file in FILES_BY_HAND:
            above = f"round(sum(CAST({terms['what']} AS DOUBLE)), 9)"
            below = f"count({terms['what']})"
            group = f" GROUP BY {keys}, hand_seq"
        else:
            above, below = terms["what"], "1"
        sums = f"CAST({above} AS DOUBLE) AS above, CAST({below} AS DOUBLE) AS below"
        selects.append(
            f"SELECT {named}, '{terms['name']}' AS measure, above, below, count(*) AS times "
            f"FROM (SELECT {keys}, {sums} FROM {table}{group}) AS deals "
            f"WHERE above IS NOT NULL GROUP BY {named}, above, below"
        )
    return text[: text.rindex("\nSELECT")] + "\n" + "\nUNION ALL\n".join(selects)
