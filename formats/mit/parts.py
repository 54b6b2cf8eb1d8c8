"""Read a log many hands at a time: undisturbed ones as columns, each other one by itself.

Here too a log with something wrong is `Refused`, but the sentence says less than the reader of hand
by hand can say: after such a refusal the log is read hand by hand.

How rounds follow each other is checked here, and what may stand after the last one.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from formats.mit import lines as say
from formats.mit.dialects import LargestTotals, ReplyPlace
from formats.mit.grammar import Patterns, known_line
from formats.mit.hand import LogHand
from formats.mit.hand_columns import HandTotals
from formats.mit.lines import UNDISTURBED, Column, LineTable
from formats.source import Refused, Text, open_text


def checked_footer(names: Patterns, numbered: Iterable[tuple[int, str]]) -> str:
    """All that comes after the final line: how much a street was worth, and the last line's end."""
    rest = list(numbered)
    for place, (number, line) in enumerate(rest):
        last = place == len(rest) - 1
        if not names.footer.fullmatch(line) and not (last and not line):
            raise Refused(number, f"this may not follow the final line: {line[:60]!r}")
        if place > 12:
            raise Refused(number, "the footer has too many lines")
    return "".join(f"\n{line}" for _, line in rest)


PART_HANDS = 1_000  # of a part; most logs have so many
LINES_MAX = 4096  # of one hand: no hand of ours has a tenth of that
_PIECE = 1 << 18  # characters read at once
_HELD_MAX = 1 << 22  # characters of a part, or without an empty line
_KNOWN_MAX = 1 << 16  # different lines that are remembered


class LogEnd(NamedTuple):
    """The footer after the final line, and both players' winnings by then."""

    footer: str
    banks: tuple[int, ...]


class PartStart(NamedTuple):
    """The start of a part: its first hand and line, winnings so far, and who is gone."""

    number: int = 1
    line: int = 3
    banks: tuple[int, ...] = (0, 0)
    gone: tuple[int, ...] = ()


class LogPart:
    """Some consecutive hands of a gamelog.

    `counted` are those whose lines come in a usual order; `places` tells which of the part's hands
    they are, `sound` which of them are to be taken so. `others` are the rest, as far as read.
    """

    def __init__(self, names: Patterns, start: PartStart, texts: list[str]) -> None:
        self.start, self.first, self.texts = start, start.number, texts
        sizes = [text.count("\n") + 1 for text in texts]
        self._begins = np.cumsum([0, *sizes])  # of each hand among all lines that are not empty
        *self.lines, self.end = (start.line + self._begins + np.arange(len(texts) + 1)).tolist()
        if max(sizes) > LINES_MAX:
            raise Refused(start.line, f"a round of more than {LINES_MAX} lines")
        self.rounds: Column = np.zeros(
            0, dtype=np.int64
        )  # the first lines, as `LineTable` has them
        self.counted: HandTotals | None = None
        self.places: Column = np.zeros(0, dtype=np.int64)
        self.sound: Column = np.zeros(0, dtype=bool)
        self.others: dict[int, LogHand] = {}
        self._names = names

    def __len__(self) -> int:
        return len(self.texts)

    def block(self, place: int) -> LogHand:
        """The hand at this place of the part, read by itself."""
        return self.others[place] if place in self.others else self._block(place, set())

    def read(self, known: LineTable, gone: set[int]) -> Column:
        """Every hand read; what each of them changed for both seats.

        From the hand on in which a player is gone, his default actions look like chosen ones, and
        only `LogHand` tells them apart.
        """
        nets = np.zeros((len(self), 2), dtype=np.int64)
        codes = known.codes("\n".join(self.texts).split("\n"))
        self.rounds = codes.take(self._begins[:-1])
        usual: list[int] = []
        if not gone:  # which hands have lines that come in a usual order
            letters, shapes = known.letters(codes), dict[bytes, bool]()
            for place, (begin, end) in enumerate(pairwise(self._begins.tolist())):
                shape = letters[begin:end]
                if shape not in shapes:
                    shapes[shape] = UNDISTURBED.fullmatch(shape.decode()) is not None
                if shapes[shape]:
                    usual.append(place)
        if usual:
            self.places = np.array(usual)
            is_usual = np.zeros(len(self), dtype=bool)
            is_usual[self.places] = True
            sizes = np.diff(self._begins)
            log = known.log(codes[np.repeat(is_usual, sizes)])
            begins = np.cumsum([0, *sizes[is_usual].tolist()])
            self.counted = HandTotals(log, begins, self.first + self.places)
            self.sound = self.counted.sound
            nets[self.places] = self.counted.nets
        rest = np.ones(len(self), dtype=bool)
        rest[self.places[self.sound]] = False
        for place in range(len(self)) if rest.any() else ():
            if rest[place] or gone:
                self.others[place] = self._block(place, gone)
                nets[place] = self.others[place].nets
        if self.others:
            self.sound = self.sound & ~np.isin(self.places, list(self.others))
        return nets

    @property
    def marks(self) -> set[str]:
        """The signs of a dialect in all hands of the part."""
        marks = set(self.counted.marks(self.sound)) if self.counted else set()
        return marks.union(*(block.marks for block in self.others.values()))

    def reach(self, reached: LargestTotals) -> None:
        """Count the largest total of a seat in every hand that does not contradict itself."""
        if self.counted is not None:
            put = self.counted.put[self.sound].max(1)
            most, first, hands = np.unique(put, return_index=True, return_counts=True)
            numbers = self.counted.numbers[self.sound][first]
            for group in zip(most.tolist(), numbers.tolist(), hands.tolist(), strict=True):
                reached.add(*group)
        for block in self.others.values():
            block.reach(reached)

    @property
    def exceptions(self) -> dict[ReplyPlace, str]:
        """The names of exceptions that do not follow from the replies."""
        return {at: name for block in self.others.values() for at, name in block.exceptions.items()}

    def _block(self, place: int, gone: set[int]) -> LogHand:
        number = self.first + place
        lines = self.texts[place].split("\n")
        return LogHand(self._names, gone, number, self.lines[place], 1 - number % 2, lines)


def log_parts(log: Text, names: Patterns) -> Iterator[LogPart | LogEnd]:
    """The log from its first round to its end."""
    reader = PartReader(names, PartStart())
    held: list[str] = []
    size = 0
    for text in _texts(log):
        if len(held) > PART_HANDS or size > _HELD_MAX:
            yield reader.part(held[:-1])
            held, size = held[-1:], 0
        held.append(text)
        size += len(text)
    *rest, last = held
    if rest:
        yield reader.part(rest)
    yield reader.end(last)


class PartReader:
    """Reads part after part, from some start on."""

    def __init__(self, names: Patterns, start: PartStart) -> None:
        self._names = names
        self._known = LineTable(names)
        self._at = start

    def part(self, texts: list[str]) -> LogPart:
        """The next hands."""
        if len(self._known) > _KNOWN_MAX:
            self._known = LineTable(self._names)
        part = LogPart(self._names, self._at, texts)
        gone = set(self._at.gone)
        nets = part.read(self._known, gone)
        banks = np.cumsum(np.vstack([self._at.banks, nets]), axis=0)
        # Each round has the next number, names its dealer first, and what both have won so far.
        log, count = self._known.log(part.rounds), np.arange(len(part))
        number = part.first + count
        dealer = 1 - number % 2
        wrong = (log.letter != ord(say.ROUND)) | (log.first != number) | (log.seat != dealer)
        wrong |= log.first >= say.NUMBER_MAX
        wrong |= log.second != banks[count, dealer]
        wrong |= log.third != banks[count, 1 - dealer]
        if wrong.any():
            place = int(wrong.argmax())
            raise Refused(part.lines[place], f"round #{part.first + place} does not follow")
        after = part.first + len(part)
        self._at = PartStart(after, part.end, tuple(banks[-1].tolist()), tuple(sorted(gone)))
        return part

    def end(self, text: str) -> LogEnd:
        """The final line, and what follows it."""
        final, *rest = text.split("\n")
        number, line, banks, _ = self._at
        check_round_line(self._names.final, self._names, final, line, number, [*banks])
        return LogEnd(checked_footer(self._names, enumerate(rest, line + 1)), banks)


def _texts(text: Text) -> Iterator[str]:
    """The texts between empty lines, from the first round on."""
    with open_text(text) as lines:
        _, _, held = lines.read(_PIECE).partition("\n\n")
        while piece := lines.read(_PIECE):
            *complete, held = (held + piece).split("\n\n")
            yield from complete
            if len(held) > _HELD_MAX:
                raise Refused(1, "no empty line for a long while")
        yield from held.split("\n\n")


def check_round_line(
    pattern: re.Pattern[str],
    names: Patterns,
    line: str,
    number: int,
    expected: int,
    banks: list[int],
) -> None:
    """The dealer of the hand first, then the other, each with what he has won so far."""
    match = pattern.fullmatch(line)
    if match is None:
        if why := known_line(line):
            raise Refused(number, why)
        raise Refused(number, f"round #{expected} or the final line is due: {line[:60]!r}")
    if match[1] and int(match[1]) != expected:
        raise Refused(number, f"round #{match[1]} stands where round #{expected} is due")
    for seat, at in zip((1 - expected % 2, expected % 2), (2, 4), strict=True):
        who = names.seat(match[at])
        if who is not None and who != seat:
            raise Refused(number, f"{names.both[seat]} is due where {match[at]} is named")
        if int(match[at + 1]) != banks[seat]:
            raise Refused(
                number,
                f"{match[at]} has {banks[seat]} by the rounds before, not {match[at + 1]}: "
                "hands are missing or from another match",
            )
