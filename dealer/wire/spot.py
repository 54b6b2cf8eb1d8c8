"""From one question to the next: what a reply makes of a hand, as a function of both.

Nothing here asks, waits or remembers. So a reply may be tried before it has come, and what it
would lead to is simply dropped if another comes.
"""

from typing import NamedTuple

from dealer.deck import Deck
from dealer.wire.plan import Plan
from dealer.wire.player import Reply
from dealer.wire.words import Asked, Telling, command, default, plain, tongue_of
from engine.hand import begin, step, turn
from engine.turn import Command, IllegalCommand, Show, ToAct, ToBid, ToDeal, ToShow, ToSwap, Turn
from events.evolve import evolve
from events.state import Hand
from events.types import Events, Faulted, FaultPlace


class Spot(NamedTuple):
    """Where a hand waits for a bot, or is over: the events that led here, who is asked, and how.

    It is never changed: `telling` and `deck` are forked before anything is taken from them.
    """

    events: Events
    hand: Hand
    seat: int | None
    line: str
    telling: Telling
    deck: Deck


class Referee:
    """The rules of one match over the wire, and the default answer for who gives no usable one."""

    def __init__(self, match: Plan) -> None:
        self.tongue = tongue_of(match.game)
        self._match = match

    def opened(self, number: int, deck: Deck) -> Spot:
        """The first question of a hand."""
        match = self._match
        stacks = (match.game.stack, match.game.stack)
        hand_id, button = f"{match.match}/{number}", 1 - number % 2
        begun = begin(match.game, hand_id, button, match.players, stacks)
        return self._reached(begun, Telling(self.tongue), deck)

    def after(self, spot: Spot, reply: Reply | None) -> Spot:
        """The spot that this reply leads to; None if the bot is not asked any more."""
        return self._reached(self._answered(spot, reply), spot.telling.fork(), spot.deck)

    def _reached(self, stepped: tuple[Events, Hand], telling: Telling, deck: Deck) -> Spot:
        """On to the next question or the end: cards are dealt, swapped and, at the end, shown."""
        game = self._match.game
        events, hand = stepped
        telling.tell(events, hand)
        own: Deck | None = None
        seat = None
        while not hand.over:
            if hand.round is not None and hand.round.next is not None:
                seat = hand.round.next
                break
            asked = turn(game, hand)
            if isinstance(asked, ToBid):
                seat = asked.seat
                break
            own = own or deck.fork()
            new, hand = step(game, hand, _by_itself(asked, own))
            telling.tell(new, hand)
            events += new
        line = "" if seat is None else telling.take(seat)
        return Spot(events, hand, seat, line, telling, own or deck)

    def _answered(self, spot: Spot, reply: Reply | None) -> tuple[Events, Hand]:
        """What the answer makes, or the default; a fault is written before it.

        What could have been answered is looked up only for an answer that is of no use.
        """
        game, hand, seat = self._match.game, spot.hand, spot.seat
        assert seat is not None
        # Nobody bids after the last bid, so only the first can be shown too early (A1).
        first = hand.auction is None or not hand.auction.bids
        sealed = not (self._match.open_bids and first)
        if reply is not None and not reply.fault:
            answer = plain(self.tongue, seat, reply.text, sealed)
            if answer is not None:
                try:
                    return step(game, hand, answer)
                except IllegalCommand:
                    pass
        asked = turn(game, hand)
        assert isinstance(asked, ToAct | ToBid)
        events, after = step(game, hand, default(asked, sealed))
        if reply is None:
            return events, after
        fault = self._fault(asked, reply, sealed)
        assert evolve(hand, fault) is hand, "a fault is a note: the default follows from the hand"
        return (fault, *events), after

    def _fault(self, asked: Asked, reply: Reply, sealed: bool) -> Faulted:
        meant = command(self.tongue, asked, reply.text, sealed)
        kind = reply.fault or ("malformed" if meant is None else "illegal")
        where: FaultPlace = "bid" if isinstance(asked, ToBid) else "action"
        return Faulted(asked.seat, reply.text, kind, where)


def _by_itself(asked: Turn, deck: Deck) -> Command:
    """What no bot is asked: chance answers, and at the end everybody shows."""
    match asked:
        case ToDeal():
            return deck.deal(asked)
        case ToSwap():
            return deck.swap(asked)
        case ToShow(seat=seat):
            return Show(seat)
        case _:
            raise AssertionError(f"nobody answers {asked}")
