"""Hands that come again: the same one is not added, and one that says otherwise is a conflict."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import zip_longest

from api.importing.naming import Repeat, read_marks
from api.importing.spill import Chunk, fetched, marks_of
from api.importing.worker import Outcome
from api.viewpoints.records import OTHERWISE, REPEATED
from events.cards import UNKNOWN
from events.evolve import replay
from events.ledger import Append, Record
from events.notation import say
from events.types import HandStarted, HoleDealt, SourceNoted
from store.log.batch import from_payload
from store.log.leaf import split
from store.segments.runs import read

_QUOTED = 200
_NONE = (0, 0, "", 0, "")


class CheckedChunk:
    """A chunk of a file, and which of its hands come again."""

    def __init__(self, chunk: Chunk) -> None:
        self.chunk = chunk
        self.marks = read_marks(marks_of(chunk))
        self.again: dict[int, Repeat] = {}

    @property
    def first(self) -> str | None:
        """The first hand that is not another again."""
        match = split(self.chunk.first)[0]
        numbers = (mark.number for mark in self.marks if mark.number not in self.again)
        return next((f"{match}/{number}" for number in numbers), None)

    @cached_property
    def appends(self) -> tuple[Append, ...]:
        """The hands of the chunk, one append each."""
        hands = fetched(self.chunk)[1]
        return read(hands).appends() if self.chunk.as_run else from_payload(hands)

    @cached_property
    def records(self) -> dict[int, tuple[Record, ...]]:
        """The records of its hands by number."""
        return {split(one.stream)[1] or 0: one.events for one in self.appends}

    @property
    def new(self) -> tuple[Append, ...]:
        """The hands of the chunk that the ledger does not have yet."""
        return tuple(one for one in self.appends if split(one.stream)[1] not in self.again)


def count(found: Outcome, part: CheckedChunk) -> None:
    """What a file's report says of them."""
    found.again += len(part.again)
    found.conflicts += [one for one in part.again.values() if one.differs]
    named = {number for numbers in found.named.values() for number in numbers}
    for number, one in part.again.items():
        if not found.elsewhere or number in named:
            found.elsewhere[number] = one.hand


def differs(known: Sequence[Record], now: Sequence[Record]) -> str:
    """The first thing in which two records of one hand contradict each other; nothing if they do
    not: a card that only one of them knows is no contradiction."""
    for one, other in zip_longest(known, now):
        if one != other and not _compatible(one, other):
            return f"it says {_said(other)}, where {_said(one)} is in the ledger"
    return ""


def _compatible(one: Record | None, other: Record | None) -> bool:
    if isinstance(one, HandStarted) and isinstance(other, HandStarted):
        seated = one.players, one.stacks, one.button
        return seated == (other.players, other.stacks, other.button)
    if not (isinstance(one, HoleDealt) and isinstance(other, HoleDealt)):
        return False
    pairs = zip_longest(one.cards, other.cards)
    return one.seat == other.seat and all(a == b or UNKNOWN in (a, b) for a, b in pairs)


def _said(event: Record | None) -> str:
    return "nothing more" if event is None else repr(say(event)[:_QUOTED])


class Repeats:
    """What is kept of them beside the hands of their file: hands next to each other on one line,
    and of each that differs its whole record; nothing of the other match, which may be sealed when
    this one is open."""

    def __init__(self) -> None:
        self._lines: list[tuple[int, int, str, int, str]] = []
        self._records: list[str] = []
        self.differ = False

    def add(self, part: CheckedChunk) -> None:
        """Note the repeated hands of one more chunk."""
        for number, one in sorted(part.again.items()):
            match, known = split(one.hand)
            first, count, was, begin, other = self._lines[-1] if self._lines else _NONE
            next_ = first + count, was, begin + count
            if not (other or one.differs) and (number, match, known) == next_:
                self._lines[-1] = (first, count + 1, was, begin, "")
                continue
            other = f"line {one.line}{OTHERWISE}" if one.differs else ""
            self._lines.append((number, 1, match, known or 0, other))
            if one.differs:
                self.differ = True
                self._records += [f"hand {number}", *map(say, part.records[number]), ""]

    def note(self, format: str) -> SourceNoted:
        """All repeated hands as one note of their match."""
        header = []
        for number, count, match, known, other in self._lines:
            if other:
                header.append(f"hand {number} is {match}/{known}, {other}")
            else:
                last = f"..{number + count - 1}", f"..{known + count - 1}"
                end, there = last if count > 1 else ("", "")
                header.append(f"hand {number}{end} is {match}/{known}{there}")
        return SourceNoted(format, REPEATED, "\n".join(header), "\n".join(self._records))


def nets_of(one: Append) -> Iterator[tuple[str, int]]:
    """What each player of a hand has won in it."""
    end = replay(one.events)  # type: ignore[arg-type]
    start = end.start
    for player, was, now in zip(start.players, start.stacks, end.stacks, strict=True):
        yield player, now - was
