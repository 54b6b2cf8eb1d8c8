"""Rules that replays read: rulesets by fingerprint and how they rank hands; the names of positions
and hole cards; who may raise, and within which bounds.

Positions count backwards from the button, and blinds are named by who posted.

Who may raise is computed of many hands at once: `engine/steps/sizing.py` in columns. Written
from the rules and not from the engine, so that a test can hold each against the other. The batch
audit and lock-step replay both call it. Bets are what lies before a seat in this round.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from engine.followed import EITHER, of_other_kinds, unknown
from engine.game import Game, fingerprint, kept_game
from engine.games import RULESETS
from engine.policies import Policies
from events.cards import DECK, RANKS
from events.state import Hand
from events.types import BlindPosted, Event
from odds.batch import Showdown
from odds.ranges import hole_class
from store.columns.numpy_columns import Column

T = TypeVar("T")
RulesetText = Callable[[str], bytes | None]
RulesetLookup = Callable[[str], Game | None]


class Rulebook:
    """Rulesets by fingerprint: the program's own, and those whose text a ledger keeps."""

    def __init__(self, kept: RulesetText) -> None:
        self._kept = kept
        self._known: dict[str, Game | None] = {fingerprint(one): one for one in RULESETS.values()}
        self._found: dict[tuple[str, Callable[[Game], Any]], Any] = {}

    def of(self, mark: str) -> Game | None:
        """The ruleset with this fingerprint; None where nobody has its text."""
        if mark not in self._known:
            self._known[mark] = kept_game(self._kept(mark), mark)
        return self._known[mark]

    def showdown(self, mark: str) -> Showdown | None:
        """How a ruleset ranks hands, in columns; None where columns cannot say it."""
        return self.answer(mark, exact_comparison)

    def answer(self, mark: str, question: Callable[[Game], T]) -> T | None:
        """The answer to a question about a ruleset, computed once; None without the ruleset."""
        if (mark, question) not in self._found:
            game = self.of(mark)
            self._found[mark, question] = None if game is None else question(game)
        return cast(T | None, self._found[mark, question])


# How columns rank hands: not where cards beyond five count. Who has to name five cards can name his
# best.
_FOLLOWED_RANKINGS: dict[str, tuple[object, ...]] = {
    "ranking": ("standard", "urcs", "top_card"),
    "straights": ("standard", "cyclic"),
    "hole_min": (0, 1),
    "announce": ("cards_speak", "announced"),
}


def exact_comparison(game: Policies) -> Showdown | None:
    """How a ruleset ranks hands; None where columns cannot say it."""
    followed = unknown(game, _FOLLOWED_RANKINGS, of_other_kinds("rank")) is None
    return comparison(game) if followed else None


def comparison(game: Policies) -> Showdown:
    """How a ruleset ranks hands, as far as columns can say it."""
    return Showdown(game.straights, game.ranking, game.hole_min)


BLIND_POSITIONS = ("SB", "BB")
STEALING = frozenset({"CO", "BTN", "SB"})
FROM_BUTTON = ("BTN", "CO", "HJ", "MP")
POSITIONS = (
    "UTG",
    *(f"MP{number}" for number in range(17, 1, -1)),
    *reversed(FROM_BUTTON),
    *BLIND_POSITIONS,
)


def dealt_in(hand: Hand) -> tuple[int, ...]:
    """Seats with hole cards; all of them, where a hand ended before any were dealt."""
    held = tuple(seat for seat, cards in enumerate(hand.hole) if cards)
    return held or tuple(range(len(hand.hole)))


def positions(hand: Hand, events: Sequence[Event]) -> dict[int, str]:
    """The position names of the seats that were dealt in."""
    posted = {event.kind: event.seat for event in events if isinstance(event, BlindPosted)}
    last = posted.get("straddle", posted.get("big"))
    chairs, button = len(hand.hole), hand.start.button
    return position_names(chairs, button, dealt_in(hand), posted.get("small"), last)


def position_names(
    chairs: int, button: int, seats: Sequence[int], small: int | None, last: int | None
) -> dict[int, str]:
    """The position names of these seats, by the seats of the small and of the last blind.

    The last blind, a straddle included, is BB. The URCS button posts a blind and stays the BTN;
    heads-up the button is the SB, unless the blinds were posted the other way round.
    """
    named = {} if small is None else {small: "SB"}
    if len(seats) > 2 and button in named:
        named.pop(button)
    if last is not None:
        named[last] = "BB"
    if len(seats) == 2 and not named:
        named = {seat: "SB" if seat == button else "BB" for seat in seats}
    if len(seats) == 2 and len(named) == 1:
        ((seat, place),) = named.items()
        named[sum(seats) - seat] = "SB" if place == "BB" else "BB"
    # BTN, CO, HJ, MP and further MPs backwards from the button; the first to act is UTG.
    others = (seat for seat in seats if seat not in named)
    backwards = sorted(others, key=lambda seat: (button - seat) % chairs)
    for at, seat in enumerate(backwards):
        named[seat] = FROM_BUTTON[at] if at < len(FROM_BUTTON) else f"MP{at - 2}"
    if len(backwards) > 2:
        named[backwards[-1]] = "UTG"
    return named


@cache
def hole_classes() -> tuple[tuple[str, ...], Column]:
    """Names of hole-card classes, and the class of two card codes; the last code is unknown."""
    words: dict[str, int] = {}
    by_ranks = np.empty((len(RANKS), len(RANKS), 2), dtype=np.int32)
    for one, other, suited in np.ndindex(by_ranks.shape):
        name = hole_class((f"{RANKS[one]}s", f"{RANKS[other]}{'hs'[suited]}"))
        by_ranks[one, other, suited] = words.setdefault(name, len(words))
    ranks = np.array([RANKS.index(card[0]) for card in DECK])
    suits = np.array([card[1] for card in DECK])
    found = np.full((len(DECK) + 1, len(DECK) + 1), -1, dtype=np.int32)
    found[:-1, :-1] = by_ranks[ranks[:, None], ranks, (suits[:, None] == suits).astype(int)]
    return tuple(words), found.ravel()


class BettingPolicies(NamedTuple):
    """The policies of a ruleset that say who may raise, and how far; hands that share them are
    replayed together."""

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


_Rules = BettingPolicies | Policies


class ActionState:
    """The acting seat and its betting round, an array per quantity, for rules about raises.

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


class RaiseState(NamedTuple):
    """The chips and bets that bound the acting seat's raise. `least` is the total that short raises
    require, `deepest` the most that another seat still in could have in, `pot` the pot that a limit
    goes by, bets of the round included. Quantities that the rules do not read may be anything.
    """

    chips: Column
    mine: Column
    bet: Column
    size: Column
    level: Column
    least: Column
    deepest: Column
    pot: Column


_FOLLOWED: dict[str, tuple[object, ...]] = {
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
    # Policies of the acting seat and of forced chips: those are read off the record.
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
_OTHER_KINDS = of_other_kinds("menu", "order")


def betting_policies(game: Game | None) -> BettingPolicies | None:
    """A ruleset's betting policies; None where nobody has it, or where columns cannot follow it."""
    if game is None or unknown(game, _FOLLOWED, _OTHER_KINDS) is not None:
        return None
    return BettingPolicies(*(getattr(game, name) for name in BettingPolicies._fields))


def raise_forbidden(rules: _Rules, it: ActionState) -> Column:
    """Whether the rules forbid the acting seat to bet or raise."""
    veto: Column = it.chips <= it.owed  # nothing left to raise with
    if rules.raise_needs_responder:
        veto |= ~it.answered  # G7
    if rules.reopen != "always":
        veto |= it.acted & ~_reopened(rules, it)
    if not rules.check_raise:
        veto |= it.acted & (it.met == 0) & (it.bet > 0)  # U11
    if rules.raise_cap is not None:
        veto |= _capped(rules, rules.raise_cap, it)
    if rules.short_raise == "forbidden":
        veto |= it.chips < it.level + it.size - it.mine  # U10
    return veto


def raise_bounds(rules: _Rules, it: RaiseState) -> tuple[Column, Column, Column]:
    """The smallest and the largest total that may be bet or raised to, all-in may be less; and the
    total from which a raise is full."""
    most = it.mine + it.chips
    if rules.raise_ceiling == "effective_stack":
        most = np.minimum(most, it.deepest)  # G12
    if rules.sizing == "fixed":
        full = it.level + it.size
        to = np.minimum(full, most)
        return to, to, full
    full = it.least if rules.min_raise_after_short == "last_full_total" else it.bet + it.size  # G10
    low = np.maximum(full, it.bet + 1)
    if rules.min_raise == "more_than":
        low = low + (it.bet > 0)
    if rules.sizing == "pot_limit":  # T15
        most = np.minimum(most, np.maximum(low, 2 * it.bet - it.mine + it.pot))
    return np.minimum(low, most), most, full


def _capped(rules: _Rules, most: int, it: ActionState) -> Column:
    """Whether the cap is reached (U9, T4), and not lifted between two players."""
    made = it.made
    if rules.cap_scope == "player":
        made = made - ~it.poster
    elif rules.cap_counts == "raises":  # a bet that opens a round without blinds is none
        made = made - (~it.after_blinds & (made > 0))
    capped: Column = made >= most
    if rules.cap_lift == "never":
        return capped
    return capped & (
        it.remaining + (it.folds if rules.cap_lift == "round_starts_heads_up" else 0) != 2
    )


def _reopened(rules: _Rules, it: ActionState) -> Column:
    """Whether betting is reopened to a seat that has acted (G9), or has only checked (G11)."""
    if rules.reopen == "sum":
        enough: Column = it.raised >= it.size
    else:
        enough = it.level > it.met
        if rules.reopen == "half_bet":
            enough |= it.raised >= it.size
    if rules.short_open_reopens:
        enough |= (it.met == 0) & (it.bet < it.size)
    return enough
