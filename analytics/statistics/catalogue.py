"""Every statistic by its name: what counts as done, out of which opportunities, and who counts it.

A share is done / opportunity, with a Wilson interval. The SQL file that counts it has the columns
`NAME_k` and `NAME_n`.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from analytics.confidence import FEW
from analytics.replay.flags import AFTER, FLAGS

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
    *(_of(f"cbet_{at}", f"C-bet {at}", "continuing") for at in AFTER),
    *(_of(f"fold_to_cbet_{at}", f"Fold to {at} c-bet", "continuing") for at in AFTER),
    _of("donk", "Donk bet", "leading"),
    _of("float_bet", "Float", "leading", name="float"),
    Statistic("check_raise", "Check-raise", "raised", "checked, then faced a bet", "leading"),
    *(_of(f"check_raise_{at}", f"Check-raise, {at}", "leading") for at in AFTER),
    Statistic(
        "bet_when_checked_to", "Bet when checked to", "bet", "first action, all checked", "leading"
    ),
    *(_of(f"bet_when_checked_to_{at}", f"Bet when checked to, {at}", "leading") for at in AFTER),
)


def _each(
    name: str, title: str, done: str, opportunity: str, kind: Kind = "share"
) -> Iterator[Statistic]:
    """Aggression in all streets after the flop, and in each."""
    yield Statistic(name, title, done, opportunity, "aggression", kind)
    for at in AFTER:
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
