"""Plans of rulesets for the batch audit: which ones it follows, and its reasons to doubt a hand.

What only changes amounts (blinds, antes, sizes of bets) becomes columns beside the hands; what
changes the course of a hand is a plan. So hands of many stakes are checked together. A ruleset with
a policy value that is not written here has no plan, and the engine judges its hands.
"""

import re
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from analytics.replay.columns import BLINDS
from engine.catalogue import CATALOGUE
from engine.followed import EITHER, FOLLOWED_BY_ALL, Followed, unfollowed
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
from store.columns.numpy_columns import LARGE, Column


class DoubtReason(IntEnum):
    """Why the engine has to judge a hand; `FINE`: it need not."""

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
    # What is not audited in batches.
    RULES = 32  # the batch audit does not follow this ruleset
    EVENTS = 33  # clocks, newcomers or a void: the batch audit does not follow these events
    LARGE = 34  # more chips than fit the columns
    UNKNOWN = 35  # a card that counts was never recorded
    ASSUMED = 36  # fine, if what the hand assumes is so


ANTE = 8  # beside the kinds of blinds
STEP_MAX = 62  # no script is as long


class ForcedBet(NamedTuple):
    """A forced bet: its kind, and the place of who owes it, 0 left of the button."""

    kind: int
    place: int


class ScriptLine(NamedTuple):
    """A line of the script after the hole cards: its kind, its number and its name."""

    kind: str
    at: int
    name: str
    total: int = 0


class RulesetPlan(Struct, frozen=True):
    """The course of hands under a ruleset at a table of so many seats; amounts are `Stakes`."""

    game: Game
    seats: int
    forced: tuple[ForcedBet, ...]
    announced: bool
    deal: int  # the script's number of the hole cards
    lines: tuple[ScriptLine, ...]
    readings: tuple[Game, ...]  # of these rules, that could pay otherwise

    @property
    def rounds(self) -> int:
        return sum(line.kind == "bet" for line in self.lines)

    @property
    def numbers(self) -> Column:
        """The number of the betting round of each step; one past the last, where it is no round."""
        rounds = [line.at for line in self.lines if line.kind == "bet"]
        found = np.full(STEP_MAX + 2, len(rounds))  # the last is for -1
        found[rounds] = np.arange(len(rounds))
        return found


class Stakes(NamedTuple):
    """The amounts of one ruleset: what each forced bet owes, the size of each round."""

    forced: tuple[int, ...]
    sizes: tuple[int, ...]


_AMOUNTS = range(LARGE >> 5)  # what a stack may be, too: their sums fit the columns
_POSITIVE_AMOUNTS = range(1, LARGE >> 5)
FOLLOWED: Followed = {
    Game: {
        **FOLLOWED_BY_ALL,
        "script": (Blinds, Posts, DealHole, Betting, DealBoard, Auction, SwapHole, Showdown),
        "split_unit": (_POSITIVE_AMOUNTS,),
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
        "raise_cap": (None, _AMOUNTS),
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
        "caps_by_players": (_AMOUNTS,),
        "rounding": ("half_even", "floor", "ceil", "incremental"),
        "increment": (_POSITIVE_AMOUNTS,),
        "no_flop_no_drop": EITHER,
        "scope": ("hand", "pot"),
    },
    Blinds: {"small": (_AMOUNTS,), "big": (_AMOUNTS,), "ante": (_AMOUNTS,)},
    Posts: {
        "antes": (_AMOUNTS,),
        "blinds": (range(-(LARGE >> 5), LARGE >> 5),),  # below nothing: a newcomer's
        "dead": EITHER,
    },
    DealHole: {"count": (2,)},
    Betting: {"street": (str,), "size": (_POSITIVE_AMOUNTS,)},
    DealBoard: {"total": (1, 2, 3, 4, 5)},
    Auction: {"hole": (3,)},
    SwapHole: {"chance": (int,), "of": (int,)},
    Showdown: {},
}
_KINDS: dict[type[AnyStep], str] = {
    Betting: "bet",
    DealBoard: "board",
    Auction: "auction",
    SwapHole: "swap",
    Showdown: "show",
}
_COURSE = re.compile("bet(( swap)? board( swap)?( bet)?| board auction( bet)?)* show")
_STREETS = {3: "flop", 4: "turn", 5: "river"}


def plan_ruleset(game: Game, seats: int, partner: Game | None) -> tuple[RulesetPlan, Stakes] | str:
    """Plan a ruleset at a table of this size; return plan and stakes, or why there is none."""
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
    lines = _script_lines(game.script)
    if lines is None:
        return "this script is for the engine"
    if any(line.kind in ("auction", "swap") for line in lines) and seats != 2:
        return "auctions and swaps of more than two seats are for the engine"
    opening = game.script[0]
    assert isinstance(opening, Blinds | Posts)
    if isinstance(opening, Posts) and {len(opening.antes), len(opening.blinds)} != {seats}:
        return f"{game.name} does not seat {seats}"
    forced, owed = _forced_bets(game, opening, seats)
    sizes = tuple(step.size for step in game.script if isinstance(step, Betting))
    same = replace(game, name="", document="", script=(), stack=0, partner=None)
    readings = [replace(same, **{reading.policy: reading.value}) for reading in game.readings]
    if partner is not None:
        shared = {"rake": game.rake, "split_unit": game.split_unit}
        readings.append(replace(partner, **shared))
    plan = RulesetPlan(same, seats, forced, isinstance(opening, Posts), 1, lines, tuple(readings))
    return plan, Stakes(owed, sizes)


def _script_lines(script: tuple[AnyStep, ...]) -> tuple[ScriptLine, ...] | None:
    """A script after its forced bets and hole cards; None if its course is not followed here."""
    kinds = tuple(map(type, script))
    if len(script) > STEP_MAX or kinds[:2] not in ((Blinds, DealHole), (Posts, DealHole)):
        return None
    names = [_KINDS.get(kind, "") for kind in kinds[2:]]
    totals = [step.total for step in script if isinstance(step, DealBoard)]
    if not is_usual_course(names, totals):
        return None
    lines = []
    for at, (act, step) in enumerate(zip(names, script[2:], strict=True), 2):
        match step:  # what a line is called in a record, how many cards are on the board after it
            case Betting(street=street):
                lines.append(ScriptLine(act, at, street, 0))
            case DealBoard(total=total):
                lines.append(ScriptLine(act, at, _STREETS.get(total, "board"), total))
            case _:
                name = {Auction: "auction", SwapHole: "swap", Showdown: "showdown"}[type(step)]
                lines.append(ScriptLine(act, at, name, 0))
    return tuple(lines)


def is_usual_course(kinds: list[str], totals: list[int]) -> bool:
    """Whether lines come in a usual order, and the board grows to five cards."""
    if not _COURSE.fullmatch(" ".join(kinds)):
        return False
    if kinds.count("auction") > 1 or {"auction", "swap"} <= set(kinds):
        return False
    return totals == sorted(set(totals)) and totals[-1:] == [5]


def _forced_bets(
    game: Game, opening: Blinds | Posts, seats: int
) -> tuple[tuple[ForcedBet, ...], tuple[int, ...]]:
    """Forced bets and their amounts in order: antes from the left of the button, then blinds."""
    owed: list[tuple[ForcedBet, int]] = []
    if isinstance(opening, Blinds):
        owed += [(ForcedBet(ANTE, place), opening.ante) for place in range(seats)]
        small = 1 if seats == 2 and game.heads_up_blinds == "button_small" else 0
        owed.append((ForcedBet(BLINDS["small"], small), opening.small))
        owed.append((ForcedBet(BLINDS["big"], 1 - small), opening.big))
    else:
        dead = BLINDS["dead"] if opening.dead else ANTE
        owed += [(ForcedBet(dead, place), ante) for place, ante in enumerate(opening.antes)]
        blinds = sorted((amount, at) for at, amount in enumerate(opening.blinds) if amount > 0)
        kinds = ("small", "big") if len(blinds) > 1 else ("big",)
        for rank, (amount, at) in enumerate(blinds):
            kind = kinds[rank] if rank < len(kinds) else "straddle"
            owed.append((ForcedBet(BLINDS[kind], at), amount))
        late = [(at, -amount) for at, amount in enumerate(opening.blinds) if amount < 0]
        owed += [(ForcedBet(BLINDS["post"], at), amount) for at, amount in late]
    return tuple(one for one, _ in owed), tuple(amount for _, amount in owed)
