"""Who may raise and how far, of many hands at once: the rules of `engine/steps/sizing.py` again.

Written from the rules and not from the engine, so that a test can hold each against the other. The
screen and the lock-step replay both ask here. Bets are what lies before a seat in this round.
"""

from typing import NamedTuple

import numpy as np

from engine.followed import EITHER, of_other_kinds, unknown
from engine.game import Game
from engine.policies import Policies
from store.columns.cells import Column


class Menu(NamedTuple):
    """The policies of a ruleset that say who may raise, and how far; hands of the same menu go
    together.
    """

    raise_needs_responder: bool
    raise_cap: int | None
    cap_counts: str
    cap_scope: str
    cap_lift: str
    reopen: str
    short_open_reopens: bool
    check_raise: bool
    short_raise: str
    sizing: str
    min_raise: str
    min_raise_after_short: str
    raise_ceiling: str
    pot_limit_base: str


class ActionState:
    """Who is asked, and the round as it stands: a column each, and only those that rules ask for.

    `chips` is what the seat has left, `mine` what it has in, `bet` the bet to match and
    `owed` what is missing to it; `acted` whether it has acted, `met` the bet that it answered then
    and `raised` how much higher the bet is now. `size` and `level` are of the last full raise.
    `made` counts full bets and raises (of this seat, where the cap is a player's), `remaining`
    who has not folded, `folds` who did in this round; `after_blinds` is whether blinds opened the
    round, `poster` whether this seat posted the last one, `answered` whether another could put in
    more than the bet.
    """

    chips: Column
    mine: Column
    bet: Column
    owed: Column
    acted: Column
    met: Column
    raised: Column
    size: Column
    level: Column
    made: Column
    remaining: Column
    folds: Column
    after_blinds: Column
    poster: Column
    answered: Column


class Reach(NamedTuple):
    """What bounds a raise: the round as who is asked finds it, the total that short raises ask for
    (`least`), the most that another seat still in could have in (`deepest`), the pot that a limit
    goes by, bets of the round included (`pot`). What these rules do not ask for may be anything.
    """

    chips: Column
    mine: Column
    bet: Column
    size: Column
    level: Column
    least: Column
    deepest: Column
    pot: Column


_KNOWN: dict[str, tuple[object, ...]] = {
    "raise_needs_responder": EITHER,
    "raise_cap": (int, None),
    "cap_counts": ("raises", "bets"),
    "cap_scope": ("round", "player"),
    "cap_lift": ("never", "round_starts_heads_up", "two_remain"),
    "reopen": ("sum", "full_raise", "always", "half_bet"),
    "short_open_reopens": EITHER,
    "check_raise": EITHER,
    "short_raise": ("allowed", "forbidden"),
    "sizing": ("no_limit", "pot_limit", "fixed"),
    "min_raise": ("at_least", "more_than"),
    "min_raise_after_short": ("current_plus_last_full", "last_full_total"),
    "raise_ceiling": ("own_stack", "effective_stack"),
    "pot_limit_base": ("active_pot", "all_pots"),
    # What only says who is asked and what is put in: that is read off the record.
    "heads_up_blinds": ("button_small", "left_small"),
    "blind_rounds": (int,),
    "missing_poster": ("next_live", "skip"),
    "first_to_act": ("left_of_button", "button"),
    "show_first": ("all_shown", "last_aggressor", "first_bettor"),
    "straddle": ("choice", "forced"),
    "straddle_folds": ("opens_at_blind", "duty_passes"),
    "live_option": EITHER,
    "ask_when_closed": EITHER,
    "short_blind": ("full", "actual"),
    "fold_when_free": EITHER,
    "forced_all_in": ("stays_in", "may_fold"),
    "bid_max": ("stack", "unbounded"),
    "auction_all_in": ("held", "skipped"),
}
_NO_MENU = of_other_kinds("menu", "order")


def menu(game: Game | None) -> Menu | None:
    """A ruleset's menu; nobody's, where nobody has the ruleset, or it is not known here."""
    if game is None or unknown(game, _KNOWN, _NO_MENU) is not None:
        return None
    return Menu(*(getattr(game, name) for name in Menu._fields))


def vetoed(menu: Menu | Policies, it: ActionState) -> Column:
    """Whether anything stands against a bet or raise."""
    veto: Column = it.chips <= it.owed  # nothing left to raise with
    if menu.raise_needs_responder:
        veto |= ~it.answered  # G7
    if menu.reopen != "always":
        veto |= it.acted & ~_reopened(menu, it)
    if not menu.check_raise:
        veto |= it.acted & (it.met == 0) & (it.bet > 0)  # U11
    if menu.raise_cap is not None:
        veto |= _capped(menu, menu.raise_cap, it)
    if menu.short_raise == "forbidden":
        veto |= it.chips < it.level + it.size - it.mine  # U10
    return veto


def sizes(menu: Menu | Policies, it: Reach) -> tuple[Column, Column, Column]:
    """The smallest and the largest total that may be bet or raised to, all-in may be less; and the
    total from which a raise is full."""
    most = it.mine + it.chips
    if menu.raise_ceiling == "effective_stack":
        most = np.minimum(most, it.deepest)  # G12
    if menu.sizing == "fixed":
        full = it.level + it.size
        to = np.minimum(full, most)
        return to, to, full
    full = it.least if menu.min_raise_after_short == "last_full_total" else it.bet + it.size  # G10
    low = np.maximum(full, it.bet + 1)
    if menu.min_raise == "more_than":
        low = low + (it.bet > 0)
    if menu.sizing == "pot_limit":  # T15
        most = np.minimum(most, np.maximum(low, 2 * it.bet - it.mine + it.pot))
    return np.minimum(low, most), most, full


def _capped(menu: Menu | Policies, most: int, it: ActionState) -> Column:
    """The cap is reached (U9, T4), and not lifted between two players."""
    made = it.made
    if menu.cap_scope == "player":
        made = made - ~it.poster
    elif menu.cap_counts == "raises":  # a bet that opens a round without blinds is none
        made = made - (~it.after_blinds & (made > 0))
    capped: Column = made >= most
    if menu.cap_lift == "never":
        return capped
    return capped & (
        it.remaining + (it.folds if menu.cap_lift == "round_starts_heads_up" else 0) != 2
    )


def _reopened(menu: Menu | Policies, it: ActionState) -> Column:
    """The betting was reopened for a seat that has acted (G9), or it has only checked (G11)."""
    if menu.reopen == "sum":
        enough: Column = it.raised >= it.size
    else:
        enough = it.level > it.met
        if menu.reopen == "half_bet":
            enough |= it.raised >= it.size
    if menu.short_open_reopens:
        enough |= (it.met == 0) & (it.bet < it.size)
    return enough
