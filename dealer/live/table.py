"""A live table under a clock: hand after hand into a ledger, each answer before the next question.

Hands are played one at a time, by the caller of `hand`; everything else is an event that the
clock brings. Nothing here waits for anybody but in `Clock.wait`.

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
from dealer.bots.seat_view import SeatHistories, SeatTurn, seat_view
from dealer.deck import Deck, Decks
from dealer.live.clock import (
    SITE_TIMES,
    Answered,
    Arrival,
    Clock,
    ConnectionBack,
    ConnectionLost,
    LivePlayer,
    Question,
    SeatRequest,
    TurnClock,
    TurnTimes,
    disconnected,
    new_turn,
    reconnected,
)
from dealer.live.seats import LiveSeats, after_hand, after_request, before_hand, players_in
from dealer.wire.protocol import WireTurn, default_answer
from engine.game import Game
from engine.hand import begin, step, turn
from engine.table import Seating, Table, deal_in, has_all, is_freeze_out, moved
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
    """The event loop of one table, with its players, its ledger and its clock."""

    def __init__(
        self, game: Game, ledger: Ledger, clock: Clock, times: TurnTimes = SITE_TIMES
    ) -> None:
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


EventsAndHand = tuple[Events, Hand]
_BETS = (Fold, Check, Call, Raise, Straddle, Toss)
_SHOWS = (Show, Muck, Announce)


class _OpenQuestion(Struct):
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
        self._histories = SeatHistories(self._record)
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
        """Play the hand from the blinds to the end: the events of each answer, once durable."""
        game = self._game
        yield self._kept(self._opening)
        for seat, player in enumerate(self._players):
            if player in self._loop.gone:
                yield self._kept(step(game, self.hand, Disconnect(seat)))
        while not isinstance(question := turn(game, self.hand), Over):
            match question:
                case ToDeal() | ToSwap() | ToDraw():
                    yield self._kept(step(game, self.hand, self._deck.answer(question)))
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

    def _questions(self, question: SeatTurn) -> list[_OpenQuestion]:
        """The questions of this turn: to one player, or to all who bid, as if none had bid yet."""
        loop, hand, questions = self._loop, self.hand, list[_OpenQuestion]()
        while True:
            loop.questions += 1
            clock = new_turn(loop.clock.now_ms(), loop.times)
            if self._players[question.seat] in loop.gone:
                clock = disconnected(clock)
            questions.append(_OpenQuestion(loop.questions, question, hand, clock))
            if not isinstance(question, ToBid):
                return questions
            hand = step(self._game, hand, default_answer(question, sealed=True))[1]
            following = turn(self._game, hand)
            if not isinstance(following, ToBid):
                return questions
            question = following

    def _ask(self, pending: _OpenQuestion) -> None:
        """Send the seat's player the question, what the seat may see, and how long he has."""
        seat = pending.asked.seat
        seen = seat_view(self._game, self.hand, pending.asked, self._histories.of(seat))
        countdown = pending.clock.deadline - self._loop.times.countdown
        question = Question(pending.number, seen, countdown, pending.clock.deadline)
        self._loop.players[self._players[seat]].asked(question)

    def _accepts(self, answer: Answered, waiting: list[_OpenQuestion]) -> bool:
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

    def _decided(self, questions: list[_OpenQuestion]) -> EventsAndHand:
        """The events and hand after the answers, applied in the order of the questions."""
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

    def _too_late(self, question: SeatTurn, hand: Hand, why: FaultKind) -> EventsAndHand:
        """Nobody answered: the site's clock runs out (C1, C3), or a default is played (A8).

        At a showdown there is nothing to pay any more.
        """
        game, seat = self._game, question.seat
        if isinstance(question, ToShow):
            seen = seat_view(game, self.hand, question, self._histories.of(seat))
            return step(game, hand, silent_show(seen, question))
        if game.time_out != "bot_default":
            return step(game, hand, TimeOut(seat))
        assert isinstance(question, WireTurn)
        where: FaultPlace = "bid" if isinstance(question, ToBid) else "action"
        events, hand = step(game, hand, default_answer(question, sealed=True))
        return (Faulted(seat, "", why, where), *events), hand

    def _kept(self, stepped: EventsAndHand, at: int | None = None) -> Events:
        """Write the events, and only then make them part of what anybody may know."""
        events, hand = stepped
        moment = self._loop.clock.now_ms() if at is None else at
        self._loop.write(self._id, len(self._record), events, moment)
        self._record += events
        self.hand = hand
        return events


def with_site_clock(game: Game) -> Game:
    """A game whose document has no clock, under the site's: the record's ruleset says so (C6)."""
    return replace(game, time_out="all_in_if_paid") if game.time_out == "none" else game


class LiveTable:
    """A table with so many chairs, at which a game is played under a clock."""

    def __init__(
        self,
        game: Game,
        match: str,
        chairs: int,
        ledger: Ledger,
        decks: Decks,
        clock: Clock,
        *,
        times: TurnTimes = SITE_TIMES,
    ) -> None:
        if game.time_out == "none":
            raise IllegalCommand(f"{game.name} has no clock: give it one by with_site_clock()")
        if not game.seats_min <= chairs <= game.seats_max:
            allowed = f"{game.seats_min}..{game.seats_max}"
            raise IllegalCommand(f"{game.name} seats {allowed} players, not {chairs}")
        self.seats = LiveSeats(Table((None,) * chairs))
        self.hands = 0
        self.raked = 0
        self._game, self._match = game, match
        self._decks = decks
        self._checkpoint = ""
        self._loop = TableLoop(game, ledger, clock, times)

    def meet(self, player: str, who: LivePlayer) -> None:
        """Seat `who` as this player: the table asks him from now on."""
        self._loop.players[player] = who
        if self._checkpoint:  # who comes later is given it, too
            who.committed(self._checkpoint)

    def committed(self, checkpoint: str) -> None:
        """Give every player what was signed over the decks to come."""
        self._checkpoint = checkpoint
        for who in self._loop.players.values():
            who.committed(checkpoint)

    def ready(self, until: int | None = None) -> bool:
        """Whether the next hand can begin, once all requests up to now are granted or refused.

        With `until`, it is waited for up to that moment.
        """
        clock = self._loop.clock
        self._between(clock.now_ms())
        while until is not None and not self._can_begin() and clock.now_ms() <= until:
            self._between(until, single=True)
        return self._can_begin()

    def hand(self) -> Iterator[Events]:
        """Play the next hand: the events of each answer, once durable."""
        if not self.ready():
            raise IllegalCommand(
                f"a hand needs two players with chips, not {players_in(self.seats)}"
            )
        table = moved(self._game, self.seats.table)
        seating = deal_in(self._game, table)
        ante = max(getattr(step, "ante", 0) for step in self._game.script)
        posts = tuple(post for post in seating.posts if seating.stacks[post.seat] > ante)
        seating = replace(seating, posts=posts)  # nothing is left to post after an ante of all
        self.seats = replace(self.seats, table=table)
        self.hands += 1
        deck = self._decks.deck(self.hands)
        hand = LiveHand(self._loop, f"{self._match}/{self.hands}", seating, deck)
        yield from hand.play()
        self.raked += hand.hand.rake
        self.seats = after_hand(self._game, self.seats, seating, hand.hand)

    @property
    def winner(self) -> str | None:
        """The winner of a freeze-out, once it is won (M5)."""
        return has_all(self.seats.table) if is_freeze_out(self._game) and self.hands else None

    def _can_begin(self) -> bool:
        return players_in(self.seats) > 1

    def _between(self, until: int, *, single: bool = False) -> None:
        """Take all events up to this moment, or a single one; grant or refuse the requests."""
        while arrived := self._loop.next_event(until):
            if isinstance(arrived.event, Answered):
                event = arrived.event
                self._loop.refuse(event.player, f"question {event.question} is not open")
            if single:
                break
        requests, self._loop.requests = self._loop.requests, []
        for request in requests:
            try:
                self.seats = after_request(self._game, self.seats, request)
            except IllegalCommand as refusal:
                self._loop.refuse(request.player, str(refusal))
        self.seats = before_hand(self._game, self.seats, self._loop.gone)
