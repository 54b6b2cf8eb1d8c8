"""The rules as a replay asks for them: the ruleset that a hand was played by, and how its hands
compare; what seats and hole cards are called; who may raise and how far.

A `Rulebook` knows rulesets by their fingerprints. Positions count backwards from the button, and
blinds are named by who posted.

Who may raise is said of many hands at once: the rules of `engine/steps/sizing.py` again. Written
from the rules and not from the engine, so that a test can hold each against the other. Screening
and lock-step replay both ask here. Bets are what lies before a seat in this round.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from engine.followed import EITHER, of_other_kinds, unknown
from engine.game import Game, fingerprint, kept_game
from engine.games import RULESETS
from engine.policies import Policies
from events.cards import DECK, RANKS, Cards
from events.state import Hand
from events.types import BlindPosted, Event
from odds.batch import Showdown
from store.columns.cells import Column

T = TypeVar("T")
Text = Callable[[str], bytes | None]
Rules = Callable[[str], Game | None]


class Rulebook:
    """The program's own rulesets, and those whose text a ledger keeps."""

    def __init__(self, kept: Text) -> None:
        self._kept = kept
        self._known: dict[str, Game | None] = {fingerprint(one): one for one in RULESETS.values()}
        self._found: dict[tuple[str, Callable[[Game], Any]], Any] = {}

    def of(self, mark: str) -> Game | None:
        """The ruleset; None where nobody has its text."""
        if mark not in self._known:
            self._known[mark] = kept_game(self._kept(mark), mark)
        return self._known[mark]

    def showdown(self, mark: str) -> Showdown | None:
        """How its hands compare in columns; None where columns cannot say it."""
        return self.found(mark, comparable)

    def found(self, mark: str, question: Callable[[Game], T]) -> T | None:
        """What is found of a ruleset, once however many hands ask; None of nobody's."""
        if (mark, question) not in self._found:
            game = self.of(mark)
            self._found[mark, question] = None if game is None else question(game)
        return cast(T | None, self._found[mark, question])


# How columns compare hands: not where cards beyond five count. Who has to name five cards can name
# his best.
_COMPARED: dict[str, tuple[object, ...]] = {
    "ranking": ("standard", "urcs", "top_card"),
    "straights": ("standard", "cyclic"),
    "hole_min": (0, 1),
    "announce": ("cards_speak", "announced"),
}


def comparable(game: Policies) -> Showdown | None:
    """How this ruleset ranks hands; None where columns cannot say it."""
    followed = unknown(game, _COMPARED, of_other_kinds("rank")) is None
    return comparison(game) if followed else None


def comparison(game: Policies) -> Showdown:
    """How this ruleset ranks hands, as far as columns can say it."""
    return Showdown(game.straights, game.ranking, game.hole_min)


BLIND_POSITIONS = ("SB", "BB")
STEALING = frozenset({"CO", "BTN", "SB"})
BACKWARDS = ("BTN", "CO", "HJ", "MP")
POSITIONS = (
    "UTG",
    *(f"MP{number}" for number in range(17, 1, -1)),
    *reversed(BACKWARDS),
    *BLIND_POSITIONS,
)


def dealt_in(hand: Hand) -> tuple[int, ...]:
    """Seats with hole cards; all of them, where a hand ended before any were dealt."""
    held = tuple(seat for seat, cards in enumerate(hand.hole) if cards)
    return held or tuple(range(len(hand.hole)))


def positions(hand: Hand, events: Sequence[Event]) -> dict[int, str]:
    """Every seat that was dealt in, and the name of its place."""
    posted = {event.kind: event.seat for event in events if isinstance(event, BlindPosted)}
    last = posted.get("straddle", posted.get("big"))
    chairs, button = len(hand.hole), hand.start.button
    return names(chairs, button, dealt_in(hand), posted.get("small"), last)


def names(
    chairs: int, button: int, seats: Sequence[int], small: int | None, last: int | None
) -> dict[int, str]:
    """The names of these seats' places, by who posted the small and who the last blind.

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
        named[seat] = BACKWARDS[at] if at < len(BACKWARDS) else f"MP{at - 2}"
    if len(backwards) > 2:
        named[backwards[-1]] = "UTG"
    return named


def class_of(cards: Cards) -> str | None:
    """AKs, AKo or AA out of the first two cards; nothing where one is unknown."""
    if len(cards) < 2 or any(card[0] not in RANKS for card in cards[:2]):
        return None
    high, low = sorted(cards[:2], key=lambda card: -RANKS.index(card[0]))
    if high[0] == low[0]:
        return high[0] + low[0]
    return high[0] + low[0] + ("s" if high[1] == low[1] else "o")


@cache
def classes() -> tuple[tuple[str, ...], Column]:
    """Every class, and which one two cards are of; the last number is a card that is unknown."""
    words: dict[str, int] = {}
    by_ranks = np.empty((len(RANKS), len(RANKS), 2), dtype=np.int32)
    for one, other, suited in np.ndindex(by_ranks.shape):
        name = class_of((f"{RANKS[one]}s", f"{RANKS[other]}{'hs'[suited]}"))
        assert name is not None, "both cards are known"
        by_ranks[one, other, suited] = words.setdefault(name, len(words))
    ranks = np.array([RANKS.index(card[0]) for card in DECK])
    suits = np.array([card[1] for card in DECK])
    found = np.full((len(DECK) + 1, len(DECK) + 1), -1, dtype=np.int32)
    found[:-1, :-1] = by_ranks[ranks[:, None], ranks, (suits[:, None] == suits).astype(int)]
    return tuple(words), found.ravel()


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
