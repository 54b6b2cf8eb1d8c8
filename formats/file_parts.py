"""Split a very large file before lines that begin a hand, so that several processes read it.

A part is given to the reader as if it were a file, and its hands are numbered as in the whole one.
Nothing is promised: a part that is refused, or holds other hands than were counted here, says that
the cut was wrong, and the file has to be read whole. A gamelog is cut where its own reader says:
each part can be read by itself, with what is known of the whole log.
"""

import codecs
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from events.match import SourceNoted
from formats.fitted_rake import HouseRakes
from formats.mit.dialects import FORMAT as MIT
from formats.mit.dialects import log_note
from formats.mit.grammar import Patterns
from formats.mit.parts import PartReader, PartStart
from formats.mit.read import LogReader, survey_and_reader
from formats.phh.documents import TableKeys
from formats.phh.fields import ChipUnit
from formats.phh.read import read as read_phh
from formats.phh.read import unit_of as unit_of_phh
from formats.pokerstars import read as pokerstars
from formats.rakes import RakeFrom
from formats.source import AS_READ, ImportRules, Skipped, SourceFile, encoding_of


class LogContext(Struct, frozen=True):
    """The facts of a whole gamelog that the reader of a part needs."""

    reader: LogReader
    note: SourceNoted
    start: PartStart
    place: str


PART_HANDS = 1_000  # of a part
_TABLE = re.compile(rb"\[[A-Za-z0-9_-]+\]\r?\n")
_HAND = re.compile(
    rb"PokerStars (?:Zoom |Home Game |Home )?(?:Hand|Game) #[0-9]+: |Poker Hand #[A-Z]{2}[0-9]+: "
)


class FilePart(Struct, frozen=True):
    """A part of a file: its bytes, how many hands and lines stand before it, and the facts of the
    whole file that its reader needs."""

    begin: int
    end: int
    hands: int
    hands_before: int
    lines_before: int
    last: bool
    unit: ChipUnit | None = None
    rakes: RakeFrom = "fitted"
    log: LogContext | None = None
    houses: HouseRakes | None = None


def split_file(
    path: Path, format: str, rules: ImportRules = AS_READ, tick: Callable[[], None] = lambda: None
) -> tuple[FilePart, ...]:
    """The file cut into parts; none, if there is no simple way to cut it.

    A look through a gamelog takes its time, and is heard of meanwhile.
    """
    return _SPLITTERS[format].parts(path, rules, tick) if format in _SPLITTERS else ()


def read_part(path: Path, format: str, part: FilePart) -> SourceFile:
    """The part as a source, its hands numbered as in the whole file."""
    with path.open("rb") as raw:
        raw.seek(part.begin)
        text = raw.read(part.end - part.begin)
    source = _SPLITTERS[format].read(text, part)
    if part.log:
        return source
    hands = (
        replace(hand, line=hand.line + part.lines_before)
        if isinstance(hand, Skipped)
        else replace(
            hand, line=hand.line + part.lines_before, number=hand.number + part.hands_before
        )
        for hand in source.hands
    )
    return replace(source, hands=hands)


def _split_gamelog(
    path: Path, rules: ImportRules, tick: Callable[[], None]
) -> tuple[FilePart, ...]:
    """Split a gamelog at its reader's parts, unless it must be read hand by hand."""
    survey, reader, note = survey_and_reader(path, rules, tick)
    noted = log_note(note)
    starts = survey.starts if survey.in_parts else ()
    if len(starts) < 2 or (noted.encoding, noted.newline) != ("utf-8", "\n"):
        return ()
    chunks = []
    begin = len(f"{survey.header}\n\n".encode())
    for start, hands, size in starts:
        last = start is starts[-1][0]
        log = LogContext(reader, note, start, survey.place)
        before = start.number - 1, start.line - 1
        chunks.append(FilePart(begin, begin + size, hands, *before, last, log=log))
        begin += size
    return tuple(chunks)


def _read_gamelog_part(text: bytes, part: FilePart) -> SourceFile:
    """Read a part of a gamelog; its hands are numbered as in the whole log."""
    log = part.log
    assert log is not None
    reader = log.reader
    *texts, _ = text.decode().split("\n\n")
    hands = PartReader(Patterns(*reader.players), log.start).part(texts)
    batch = log.reader.batch(hands)
    every = map(batch.hand, batch.every)
    return reader.source(log.note, log.place, every, (batch,))


def _split_phh(path: Path, rules: ImportRules, tick: Callable[[], None]) -> tuple[FilePart, ...]:
    """The names of its tables must differ in a whole file, which counts in one unit."""
    chunks = _split_before(path, b"[", _TABLE, once=True)
    unit = unit_of_phh(path) if chunks else None
    return tuple(replace(chunk, unit=unit, rakes=rules.rake) for chunk in chunks)


def _split_pokerstars(
    path: Path, rules: ImportRules, tick: Callable[[], None]
) -> tuple[FilePart, ...]:
    """Cut before hands; the rake of each house is fitted over the whole file."""
    chunks = _split_before(path, (b"PokerStars ", b"Poker Hand #"), _HAND)
    houses = pokerstars.house_rakes(path, rules) if chunks else None
    return tuple(replace(chunk, houses=houses) for chunk in chunks)


class _Splitter(NamedTuple):
    """The functions that split a file of a format and read a part."""

    parts: Callable[[Path, ImportRules, Callable[[], None]], tuple[FilePart, ...]]
    read: Callable[[bytes, FilePart], SourceFile]


_SPLITTERS = {
    MIT: _Splitter(_split_gamelog, _read_gamelog_part),
    "phh": _Splitter(
        _split_phh, lambda text, part: read_phh(text, unit=part.unit, rakes=part.rakes)
    ),
    "pokerstars": _Splitter(
        _split_pokerstars, lambda text, part: pokerstars.read(text, part.houses)
    ),
    "ggpoker": _Splitter(
        _split_pokerstars, lambda text, part: pokerstars.read(text, part.houses, "ggpoker")
    ),
}


def _split_before(
    path: Path, start: bytes | tuple[bytes, ...], begins: re.Pattern[bytes], *, once: bool = False
) -> tuple[FilePart, ...]:
    """Split before lines that begin a hand; not at all, if one comes again that may come `once`."""
    if encoding_of(path) not in ("utf-8", "utf-8-sig"):
        return ()
    keys = TableKeys()
    place = hands = lines = 0
    cuts = [(0, 0, 0)]  # how many bytes, hands and lines stand before each
    with path.open("rb") as raw:
        for line in raw:
            if b"\r" in line.removesuffix(b"\r\n"):  # the readers count it as the end of a line
                return ()
            first = line.removeprefix(codecs.BOM_UTF8)
            if first.startswith(start) and begins.match(first):
                if hands and hands % PART_HANDS == 0:
                    cuts.append((place, hands, lines))
                hands += 1
                if once and not keys.add(first.strip(b"[]\r\n").decode()):
                    return ()
            place += len(line)
            lines += 1
    if len(cuts) < 2:
        return ()
    return tuple(
        FilePart(begin, end, after - before, before, at, end == place)
        for (begin, before, at), (end, after, _) in pairwise([*cuts, (place, hands, lines)])
    )
