"""A question, declared once: its command, route, documents, files and page are made from this.

A parameter is a field of a frozen struct, annotated with `Param`; an answer is a struct, which is
the document in JSON; a table of it is a struct a row, each field annotated with `msgspec.Meta`: its
title, what it means, and in `extra` how a value is `spelled`, or that people do not see it
(`HIDDEN`). Four write them down: `cli/questions.py`, `http/routes/questions.py`,
`pages/questions.py` and, for files, `tables.py`.
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
from msgspec import NODEFAULT, Meta, Struct

from api.viewpoints.progress import ShowProgress

if TYPE_CHECKING:
    from api.viewpoints.views import Viewed

API = "/api/v1"
TEXT_MAX = 200  # characters of a name over HTTP
HIDDEN = {"hidden": True}


class Param(Struct, frozen=True):
    """What a parameter is, and what is otherwise at one of the doors."""

    about: str
    metavar: str | None = None
    argument: bool = False  # at the command line it is a word without the name of an option
    option: str | None = None  # the option's name, where that is not the field's
    query: str | None = None  # its name in an address, where that is not the field's
    least: int | None = None
    most: int | None = None  # over HTTP: the largest number, or the longest text
    waiting: int | None = None  # the default over HTTP, where somebody waits for the answer


class Table(Struct, frozen=True):
    """Rows of one struct, taken out of an answer."""

    name: str
    row: type[Struct]
    rows: Callable[[Any], Sequence[Any]]


class Cell(NamedTuple):
    """A text, grey where there is too little behind it; `warmth` colours it from 0 to 1."""

    text: str
    few: bool = False
    warmth: float | None = None


class Sheet(Struct, frozen=True):
    """A table as people read it, with the sentences above and below."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    right: Sequence[int] = ()
    head: str = ""
    foot: str = ""


class Question(Struct, frozen=True, kw_only=True):
    """`text` opens with the sentence that lists of questions show; `ask` answers what a viewpoint
    may know. People get `sheets`, and sentences among them; without, every table as it is."""

    name: str
    text: str
    path: str
    operation: str  # what OpenAPI calls it
    params: type[Struct]
    answer: type[Struct]
    ask: "Callable[[Viewed, Any, ShowProgress], Any]"
    tables: tuple[Table, ...]
    sheets: Callable[[Any, Any], Iterable[Sheet | str]] | None = None
    page: str | None = None  # where a page stands that was made by hand
    kept: tuple[str, ...] = ()  # the parameters that such a page takes, too
    bound: "Callable[[Viewed, Any], None] | None" = None  # refuses what takes too long to wait for
    passing: tuple[str, ...] = ()  # members that depend on who asked before: not told over HTTP
    facts: bool = True  # whether it reads facts, which old segments lack

    @property
    def sentence(self) -> str:
        return sentence_of(self.text)

    @property
    def schema(self) -> str:
        """The name of the document's shape: `muckrake.bids/1`."""
        return str(self.answer.__struct_config__.tag)

    @property
    def place(self) -> str:
        """The address of its page, with the names of parameters in braces."""
        return self.page or self.path

    def steady(self, answer: Any) -> Any:
        """The same without what depends on who asked before."""
        return msgspec.structs.replace(answer, **dict.fromkeys(self.passing, msgspec.UNSET))

    def told(self, answer: Any, params: Any) -> Iterable[Sheet | str]:
        """What people read."""
        if self.sheets is not None:
            return self.sheets(answer, params)
        return (sheet(one, answer) for one in self.tables)


class Field(NamedTuple):
    """A field of a struct: its type without None, whether None is in it, and its annotation."""

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
    def choices(self) -> tuple[str, ...]:
        """The words that may be said, if not any."""
        inner = get_args(self.type)[0] if self.many else self.type
        return get_args(inner) if get_origin(inner) is Literal else ()

    @property
    def many(self) -> bool:
        """Whether it may be said several times."""
        return get_origin(self.type) is tuple


def fields(struct: type[Struct]) -> list[Field]:
    """The fields of parameters, or of a row."""
    hints = get_type_hints(struct, include_extras=True)
    found = []
    for one in msgspec.structs.fields(struct):
        kind, note = hints[one.name], None
        if get_origin(kind) is Annotated:
            kind, note = get_args(kind)[:2]
        kinds = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
        bare = [it for it in kinds if it is not type(None)]
        only = bare[0] if len(bare) == 1 else kind
        found.append(
            Field(one.encode_name, one.name, only, len(bare) < len(kinds), one.default, note)
        )
    return found


def parameters(question: Question) -> list[Field]:
    """What may be asked for; what has no `Param`, the doors say: whether `people` read the answer,
    and which `table` is wanted."""
    return [one for one in fields(question.params) if one.note is not None]


def asked(question: Question, given: Mapping[str, Any], **door: Any) -> Any:
    """The parameters of what is asked; of what the door says, those that the question wants."""
    wanted = {name: it for name, it in door.items() if name in question.params.__struct_fields__}
    plain = {name: tuple(it) if isinstance(it, list) else it for name, it in given.items()}
    return question.params(**plain, **wanted)


def title(field: Field) -> str | None:
    """The title of a column: its name, if nothing is said; none, if people do not see it."""
    note = field.note or Meta()
    return None if note.extra == HIDDEN else note.title or field.name.replace("_", " ")


def sheet(table: Table, answer: Any, head: str = "", foot: str = "") -> Sheet:
    """A table as people read it; columns that nobody fills are left out."""
    rows = table.rows(answer)
    shown = [
        one
        for one in fields(table.row)
        if title(one) is not None
        and (not rows or any(getattr(row, one.attribute) is not None for row in rows))
    ]
    lines = [
        [
            Cell(_spelled(one, getattr(row, one.attribute)), getattr(row, "few", False))
            for one in shown
        ]
        for row in rows
    ]
    right = [place for place, one in enumerate(shown) if one.type in (int, float)]
    return Sheet([title(one) or "" for one in shown], lines, right, head, foot)


def _spelled(field: Field, value: Any) -> str:
    how = ((field.note and field.note.extra) or {}).get("spelled", plain)
    return str(how(value))


def plain(value: Any) -> str:
    """A value as people read it: 1,234, 2.33; nothing for null."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, list | tuple):
        return ", ".join(map(plain, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,.10g}" if float(value).is_integer() else f"{value:,.2f}"


def share(value: float | None) -> str:
    """61.3 %"""
    return "" if value is None else f"{100 * value:.1f} %"


def headed(head: str, unit: str | None) -> str:
    """A head that says what amounts count, where that is no chip."""
    return head if unit in (None, "chip") else f"{head}   amounts in {unit}s"


def sentence_of(text: str) -> str:
    """The first paragraph, on one line."""
    return " ".join(text.partition("\n\n")[0].split())


Name = Annotated[str, Param("A player's name, percent-encoded.", argument=True)]
Anybody = Annotated[str | None, Param("A player's name, percent-encoded.", argument=True)]
Rival = Annotated[str | None, Param("Only hands in which this player was dealt in, too.", "P")]
Match = Annotated[str | None, Param("Only this match's hands.", "MATCH")]
OfGame = Annotated[str | None, Param("Only hands of this ruleset.", "GAME")]
Unit = Annotated[
    str | None, Param("Only hands played for this: chip, dollar, euro, pound.", "UNIT", most=100)
]
Street = Annotated[
    Literal["preflop", "flop", "turn", "river"] | None, Param("Only statistics of this street.")
]
