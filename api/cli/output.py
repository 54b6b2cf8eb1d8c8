"""How commands speak: data on stdout, everything else as sentences on stderr."""

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn, TypeVar

import click

T = TypeVar("T")

WRONG = 3  # exit code: checked, and found wrong
MISSING = 5  # exit code: what was asked for does not exist


class NotFound(click.ClickException):
    """What was asked for does not exist."""

    exit_code = MISSING


def note(sentence: str) -> None:
    """Progress and remarks, out of the way of the data."""
    click.echo(sentence, err=True)


def wrong(sentence: str) -> NoReturn:
    """The check was made, and its answer is no."""
    note(f"muckrake: {sentence}")
    raise click.exceptions.Exit(WRONG)


def document(schema: str, **content: Any) -> None:
    """One JSON document, its shape named by `schema`."""
    click.echo(json.dumps({"schema": schema, **content}, indent=2, ensure_ascii=False))


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Drawn on a terminal, tab-separated in a pipe."""
    if not sys.stdout.isatty():
        for row in (columns, *rows):
            click.echo("\t".join(row))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        drawn.add_column(column, no_wrap=column != columns[-1])
    for row in rows:
        drawn.add_row(*(Text(cell) for cell in row))
    Console().print(drawn)


def progress(items: Sequence[T], doing: str) -> Iterable[T]:
    """The items, with a bar on stderr while they are worked off, if somebody is watching."""
    if not sys.stderr.isatty():
        return items
    from rich.console import Console
    from rich.progress import track

    return track(items, doing, console=Console(stderr=True), transient=True)
