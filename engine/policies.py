"""The parameters and named policies of a ruleset: every point a rule document leaves open.

A policy is a choice between named readings; `docs/policies.md` says what each value means, what
it touches and where it comes from. Values are data, so two rulesets can be compared, stored and
fingerprinted; the functions behind them stand in one table per policy, beside the rule they serve.
"""

import re
from typing import Literal

from msgspec import Struct

from odds.rank import Flushes, Ranking, Straights

Sizing = Literal["no_limit", "pot_limit", "fixed"]
Reopen = Literal["sum", "full_raise", "always", "half_bet"]
OddChips = Literal[
    "clockwise_each",
    "first_left_all",
    "dealer",
    "non_dealer",
    "fractional",
    "first_seat",
    "random",
    "dropped",
]
Split = Literal["side_pots", "expectation", "snapshot"]
Rounding = Literal["half_even", "floor", "ceil", "incremental"]


class Rake(Struct, frozen=True, kw_only=True):
    """The house's cut: so many `percent` of the pot (or parts `of` another whole), and its cap.

    `caps_by_players` holds pairs: from so many players dealt in, at most so much.
    """

    percent: int
    of: int = 100
    caps_by_players: tuple[tuple[int, int], ...] = ()
    rounding: Rounding = "half_even"
    increment: int = 100
    no_flop_no_drop: bool = True
    scope: Literal["hand", "pot"] = "hand"


class Policies(Struct, frozen=True, kw_only=True):
    """What the steps of a script ask; a `Game` adds the script."""

    # Chips.
    unit: str = "chip"
    split_unit: int = 1

    # Order: who posts, who acts.
    heads_up_blinds: Literal["button_small", "left_small"] = "button_small"
    blind_rounds: tuple[int, ...] = (1,)
    missing_poster: Literal["next_live", "skip"] = "next_live"
    straddle: Literal["choice", "forced"] = "forced"
    straddle_folds: Literal["opens_at_blind", "duty_passes"] = "opens_at_blind"
    first_to_act: Literal["left_of_button", "button"] = "left_of_button"
    live_option: bool = True
    ask_when_closed: bool = False

    # What may be bet.
    sizing: Sizing = "no_limit"
    min_raise: Literal["at_least", "more_than"] = "at_least"
    min_raise_after_short: Literal["current_plus_last_full", "last_full_total"] = (
        "current_plus_last_full"
    )
    raise_ceiling: Literal["own_stack", "effective_stack"] = "own_stack"
    pot_limit_base: Literal["active_pot", "all_pots"] = "active_pot"
    short_blind: Literal["full", "actual"] = "full"
    fold_when_free: bool = False
    forced_all_in: Literal["stays_in", "may_fold"] = "stays_in"

    # Who may raise.
    raise_needs_responder: bool = True
    reopen: Reopen = "sum"
    short_open_reopens: bool = False
    short_raise: Literal["allowed", "forbidden"] = "allowed"
    raise_cap: int | None = None
    cap_counts: Literal["raises", "bets"] = "raises"
    cap_scope: Literal["round", "player"] = "round"
    cap_lift: Literal["never", "round_starts_heads_up", "two_remain"] = "never"
    check_raise: bool = True

    # Where cards come from.
    hole_order: Literal["pairs_from_dealer", "one_each_from_left"] = "one_each_from_left"
    burn: Literal[0, 1] = 0
    deck_slots: Literal["sequential", "fixed"] = "sequential"
    third_card: Literal["top", "bottom"] = "top"

    # The swap.
    swap_order: Literal["after_board", "before_board"] = "after_board"
    swap_discard: Literal["dead", "returned"] = "dead"
    swap_runout: bool = True
    swap_seen: Literal["own_only", "both_told"] = "own_only"

    # The auction.
    bids: Literal["sealed", "leaked"] = "sealed"
    bid_max: Literal["stack", "unbounded"] = "stack"
    auction_tie: Literal["both"] = "both"
    auction_all_in: Literal["held", "skipped"] = "held"
    bids_revealed: Literal["after_auction", "price_only"] = "after_auction"

    # What hands are worth.
    ranking: Ranking = "standard"
    straights: Straights = "standard"
    hole_min: Literal[0, 1] = 0
    kickers: Literal["five_cards", "all_seven"] = "five_cards"
    flushes: Flushes = "best"
    announce: Literal["cards_speak", "announced"] = "cards_speak"

    # Who shows.
    all_in_face_up: bool = False
    show_first: Literal["all_shown", "last_aggressor", "first_bettor"] = "all_shown"
    muck: Literal["never", "losers_may", "forfeits"] = "never"

    # Who is paid.
    uncalled: Literal["returned", "in_pot"] = "returned"
    dead_chips: Literal["first_pot", "stake"] = "first_pot"
    split: Split = "side_pots"
    expectation: Literal["covered", "snapshot"] = "covered"
    tapped_prize: Literal["covered", "whole_pot"] = "covered"
    next_group: Literal["remaining", "original"] = "remaining"
    showdown_tie: Literal["split", "no_change"] = "split"
    odd_chips: OddChips = "clockwise_each"
    odd_scope: Literal["per_pot", "total"] = "per_pot"
    rake: Rake | None = None
    rake_pots: Literal["outwards", "proportional"] = "outwards"
    bounty: Literal["none", "half_and_ten"] = "none"

    # Clocks and connections.
    time_out: Literal["none", "bot_default", "all_in_if_paid", "fold_or_check"] = "none"
    contributed: Literal["any", "voluntary"] = "any"
    reconnect: Literal["add", "reset"] = "add"
    extensions: Literal["once", "every"] = "once"

    # Between hands.
    button: Literal["moving", "dead"] = "moving"
    stacks: Literal["reset", "carried"] = "reset"
    broke: Literal["leaves", "buys_in", "set_anew"] = "set_anew"


# What `unit` counts: chips, half chips, cents; and which money that is.
_UNITS = {  # of each unit how many make one of which money
    "half chip": (2, "chip"),
    "hundredth of a chip": (100, "chip"),
    "cent": (100, "dollar"),
    "euro cent": (100, "euro"),
    "penny": (100, "pound"),
}
_PART = re.compile(r"1/([1-9]\d{0,6}) chip")


def per_chip(unit: str) -> int:
    """The number of these units in a chip, or in the dollar, euro or pound that stands for one."""
    named = _PART.fullmatch(unit)
    return int(named[1]) if named else _UNITS.get(unit, (1, unit))[0]


def counted_in(money: str) -> tuple[list[str], str]:
    """The units of a money: their names, and a pattern of those that have no name of their own."""
    named = [unit for unit, (_, whole) in _UNITS.items() if whole == money]
    return [money, *named], _PART.pattern if money == "chip" else ""


def money(unit: str) -> str:
    """The currency of the game: amounts of one currency add up, those of two have no sum."""
    return "chip" if _PART.fullmatch(unit) else _UNITS.get(unit, (1, unit))[1]
