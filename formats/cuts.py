"""Where a very large file may be cut, so that several processes read it: before a line that begins
a hand.

A part is given to the reader as if it were a file, and its hands are numbered as in the whole one.
Nothing is promised: a part that is refused, or holds other hands than were counted here, says that
the cut was wrong, and the file has to be read whole. A gamelog is cut where its own reader says:
each part can be read by itself, with what is known of the whole log.
"""

import codecs
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from events.match import SourceNoted
from formats.mit.grammar import Names
from formats.mit.note import FORMAT as MIT
from formats.mit.note import unnoted
from formats.mit.parts import Reader, Start
from formats.mit.read import Teller, surveyed
from formats.phh.documents import Keys
from formats.phh.fields import Money
from formats.phh.read import read as read_phh
from formats.phh.read import unit_of as unit_of_phh
from formats.pokerstars import reader as pokerstars
from formats.pokerstars.fitted_rake import Houses
from formats.rakes import RakeFrom
from formats.rules import AS_READ, Rules
from formats.source import Skipped, Source, SourceHand
from formats.text import encoding_of


class Log(Struct, frozen=True):
    """What is known of a whole log where one of its parts begins."""

    teller: Teller
    note: SourceNoted
    start: Start
    place: str


class Cut(Struct, frozen=True):
    """The bytes of some hands, and how many hands those are."""

    begin: int
    end: int
    hands: int
    log: Log


HANDS = 1_000  # of a part
_TABLE = re.compile(rb"\[[A-Za-z0-9_-]+\]\r?\n")
_HAND = re.compile(
    rb"PokerStars (?:Zoom |Home Game |Home )?(?:Hand|Game) #[0-9]+: |Poker Hand #[A-Z]{2}[0-9]+: "
)


class Chunk(Struct, frozen=True):
    """The bytes of so many hands, how many hands and lines stand before them, and what a reader
    has to know of the whole file."""

    begin: int
    end: int
    hands: int
    hands_before: int
    lines_before: int
    last: bool
    unit: Money | None = None
    rakes: RakeFrom = "fitted"
    log: Log | None = None
    houses: Houses | None = None


def parts(
    path: Path, format: str, rules: Rules = AS_READ, tick: Callable[[], None] = lambda: None
) -> tuple[Chunk, ...]:
    """The file cut into parts; none, if there is no simple way to cut it.

    A look through a gamelog takes its time, and is heard of meanwhile.
    """
    return _WAYS[format].parts(path, rules, tick) if format in _WAYS else ()


def read(path: Path, format: str, part: Chunk) -> Source:
    """The part as a source."""
    with path.open("rb") as raw:
        raw.seek(part.begin)
        text = raw.read(part.end - part.begin)
    return _WAYS[format].read(text, part)


def _gamelog(path: Path, rules: Rules, tick: Callable[[], None]) -> tuple[Chunk, ...]:
    """Cut a gamelog where its own reader says."""
    found = log_cuts(path, rules, tick)
    return tuple(
        Chunk(
            one.begin,
            one.end,
            one.hands,
            one.log.start.number - 1,
            one.log.start.line - 1,
            one is found[-1],
            log=one.log,
        )
        for one in (found if len(found) > 1 else ())
    )


def _of_a_gamelog(text: bytes, part: Chunk) -> Source:
    assert part.log is not None
    return read_cut(text, part.log)


def _phh(path: Path, rules: Rules, tick: Callable[[], None]) -> tuple[Chunk, ...]:
    """The names of its tables must differ in a whole file, which counts in one unit."""
    found = _by_lines(path, b"[", _TABLE, once=True)
    unit = unit_of_phh(path) if found else None
    return tuple(replace(one, unit=unit, rakes=rules.rake) for one in found)


def _of_phh(text: bytes, part: Chunk) -> Source:
    return _placed(read_phh(text, unit=part.unit, rakes=part.rakes), part)


def _pokerstars(path: Path, rules: Rules, tick: Callable[[], None]) -> tuple[Chunk, ...]:
    """Cut before hands; the rake of each house is fitted over the whole file."""
    found = _by_lines(path, (b"PokerStars ", b"Poker Hand #"), _HAND)
    houses = pokerstars.houses_of(path, rules) if found else None
    return tuple(replace(one, houses=houses) for one in found)


def _of_pokerstars(text: bytes, part: Chunk) -> Source:
    return _placed(pokerstars.read(text, part.houses), part)


def _of_ggpoker(text: bytes, part: Chunk) -> Source:
    return _placed(pokerstars.read(text, part.houses, "ggpoker"), part)


class _Way(NamedTuple):
    """How the files of a format are cut, and how a part of one is read."""

    parts: Callable[[Path, Rules, Callable[[], None]], tuple[Chunk, ...]]
    read: Callable[[bytes, Chunk], Source]


_WAYS = {
    MIT: _Way(_gamelog, _of_a_gamelog),
    "phh": _Way(_phh, _of_phh),
    "pokerstars": _Way(_pokerstars, _of_pokerstars),
    "ggpoker": _Way(_pokerstars, _of_ggpoker),
}


def _by_lines(
    path: Path, start: bytes | tuple[bytes, ...], begins: re.Pattern[bytes], *, once: bool = False
) -> tuple[Chunk, ...]:
    """Cut before lines that begin a hand; not at all, if one that may stand there `once` is there
    again."""
    if encoding_of(path) not in ("utf-8", "utf-8-sig"):
        return ()
    cuts = _cuts(path, start, begins, once=once)
    return tuple(
        Chunk(begin, end, after - before, before, lines, end == cuts[-1][0])
        for (begin, before, lines), (end, after, _) in pairwise(cuts if len(cuts) > 2 else ())
    )


def _cuts(
    path: Path, start: bytes | tuple[bytes, ...], begins: re.Pattern[bytes], *, once: bool
) -> list[tuple[int, int, int]]:
    """Beginning, cuts and end: how many bytes, hands and lines stand before each."""
    keys = Keys()
    place, hands, cuts = 0, 0, [(0, 0, 0)]
    lines = 0
    with path.open("rb") as raw:
        for line in raw:
            if b"\r" in line.removesuffix(b"\r\n"):  # the readers count it as the end of a line
                return []
            first = line.removeprefix(codecs.BOM_UTF8)
            if first.startswith(start) and begins.match(first):
                if hands and hands % HANDS == 0:
                    cuts.append((place, hands, lines))
                hands += 1
                if once and not keys.add(first.strip(b"[]\r\n").decode()):
                    return []
            place += len(line)
            lines += 1
    return [*cuts, (place, hands, lines)]


def _placed(source: Source, part: Chunk) -> Source:
    """Numbers and lines as in the whole file."""
    return replace(source, hands=_renumbered(source.hands, part))


def _renumbered(
    hands: Iterable[SourceHand | Skipped], part: Chunk
) -> Iterator[SourceHand | Skipped]:
    for hand in hands:
        line = hand.line + part.lines_before
        if isinstance(hand, Skipped):
            yield replace(hand, line=line)
        else:
            yield replace(hand, line=line, number=hand.number + part.hands_before)


def log_cuts(path: Path, rules: Rules, tick: Callable[[], None]) -> tuple[Cut, ...]:
    """The log cut; none, if it is to be read hand by hand, or its bytes are not to be counted."""
    found, teller, note = surveyed(path, rules, tick)
    noted = unnoted(note)
    if not found.in_parts or (noted.encoding, noted.newline) != ("utf-8", "\n"):
        return ()
    cut = []
    begin = len(f"{found.header}\n\n".encode())
    for start, hands, size in found.starts:
        cut.append(Cut(begin, begin + size, hands, Log(teller, note, start, found.place)))
        begin += size
    return tuple(cut)


def read_cut(text: bytes, log: Log) -> Source:
    """One part as a source; the hands are numbered as in the whole log."""
    teller = log.teller
    *texts, _ = text.decode().split("\n\n")
    part = Reader(Names(*teller.players), log.start).part(texts)
    transcript = teller.many(part)
    return Source(
        format=MIT,
        dialect=teller.dialect,
        players=teller.players,
        note=log.note,
        inferred=teller.inferred,
        hands=map(transcript.hand, transcript.every),
        transcripts=(transcript,),
        place=log.place,
    )
