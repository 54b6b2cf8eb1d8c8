"""Foreign text for a screen: what would steer it, or turn its lines about, is spelled out.

A player may be called anything, and so may a file; nothing of it may look like an answer of ours.
A plain text is one line wherever it leaves; only a `Page`, made of lines that were each looked at,
has several.
"""

import json
import unicodedata
from collections.abc import Callable, Iterable

MARKS_MAX = 4  # accents on one letter, as many as any language writes
_JOINERS = "\u200c\u200d"  # of letters in India, of pictures everywhere


class Page(str):
    """Text of several lines that may be shown as it is."""

    __slots__ = ()


def page(lines: Iterable[str]) -> Page:
    """Lines one below the other, each made printable alone: none of them can become two."""
    return Page("".join(f"{printable(line)}\n" for line in lines))


def printable(text: str) -> str:
    """The text on one line, its control characters as in a Python string."""
    return _spelled(text, lambda one: ascii(one)[1:-1])


def as_json(text: str) -> str:
    """A text in JSON that says the same to a program, and steers no screen; its lines stay."""
    return "\n".join(_spelled(line, lambda one: json.dumps(one)[1:-1]) for line in text.split("\n"))


def _spelled(text: str, spell: Callable[[str], str]) -> str:
    if text.isprintable() and text.isascii():
        return text
    shown: list[str] = []
    marks = 0
    for place, one in enumerate(text):
        marks = marks + 1 if unicodedata.category(one) in ("Mn", "Me") else 0
        shown.append(one if marks <= MARKS_MAX and _shows(text, place) else spell(one))
    return "".join(shown)


def _shows(text: str, place: int) -> bool:
    """Whether a character is seen, or is a blank; or joins two that are seen, and are no ASCII."""
    one = text[place]
    if one in _JOINERS:
        neighbours = text[place - 1 : place] + text[place + 1 : place + 2]
        return (
            len(neighbours) == 2
            and neighbours.isprintable()
            and not any(map(str.isascii, neighbours))
        )
    return one.isprintable() or unicodedata.category(one) == "Zs"
