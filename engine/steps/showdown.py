"""The showdown: the order in which seats show their cards, and the payment of the pots."""

from collections.abc import Sequence

from msgspec import Struct

from engine.policies import Policies
from engine.pots import pots
from engine.seats import clockwise, contenders
from engine.settle import settle, worth
from engine.steps.deal import unused
from engine.turn import Announce, Command, IllegalCommand, Muck, Show, ToShow
from events.cards import UNKNOWN, Cards
from events.evolve import evolved
from events.state import Hand
from events.types import Announced, Event, Events, Mucked, Shown, StepEntered


class Showdown(Struct, frozen=True, tag=True):
    """Hands are shown, as far as they must be, and every pot is paid."""

    def enter(self, game: Policies, hand: Hand, at: int) -> Events:
        return (StepEntered(at, "showdown"), *_shown_unasked(game, hand))

    def done(self, game: Policies, hand: Hand) -> bool:
        return not waiting(game, hand)

    def turn(self, game: Policies, hand: Hand) -> ToShow:
        """The first to show must; the others may give up, where the ruleset has mucking."""
        may_muck = game.muck != "never" and bool(hand.showing.shown)
        return ToShow(waiting(game, hand)[0], may_muck, game.announce == "announced")

    def decide(self, game: Policies, hand: Hand, command: Command) -> Events:
        """Show, announce or muck, each seat in its turn."""
        question = self.turn(game, hand)
        seat = question.seat
        if not isinstance(command, Show | Muck | Announce):
            raise IllegalCommand(
                f"it is seat {seat}'s turn to show: {type(command).__name__} does not answer that"
            )
        if command.seat != seat:
            raise IllegalCommand(f"it is seat {seat}'s turn to show, not seat {command.seat}'s")
        answer: Events
        if isinstance(command, Announce):
            answer = _announced(game, hand, question, command)
        elif isinstance(command, Muck):
            if not question.may_muck:
                raise IllegalCommand(f"seat {seat} must show its hand: it may not muck")
            answer = (Mucked(seat),)
        else:
            if question.announce:
                raise IllegalCommand(f"seat {seat} must announce the five cards of its hand")
            answer = (Shown(seat, _turned_up(game, hand, seat, command)),)
        return (*answer, *_shown_unasked(game, evolved(hand, answer)))

    def leave(self, game: Policies, hand: Hand) -> Events:
        return settle(game, hand)


def waiting(game: Policies, hand: Hand) -> tuple[int, ...]:
    """Seats that have neither shown nor mucked, in the order of showing."""
    done, standing = (*hand.showing.shown, *hand.showing.mucked), hand.standing
    order = clockwise(hand, _first(game, hand) - 1)
    return tuple([seat for seat in order if standing[seat] != "folded" and seat not in done])


def must_show(game: Policies, hand: Hand, seat: int, shown: Sequence[int]) -> bool:
    """Everybody; or the first one, and every hand that wins or ties some pot so far (T10).

    Where hands are announced nothing happens unasked; where mucking forfeits, only the first
    must show (U20).
    """
    if game.announce == "announced":
        return False
    if game.muck == "never" or not shown:
        return True
    return game.muck == "losers_may" and _leads(game, hand, seat, shown)


def _announced(game: Policies, hand: Hand, question: ToShow, command: Announce) -> Events:
    """Five cards that the seat really has; even if better ones are held, they bind (U19)."""
    seat, cards = command.seat, command.cards
    if not question.announce:
        raise IllegalCommand(f"seat {seat} shows its cards, and cards speak: nothing is announced")
    if len(set(cards)) != 5 or len(cards) != 5:
        raise IllegalCommand(f"seat {seat} must announce five cards, not {' '.join(cards)}")
    if UNKNOWN in cards:
        raise IllegalCommand(f"seat {seat} must announce five cards by name: ?? is none")
    held = hand.hole[seat]
    for card in cards:
        if card not in held and card not in hand.board:
            raise IllegalCommand(
                f"seat {seat} cannot announce {card}: it is neither in its hand nor on the board"
            )
    if sum(card in held for card in cards) < game.hole_min:
        raise IllegalCommand(f"seat {seat} must use at least one of its own cards")
    return (Announced(seat, cards), Shown(seat, held))


def _turned_up(game: Policies, hand: Hand, seat: int, command: Show) -> Cards:
    """The cards that were dealt; one that nobody recorded must be named now."""
    held = hand.hole[seat]
    cards = command.cards or held
    if UNKNOWN in cards:
        raise IllegalCommand(f"seat {seat} must name its cards: they were never recorded")
    if len(cards) != len(held):
        raise IllegalCommand(f"seat {seat} holds {len(held)} cards, not {len(cards)}")
    for was, now in zip(held, cards, strict=True):
        if was not in (now, UNKNOWN):
            raise IllegalCommand(f"seat {seat} holds {was}, not {now}")
    new = tuple(now for was, now in zip(held, cards, strict=True) if was == UNKNOWN)
    unused(game, hand, new)
    return cards


def _first(game: Policies, hand: Hand) -> int:
    """The last to bet or raise shows first, or the first (T9); nobody bet: the first to act."""
    if game.show_first == "last_aggressor" and hand.aggressor is not None:
        return hand.aggressor
    if game.show_first == "first_bettor" and hand.opener is not None:
        return hand.opener
    return hand.start.button if game.first_to_act == "button" else hand.start.button + 1


def _shown_unasked(game: Policies, hand: Hand) -> Events:
    """Hands that must be turned up, until one may be mucked or was never recorded."""
    shown = list(hand.showing.shown)
    events: list[Event] = []
    for seat in waiting(game, hand):
        if UNKNOWN in hand.hole[seat] or not must_show(game, hand, seat, shown):
            break
        events.append(Shown(seat, hand.hole[seat]))
        shown.append(seat)
    return tuple(events)


def _leads(game: Policies, hand: Hand, seat: int, shown: Sequence[int]) -> bool:
    """Whether, for some pot, no hand shown so far beats this one."""
    mine = worth(game, hand, seat)
    if mine is None:
        return True
    for pot in pots(game, hand, contenders(hand)):
        if seat in pot.seats:
            rivals = [worth(game, hand, other) for other in shown if other in pot.seats]
            if all(rival is None or rival <= mine for rival in rivals):
                return True
    return False
