"""Write a match between two programs into a ledger, leg by leg, and record each bot's part in it.

A bot's part holds every reply that was no use, beside what the bot had been asked.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, nullcontext
from itertools import chain, islice
from typing import Any

import msgspec
from msgspec import Struct

from api.auditing.record import start_of
from api.playing.matches import committed_decks
from api.playing.recording import ALL_PLAYED, STOPPED, MatchResult, Recording
from api.printable import PrintableText, aligned_lines, printable_lines
from dealer.wire.match import Listener, MatchJob, MatchProcesses
from dealer.wire.player import Conduct
from dealer.wire.program import BotProgram
from dealer.wire.protocol import WirePlan, WireTurn, dialect_of, reply_command
from dealer.wire.sandbox import SandboxKind
from engine.game import Game, fingerprint
from engine.hand import decide, turn
from engine.turn import IllegalCommand, ToBid, ToToss
from events.evolve import evolve
from events.ledger import DeckSecrets, Writable
from events.match import Dealing, Disclosure, MatchStarted, Tagged
from events.notation import say
from events.state import Hand, opened
from events.types import Events, Faulted

_GONE = {
    "late": "it did not reply in time",
    "disconnected": "its connection broke",
    "": "it closed its connection, or sent an empty line",
}


class BadReply(Struct, frozen=True):
    """A bad reply: where it came, what could have been replied, and what was played instead."""

    hand: str
    player: str
    where: str
    kind: str
    asked: str
    reply: str
    because: str
    played: str | None


def bad_replies(game: Game, record: Events) -> Iterator[BadReply]:
    """Every bad reply of one hand, in order."""
    if Faulted not in map(type, record):
        return
    start = start_of(record)
    hand = opened(start)
    for at, event in enumerate(record[1:], 1):
        if isinstance(event, Faulted):
            question = None if event.where == "acknowledgement" else turn(game, hand)
            assert question is None or isinstance(question, WireTurn)
            answer = None  # in the record, without whose it is
            if question:
                answer = say(record[at + 1]).removeprefix(f"{event.seat} ")
                answer = answer.partition(" (default)")[0]
            yield BadReply(
                start.hand,
                start.players[event.seat],
                event.where,
                event.kind,
                _possible_replies(question),
                event.raw,
                _refusal(game, hand, question, event),
                answer,
            )
        hand = evolve(hand, event)


def _possible_replies(question: WireTurn | None) -> str:
    """The replies that were possible: `F, C, R8..400`."""
    if question is None:
        return "K"
    if isinstance(question, ToBid):
        return f"A0..{question.bid_max}"
    if isinstance(question, ToToss):
        return f"D0..{question.slots - 1}"
    words = ["K"] if question.check else ["F", "C"]
    if question.raise_min is not None:
        words.append(f"R{question.raise_min}..{question.raise_max}")
    return ", ".join(words)


def _refusal(game: Game, hand: Hand, question: WireTurn | None, fault: Faulted) -> str:
    reply = fault.raw
    if fault.kind in _GONE:
        return _GONE[fault.kind]
    if fault.kind == "illegal" and question is not None:
        answer = reply_command(dialect_of(game), question, reply, True)
        try:
            assert answer is not None
            decide(game, hand, answer)
        except IllegalCommand as why:
            return str(why)
    if fault.kind == "illegal":
        noted = "another's toss and the end of a hand are" if dialect_of(game).tosses else ""
        return f"{noted or 'the end of a hand is'} answered with K"
    if not reply:
        return _GONE[""]
    if "\ufffd" in reply:
        return "it is no text in UTF-8"
    if reply.endswith("…"):
        return "it goes on without an end of line, or for too long"
    dialect = dialect_of(game)
    if reply[0] in ("RA" if dialect.bids else "RD" if dialect.tosses else "R"):
        return f"there is no whole number behind its {reply[0]}"
    return f"no reply begins with {reply[0]!r}"


_REPLIES_SHOWN = 20  # reasons that the text shows of each bot
_WIDTH = 60  # characters of one that it shows


ISOLATION: dict[SandboxKind, str] = {  # the best first
    "user+namespaces": "kept apart as another user and by namespaces",
    "namespaces": "kept apart by namespaces",
    "user": "kept apart as another user",
    "none": "not kept apart, and could read what you can, the ledger and its secrets too",
}


class BotRecord(Struct, frozen=True):
    """The record of one bot in one match; mirrored, of both legs together.

    `failed` says why not all that it did was played by what is in its folder: its build failed, it
    never connected, or it was not asked any more.
    """

    player: str
    folder: str
    replies: int
    clock_left: float
    slowest_ms: float
    silent: str | None
    failed: str | None
    notes: tuple[str, ...]
    exit: int | None
    faults: dict[str, int]
    last_lines: tuple[str, ...]
    kept_apart: SandboxKind
    not_kept_because: tuple[str, ...]


def bot_record(
    program: BotProgram, legs: Sequence[Conduct], faults: Iterable[BadReply]
) -> BotRecord:
    """The record of a bot; of two legs the shorter clock, the longer wait and the later trouble."""
    silent = [leg.silenced_because for leg in legs if leg.silenced_because]
    failed = [why for leg in legs for why in (leg.build_failure, leg.silenced_because) if why]
    return BotRecord(
        player=program.name,
        folder=str(program.folder),
        replies=sum(leg.questions_asked for leg in legs),
        clock_left=round(min((leg.clock_left for leg in legs), default=0.0), 3),
        slowest_ms=round(max((leg.slowest for leg in legs), default=0.0) * 1_000, 3),
        silent=silent[-1] if silent else None,
        failed="; ".join(dict.fromkeys(failed)) or None,
        notes=tuple(note for leg in legs for note in leg.notes),
        exit=legs[-1].exit if legs else None,
        faults=dict(Counter(one.kind for one in faults if one.player == program.name)),
        last_lines=legs[-1].last_lines if legs else (),
        kept_apart=max((leg.isolation for leg in legs), key=[*ISOLATION].index, default="none"),
        not_kept_because=tuple(
            dict.fromkeys(why for leg in legs for why in leg.isolation_failures)
        ),
    )


def as_json(parts: Sequence[BotRecord], faults: Sequence[BadReply]) -> dict[str, Any]:
    """The two lists that a document holds of it."""
    lists: dict[str, Any] = msgspec.to_builtins({"bots": parts, "faults": faults})
    return lists


def as_text(parts: Sequence[BotRecord], faults: Sequence[BadReply]) -> PrintableText:
    """A line for each bot, then whatever somebody may ask about who was folded."""
    rows = [["", "replies", "unusable", "clock left", "slowest"]]
    for one in parts:
        unusable = sum(one.faults.values())
        clock, slowest = f"{one.clock_left:.3f} s", f"{one.slowest_ms:.1f} ms"
        rows.append([one.player, str(one.replies), str(unusable), clock, slowest])
    lines = [*aligned_lines(rows, numbers=range(1, 5)), ""]
    for means in dict.fromkeys(one.kept_apart for one in parts):
        names = ", ".join(one.player for one in parts if one.kept_apart == means)
        lines.append(f"{ISOLATION[means]}: {names}")
        if means == "none":
            reasons = dict.fromkeys(why for one in parts for why in one.not_kept_because)
            lines += [f"  {why}" for why in reasons]
    for one in parts:
        lines += _fold_reasons(one, [fault for fault in faults if fault.player == one.player])
    return printable_lines(lines)


def _fold_reasons(one: BotRecord, faults: Sequence[BadReply]) -> list[str]:
    """Why this bot was folded; nothing, if it never was."""
    lines = []
    if one.silent:
        lines.append(f"{one.player} was not asked any more: {one.silent}")
    lines += [f"{one.player}: {note}" for note in one.notes]
    if faults:
        reasons: dict[str, list[BadReply]] = {}
        for fault in faults:
            reasons.setdefault(fault.because, []).append(fault)
        often = sorted(reasons.values(), key=lambda same: -len(same))
        rows = [["times", "first", "asked", "reply", "because", "played"]]
        for first, *others in often[:_REPLIES_SHOWN]:
            reply = first.reply if len(first.reply) <= _WIDTH else f"{first.reply[:_WIDTH]}…"
            reply = json.dumps(reply, ensure_ascii=False)
            row = [str(1 + len(others)), first.hand, first.asked, reply]
            rows.append([*row, first.because, first.played or "-"])
        table = aligned_lines(rows, numbers=(0,))
        lines += [f"why was {one.player} folded", *(f"  {line}" for line in table)]
        if len(often) > _REPLIES_SHOWN:
            lines.append(f"  and {len(often) - _REPLIES_SHOWN} more reasons: --json tells all")
    if lines and one.last_lines:
        lines.append(f"the last that {one.player} printed")
        lines += [f"  {line}" for line in one.last_lines]
    return ["", *lines] if lines else []


ShowProgress = Callable[[Iterable[Events]], Iterable[Events]]


class BotMatch:
    """A match between two programs, its plan and its decks; collects bad replies and logs."""

    def __init__(self, job: MatchJob, tags: tuple[Tagged, ...] = ()) -> None:
        self.faults: list[BadReply] = []
        self._job = job
        self._tags = tags
        self._legs: list[tuple[Conduct, Conduct]] = []

    def match_start(
        self, seed: str | None, disclosure: Disclosure, dealing: Dealing = "seeded"
    ) -> MatchStarted:
        """The record that the match begins with."""
        match = self._job.match
        rules, sealed = fingerprint(match.game), not match.open_bids
        return MatchStarted(
            match.match,
            match.game.name,
            rules,
            match.players,
            dealing,
            disclosure,
            sealed,
            seed,
            match.deals,
        )

    def record(
        self,
        ledger: Writable,
        start: MatchStarted,
        tell: Callable[[str], None],
        stop: Callable[[], bool],
        watch: ShowProgress = iter,
        kept: DeckSecrets | None = None,
        processes: MatchProcesses | None = None,
    ) -> MatchResult:
        """Every hand durable soon after it was played; however it ends, no bot is left behind.

        `kept` is where the secrets of committed decks are kept: these are made here, for the job
        knows only of a seed. `processes` are those of other matches, too.
        """
        match, job = self._job.match, self._job
        recording = Recording(ledger, start, match.game, self._tags)
        if start.dealing == "committed":
            assert kept is not None
            decks = committed_decks(recording, kept, match.hands)
            recording.opens = lambda count, over: decks.opened(
                last_open_deck(match, count, over), over=over
            )
            job = job._replace(decks=decks.committed(match.hands))
        listener = Listener(tell, self._legs.append)
        with (
            nullcontext(processes) if processes else MatchProcesses() as playing,
            closing(playing.play(job, listener, stop)) as hands,
        ):
            for record in watch(recording.keep(hands, lambda: False)):
                self.faults += bad_replies(match.game, record)
        return recording.end(ALL_PLAYED if recording.hands == match.hands else STOPPED)

    def parts(self) -> tuple[BotRecord, ...]:
        """The records of both bots."""
        return tuple(
            bot_record(program, [leg[seat] for leg in self._legs], self.faults)
            for seat, program in enumerate(self._job.programs)
        )

    def log(self, seat: int) -> bytes:
        """The log of a bot, of both legs if there were two."""
        return b"".join(leg[seat].log for leg in self._legs)


def last_open_deck(match: WirePlan, played: int, over: bool) -> int:
    """Up to which number no deck will be dealt again, once so many hands have been played.

    In a mirrored match every deck comes again in the second leg, so none is open before the end.
    """
    if not over:
        return 0 if match.mirrored else played
    return max(islice(chain.from_iterable(match.legs), played), default=0)
