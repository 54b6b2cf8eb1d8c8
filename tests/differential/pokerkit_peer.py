"""pokerkit at our table: its menus and stacks, our policies that give the same, and its habits.

Index 0 is the seat left of the button; of two, the big blind.
"""

from fractions import Fraction
from functools import cache, lru_cache

from msgspec.structs import replace
from pokerkit import (
    Automation,
    BettingStructure,
    Card,
    CardsLike,
    FixedLimitTexasHoldem,
    Hand,
    NoLimitTexasHoldem,
    StandardHighHand,
)

from engine.games import named
from engine.games.site import at_stakes
from engine.policies import Sizing
from engine.steps.sizing import raise_range, veto
from events.cards import DECK
from tests.differential.lockstep import FOLD, PASS, Kind, Menu, Rules, Spot, raises
from tests.differential.tables import Table

_AUTOMATED = (
    Automation.ANTE_POSTING,
    Automation.BET_COLLECTION,
    Automation.BLIND_OR_STRADDLE_POSTING,
    Automation.HOLE_CARDS_SHOWING_OR_MUCKING,
    Automation.HAND_KILLING,
    Automation.CHIPS_PUSHING,
    Automation.CHIPS_PULLING,
)
_CARD = {card: next(Card.parse(card)) for card in (*DECK, "??")}


class Pokerkit:
    """A state of pokerkit, driven by moves."""

    def __init__(self, sizing: Sizing, table: Table) -> None:
        game = _game(sizing, table.small, table.big, table.ante)
        self._state = game(table.stacks, len(table.stacks))
        for cards in table.holes:
            self._state.deal_hole([_CARD[card] for card in cards])

    def menu(self) -> Menu | None:
        state = self._state
        seat = state.actor_index
        if seat is None:
            return None
        call = state.checking_or_calling_amount
        assert call is not None
        low = state.min_completion_betting_or_raising_to_amount
        high = state.max_completion_betting_or_raising_to_amount
        return Menu(seat, state.can_fold(), call == 0, call, low, high)

    def stacks(self) -> tuple[int, ...]:
        return tuple(self._state.stacks)

    def act(self, move: int) -> None:
        if move == FOLD:
            self._state.fold()
        elif move == PASS:
            self._state.check_or_call()
        else:
            self._state.complete_bet_or_raise_to(move)

    def deal(self, cards: tuple[str, ...]) -> None:
        self._state.burn_card(_CARD["??"])
        self._state.deal_board([_CARD[card] for card in cards])

    def finals(self) -> tuple[Fraction, ...]:
        assert not self._state.status, "pokerkit still waits for something"
        return tuple(Fraction(stack) for stack in self._state.stacks)


class _Remembered(StandardHighHand):
    """pokerkit's own evaluation; it asks for the same hand many times over, we answer once."""

    @classmethod
    def from_game(cls, hole_cards: CardsLike, board_cards: CardsLike = ()) -> Hand:
        return _evaluated(Card.clean(hole_cards), Card.clean(board_cards))


@lru_cache(maxsize=256)
def _evaluated(hole: tuple[Card, ...], board: tuple[Card, ...]) -> Hand:
    return StandardHighHand.from_game(hole, board)


class _NoLimit(NoLimitTexasHoldem):
    hand_types = (_Remembered,)


class _PotLimit(_NoLimit):
    """pokerkit names no pot-limit hold'em, but has everything it is made of."""

    betting_structure = BettingStructure.POT_LIMIT


class _FixedLimit(FixedLimitTexasHoldem):
    hand_types = (_Remembered,)


@cache
def _game(sizing: Sizing, small: int, big: int, ante: int) -> _NoLimit | _FixedLimit:
    if sizing == "fixed":
        return _FixedLimit(_AUTOMATED, True, ante, (small, big), big, 2 * big)
    kind = _NoLimit if sizing == "no_limit" else _PotLimit
    return kind(_AUTOMATED, True, ante, (small, big), big)


_RULESETS: dict[Sizing, str] = {
    "no_limit": "site-nl-standard",
    "pot_limit": "site-pl-standard",
    "fixed": "site-fl-standard",
}
_HABITS: dict[str, object] = {
    "short_blind": "actual",
    "short_open_reopens": True,
    "odd_chips": "first_seat",
    "odd_scope": "total",
}
_LIMIT_HABITS: dict[str, object] = {
    "reopen": "sum",
    "cap_counts": "bets",
    "cap_lift": "never",
}
_ALL_SHOW: dict[str, object] = {"show_first": "all_shown", "muck": "never"}


@cache
def rules(sizing: Sizing, small: int, big: int, ante: int) -> Rules:
    """Our ruleset of that sizing, with pokerkit's habits as far as policies name them."""
    high = 2 * big if sizing == "fixed" else big
    ours = at_stakes(named(_RULESETS[sizing]), small, big, high, ante)
    habits = _HABITS | (_LIMIT_HABITS if sizing == "fixed" else {})
    return Rules.of(replace(ours, **_ALL_SHOW, **habits), ours, habits)


# What no policy names.


def _asks_for_a_check(spot: Spot) -> bool:
    """A blind that only all-in seats have called is asked, and may only check (G8)."""
    theirs = spot.theirs
    if spot.ours is not None or theirs is None or not theirs.check or theirs.low is not None:
        return False
    live = [seat for seat, standing in enumerate(spot.hand.standing) if standing == "live"]
    return live == [theirs.seat] and spot.hand.forced[theirs.seat] > 0 and not spot.hand.board


def _blinds_are_no_raise(spot: Spot) -> bool:
    """Until a full raise is made, short ones are measured by the largest of them alone (G9).

    So a seat that limped may raise again behind an all-in for a chip more.
    """
    if spot.ours is None or spot.theirs is None or spot.hand.round is None:
        return False
    if spot.hand.round.matched[spot.ours.seat] <= 0:
        return False  # it has not acted, or has checked (G11)
    why = veto(spot.game, spot.hand, spot.hand.round, spot.ours.seat)
    if why != "not_reopened" or any(
        added >= spot.hand.round.size for added, _ in raises(spot.record)
    ):
        return False
    low, high = _on_top(spot)
    return spot.theirs == spot.ours._replace(low=low, high=high)


def _forgets_short_raises(spot: Spot) -> bool:
    """Short all-ins that added up to a raise are forgotten; the next one closes again (G9)."""
    if spot.ours is None or spot.ours.low is None or spot.hand.round is None:
        return False
    if spot.hand.round.matched[spot.ours.seat] < 0:
        return False
    largest, running, forgotten = 0, 0, False
    for added, event in raises(spot.record):
        largest = max(largest, added)
        running = running + added if spot.hand.standing[event.seat] == "all_in" else 0
        if running >= largest:
            running, forgotten = 0, True
    denied = spot.ours._replace(low=None, high=None)
    return forgotten and running > 0 and spot.theirs == denied


def _raises_on_top_of_a_short_bet(spot: Spot) -> bool:
    """A limit raise is a whole bet on top of a short all-in, which is never completed (G9)."""
    now = spot.hand.round
    if spot.game.sizing != "fixed" or spot.ours is None or now is None or now.bet == now.level:
        return False
    low, high = _on_top(spot)
    return spot.ours.low is not None and spot.theirs == spot.ours._replace(low=low, high=high)


def _counts_short_raises_for_the_cap(spot: Spot) -> bool:
    """Every all-in is one of the four bets, however small (G9, T4)."""
    now, cap = spot.hand.round, spot.game.raise_cap
    if spot.ours is None or spot.ours.low is None or now is None or cap is None:
        return False
    denied = spot.ours._replace(low=None, high=None)
    return len(now.raisers) < cap <= len(raises(spot.record)) and spot.theirs == denied


def _on_top(spot: Spot) -> tuple[int, int]:
    """A full raise on top of whatever the bet is now, or all-in for less."""
    now, ours = spot.hand.round, spot.ours
    assert now is not None
    assert ours is not None
    low, high = raise_range(spot.game, spot.hand, now, ours.seat)
    if spot.game.sizing != "fixed":
        return low, high
    to = min(now.bet + now.size, now.bets[ours.seat] + spot.hand.stacks[ours.seat])
    return to, to


KINDS = (
    Kind("a lone blind is asked to check", _asks_for_a_check),
    Kind("blinds are no raise to measure by", _blinds_are_no_raise),
    Kind("short raises that added up are forgotten", _forgets_short_raises),
    Kind("limit: raised on top of a short bet", _raises_on_top_of_a_short_bet),
    Kind("limit: short raises count for the cap", _counts_short_raises_for_the_cap),
)
