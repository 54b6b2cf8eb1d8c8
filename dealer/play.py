"""Whole hands, from the first blind to the last chip, between bots and a deck.

Many matches at once are dealt by worker processes; this one receives every hand.
"""

import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from dealer.bots import python_bots
from dealer.bots.built_in import Bot, silent_show
from dealer.bots.seat_view import SeatHistories, Seen, seat_view
from dealer.deck import Deck, Decks, SeededDecks
from dealer.wire.protocol import default_answer
from dealer.worker import (
    PATIENCE_S,
    WorkerGone,
    decode_hands,
    ignore_ctrl_c,
    receive,
    send_hands,
    start_worker,
)
from engine.game import Game
from engine.hand import begin, step, turn
from engine.table import (
    Seating,
    Table,
    deal_in,
    has_all,
    is_freeze_out,
    moved,
    set_anew,
    settled,
    sit,
)
from engine.turn import (
    Fold,
    IllegalCommand,
    Over,
    ToBid,
    ToDeal,
    ToDraw,
    ToShow,
    ToStraddle,
    ToSwap,
)
from events.state import Finished, Hand
from events.types import Event, Events, Faulted, FaultKind, FaultPlace, HandStarted

BATCH_HANDS = 500
_MORE, _LAST, _FAILED = b"+", b".", b"!"


class Plan(Struct, frozen=True):
    """A match to be played: by which rules, by which bots, how many hands at most.

    `deals`: how often each deck is dealt, the players a seat further each time (G21).
    """

    game: Game
    match: str
    hands: int
    seed: str
    bots: tuple[str, ...]
    deals: int = 1

    @property
    def players(self) -> tuple[str, ...]:
        """The players by chair: each bot's name, and its chair."""
        return tuple(player_name(bot, chair) for chair, bot in enumerate(self.bots))


class DealJob(NamedTuple):
    """A match and its decks, for another process to deal."""

    plan: Plan
    decks: Decks


class DealtHands(NamedTuple):
    """The next hands of a match; `over` if they are the last."""

    match: str
    hands: tuple[Finished, ...]
    over: bool


def player_name(bot: str, chair: int) -> str:
    """A player: the name of his bot, without its module, and his chair."""
    return f"{python_bots.bot_name(bot)}-{chair}"


def plan(
    game: Game, match: str, hands: int, seed: str, bots: tuple[str, ...], *, mirrored: bool = False
) -> Plan:
    """A match; mirrored, every player holds every seat's cards once, from fixed places (G21)."""
    if mirrored:
        game = replace(game, deck_slots="fixed")
    return Plan(game, match, hands, seed, bots, len(bots) if mirrored else 1)


def play(
    game: Game, match: str, hands: int, seed: str, seats: int | None = None
) -> Iterator[Events]:
    """Seeded hands between random bots at one table, one freeze-out after the other."""
    return freeze_outs(Plan(game, match, hands, seed, ("random",) * (seats or usual_seats(game))))


def freeze_outs(plan: Plan, makers: Sequence[python_bots.BotMaker] = ()) -> Iterator[Events]:
    """The records of a plan's hands: after a freeze-out the next one begins."""
    decks, played = SeededDecks(plan.seed), 0
    while played < plan.hands:
        for record in hand_records(plan, decks, played + 1, makers):
            played += 1
            yield record


def hand_records(
    match: Plan, decks: Decks, first: int = 1, makers: Sequence[python_bots.BotMaker] = ()
) -> Iterator[Events]:
    """The records of the hands of a match."""
    return (hand.record for hand in finished_hands(match, decks, first, makers))


def finished_hands(
    match: Plan, decks: Decks, first: int = 1, makers: Sequence[python_bots.BotMaker] = ()
) -> Iterator[Finished]:
    """The hands of a match, one after another; a freeze-out ends when one player has it all.

    `makers` make the bots, chair by chair, if their names do not say it. A bot is made anew for
    every hand, and of a class of somebody's own once: it may learn from hand to hand, unless each
    deck is dealt again.
    """
    game = match.game
    makers = makers or tuple(python_bots.bot_maker(bot) for bot in match.bots)
    kept: dict[int, Bot] = {}

    def made(player: str, seed: str) -> Bot:
        chair = int(player.rpartition("-")[2])
        bot = kept.get(chair) or makers[chair](seed)
        if isinstance(bot, python_bots.PythonBot) and match.deals == 1:
            kept[chair] = bot
        return bot

    table = Table((None,) * len(match.bots))
    for chair, player in enumerate(match.players):
        table = sit(table, chair, player, match.game.stack, posts=False)
    for number in range(first, match.hands + 1):
        again = (number - 1) % match.deals
        table = table if again else moved(game, table)
        seating = deal_in(game, table)
        if again:  # the same seats and stacks, every player so many seats further
            players = seating.players
            seating = replace(seating, players=(*players[-again:], *players[:-again]))
        bots = tuple(  # which depend on nothing but the seed, the hand and their names
            made(player, f"{match.seed}/{number}/{player}") for player in seating.players
        )
        hand_id = f"{match.match}/{number}"
        record, hand = play_hand(game, hand_id, seating, decks.deck(number), bots)
        yield Finished(record, hand.stacks)
        if match.deals > 1:  # stacks are made anew, and nobody leaves
            continue
        table = settled(game, table, seating, hand)
        if has_all(table):
            if is_freeze_out(game):
                return
            table = set_anew(game, table)


def play_hand(
    game: Game, hand_id: str, seating: Seating, deck: Deck, bots: tuple[Bot, ...]
) -> tuple[Events, Hand]:
    """Play one hand; return its record, and the hand that the record adds up to."""
    new, hand = begin(
        game,
        hand_id,
        seating.button,
        seating.players,
        seating.stacks,
        seating.posts,
        seating.dead_small,
    )
    events: list[Event] = list(new)
    histories = SeatHistories(events)
    while not isinstance(question := turn(game, hand), Over):
        match question:
            case ToDeal() | ToSwap() | ToDraw():
                new, hand = step(game, hand, deck.answer(question))
            case _:
                seen = seat_view(game, hand, question, histories.of(question.seat))
                new, hand = _answered(game, hand, seen, bots[question.seat])
        events.extend(new)
    return tuple(events), hand


def _answered(game: Game, hand: Hand, seen: Seen, bot: Bot) -> tuple[Events, Hand]:
    """What a bot's answer makes; for one that cannot be used, a note and the default (A8): bid 0,
    check, or fold, a straddle too."""
    kind: FaultKind = "illegal"
    try:
        command = bot.choose(seen)
    except python_bots.UnusableAnswer as why:
        kind, raw = why.kind, str(why)
    else:
        try:
            return step(game, hand, command)
        except IllegalCommand:
            raw = python_bots.answer_text(command)
    match seen.asked:
        case ToStraddle(seat=seat):
            command = Fold(seat, "default")
        case ToShow() as question:
            command = silent_show(seen, question)
        case question:
            command = default_answer(question, sealed=True)
    events, hand = step(game, hand, command)
    where: FaultPlace = "bid" if isinstance(seen.asked, ToBid) else "action"
    return (Faulted(seen.seat, raw, kind, where), *events), hand


def usual_seats(game: Game) -> int:
    """The usual number of seats: as many as the game has, up to six if that is enough."""
    return max(game.seats_min, min(game.seats_max, 6))


def last_standing(hand: Finished) -> str | None:
    """The player who holds every chip after a hand, if one does."""
    start, left = hand.record[0], [seat for seat, stack in enumerate(hand.stacks) if stack]
    assert isinstance(start, HandStarted)
    return start.players[left[0]] if len(left) == 1 else None


def deal_matches(
    jobs: Iterator[DealJob], processes: int, stop: Callable[[], bool]
) -> Iterator[DealtHands]:
    """Deal these matches, so many at a time; after `stop` each ends with its last whole hand."""
    workers: dict[Connection, BaseProcess] = {}
    at_work: dict[Connection, str] = {}
    stopped = False
    try:
        while True:
            while not stopped and len(at_work) < processes and (job := next(jobs, None)):
                pipe = next((pipe for pipe in workers if pipe not in at_work), None)
                if pipe is None:
                    process, pipe = start_worker(_work)
                    workers[pipe] = process
                pipe.send(job)
                at_work[pipe] = job.plan.match
            if not at_work:
                return
            for ready in wait(list(at_work), timeout=PATIENCE_S):
                assert isinstance(ready, Connection)
                match = at_work[ready]
                kind, body = receive(ready, f"dealt {match}")
                if kind == _FAILED:
                    raise WorkerGone(f"the process that dealt {match} failed: {body.decode()}")
                if kind == _LAST:
                    del at_work[ready]
                yield DealtHands(match, decode_hands(body), kind == _LAST)
            if not stopped and stop():
                stopped = True
                for pipe in at_work:
                    pipe.send(None)
    finally:
        for pipe, process in workers.items():
            pipe.close()
            if at_work:  # something went wrong: nobody waits for their hands any more
                process.kill()
            process.join()


def _work(pipe: Connection) -> None:
    """The other process: one match after another, until nobody is there any more."""
    ignore_ctrl_c()
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            job = pipe.recv()
            if job is None:  # told to stop after the match was over
                continue
            try:
                send_hands(pipe, finished_hands(job.plan, job.decks), BATCH_HANDS, _MORE, _LAST)
            except OSError:
                raise
            except Exception as failure:
                reason = traceback.format_exception_only(failure)[-1].strip()
                pipe.send_bytes(_FAILED + reason.encode())
