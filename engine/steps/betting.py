"""A betting round: the seat to act, its legal answers, and the end of the round.

And a board that grows on while its last card is red: a card, a round of betting, and again.
"""

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from engine.policies import Policies
from engine.pots import stakes
from engine.seats import contenders, first_to_act, is_alone, next_to_act
from engine.steps.deal import DealBoard
from engine.steps.sizing import VETOES, is_full, raise_range, veto
from engine.turn import Call, Check, Command, Fold, IllegalCommand, Raise, TimeOut, ToAct, ToDeal
from events.evolve import evolved, round_of
from events.state import Hand, Round, Standing
from events.types import (
    Bet,
    BettingOpened,
    Called,
    Checked,
    Events,
    Folded,
    Origin,
    Raised,
    Shown,
    StepEntered,
    TimedOut,
    UncalledReturned,
)


class Betting(Struct, frozen=True, tag=True):
    """A round of betting named by its street; `size` is its limit, or its smallest bet."""

    street: str
    size: int

    def enter(self, game: Policies, hand: Hand, at: int) -> Events:
        """The round opens on top of its blinds, unless nothing can change (G8)."""
        betting = round_of(hand)
        first = first_to_act(game, hand, betting)
        if first is None:
            return ()
        return (BettingOpened(at, self.street, betting.bet, self.size, first),)

    def done(self, game: Policies, hand: Hand) -> bool:
        """Over when nobody is left to answer."""
        return hand.round is None or hand.round.next is None

    def turn(self, game: Policies, hand: Hand) -> ToAct:
        """The legal actions of the next seat."""
        betting, seat = _waiting(hand)
        owed = betting.bet - betting.bets[seat]
        call = min(owed, hand.stacks[seat])
        fold = owed > 0 or game.fold_when_free
        why = veto(game, hand, betting, seat)
        if why:
            return ToAct(seat, fold, owed == 0, call, veto=why)
        low, high = raise_range(game, hand, betting, seat)
        return ToAct(seat, fold, owed == 0, call, low, high)

    def decide(self, game: Policies, hand: Hand, command: Command) -> Events:
        """The event of an answer, or the sentence why it is refused."""
        betting, seat = _waiting(hand)
        answer = _ANSWERS.get(type(command))
        if answer is None:
            raise IllegalCommand(
                f"it is seat {seat}'s turn to act: {type(command).__name__} does not answer that"
            )
        seat_of_command = getattr(command, "seat", seat)
        if seat_of_command != seat:
            raise IllegalCommand(f"it is seat {seat}'s turn to act, not seat {seat_of_command}'s")
        return answer(game, hand, betting, command)

    def leave(self, game: Policies, hand: Hand) -> Events:
        """What nobody matched goes back; then all-in hands are turned up, if they are (G16)."""
        return (*_uncalled(game, hand), *_face_up(game, hand))


def _uncalled(game: Policies, hand: Hand) -> Events:
    """The part of the last bet that nobody matched goes back (G4)."""
    if game.uncalled == "in_pot":
        return ()
    put_in = stakes(game, hand)
    most = max(put_in)
    if put_in.count(most) > 1:
        return ()
    matched = sorted(put_in)[-2]
    return (UncalledReturned(put_in.index(most), most - matched),)


def _face_up(game: Policies, hand: Hand) -> Events:
    """Once nobody can bet any more, all hands that are still in (WSOP-T 70)."""
    if not game.all_in_face_up or is_alone(hand) or hand.standing.count("live") > 1:
        return ()
    hidden = (seat for seat in contenders(hand) if seat not in hand.showing.shown)
    return tuple(Shown(seat, hand.hole[seat]) for seat in hidden)


def _time_out(game: Policies, hand: Hand, betting: Round, command: TimeOut) -> Events:
    """The clock has run out: all-in for what the seat has paid, or the cheapest answer (C1, C3)."""
    seat = command.seat
    if game.time_out in ("none", "bot_default"):
        raise IllegalCommand(f"seat {seat} cannot run out of time: this ruleset has no clock")
    if game.time_out == "all_in_if_paid" and has_contributed(game, hand, seat):
        following = next_to_act(game, hand, betting, seat, 0, betting.bet, "all_in")
        return (TimedOut(seat, True, following),)
    late = TimedOut(seat, False, seat)
    if game.time_out == "fold_or_check" and betting.bet == betting.bets[seat]:
        following = next_to_act(game, hand, betting, seat, 0, betting.bet, "live")
        return (late, Checked(seat, following, "default"))
    following = next_to_act(game, hand, betting, seat, 0, betting.bet, "folded")
    return (late, Folded(seat, following, "default"))


def has_contributed(game: Policies, hand: Hand, seat: int) -> bool:
    """Some money in the pot: blinds and antes count, unless only what was chosen does (C2)."""
    return hand.paid[seat] > 0 if game.contributed == "any" else _chosen(hand, seat) > 0


def _fold(game: Policies, hand: Hand, betting: Round, command: Fold) -> Events:
    """The cards go back; a check that costs nothing is no reason to fold, unless allowed (T6)."""
    seat = command.seat
    if betting.bet == betting.bets[seat] and not game.fold_when_free:
        raise IllegalCommand(f"seat {seat} owes nothing: it may check, folding is not offered")
    following = next_to_act(game, hand, betting, seat, 0, betting.bet, "folded")
    return (Folded(seat, following, command.origin),)


def folded_all_in(game: Policies, hand: Hand, command: Fold) -> Folded | None:
    """The fold of a seat whose blinds and antes put it all-in, if that gives up its claim (G8).

    Nobody waits for it, so it may come as soon as cards are dealt, until the board is.
    """
    seat = command.seat
    if (
        game.forced_all_in == "stays_in"
        or not 0 <= seat < len(hand.stacks)
        or not is_forced_all_in(hand, seat)
        or hand.board
        or not hand.hole[seat]
    ):
        return None
    betting = round_of(hand)
    left = sum(standing != "folded" for standing in hand.standing) - 1
    return Folded(seat, betting.next if left > 1 else None, command.origin)


def is_forced_all_in(hand: Hand, seat: int) -> bool:
    """Whether a seat is all-in and chose none of the chips that it has put in."""
    return hand.standing[seat] == "all_in" and not hand.stacks[seat] and not _chosen(hand, seat)


def _chosen(hand: Hand, seat: int) -> int:
    """Chips of a seat in the middle that no ante and no blind took."""
    return hand.paid[seat] + hand.dead[seat] - hand.forced[seat]


def _check(game: Policies, hand: Hand, betting: Round, command: Check) -> Events:
    """Nothing to match: the turn passes."""
    seat = command.seat
    owed = betting.bet - betting.bets[seat]
    if owed > 0:
        raise IllegalCommand(f"seat {seat} owes {owed}: it may not check")
    alone = not game.fold_when_free and veto(game, hand, betting, seat) is not None
    origin: Origin = "forced" if alone and command.origin == "chosen" else command.origin
    following = next_to_act(game, hand, betting, seat, 0, betting.bet, hand.standing[seat])
    return (Checked(seat, following, origin),)


def _call(game: Policies, hand: Hand, betting: Round, command: Call) -> Events:
    """The bet is matched, or as much of it as there is."""
    seat = command.seat
    owed = betting.bet - betting.bets[seat]
    if owed == 0:
        raise IllegalCommand(f"seat {seat} owes nothing: it may check, there is nothing to call")
    amount = min(owed, hand.stacks[seat])
    left: Standing = "all_in" if amount == hand.stacks[seat] else "live"
    following = next_to_act(game, hand, betting, seat, amount, betting.bet, left)
    return (Called(seat, amount, following, command.origin),)


def _raise(game: Policies, hand: Hand, betting: Round, command: Raise) -> Events:
    """A bet or raise within the limits, by a seat that nothing forbids it."""
    seat, to = command.seat, command.to
    why = veto(game, hand, betting, seat)
    if why is not None:
        raise IllegalCommand(VETOES[why].because(game, hand, betting, seat))
    low, high = raise_range(game, hand, betting, seat)
    if not low <= to <= high:
        verb = "raise to" if betting.bet else "bet"
        raise IllegalCommand(f"seat {seat} may {verb} {low}..{high}, not {to}")
    amount = to - betting.bets[seat]
    left: Standing = "all_in" if amount == hand.stacks[seat] else "live"
    following = next_to_act(game, hand, betting, seat, amount, to, left)
    full = is_full(game, betting, to)
    if betting.bet == 0:
        return (Bet(seat, amount, full, following, command.origin),)
    return (Raised(seat, amount, to, full, following, command.origin),)


def sentence(game: Policies, hand: Hand, turn: ToAct) -> str | None:
    """Why the seat may not raise, in words; built only when somebody reads it."""
    betting, seat = _waiting(hand)
    return VETOES[turn.veto].because(game, hand, betting, seat) if turn.veto else None


def _waiting(hand: Hand) -> tuple[Round, int]:
    betting = hand.round
    assert betting is not None
    assert betting.next is not None
    return betting, betting.next


_ANSWERS: dict[type[Command], Callable[[Policies, Hand, Round, Any], Events]] = {
    Fold: _fold,
    Check: _check,
    Call: _call,
    Raise: _raise,
    TimeOut: _time_out,
}
_RUN = "run"  # the street of each of its cards
_RED = ("d", "h")


class Run(Struct, frozen=True, tag=True):
    """Streets of one card each, until a black one has come and been bet on (V1)."""

    size: int

    def enter(self, game: Policies, hand: Hand, at: int) -> Events:
        return (StepEntered(at, _RUN),) if _goes_on(hand) else ()

    def done(self, game: Policies, hand: Hand) -> bool:
        return not _goes_on(hand) and self._betting.done(game, hand)

    def turn(self, game: Policies, hand: Hand) -> ToAct | ToDeal:
        """The card of a street that has been entered, then the seat that has to act on it."""
        if hand.round is None:
            return _card(hand).turn(game, hand)
        return self._betting.turn(game, hand)

    def decide(self, game: Policies, hand: Hand, command: Command) -> Events:
        """A card opens its round; the last answer of a round enters the next street."""
        at = hand.step
        if hand.round is None:
            events = _card(hand).decide(game, hand, command)
            hand = evolved(hand, events)
            opened = self._betting.enter(game, hand, at)
            events, hand = (*events, *opened), evolved(hand, opened)
        else:
            events = self._betting.decide(game, hand, command)
            hand = evolved(hand, events)
        if not self._betting.done(game, hand) or is_alone(hand) or not _goes_on(hand):
            return events
        return (*events, *self._betting.leave(game, hand), StepEntered(at, _RUN))

    def leave(self, game: Policies, hand: Hand) -> Events:
        return self._betting.leave(game, hand) if hand.street == _RUN else ()

    @property
    def _betting(self) -> Betting:
        return Betting(_RUN, self.size)


def _goes_on(hand: Hand) -> bool:
    """Whether the last card of the board is red; one that nobody recorded is taken to be none."""
    return any(card[1] in _RED for card in hand.board[-1:])


def _card(hand: Hand) -> DealBoard:
    return DealBoard(len(hand.board) + 1)
