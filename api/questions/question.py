"""Questions, each declared once: command, route, documents, files and page are made from this.

A parameter is a field of a frozen struct, annotated with `Param`; an answer is a struct, which is
the document in JSON; a table of it is a struct a row, each field annotated with `msgspec.Meta`: its
title, what it means, and in `extra` how a value is `spelled`, or that people do not see it
(`HIDDEN`). Four write them down: `cli/questions.py`, `http/routes/questions.py`,
`pages/home.py` and, for files, `arrow_table` here.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    NamedTuple,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec
from msgspec import NODEFAULT, Meta, Struct, UnsetType

if TYPE_CHECKING:
    import pyarrow as pa

    from api.viewpoints.ledger_view import LedgerView
    from api.viewpoints.viewer import ShowProgress


API = "/api/v1"
TEXT_MAX = 200  # characters of a name over HTTP
HIDDEN = {"hidden": True}


class Param(Struct, frozen=True):
    """A parameter's sentence, and how it differs on the command line and over HTTP."""

    about: str
    metavar: str | None = None
    argument: bool = False  # at the command line it is a word without the name of an option
    option: str | None = None  # the option's name, where that is not the field's
    formerly: str | None = None  # the option's name before, which is still taken
    query: str | None = None  # its name in an address, where that is not the field's
    least: int | None = None
    most: int | None = None  # over HTTP: the largest number, or the longest text
    http_default: int | None = None  # the default over HTTP, where somebody waits for the answer
    people: bool = False  # it changes only what people read, so a route has none


class Table(Struct, frozen=True):
    """Rows of one struct: a member of an answer, by the table's name, or what `taken` returns."""

    name: str
    row: type[Struct]
    taken: Callable[[Any], Sequence[Any]] | None = None

    def rows(self, answer: Any) -> Sequence[Any]:
        rows: Sequence[Any]
        rows = getattr(answer, self.name) if self.taken is None else self.taken(answer)
        return rows


class Page(NamedTuple):
    """A page of a list: its rows, the key of the last of them if more follow, and whether it may
    lack some for want of verdicts."""

    rows: list[Any]
    next: Any = None
    unjudged: bool = False


class Listed(Struct, frozen=True, kw_only=True):
    """A page of a list over HTTP: its rows are `data`, `next_cursor` is handed back as it is."""

    next_cursor: str | None
    has_more: bool


class Pages(Struct, frozen=True):
    """How a list is divided into pages: over HTTP of `limit` rows, unless the caller says how many.

    The question's parameters have two of their own: `after`, the key of the row before, and
    `limit`. What `ask` returns is a `Page`.
    """

    limit: int
    key: "Callable[[LedgerView, str], Any]"  # that of the row that `--after` names
    free: tuple[str, ...] = ()  # parameters that choose no rows: a cursor holds without them
    counts: "Question | None" = None  # of the same rows: a member of a page over HTTP, and instead
    # of the rows in a command; asked for by a parameter of its name


class Cell(NamedTuple):
    """A cell's text, grey where there is too little behind it; `warmth` colours it from 0 to 1.
    `leads`: for each of its numbers, which a `/` parts, the filter that finds the hands.
    `player`: whose name it is, where more than that stands here."""

    text: str
    few: bool = False
    warmth: float | None = None
    leads: tuple[str, ...] = ()
    player: str | None = None


class Sheet(Struct, frozen=True):
    """A table as people read it, with the sentences above and below."""

    columns: Sequence[str]
    rows: Iterable[Sequence[Cell]]
    right: Sequence[int] = ()
    head: str = ""
    foot: str = ""


class Question(Struct, frozen=True, kw_only=True):
    """A declared question: `text` opens with the sentence that lists of questions show; `ask`
    answers what a viewpoint may know. People get `sheets`, and sentences among them; without,
    every table as it is."""

    name: str
    text: str
    path: str
    operation: str  # what OpenAPI calls it
    params: type[Struct]
    answer: type[Struct]
    ask: "Callable[[LedgerView, Any, ShowProgress], Any]"
    tables: tuple[Table, ...]
    pages: Pages | None = None  # of a list, which is answered a page at a time
    sheets: Callable[[Any, Any], Iterable[Sheet | str]] | None = None
    page: str | None = None  # where a page stands that was made by hand
    page_parameters: tuple[str, ...] = ()  # the parameters that such a page takes, too
    page_query: Callable[[Any], Mapping[str, Any]] | None = None  # or what it is asked, if others
    check_size: "Callable[[LedgerView, Any], None] | None" = None  # refuses what takes too long
    caller_dependent: tuple[str, ...] = ()  # members that HTTP leaves out: who asked before decides
    also: tuple[tuple[str, str], ...] = ()  # other routes to it, and what OpenAPI calls them
    auditor: bool = False  # whether nobody else may ask it
    command_error: Callable[[Any], str | None] | None = None  # what of an answer fails a command
    code: Callable[[Any, Any], int] | None = None  # the exit code of a command, where it may vary
    facts: bool = True  # whether it reads facts, which old segments lack
    spark: bool = False  # whether Spark may count for it: all it counts, it counts in facts

    @property
    def sentence(self) -> str:
        return first_sentence(self.text)

    @property
    def schema(self) -> str:
        """The name of the document's schema: `muckrake.bids/1`."""
        return str(self.answer.__struct_config__.tag or f"muckrake.{self.name}/1")

    @property
    def routes(self) -> tuple[tuple[str, str], ...]:
        """The addresses of its routes, and their operations in OpenAPI."""
        return ((self.path, self.operation), *self.also)

    @property
    def page_path(self) -> str:
        """The address of its page, with the names of parameters in braces."""
        return self.page or self.path

    def repeatable(self, answer: Any) -> Any:
        """An answer without what depends on who asked before."""
        unset = dict.fromkeys(self.caller_dependent, msgspec.UNSET)
        return msgspec.structs.replace(answer, **unset)

    def sheets_of(self, answer: Any, params: Any) -> Iterable[Sheet | str]:
        """The sheets of an answer, for people."""
        if self.sheets is not None:
            return self.sheets(answer, params)
        return (table_sheet(table, answer) for table in self.tables)


class Field(NamedTuple):
    """A field of a struct: the type of its values, whether it may be null, its annotation."""

    name: str
    attribute: str
    type: Any
    optional: bool
    default: Any
    note: Any

    @property
    def required(self) -> bool:
        return self.default is NODEFAULT

    @property
    def words(self) -> tuple[str, ...]:
        """The words that a value may be, if not any."""
        inner = get_args(self.type)[0] if self.is_repeated else self.type
        return get_args(inner) if get_origin(inner) is Literal else ()

    @property
    def is_repeated(self) -> bool:
        """Whether it may be said several times."""
        return get_origin(self.type) is tuple


def fields(struct: type[Struct]) -> list[Field]:
    """The fields of parameters, or of a row."""
    hints = get_type_hints(struct, include_extras=True)
    fields = []
    for field in msgspec.structs.fields(struct):
        kind, note = hints[field.name], None
        if get_origin(kind) is Annotated:
            kind, note = get_args(kind)[:2]
        kinds = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
        bare = [it for it in kinds if it not in (type(None), UnsetType)]
        only = bare[0] if len(bare) == 1 else kind
        fields.append(
            Field(field.encode_name, field.name, only, len(bare) < len(kinds), field.default, note)
        )
    return fields


def owner_struct(row: type[Struct], **columns: Any) -> Any:
    """The struct of a row whose first columns say what it belongs to: which player, which part."""
    hints = get_type_hints(row, include_extras=True)
    own = {field.name: field for field in msgspec.structs.fields(row)}
    return msgspec.defstruct(
        f"{row.__name__}Row",
        [*columns.items(), *((name, hints[name]) for name in own)],
        rename={name: one.encode_name for name, one in own.items()}.get,
        frozen=True,
    )


def parameter_fields(question: Question) -> list[Field]:
    """The parameters of a question that a caller gives; of those without `Param` the interface
    sets `people`, `table` and the place in a list."""
    return [field for field in fields(question.params) if field.note is not None]


def make_params(question: Question, values: Mapping[str, Any], **door: Any) -> Any:
    """The parameters of a question with these values, and those of the interface's that it has."""
    wanted = {name: it for name, it in door.items() if name in question.params.__struct_fields__}
    plain = {
        name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
    }
    return question.params(**plain, **wanted)


def column_title(field: Field) -> str | None:
    """The title of a column: its name, if nothing is said; none, if people do not see it."""
    note = field.note or Meta()
    return None if note.extra == HIDDEN else note.title or field.name.replace("_", " ")


def table_sheet(table: Table, answer: Any, head: str = "", foot: str = "") -> Sheet:
    """A table as a sheet for people; columns that nobody fills are left out."""
    rows = table.rows(answer)
    filled = [
        field
        for field in fields(table.row)
        if not rows or any(getattr(row, field.attribute) is not None for row in rows)
    ]
    shown = column_sheet(filled, rows)
    return msgspec.structs.replace(shown, rows=list(shown.rows), head=head, foot=foot)


def column_sheet(columns: Iterable[Field], rows: Iterable[Any]) -> Sheet:
    """Columns of rows as a sheet, but those that people do not see; each row is spelled when it
    is read."""
    shown = [column for column in columns if column_title(column) is not None]
    spelled = [
        ((column.note and column.note.extra) or {}).get("spelled", cell_text) for column in shown
    ]
    lines = (
        [
            Cell(str(spell(getattr(row, column.attribute))), getattr(row, "few", False))
            for column, spell in zip(shown, spelled, strict=True)
        ]
        for row in rows
    )
    right = [place for place, column in enumerate(shown) if column.type in (int, float)]
    return Sheet([column_title(column) or "" for column in shown], lines, right)


def cell_text(value: Any) -> str:
    """A value as people read it: 1,234, 2.33; nothing for null."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, list | tuple):
        return ", ".join(map(cell_text, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,.10g}" if float(value).is_integer() else f"{value:,.2f}"


def ungrouped(value: Any) -> str:
    """A number as programs read it: 1234, without a mark between thousands."""
    if isinstance(value, list | tuple):
        return ", ".join(map(ungrouped, value))
    return (
        str(value) if isinstance(value, int) and not isinstance(value, bool) else cell_text(value)
    )


def share_text(value: float | None) -> str:
    """A share as text: 61.3 %"""
    return "" if value is None else f"{100 * value:.1f} %"


def unit_head(head: str, unit: str | None) -> str:
    """A head with the unit of its amounts, where that is no chip."""
    return head if unit in (None, "chip") else f"{head}   amounts in {unit}s"


def first_sentence(text: str) -> str:
    """The first paragraph of a text, on one line."""
    return " ".join(text.partition("\n\n")[0].split())


Name = Annotated[str, Param("A player's name, percent-encoded.", argument=True)]
Anybody = Annotated[str | None, Param("A player's name, percent-encoded.", argument=True)]
Newest = Annotated[bool, Param("The last ones first.")]
Rival = Annotated[str | None, Param("Only hands in which this player was dealt in, too.", "P")]
Match = Annotated[str | None, Param("Only this match's hands.", "MATCH")]
GameName = Annotated[str | None, Param("Only hands of this ruleset.", "GAME")]
HandNumberRange = Annotated[
    str | None,
    Param("Only these numbers within a match.", "A-B", option="numbers", formerly="hands"),
]
Before = Annotated[
    str | None, Param("As it stood before this hand: MATCH/NUMBER.", "HAND", query="as_of")
]
Unit = Annotated[
    str | None, Param("Only hands played for this: chip, dollar, euro, pound.", "UNIT", most=100)
]
ByTag = Annotated[
    str | None,
    Param("Players by what this tag says: bot, version, team; several with commas.", "TAG"),
]
Street = Annotated[
    Literal["preflop", "flop", "turn", "river"] | None, Param("Only statistics of this street.")
]


class Filters(Struct, frozen=True, kw_only=True):
    """The filters of hands that most questions have, and a player's pages, too."""

    vs: Rival = None
    match: Match = None
    game: GameName = None
    hands: HandNumberRange = None
    before: Before = None
    unit: Unit = None
    by_tag: ByTag = None


FILTER_NAMES = Filters.__struct_fields__


ARROW_TYPES = {str: "string", int: "int64", float: "double", bool: "bool"}  # as Arrow calls them


def json_rows(rows: Sequence[Any]) -> list[dict[str, Any]]:
    """Rows as JSON has them."""
    found: list[dict[str, Any]] = msgspec.to_builtins(rows)
    return found


def arrow_table(table: Table, answer: Any, *, flat: bool = False) -> "pa.Table":
    """The rows of a table in Arrow, which every file is written from; nested values are text in
    JSON, lists too if it must be flat."""
    import pyarrow as pa  # a command's help does without it

    schema, parts = {}, []
    for field in fields(table.row):
        kind = _type_text(field.type)
        many = get_origin(kind) is list
        inner = get_args(kind)[0] if many else kind
        if inner not in ARROW_TYPES or (many and (flat or inner not in (str, int))):
            parts.append(field.name)
            schema[field.name] = pa.string()
        else:
            item = pa.type_for_alias(ARROW_TYPES[inner])
            schema[field.name] = pa.list_(item) if many else item
    rows = json_rows(table.rows(answer))
    for row in rows:
        row |= {name: msgspec.json.encode(row[name]).decode() for name in parts}
    return pa.Table.from_pylist(rows, pa.schema(schema))


def _type_text(kind: Any) -> Any:
    """A type as it is written: text is text whatever its pattern or choices, also in a list."""
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    if get_origin(kind) is list:
        return list[_type_text(get_args(kind)[0])]  # type: ignore[misc]
    return str if get_origin(kind) is Literal else kind
