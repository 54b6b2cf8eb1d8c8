"""The TOML tables of a PHH file, one hand at a time, each with the line where it begins.

A `.phhs` file may be of any length, so it is cut at the headers of its tables before it is parsed.
A line inside an array or a string may look like a header; what does not parse alone is therefore
tried again together with what follows.

Nearly every hand is written in a plain part of TOML, which is JSON but for the quotes, and is read
as that many times as fast (`quick`). Whatever it does not cover,
right or wrong, is left to the real parser; what it covers, it reads as that would.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator
from datetime import time
from decimal import Decimal
from typing import Any

import msgspec

from formats.source import Refused

_UNLIKE = ('"', "\\", "#", "{", "}", "null")
_LARGE = re.compile(r"[0-9]{16}")
_TIME = re.compile(r"[0-9]{2}:[0-9]{2}:[0-9]{2}")
_FIELD = re.compile(r"([A-Za-z0-9_-]+) = (.+)")
_decoder = msgspec.json.Decoder(float_hook=Decimal)


def quick(text: str) -> dict[str, Any] | None:
    """The fields of lines `name = value`, or of the one table that begins with `[name]`; None
    where anything is out of the ordinary.

    Without a double quote, a backslash or a comment in the text, strings between single quotes
    are JSON's as soon as the quotes are. Objects and null look otherwise in TOML or are not there,
    and numbers may be larger in it. A time of day is TOML's alone.
    """
    if any(mark in text for mark in _UNLIKE) or _LARGE.search(text):
        return None
    if not text.replace("\n", "").isprintable():
        return None
    fields: dict[str, Any] = {}
    document = fields
    for line in text.replace("'", '"').split("\n"):
        if not line:
            continue
        field = _FIELD.fullmatch(line)
        if field is None:
            if document is not fields or fields or not re.fullmatch(r"\[[A-Za-z0-9_-]+\]", line):
                return None
            fields = {}
            document = {line[1:-1]: fields}
            continue
        name, value = field.groups()
        if name in fields:
            return None
        try:
            if value[2:3] == ":" and _TIME.fullmatch(value):
                fields[name] = time.fromisoformat(value)
            else:
                fields[name] = _decoder.decode(value)
        except (ValueError, RecursionError):
            return None
    return document


Document = dict[str, Any]

_HEADER = re.compile(r"\s*\[\s*(\"[^\"]*\"|'[^']*'|[\w-]+)\s*\]\s*(#.*)?$")
_NUMBER = re.compile(r"0|[1-9][0-9]{0,17}")
_WHERE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")
_DAMAGE = re.compile(r"^(<{7} |>{7} |\|{7} |={7}$)|\d[\d_]{4000}", re.MULTILINE)
_SEAM = "a git merge marker: two files are mixed in this one"
_ENDLESS = "a number of more than 4000 digits"
_TOGETHER = 8  # pieces; a wrong hand must not pull in a whole file


class Keys:
    """The keys of the tables read so far: of a number, as nearly all are, one bit is kept."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self._words = set[str]()

    def add(self, key: str) -> bool:
        """Add a key; whether it is new."""
        if not _NUMBER.fullmatch(key):
            known = key in self._words
            self._words.add(key)
            return not known
        place, bit = divmod(int(key), 1024)
        before = self._numbers.get(place, 0)
        self._numbers[place] = before | 1 << bit
        return not before >> bit & 1


def is_many(lines: Iterable[str]) -> bool:
    """Whether the file holds tables of hands, not one hand: a header stands before any field."""
    for line in lines:
        text = line.strip()
        if text and not text.startswith(("#", "_")):  # what begins with a line is its writer's own
            return is_header(line)
    return False


def is_header(line: str) -> bool:
    """Whether a table of fields begins with this line."""
    return _HEADER.match(line) is not None


def pieces(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """The text cut before each header of a table, with the number of its first line."""
    begun, kept = 1, list[str]()
    for number, line in enumerate(lines, 1):
        if kept and not line[0].isalnum() and _HEADER.match(line):
            yield begun, "".join(kept)
            begun, kept = number, []
        kept.append(line)
    if kept:
        yield begun, "".join(kept)


def documents(lines: Iterable[str], many: bool) -> Iterator[tuple[int, Document]]:
    """Every hand of the file as a table of fields."""
    if not many:
        yield 1, parsed(1, "".join(lines))
        return
    keys = Keys()
    for line, tables in _tables(lines):
        for key, table in tables.items():
            if key.startswith("_"):
                continue
            if not isinstance(table, dict):
                raise Refused(line, f"{key} is a field: a file of many hands holds only tables")
            if not keys.add(key):
                raise Refused(line, f"the hand [{key[:60]}] stands there twice")
            yield line, table


def _tables(lines: Iterable[str]) -> Iterator[tuple[int, Document]]:
    begun, text, wrong, together = 0, "", None, 0
    for line, piece in pieces(lines):
        begun, text, together = begun or line, text + piece, together + 1
        try:
            tables = parsed(begun, text)
        except Refused as refused:
            wrong = wrong or refused
            if together == _TOGETHER:
                raise wrong from None
            continue
        yield begun, tables
        begun, text, wrong, together = 0, "", None, 0
    if wrong is not None:
        raise wrong


def parsed(line: int, text: str) -> Document:
    """The fields of a text that begins at this line; numbers with a point as decimals."""
    if (plain := quick(text)) is not None:
        return plain
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except RecursionError:
        raise Refused(line, "this is no TOML that anybody wrote: it nests too deep") from None
    except (ValueError, ArithmeticError) as wrong:
        if damage := _DAMAGE.search(text):
            at = text.count("\n", 0, damage.start())
            raise Refused(line + at, _SEAM if damage[1] else _ENDLESS) from None
        why = str(wrong)
        where = _WHERE.search(why)
        at = text.count("\n") if where and where[1] is None else int(where[1]) - 1 if where else 0
        reason = why[: where.start()] if where else why
        raise Refused(line + at, f"this is not TOML: {reason[:1].lower() + reason[1:]}") from None
