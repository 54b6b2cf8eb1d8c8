"""One hand between two bots: what they are asked, what becomes of replies, what is played instead.

A bot that replies nothing usable gets the default answer, and its raw reply stands in the record
right before it.
"""

from dealer.deck import Deck
from dealer.wire.plan import Plan
from dealer.wire.player import Answering, Reply
from dealer.wire.words import (
    Asked,
    Telling,
    acknowledgement_fault,
    command,
    default,
    tongue_of,
)
from engine.hand import begin, step, turn
from engine.turn import IllegalCommand, Over, Show, ToAct, ToBid, ToDeal, ToShow, ToSwap
from events.evolve import evolve
from events.state import Hand
from events.types import Event, Events, Faulted, FaultKind, FaultPlace

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
        self._opening = begin(match.game, hand_id, button, match.players, stacks)

    def play(self) -> Events:
        """From the blinds to the last acknowledgement."""
        game = self._game
        hand = self._kept(self._opening)
        while True:
            asked = turn(game, hand)
            match asked:
                case ToAct() | ToBid():
                    hand = self._answered(asked, hand)
                case ToDeal():
                    hand = self._kept(step(game, hand, self._deck.deal(asked)))
                case ToSwap():
                    hand = self._kept(step(game, hand, self._deck.swap(asked)))
                case ToShow(seat=seat):  # hands are always shown
                    hand = self._kept(step(game, hand, Show(seat)))
                case Over():
                    break
                case _:
                    raise AssertionError(f"nobody answers {asked}")
        for seat in (hand.start.button, 1 - hand.start.button):
            self._acknowledged(seat)
        return tuple(self._record)

    def _answered(self, asked: Asked, hand: Hand) -> Hand:
        """What the bot's answer makes, or the default; a fault is written before it."""
        seat = asked.seat
        sealed = self._seals(asked)
        reply = self._players[seat].ask(self._telling.take(seat))
        if reply is not None:
            answer = None if reply.fault else command(self._tongue, asked, reply.text, sealed)
            kind = reply.fault or "malformed"
            if answer is not None:
                try:
                    return self._kept(step(self._game, hand, answer))
                except IllegalCommand:
                    kind = "illegal"
            hand = self._fault(hand, asked, reply, kind)
        return self._kept(step(self._game, hand, default(asked, sealed)))

    def _kept(self, stepped: tuple[Events, Hand]) -> Hand:
        """This happened: it is recorded, and told."""
        events, hand = stepped
        self._record += events
        self._telling.tell(events, hand)
        return hand

    def _seals(self, asked: Asked) -> bool:
        """Nobody bids after the last bid, so only the first can be shown too early (A1)."""
        if isinstance(asked, ToBid):
            self._bids += 1
        return not self._open_bids or self._bids != 1

    def _fault(self, hand: Hand, asked: Asked, reply: Reply, kind: FaultKind) -> Hand:
        where: FaultPlace = "bid" if isinstance(asked, ToBid) else "action"
        fault = Faulted(asked.seat, reply.text, kind, where)
        self._record.append(fault)
        return evolve(hand, fault)

    def _acknowledged(self, seat: int) -> None:
        """The end of the hand is told, and must be answered too."""
        reply = self._players[seat].ask(self._telling.take(seat))
        if reply is None:
            return
        kind = reply.fault or acknowledgement_fault(self._tongue, reply.text)
        if kind is not None:
            self._record.append(Faulted(seat, reply.text, kind, "acknowledgement"))
