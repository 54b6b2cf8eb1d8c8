"""The interface of a ledger: streams of events, appended whole, in one order for ever.

A hand is a stream `MATCH/NUMBER`; it closes with the append that carries `HandEnded` or
`HandVoided`. A match has a stream `MATCH` of its own for match records; each of its appends
closes at once. Rooms that write use these types; `api` passes them a real ledger.

A ledger also takes events of many hands in columns, as a reader of foreign hands makes them; no
event is made of them on the way. A field's column holds whole numbers or truths, or is a
`DictionaryColumn`; `next` is -1 where nobody is. A row of numbers is a row of a column, with -1 to
its end.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from msgspec import Struct

from events.cards import DECK, UNKNOWN
from events.match import Match
from events.types import Event, HandEnded, HandVoided

Record = Event | Match


class Conflict(Exception):
    """An append at a wrong version of its stream: nothing was appended."""


class Append(Struct, frozen=True, gc=False):
    """Events to be added to one stream, all or none.

    `expected` is how many events the writer believes the stream has. A repeat of the same
    `producer` and `sequence` is answered like the first time and adds nothing. `at` is the
    time of the envelope, in milliseconds since 1970; it may go backwards, positions do not.
    """

    stream: str
    expected: int
    events: tuple[Record, ...]
    at: int
    producer: str = ""
    sequence: int = 0


class Appended(Struct, frozen=True, gc=False):
    """The answer to an append, given when it is durable.

    `pos` is the position of its first event among all events, `version` how many the stream
    has now, `hand_seq` the place among all that closed, if this append closed something.
    """

    stream: str
    pos: int
    version: int
    hand_seq: int | None


class Recorded(Struct, frozen=True, gc=False):
    """One event as the ledger holds it."""

    pos: int
    stream: str
    index: int
    at: int
    event: Record


class Writable(Protocol):
    """The part of a ledger that the recording of a match calls."""

    def append(self, *appends: Append) -> tuple[Appended, ...]:
        """Add events to streams; each append is atomic, and all are durable on return."""
        ...

    def attest(self, match: str, first: int) -> bytes | None:
        """A signed checkpoint over all that has closed, kept as the one from before this hand of a
        match, durable on return; None where nobody signs."""
        ...


class Ledger(Writable, Protocol):
    """Appends are atomic per stream and durable when they return; positions are dense."""

    def read(self, stream: str) -> tuple[Recorded, ...]:
        """Everything in one stream, in order; nothing if there is no such stream."""
        ...

    def read_from(self, pos: int) -> Iterator[Recorded]:
        """Every durable event from this position on, in order, up to the newest."""
        ...

    def follow(self, pos: int) -> Iterator[Recorded]:
        """Read as `read_from`, and then every event to come, without gap or duplicate."""
        ...


class DeckChain(Struct, frozen=True):
    """The dealer's secret of a committed chain: its last secret in hex, and its length."""

    secret: str
    hands: int


class DeckSecrets(Protocol):
    """A store of deck secrets, apart from all others; chains of a match follow one another."""

    def keep(self, match: str, chain: DeckChain) -> None:
        """Durable when it returns: only then is the commitment published."""
        ...

    def chains(self, match: str) -> tuple[DeckChain, ...]:
        """Every chain of this match, in order; none if its decks were never committed."""
        ...


def is_match(stream: str) -> bool:
    """A match's own stream; a hand's has a number after a slash."""
    return "/" not in stream


def closes(stream: str, events: Sequence[Record]) -> bool:
    """Whether this append closes its stream: the end of a hand, or any match records."""
    ends = (isinstance(event, HandEnded | HandVoided) for event in reversed(events))
    return is_match(stream) or any(ends)


Column = Any  # an array of numbers
CARDS = (*DECK, UNKNOWN)


class DictionaryColumn(NamedTuple):
    """A column with few different values: which of them each event has; -1 is none.

    Of cards each event has a row, with -1 to its end.
    """

    codes: Column
    values: Sequence[Any]


class KindColumns(NamedTuple):
    """Events of one kind: which of the hands each belongs to, its place there, and its fields, each
    a `Column` or a `DictionaryColumn`.

    `HandStarted` does without its field `hand`: that is the stream.
    """

    kind: type[Record]
    hand: Column
    index: Column
    fields: dict[str, Any]


def some_of(fields: dict[str, Any], rows: Column) -> dict[str, Any]:
    """The selected rows of each field."""
    return {
        name: column._replace(codes=column.codes[rows])
        if isinstance(column, DictionaryColumn)
        else column[rows]
        for name, column in fields.items()
    }
