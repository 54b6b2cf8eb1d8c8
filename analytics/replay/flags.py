"""Declarations of flags (an opportunity of a seat, and what takes it) and of action counts.

A flag is declared here and evaluated in `projections.flag_encoding`. Its column of `facts`, its
part of a pattern, the version of `facts` and its line in `docs/statistics.md` follow. A statistic
over it is a row of `statistics.catalogue` and a question in `analytics/sql/`.

Before every action the lock-step replay knows the spot: a small number for each of the fields
below. An action is an opportunity where every field that `when` names is one of the numbers given,
and takes it if it is one of `takes`.
"""

from collections.abc import Mapping
from typing import NamedTuple

STREETS = ("preflop", "flop", "turn", "river")
POSTFLOP_STREETS = STREETS[1:]
INVOLUNTARY_ORIGINS = {"forced": 0, "default": 0}  # actions that count in no tendency
FOLD, CHECK, CALL, RAISE = range(4)  # kinds of actions; a bet is a raise here
NEITHER, DONK, FLOAT = range(3)
SB, BB = 1, 2
PREFLOP_FIELDS = {  # fields, and how many bits each needs
    "kind": 2,
    "asked": 1,  # not so of a fold instead of a straddle, outside every round
    "offered": 1,  # a raise was on the menu
    "raises": 2,  # three is three or more; the big blind is none
    "callers": 1,  # since the last raise, or limpers
    "stolen": 1,  # the last raise was a steal
    "stealing": 1,  # sits where a first raise is one
    "blind": 2,  # SB, BB, or 0
    "raiser": 1,  # has raised
    "opener": 1,  # made the first raise
    "fresh": 1,  # his first action, and there is something to call
}
POSTFLOP_FIELDS = {  # of actions within a round of betting
    "kind": 2,
    "offered": 1,  # a bet or raise was on the menu
    "street": 2,  # the flop is one
    "bets": 2,  # three is three or more
    "continued": 1,  # the last of them was the continuation bet
    "heir": 1,  # who may make the continuation bet
    "acted": 1,
    "checked": 1,
    "checks": 1,  # somebody has checked
    "lead": 2,  # a bet would be a donk bet, or a float
}


class Flag(NamedTuple):
    """A flag: an opportunity and what takes it, in words and by the fields of a spot.

    `straddled` is what a straddle makes of it that might have been a fold (U4).
    """

    name: str
    done: str
    opportunity: str
    when: Mapping[str, int | tuple[int, ...]]
    takes: tuple[int, ...] = (RAISE,)
    straddled: bool | None = None

    @property
    def street(self) -> str:
        """The only street of the flag; empty, where there are several."""
        street = self.when.get("street", 0 if self in PREFLOP else ())
        return STREETS[street] if isinstance(street, int) else ""


_UNRAISED = {"asked": 1, "raises": 0}
_UNOPENED = {**_UNRAISED, "callers": 0, "offered": 1}  # who comes after a limper opens nothing
_ONE_RAISE = {"asked": 1, "raises": 1}
_STOLEN = {**_ONE_RAISE, "callers": 0, "stolen": 1}
_TWO_RAISES = {"asked": 1, "raises": 2}
_OFFERED = {"offered": 1}
PREFLOP = (
    Flag(
        "vpip",
        "put chips in before the flop by choice",
        "acted before the flop, or chose to straddle",
        {},
        (CALL, RAISE),
        straddled=True,
    ),
    Flag("pfr", "at least one raise before the flop", "as `vpip`", {}, straddled=False),
    Flag("pfr_able", "as `pfr`", "acted with a raise on the menu", {"asked": 1, **_OFFERED}),
    Flag(
        "limp",
        "first action is a call, pot unraised",
        "a call on the menu, pot unraised",
        {**_UNRAISED, "fresh": 1},
        (CALL,),
    ),
    Flag("rfi", "raised", "nobody in yet", _UNOPENED),
    Flag("three_bet", "raised", "facing exactly one raise", {**_ONE_RAISE, **_OFFERED}),
    Flag(
        "squeeze",
        "raised",
        "facing one raise and a caller of it",
        {**_ONE_RAISE, "callers": 1, **_OFFERED},
    ),
    Flag("four_bet", "raised", "facing exactly two raises", {**_TWO_RAISES, **_OFFERED}),
    Flag(
        "four_bet_opener",
        "raised",
        "as `four_bet`, having made the first raise",
        {**_TWO_RAISES, "opener": 1, **_OFFERED},
    ),
    Flag(
        "cold_four_bet",
        "raised",
        "as `four_bet`, having made neither raise",
        {**_TWO_RAISES, "raiser": 0, **_OFFERED},
    ),
    Flag("fold_to_3bet", "folded", "acted facing exactly two raises", _TWO_RAISES, (FOLD,)),
    Flag(
        "fold_to_3bet_opener",
        "folded",
        "as `fold_to_3bet`, having made the first raise",
        {**_TWO_RAISES, "opener": 1},
        (FOLD,),
    ),
    Flag(
        "steal",
        "raised",
        "folded to, in CO, BTN or SB (heads-up: SB)",
        {**_UNOPENED, "stealing": 1},
    ),
    Flag(
        "fold_to_steal_sb",
        "folded",
        "SB facing a steal, nobody else in",
        {**_STOLEN, "blind": SB},
        (FOLD,),
    ),
    Flag(
        "fold_to_steal_bb",
        "folded",
        "BB facing a steal, nobody else in",
        {**_STOLEN, "blind": BB},
        (FOLD,),
    ),
    Flag(
        "resteal",
        "raised",
        "a blind facing a steal, nobody else in",
        {**_STOLEN, "blind": (SB, BB), **_OFFERED},
    ),
)
_LEADS = ("last raiser before the flop", "made the c-bet on the flop", "made the c-bet on the turn")
_STREETS = tuple(enumerate(POSTFLOP_STREETS, start=1))
_FREE = {"bets": 0, **_OFFERED}
POSTFLOP = (
    Flag(
        "donk",
        "bet",
        "called before the flop, to act ahead of a live last raiser, nobody bet yet",
        {"street": 1, **_FREE, "lead": DONK},
    ),
    Flag(
        "float_bet",
        "bet",
        "called the only raise before the flop, its raiser checked, nobody bet yet",
        {"street": 1, **_FREE, "lead": FLOAT},
    ),
    *(
        Flag(
            f"cbet_{name}",
            "bet",
            f"{lead}, nobody bet before him",
            {"street": street, **_FREE, "heir": 1},
        )
        for (street, name), lead in zip(_STREETS, _LEADS, strict=True)
    ),
    *(
        Flag(
            f"fold_to_cbet_{name}",
            "folded",
            f"facing the c-bet on the {name}, before any raise",
            {"street": street, "bets": 1, "continued": 1},
            (FOLD,),
        )
        for street, name in _STREETS
    ),
    *(
        Flag(
            f"check_raise_{name}",
            "raised",
            f"checked, then faced a bet; {name}",
            {"street": street, "bets": (1, 2, 3), "checked": 1, **_OFFERED},
        )
        for street, name in _STREETS
    ),
    *(
        Flag(
            f"bet_when_checked_to_{name}",
            "bet",
            f"first action, all checked; {name}",
            {"street": street, **_FREE, "checks": 1, "acted": 0},
        )
        for street, name in _STREETS
    ),
)
FLAGS = {one.name: one for one in (*PREFLOP, *POSTFLOP)}
ACTION_COUNTS = tuple(
    f"{street}_{kind}s"
    for street in STREETS
    for kind in ("bet", "raise", "call", "fold", "check")
    if (street, kind) != ("preflop", "bet")
)
EVENT_COLUMNS = (  # of events
    *("hand_seq", "match", "number", "type", "game", "ruleset", "button", "players", "stacks"),
    *("seat", "amount", "full", "origin", "kind", "to", "bet", "size", "all_in"),
    *("price", "seats", "shares", "payer"),
    *("card1", "card2", "card3", "card4", "card5", "more_cards"),
    *("slot", "old", "new", "street"),
)
