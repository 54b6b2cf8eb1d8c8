"""Tables: drawn on a terminal, in blocks if they are wider than it is; tab-separated in a pipe."""

import sys
from collections.abc import Iterable, Iterator, Sequence

from api.cli.output import note, say
from api.printable import Page, printable
from api.questions.question import Cell, headed

__all__ = ["Cell", "drawn", "headed", "table"]

SHORT = 16  # characters of a cell that is never folded
GAP = 2  # blanks between two columns


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table of texts."""
    drawn(columns, (list(map(Cell, row)) for row in rows))


def drawn(
    columns: Sequence[str],
    rows: Iterable[Sequence[Cell]],
    right: Sequence[int] = (),
    head: str = "",
    foot: str = "",
) -> None:
    """A table with its sentences above and below; into a pipe, as the rows are read."""
    rows = ([cell._replace(text=printable(cell.text)) for cell in row] for row in rows)
    columns, head, foot = list(map(printable, columns)), printable(head), printable(foot)
    if not sys.stdout.isatty():
        _piped(columns, rows, head, foot)
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    lines, console = list(rows), Console(highlight=False)
    if head:
        console.print(Text(head, style="bold"))
    for number, block in enumerate(_blocks(columns, lines, right, console.width)):
        if number:
            console.print()
        grid = Table(box=None, pad_edge=False, header_style="dim")
        for place, width in block.items():
            justify = "right" if place in right else "left"
            grid.add_column(columns[place], justify=justify, width=width, overflow="fold")  # type: ignore[arg-type]
        for row in lines:
            grid.add_row(*(Text(row[place].text, style=_style(row[place])) for place in block))
        console.print(grid)
    if foot:
        console.print(Text(foot, style="dim"))


def _blocks(
    columns: Sequence[str], lines: Sequence[Sequence[Cell]], right: Sequence[int], width: int
) -> Iterator[dict[int, int]]:
    """Columns that stand beside each other, each with its width; the first again in every block.

    Where the whole table is too wide, headings and long cells are folded between words; where
    that is not enough, what is left over goes on below.
    """
    from rich.cells import cell_len

    longest, least = [], []
    for place, column in enumerate(columns):
        texts = [row[place].text for row in lines]
        words = [word for text in texts if cell_len(text) > SHORT for word in text.split()]
        whole = [text for text in texts if cell_len(text) <= SHORT]
        longest.append(max(map(cell_len, [column, *texts])))
        least.append(min(width, max(map(cell_len, ["", *words, *whole, *column.split()]))))
    keys = list(range(min(right, default=1)))[:2]
    block, rest = list(keys), [place for place in range(len(columns)) if place not in keys]
    for place in rest:
        if len(block) > len(keys) and _taken(least, [*block, place]) > width:
            yield _widths(longest, least, block, width)
            block = list(keys)
        block.append(place)
    yield _widths(longest, least, block, width)


def _taken(widths: Sequence[int], block: Sequence[int]) -> int:
    return sum(widths[place] + GAP for place in block) - GAP


def _widths(
    longest: Sequence[int], least: Sequence[int], block: Sequence[int], width: int
) -> dict[int, int]:
    """What is left of the width goes to the columns that need least of it first."""
    given, left = {place: least[place] for place in block}, width - _taken(least, block)
    needing = sorted(block, key=lambda place: longest[place] - least[place])
    for done, place in enumerate(needing):
        more = max(0, min(longest[place] - least[place], left // (len(needing) - done)))
        given[place] += more
        left -= more
    return given


def _piped(columns: Sequence[str], rows: Iterable[Sequence[Cell]], head: str, foot: str) -> None:
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
