"""Events of many hands in columns, as a reader of foreign hands makes them and a ledger takes them.

No event is made of them on the way. A field's column holds whole numbers or truths, or is an
`Each`; `next` is -1 where nobody is. A row of numbers is a row of a column, with -1 to its end.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from events.cards import DECK, UNKNOWN
from events.ledger import Record

Column = Any  # an array of numbers
CARDS = (*DECK, UNKNOWN)


class Each(NamedTuple):
    """A field with few different values: which of them each event has; -1 is none.

    Of cards each event has a row, with -1 to its end.
    """

    codes: Column
    values: Sequence[Any]


class Many(NamedTuple):
    """Events of one kind: which of the hands each belongs to, its place there, and its fields, each
    a column or an `Each`.

    `HandStarted` does without its field `hand`: that is the stream.
    """

    kind: type[Record]
    hand: Column
    index: Column
    fields: dict[str, Any]


def some_of(fields: dict[str, Any], rows: Column) -> dict[str, Any]:
    """These rows of each field."""
    return {
        name: Each(it.codes[rows], it.values) if isinstance(it, Each) else it[rows]
        for name, it in fields.items()
    }
