"""Read a gamelog: survey the whole log, then yield its hands one by one or many at a time.

A whole log is looked through once: what is damaged or of another game is refused before any hand is
out, and the lines are gathered that tell which engine wrote it, by which rules, with how much to
play: no line says that.

There are two ways through a log, which come to the same: many hands at a time (`parts.py`), and
hand by hand, which says of a damaged log what is wrong with it.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from msgspec import Struct, field

from engine.game import Game
from events.cards import Rank
from events.match import SourceNoted
from formats.mit.dialects import (
    ENGINES,
    FORMAT,
    LargestTotals,
    LogNote,
    ReplyPlace,
    dialect_of,
    source_note,
)
from formats.mit.event_columns import LogFacts, event_columns, has_event_columns
from formats.mit.grammar import Patterns, header_names, known_line, other_format
from formats.mit.hand import LogHand
from formats.mit.parts import (
    LINES_MAX,
    LogEnd,
    LogPart,
    PartStart,
    check_round_line,
    checked_footer,
    log_parts,
)
from formats.source import (
    AS_READ,
    HasBounty,
    ImportRules,
    Refused,
    Skipped,
    SourceBatch,
    SourceFile,
    SourceHand,
    Text,
    encoding_of,
    lines,
    open_text,
)

_KEPT_MAX = 2000  # hands of a log that are kept from the first pass: most logs have 1000


class Survey(Struct):
    """The survey of a whole log in a first pass.

    Its hands are kept if they are few, as far as the pass went through them: in parts, or one by
    one. Of parts it knows where they start, how many hands each has, and how many bytes in UTF-8.
    """

    header: str
    names: Patterns
    in_parts: bool
    footer: str = ""
    banks: tuple[int, ...] = ()
    rounds: int = 0
    marks: set[str] = set()
    reached: LargestTotals = field(default_factory=LargestTotals)
    exceptions: dict[ReplyPlace, str] = {}
    bounties: dict[int, dict[int, Rank]] = {}
    kept: list[LogPart | LogHand] = []
    starts: list[tuple[PartStart, int, int]] = []

    def add(self, hands: LogPart | LogHand) -> None:
        """Add some more hands of the log."""
        if isinstance(hands, LogPart):
            size = sum(len(text.encode()) + 2 for text in hands.texts)
            self.starts.append((hands.start, len(hands), size))
        self.rounds += len(hands) if isinstance(hands, LogPart) else 1
        if self.rounds <= _KEPT_MAX:
            self.kept.append(hands)
        else:
            self.kept.clear()
        hands.reach(self.reached)
        self.marks |= hands.marks
        self.exceptions.update(hands.exceptions)
        for block in hands.others.values() if isinstance(hands, LogPart) else (hands,):
            if block.bounties:
                self.bounties[block.number] = block.bounties

    @property
    def place(self) -> str:
        """The key of this log among others of the same two: its first and its last line."""
        return f"{self.header}\nFinal, {self.rounds} rounds, {self.banks}"

    def parts(self, text: Text) -> Iterator[LogPart]:
        """The hands of the log many at a time, read again where they were too many to keep."""
        for hands in self._again(log_parts(text, self.names)):
            if isinstance(hands, LogPart):
                yield hands

    def blocks(self, text: Text) -> Iterator[LogHand]:
        """The hands of the log, one by one."""
        again = log_hands(text, self.names)
        for hands in again if self.in_parts else self._again(again):
            if isinstance(hands, LogHand):
                yield hands

    def _again(
        self, read: Iterator[LogPart | LogHand | LogEnd]
    ) -> Iterable[LogPart | LogHand | LogEnd]:
        return self.kept if self.rounds <= _KEPT_MAX else read


def survey(text: Text, tick: Callable[[], None] = lambda: None) -> Survey:
    """The first pass; `tick` is called after every part, or after every hand."""
    header, names = _header(text)
    if not names.same_name and all(names.both):  # of one name lines are told apart by those before
        try:
            return _survey(Survey(header, names, in_parts=True), log_parts(text, names), tick)
        except Refused:
            pass  # the other way says why
    return _survey(Survey(header, names, in_parts=False), log_hands(text, names), tick)


def _survey(
    log: Survey, read: Iterator[LogPart | LogHand | LogEnd], tick: Callable[[], None]
) -> Survey:
    for piece in read:
        tick()
        if isinstance(piece, LogEnd):
            log.footer, log.banks = piece.footer, piece.banks
            if " bets EV: " in piece.footer:
                log.marks.add("footer")
            break
        log.add(piece)
    return log


def _header(text: Text) -> tuple[str, Patterns]:
    """The first line, and its two names: if they can be read in several ways, as round 1 does."""
    first = _lines(text)
    header = next(first, "")
    pairs = header_names(header)
    if not pairs:
        if why := known_line(header):
            raise Refused(1, why)
        kind = other_format(header)
        raise Refused(1, f"this is {kind}" if kind else "no gamelog begins with this line")
    next(first, "")
    start = next(first, "")
    for pair in pairs:
        seats = "{} (0), {} (0)".format(*pair)
        if start in (f"Round #1, {seats}", f"Final, {seats}"):
            return header, Patterns(*pair)
    if why := known_line(start):
        raise Refused(3, why)
    raise Refused(3, f"round #1 of the players in the header comes here, not {start[:60]!r}")


def log_hands(text: Text, names: Patterns) -> Iterator[LogHand | LogEnd]:
    """Hand by hand, each checked against the one before; at last the end of the log."""
    banks, expected = [0, 0], 1
    gone: set[int] = set()
    held: list[str] = []
    numbered = enumerate(_lines(text), 1)
    next(numbered)
    if next(numbered, (2, "?"))[1]:
        raise Refused(2, "an empty line comes after the header")
    number = 2
    for number, line in numbered:
        if line and (held or not line.startswith("Final, ")):
            held.append(line)
            if len(held) > LINES_MAX:
                raise Refused(number, f"a round of more than {LINES_MAX} lines")
            continue
        if line:
            check_round_line(names.final, names, line, number, expected, banks)
            yield LogEnd(checked_footer(names, numbered), tuple(banks))
            return
        if not held:
            raise Refused(number, "two empty lines follow each other")
        block = _log_hand(names, gone, held, number - len(held), expected, banks)
        for seat in (0, 1):
            banks[seat] += block.nets[seat]
        yield block
        held, expected = [], expected + 1
    if held:
        _log_hand(names, gone, held, number - len(held) + 1, expected, banks)
    raise Refused(number, "the final line is missing: this is not the whole log")


def _log_hand(
    names: Patterns, gone: set[int], held: list[str], line: int, expected: int, banks: list[int]
) -> LogHand:
    check_round_line(names.round, names, held[0], line, expected, banks)
    return LogHand(names, gone, expected, line, 1 - expected % 2, held)


def _lines(text: Text) -> Iterator[str]:
    """Each line without its end; a last empty one if the text ends with a line's end."""
    line = ""
    for line in lines(text):
        yield line.removesuffix("\n")
    if line.endswith("\n"):
        yield ""


def read(text: Text, rules: ImportRules = AS_READ) -> SourceFile:
    """The log taken apart."""
    log, reader, note = survey_and_reader(text, rules)
    batches = map(reader.batch, log.parts(text)) if log.in_parts else None
    return reader.source(note, log.place, map(reader.hand, log.blocks(text)), batches)


def survey_and_reader(
    text: Text, rules: ImportRules = AS_READ, tick: Callable[[], None] = lambda: None
) -> tuple[Survey, "LogReader", SourceNoted]:
    """Survey the whole log; return that, a reader of its hands, and the note to keep."""
    log = survey(text, tick)
    dialect = dialect_of(log.header, log.marks, rules.game)
    game = ENGINES[dialect].rules
    stack, why = rules.of(game).stack, "as it was set"
    if not rules.sets("stack"):
        stack, why = log.reached.stack(stack)
    inferred = (
        f"variant {game.name}, from the kinds of lines",
        "; ".join(filter(None, (f"stack {stack}, {why}", log.reached.outliers(stack)))),
    )
    with open_text(text) as stream:
        while stream.read(1 << 20):
            pass
        ends = stream.newlines
    if isinstance(ends, tuple):  # lines that one engine wrote all end alike
        raise Refused(1, "the lines end in different ways: this file was put together")
    encoding = encoding_of(text)
    note = LogNote(dialect, log.header, log.footer, encoding, ends or "\n", log.exceptions)
    reader = LogReader(log.names.both, stack, dialect, inferred, log.bounties)
    return log, reader, source_note(note)


class LogReader(NamedTuple):
    """Makes source hands of a log's hands, once the whole log is known."""

    players: tuple[str, str]
    stack: int
    dialect: str
    inferred: tuple[str, ...]
    bounties: dict[int, dict[int, Rank]]

    @property
    def game(self) -> Game:
        """The rules of that dialect."""
        return ENGINES[self.dialect].rules

    def source(
        self,
        note: SourceNoted,
        place: str,
        hands: Iterable[SourceHand | Skipped],
        batches: Iterable[SourceBatch] | None,
    ) -> SourceFile:
        """The log, or a part of it, as a source of these hands."""
        return SourceFile(
            format=FORMAT,
            dialect=self.dialect,
            players=self.players,
            note=note,
            inferred=self.inferred,
            hands=hands,
            batches=batches,
            place=place,
        )

    def hand(self, block: LogHand) -> SourceHand | Skipped:
        """The source hand of a log's hand, or why it is left out."""
        wrong = block.wrong
        if ENGINES[self.dialect].swapped and block.wrong is None:
            wrong = block.unreported()
        drawn: dict[int, Rank] = {}
        if ENGINES[self.dialect].bounties:
            resets = [number for number in self.bounties if number <= block.number]
            drawn = self.bounties[max(resets)] if resets else {}
            wrong = wrong or self._unhit(block, drawn)
        if wrong is not None:
            return Skipped(block.line, wrong)
        return SourceHand(
            game=self.game,
            number=block.number,
            line=block.line,
            source_id=f"Round #{block.number}",
            button=block.button,
            players=self.players,
            stacks=(self.stack, self.stack),
            items=(*(HasBounty(seat, rank) for seat, rank in drawn.items()), *block.items),
            nets=(block.nets[0], block.nets[1]),
            rake=0,
            inferred=self.inferred,
            assumed=(self.assumed,) if block.reaches(self.stack) else (),
            text=block.text,
        )

    def _unhit(self, block: LogHand, drawn: dict[int, Rank]) -> str | None:
        """Why the bounties of a hand are not what it tells."""
        if not drawn:
            return f"round #{block.number}: no line before it tells the bounties"
        order = (block.button, 1 - block.button)
        hits = [
            self.players[seat]
            for seat in order
            if any(card[0] == drawn[seat] for card in block.cards(seat))
        ]
        if ENGINES[self.dialect].hits and hits != block.hits:
            return f"round #{block.number}: other bounties are hit than the cards hit"
        return None

    @property
    def assumed(self) -> str:
        """The assumption of hands in which a seat puts in the whole stack."""
        return f"stack {self.stack}"

    def batch(self, part: LogPart) -> SourceBatch:
        """A part as a batch; hands that are not in its columns are for `hand`."""
        counted, which = part.counted if has_event_columns(self.game) else None, part.sound
        if counted is not None:
            which = which & (counted.put.max(1) <= self.stack)
            if ENGINES[self.dialect].swapped:
                which = which & ~counted.unreported()
        table = LogFacts(self.game, self.players, self.stack, self.assumed)
        return SourceBatch(
            game=self.game,
            players=self.players,
            every=range(part.first, part.first + len(part)),
            numbers=counted.numbers[which] if counted else (),
            nets=counted.nets[which] if counted else (),
            by_kind=event_columns(counted, which, table) if counted and which.any() else (),
            hand=lambda number: self.hand(part.block(number - part.first)),
            texts=part.texts,
        )
