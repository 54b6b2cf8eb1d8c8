"""One hand of a live table: each answer is written before the next question is asked.

An answer counts at the moment at which it arrived, a timeout at the first moment after the
deadline. A clock starts once everything before the question is durable, so no player pays for a
slow disk.

Bids are sealed here, and the moment of one could tell what it is: who is out of time bids 0. So all
who bid are asked at once, and their bids are written together when the last one has come (A1).

Its loop takes the table's events in order, keeps requests for later, and writes hands.
"""

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from dealer.bots.built_in import silent_show
from dealer.bots.seen import Histories, SeatTurn, look
from dealer.deck import Deck
from dealer.live.clock import (
    SITE,
    Answered,
    Arrival,
    Clock,
    ConnectionBack,
    ConnectionLost,
    LivePlayer,
    Question,
    SeatRequest,
    Times,
    TurnClock,
    disconnected,
    reconnected,
    started,
)
from dealer.wire.words import WireTurn, default
from engine.game import Game
from engine.hand import begin, step, turn
from engine.table import Seating
from engine.turn import (
    Announce,
    Bid,
    Call,
    Check,
    Command,
    Disconnect,
    Fold,
    IllegalCommand,
    Muck,
    Over,
    Raise,
    Reconnect,
    Show,
    Straddle,
    TimeOut,
    ToBid,
    ToDeal,
    ToDraw,
    ToShow,
    Toss,
    ToSwap,
)
from events.ledger import Append, Ledger
from events.state import Hand
from events.types import Event, Events, Faulted, FaultKind, FaultPlace


class TableLoop:
    """One table's events, all of which pass here; its players, its ledger, its clock."""

    def __init__(self, game: Game, ledger: Ledger, clock: Clock, times: Times = SITE) -> None:
        self.game = game
        self.clock = clock
        self.times = times
        self.players: dict[str, LivePlayer] = {}
        self.gone: set[str] = set()
        self.requests: list[SeatRequest] = []
        self.questions = 0
        self._ledger = ledger

    def next_event(self, until: int) -> Arrival | None:
        """The next event up to this moment; a connection lost twice is lost once.

        Requests are kept for the time between hands (T17).
        """
        while arrived := self.clock.wait(until):
            match arrived.event:
                case Answered():
                    pass
                case ConnectionLost(player=player) if player not in self.gone:
                    self.gone.add(player)
                case ConnectionBack(player=player) if player in self.gone:
                    self.gone.remove(player)
                case ConnectionLost() | ConnectionBack():
                    continue
                case request:
                    self.requests.append(request)
            return arrived
        return None

    def refuse(self, player: str, sentence: str) -> None:
        """Tell a player what was not possible, if he is known here and connected."""
        if player in self.players and player not in self.gone:
            self.players[player].refused(sentence)

    def write(self, stream: str, expected: int, events: Events, at: int) -> None:
        """Write events of a hand; they are durable on return."""
        self._ledger.append(Append(stream, expected, events, at))


Stepped = tuple[Events, Hand]
_BETS = (Fold, Check, Call, Raise, Straddle, Toss)
_SHOWS = (Show, Muck, Announce)


class _Open(Struct):
    """A question that is open: its number, the hand in which it stands, how long there is, and once
    it is over the answer, or why there is none."""

    number: int
    asked: SeatTurn
    hand: Hand
    clock: TurnClock
    answer: Command | FaultKind | None = None


class LiveHand:
    """A hand being played: its record so far, and the questions that are open."""

    def __init__(self, loop: TableLoop, hand_id: str, seating: Seating, deck: Deck) -> None:
        self._loop, self._game = loop, loop.game
        self._deck = deck
        self._record: list[Event] = []
        self._histories = Histories(self._record)
        self._players = seating.players
        self._id = hand_id
        self._opening = begin(
            loop.game,
            hand_id,
            seating.button,
            seating.players,
            seating.stacks,
            seating.posts,
            seating.dead_small,
        )
        self.hand = self._opening[1]

    def play(self) -> Iterator[Events]:
        """From the blinds to the end: what each answer made, once it is durable."""
        game = self._game
        yield self._kept(self._opening)
        for seat, player in enumerate(self._players):
            if player in self._loop.gone:
                yield self._kept(step(game, self.hand, Disconnect(seat)))
        while not isinstance(question := turn(game, self.hand), Over):
            match question:
                case ToDeal():
                    yield self._kept(step(game, self.hand, self._deck.deal(question)))
                case ToSwap():
                    yield self._kept(step(game, self.hand, self._deck.swap(question)))
                case ToDraw():
                    yield self._kept(step(game, self.hand, self._deck.draw(question)))
                case _:
                    yield from self._answered(question)

    def _answered(self, question: SeatTurn) -> Iterator[Events]:
        """Take events until every question of this turn is answered, or its time is over."""
        questions = self._questions(question)
        for pending in questions:
            if self._players[pending.asked.seat] not in self._loop.gone:
                self._ask(pending)
        at: int | None = None
        while waiting := [pending for pending in questions if pending.answer is None]:
            first = min(waiting, key=lambda pending: pending.clock.deadline)
            arrived = self._loop.next_event(first.clock.deadline)
            if arrived is None:
                is_gone = self._players[first.asked.seat] in self._loop.gone
                first.answer, at = "disconnected" if is_gone else "late", None
            elif isinstance(arrived.event, Answered):
                if self._accepts(arrived.event, waiting):
                    at = arrived.at
            elif (
                isinstance(arrived.event, ConnectionLost | ConnectionBack)
                and arrived.event.player in self._players
            ):
                yield self._connection(arrived.event.player, arrived)
                for pending in waiting:
                    if self._players[pending.asked.seat] == arrived.event.player:
                        pending.clock = self._clock_after(pending.clock, arrived)
                        if isinstance(arrived.event, ConnectionBack):
                            self._ask(pending)
        yield self._kept(self._decided(questions), at)

    def _questions(self, question: SeatTurn) -> list[_Open]:
        """The questions of this turn: to one player, or to all who bid, as if none had bid yet."""
        loop, hand, questions = self._loop, self.hand, list[_Open]()
        while True:
            loop.questions += 1
            clock = started(loop.clock.now_ms(), loop.times)
            if self._players[question.seat] in loop.gone:
                clock = disconnected(clock)
            questions.append(_Open(loop.questions, question, hand, clock))
            if not isinstance(question, ToBid):
                return questions
            hand = step(self._game, hand, default(question, sealed=True))[1]
            following = turn(self._game, hand)
            if not isinstance(following, ToBid):
                return questions
            question = following

    def _ask(self, pending: _Open) -> None:
        """Send the seat's player the question, what the seat may see, and how long he has."""
        seat = pending.asked.seat
        seen = look(self._game, self.hand, pending.asked, self._histories.of(seat))
        countdown = pending.clock.deadline - self._loop.times.countdown
        question = Question(pending.number, seen, countdown, pending.clock.deadline)
        self._loop.players[self._players[seat]].asked(question)

    def _accepts(self, answer: Answered, waiting: list[_Open]) -> bool:
        """Whether this answers a question; if it does not, its player is sent the reason.

        An answer of a disconnected player is dropped: he may answer when he is back.
        """
        if answer.player in self._loop.gone:
            return False
        try:
            numbers = {question.number: question for question in waiting}
            pending = numbers.get(answer.question)
            if pending is None:
                raise IllegalCommand(f"question {answer.question} is not open")
            player = self._players[pending.asked.seat]
            if answer.player != player:
                raise IllegalCommand(f"it is {player}'s turn, not {answer.player}'s")
            # It is chosen, and sealed if a bid, and neither the dealer's nor the clock's.
            command = answer.command
            if isinstance(command, Bid):
                command = replace(command, sealed=True, origin="chosen")
            elif isinstance(command, _BETS):
                command = replace(command, origin="chosen")
            elif not isinstance(command, _SHOWS):
                raise IllegalCommand(f"no player answers with {type(command).__name__}")
            step(self._game, pending.hand, command)
            pending.answer = command
        except IllegalCommand as refusal:
            self._loop.refuse(answer.player, str(refusal))
            return False
        return True

    def _decided(self, questions: list[_Open]) -> Stepped:
        """What the answers make of the hand, in the order in which they were asked for."""
        hand = self.hand
        events: Events = ()
        for question in questions:
            assert question.answer is not None
            if isinstance(question.answer, str):
                new, hand = self._too_late(question.asked, hand, question.answer)
            else:
                new, hand = step(self._game, hand, question.answer)
            events = (*events, *new)
        return events, hand

    def _connection(self, player: str, arrived: Arrival) -> Events:
        """Record that a connection is lost or back, at whatever question the hand stands."""
        seat = self._players.index(player)
        command = Disconnect(seat) if isinstance(arrived.event, ConnectionLost) else Reconnect(seat)
        return self._kept(step(self._game, self.hand, command), arrived.at)

    def _clock_after(self, clock: TurnClock, arrived: Arrival) -> TurnClock:
        """The clock runs on for who is gone; who is back in time is given more (C4)."""
        if isinstance(arrived.event, ConnectionLost):
            return disconnected(clock)
        return reconnected(self._game, clock, arrived.at, self._loop.times)

    def _too_late(self, question: SeatTurn, hand: Hand, why: FaultKind) -> Stepped:
        """Nobody answered: the site's clock runs out (C1, C3), or a default is played (A8).

        At a showdown there is nothing to pay any more.
        """
        game, seat = self._game, question.seat
        if isinstance(question, ToShow):
            seen = look(game, self.hand, question, self._histories.of(seat))
            return step(game, hand, silent_show(seen, question))
        if game.time_out != "bot_default":
            return step(game, hand, TimeOut(seat))
        assert isinstance(question, WireTurn)
        where: FaultPlace = "bid" if isinstance(question, ToBid) else "action"
        events, hand = step(game, hand, default(question, sealed=True))
        return (Faulted(seat, "", why, where), *events), hand

    def _kept(self, stepped: Stepped, at: int | None = None) -> Events:
        """Write the events, and only then make them part of what anybody may know."""
        events, hand = stepped
        moment = self._loop.clock.now_ms() if at is None else at
        self._loop.write(self._id, len(self._record), events, moment)
        self._record += events
        self.hand = hand
        return events
