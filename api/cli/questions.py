"""The command of a question: its words become parameters, and its answer a table, JSON or files."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from api.cli.ledger import json_option, ledger_option, view_option
from api.cli.output import document, note, progress
from api.cli.players import lacking, saved
from api.cli.spots import Spots
from api.cli.tables import drawn
from api.cli.viewing import viewing
from api.cli.web import opened
from api.questions.question import Field, Question, Sheet, Table, asked, parameters

if TYPE_CHECKING:
    from api.pages.addresses import Addresses

FILES = click.Path(dir_okay=False, path_type=Path)


def command(question: Question) -> click.Command:
    """`muckrake NAME`, with an option for each parameter."""
    made = click.Command(question.name, help=question.text, callback=lambda **given: given)
    made.callback = lambda **given: answered(question, **given)
    made.params += [_parameter(one) for one in parameters(question)]
    if len(question.tables) > 1:
        which = click.Choice([one.name for one in question.tables])
        told = "Which table a file gets."
        made.params.append(
            click.Option(
                ["--table"], type=which, default=which.choices[0], show_default=True, help=told
            )
        )
    if question.tables:
        made.params.append(click.Option(["--csv"], type=FILES, help="Into a file."))
        made.params.append(click.Option(["--parquet"], type=FILES, help="Into a Parquet file."))
    for option in (view_option, ledger_option, json_option):
        option(made)
    told = "Its page in the browser, until Ctrl-C, instead of text."
    made.params.append(click.Option(["--web"], is_flag=True, help=told))
    return made


def _parameter(field: Field) -> click.Parameter:
    """The word or the option of a parameter."""
    note = field.note
    if note.argument:
        return click.Argument([field.name], required=field.required, metavar=note.metavar)
    kind: Any = str
    told: dict[str, Any] = {"help": note.about, "metavar": note.metavar}
    if field.choices:
        kind = click.Choice(field.choices)
    elif field.type is bool:
        return click.Option([f"--{note.option or field.name}", field.name], is_flag=True, **told)
    elif field.type is int:
        kind = Spots() if field.optional else click.IntRange(note.least)
        told |= {"default": str(field.default), "show_default": True}
    name = note.option or field.name
    return click.Option([f"--{name}", field.name], type=kind, multiple=field.many, **told)


def answered(
    question: Question,
    *,
    view: str,
    folder: Path,
    as_document: bool,
    web: bool,
    table: str | None = None,
    csv: Path | None = None,
    parquet: Path | None = None,
    **given: Any,
) -> None:
    """Ask, and write the answer as it is wanted."""
    if web:
        opened(_page(question), {**given, "view": view, "folder": folder})
        return
    people = not (csv or parquet or as_document)
    params = asked(question, given, people=people, table=table)
    with viewing(folder, view, given.get("unit")) as viewed:
        if question.facts:
            lacking(viewed)
        answer = question.ask(viewed, params, progress)
    if csv or parquet:
        chosen = next(it for it in question.tables if table in (None, it.name))
        _files(chosen, answer, csv, parquet)
    elif as_document:
        told = msgspec.to_builtins(answer)
        document(told.pop("schema"), **told)
    else:
        for one in question.told(answer, params):
            if isinstance(one, Sheet):
                drawn(one.columns, one.rows, one.right, one.head, one.foot)
            else:
                note(one)


def _page(question: Question) -> "Callable[[Addresses, dict[str, Any]], str]":
    """Where the page of what was asked is; the list of players, if it is somebody's and he is not
    named."""

    def page(to: "Addresses", given: dict[str, Any]) -> str:
        named = [it.name for it in parameters(question) if f"{{{it.name}}}" in question.place]
        if any(given[name] is None for name in named):
            return to.players()
        kept = question.kept if question.page else set(given) - {*named, "view", "folder"}
        path = {name: given[name] for name in named}
        return to.place(question.place, path, **{name: given[name] for name in kept})

    return page


def _files(table: Table, answer: Any, csv: Path | None, parquet: Path | None) -> None:
    """A table of the answer as files."""
    import polars as pl

    from api.questions.tables import arrow

    frame = pl.DataFrame(arrow(table, answer))
    saved(frame, csv, parquet)
