"""The command of a declared question: arguments become parameters, the answer a table or files.

Every command that asks opens the ledger here (`viewing`), from the viewpoint that `--as` names.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec
from msgspec.structs import replace

from api.cli.ledger import auditor_only, json_option, ledger_option, reading, view_option
from api.cli.options import Option, OutputFile, files_of, files_option, open_output, quiet_option
from api.cli.output import (
    NotFound,
    NotPermitted,
    errors_as,
    exit_wrong,
    note,
    print_cells,
    print_json,
    print_list,
    progress,
)
from api.cli.serve import open_page
from api.questions.question import (
    Field,
    Page,
    Question,
    Sheet,
    Table,
    arrow_table,
    column_sheet,
    fields,
    make_params,
    parameter_fields,
)
from api.viewpoints.viewer import UnknownViewpoint, viewer_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from api.pages.addresses import Addresses
    from api.viewpoints.ledger_view import LedgerView

FILTER_SHOWN_MAX = 100  # characters of a filter that is wrong
SLOW_HANDS = 20_000  # hands without stored facts, from which on it is worth a word
ROWS_AT_ONCE = 10_000  # rows of a list that are in memory together


@contextmanager
def viewing(
    folder: Path, view: str, unit: str | None = None, by_tag: str | None = None
) -> Iterator["LedgerView"]:
    """The ledger's views for SQL: a misspelt viewpoint is misuse, nobody's seat is not permitted.
    With `unit`, of the hands alone that are played for it; with `by_tag`, of players as it calls
    them.
    """
    with errors_as(click.UsageError, UnknownViewpoint):
        viewer = viewer_of(view)
    with reading(folder) as ledger:
        from api.questions.filters_parser import WrongFilter
        from api.questions.player_measures import Unanswerable
        from api.viewpoints.hand_selection import NotInLedger
        from api.viewpoints.ledger_view import LedgerView
        from store.sql.guard import Refused

        viewed = LedgerView(ledger, viewer)
        try:
            if not viewed.has_hands:
                raise NotPermitted(f"{viewer.player} has no seat in any hand here")
            yield viewed.narrowed(unit, by_tag)
        except Refused as reason:
            raise click.ClickException(str(reason)) from None
        except NotInLedger as absent:
            raise NotFound(str(absent)) from None
        except Unanswerable as reason:
            raise click.UsageError(str(reason)) from None
        except WrongFilter as found:
            # A filter that cannot be read, with a mark where it went wrong.
            note(f"muckrake: {found}")
            begin = max(0, found.position - FILTER_SHOWN_MAX // 2)
            shown = "".join(one if one.isprintable() else " " for one in found.text)
            note(f"  {shown[begin : begin + FILTER_SHOWN_MAX]}")
            note(f"  {' ' * (found.position - begin)}^")
            raise click.exceptions.Exit(2) from None
        finally:
            viewed.close()


on_option = click.option(
    "--on",
    metavar="SPARK",
    help="By Spark: local[N], spark://HOST:PORT or sc://HOST; muckrake-poker[spark] brings it.",
)


@contextmanager
def spark_session(master: str) -> Iterator["SparkSession"]:
    """A session of Spark; why there is none, or what it failed with, in one sentence."""
    from api.cluster.spark import NoSpark, session

    with errors_as(click.ClickException, NoSpark), session(master) as spark:
        yield spark


@contextmanager
def counting_by_spark(on: str | None, viewed: "LedgerView") -> Iterator[None]:
    """Count facts by Spark, if `--on` names one."""
    with spark_session(on) if on else nullcontext() as spark:
        if spark is not None:
            from api.cluster.spark import SparkFacts

            viewed.facts_by = partial(SparkFacts, spark)
        yield


class SampleSize(click.ParamType[int | None]):
    """A number of spots, or `all`."""

    name = "N|all"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | None:
        if value == "all":
            return None
        if not str(value).isdecimal():
            self.fail(f"{value} is no number of them: 0, 200 and all are", param, ctx)
        return int(value)


def question_command(question: Question) -> click.Command:
    """The command of a question, with an option for each parameter."""
    made = click.Command(question.name, help=question.text, callback=lambda **values: values)
    made.callback = lambda **values: answer_question(question, **values)
    made.params += [_click_parameter(parameter) for parameter in parameter_fields(question)]
    if question.pages is not None:
        description = "So many at most; all, if not given."
        made.params.append(
            click.Option(["--limit"], metavar="N", type=click.IntRange(min=1), help=description)
        )
        row, description = (
            question.tables[0].row.__struct_fields__[0].upper(),
            "Only those that come after this one.",
        )
        made.params.append(click.Option(["--after"], metavar=row, help=description))
    if len(question.tables) > 1:
        which = click.Choice([table.name for table in question.tables])
        description = "Which table a file gets."
        made.params.append(
            click.Option(
                ["--table"],
                type=which,
                default=which.choices[0],
                show_default=True,
                help=description,
            )
        )
    if question.tables:
        files_option()(made)
    for option in (view_option, ledger_option, json_option, quiet_option):
        option(made)
    if question.spark:
        on_option(made)
    description = "Its page in the browser, until Ctrl-C, instead of text."
    made.params.append(click.Option(["--web"], is_flag=True, help=description))
    return made


def _click_parameter(field: Field) -> click.Parameter:
    """The argument or option of a parameter."""
    note = field.note
    if note.argument:
        default = {} if field.required else {"default": field.default}
        return click.Argument(
            [field.name], required=field.required, metavar=note.metavar, **default
        )
    kind: Any = str
    name = note.option or field.name.replace("_", "-")
    attributes: dict[str, Any] = {"help": note.about, "metavar": note.metavar}
    formerly = [f"--{note.formerly}"] if note.formerly else []
    if field.words:
        kind = click.Choice(field.words)
    elif field.type is bool and field.optional:
        return click.Option([f"--{name}/--no-{name}", field.name], default=None, **attributes)
    elif field.type is bool:
        return click.Option([f"--{name}", field.name], is_flag=True, **attributes)
    elif field.type is int:
        some = field.optional and field.default is not None
        kind = SampleSize() if some else click.IntRange(note.least)
    if isinstance(field.default, int | str):
        attributes |= {"default": str(field.default), "show_default": True}
    return Option(
        [f"--{name}", field.name], formerly, type=kind, multiple=field.is_repeated, **attributes
    )


def answer_question(
    question: Question,
    *,
    view: str,
    folder: Path,
    as_document: bool,
    web: bool,
    table: str | None = None,
    out: Path | None = None,
    kind: str | None = None,
    csv: Path | None = None,
    parquet: Path | None = None,
    limit: int | None = None,
    after: str | None = None,
    on: str | None = None,
    **values: Any,
) -> None:
    """Answer the question, as a table, a document, files, or its web page."""
    if web:
        open_page(_page_url(question), {**values, "view": view, "folder": folder})
        return
    pages = question.pages
    if pages is not None and pages.counts is not None and values[pages.counts.name]:
        question, pages = pages.counts, None
    if question.auditor:
        auditor_only(view, question.name)
    files = files_of(out, kind, csv, parquet)
    people = not (files or as_document)
    if table is None and files:
        table = question.tables[0].name
    params = make_params(question, values, people=people, table=table)
    through = viewing(folder, view, values.get("unit"), values.get("by_tag"))
    with through as viewed, counting_by_spark(on, viewed):
        if question.facts:
            from analytics.projections.facts import VERSION

            segments = viewed.snapshot.parts().segments
            without = [one for one in segments if one.projections.get("facts") != VERSION]
            hands = sum(one.last_seq - one.first_seq + 1 for one in without)
            if hands > SLOW_HANDS:
                note(
                    f"facts of {hands} hands are made on the way: muckrake compact would keep them"
                )
        if pages is not None:
            if after is not None:
                params = replace(params, after=pages.key(viewed, after))
            _print_list(question, viewed, params, limit, files, as_document=as_document)
            return
        answer = question.ask(viewed, params, progress)
    if files:
        chosen = next(it for it in question.tables if it.name == table)
        _write_tables(chosen, [answer], files)
    elif as_document:
        content = msgspec.to_builtins(answer)
        print_json(content.pop("schema", question.schema), **content)
    else:
        for one in question.sheets_of(answer, params):
            if isinstance(one, Sheet):
                print_cells(one.columns, one.rows, one.right, one.head, one.foot)
            else:
                note(one)
    if question.code is not None and (code := question.code(answer, params)):
        raise click.exceptions.Exit(code)
    if question.command_error is not None and (sentence := question.command_error(answer)):
        exit_wrong(sentence)


def _page_url(question: Question) -> "Callable[[Addresses, dict[str, Any]], str]":
    """The address of the answer's page; the list of players if no player is named."""

    def page(to: "Addresses", values: dict[str, Any]) -> str:
        named = [
            parameter.name
            for parameter in parameter_fields(question)
            if f"{{{parameter.name}}}" in question.page_path
        ]
        if any(values[name] is None for name in named):
            return to.players()
        path = {name: values[name] for name in named}
        if question.page_query is not None:
            values = {
                name: value for name, value in values.items() if name not in ("view", "folder")
            }
            return to.place(
                question.page_path, path, **question.page_query(make_params(question, values))
            )
        kept = (
            question.page_parameters if question.page else set(values) - {*named, "view", "folder"}
        )
        called = {
            parameter.name: parameter.note.query or parameter.name
            for parameter in parameter_fields(question)
        }
        return to.place(question.page_path, path, **{called[name]: values[name] for name in kept})

    return page


def _print_list(
    question: Question,
    viewed: "LedgerView",
    params: Any,
    limit: int | None,
    files: list[OutputFile],
    *,
    as_document: bool,
) -> None:
    """Print a list as it is read: its rows, and the key of the last one if there are more."""

    def read(params: Any, limit: int | None) -> Iterator[Page]:
        """Page by page, as far as it is wanted."""
        while True:
            size = ROWS_AT_ONCE if limit is None else min(ROWS_AT_ONCE, limit)
            page: Page = question.ask(viewed, replace(params, limit=size), progress)
            yield page
            limit = None if limit is None else limit - len(page.rows)
            if page.next is None or limit == 0:
                return
            params = replace(params, after=page.next)

    (table,) = question.tables
    pages = read(params, limit)
    pages = chain([next(pages)], pages)  # what fails at once fails before anything is written
    following: Any = None

    def rows() -> Iterator[Any]:
        nonlocal following
        for page in pages:
            yield from page.rows
            following = page.rows[-1] if page.next is not None else None

    def name() -> str | None:
        first = table.row.__struct_fields__[0]
        return None if following is None else str(getattr(following, first))

    if files:
        _write_tables(table, list(pages), files)
    elif as_document:
        plain = map(msgspec.to_builtins, rows())
        print_list(question.schema, question.name, plain, lambda: {"next": name()})
    else:
        sheet = column_sheet(fields(table.row), rows())
        print_cells(sheet.columns, sheet.rows, sheet.right)
        if following is not None:
            note(f"there are more: --after {name()}")


def _write_tables(table: Table, answers: list[Any], files: list[OutputFile]) -> None:
    """Write a table of the answer into files."""
    import polars as pl

    for kind, file in files:
        frames = [
            pl.DataFrame(arrow_table(table, answer, flat=kind == "csv")) for answer in answers
        ]
        frame = pl.concat(frames)
        with open_output(file) as sink:
            (frame.write_csv if kind == "csv" else frame.write_parquet)(sink)
        if file is not None:
            note(f"{frame.height} rows into {file}")
