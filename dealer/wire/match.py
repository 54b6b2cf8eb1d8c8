"""A match between two bots over the wire: started, played leg by leg, ended with nothing left.

Whatever the bots do, the match runs to its last hand.

In a hand they are asked in turn, and what they reply becomes its record. A bot that replies nothing
usable gets the default answer, and its raw reply stands in the record right before it. Nothing is
done while a bot thinks: quick ones share our processor, and on it work of ours would be in their
way.
"""

import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager

from msgspec import Struct
from msgspec.structs import replace

from dealer.deck import Deck, Decks
from dealer.wire.plan import WirePlan
from dealer.wire.player import Answering, Player, Reply
from dealer.wire.program import Limits, Program
from dealer.wire.sandbox import Guard, Sandbox, rooms
from dealer.wire.words import (
    Clauses,
    WireTurn,
    acknowledgement_fault,
    command,
    default,
    dialect_of,
    meaning,
)
from engine.hand import begin, step, to_act, turn
from engine.turn import IllegalCommand, Show, ToBid, ToDeal, ToDraw, ToShow, ToSwap, ToToss
from events.evolve import evolve
from events.state import Finished, Hand
from events.types import Event, Events, Faulted, FaultPlace, Tossed


class Spot(Struct, frozen=True):
    """Where a hand waits for a bot, or is over: the events that led here, the seat that is asked,
    and the line that it is sent.

    `clauses` and `deck` go from one spot of a hand to the next. Where `noting`, the other seat has
    tossed a card, and the reply only says that this was seen.
    """

    events: Events
    hand: Hand
    seat: int | None
    line: str
    clauses: Clauses
    deck: Deck
    noting: bool = False


class Referee:
    """The rules of one match over the wire, and the default for an answer that is of no use."""

    def __init__(self, match: WirePlan) -> None:
        self.dialect = dialect_of(match.game)
        self._match = match

    def opened(self, number: int, deck: Deck) -> Spot:
        """The first question of a hand."""
        match = self._match
        stacks = (match.game.stack, match.game.stack)
        hand_id, button = f"{match.match}/{number}", 1 - number % 2
        begun = begin(match.game, hand_id, button, match.players, stacks)
        return self._reached(begun, Clauses(self.dialect), deck)

    def after(self, spot: Spot, reply: Reply | None) -> Spot:
        """The spot that a reply leads to; the reply is None if the bot is not asked any more."""
        if spot.noting:
            return self._noted(spot, reply)
        return self._reached(self._answered(spot, reply), spot.clauses, spot.deck)

    def _noted(self, spot: Spot, reply: Reply | None) -> Spot:
        """The spot after the other seat has acknowledged a toss, or failed to: it stays a toss."""
        seat, clauses = spot.seat, spot.clauses
        assert seat is not None
        clauses.noted(spot.hand)
        following = self._reached(((), spot.hand), clauses, spot.deck)
        if reply is None or not (
            kind := reply.fault or acknowledgement_fault(self.dialect, reply.text)
        ):
            return following
        fault = Faulted(seat, reply.text, kind, "acknowledgement")
        return replace(following, events=(fault, *following.events))

    def _reached(self, stepped: tuple[Events, Hand], clauses: Clauses, deck: Deck) -> Spot:
        """The next question or the end: cards are dealt, swapped and, at the end, shown."""
        game = self._match.game
        events, hand = stepped
        clauses.add(events, hand)
        seat: int | None = None
        if self.dialect.tosses and events and isinstance(events[0], Tossed):
            seat = 1 - events[0].seat
            return Spot(events, hand, seat, clauses.take(seat), clauses, deck, noting=True)
        while not hand.over:
            if (seat := to_act(hand)) is not None:
                break
            question = turn(game, hand)
            if isinstance(question, ToBid | ToToss):
                seat = question.seat
                break
            match question:
                case ToDeal():
                    new, hand = step(game, hand, deck.deal(question))
                case ToSwap():
                    new, hand = step(game, hand, deck.swap(question))
                case ToDraw():
                    new, hand = step(game, hand, deck.draw(question))
                case ToShow(seat=shown):
                    new, hand = step(game, hand, Show(shown))
                case _:
                    raise AssertionError(f"nobody answers {question}")
            clauses.add(new, hand)
            events += new
        line = "" if seat is None else clauses.take(seat)
        return Spot(events, hand, seat, line, clauses, deck)

    def _answered(self, spot: Spot, reply: Reply | None) -> tuple[Events, Hand]:
        """What the answer makes of the hand, or a fault and the default answer.

        The legal answers are looked up only for an answer that is of no use.
        """
        game, hand, seat = self._match.game, spot.hand, spot.seat
        assert seat is not None
        # Nobody bids after the last bid, so only the first can be shown too early (A1).
        sealed = not self._match.open_bids or (hand.auction is not None and bool(hand.auction.bids))
        if reply is not None and not reply.fault:
            answer = meaning(self.dialect, seat, reply.text, sealed)
            if answer is not None:
                try:
                    return step(game, hand, answer)
                except IllegalCommand:
                    pass
        question = turn(game, hand)
        assert isinstance(question, WireTurn)
        events, after = step(game, hand, default(question, sealed))
        if reply is None:
            return events, after
        fault = self._fault(question, reply, sealed)
        assert evolve(hand, fault) is hand, "a fault is a note: the default follows from the hand"
        return (fault, *events), after

    def _fault(self, question: WireTurn, reply: Reply, sealed: bool) -> Faulted:
        meant = command(self.dialect, question, reply.text, sealed)
        kind = reply.fault or ("malformed" if meant is None else "illegal")
        where: FaultPlace = "bid" if isinstance(question, ToBid) else "action"
        return Faulted(question.seat, reply.text, kind, where)


Pair = tuple[Answering, Answering]


@contextmanager
def started(
    programs: tuple[Program, Program], limits: Limits, guard: Guard, note: Callable[[str], None]
) -> Iterator[tuple[Player, Player]]:
    """Both bots, the second built once the first has connected; at the end nothing is left."""
    first, second = programs
    with rooms() as (room, other_room):
        players = (
            Player(first, limits, Sandbox(first, second.folder, guard, limits, room)),
            Player(second, limits, Sandbox(second, first.folder, guard, limits, other_room)),
        )
        try:
            for player in players:
                player.start()
                for sentence in (*player.notes, *player.sandbox.warnings):
                    note(f"{player.program.name}: {sentence}")
            yield players
            for player in players:
                player.dismiss()
            deadline = time.monotonic() + limits.quit
            for player in players:
                player.leave(deadline)
        finally:
            for player in players:  # after an interruption nobody is waited for
                player.end()


def play(
    match: WirePlan, leg: Iterable[int], decks: Decks, players: Pair
) -> Generator[Finished, None, None]:
    """The hands of one leg, each from its first question to the last acknowledgement; in odd hands
    the first player is the dealer."""
    referee = Referee(match)
    for number in leg:
        spot = referee.opened(number, decks.deck(number))
        record: list[Event] = [*spot.events]
        while spot.seat is not None:
            spot = referee.after(spot, players[spot.seat].ask(spot.line))
            record += spot.events
        button = spot.hand.start.button
        for seat in (button, 1 - button):  # the end of a hand must be answered, too
            reply = players[seat].ask(spot.clauses.take(seat))
            if reply is not None and (
                kind := reply.fault or acknowledgement_fault(referee.dialect, reply.text)
            ):
                record.append(Faulted(seat, reply.text, kind, "acknowledgement"))
        yield Finished(tuple(record), spot.hand.stacks)
