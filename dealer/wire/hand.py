"""One hand between two bots: what they are asked, what becomes of replies, what is played instead.

A bot that replies nothing usable gets the default answer, and its raw reply stands in the record
right before it.
"""

from collections.abc import Callable

from dealer.deck import Deck
from dealer.wire.connection import idle
from dealer.wire.plan import Plan
from dealer.wire.player import Answering, Reply
from dealer.wire.words import (
    Asked,
    Telling,
    acknowledgement_fault,
    command,
    default,
    plain,
    tongue_of,
)
from engine.hand import begin, step, turn
from engine.turn import IllegalCommand, Show, ToAct, ToBid, ToDeal, ToShow, ToSwap
from events.evolve import evolve
from events.state import Hand
from events.types import Event, Events, Faulted, FaultPlace

Pair = tuple[Answering, Answering]


class WireHand:
    """One hand being played: its record, and what each bot must still be told."""

    def __init__(self, match: Plan, players: Pair, number: int, deck: Deck) -> None:
        self._game, self._tongue = match.game, tongue_of(match.game)
        self._players, self._deck = players, deck
        self._open_bids = match.open_bids
        self._telling = Telling(self._tongue)
        self._record: list[Event] = []
        self._bids = 0
        stacks = (match.game.stack, match.game.stack)
        hand_id, button = f"{match.match}/{number}", 1 - number % 2
        opened = begin(match.game, hand_id, button, match.players, stacks)
        self._opening = self._next(self._kept(opened))

    def play(self, meanwhile: Callable[[], None] = idle) -> Events:
        """From the blinds to the last acknowledgement; `meanwhile` the bots think about that."""
        seat, hand = self._opening
        while seat is not None:
            seat, hand = self._next(self._answered(seat, hand))
        self._acknowledged(hand.start.button, meanwhile)
        self._acknowledged(1 - hand.start.button, idle)
        return tuple(self._record)

    def _next(self, hand: Hand) -> tuple[int | None, Hand]:
        """Who is asked now, if anybody: cards are dealt, swapped and, at the end, always shown."""
        game = self._game
        while not hand.over:
            if hand.round is not None and hand.round.next is not None:
                return hand.round.next, hand
            asked = turn(game, hand)
            match asked:
                case ToBid(seat=seat):
                    self._bids += 1
                    return seat, hand
                case ToDeal():
                    hand = self._kept(step(game, hand, self._deck.deal(asked)))
                case ToSwap():
                    hand = self._kept(step(game, hand, self._deck.swap(asked)))
                case ToShow(seat=seat):
                    hand = self._kept(step(game, hand, Show(seat)))
                case _:
                    raise AssertionError(f"nobody answers {asked}")
        return None, hand

    def _answered(self, seat: int, hand: Hand) -> Hand:
        """What the bot's answer makes, or the default; a fault is written before it.

        What it could have answered is looked up only for an answer that is of no use.
        """
        # Nobody bids after the last bid, so only the first can be shown too early (A1).
        sealed = not self._open_bids or self._bids != 1
        reply = self._players[seat].ask(self._telling.take(seat))
        if reply is not None and not reply.fault:
            answer = plain(self._tongue, seat, reply.text, sealed)
            if answer is not None:
                try:
                    return self._kept(step(self._game, hand, answer))
                except IllegalCommand:
                    pass
        asked = turn(self._game, hand)
        assert isinstance(asked, ToAct | ToBid)
        if reply is not None:
            hand = self._fault(hand, asked, reply, sealed)
        return self._kept(step(self._game, hand, default(asked, sealed)))

    def _kept(self, stepped: tuple[Events, Hand]) -> Hand:
        """This happened: it is recorded, and told."""
        events, hand = stepped
        self._record += events
        self._telling.tell(events, hand)
        return hand

    def _fault(self, hand: Hand, asked: Asked, reply: Reply, sealed: bool) -> Hand:
        meant = command(self._tongue, asked, reply.text, sealed)
        kind = reply.fault or ("malformed" if meant is None else "illegal")
        where: FaultPlace = "bid" if isinstance(asked, ToBid) else "action"
        fault = Faulted(asked.seat, reply.text, kind, where)
        self._record.append(fault)
        return evolve(hand, fault)

    def _acknowledged(self, seat: int, meanwhile: Callable[[], None]) -> None:
        """The end of the hand is told, and must be answered too."""
        reply = self._players[seat].ask(self._telling.take(seat), meanwhile)
        if reply is None:
            return
        kind = reply.fault or acknowledgement_fault(self._tongue, reply.text)
        if kind is not None:
            self._record.append(Faulted(seat, reply.text, kind, "acknowledgement"))
