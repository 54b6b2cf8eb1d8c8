"""URCS limit hold'em of 1998: the document's sequence of play, and card-room practice beside it."""

from typing import Any

from msgspec.structs import replace

from engine.game import Game, Reading
from engine.steps import (
    Antes,
    AnyStep,
    Betting,
    Blind,
    DealBoard,
    DealHole,
    Showdown,
    Straddle,
)
from engine.turn import IllegalCommand

STATED = {10: 2}  # "Low betting limit: $10 (implies: ante=$2, blind=$5, straddle=$10)"


def ante_at(low: int) -> int:
    """The ante at a low limit: the stated one, else half of the limit, at least a dollar (U1)."""
    return STATED.get(low) or max(1, low // 2)


def forced_at(low: int) -> tuple[Blind, Straddle]:
    """Blind and straddle at a low limit (U23)."""
    return Blind(low // 2), Straddle(low)


def script(
    low: int, high: int, ante: int | None, blind_rounds: tuple[int, ...]
) -> tuple[AnyStep, ...]:
    """Ante, blind and straddle follow from the low limit, unless another ante is asked for."""
    if low < 2:
        raise IllegalCommand(f"the low limit is at least 2, not {low}: half of it is the blind")
    if high < low:
        raise IllegalCommand(f"the high limit is at least the low one of {low}, not {high}")
    forced = forced_at(low)
    return (
        Antes(ante_at(low) if ante is None else ante),
        DealHole(2),
        *forced,
        Betting("first", low),
        DealBoard(3),
        *(forced if 2 in blind_rounds else ()),
        Betting("second", low),
        DealBoard(4),
        Betting("third", high),
        DealBoard(5),
        Betting("fourth", high),
        Showdown(),
    )


def urcs(
    low: int = 10,
    high: int = 20,
    ante: int | None = None,
    *,
    game: Game | None = None,
    **policies: Any,
) -> Game:
    """The game at other limits: "All of these parameters should be configurable at runtime".

    Without arguments it is the game of the document, by its default parameters.
    """
    base = game or URCS_1998
    rounds = policies.get("blind_rounds", base.blind_rounds)
    return replace(base, script=script(low, high, ante, rounds), **policies)


URCS_1998 = Game(
    name="urcs-1998",
    document="Rules of Hold 'Em Poker for Computers, URCS 1998",
    script=script(10, 20, None, (1, 2)),
    stack=1000,
    partner="urcs-1998-standard",
    sizing="fixed",
    blind_rounds=(1, 2),
    straddle="choice",
    live_option=False,
    first_to_act="button",
    raise_cap=3,
    short_raise="forbidden",
    reopen="half_bet",
    short_blind="actual",
    split="expectation",
    odd_chips="dealer",
    ranking="urcs",
    hole_min=1,
    announce="announced",
    show_first="last_aggressor",
    muck="forfeits",
    stacks="carried",
    broke="leaves",
    readings=(
        Reading("U12", "expectation", "snapshot", '"the amount in the pot at the time"'),
        Reading("U13 U15", "tapped_prize", "whole_pot", '"has Ei = E and so wins it all"'),
        Reading("U14", "split", "side_pots", "elsewhere tied hands share main and side pots"),
        Reading("U16", "next_group", "original", "the second hands weighed by all they put in"),
        Reading("U17", "uncalled", "in_pot", "nothing says that an uncalled bet goes back"),
        Reading("U19", "announce", "cards_speak", '"An alternative version of the showdown"'),
        Reading("U21", "hole_min", 0, "elsewhere the board may be played"),
        Reading("U22", "ranking", "standard", "elsewhere kickers of trips and quads count"),
    ),
)

URCS_1998_STANDARD = replace(
    URCS_1998,
    name="urcs-1998-standard",
    document="card-room limit hold'em with URCS stakes",
    script=script(10, 20, None, (1,)),
    partner="urcs-1998",
    blind_rounds=(1,),
    straddle="forced",
    live_option=True,
    first_to_act="left_of_button",
    raise_cap=4,
    cap_lift="round_starts_heads_up",
    short_raise="allowed",
    short_blind="full",
    split="side_pots",
    odd_chips="clockwise_each",
    ranking="standard",
    hole_min=0,
    announce="cards_speak",
    readings=(
        Reading("U12", "expectation", "snapshot", '"the amount in the pot at the time"'),
        Reading("U13 U15", "tapped_prize", "whole_pot", '"has Ei = E and so wins it all"'),
        Reading("U14", "split", "expectation", '"their share of the pot is Ei / E"'),
        Reading("U16", "next_group", "original", "the second hands weighed by all they put in"),
        Reading("U17", "uncalled", "in_pot", "nothing says that an uncalled bet goes back"),
        Reading("U19", "announce", "announced", '"players must announce their hands"'),
        Reading("U21", "hole_min", 1, '"using one or both of their hole cards"'),
        Reading("U22", "ranking", "urcs", '"The other two cards are not used"'),
    ),
)
