"""One round of betting: who is asked, what he may answer, and when the round is over."""

from msgspec import Struct

from engine.policies import Policies
from engine.pots import stakes
from engine.seats import clockwise, contenders
from engine.steps.sizing import VETOES, is_full, raise_range, veto
from engine.turn import Call, Check, Command, Fold, IllegalCommand, Raise, TimeOut, ToAct
from events.state import Hand, Round, Standing
from events.types import (
    Bet,
    BettingOpened,
    Called,
    Checked,
    Event,
    Events,
    Folded,
    Origin,
    Raised,
    Shown,
    TimedOut,
    UncalledReturned,
)


class Betting(Struct, frozen=True, tag=True):
    """A round of betting named by its street; `size` is its limit, or its smallest bet."""

    street: str
    size: int

    def enter(self, game: Policies, hand: Hand, at: int) -> Events:
        """The round opens on top of its blinds, unless nothing can change (G8)."""
        now = hand.round or _empty(hand)
        first = _owing(game, hand, now, _order(game, hand, now), now.bet, hand.standing)
        if first is None:
            return ()
        return (BettingOpened(at, self.street, now.bet, self.size, first),)

    def done(self, game: Policies, hand: Hand) -> bool:
        """Over when nobody is left to answer."""
        return hand.round is None or hand.round.next is None

    def turn(self, game: Policies, hand: Hand) -> ToAct:
        """What the next seat may do."""
        now, seat = _waiting(hand)
        owed = now.bet - now.bets[seat]
        call = min(owed, hand.stacks[seat])
        fold = owed > 0 or game.fold_when_free
        why = veto(game, hand, now, seat)
        if why:
            return ToAct(seat, fold, owed == 0, call, veto=why)
        low, high = raise_range(game, hand, now, seat)
        return ToAct(seat, fold, owed == 0, call, low, high)

    def decide(self, game: Policies, hand: Hand, command: Command) -> Events:
        """The event that this answer makes, or the sentence why it is refused."""
        now, seat = _waiting(hand)
        if isinstance(command, TimeOut) and command.seat == seat:
            return timed_out(game, hand, seat)
        if not isinstance(command, Fold | Check | Call | Raise | TimeOut):
            raise IllegalCommand(
                f"it is seat {seat}'s turn to act: {type(command).__name__} does not answer that"
            )
        if command.seat != seat:
            raise IllegalCommand(f"it is seat {seat}'s turn to act, not seat {command.seat}'s")
        match command:
            case Fold():
                return (_fold(game, hand, now, command),)
            case Check():
                return (_check(game, hand, now, command),)
            case Call():
                return (_call(game, hand, now, command),)
            case Raise():
                return (_raise(game, hand, now, command),)
            case TimeOut():
                raise AssertionError("a clock that ran out is answered above")

    def leave(self, game: Policies, hand: Hand) -> Events:
        """What nobody matched goes back; then all-in hands are turned up, if they are (G16)."""
        return (*_uncalled(game, hand), *_face_up(game, hand))


def _uncalled(game: Policies, hand: Hand) -> Events:
    """The part of the last bet that nobody matched goes back (G4)."""
    if game.uncalled == "in_pot":
        return ()
    put_in = stakes(game, hand)
    top = max(range(len(put_in)), key=put_in.__getitem__)
    matched = max(paid for seat, paid in enumerate(put_in) if seat != top)
    return (UncalledReturned(top, put_in[top] - matched),) if put_in[top] > matched else ()


def _face_up(game: Policies, hand: Hand) -> Events:
    """Once nobody can bet any more, all hands that are still in (WSOP-T 70)."""
    stay = contenders(hand)
    if not game.all_in_face_up or len(stay) == 1 or hand.standing.count("live") > 1:
        return ()
    hidden = (seat for seat in stay if seat not in hand.showing.shown)
    return tuple(Shown(seat, hand.hole[seat]) for seat in hidden)


def timed_out(game: Policies, hand: Hand, seat: int) -> Events:
    """The clock has run out: all-in for what the seat has paid, or the cheapest answer (C1, C3)."""
    now, _ = _waiting(hand)
    if game.time_out in ("none", "bot_default"):
        raise IllegalCommand(f"seat {seat} cannot run out of time: this ruleset has no clock")
    if game.time_out == "all_in_if_paid" and _has_contributed(game, hand, seat):
        asked = _after(game, hand, now, seat, 0, now.bet, "all_in")
        return (TimedOut(seat, True, asked),)
    late = TimedOut(seat, False, seat)
    if game.time_out == "fold_or_check" and now.bet == now.bets[seat]:
        asked = _after(game, hand, now, seat, 0, now.bet, "live")
        return (late, Checked(seat, asked, "default"))
    return (late, Folded(seat, _after(game, hand, now, seat, 0, now.bet, "folded"), "default"))


def _has_contributed(game: Policies, hand: Hand, seat: int) -> bool:
    """Some money in the pot: blinds and antes count, unless only what was chosen does (C2)."""
    chosen = hand.paid[seat] + hand.dead[seat] - hand.forced[seat]
    return hand.paid[seat] > 0 if game.contributed == "any" else chosen > 0


def _fold(game: Policies, hand: Hand, now: Round, command: Fold) -> Event:
    """The cards go back; a check that costs nothing is no reason to fold, unless allowed (T6)."""
    seat = command.seat
    if now.bet == now.bets[seat] and not game.fold_when_free:
        raise IllegalCommand(f"seat {seat} owes nothing: it may check, folding is not offered")
    return Folded(seat, _after(game, hand, now, seat, 0, now.bet, "folded"), command.origin)


def _check(game: Policies, hand: Hand, now: Round, command: Check) -> Event:
    """Nothing to match: the turn passes."""
    seat = command.seat
    owed = now.bet - now.bets[seat]
    if owed > 0:
        raise IllegalCommand(f"seat {seat} owes {owed}: it may not check")
    alone = not game.fold_when_free and veto(game, hand, now, seat) is not None
    origin: Origin = "forced" if alone and command.origin == "chosen" else command.origin
    return Checked(seat, _after(game, hand, now, seat, 0, now.bet, hand.standing[seat]), origin)


def _call(game: Policies, hand: Hand, now: Round, command: Call) -> Event:
    """The bet is matched, or as much of it as there is."""
    seat = command.seat
    owed = now.bet - now.bets[seat]
    if owed == 0:
        raise IllegalCommand(f"seat {seat} owes nothing: it may check, there is nothing to call")
    amount = min(owed, hand.stacks[seat])
    left: Standing = "all_in" if amount == hand.stacks[seat] else "live"
    return Called(
        seat, amount, _after(game, hand, now, seat, amount, now.bet, left), command.origin
    )


def _raise(game: Policies, hand: Hand, now: Round, command: Raise) -> Event:
    """A bet or raise within the limits, by a seat that nothing forbids it."""
    seat, to = command.seat, command.to
    why = veto(game, hand, now, seat)
    if why is not None:
        raise IllegalCommand(VETOES[why].because(game, hand, now, seat))
    low, high = raise_range(game, hand, now, seat)
    if not low <= to <= high:
        verb = "raise to" if now.bet else "bet"
        raise IllegalCommand(f"seat {seat} may {verb} {low}..{high}, not {to}")
    amount = to - now.bets[seat]
    left: Standing = "all_in" if amount == hand.stacks[seat] else "live"
    asked = _after(game, hand, now, seat, amount, to, left)
    full = is_full(game, now, to)
    if now.bet == 0:
        return Bet(seat, amount, full, asked, command.origin)
    return Raised(seat, amount, to, full, asked, command.origin)


def sentence(game: Policies, hand: Hand, turn: ToAct) -> str | None:
    """Why the seat may not raise, in words; built only when somebody reads it."""
    now, seat = _waiting(hand)
    return VETOES[turn.veto].because(game, hand, now, seat) if turn.veto else None


def _waiting(hand: Hand) -> tuple[Round, int]:
    now = hand.round
    assert now is not None
    assert now.next is not None
    return now, now.next


def _empty(hand: Hand) -> Round:
    seats = len(hand.stacks)
    return Round(bets=(0,) * seats, matched=(-1,) * seats)


def _order(game: Policies, hand: Hand, now: Round) -> tuple[int, ...]:
    """Left of the last blind; without one, left of the button or the button itself (U6)."""
    if now.poster is not None:
        return clockwise(hand, now.poster)
    button = hand.start.button
    return clockwise(hand, button - 1 if game.first_to_act == "button" else button)


def _after(
    game: Policies, hand: Hand, now: Round, seat: int, amount: int, bet: int, left: Standing
) -> int | None:
    """Who is asked once this seat has put in `amount`, which makes the bet `bet`."""
    standing = list(hand.standing)
    standing[seat] = left
    if amount:
        bets = list(now.bets)
        bets[seat] += amount
        now = Round(bets=tuple(bets), matched=now.matched)
    return _owing(game, hand, now, clockwise(hand, seat)[:-1], bet, tuple(standing))


def _owing(
    game: Policies,
    hand: Hand,
    now: Round,
    order: tuple[int, ...],
    bet: int,
    standing: tuple[Standing, ...],
) -> int | None:
    """The first seat in order that owes an answer; nobody is asked when nothing can change (G8)."""
    everybody = game.ask_when_closed and bet == 0
    if standing.count("folded") == len(standing) - 1:
        return None
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
