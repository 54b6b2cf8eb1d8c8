"""A PokerStars file as blocks of lines, one block a hand: encodings, line ends, broken seams.

Nothing is remembered but the block in hand, so a file may have any length. Its encoding is found
hand by hand, because such files are often several put together; hence not `formats.text.lines`.
"""

import io
import re
from collections.abc import Iterator

from msgspec import Struct

from formats.text import Text
from formats.told import Refused, Skipped

HEADER = re.compile(r"PokerStars (?:Zoom |Home Game )?(?:Hand|Game) #[0-9]+: ")
SUMMARY = "*** SUMMARY ***"
LINE_MAX = 1 << 16
LINES_MAX = 5_000

_ELSEWHERE = re.compile(
    r"\W*((?:\w+ ){0,3}\w*(?:Poker|Gaming)(?: \w+)??)(?: -.*?)? (?:Hand|Game|HandId)\b"
    r"[^0-9]{0,12}[0-9-]+"
)
_SEAMS = ("<<<<<<< ", ">>>>>>> ", "||||||| ")
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


class Block(Struct, frozen=True):
    """The lines of one hand from its header on, and where in the file it begins."""

    line: int
    lines: tuple[str, ...]


def blocks(source: Text) -> Iterator[Block | Skipped]:
    """The hands of a text, one by one; what is no hand of this site is said to be none."""
    begun, held, summed = 0, list[str](), False
    for number, line in enumerate(_lines(source), 1):
        place = _header_at(line)
        if place is None:
            if elsewhere := _of_another_site(line, summed or not held):
                yield from _closed(begun, held)
                yield Skipped(number, f"this is a hand of {elsewhere}, not of PokerStars")
                begun, held, summed = 0, [], False
            elif held:
                held.append(line)
                summed = summed or line.startswith(SUMMARY)
                if len(held) > LINES_MAX:
                    raise Refused(begun, f"a hand of more than {LINES_MAX} lines")
            continue
        if held and place:  # the file was cut in the middle of a line, and another put after it
            held.append(line[:place])
        yield from _closed(begun, held)
        begun, held, summed = number, [line[place:]], False
    yield from _closed(begun, held)


def _closed(begun: int, held: list[str]) -> Iterator[Block | Skipped]:
    """The block that ends here, if there is one."""
    if held:
        try:
            yield Block(begun, tuple(_mended(held)))
        except UnicodeError:
            yield Skipped(begun, "this hand holds bytes that are neither UTF-8 nor cp1252")


def _header_at(line: str) -> int | None:
    """Where a hand begins in this line; what somebody says in the chat is no hand."""
    found = HEADER.search(line) if "PokerStars " in line else None
    if found is None or (found.start() and ' said, "' in line[: found.start()]):
        return None
    return found.start()


def _of_another_site(line: str, between: bool) -> str | None:
    """The name of the site whose hand begins here, if the hand before it is over."""
    return foreign_site(line) if between else None


def foreign_site(line: str) -> str | None:
    """The name of the site, not this one, whose hand begins with this line."""
    found = _ELSEWHERE.match(line)
    return found[1] if found and 'said, "' not in line else None


def _mended(lines: list[str]) -> list[str]:
    """A hand with bytes that are no UTF-8 was written in cp1252; names keep all else they hold."""
    try:
        for line in lines:
            line.encode()
    except UnicodeEncodeError:
        raw = "\n".join(lines).encode("utf-8", "surrogateescape")
        lines = raw.decode("cp1252").split("\n")
    return [line.replace("\xa0", " ") for line in lines]


def _lines(source: Text) -> Iterator[str]:
    """Lines without their ends, which may be LF, CRLF or CR, of text in whichever encoding."""
    if isinstance(source, str):
        yield from _checked(io.StringIO(source.removeprefix("\ufeff"), newline=None))
        return
    with io.BytesIO(source) if isinstance(source, bytes) else source.open("rb") as raw:
        start = raw.read(2)
        raw.seek(0)
        encoding = "utf-16" if start in _UTF16 else "utf-8-sig"
        errors = "replace" if start in _UTF16 else "surrogateescape"
        yield from _checked(io.TextIOWrapper(raw, encoding, errors, newline=None))


def _checked(text: io.TextIOBase) -> Iterator[str]:
    """Every line, unless it shows that the file is damaged or is no text."""
    number = 0
    while line := text.readline(LINE_MAX):
        number += 1
        if len(line) == LINE_MAX:
            raise Refused(number, f"a line of more than {LINE_MAX - 1} characters")
        if "\0" in line:
            raise Refused(number, "a zero byte: this is no text in UTF-8, UTF-16 or cp1252")
        if line.startswith(_SEAMS):
            raise Refused(number, "a mark of a failed merge: the file is damaged")
        yield line.rstrip("\n")
