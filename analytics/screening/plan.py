"""Which rulesets the screen follows, taken apart so that hands of many stakes go together; and why
the screen doubts a hand.

What only changes amounts (blinds, antes, sizes of bets) becomes columns beside the hands; what
changes the course of a hand is a plan. A ruleset with something that is not written here has a
reason instead, and its hands are for the engine.
"""

import re
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from analytics.replay.columns import BLINDS
from engine.catalogue import CATALOGUE
from engine.followed import EITHER, UNASKED, Followed, unfollowed
from engine.game import Game, Reading
from engine.policies import Rake
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
from store.columns.cells import LARGE, Column


class Why(IntEnum):
    """A reason to ask the engine about a hand; `FINE` is none."""

    FINE = 0  # as its rules pay, and no reading pays otherwise
    # What is suspect.
    START = 1  # the hand begins otherwise than its ruleset allows
    CARDS = 2  # a card is no card, comes twice, or too many or too few are dealt
    STOPS = 3  # actions end while somebody owes an answer
    TURN = 4  # somebody acts who was not asked
    ILLEGAL = 5  # an action that the rules forbid, or of a size they forbid
    ACTION = 6  # an action tells another amount, successor or origin than the rules
    BID = 7  # a bid is more than the stack, or not told as it has to be
    SHAPE = 8  # events are missing, too many, or in another order
    DIFFERS = 9  # an event says something else than the rules decide
    SHOWING = 10  # somebody shows out of turn, other cards, or mucks where he may not
    RAKE = 11  # the rake is not what the rules take
    AWARD = 12  # a pot is not paid as the rules pay it
    READING = 13  # another reading of the rules could pay differently
    # What is not screened.
    RULES = 32  # the screen does not follow this ruleset
    EVENTS = 33  # clocks, newcomers or a void: the screen does not follow these events
    LARGE = 34  # more chips than fit the screen's columns
    UNKNOWN = 35  # a card that counts was never recorded
    ASSUMED = 36  # fine, if what the hand assumes is so


ANTE = 8  # beside the kinds of blinds
STEP_MAX = 62  # no script is as long


class Forced(NamedTuple):
    """A forced bet: its kind, and the place of who owes it, 0 left of the button."""

    kind: int
    place: int


class ScriptLine(NamedTuple):
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
    lines: tuple[ScriptLine, ...]
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


_AMOUNT = range(LARGE >> 5)  # what a stack may be, too: their sums fit the screen's columns
_SOME = range(1, LARGE >> 5)
FOLLOWED: Followed = {
    Game: {
        **UNASKED,
        "script": (Blinds, Posts, DealHole, Betting, DealBoard, Auction, SwapHole, Showdown),
        "split_unit": (_SOME,),
        "heads_up_blinds": ("button_small", "left_small"),
        "first_to_act": ("left_of_button", "button"),
        "ask_when_closed": EITHER,
        "sizing": ("no_limit", "pot_limit", "fixed"),
        "min_raise": ("at_least", "more_than"),
        "min_raise_after_short": ("current_plus_last_full", "last_full_total"),
        "raise_ceiling": ("own_stack", "effective_stack"),
        "pot_limit_base": ("active_pot", "all_pots"),
        "short_blind": ("full", "actual"),
        "fold_when_free": EITHER,
        "raise_needs_responder": EITHER,
        "reopen": ("sum", "full_raise", "always", "half_bet"),
        "short_open_reopens": EITHER,
        "short_raise": ("allowed", "forbidden"),
        "raise_cap": (None, _AMOUNT),
        "cap_counts": ("raises", "bets"),
        "cap_lift": ("never", "round_starts_heads_up", "two_remain"),
        "check_raise": EITHER,
        "hole_order": ("pairs_from_dealer", "one_each_from_left"),
        "swap_order": ("after_board", "before_board"),
        "swap_seen": ("own_only", "both_told"),
        "bids": ("sealed", "leaked"),
        "bids_revealed": ("after_auction", "price_only"),
        "ranking": ("standard", "urcs", "top_card"),
        "straights": ("standard", "cyclic"),
        "hole_min": (0, 1),
        "show_first": ("all_shown", "last_aggressor"),
        "muck": ("never", "losers_may"),
        "uncalled": ("returned", "in_pot"),
        "showdown_tie": ("split", "no_change"),
        "odd_chips": ("clockwise_each", "non_dealer", "first_left_all", "fractional"),
        "rake": (None, Rake),
    },
    Reading: {
        "entry": (str,),
        "policy": (*CATALOGUE,),
        "value": (str, int, bool),
        "sentence": (str,),
    },
    Rake: {
        "percent": (range(1 << 20),),
        "of": (range(1, 1 << 20),),
        "caps_by_players": (_AMOUNT,),
        "rounding": ("half_even", "floor", "ceil", "incremental"),
        "increment": (_SOME,),
        "no_flop_no_drop": EITHER,
        "scope": ("hand", "pot"),
    },
    Blinds: {"small": (_AMOUNT,), "big": (_AMOUNT,), "ante": (_AMOUNT,)},
    Posts: {
        "antes": (_AMOUNT,),
        "blinds": (range(-(LARGE >> 5), LARGE >> 5),),  # below nothing: a newcomer's
        "dead": EITHER,
    },
    DealHole: {"count": (2,)},
    Betting: {"street": (str,), "size": (_SOME,)},
    DealBoard: {"total": (1, 2, 3, 4, 5)},
    Auction: {"hole": (3,)},
    SwapHole: {"chance": (int,), "of": (int,)},
    Showdown: {},
}
_DOES: dict[type[AnyStep], str] = {
    Betting: "bet",
    DealBoard: "board",
    Auction: "auction",
    SwapHole: "swap",
    Showdown: "show",
}
_COURSE = re.compile("bet(( swap)? board( swap)?( bet)?| board auction( bet)?)* show")
_STREETS = {3: "flop", 4: "turn", 5: "river"}


def planned(game: Game, seats: int, partner: Game | None) -> tuple[Plan, Stakes] | str:
    """The plan of a ruleset at a table of this size with its stakes, or why there is none."""
    if (other := unfollowed(game, FOLLOWED)) is not None:
        return f"{other} is for the engine"
    if seats > 2 and (game.raise_ceiling != "own_stack" or game.showdown_tie != "split"):
        return "heads-up rules at a larger table are for the engine"
    if not game.raise_needs_responder and (
        game.raise_ceiling != "own_stack" or game.ask_when_closed
    ):
        return "bets that nobody could answer are for the engine under such rules"
    if game.rake is not None and game.showdown_tie != "split":
        return "a rake where all may take back what they put in is for the engine"
    if not game.seats_min <= seats <= game.seats_max:
        return f"{game.name} does not seat {seats}"
    lines = _lines(game.script)
    if lines is None:
        return "this script is for the engine"
    if any(line.does in ("auction", "swap") for line in lines) and seats != 2:
        return "auctions and swaps of more than two seats are for the engine"
    opening = game.script[0]
    assert isinstance(opening, Blinds | Posts)
    if isinstance(opening, Posts) and {len(opening.antes), len(opening.blinds)} != {seats}:
        return f"{game.name} does not seat {seats}"
    forced, owed = _forced(game, opening, seats)
    sizes = tuple(step.size for step in game.script if isinstance(step, Betting))
    same = replace(game, name="", document="", script=(), stack=0, partner=None)
    others = [replace(same, **{reading.policy: reading.value}) for reading in game.readings]
    if partner is not None:
        shared = {"rake": game.rake, "split_unit": game.split_unit}
        others.append(replace(partner, **shared))
    plan = Plan(same, seats, forced, isinstance(opening, Posts), 1, lines, tuple(others))
    return plan, Stakes(owed, sizes)


def _lines(script: tuple[AnyStep, ...]) -> tuple[ScriptLine, ...] | None:
    """A script after its forced bets and hole cards; None if its course is not followed here."""
    kinds = tuple(map(type, script))
    if len(script) > STEP_MAX or kinds[:2] not in ((Blinds, DealHole), (Posts, DealHole)):
        return None
    does = [_DOES.get(kind, "") for kind in kinds[2:]]
    totals = [step.total for step in script if isinstance(step, DealBoard)]
    if not follows_course(does, totals):
        return None
    lines = []
    for at, (act, step) in enumerate(zip(does, script[2:], strict=True), 2):
        match step:  # what a line is called in a record, how many cards are on the board after it
            case Betting(street=street):
                lines.append(ScriptLine(act, at, street, 0))
            case DealBoard(total=total):
                lines.append(ScriptLine(act, at, _STREETS.get(total, "board"), total))
            case _:
                name = {Auction: "auction", SwapHole: "swap", Showdown: "showdown"}[type(step)]
                lines.append(ScriptLine(act, at, name, 0))
    return tuple(lines)


def follows_course(does: list[str], totals: list[int]) -> bool:
    """Whether lines come in a usual order, and the board grows to five cards."""
    if not _COURSE.fullmatch(" ".join(does)):
        return False
    if does.count("auction") > 1 or {"auction", "swap"} <= set(does):
        return False
    return totals == sorted(set(totals)) and totals[-1:] == [5]


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
