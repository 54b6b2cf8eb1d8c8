"""A gamelog as a source: looked through once as a whole, then given out hand by hand.

The first look refuses what is damaged or of another game before any hand is out, and finds what
no line says: the variant, the dialect and the stack. A log too long to keep is read again.
"""

import re
from collections.abc import Iterator
from io import BytesIO, StringIO, TextIOBase, TextIOWrapper

from msgspec import Struct

from engine.game import Game
from engine.games.auction_2024 import AUCTION_2024_MIT
from engine.games.recorded import AUCTION_2024_A0
from engine.games.swap_2022 import SWAP_2022_MIT
from formats.mit.grammar import MARKERS, Names, foreign, other, splits
from formats.mit.hand import Block
from formats.mit.note import FORMAT, Dialect, Noted, Place, noted
from formats.text import Text, encoding_of, lines
from formats.told import Refused, Skipped, Source, ToldHand

_LINES_MAX = 4096  # of one hand: no hand of ours has a tenth of that
_KEPT_MAX = 2000  # hands of a log that are kept from the first pass: most logs have 1000
_USUAL = (200, 400)


class _Survey(Struct):
    """What the first pass finds out about a whole log."""

    header: str
    names: Names
    footer: str
    rounds: int
    marks: set[str]
    most: int
    exceptions: dict[Place, str]
    kept: list[Block]


def read(text: Text, stack: int | None = None) -> Source:
    """The log taken apart; `stack` where it was neither the usual one nor shows in a total."""
    found = _survey(text)
    dialect = _dialect(found)
    game = _game(dialect)
    inferred = [f"variant {game.name}, from the kinds of lines"]
    if stack is None:
        stack, why = _stack(game, found.most)
        inferred.append(f"stack {stack}, {why}")
    note = Noted(
        dialect, found.header, found.footer, encoding_of(text), _newline(text), found.exceptions
    )
    return Source(
        format=FORMAT,
        dialect=dialect,
        players=found.names.both,
        note=noted(note),
        inferred=tuple(inferred),
        hands=_hands(text, found, game, stack, dialect, tuple(inferred)),
    )


def _hands(
    text: Text, found: _Survey, game: Game, stack: int, dialect: Dialect, inferred: tuple[str, ...]
) -> Iterator[ToldHand | Skipped]:
    """The hands of the first pass, or of a second one where they were too many to keep."""
    blocks = found.kept if found.rounds <= _KEPT_MAX else _blocks(text, found.names)
    for block in blocks:
        if isinstance(block, _End):
            return
        wrong = block.wrong
        if dialect in ("S2", "S3") and block.wrong is None:
            wrong = block.unreported()
        if wrong is None and block.most > stack:
            wrong = f"round #{block.number}: {block.most} put in of a stack of {stack}"
        if wrong is not None:
            yield Skipped(block.line, wrong)
            continue
        yield ToldHand(
            game=game,
            number=block.number,
            line=block.line,
            source_id=f"Round #{block.number}",
            button=block.button,
            players=found.names.both,
            stacks=(stack, stack),
            told=tuple(block.told),
            nets=(block.nets[0], block.nets[1]),
            rake=0,
            inferred=inferred,
        )


# The first pass.


def _survey(text: Text) -> _Survey:
    header, names = _header(text)
    found = _Survey(header, names, "", 0, set(), 0, {}, [])
    for block in _blocks(text, names):
        if isinstance(block, _End):
            found.footer = block.footer
            if " bets EV: " in block.footer:
                found.marks.add("footer")
            break
        found.rounds = block.number
        if block.number <= _KEPT_MAX:
            found.kept.append(block)
        found.most = max(found.most, block.most)
        found.marks |= block.marks
        if "bids" in block.marks and "flop twice" not in block.marks:
            found.marks.add("flop once")
        found.exceptions.update(block.exceptions)
    return found


def _header(text: Text) -> tuple[str, Names]:
    """The first line, and its two names: if they can be read in several ways, as round 1 does."""
    first = _plain(text)
    header = next(first, "")
    found = splits(header)
    if not found:
        if header.startswith(MARKERS):
            raise Refused(1, "a git merge marker: two logs are mixed in this file")
        what = other(header)
        raise Refused(1, f"this is {what}" if what else "no gamelog begins with this line")
    next(first, "")
    start = next(first, "")
    for one, two in found:
        if start in (f"Round #1, {one} (0), {two} (0)", f"Final, {one} (0), {two} (0)"):
            return header, Names(one, two)
    if game := foreign(start):
        raise Refused(3, f"this is a log of {game}: only 2022 and 2024 are read")
    raise Refused(3, f"round #1 of the players in the header comes here, not {start[:60]!r}")


class _End(Struct):
    """What stands after the final line."""

    footer: str


def _blocks(text: Text, names: Names) -> Iterator[Block | _End]:
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
            if len(held) > _LINES_MAX:
                raise Refused(number, f"a round of more than {_LINES_MAX} lines")
            continue
        if line:
            _chained(names.final, names, line, number, expected, banks)
            yield _End(_footer(names, numbered))
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
    _chained(names.round, names, held[0], line, expected, banks)
    return Block(names, gone, expected, line, 1 - expected % 2, held)


def _chained(
    pattern: re.Pattern[str],
    names: Names,
    line: str,
    number: int,
    expected: int,
    banks: list[int],
) -> None:
    """The dealer of the hand first, then the other, each with what he has won so far."""
    found = pattern.fullmatch(line)
    if found is None:
        if line.startswith(MARKERS):
            raise Refused(number, "a git merge marker: two logs are mixed in this file")
        if game := foreign(line):
            raise Refused(number, f"this is a log of {game}: only 2022 and 2024 are read")
        raise Refused(number, f"round #{expected} or the final line is due: {line[:60]!r}")
    if found[1] and int(found[1]) != expected:
        raise Refused(number, f"round #{found[1]} stands where round #{expected} is due")
    for seat, at in zip((1 - expected % 2, expected % 2), (2, 4), strict=True):
        who = names.seat(found[at])
        if who is not None and who != seat:
            raise Refused(number, f"{names.both[seat]} is due where {found[at]} is named")
        if int(found[at + 1]) != banks[seat]:
            raise Refused(
                number,
                f"{found[at]} has {banks[seat]} by the rounds before, not {found[at + 1]}: "
                "hands are missing or from another match",
            )


def _footer(names: Names, numbered: Iterator[tuple[int, str]]) -> str:
    """All that comes after the final line: how much a street was worth, and the last line's end."""
    rest = list(numbered)
    for place, (number, line) in enumerate(rest):
        last = place == len(rest) - 1
        if not names.footer.fullmatch(line) and not (last and not line):
            raise Refused(number, f"this may not follow the final line: {line[:60]!r}")
        if place > 12:
            raise Refused(number, "the footer has too many lines")
    return "".join(f"\n{line}" for _, line in rest)


def _plain(text: Text) -> Iterator[str]:
    """Each line without its end; a last empty one if the text ends with a line's end."""
    line = ""
    for line in lines(text):
        yield line.removesuffix("\n")
    if line.endswith("\n"):
        yield ""


def _newline(text: Text) -> str:
    """How the lines end: all alike, or they were not written by one engine."""
    if isinstance(text, str):
        found: TextIOBase = StringIO(text, newline=None)
    else:
        raw = BytesIO(text) if isinstance(text, bytes) else text.open("rb")
        found = TextIOWrapper(raw, encoding_of(text), newline=None)
    with found:
        while found.read(1 << 20):
            pass
        ends = found.newlines
    if isinstance(ends, tuple):
        raise Refused(1, "the lines end in different ways: this file was put together")
    return ends or "\n"


# What no line says.


def _dialect(found: _Survey) -> Dialect:
    """Which engine wrote it; a log without the telling lines is recorded as undetermined."""
    marks = found.marks
    swap = bool(marks & {"hands", "swapped"})
    auction = bool(marks & {"bids", "note"})
    if swap and auction:
        raise Refused(1, "swaps and auctions in one log: two logs are mixed in this file")
    if not swap and not auction:
        if marks & {"Flop"} or not found.header.startswith("6.176 "):
            raise Refused(1, "neither swaps nor auctions: another year's game, which is not read")
        return "S3" if "footer" in marks else "no flop"
    if swap:
        return "S3" if "footer" in marks else "S2" if "swapped" in marks else "S1"
    if "footer" in marks:
        return "A3"
    if "bids" not in marks:
        return "no auction"
    if "won" in marks:
        return "A2"
    if "flop twice" in marks and "flop once" in marks:
        raise Refused(1, "some auctions are followed by flop betting, some not: two logs mixed")
    return "A1" if "flop twice" in marks else "A0"


def _game(dialect: Dialect) -> Game:
    if dialect == "A0":
        return AUCTION_2024_A0
    return SWAP_2022_MIT if dialect in ("S1", "S2", "S3", "no flop") else AUCTION_2024_MIT


def _stack(game: Game, most: int) -> tuple[int, str]:
    """The engine's usual stack, unless somebody has put in more than that."""
    if most <= game.stack:
        return game.stack, "the usual one of that engine"
    stack = next((size for size in _USUAL if size >= most), most)
    return stack, f"because a seat has put in {most}, more than the usual {game.stack}"
