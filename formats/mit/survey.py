"""A whole log looked through once: what is damaged or of another game is refused before any hand is
out, and the lines are gathered that tell an engine from another.

There are two ways through a log, which come to the same: many hands at a time (`parts.py`), and
hand by hand, which says of a damaged log what is wrong with it.
"""

from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct, field

from formats.mit.chain import chained, footer
from formats.mit.grammar import Names, instead, other, splits
from formats.mit.hand import Block
from formats.mit.note import Place
from formats.mit.parts import LINES_MAX, End, Part, Start, parts
from formats.mit.stack import Reached
from formats.text import Text, lines
from formats.told import Refused

_KEPT_MAX = 2000  # hands of a log that are kept from the first pass: most logs have 1000


class Survey(Struct):
    """What the first pass finds out about a whole log.

    Its hands are kept if they are few, as far as the pass went through them: in parts, or one by
    one. Of parts it knows where they start, how many hands each has, and how many bytes in UTF-8.
    """

    header: str
    names: Names
    in_parts: bool
    footer: str = ""
    banks: tuple[int, ...] = ()
    rounds: int = 0
    marks: set[str] = set()
    reached: Reached = field(default_factory=Reached)
    exceptions: dict[Place, str] = {}
    kept: list[Part | Block] = []
    starts: list[tuple[Start, int, int]] = []

    def add(self, one: Part | Block) -> None:
        """Some more of its hands."""
        if isinstance(one, Part):
            size = sum(len(text.encode()) + 2 for text in one.texts)
            self.starts.append((one.start, len(one), size))
        self.rounds += len(one) if isinstance(one, Part) else 1
        if self.rounds <= _KEPT_MAX:
            self.kept.append(one)
        else:
            self.kept.clear()
        one.reach(self.reached)
        self.marks |= one.marks
        self.exceptions.update(one.exceptions)

    @property
    def place(self) -> str:
        """What tells this log from another of the same two: its first and its last line."""
        return f"{self.header}\nFinal, {self.rounds} rounds, {self.banks}"

    def parts(self, text: Text) -> Iterator[Part]:
        """Its hands many at a time, read again where they were too many to keep."""
        for one in self._again(parts(text, self.names)):
            if isinstance(one, Part):
                yield one

    def blocks(self, text: Text) -> Iterator[Block]:
        """Its hands one by one."""
        again = blocks(text, self.names)
        for one in again if self.in_parts else self._again(again):
            if isinstance(one, Block):
                yield one

    def _again(self, read: Iterator[Part | Block | End]) -> Iterable[Part | Block | End]:
        return self.kept if self.rounds <= _KEPT_MAX else read


def survey(text: Text, heard: Callable[[], None] = lambda: None) -> Survey:
    """The first pass; it is heard of from part to part, or from hand to hand."""
    header, names = _header(text)
    if not names.alike and all(names.both):  # of one name lines are told apart by those before
        try:
            return _survey(Survey(header, names, in_parts=True), parts(text, names), heard)
        except Refused:
            pass  # the other way says why
    return _survey(Survey(header, names, in_parts=False), blocks(text, names), heard)


def _survey(found: Survey, read: Iterator[Part | Block | End], heard: Callable[[], None]) -> Survey:
    for one in read:
        heard()
        if isinstance(one, End):
            found.footer, found.banks = one.footer, one.banks
            if " bets EV: " in one.footer:
                found.marks.add("footer")
            break
        found.add(one)
    return found


def _header(text: Text) -> tuple[str, Names]:
    """The first line, and its two names: if they can be read in several ways, as round 1 does."""
    first = _plain(text)
    header = next(first, "")
    found = splits(header)
    if not found:
        if why := instead(header):
            raise Refused(1, why)
        what = other(header)
        raise Refused(1, f"this is {what}" if what else "no gamelog begins with this line")
    next(first, "")
    start = next(first, "")
    for one, two in found:
        if start in (f"Round #1, {one} (0), {two} (0)", f"Final, {one} (0), {two} (0)"):
            return header, Names(one, two)
    if why := instead(start):
        raise Refused(3, why)
    raise Refused(3, f"round #1 of the players in the header comes here, not {start[:60]!r}")


def blocks(text: Text, names: Names) -> Iterator[Block | End]:
    """Hand by hand, each checked against the one before; at last the end of the log."""
    banks, expected = [0, 0], 1
    gone: set[int] = set()
    held: list[str] = []
    numbered = enumerate(_plain(text), 1)
    next(numbered)
    if next(numbered, (2, "?"))[1]:
        raise Refused(2, "an empty line comes after the header")
    number = 2
    for number, line in numbered:
        if line and (held or not line.startswith("Final, ")):
            held.append(line)
            if len(held) > LINES_MAX:
                raise Refused(number, f"a round of more than {LINES_MAX} lines")
            continue
        if line:
            chained(names.final, names, line, number, expected, banks)
            yield End(footer(names, numbered), tuple(banks))
            return
        if not held:
            raise Refused(number, "two empty lines follow each other")
        block = _block(names, gone, held, number - len(held), expected, banks)
        for seat in (0, 1):
            banks[seat] += block.nets[seat]
        yield block
        held, expected = [], expected + 1
    if held:
        _block(names, gone, held, number - len(held) + 1, expected, banks)
    raise Refused(number, "the final line is missing: this is not the whole log")


def _block(
    names: Names, gone: set[int], held: list[str], line: int, expected: int, banks: list[int]
) -> Block:
    chained(names.round, names, held[0], line, expected, banks)
    return Block(names, gone, expected, line, 1 - expected % 2, held)


def _plain(text: Text) -> Iterator[str]:
    """Each line without its end; a last empty one if the text ends with a line's end."""
    line = ""
    for line in lines(text):
        yield line.removesuffix("\n")
    if line.endswith("\n"):
        yield ""
