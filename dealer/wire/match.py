"""A match between two bots over the wire: started, played leg by leg, ended with nothing left.

Whatever the bots do, the match runs to its last hand.

In a hand they are asked in turn, and what they reply becomes its record. A bot that replies nothing
usable gets the default answer, and its raw reply stands in the record right before it. What a reply
makes of a hand is a function of both (`Referee`): so a likely reply is tried while the bot thinks,
and what it would lead to is dropped if another comes. A second is not tried: where bots wait for a
processor, it takes one from them.
"""

import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from dealer.deck import Deck, Decks
from dealer.wire.connection import done
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
from events.types import Event, Events, Faulted, Tossed
from events.values import FaultPlace


class Spot(Struct, frozen=True):
    """Where a hand waits for a bot, or is over: the events that led here, who is asked, and how.

    It is never changed: `clauses` and `deck` are forked before anything is taken from them. Where
    `noting`, the other has tossed a card, and the reply only says that this was seen.
    """

    events: Events
    hand: Hand
    seat: int | None
    line: str
    clauses: Clauses
    deck: Deck
    noting: bool = False


class Referee:
    """The rules of one match over the wire, and the default answer for who gives no usable one."""

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
        """The spot that this reply leads to; None if the bot is not asked any more."""
        if spot.noting:
            return self._noted(spot, reply)
        return self._reached(self._answered(spot, reply), spot.clauses.fork(), spot.deck)

    def _noted(self, spot: Spot, reply: Reply | None) -> Spot:
        """On from a toss that the other has acknowledged, or failed to: it stays a toss."""
        seat, clauses = spot.seat, spot.clauses.fork()
        assert seat is not None
        clauses.noted(spot.hand)
        found = self._reached(((), spot.hand), clauses, spot.deck)
        if reply is None or not (
            kind := reply.fault or acknowledgement_fault(self.dialect, reply.text)
        ):
            return found
        fault = Faulted(seat, reply.text, kind, "acknowledgement")
        return replace(found, events=(fault, *found.events))

    def _reached(self, stepped: tuple[Events, Hand], clauses: Clauses, deck: Deck) -> Spot:
        """On to the next question or the end: cards are dealt, swapped and, at the end, shown."""
        game = self._match.game
        events, hand = stepped
        clauses.add(events, hand)
        own: Deck | None = None
        seat: int | None = None
        if self.dialect.tosses and events and isinstance(events[0], Tossed):
            seat = 1 - events[0].seat
            return Spot(events, hand, seat, clauses.take(seat), clauses, deck, noting=True)
        while not hand.over:
            if (seat := to_act(hand)) is not None:
                break
            asked = turn(game, hand)
            if isinstance(asked, ToBid | ToToss):
                seat = asked.seat
                break
            own = own or deck.fork()
            match asked:
                case ToDeal():
                    new, hand = step(game, hand, own.deal(asked))
                case ToSwap():
                    new, hand = step(game, hand, own.swap(asked))
                case ToDraw():
                    new, hand = step(game, hand, own.draw(asked))
                case ToShow(seat=shown):
                    new, hand = step(game, hand, Show(shown))
                case _:
                    raise AssertionError(f"nobody answers {asked}")
            clauses.add(new, hand)
            events += new
        line = "" if seat is None else clauses.take(seat)
        return Spot(events, hand, seat, line, clauses, own or deck)

    def _answered(self, spot: Spot, reply: Reply | None) -> tuple[Events, Hand]:
        """What the answer makes, or the default; a fault is written before it.

        What could have been answered is looked up only for an answer that is of no use.
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
        asked = turn(game, hand)
        assert isinstance(asked, WireTurn)
        events, after = step(game, hand, default(asked, sealed))
        if reply is None:
            return events, after
        fault = self._fault(asked, reply, sealed)
        assert evolve(hand, fault) is hand, "a fault is a note: the default follows from the hand"
        return (fault, *events), after

    def _fault(self, asked: WireTurn, reply: Reply, sealed: bool) -> Faulted:
        meant = command(self.dialect, asked, reply.text, sealed)
        kind = reply.fault or ("malformed" if meant is None else "illegal")
        where: FaultPlace = "bid" if isinstance(asked, ToBid) else "action"
        return Faulted(asked.seat, reply.text, kind, where)


Kind = tuple[str | type[Event], ...]
Habits = dict[Kind, str]
"""What a bot replies to each kind of question: on this street, to a line that begins with this
letter (that of its own last answer), after events of these kinds."""


class Ahead:
    """One question and the reply to it that was tried; bots repeat themselves."""

    def __init__(self, referee: Referee, habits: Habits, spot: Spot) -> None:
        self._referee, self._habits, self._spot = referee, habits, spot
        self._kind: Kind | None = None
        self._tried: tuple[str, Spot] | None = None

    def pieces(self) -> Iterator[None]:
        """Try the habit or, where there is none, check or call; that is one piece of work."""
        spot, now = self._spot, self._spot.hand.round
        self._kind = spot.hand.street, spot.line[:1], *map(type, spot.events)
        likely = self._habits.get(self._kind)
        if likely is None and now is not None and spot.seat is not None:
            likely = "C" if now.bet > now.bets[spot.seat] else "K"  # of bids any is as likely
        if likely is not None:
            self._tried = likely, self._referee.after(spot, Reply(likely))
            yield

    def after(self, reply: Reply | None) -> Spot:
        """The spot that the reply leads to: tried before, or found now.

        Another reply than the last to such a question ends the habit.
        """
        if reply is None or reply.fault:
            return self._referee.after(self._spot, reply)
        if self._kind is not None and self._habits.setdefault(self._kind, reply.text) != reply.text:
            del self._habits[self._kind]
        if self._tried is not None and self._tried[0] == reply.text:
            return self._tried[1]
        return self._referee.after(self._spot, reply)


Pair = tuple[Answering, Answering]


class WireHand(NamedTuple):
    """One hand, dealt and about to be played."""

    referee: Referee
    players: Pair
    habits: tuple[Habits, Habits]
    opening: Spot

    def play(self, meanwhile: Iterator[None]) -> Finished:
        """From the blinds to the last acknowledgement; `meanwhile` the bots think about that."""
        spot = self.opening
        record: list[Event] = [*spot.events]
        while spot.seat is not None:
            ahead = Ahead(self.referee, self.habits[spot.seat], spot)
            spot = ahead.after(self.players[spot.seat].ask(spot.line, ahead.pieces()))
            record += spot.events
        button = spot.hand.start.button
        for seat in (button, 1 - button):  # the end of a hand must be answered, too
            reply = self.players[seat].ask(spot.clauses.take(seat), meanwhile)
            if reply is not None and (
                kind := reply.fault or acknowledgement_fault(self.referee.dialect, reply.text)
            ):
                record.append(Faulted(seat, reply.text, kind, "acknowledgement"))
        return Finished(tuple(record), spot.hand.stacks)


@contextmanager
def started(
    programs: tuple[Program, Program], limits: Limits, guard: Guard, note: Callable[[str], None]
) -> Iterator[tuple[Player, Player]]:
    """Both bots, the second one built once the first has connected; at the end nothing is left."""
    one, two = programs
    with rooms() as (first, second):
        players = (
            Player(one, limits, Sandbox(one, two.folder, guard, limits, first)),
            Player(two, limits, Sandbox(two, one.folder, guard, limits, second)),
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
    """The hands of one leg; in odd hands the first player is the dealer.

    A hand is dealt while the end of the one before it is acknowledged.
    """
    referee, habits = Referee(match), (Habits(), Habits())
    numbers = iter(leg)
    dealt: list[WireHand] = []

    def deal() -> Iterator[None]:
        for number in islice(numbers, 1):
            deck = decks.deck(number)
            yield
            dealt.append(WireHand(referee, players, habits, referee.opened(number, deck)))

    done(deal())
    while dealt:
        next_hand = deal()
        played = dealt.pop().play(meanwhile=next_hand)
        done(next_hand)  # what no bot left time for
        yield played
