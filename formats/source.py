"""Foreign files and hands as a reader gives them, before any ruleset judges them.

`formats.hand_records` puts the hands to the rules. Amounts are whole numbers of the game's unit.
Nothing is repaired: what the source does not say is None or absent.

The same file can be read under other `ImportRules`: those that an import asks for.

What a reader had to conclude is of two kinds. `assumed` is what no line says and a verdict can rest
on (a stack, a rake): it stands in the record, a short text that begins with a word of
`engine/assumptions.py`. `inferred` is what lines say in another way, or what changes nobody's chips
(names of players, which of the known games it is): it is noted once for the file.

The bytes of a source are lines of text, as often as asked: UTF-8 and UTF-16, with or without a
mark, and cp1252 where a file is not UTF-8. Every line ends in `\\n`, however the file ends them.
"""

import codecs
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from io import BytesIO, StringIO, TextIOBase, TextIOWrapper
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple

from msgspec import Struct

from engine.changes import changed
from engine.game import Game
from engine.parameters import Impossible
from engine.turn import Post
from events.cards import Cards, Rank
from events.ledger import KindColumns
from events.match import SourceNoted
from events.types import FaultKind, FaultPlace
from formats.rakes import RakeFrom

Verb = Literal["fold", "check", "call", "raise"]


class Act(Struct, frozen=True):
    """A choice of betting; `to` is the total of a bet or raise on this street, `amount` what a
    call moved if the source says so; `default` if it stands for a reply that failed."""

    seat: int
    verb: Verb
    to: int | None = None
    amount: int | None = None
    default: bool = False


class AuctionBid(Struct, frozen=True):
    """A bid in an auction."""

    seat: int
    amount: int
    sealed: bool = True
    default: bool = False


class CardToss(Struct, frozen=True):
    """A hole card laid face up on the board."""

    seat: int
    card: str


class Holds(Struct, frozen=True):
    """The whole hand of a seat, as it is now: dealt, won at auction, or after a swap."""

    seat: int
    cards: Cards


class Board(Struct, frozen=True):
    """The cards that a street adds."""

    cards: Cards


class HasBounty(Struct, frozen=True):
    """The rank that is a seat's bounty in this hand."""

    seat: int
    rank: Rank


class Shows(Struct, frozen=True):
    """A hand turned up."""

    seat: int
    cards: Cards


class Mucks(Struct, frozen=True):
    """A hand thrown away at the showdown."""

    seat: int


class Fault(Struct, frozen=True):
    """A reply that could not be used."""

    seat: int
    raw: str
    kind: FaultKind
    where: FaultPlace


class DropsOut(Struct, frozen=True):
    """A connection lost; or a clock run out, which the source says made the seat all-in."""

    seat: int
    all_in: bool = False


Item = Act | AuctionBid | CardToss | Holds | HasBounty | Board | Shows | Mucks | Fault | DropsOut


class Paid(Struct, frozen=True):
    """A payment to a seat as the source says it; `pot` is 0 for the main pot or the whole."""

    seat: int
    amount: int
    pot: int = 0


class SourceHand(Struct, frozen=True, kw_only=True):
    """One hand of a foreign record.

    `paid` are gross winnings where the source gives them, `nets` the change of every stack where
    it gives those; `rake` what the house took in all, None if unsaid. `line` is where it begins.

    `text` is the hand in its source's words, whatever its encoding and its ends of lines; `site`
    who gave it the number `source_id` once for all, empty if hands are numbered anew in each file.
    """

    game: Game
    number: int
    line: int
    source_id: str
    button: int
    players: tuple[str, ...]
    stacks: tuple[int, ...]
    items: tuple[Item, ...]
    posts: tuple[Post, ...] = ()
    dead_small: bool = False
    paid: tuple[Paid, ...] | None = None
    nets: tuple[int, ...] | None = None
    rake: int | None = None
    inferred: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    played: str = ""
    text: str = ""
    site: str = ""


class Skipped(Struct, frozen=True):
    """A hand left out, and why; never approximated. `text` is what its source says, cut if long."""

    line: int
    reason: str
    text: str = ""


class Refused(Exception):
    """A whole file that cannot be trusted or is none of this format: line and reason."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


class SourceBatch(NamedTuple):
    """Consecutive hands of a source, some of them in columns already; none is judged.

    `numbers` and `nets` (by hand and seat) are of the hands in columns; `hand` gives any hand
    of `every` by its number, `texts` are all of them in the source's words.
    """

    game: Game
    players: tuple[str, ...]
    every: range
    numbers: Any
    nets: Any
    by_kind: tuple[KindColumns, ...]
    hand: Callable[[int], SourceHand | Skipped]
    texts: Sequence[str]


class SourceFile(Struct, frozen=True, kw_only=True):
    """A file as its reader gives it: its format, its players, and its hands in order.

    Some readers can also tell them many at a time: `batches` are the same hands. `place` is
    what the source says of all of them, by which its match is told from others.
    """

    format: str
    hands: Iterable[SourceHand | Skipped]
    dialect: str = ""
    players: tuple[str, ...] = ()
    note: SourceNoted | None = None
    inferred: tuple[str, ...] = ()
    batches: Iterable[SourceBatch] | None = None
    place: str = ""


class ImportRules(Struct, frozen=True):
    """The rules of an import: another ruleset than the one a file looks like, settings of either,
    and the source of the rakes."""

    game: Game | None = None
    settings: tuple[tuple[str, str], ...] = ()
    rake: RakeFrom = "fitted"

    def __post_init__(self) -> None:
        if self.rake != "fitted" and (self.game is not None or self.settings):
            raise Impossible(f"{self.rake} rakes are those of each hand's site: set no other rules")

    def of(self, game: Game) -> Game:
        """The rules that decide hands which a reader takes for hands of this game."""
        base = self.game or game
        if base.unit != game.unit:
            raise Refused(1, f"{base.name} counts in {base.unit}s, this file in {game.unit}s")
        return _changed(base, self.settings) if self.settings else base

    def sets(self, name: str) -> bool:
        """Whether this parameter was set."""
        return name in dict(self.settings)

    @property
    def only_rake(self) -> bool:
        """Whether nothing was asked but what the house takes, which some texts never name."""
        return self.game is None and all(name.startswith("rake_") for name, _ in self.settings)


AS_READ = ImportRules()


@lru_cache(maxsize=1 << 10)
def _changed(game: Game, settings: tuple[tuple[str, str], ...]) -> Game:
    try:
        return changed(game, dict(settings))
    except Impossible as reason:
        raise Refused(1, f"--set: {reason}") from None


# Text.

Text = str | bytes | Path

_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_BLOCK = 1 << 16
_SMALL = 1 << 18


def lines(text: Text) -> Iterator[str]:
    """The lines, from the start."""
    with open_text(text) as stream:
        yield from stream


def open_text(text: Text) -> TextIOBase:
    """The text, from the start, to be read in whatever pieces."""
    if isinstance(text, str):
        return StringIO(text.removeprefix("\ufeff"), newline=None)
    encoding = encoding_of(text)
    return TextIOWrapper(_raw(text), encoding, newline=None)


def decoded_if_small(text: Text) -> Text:
    """A small file decoded already: to open it for every reading takes longer than to read it."""
    if isinstance(text, Path) and text.stat().st_size <= _SMALL:
        text = text.read_bytes()
    if isinstance(text, bytes) and len(text) <= _SMALL:
        return text.decode(encoding_of(text))
    return text


def encoding_of(text: Text) -> str:
    """The encoding by which `lines` decodes a text; one that is decoded already was UTF-8 to us."""
    if isinstance(text, str):
        return "utf-8-sig" if text.startswith("\ufeff") else "utf-8"
    with _raw(text) as raw:
        start = raw.read(4)
        marked = (name for mark, name in _MARKS.items() if start.startswith(mark))
        guessed = ["utf-8", "cp1252"]
        if start[1:4:2] == b"\0\0":
            guessed = ["utf-16-le"]
        elif start[0:4:2] == b"\0\0":
            guessed = ["utf-16-be"]
        for encoding in (*marked, *guessed):
            if _decodes(raw, encoding):
                return encoding
        raise Refused(1, "this is no text: neither UTF-8 nor UTF-16 nor cp1252")


def _raw(text: bytes | Path) -> BinaryIO:
    return BytesIO(text) if isinstance(text, bytes) else text.open("rb")


def _decodes(raw: BinaryIO, encoding: str) -> bool:
    raw.seek(0)
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        while block := raw.read(_BLOCK):
            if "\0" in decoder.decode(block):
                return False
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True
