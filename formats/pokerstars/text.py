"""A PokerStars file as blocks of lines, one block a hand: encodings, line ends, broken seams.

Nothing is remembered but the block in hand, so a file may have any length. Its encoding is found
hand by hand, because such files are often several put together; hence not `formats.text.lines`.
"""

import io
import re
from collections.abc import Iterator

from msgspec import Struct

from formats.source import Refused, Skipped
from formats.text import Text

STARS = re.compile(r"PokerStars (?:Zoom |Home Game |Home )?(?:Hand|Game) #[0-9]+: ")
GG = re.compile(r"(?<![\w ])Poker Hand #[A-Z]{2}[0-9]+: ")  # GGPoker writes as PokerStars does
HEADER = re.compile(f"{STARS.pattern}|{GG.pattern}")
SUMMARY = "*** SUMMARY ***"
LINE_MAX = 1 << 16
LINES_MAX = 5_000

_ELSEWHERE = re.compile(
    r"\W*((?:\w+ ){0,3}\w*(?:Poker|Gaming)(?: \w+)??)(?: -.*?)? (?:Hand|Game|HandId)\b"
    r"[^0-9]{0,12}[0-9-]+"
)
_MIDDLE = "=" * 7
_SEAMS = ("<<<<<<< ", ">>>>>>> ", "||||||| ")
_SIGNS = ("\0", *_SEAMS, _MIDDLE)
UTF16 = (b"\xff\xfe", b"\xfe\xff")


class Block(Struct, frozen=True):
    """The lines of one hand from its header on, and where in the file it begins."""

    line: int
    lines: tuple[str, ...]


def blocks(source: Text) -> Iterator[Block | Skipped]:
    """The hands of a text, one by one; a hand of another site is skipped."""
    begun, held, summed = 0, list[str](), False
    for number, line in enumerate(_lines(source), 1):
        match = HEADER.search(line) if " #" in line else None
        place = match.start() if match else 0
        if match is None or (place and ' said, "' in line[:place]):  # in the chat it is no hand
            if (summed or not held) and (elsewhere := foreign_site(line)):
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


def foreign_site(line: str) -> str | None:
    """The name of the site, not this one, whose hand begins with this line."""
    match = _ELSEWHERE.match(line) if "Poker" in line or "Gaming" in line else None
    return match[1] if match and 'said, "' not in line else None


def _mended(lines: list[str]) -> list[str]:
    """A hand with bytes that are no UTF-8 was written in cp1252; names keep all else they hold."""
    text = "\n".join(lines)
    if text.isascii():
        return lines
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-8", "surrogateescape").decode("cp1252")
    return text.replace("\xa0", " ").split("\n")


def _lines(source: Text) -> Iterator[str]:
    """Lines without their ends, which may be LF, CRLF or CR, of text in whichever encoding."""
    if isinstance(source, str):
        yield from _checked(io.StringIO(source.removeprefix("\ufeff"), newline=None))
        return
    with io.BytesIO(source) if isinstance(source, bytes) else source.open("rb") as raw:
        # By the mark, or by the empty half of the first letter; all else is UTF-8, or mended later.
        start = raw.read(2)
        by_half = {0: "utf-16-be", 1: "utf-16-le"}.get(start.find(b"\0"), "utf-8-sig")
        encoding = "utf-16" if start in UTF16 else by_half
        raw.seek(0)
        errors = "surrogateescape" if encoding == "utf-8-sig" else "replace"
        yield from _checked(io.TextIOWrapper(raw, encoding, errors, newline=None))


def _checked(text: io.TextIOBase) -> Iterator[str]:
    """Every line without its end, unless it shows that the file is damaged or is no text.

    Read in pieces: the lines of one are looked at singly only if it holds a sign of damage.
    """
    number, rest = 0, ""
    while piece := text.read(LINE_MAX):
        piece = rest + piece
        *lines, rest = piece.split("\n")
        if any(sign in piece for sign in _SIGNS) or (lines and len(lines[0]) >= LINE_MAX):
            for place, line in enumerate(lines, number + 1):
                yield _sound(place, line)
        else:
            yield from lines
        number += len(lines)
        if len(rest) >= LINE_MAX:
            _sound(number + 1, rest)
    if rest:
        yield _sound(number + 1, rest)


def _sound(number: int, line: str) -> str:
    """The line, if it shows no damage."""
    if len(line) >= LINE_MAX:
        raise Refused(number, f"a line of more than {LINE_MAX - 1} characters")
    if "\0" in line:
        raise Refused(number, "a zero byte: this is no text in UTF-8, UTF-16 or cp1252")
    if line.startswith(_SEAMS) or line == _MIDDLE:
        raise Refused(number, "a mark of a failed merge: the file is damaged")
    return line
