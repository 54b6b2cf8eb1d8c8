"""Bet sizes, and reasons why a seat may not raise, each a small named veto."""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from engine.policies import Policies, Reopen, Sizing
from engine.seats import contenders
from events.state import Hand, Round

Range = tuple[int, int]
Holds = Callable[[Policies, Hand, Round, int], bool]


def raise_range(game: Policies, hand: Hand, betting: Round, seat: int) -> Range:
    """The totals this seat may bet or raise to; a full raise, or all-in for less."""
    ceiling = _CEILING[game.raise_ceiling](hand, betting, seat)
    low, high = _SIZING[game.sizing](game, hand, betting, seat)
    high = min(high, ceiling)
    return min(low, high), high


def is_full(game: Policies, betting: Round, to: int) -> bool:
    """Whether a bet of `to` counts as a full bet or raise, by which the next is measured."""
    if game.sizing == "fixed":
        return _fixed_full(game, betting, to)
    return to >= _least(game, betting)


def _fixed_full(game: Policies, betting: Round, to: int) -> bool:
    """An all-in of at least half a bet counts as a full one under `half_bet` (G9)."""
    if game.reopen == "half_bet":
        return 2 * (to - betting.level) >= betting.size
    return to >= betting.level + betting.size


def _least(game: Policies, betting: Round) -> int:
    """After a short all-in: the last full raise on top of it, or what was due before it (G10)."""
    if game.min_raise_after_short == "last_full_total":
        return betting.least
    return betting.bet + betting.size


def _no_limit(game: Policies, hand: Hand, betting: Round, seat: int) -> Range:
    """At least the last full bet or raise on top of the bet; at most everything (P9, P10)."""
    low = max(_least(game, betting), betting.bet + 1)
    if game.min_raise == "more_than" and betting.bet > 0:
        low += 1
    return low, betting.bets[seat] + hand.stacks[seat]


def _pot_limit(game: Policies, hand: Hand, betting: Round, seat: int) -> Range:
    """At most the pot after calling, on top of the call: 200 + 150 + 150 makes 800 (T15).

    A pot smaller than the smallest bet allows that bet, or an empty side pot would stay empty.
    """
    low, _ = _no_limit(game, hand, betting, seat)
    call = betting.bet - betting.bets[seat]
    pot = _POT_BASE[game.pot_limit_base](hand, betting) + sum(betting.bets) + call
    return low, max(low, betting.bet + pot)


def _fixed(game: Policies, hand: Hand, betting: Round, seat: int) -> Range:
    """One limit on top of the last full bet: 20, 40, 60, 80."""
    to = betting.level + betting.size
    return to, to


_SIZING: dict[Sizing, Callable[[Policies, Hand, Round, int], Range]] = {
    "no_limit": _no_limit,
    "pot_limit": _pot_limit,
    "fixed": _fixed,
}


def _all_pots(hand: Hand, betting: Round) -> int:
    """Everything put in before this round."""
    return hand.pot - sum(betting.bets)


def _active_pot(hand: Hand, betting: Round) -> int:
    """What was put in before this round above the highest stake of a seat already all-in."""
    before = [paid - bet for paid, bet in zip(hand.paid, betting.bets, strict=True)]
    capped = [
        before[seat]
        for seat in contenders(hand)
        if hand.standing[seat] == "all_in" and betting.bets[seat] == 0
    ]
    if not capped:
        return _all_pots(hand, betting)
    return sum(max(paid - max(capped), 0) for paid in before)


_POT_BASE = {"all_pots": _all_pots, "active_pot": _active_pot}


def _own_stack(hand: Hand, betting: Round, seat: int) -> int:
    """Anything up to the stack; what nobody can match goes back (G12)."""
    return betting.bets[seat] + hand.stacks[seat]


def _effective_stack(hand: Hand, betting: Round, seat: int) -> int:
    """Never more than another seat can call (G12)."""
    others = [betting.bets[one] + hand.stacks[one] for one in contenders(hand) if one != seat]
    return min(_own_stack(hand, betting, seat), max(others))


_CEILING = {"own_stack": _own_stack, "effective_stack": _effective_stack}


# Why a seat may not raise.


class Veto(NamedTuple):
    """A reason not to raise: which rulesets know it, when it holds, and the sentence for it."""

    known: Callable[[Policies], bool]
    holds: Holds
    because: Callable[[Policies, Hand, Round, int], str]


def veto(game: Policies, hand: Hand, betting: Round, seat: int) -> str | None:
    """The name of the first reason why this seat may not bet or raise."""
    for name, holds in _known(game):
        if holds(game, hand, betting, seat):
            return name
    return None


@lru_cache(maxsize=1 << 10)
def _known(game: Policies) -> tuple[tuple[str, Holds], ...]:
    """The vetoes of a ruleset, found once: without a cap, no turn checks whether it is reached."""
    return tuple((name, one.holds) for name, one in VETOES.items() if one.known(game))


def _nothing_left(game: Policies, hand: Hand, betting: Round, seat: int) -> bool:
    """A seat that can at most call has nothing to raise with."""
    return hand.stacks[seat] <= betting.bet - betting.bets[seat]


def _nobody_to_answer(game: Policies, hand: Hand, betting: Round, seat: int) -> bool:
    """A raise needs another seat that could put in more than the bet (G7)."""
    for other, standing in enumerate(hand.standing):
        if standing != "live" or other == seat:
            continue
        if betting.bets[other] + hand.stacks[other] > betting.bet:
            return False
    return True


def _capped(game: Policies, hand: Hand, betting: Round, seat: int) -> bool:
    """No raise once the cap is reached (U9, T4)."""
    assert game.raise_cap is not None
    return not _lifted(game, hand, betting) and _counted(game, betting, seat) >= game.raise_cap


def _counted(game: Policies, betting: Round, seat: int) -> int:
    """The raises so far; the bet that opens a round without blinds is counted under `bets`.

    Read "per player", a seat's own bet or blind is followed by as many raises of its own (T4).
    """
    if game.cap_scope == "player":
        return betting.raisers.count(seat) - (seat != betting.poster)
    raises = len(betting.raisers)
    opened_by_bet = betting.poster is None and raises > 0
    return raises - (1 if game.cap_counts == "raises" and opened_by_bet else 0)


def _lifted(game: Policies, hand: Hand, betting: Round) -> bool:
    """Between two players the cap may be lifted: never, from the round's start, or at once."""
    if game.cap_lift == "never":
        return False
    folded_now = 0 if game.cap_lift == "two_remain" else betting.folds
    return len(contenders(hand)) + folded_now == 2


def _not_reopened(game: Policies, hand: Hand, betting: Round, seat: int) -> bool:
    """A seat that has acted may raise again only if the betting was reopened for it (G9)."""
    if betting.matched[seat] < 0:
        return False
    if betting.matched[seat] == 0 and betting.bet < betting.size and game.short_open_reopens:
        return False  # it checked and faces a short opening all-in (G11)
    return not _REOPEN[game.reopen](betting, betting.matched[seat])


def _checked_before(game: Policies, hand: Hand, betting: Round, seat: int) -> bool:
    """With check-raise switched off, who has checked may at first only call or fold (U11)."""
    return betting.matched[seat] == 0 and betting.bet > 0


def _too_short(game: Policies, hand: Hand, betting: Round, seat: int) -> bool:
    """Where no short raise exists, opening and raising need the full limit (U10)."""
    needed = betting.level + betting.size - betting.bets[seat]
    return hand.stacks[seat] < needed


_REOPEN: dict[Reopen, Callable[[Round, int], bool]] = {
    "sum": lambda betting, matched: betting.bet - matched >= betting.size,
    "full_raise": lambda betting, matched: betting.level > matched,
    "always": lambda betting, matched: True,
    "half_bet": lambda betting, matched: (
        betting.level > matched or betting.bet - matched >= betting.size
    ),
}

VETOES: dict[str, Veto] = {
    "nothing_left": Veto(
        lambda game: True,
        _nothing_left,
        lambda game, hand, betting, seat: (
            f"seat {seat} has {hand.stacks[seat]} and owes {betting.bet - betting.bets[seat]}: "
            "nothing is left to raise with"
        ),
    ),
    "nobody_to_answer": Veto(
        lambda game: game.raise_needs_responder,
        _nobody_to_answer,
        lambda game, hand, betting, seat: (
            f"seat {seat} may not raise: no other seat could put in more than {betting.bet}"
        ),
    ),
    "capped": Veto(
        lambda game: game.raise_cap is not None,
        _capped,
        lambda game, hand, betting, seat: (
            f"seat {seat} may not raise: the cap of {game.raise_cap} {game.cap_counts} is reached"
        ),
    ),
    "not_reopened": Veto(
        lambda game: True,
        _not_reopened,
        lambda game, hand, betting, seat: (
            f"seat {seat} may not raise: it matched {betting.matched[seat]}, and the bet of"
            f" {betting.bet} has not been raised by enough since to reopen the betting"
        ),
    ),
    "checked_before": Veto(
        lambda game: not game.check_raise,
        _checked_before,
        lambda game, hand, betting, seat: (
            f"seat {seat} may not raise: it has checked, and check-raising is off"
        ),
    ),
    "too_short": Veto(
        lambda game: game.short_raise == "forbidden",
        _too_short,
        lambda game, hand, betting, seat: (
            f"seat {seat} may not raise: {hand.stacks[seat]} is short of the "
            f"{betting.level + betting.size - betting.bets[seat]} that a full bet needs"
        ),
    ),
}
