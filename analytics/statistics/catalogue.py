"""Every statistic by its name: what counts as done, out of which opportunities, and who counts it.

A share is done / opportunity, with a Wilson interval. The SQL file that counts it has the columns
`NAME_k` and `NAME_n`.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple

Kind = Literal["share", "ratio", "sum", "mean", "spread"]
AFTER = ("flop", "turn", "river")


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

    @property
    def counted(self) -> str:
        """How its columns begin in the answer of its file."""
        return self.column or self.name


def _before() -> Iterator[Statistic]:
    """Before the flop."""
    for file, rows in _PREFLOP.items():
        for name, title, done, opportunity in rows:
            yield Statistic(name, title, done, opportunity, file, street="preflop")


_ENTERING = (
    (
        "vpip",
        "VPIP",
        "put chips in before the flop by choice",
        "acted before the flop, or chose to straddle",
    ),
    ("vpip_all", "VPIP of all hands", "as `vpip`", "dealt in"),
    ("pfr", "PFR", "at least one raise before the flop", "as `vpip`"),
    ("pfr_able", "PFR when able", "as `pfr`", "acted with a raise on the menu"),
    ("limp", "Limp", "first action is a call, pot unraised", "a call on the menu, pot unraised"),
    ("rfi", "Raise first in", "raised", "nobody in yet"),
)
_RERAISING = (
    ("three_bet", "3-bet", "raised", "facing exactly one raise"),
    ("squeeze", "Squeeze", "raised", "facing one raise and a caller of it"),
    ("four_bet", "4-bet", "raised", "facing exactly two raises"),
    ("four_bet_opener", "4-bet as opener", "raised", "as `four_bet`, having made the first raise"),
    ("cold_four_bet", "Cold 4-bet", "raised", "as `four_bet`, having made neither raise"),
    ("fold_to_3bet", "Fold to 3-bet", "folded", "acted facing exactly two raises"),
    (
        "fold_to_3bet_opener",
        "Fold to 3-bet as opener",
        "folded",
        "as `fold_to_3bet`, having made the first raise",
    ),
)
_STEALING = (
    ("steal", "Steal", "raised", "folded to, in CO, BTN or SB (heads-up: SB)"),
    ("fold_to_steal_sb", "Fold SB to steal", "folded", "SB facing a steal, nobody else in"),
    ("fold_to_steal_bb", "Fold BB to steal", "folded", "BB facing a steal, nobody else in"),
    ("resteal", "Resteal", "raised", "a blind facing a steal, nobody else in"),
)
_PREFLOP = {"entering": _ENTERING, "reraising": _RERAISING, "stealing": _STEALING}


def _after() -> Iterator[Statistic]:
    """After the flop, a street at a time where a street has its own."""
    lead = {"flop": "last raiser before the flop", "turn": "made the c-bet on the flop"}
    lead["river"] = "made the c-bet on the turn"
    for at in AFTER:
        yield Statistic(
            f"cbet_{at}",
            f"C-bet {at}",
            "bet",
            f"{lead[at]}, nobody bet before him",
            "continuing",
            street=at,
        )
    for at in AFTER:
        said = ("folded", f"facing the c-bet on the {at}, before any raise", "continuing")
        yield Statistic(f"fold_to_cbet_{at}", f"Fold to {at} c-bet", *said, street=at)
    yield Statistic(
        "donk",
        "Donk bet",
        "bet",
        "called before the flop, to act ahead of a live last raiser, nobody bet yet",
        "leading",
        street="flop",
    )
    yield Statistic(
        "float",
        "Float",
        "bet",
        "called the only raise before the flop, its raiser checked, nobody bet yet",
        "leading",
        street="flop",
        column="float_bet",
    )
    yield from _each("check_raise", "Check-raise", "raised", "checked, then faced a bet", "leading")
    yield from _each(
        "bet_when_checked_to", "Bet when checked to", "bet", "first action, all checked", "leading"
    )


def _each(
    name: str, title: str, done: str, opportunity: str, file: str, kind: Kind = "share"
) -> Iterator[Statistic]:
    """One number for all streets after the flop, and one for each."""
    yield Statistic(name, title, done, opportunity, file, kind)
    for at in AFTER:
        yield Statistic(
            f"{name}_{at}", f"{title}, {at}", done, f"{opportunity}; {at}", file, kind, at
        )


def _rest() -> Iterator[Statistic]:
    """Aggression, showdowns and money."""
    yield from _each("af", "Aggression factor", "bets and raises", "calls", "aggression", "ratio")
    yield from _each(
        "afq",
        "Aggression frequency",
        "bets and raises",
        "bets, raises, calls and folds",
        "aggression",
    )
    yield Statistic("wtsd", "Went to showdown", "reached showdown", "saw the flop", "showing")
    yield Statistic("wsd", "Won at showdown", "won money", "reached showdown", "showing")
    yield Statistic("wwsf", "Won when saw flop", "won money", "saw the flop", "showing")
    yield Statistic("net", "Net", "chips won or lost", "hands", "winnings", "sum")
    yield Statistic(
        "net_showdown", "Net at showdown", "as `net`", "showdowns reached", "winnings", "sum"
    )
    yield Statistic(
        "net_without", "Net without showdown", "as `net`", "other hands", "winnings", "sum"
    )
    yield Statistic("net_hand", "Net a hand", "mean of `net`", "hands", "winnings", "mean")
    money = ("hands", "winnings")
    yield Statistic(
        "bb_100",
        "Big blinds per 100",
        "100 × mean of net / big blind",
        *money,
        "mean",
        column="bb",
        scale=100,
    )
    yield Statistic(
        "BB_100",
        "Big bets per 100",
        "100 × mean of net / big bet (limit games)",
        *money,
        "mean",
        column="big_bet",
        scale=100,
    )
    yield Statistic(
        "sd_100",
        "Deviation per 100",
        "10 × standard deviation of net / big blind",
        *money,
        "spread",
        column="bb",
        scale=10,
    )


STATISTICS: dict[str, Statistic] = {one.name: one for one in (*_before(), *_after(), *_rest())}
