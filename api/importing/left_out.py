"""Hands that a file tells and no record can be of: their text is kept as a note of the match."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from api.viewpoints.records import LEFT_OUT
from events.types import SourceNoted
from formats.phh.documents import is_header
from formats.source import Skipped
from formats.text import lines

TEXT_MAX = 2_000  # letters of a hand's text that are kept
_ONE_LINE = {"acpc", "irc"}  # formats in which a hand is a line


def with_texts(
    content: bytes | Path, format_name: str, skipped: Sequence[Skipped]
) -> list[Skipped]:
    """These hands with what the source says of each, up to the next hand or an empty line."""
    if isinstance(content, Path) and content.is_dir():
        content = content / "hdb"
    wanted = {one.line for one in skipped}
    texts: dict[int, str] = {}
    at = None
    for number, line in enumerate(lines(content), 1) if wanted else ():
        ends = not line.strip() or (format_name == "phh" and is_header(line))
        at = number if number in wanted else None if ends or format_name in _ONE_LINE else at
        if at is not None and len(texts.get(at, "")) < TEXT_MAX:
            texts[at] = (texts.get(at, "") + line)[:TEXT_MAX]
    return [replace(one, text=texts.get(one.line, "")) for one in skipped]


def notes(format_name: str, skipped: Iterable[Skipped]) -> Iterator[SourceNoted]:
    """A note for each: its line and the reason, and its text."""
    for one in skipped:
        yield SourceNoted(format_name, LEFT_OUT, f"line {one.line}\n{one.reason}", one.text)
