"""Every statistic and measure: what each says of a player, who counts it, and what it comes to.

A statistic is done / opportunity, with a Wilson interval where it is a share. The SQL file that
counts it has the columns `NAME_k` and `NAME_n`.

Of measures a share is `k` of `n` with a Wilson interval, a mean has Student's and one with its
deals drawn again, a ratio of sums the latter, a number has none. The amounts behind the means and
ratios of a file are asked for by the file itself: its last SELECT makes way for one that tells them
instead of their average. So none is defined a second time.
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
from analytics.sql.chosen import Source, natural, text_of

Kind = Literal["share", "ratio", "sum", "mean", "spread"]


class Statistic(NamedTuple):
    """One number about a player. `street` is the only one it looks at; all, where it is empty."""

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
        """Whether it is an amount of what was played for, and no share or big blinds."""
        return self.name in ("net", "net_showdown", "net_without", "net_hand")

    @property
    def counted(self) -> str:
        """How its columns begin in the answer of its file."""
        return self.column or self.name


def _of(flag: str, title: str, file: str, name: str = "") -> Statistic:
    """The share of a flag, which says what is done, and out of which opportunities."""
    it = FLAGS[flag]
    fields = (name or flag, title, it.done, it.opportunity, file)
    return Statistic(*fields, street=it.street, column=flag if name else "")


_CHOICES = (
    _of("vpip", "VPIP", "entering"),
    Statistic(
        "vpip_all", "VPIP of all hands", "as `vpip`", "dealt in", "entering", street="preflop"
    ),
    _of("pfr", "PFR", "entering"),
    _of("pfr_able", "PFR when able", "entering"),
    _of("limp", "Limp", "entering"),
    _of("rfi", "Raise first in", "entering"),
    _of("three_bet", "3-bet", "reraising"),
    _of("squeeze", "Squeeze", "reraising"),
    _of("four_bet", "4-bet", "reraising"),
    _of("four_bet_opener", "4-bet as opener", "reraising"),
    _of("cold_four_bet", "Cold 4-bet", "reraising"),
    _of("fold_to_3bet", "Fold to 3-bet", "reraising"),
    _of("fold_to_3bet_opener", "Fold to 3-bet as opener", "reraising"),
    _of("steal", "Steal", "stealing"),
    _of("fold_to_steal_sb", "Fold SB to steal", "stealing"),
    _of("fold_to_steal_bb", "Fold BB to steal", "stealing"),
    _of("resteal", "Resteal", "stealing"),
    *(_of(f"cbet_{at}", f"C-bet {at}", "continuing") for at in POSTFLOP_STREETS),
    *(_of(f"fold_to_cbet_{at}", f"Fold to {at} c-bet", "continuing") for at in POSTFLOP_STREETS),
    _of("donk", "Donk bet", "leading"),
    _of("float_bet", "Float", "leading", name="float"),
    Statistic("check_raise", "Check-raise", "raised", "checked, then faced a bet", "leading"),
    *(_of(f"check_raise_{at}", f"Check-raise, {at}", "leading") for at in POSTFLOP_STREETS),
    Statistic(
        "bet_when_checked_to", "Bet when checked to", "bet", "first action, all checked", "leading"
    ),
    *(
        _of(f"bet_when_checked_to_{at}", f"Bet when checked to, {at}", "leading")
        for at in POSTFLOP_STREETS
    ),
)


def _each(
    name: str, title: str, done: str, opportunity: str, kind: Kind = "share"
) -> Iterator[Statistic]:
    """Aggression in all streets after the flop, and in each."""
    yield Statistic(name, title, done, opportunity, "aggression", kind)
    for at in POSTFLOP_STREETS:
        yield Statistic(
            f"{name}_{at}", f"{title}, {at}", done, f"{opportunity}; {at}", "aggression", kind, at
        )


_MONEY = ("hands", "winnings")
# Aggression, showdowns and money.
_SUMS: tuple[Statistic, ...] = (
    *_each("af", "Aggression factor", "bets and raises", "calls", "ratio"),
    *_each("afq", "Aggression frequency", "bets and raises", "bets, raises, calls and folds"),
    Statistic("wtsd", "Went to showdown", "reached showdown", "saw the flop", "showing"),
    Statistic("wsd", "Won at showdown", "won money", "reached showdown", "showing"),
    Statistic("wwsf", "Won when saw flop", "won money", "saw the flop", "showing"),
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
Numbers = tuple[float | None, int | None, int, float | None, float | None]  # as an `Answer` has
BASES: tuple[Basis, ...] = ("own", "known")


class Measure(NamedTuple):
    """One number about a player. Where it rests on a basis, that is the end of its name.

    An `amount` is one of what was played for, and no share, number or part of a pot.
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
        """Below so many opportunities it says little; a plain number always says what it says."""
        return 0 if self.kind == "number" else FEW

    @property
    def counted(self) -> str:
        """How its columns begin in the answer of its file."""
        return self.name.removesuffix(f"_{self.basis}")


Row = dict[str, Any]
Key = tuple[str, ...]  # player, part, and whatever else a file divides by
Deals = list[tuple[float, float, int]]
# Where something happens several times in a hand the hand is drawn; elsewhere a row is a deal.
HANDS = ("opponent_numbers", "swaps_luck")
_MEAN = re.compile(r"^ *avg\((?P<what>.+)\) AS (?P<name>\w+)_mean,?$", re.MULTILINE)
_RATIO = re.compile(
    r"^ *sum\((?P<over>.+)\) / nullif\(sum\((?P<under>.+)\), 0\) AS (?P<name>\w+)_value,?$",
    re.MULTILINE,
)
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
    unit: str | None = None

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


def judged(measure: Measure, row: Row) -> Numbers:
    """Value, k, n and interval of one measure out of a row of its file."""
    name = measure.counted
    n = int(row.get(f"{name}_n") or 0)
    if measure.kind == "share":
        k = int(row.get(f"{name}_k") or 0)
        low, high = wilson(k, n) or NEVER
        return (k / n if n else None), k, n, low, high
    if measure.kind in ("number", "ratio"):
        return rounded(row.get(f"{name}_value")), None, n, None, None
    mean, deviation = rounded(row.get(f"{name}_mean")), rounded(row.get(f"{name}_sd"))
    held = student(mean, deviation, n) if mean is not None and deviation is not None else None
    return mean, None, n, *(held or NEVER)


def measured(measure: Measure, row: Row, drawn: "Resampled", who: str, part: str) -> Measured:
    """One measure of a player's part; the interval of a ratio is that of deals drawn again."""
    numbers, ends = judged(measure, row), drawn.of(measure, who, part)
    if measure.kind == "ratio":
        return Measured(who, part, measure.name, *numbers[:3], *ends)
    return Measured(who, part, measure.name, *numbers, *ends)


def of_parts(
    measures: Mapping[str, Measure], answers: Mapping[str, Iterable[Row]], drawn: "Resampled"
) -> Iterator[Measured]:
    """Every measure out of the answers of all files, in their order, parts one after the other."""
    counted: dict[tuple[str, str], dict[tuple[str, str | None], Row]] = {}
    for file, rows in answers.items():
        for row in rows:
            mine = counted.setdefault((row["player"], row["part"]), {})
            mine[file, row.get("basis")] = row
    for who, part in sorted(counted, key=lambda key: (key[0], natural(key[1]))):
        for measure in measures.values():
            row = counted[who, part].get((measure.file, measure.basis), {})
            yield measured(measure, row, drawn, who, part)


class CountedHands(NamedTuple):
    """The hands that a measure counts, by `hand_seq`, in its k and in its n: each as often as it is
    counted."""

    k: tuple[int, ...]
    n: tuple[int, ...]


A_HAND: Literal["hand"] = "hand"  # answers are divided by hand, too


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
                    for _ in range(int(row.get(f"{measure.counted}_{end}") or 0))
                )
            )
            for end in "kn"
        )
        hands_of[measure.name] = CountedHands(k, n)
    return hands_of


def in_unit(
    rows: Iterable[Measured], amounts: Mapping[str, Measure], unit: str | None
) -> Iterator[Measured]:
    """These numbers, amounts with what they count."""
    for row in rows:
        yield row._replace(unit=unit) if amounts[row.statistic].amount else row


class Resampled:
    """The amounts behind the means and ratios of some files, drawn again when somebody asks."""

    def __init__(self) -> None:
        self._deals: dict[tuple[str, str, Key], Deals] = {}

    def ask(self, tables: Source, file: str, chosen: str, names: Iterable[str]) -> None:
        """The amounts behind these numbers of a file; it may have none of them."""
        if not (sql := amounts(file, names)):
            return
        *keys, named, above, below, times = tables.arrow(sql, chosen).to_pydict().values()
        counted = sorted(zip(zip(*keys, strict=True), named, above, below, times, strict=True))
        for key, name, value, number, often in counted:
            self._deals.setdefault((file, name, key), []).append((value, number, int(often)))

    def of(self, measure: Measure, *key: str) -> Ends:
        """The ends of a mean, or ratio, of a player's part."""
        return ends(
            self.deals(
                measure.file, measure.counted, *key, *((measure.basis,) if measure.basis else ())
            )
        )

    def less(self, first: Measure, second: Measure, *key: str) -> Ends:
        """The ends of the first less the second, which is of other deals."""
        sides = (self.deals(measure.file, measure.counted, *key) for measure in (first, second))
        low, high = bootstrap_difference(*sides) or NEVER
        return rounded(low), rounded(high)

    def deals(self, file: str, name: str, *key: str) -> Deals:
        """Sums, of how many or of what, and in how many deals."""
        return self._deals.get((file, name, key), [])


def means(measures: Iterable[Measure]) -> set[str]:
    """Which of them are means, as files call them."""
    return {measure.counted for measure in measures if measure.kind == "mean"}


def ratios(measures: Iterable[Measure]) -> set[str]:
    """Which of them are ratios of sums, as files call them."""
    return {measure.counted for measure in measures if measure.kind == "ratio"}


def ends(deals: Deals) -> Ends:
    """The ends of a mean whose deals are drawn again."""
    low, high = bootstrap_deals_mean(deals) or NEVER
    return rounded(low), rounded(high)


def amounts(file: str, names: Iterable[str]) -> str:
    """A question: which sums each of these means and ratios of a file is made of, and how often was
    there each; nothing where it has none of them."""
    text = text_of(file)
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
    named = _OF_TABLE.sub("", keys)
    selects = []
    for match in matches:  # the amounts of a mean, or both of a ratio, of deals that have any
        terms, group = match.groupdict(), ""
        if "over" in terms:
            above, below = terms["over"], terms["under"]
        elif file in HANDS:
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
