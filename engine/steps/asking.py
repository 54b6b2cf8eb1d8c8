"""Who is asked in a round of betting, in which order, and when nobody is asked any more."""

from engine.policies import Policies
from engine.seats import clockwise, is_alone
from events.state import Hand, Round, Standing


def first_asked(game: Policies, hand: Hand, now: Round) -> int | None:
    """Who opens the round; nobody, if nothing could change (G8)."""
    if is_alone(hand):
        return None
    return _owing(game, now, _order(game, hand, now), now.bet, hand.standing)


def next_asked(
    game: Policies, hand: Hand, now: Round, seat: int, amount: int, bet: int, left: Standing
) -> int | None:
    """Who is asked once this seat has put in `amount`, which makes the bet `bet`."""
    standing = list(hand.standing)
    standing[seat] = left
    if left == "folded" and standing.count("folded") == len(standing) - 1:
        return None
    if amount:
        bets = list(now.bets)
        bets[seat] += amount
        now = Round(bets=tuple(bets), matched=now.matched)
    return _owing(game, now, clockwise(hand, seat)[:-1], bet, tuple(standing))


def _order(game: Policies, hand: Hand, now: Round) -> tuple[int, ...]:
    """Left of the last blind; without one, left of the button or the button itself (U6)."""
    if now.poster is not None:
        return clockwise(hand, now.poster)
    button = hand.start.button
    return clockwise(hand, button - 1 if game.first_to_act == "button" else button)


def _owing(
    game: Policies,
    now: Round,
    order: tuple[int, ...],
    bet: int,
    standing: tuple[Standing, ...],
) -> int | None:
    """The first seat in order that owes an answer; nobody is asked when nothing can change (G8)."""
    everybody = game.ask_when_closed and bet == 0
    for seat in order:
        if standing[seat] == "folded" or now.matched[seat] >= bet:
            continue
        if everybody:
            return seat
        if standing[seat] == "live" and not _has_answered(game, now, seat, bet):
            return seat if _matters(now, seat, standing) else None
    return None


def _has_answered(game: Policies, now: Round, seat: int, bet: int) -> bool:
    """A blind that is the whole bet has a last option, except under URCS (U5)."""
    return not game.live_option and bet > 0 and now.bets[seat] == bet


def _matters(now: Round, seat: int, standing: tuple[Standing, ...]) -> bool:
    """A seat that nobody could answer is asked only for chips another seat has really put in."""
    if standing.count("live") > 1:
        return True
    others = (bet for s, bet in enumerate(now.bets) if s != seat and standing[s] != "folded")
    return now.bets[seat] < max(others)
