"""Swap Hold'em 2022: the document's sequence of play, and the engine that dealt it."""

from typing import Literal

from msgspec.structs import replace

from engine.game import Game
from engine.steps import AnyStep, Betting, Blinds, DealBoard, DealHole, Showdown, SwapHole

SwapOrder = Literal["after_board", "before_board"]


def script(order: SwapOrder, flop: SwapHole, turn: SwapHole) -> tuple[AnyStep, ...]:
    """Cards are swapped after the flop and the turn are dealt, or drawn just before (S1)."""

    def street(board: DealBoard, swap: SwapHole) -> tuple[AnyStep, AnyStep]:
        return (board, swap) if order == "after_board" else (swap, board)

    return (
        Blinds(small=1, big=2),
        DealHole(2),
        Betting("preflop", 2),
        *street(DealBoard(3), flop),
        Betting("flop", 2),
        *street(DealBoard(4), turn),
        Betting("turn", 2),
        DealBoard(5),
        Betting("river", 2),
        Showdown(),
    )


SWAP_2022 = Game(
    name="swap-2022",
    document="Swap Hold'em, Pokerbots 2022",
    script=script("after_board", SwapHole(10), SwapHole(5)),
    seats_min=2,
    seats_max=2,
    stack=200,
    hands=1000,
    partner="swap-2022-mit",
    raise_ceiling="effective_stack",
    hole_order="pairs_from_dealer",
    swap_order="after_board",
    showdown_tie="no_change",
    time_out="bot_default",
)

SWAP_2022_MIT = replace(
    SWAP_2022,
    name="swap-2022-mit",
    document="the Pokerbots engine of 2022",
    script=script("before_board", SwapHole(10), SwapHole(5)),
    partner="swap-2022",
    swap_order="before_board",
    showdown_tie="split",
    ask_when_closed=True,
)
