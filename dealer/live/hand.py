"""One hand of a live table: each answer is written before the next question is asked.

An answer counts at the moment at which it arrived, a timeout at the first moment after the
deadline. A clock starts once everything before the question is durable, so no player pays for a
slow disk.
"""

from collections.abc import Iterator

from msgspec.structs import replace

from dealer.bots.bot import announced
from dealer.bots.seen import Asked, Histories, look
from dealer.clock import TurnClock, disconnected, reconnected, started
from dealer.deck import Deck
from dealer.live.floor import Floor
from dealer.live.news import Answered, Back, Heard, Lost, Question
from dealer.wire.words import default
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
    ToAct,
    ToBid,
    ToDeal,
    ToShow,
    ToSwap,
)
from events.state import Hand
from events.types import Event, Events, Faulted, FaultKind, FaultPlace

Stepped = tuple[Events, Hand]

_BETS = (Fold, Check, Call, Raise, Straddle)
_SHOWS = (Show, Muck, Announce)


class LiveHand:
    """A hand being played: its record so far, and the question that is open."""

    def __init__(self, floor: Floor, hand_id: str, seating: Seating, deck: Deck) -> None:
        self._floor, self._game = floor, floor.game
        self._deck = deck
        self._record: list[Event] = []
        self._histories = Histories(self._record)
        self._players = seating.players
        self._id = hand_id
        self._opening = begin(
            floor.game,
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
            if player in self._floor.gone:
                yield self._kept(step(game, self.hand, Disconnect(seat)))
        while not isinstance(asked := turn(game, self.hand), Over):
            match asked:
                case ToDeal():
                    yield self._kept(step(game, self.hand, self._deck.deal(asked)))
                case ToSwap():
                    yield self._kept(step(game, self.hand, self._deck.swap(asked)))
                case _:
                    yield from self._answered(asked)

    def _answered(self, asked: Asked) -> Iterator[Events]:
        """What is heard until the question is answered, or until it is too late."""
        player = self._players[asked.seat]
        clock = started(self._floor.clock.now_ms(), self._floor.times)
        self._floor.questions += 1
        if player in self._floor.gone:
            clock = disconnected(clock)
        else:
            self._ask(asked, clock)
        while heard := self._floor.hear(clock.deadline):
            match heard.news:
                case Answered():
                    answer = self._answer(asked, heard.news)
                    if answer is not None:
                        yield self._kept(answer, heard.at)
                        return
                case Lost(player=who) | Back(player=who) if who in self._players:
                    yield self._connection(who, heard)
                    if who == player:
                        clock = self._clock_after(clock, heard)
                        if isinstance(heard.news, Back):
                            self._ask(asked, clock)
        yield self._kept(self._too_late(asked))

    def _ask(self, asked: Asked, clock: TurnClock) -> None:
        """The seat's player hears what the seat may see, and how long he has."""
        seen = look(self._game, self.hand, asked, self._histories.of(asked.seat))
        countdown = clock.deadline - self._floor.times.countdown
        question = Question(self._floor.questions, seen, countdown, clock.deadline)
        self._floor.players[self._players[asked.seat]].asked(question)

    def _answer(self, asked: Asked, said: Answered) -> Stepped | None:
        """What an answer makes of the hand; None, and the player hears why, if it makes nothing.

        Who is gone is not heard: he may answer when he is back.
        """
        player = self._players[asked.seat]
        if said.player in self._floor.gone:
            return None
        try:
            if said.question != self._floor.questions:
                raise IllegalCommand(f"question {said.question} is not open")
            if said.player != player:
                raise IllegalCommand(f"it is {player}'s turn, not {said.player}'s")
            return step(self._game, self.hand, _own(said.command))
        except IllegalCommand as refusal:
            self._floor.refuse(said.player, str(refusal))
            return None

    def _connection(self, player: str, heard: Heard) -> Events:
        """Lost or back: it is written at whatever question the hand stands."""
        seat = self._players.index(player)
        command = Disconnect(seat) if isinstance(heard.news, Lost) else Reconnect(seat)
        return self._kept(step(self._game, self.hand, command), heard.at)

    def _clock_after(self, clock: TurnClock, heard: Heard) -> TurnClock:
        """The clock runs on for who is gone; who is back in time is given more (C4)."""
        if isinstance(heard.news, Lost):
            return disconnected(clock)
        return reconnected(self._game, clock, heard.at, self._floor.times)

    def _too_late(self, asked: Asked) -> Stepped:
        """Nobody answered: the site's clock runs out (C1, C3), or a default is played (A8).

        At a showdown there is nothing to pay any more: who is silent mucks, if he may (T10, U19);
        a hand that must be shown is turned up for him, the best five of it announced.
        """
        game, hand, seat = self._game, self.hand, asked.seat
        if isinstance(asked, ToShow):
            return step(game, hand, self._shown(asked))
        if game.time_out != "bot_default":
            return step(game, hand, TimeOut(seat))
        assert isinstance(asked, ToAct | ToBid)
        kind: FaultKind = "disconnected" if self._players[seat] in self._floor.gone else "late"
        where: FaultPlace = "bid" if isinstance(asked, ToBid) else "action"
        events, hand = step(game, hand, default(asked, sealed=True))
        return (Faulted(seat, "", kind, where), *events), hand

    def _shown(self, asked: ToShow) -> Command:
        if asked.may_muck:
            return Muck(asked.seat)
        if not asked.announce:
            return Show(asked.seat)
        history = self._histories.of(asked.seat)
        return announced(look(self._game, self.hand, asked, history))

    def _kept(self, stepped: Stepped, at: int | None = None) -> Events:
        """This happened: written first, then part of what anybody may know."""
        events, hand = stepped
        moment = self._floor.clock.now_ms() if at is None else at
        self._floor.write(self._id, len(self._record), events, moment)
        self._record += events
        self.hand = hand
        return events


def _own(command: Command) -> Command:
    """A player's own answer: not the dealer's or the clock's, and chosen, and sealed if a bid."""
    if isinstance(command, Bid):
        return replace(command, sealed=True, origin="chosen")
    if isinstance(command, _BETS):
        return replace(command, origin="chosen")
    if isinstance(command, _SHOWS):
        return command
    raise IllegalCommand(f"no player answers with {type(command).__name__}")
