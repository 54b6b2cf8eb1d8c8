"""Site rules: fixed, pot and no limit, each with ordinary tournament practice beside it."""

from msgspec.structs import replace

from engine.game import Game, Reading
from engine.policies import Sizing
from engine.steps import AnyStep, Betting, Blinds, DealBoard, DealHole, Showdown

READINGS = (
    Reading(
        "T8",
        "split",
        "snapshot",
        '"the pot currently at the center of the table [...] is treated as the main pot"',
    ),
    Reading(
        "T11",
        "kickers",
        "all_seven",
        '"the highest card not being held in common (the kicker) determines the winner"',
    ),
)


def script(small: int, big: int, low: int, high: int, ante: int = 0) -> tuple[AnyStep, ...]:
    """Two rounds at the lower stake, two at the upper; without limit both are the big blind."""
    return (
        Blinds(small, big, ante),
        DealHole(2),
        Betting("preflop", low),
        DealBoard(3),
        Betting("flop", low),
        DealBoard(4),
        Betting("turn", high),
        DealBoard(5),
        Betting("river", high),
        Showdown(),
    )


def at_stakes(game: Game, small: int, big: int, high: int | None = None, ante: int = 0) -> Game:
    """The same rules at other stakes; `high` is the upper stake of a fixed limit."""
    return replace(game, script=script(small, big, big, high or big, ante))


def _site(name: str, sizing: Sizing, what: str, high: int) -> tuple[Game, Game]:
    """A ruleset of the document and its standard partner."""
    fixed = sizing == "fixed"
    game = Game(
        name=name,
        document=f"Texas Holdem Poker, site rules: {what}",
        script=script(5, 10, 10, high),
        stack=1000,
        partner=f"{name}-standard",
        sizing=sizing,
        reopen="half_bet" if fixed else "sum",
        raise_cap=3 if fixed else None,
        fold_when_free=True,
        show_first="last_aggressor",
        muck="losers_may",
        time_out="all_in_if_paid",
        stacks="carried",
        readings=READINGS,
    )
    standard = replace(
        game,
        name=f"{name}-standard",
        document=f"WSOP 2024 practice: {what}",
        partner=name,
        raise_cap=4 if fixed else None,
        cap_lift="round_starts_heads_up" if fixed else "never",
        fold_when_free=False,
        pot_limit_base="all_pots" if sizing == "pot_limit" else "active_pot",
        time_out="fold_or_check",
    )
    return game, standard


SITE_FL, SITE_FL_STANDARD = _site("site-fl", "fixed", "fixed limit", 20)
SITE_PL, SITE_PL_STANDARD = _site("site-pl", "pot_limit", "pot limit", 10)
SITE_NL, SITE_NL_STANDARD = _site("site-nl", "no_limit", "no limit", 10)
