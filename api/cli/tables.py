"""Tables of numbers: aligned and greyed on a terminal, tab-separated in a pipe."""

import sys
from collections.abc import Sequence

from api.cli.output import note, say
from api.printable import Page, printable
from api.questions.question import Cell, headed

__all__ = ["Cell", "drawn", "headed"]


def drawn(
    columns: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    right: Sequence[int] = (),
    head: str = "",
    foot: str = "",
) -> None:
    """A table with its sentences above and below."""
    rows = [[cell._replace(text=printable(cell.text)) for cell in row] for row in rows]
    columns, head, foot = list(map(printable, columns)), printable(head), printable(foot)
    if not sys.stdout.isatty():
        _piped(columns, rows, head, foot)
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="dim", title_justify="left")
    for place, column in enumerate(columns):
        justify = "right" if place in right else "left"
        table.add_column(column, justify=justify, no_wrap=True)  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*(Text(cell.text, style=_style(cell)) for cell in row))
    console = Console(highlight=False)
    if head:
        console.print(Text(head, style="bold"))
    console.print(table)
    if foot:
        console.print(Text(foot, style="dim"))


def _piped(columns: Sequence[str], rows: Sequence[Sequence[Cell]], head: str, foot: str) -> None:
    """Data only: what stands above and below goes to the other stream."""
    if head:
        note(head)
    say(Page("\t".join(columns) + "\n"))
    for row in rows:
        say(Page("\t".join(cell.text for cell in row) + "\n"))
    if foot:
        note(foot)


def _style(cell: Cell) -> str:
    """Grey, or a shade between cold and warm; the number itself always says the same."""
    if cell.few:
        return "dim"
    if cell.warmth is None:
        return ""
    return _SHADES[min(len(_SHADES) - 1, int(cell.warmth * len(_SHADES)))]


_SHADES = ("blue", "cyan", "green", "yellow", "bold yellow", "bold red")
