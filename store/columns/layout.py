"""The column layout of events in plain types, derived from the event types themselves.

Every field of every event is a column of its own name, and fields of the same name share one; the
few exceptions stand in `_NAMES`. Numbers are integers, truths booleans, everything else text: a
row of numbers is written with spaces between, a row of names as JSON, and cards take a column
each.

A row means something only in the columns of its own type. The others hold whatever is smallest:
nothing, the value from the row before, or a constant (`_LAYOUT`). A column with such a filler has a
value in every row of a file, and is stored as one that is never null: to look row by row whether
there is one takes a reader as long as the values do. Cards are nothing there all the same, for a
filler would cost six bytes a hand. `view` tells SQL what to believe.
"""

from collections.abc import Iterable
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import msgspec
import pyarrow as pa

from events import types as t
from events.ledger import Record
from events.match import DeckOpened, Match, MatchStarted

SCHEMA_VERSION = 2
READABLE_VERSIONS = (1, 2)  # they say the same in a row's own columns, and so to the view
KINDS: dict[str, type[Record]] = {
    kind.__name__: kind for kind in (*get_args(t.Event), *get_args(Match))
}
CARDS = 5  # columns of cards; what an event has beyond them is text in `more_cards`
SMALL = 2**31  # a number that is always less takes four bytes, any other eight
NOBODY = -1  # as `seat` and `next`

Form = Literal["number", "large", "truth", "text", "numbers", "names", "cards"]
Encoding = (
    Literal["DICTIONARY", "PLAIN", "DELTA_BINARY_PACKED", "DELTA_LENGTH_BYTE_ARRAY"]
    | (Literal["BYTE_STREAM_SPLIT", "RLE"])
)


class Column(NamedTuple):
    """A stored column; `filler` stands in rows of other types, `CARRY` repeats the last value."""

    name: str
    arrow: pa.DataType
    filler: Any = None
    encoding: Encoding = "DICTIONARY"


class Field(NamedTuple):
    """A field of one kind of event: its column, and how a value becomes a cell and back."""

    name: str
    column: str
    form: Form
    default: Any


EMPTY: tuple[Any, ...] = ((), "")  # of a late field that says nothing
_NOTHING = {"number": 0, "large": 0, "truth": False, "text": "", "numbers": "", "names": "[]"}
CARRY = object()

ENVELOPE = {
    "hand_seq": Column("hand_seq", pa.int64(), None, "DELTA_BINARY_PACKED"),
    "pos": Column("pos", pa.int64(), None, "DELTA_BINARY_PACKED"),
    "match": Column("match", pa.string()),
    "number": Column("number", pa.int64(), None, "DELTA_BINARY_PACKED"),
    "idx": Column("idx", pa.int32(), None, "BYTE_STREAM_SPLIT"),
    "at": Column("at", pa.timestamp("ms", tz="UTC"), None, "BYTE_STREAM_SPLIT"),
    "type": Column("type", pa.string()),
}
# A step has one name in every event; the envelope has the better claim to its own words.
_NAMES = {
    (t.StepEntered, "name"): "street",
    (MatchStarted, "match"): "match_named",
    (DeckOpened, "number"): "deck",
}
# Measured on heads-up auction hands (bench/results/ledger.md): what is smallest, column by column.
_LAYOUT: dict[str, tuple[Any, Encoding]] = {
    "game": (CARRY, "DICTIONARY"),
    "ruleset": (CARRY, "DICTIONARY"),
    "button": (CARRY, "DICTIONARY"),
    "players": (CARRY, "DICTIONARY"),
    "stacks": (CARRY, "DICTIONARY"),
    "dead_small": (CARRY, "RLE"),
    "assumed": (CARRY, "DICTIONARY"),
    "played": (CARRY, "DICTIONARY"),
    "street": (CARRY, "DICTIONARY"),
    "bet": (CARRY, "DICTIONARY"),
    "size": (CARRY, "DICTIONARY"),
    "seat": (CARRY, "BYTE_STREAM_SPLIT"),
    "next": (NOBODY, "PLAIN"),
    "amount": (0, "BYTE_STREAM_SPLIT"),
    "to": (0, "BYTE_STREAM_SPLIT"),
    "kind": (CARRY, "DICTIONARY"),
    "origin": ("chosen", "DICTIONARY"),
    "full": (True, "RLE"),
    "sealed": (CARRY, "RLE"),
    "told": (False, "RLE"),
    "all_in": (False, "RLE"),
    "pot": (CARRY, "DICTIONARY"),
    "seats": (CARRY, "DICTIONARY"),
    "shares": (CARRY, "DICTIONARY"),
    "price": (CARRY, "BYTE_STREAM_SPLIT"),
    "bids": (CARRY, "DICTIONARY"),
    "step": (CARRY, "BYTE_STREAM_SPLIT"),
    "old": (None, "DICTIONARY"),
    "new": (None, "DICTIONARY"),
}


@cache
def fields(kind: type[Record]) -> tuple[Field, ...]:
    """The fields of one kind of event; the hand that a `HandStarted` names is its stream."""
    hints = get_type_hints(kind, include_extras=True)
    return tuple(
        Field(
            field.name,
            _NAMES.get((kind, field.name), field.name),
            _form(field.name, hints[field.name]),
            field.default
            if field.default_factory is msgspec.NODEFAULT
            else field.default_factory(),
        )
        for field in msgspec.structs.fields(kind)
        if not (kind is t.HandStarted and field.name == "hand")
    )


@cache
def columns() -> dict[str, Column]:
    """The envelope, and every column that some event or match record fills, in a stable order."""
    by_name = dict(ENVELOPE)
    for kind in KINDS.values():
        for field in fields(kind):
            for column in columns_of(field):
                known = by_name.setdefault(column.name, column)
                if known != column:
                    raise TypeError(f"{kind.__name__}.{field.name} does not fit {known}")
    return by_name


@cache
def kinds_by_column() -> dict[str, tuple[str, ...]]:
    """The event types that fill each column beyond the envelope."""
    kinds_of: dict[str, list[str]] = {}
    for name, kind in KINDS.items():
        for field in fields(kind):
            for column in columns_of(field):
                kinds_of.setdefault(column.name, []).append(name)
    return {column: tuple(kinds) for column, kinds in kinds_of.items()}


@cache
def blank_values() -> dict[str, Any]:
    """The value of each column with a filler where no earlier value can be repeated."""
    fillers = {}
    for kind in KINDS.values():
        for field in fields(kind):
            for column in columns_of(field):
                if column.filler is not None:
                    carried = column.filler is CARRY
                    fillers[column.name] = _NOTHING[field.form] if carried else column.filler
    return fillers


@cache
def columns_of_types(types: tuple[str, ...]) -> tuple[str, ...]:
    """The envelope, and the columns that these types of event may fill."""
    mine = {
        column.name
        for kind in types
        for field in fields(KINDS[kind])
        for column in columns_of(field)
    }
    return tuple(name for name in columns() if name in ENVELOPE or name in mine)


def events_view_sql() -> str:
    """The SQL expressions of the view `events`: whole streams and cards, and no fillers."""
    cards = ", ".join(f"card{number}" for number in range(1, CARDS + 1))
    selected = {name: f'"{name}"' for name in ("hand_seq", "pos")}
    selected["hand"] = "match || coalesce('/' || number, '')"
    selected |= {name: f'"{name}"' for name in ("match", "number", "idx", "at", "type")}
    for name, kinds in kinds_by_column().items():
        if name == "card1":
            selected["cards"] = f"nullif(concat_ws(' ', {cards}, more_cards), '')"
        elif name in ("seat", "next"):
            selected[name] = (
                f"""CASE WHEN type IN {_words(kinds)} THEN nullif("{name}", {NOBODY}) END"""
            )
        elif name in ("assumed", "played"):
            none = f"""nullif("{name}", '{blank_values()[name]}')"""
            selected[name] = f"CASE WHEN type IN {_words(kinds)} THEN {none} END"
        elif columns()[name].filler is not None:
            selected[name] = f'CASE WHEN type IN {_words(kinds)} THEN "{name}" END'
        elif not name.startswith("card") and name != "more_cards":
            selected[name] = f'"{name}"'
    return ",\n".join(f'{how} AS "{name}"' for name, how in selected.items())


def columns_of(field: Field) -> tuple[Column, ...]:
    """A field's column; cards have several."""
    if field.form == "cards":
        each = tuple(Column(f"card{place + 1}", pa.string()) for place in range(CARDS))
        return (*each, Column("more_cards", pa.string(), None, "PLAIN"))
    arrow = {"number": pa.int32(), "large": pa.int64(), "truth": pa.bool_()}.get(field.form)
    arrow = arrow or pa.string()
    return (Column(field.column, arrow, *_LAYOUT.get(field.column, (None, "PLAIN"))),)


def _form(name: str, hint: Any) -> Form:
    """A number, a truth, text, or a row of one of them."""
    options = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    limits = (limit for option in options for limit in getattr(option, "__metadata__", ()))
    most = max((limit.le or SMALL for limit in limits), default=SMALL)
    hint = _bare(hint)
    if get_origin(hint) is tuple:
        if name == "cards":
            return "cards"
        return "numbers" if _bare(get_args(hint)[0]) is int else "names"
    if hint is bool:
        return "truth"
    if hint is int:
        return "number" if most < SMALL else "large"
    return "text"


def _bare(hint: Any) -> Any:
    """The type without its constraints and without None."""
    if get_origin(hint) in (Union, UnionType):
        return next(_bare(option) for option in get_args(hint) if option is not NoneType)
    if hasattr(hint, "__metadata__"):
        return _bare(hint.__origin__)
    return hint


def _words(kinds: Iterable[str]) -> str:
    return f"({', '.join(repr(kind) for kind in kinds)})"


SCHEMA = pa.schema([(column.name, column.arrow) for column in columns().values()])
"""Of the table of events."""
