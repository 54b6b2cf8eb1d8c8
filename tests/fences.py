"""The fenced blocks of a Markdown page, and the commands and output in a console block."""

import doctest
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


class Fence(NamedTuple):
    """A block: its language, what else stands on its opening line, and its text."""

    language: str
    told: str
    text: str
    line: int


class Typed(NamedTuple):
    """A command as it is typed, and what the page says it prints; nothing if it says nothing."""

    words: tuple[str, ...]
    printed: str


def fences(page: Path) -> Iterator[Fence]:
    """Every block of a page, in reading order; one with more backticks may hold others."""
    ticks, opening, begun = "", "", 0
    held: list[str] = []
    for number, line in enumerate(page.read_text("utf-8").splitlines(), 1):
        if not ticks and line.startswith("```"):
            ticks = line[: len(line) - len(line.lstrip("`"))]
            opening, begun, held = line.removeprefix(ticks), number, []
        elif ticks and line == ticks:
            language, _, told = opening.partition(" ")
            yield Fence(language, told, "".join(f"{one}\n" for one in held), begun)
            ticks = ""
        elif ticks:
            held.append(line)
    assert not ticks, f"{page}:{begun}: this block is never closed"


def typed(text: str) -> Iterator[Typed]:
    """The commands of a console block: each begins with `$ `."""
    for part in text.removeprefix("$ ").split("\n$ "):
        command, _, printed = part.partition("\n")
        yield Typed(tuple(shlex.split(command)), printed.strip("\n"))


def same(told: str, printed: str) -> bool:
    """Whether the page tells what was printed; `...` stands for anything, blanks for a tab."""
    check = doctest.OutputChecker().check_output
    return check(_single(told), _single(printed), doctest.ELLIPSIS)


def _single(text: str) -> str:
    """Columns one blank apart: a page shows a table as it is drawn, a pipe has tabs."""
    return re.sub(r"[ \t]+", " ", text.strip()) + "\n"
