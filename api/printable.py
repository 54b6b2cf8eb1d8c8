"""Make text for terminals: foreign text with control characters escaped, rows as aligned lines.

A player may have any name, and so may a file; none may look like output of ours.
A `str` is printed as one line; only a `PrintableText`, made of lines that were each looked at,
has several.
"""

import json
import unicodedata
from collections.abc import Callable, Collection, Iterable

ACCENTS_MAX = 4  # accents on one letter, as many as any language writes
_JOINERS = "\u200c\u200d"  # of letters in India, of pictures everywhere


class PrintableText(str):
    """Text of several lines that may be printed as it is."""

    __slots__ = ()


def printable_lines(lines: Iterable[str]) -> PrintableText:
    """A text of these lines, each made printable on its own: none can become two."""
    return PrintableText("".join(f"{printable(line)}\n" for line in lines))


def aligned_lines(rows: list[list[str]], numbers: Collection[int] = ()) -> list[str]:
    """Rows as lines of aligned columns; those at the indices `numbers` are right-aligned."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if place in numbers else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def printable(text: str) -> str:
    """The text on one line, its control characters escaped as in a Python string."""
    return _escaped(text, lambda one: ascii(one)[1:-1])


def printable_json(text: str) -> str:
    """JSON text of the same value that is safe on a terminal; its lines stay."""
    return "\n".join(_escaped(line, lambda one: json.dumps(one)[1:-1]) for line in text.split("\n"))


def _escaped(text: str, spell: Callable[[str], str]) -> str:
    if text.isprintable() and text.isascii():
        return text
    shown: list[str] = []
    marks = 0
    for place, one in enumerate(text):
        marks = marks + 1 if unicodedata.category(one) in ("Mn", "Me") else 0
        shown.append(one if marks <= ACCENTS_MAX and _is_visible(text, place) else spell(one))
    return "".join(shown)


def _is_visible(text: str, place: int) -> bool:
    """Whether a character is visible or a blank, or joins two visible ones outside ASCII."""
    one = text[place]
    if one in _JOINERS:
        neighbours = text[place - 1 : place] + text[place + 1 : place + 2]
        return (
            len(neighbours) == 2
            and neighbours.isprintable()
            and not any(map(str.isascii, neighbours))
        )
    return one.isprintable() or unicodedata.category(one) == "Zs"
