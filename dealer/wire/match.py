"""A match between two bots over the wire: started, played leg by leg, ended with nothing left.

Whatever the bots do, the match runs to its last hand.

In a hand they are asked in turn, and what they reply becomes its record. A bot that replies nothing
usable gets the default answer, and its raw reply stands in the record right before it. Nothing is
done while a bot thinks: quick ones share our processor, and on it work of ours would be in their
way.

A process plays matches for another, so that nothing holds up the bots: one after another, because
its start takes longer than many a match. A caller with several keeps such processes between them.
"""

import gc
import signal
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from dealer.deck import Deck, Decks
from dealer.wire.player import Conduct, LineAnswerer, Reply, WirePlayer
from dealer.wire.process import end_marked, on_one_processor
from dealer.wire.program import BotProgram, Limits
from dealer.wire.protocol import (
    Clauses,
    WirePlan,
    WireTurn,
    acknowledgement_fault,
    default_answer,
    dialect_of,
    reply_command,
    spelled_command,
)
from dealer.wire.sandbox import Isolation, Sandbox, bot_folders, remove_stale
from dealer.worker import (
    PATIENCE_S,
    WorkerGone,
    decode_hands,
    ignore_ctrl_c,
    receive,
    send_hands,
    start_worker,
)
from engine.hand import begin, step, to_act, turn
from engine.turn import IllegalCommand, Show, ToBid, ToDeal, ToDraw, ToShow, ToSwap, ToToss
from events.cards import DECK
from events.evolve import evolve
from events.state import Finished, Hand
from events.types import Event, Events, Faulted, FaultPlace, Tossed
from odds.rank import ranker

BATCH_HANDS = 200
_LAST_S = 5.0  # for ending its bots, when the process is told to go
_HANDS, _NOTE, _CONDUCT, _OVER, _FAILED = b"+", b"#", b"=", b".", b"!"
_conduct: msgspec.msgpack.Decoder[tuple[Conduct, Conduct]] = msgspec.msgpack.Decoder(
    tuple[Conduct, Conduct]
)


class WireSpot(Struct, frozen=True):
    """A spot where a hand waits for a bot, or is over: the events up to it, the acting seat,
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
    """Apply the rules of one match to replies, and the default answer to an unusable reply."""

    def __init__(self, match: WirePlan) -> None:
        self.dialect = dialect_of(match.game)
        self._match = match

    def opened(self, number: int, deck: Deck) -> WireSpot:
        """The first question of a hand."""
        match = self._match
        stacks = (match.game.stack, match.game.stack)
        hand_id, button = f"{match.match}/{number}", 1 - number % 2
        begun = begin(match.game, hand_id, button, match.players, stacks)
        return self._reached(begun, Clauses(self.dialect), deck)

    def after(self, spot: WireSpot, reply: Reply | None) -> WireSpot:
        """The spot that a reply leads to; the reply is None if the bot is not asked any more."""
        if spot.noting:
            return self._noted(spot, reply)
        return self._reached(self._answered(spot, reply), spot.clauses, spot.deck)

    def _noted(self, spot: WireSpot, reply: Reply | None) -> WireSpot:
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

    def _reached(self, stepped: tuple[Events, Hand], clauses: Clauses, deck: Deck) -> WireSpot:
        """The next question or the end: cards are dealt, swapped and, at the end, shown."""
        game = self._match.game
        events, hand = stepped
        clauses.add(events, hand)
        seat: int | None = None
        if self.dialect.tosses and events and isinstance(events[0], Tossed):
            seat = 1 - events[0].seat
            return WireSpot(events, hand, seat, clauses.take(seat), clauses, deck, noting=True)
        while not hand.over:
            if (seat := to_act(hand)) is not None:
                break
            question = turn(game, hand)
            if isinstance(question, ToBid | ToToss):
                seat = question.seat
                break
            match question:
                case ToDeal() | ToSwap() | ToDraw():
                    new, hand = step(game, hand, deck.answer(question))
                case ToShow(seat=shown):
                    new, hand = step(game, hand, Show(shown))
                case _:
                    raise AssertionError(f"nobody answers {question}")
            clauses.add(new, hand)
            events += new
        line = "" if seat is None else clauses.take(seat)
        return WireSpot(events, hand, seat, line, clauses, deck)

    def _answered(self, spot: WireSpot, reply: Reply | None) -> tuple[Events, Hand]:
        """What the answer makes of the hand, or a fault and the default answer.

        The legal answers are looked up only for an answer that is of no use.
        """
        game, hand, seat = self._match.game, spot.hand, spot.seat
        assert seat is not None
        # Nobody bids after the last bid, so only the first can be shown too early (A1).
        sealed = not self._match.open_bids or (hand.auction is not None and bool(hand.auction.bids))
        if reply is not None and not reply.fault:
            answer = spelled_command(self.dialect, seat, reply.text, sealed)
            if answer is not None:
                try:
                    return step(game, hand, answer)
                except IllegalCommand:
                    pass
        question = turn(game, hand)
        assert isinstance(question, WireTurn)
        events, after = step(game, hand, default_answer(question, sealed))
        if reply is None:
            return events, after
        fault = self._fault(question, reply, sealed)
        assert evolve(hand, fault) is hand, "a fault is a note: the default follows from the hand"
        return (fault, *events), after

    def _fault(self, question: WireTurn, reply: Reply, sealed: bool) -> Faulted:
        meant = reply_command(self.dialect, question, reply.text, sealed)
        kind = reply.fault or ("malformed" if meant is None else "illegal")
        where: FaultPlace = "bid" if isinstance(question, ToBid) else "action"
        return Faulted(question.seat, reply.text, kind, where)


AnswererPair = tuple[LineAnswerer, LineAnswerer]


@contextmanager
def running_bots(
    programs: tuple[BotProgram, BotProgram],
    limits: Limits,
    guard: Isolation,
    note: Callable[[str], None],
) -> Iterator[tuple[WirePlayer, WirePlayer]]:
    """Start both bots, the second once the first has connected; end both when the block ends."""
    first, second = programs
    with bot_folders() as (room, other_room):
        players = (
            WirePlayer(first, limits, Sandbox(first, second.folder, guard, limits, room)),
            WirePlayer(second, limits, Sandbox(second, first.folder, guard, limits, other_room)),
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
    match: WirePlan, leg: Iterable[int], decks: Decks, players: AnswererPair
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


# A process that plays matches for another.


class MatchJob(NamedTuple):
    """A match over the wire, for another process to play: bots, limits, decks, isolation."""

    match: WirePlan
    programs: tuple[BotProgram, BotProgram]
    limits: Limits
    decks: Decks
    guard: Isolation


class Listener(NamedTuple):
    """Takes the messages that are no hands: remarks, and what each bot did in a leg."""

    note: Callable[[str], None]
    conduct: Callable[[tuple[Conduct, Conduct]], None]


class MatchProcesses:
    """A pool of processes that play matches; one whose match is over waits for the next."""

    def __init__(self) -> None:
        self._idle: list[tuple[BaseProcess, Connection]] = []

    def __enter__(self) -> "MatchProcesses":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the processes that wait."""
        while self._idle:
            _end(*self._idle.pop())

    def play(
        self, job: MatchJob, listener: Listener, stop: Callable[[], bool]
    ) -> Generator[Finished | None, None, None]:
        """Every hand of the match, and None while none is ready; after `stop` none is begun.

        Several threads may play a match each.
        """
        try:
            process, pipe = self._idle.pop()
        except IndexError:
            process, pipe = start_worker(_work)
        complete = False
        try:
            with suppress(OSError):  # it is gone, and `receive` says so
                pipe.send(job)
            stopped = False
            while True:
                if not stopped and stop():
                    stopped = True
                    pipe.send(None)
                if not pipe.poll(PATIENCE_S):
                    yield None
                    continue
                kind, body = receive(pipe, "played the match")
                if kind == _HANDS:
                    yield from decode_hands(body)
                elif kind == _CONDUCT:
                    listener.conduct(_conduct.decode(body))
                    yield None
                elif kind == _NOTE:
                    listener.note(body.decode())
                elif kind == _FAILED:
                    failed = f"the process that played {job.match.match} failed: {body.decode()}"
                    raise WorkerGone(failed)
                else:
                    break
            complete = not stop()
        finally:
            if complete:
                self._idle.append((process, pipe))
            else:
                _end(process, pipe)


def _end(process: BaseProcess, pipe: Connection) -> None:
    """Tell a process to go; it ends its bots, and if it cannot, they are ended here."""
    pipe.close()
    process.terminate()
    process.join(_LAST_S)
    if process.is_alive():
        process.kill()
        process.join()
    if process.exitcode != 0:
        end_marked(f"{process.pid}-")
    if process.pid is not None:
        remove_stale(process.pid)


# The other process.


def _work(pipe: Connection) -> None:
    """Play one match after another, until nobody is at the pipe's other end any more."""
    gc.freeze()  # what was imported stays: no collection need look at it, while a bot waits
    ignore_ctrl_c()
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        try:
            while True:
                job = pipe.recv()
                if job is not None:  # else told to stop after the match was over
                    _play(pipe, job)
        except (OSError, EOFError):
            raise
        except Exception as failure:
            pipe.send_bytes(_FAILED + f"{type(failure).__name__}: {failure}".encode())
        finally:
            # It is going already. Python complains of a signal that comes while its handler is
            # taken away; one that is blocked waits, and says nothing.
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})


def _play(pipe: Connection, job: MatchJob) -> None:
    """Play a match leg by leg, each with newly started bots."""

    def note(sentence: str) -> None:
        pipe.send_bytes(_NOTE + sentence.encode())

    game = job.match.game
    best = ranker(game.straights, game.ranking, game.hole_min)
    for held in (2, 3):  # read a showdown's tables before the first question, not in a hand
        best(DECK[:held], DECK[held : held + 5])
    for leg in job.match.legs:
        with running_bots(job.programs, job.limits, job.guard, note) as players:
            played = play(job.match, leg, job.decks, players)
            with closing(on_one_processor(played, players)) as hands:
                complete = send_hands(pipe, hands, BATCH_HANDS, _HANDS, _HANDS)
        pipe.send_bytes(_CONDUCT + msgspec.msgpack.encode([player.conduct() for player in players]))
        if not complete:
            break
    pipe.send_bytes(_OVER)
