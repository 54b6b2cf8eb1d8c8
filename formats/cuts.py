"""Where a very large file may be cut, so that several processes read it: before a line that begins
a hand.

A part is given to the reader as if it were a file, and its hands are numbered as in the whole one.
Nothing is promised: a part that is refused, or holds other hands than were counted here, says that
the cut was wrong, and the file has to be read whole.
"""

import codecs
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from formats import phh
from formats.mit import cut as gamelog
from formats.mit.cut import Log
from formats.mit.note import FORMAT as MIT
from formats.phh.money import Money
from formats.pokerstars import reader as pokerstars
from formats.text import encoding_of
from formats.told import Skipped, Source, ToldHand

HANDS = 1_000  # of a part
_BEGINS = {
    "phh": (b"[", re.compile(rb"\[[A-Za-z0-9_-]+\]\r?\n")),
    "pokerstars": (
        b"PokerStars ",
        re.compile(rb"PokerStars (?:Zoom |Home Game )?(?:Hand|Game) #[0-9]+: "),
    ),
}


class Part(Struct, frozen=True):
    """The bytes of so many hands, and how many hands and lines stand before them."""

    begin: int
    end: int
    hands: int
    hands_before: int
    lines_before: int
    last: bool
    unit: Money | None = None
    log: Log | None = None


def parts(path: Path, format: str, heard: Callable[[], None] = lambda: None) -> tuple[Part, ...]:
    """The file cut into parts; none, if there is no simple way to cut it.

    A look through a gamelog takes its time, and is heard of meanwhile.
    """
    if format == MIT:
        return _of_a_gamelog(path, heard)
    if format not in _BEGINS or encoding_of(path) not in ("utf-8", "utf-8-sig"):
        return ()
    cuts = _cuts(path, format)
    if len(cuts) < 3:
        return ()
    unit = phh.unit_of(path) if format == "phh" else None
    return tuple(
        Part(begin, end, after - before, before, lines, end == cuts[-1][0], unit)
        for (begin, before, lines), (end, after, _) in pairwise(cuts)
    )


def read(path: Path, part: Part) -> Source:
    """The part as a source."""
    with path.open("rb") as raw:
        raw.seek(part.begin)
        text = raw.read(part.end - part.begin)
    if part.log is not None:
        return gamelog.read(text, part.log)
    source = pokerstars.read(text) if part.unit is None else phh.read(text, unit=part.unit)
    return replace(source, hands=_placed(source.hands, part))


def _of_a_gamelog(path: Path, heard: Callable[[], None]) -> tuple[Part, ...]:
    """Its reader knows where it may be cut."""
    found = gamelog.cuts(path, heard)
    return tuple(
        Part(
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


def _cuts(path: Path, format: str) -> list[tuple[int, int, int]]:
    """Beginning, cuts and end: how many bytes, hands and lines stand before each."""
    start, begins = _BEGINS[format]
    names = set[bytes]()  # of tables, which must differ in a whole file
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
                names.add(first)
            place += len(line)
            lines += 1
    unique = format != "phh" or len(names) == hands
    return [*cuts, (place, hands, lines)] if unique else []


def _placed(hands: Iterable[ToldHand | Skipped], part: Part) -> Iterator[ToldHand | Skipped]:
    """Numbers and lines as in the whole file."""
    for hand in hands:
        line = hand.line + part.lines_before
        if isinstance(hand, Skipped):
            yield replace(hand, line=line)
        else:
            yield replace(hand, line=line, number=hand.number + part.hands_before)
