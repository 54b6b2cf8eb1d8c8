"""What a gamelog holds and no event carries: its dialect, header, end, encoding, odd exceptions.

The header of the note is the first line of the log, then a line for each thing that is unusual:
`encoding`, `newline`, or `exception 12.1 KeyError`, where the name that follows the first bad
reply of round 12 does not follow from that reply. Its footer is all that comes after the final
line.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from events.types import SourceNoted

FORMAT = "mit-gamelog"
_ENDS = {"\r\n": "crlf", "\r": "cr", "\n": "lf"}

Place = tuple[int, int]  # a round, and which of its bad replies, counted from 1


class Noted(Struct, frozen=True):
    """The note taken apart again."""

    dialect: str
    header: str
    footer: str = ""
    encoding: str = "utf-8"
    newline: str = "\n"
    exceptions: Mapping[Place, str] = {}


def noted(found: Noted) -> SourceNoted:
    """The note as a record of the match."""
    lines = [found.header]
    if found.encoding != "utf-8":
        lines.append(f"encoding {found.encoding}")
    if found.newline != "\n":
        lines.append(f"newline {_ENDS[found.newline]}")
    for (number, place), name in found.exceptions.items():
        lines.append(f"exception {number}.{place} {name}")
    return SourceNoted(FORMAT, found.dialect, "\n".join(lines), found.footer)


def unnoted(note: SourceNoted) -> Noted:
    """What a record of the match says about its log."""
    if note.format != FORMAT:
        raise ValueError(f"this match comes from a file of {note.format}, not from a gamelog")
    header, *more = note.header.split("\n")
    encoding, newline, exceptions = "utf-8", "\n", {}
    for line in more:
        match line.split(" "):
            case ["encoding", name]:
                encoding = name
            case ["newline", name]:
                newline = next(end for end, named in _ENDS.items() if named == name)
            case ["exception", place, name]:
                number, _, nth = place.partition(".")
                exceptions[int(number), int(nth)] = name
    return Noted(note.dialect, header, note.footer, encoding, newline, exceptions)


def exception_of(reply: str) -> str:
    """The exception that the engine of 2024 names after a reply it cannot read."""
    if not reply:
        return "IndexError"
    return "ValueError" if reply[0] in "RA" else "KeyError"


def won_by_run(nets: Sequence[int], button: int, before: int) -> tuple[int, int]:
    """What the engine of 2023 says that the run was worth: to the dealer, and to the other.

    Each had put in `before` when it began; who wins no more than the other is told a loss of less.
    """
    mine, other = nets[button], nets[1 - button]
    return (mine - before, other + before) if mine > other else (mine + before, other - before)
