"""The house's cut: how much of which pot (R1 to R6)."""

from itertools import pairwise

from engine.policies import Policies, Rake
from events.state import Hand


def rakes(game: Policies, hand: Hand, pots: tuple[int, ...]) -> tuple[int, ...]:
    """What the house takes of each pot; nothing of a hand without a flop (R3)."""
    rule = game.rake
    if rule is None or (rule.no_flop_no_drop and len(hand.board) < 3):
        return (0,) * len(pots)
    cap = _cap(rule, len(hand.stacks))
    if rule.scope == "pot":
        return tuple(taken_of(rule, pot, cap) for pot in pots)
    if game.rake_pots == "proportional":
        return _proportional(taken_of(rule, sum(pots), cap), pots)
    return _outwards(rule, pots, cap)


def taken_of(rule: Rake, pot: int, cap: int | None) -> int:
    """The rate of a pot, rounded and cut by the cap (R1, R2)."""
    if rule.rounding == "incremental":
        taken = pot // rule.increment * (rule.increment * rule.percent // rule.of)
    else:
        taken, rest = divmod(pot * rule.percent, rule.of)
        if rule.rounding == "ceil":
            taken += rest > 0
        elif rule.rounding != "floor":  # half to even
            taken += 2 * rest > rule.of or (2 * rest == rule.of and taken % 2 == 1)
    return taken if cap is None else min(taken, cap)


def _cap(rule: Rake, players: int) -> int | None:
    """By players dealt in, not by those who saw the flop (R2)."""
    reached = [cap for least, cap in sorted(rule.caps_by_players) if players >= least]
    return reached[-1] if reached else None


def _outwards(rule: Rake, pots: tuple[int, ...], cap: int | None) -> tuple[int, ...]:
    """Pot k bears what the rule takes of the first k together, less what the former bore (R5)."""
    taken = [0]
    for count in range(1, len(pots) + 1):
        taken.append(taken_of(rule, sum(pots[:count]), cap))
    return tuple(after - before for before, after in pairwise(taken))


def _proportional(total: int, pots: tuple[int, ...]) -> tuple[int, ...]:
    """In proportion to the pots, the largest remainder first (R5)."""
    whole = sum(pots)
    shares = [total * pot // whole for pot in pots]
    by_rest = sorted(range(len(pots)), key=lambda pot: -(total * pots[pot] % whole))
    for pot in by_rest[: total - sum(shares)]:
        shares[pot] += 1
    return tuple(shares)
