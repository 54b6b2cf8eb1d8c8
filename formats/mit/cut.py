"""A very large log cut into parts: each can be read by itself, with what is known of the whole."""

from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from events.types import SourceNoted
from formats.mit.grammar import Names
from formats.mit.note import FORMAT, unnoted
from formats.mit.parts import Reader, Start
from formats.mit.read import Teller, surveyed
from formats.rules import Rules
from formats.source import Source


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


def cuts(path: Path, rules: Rules, tick: Callable[[], None]) -> tuple[Cut, ...]:
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


def read(text: bytes, log: Log) -> Source:
    """One part as a source; the hands are numbered as in the whole log."""
    teller = log.teller
    *texts, _ = text.decode().split("\n\n")
    part = Reader(Names(*teller.players), log.start).part(texts)
    transcript = teller.many(part)
    return Source(
        format=FORMAT,
        dialect=teller.dialect,
        players=teller.players,
        note=log.note,
        inferred=teller.inferred,
        hands=map(transcript.hand, transcript.every),
        transcripts=(transcript,),
        place=log.place,
    )
