"""Which rulesets the screen follows, taken apart so that hands of many stakes go together.

What only changes amounts (blinds, antes, sizes of bets) becomes columns beside the hands; what
changes the course of a hand is a plan. A ruleset with something that is not written here has a
reason instead, and its hands are for the engine.
"""

from typing import NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from analytics.screen.rows import BLINDS, Column
from engine.game import Game
from engine.steps import (
    AnyStep,
    Auction,
    Betting,
    Blinds,
    DealBoard,
    DealHole,
    Posts,
    Showdown,
    SwapHole,
)
from odds.batch import Showdown as Comparison

ANTE = 8  # beside the kinds of blinds
STEP_MAX = 62  # no script is as long


class Forced(NamedTuple):
    """A forced bet: its kind, and the place of who owes it, 0 left of the button."""

    kind: int
    place: int


class Line(NamedTuple):
    """A line of the script after the hole cards: what it does, its number and its name."""

    does: str
    at: int
    name: str
    total: int = 0


class Plan(Struct, frozen=True):
    """How hands of these rules go, at a table of so many seats; amounts stand elsewhere."""

    game: Game
    seats: int
    forced: tuple[Forced, ...]
    announced: bool
    deal: int  # the script's number of the hole cards
    lines: tuple[Line, ...]
    others: tuple[Game, ...]  # readings of these rules that could pay otherwise

    @property
    def rounds(self) -> int:
        return sum(line.does == "bet" for line in self.lines)

    @property
    def numbers(self) -> Column:
        """By number of a step: which round it is; one past the last, if it is none."""
        rounds = [line.at for line in self.lines if line.does == "bet"]
        found = np.full(STEP_MAX + 2, len(rounds))  # the last is for -1
        found[rounds] = np.arange(len(rounds))
        return found


class Stakes(NamedTuple):
    """The amounts of one ruleset: what each forced bet owes, the size of each round."""

    forced: tuple[int, ...]
    sizes: tuple[int, ...]


# What is paid and asked here; any other value leaves the hand to the engine.
_FOLLOWED: dict[str, tuple[object, ...]] = {
    "cap_scope": ("round",),
    "live_option": (True,),
    "forced_all_in": ("stays_in",),
    "all_in_face_up": (False,),
    "auction_all_in": ("held",),
    "bid_max": ("stack",),
    "swap_runout": (True,),
    "swap_discard": ("dead",),
    "announce": ("cards_speak",),
    "kickers": ("five_cards",),
    "muck": ("never", "losers_may"),
    "show_first": ("all_shown", "last_aggressor"),
    "dead_chips": ("first_pot",),
    "split": ("side_pots",),
    "odd_scope": ("per_pot",),
    "odd_chips": ("clockwise_each", "non_dealer", "first_left_all", "fractional"),
    "rake_pots": ("outwards",),
}


def planned(game: Game, seats: int, partner: Game | None) -> tuple[Plan, Stakes] | str:
    """The plan of a ruleset at a table of this size with its stakes, or why there is none."""
    for name, values in _FOLLOWED.items():
        if getattr(game, name) not in values:
            return f"{name} {getattr(game, name)} is for the engine"
    if seats > 2 and (game.raise_ceiling != "own_stack" or game.showdown_tie != "split"):
        return "heads-up rules at a larger table are for the engine"
    if game.rake is not None and game.showdown_tie != "split":
        return "a rake where all may take back what they put in is for the engine"
    if not game.seats_min <= seats <= game.seats_max:
        return f"{game.name} does not seat {seats}"
    opening = game.script[0]
    if not isinstance(opening, Blinds | Posts):
        return f"a script that begins with {type(opening).__name__} is for the engine"
    if not isinstance(game.script[1], DealHole) or game.script[1].count != 2:
        return "only hands of two hole cards are screened"
    lines = _lines(game.script[2:])
    if (
        lines is None
        or len(game.script) > STEP_MAX
        or lines[-1].does != "show"
        or lines[0].does != "bet"
    ):
        return "this script is for the engine"
    if any(line.does in ("auction", "swap") for line in lines) and seats != 2:
        return "auctions and swaps of more than two seats are for the engine"
    forced, owed = _forced(game, opening, seats)
    sizes = tuple(step.size for step in game.script if isinstance(step, Betting))
    same = replace(game, name="", document="", script=(), stack=0, partner=None)
    others = [replace(same, **{one.policy: one.value}) for one in game.readings]
    if partner is not None:
        shared = {"rake": game.rake, "split_unit": game.split_unit}
        others.append(replace(partner, **shared))
    plan = Plan(same, seats, forced, isinstance(opening, Posts), 1, lines, tuple(others))
    return plan, Stakes(owed, sizes)


def comparison(game: Game) -> Comparison:
    """How this ruleset ranks hands."""
    return Comparison(game.straights, game.ranking, game.hole_min)


def _lines(steps: tuple[AnyStep, ...]) -> tuple[Line, ...] | None:
    """The rest of a script; None if it holds something that is not followed here."""
    names = {3: "flop", 4: "turn", 5: "river"}
    found = []
    for at, step in enumerate(steps, 2):
        match step:
            case Betting(street=street):
                found.append(Line("bet", at, street))
            case DealBoard(total=total):
                found.append(Line("board", at, names.get(total, "board"), total))
            case Auction():
                found.append(Line("auction", at, "auction"))
            case SwapHole():
                found.append(Line("swap", at, "swap"))
            case Showdown():
                found.append(Line("show", at, "showdown"))
            case _:
                return None
    return tuple(found) if len(found) < STEP_MAX else None


def _forced(
    game: Game, opening: Blinds | Posts, seats: int
) -> tuple[tuple[Forced, ...], tuple[int, ...]]:
    """Who owes what, in order: antes from the left of the button, then the blinds."""
    owed: list[tuple[Forced, int]] = []
    if isinstance(opening, Blinds):
        owed += [(Forced(ANTE, place), opening.ante) for place in range(seats)]
        small = 1 if seats == 2 and game.heads_up_blinds == "button_small" else 0
        owed.append((Forced(BLINDS["small"], small), opening.small))
        owed.append((Forced(BLINDS["big"], 1 - small), opening.big))
    else:
        dead = BLINDS["dead"] if opening.dead else ANTE
        owed += [(Forced(dead, place), ante) for place, ante in enumerate(opening.antes)]
        blinds = sorted((amount, at) for at, amount in enumerate(opening.blinds) if amount > 0)
        kinds = ("small", "big") if len(blinds) > 1 else ("big",)
        for rank, (amount, at) in enumerate(blinds):
            kind = kinds[rank] if rank < len(kinds) else "straddle"
            owed.append((Forced(BLINDS[kind], at), amount))
        late = [(at, -amount) for at, amount in enumerate(opening.blinds) if amount < 0]
        owed += [(Forced(BLINDS["post"], at), amount) for at, amount in late]
    return tuple(one for one, _ in owed), tuple(amount for _, amount in owed)
