"""Print the output of commands: data on stdout, notes and progress bars on stderr.

Tables are drawn on a terminal, in blocks if they are wider than it is; tab-separated in a pipe.
"""

import io
import json
import signal
import sys
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, BinaryIO, NoReturn, TypeVar, cast

import click
import msgspec

from api.printable import PrintableText, printable, printable_json
from api.questions.question import Cell

T = TypeVar("T")
QUIET = "api.cli.output.quiet"

WRONG = 3  # exit code: checked, and found wrong
FORBIDDEN = 4  # exit code: not permitted for this viewpoint
MISSING = 5  # exit code: what was asked for does not exist
CONTESTED = 6  # exit code: right, but another reading pays differently (under --strict)
OWN_KEY = 7  # exit code: it holds, and nothing but itself says whose key signed it
INTERRUPTED = 130  # exit code: Ctrl-C
TERMINATED = 128 + signal.SIGTERM  # exit code


class NotFound(click.ClickException):
    """A hand, match or player does not exist."""

    exit_code = MISSING


class NotPermitted(click.ClickException):
    """A viewpoint may not see an existing hand or match."""

    exit_code = FORBIDDEN


@contextmanager
def errors_as(how: type[click.ClickException], *kinds: type[Exception]) -> Iterator[None]:
    """Turn exceptions of these kinds into `how`: one sentence on stderr and its exit code."""
    try:
        yield
    except kinds as reason:
        raise how(str(reason)) from None


def say(text: str, *, err: bool = False) -> None:
    """Print a line, or a text of several; all output of commands for people leaves here."""
    text = text if isinstance(text, PrintableText) else f"{printable(text)}\n"
    click.echo(text, err=err, nl=False)


def plural(count: int, one: str) -> str:
    """A count with its noun: `1 segment`, `41,200 closed streams`."""
    return f"{count:,} {one}{'' if count == 1 else 's'}"


def note(sentence: str) -> None:
    """Print a remark on stderr."""
    say(sentence, err=True)


def exit_wrong(sentence: str) -> NoReturn:
    """Print a sentence and exit with the code of a failed check."""
    note(f"muckrake: {sentence}")
    raise click.exceptions.Exit(WRONG)


def print_json(schema: str, **content: Any) -> None:
    """Print one JSON document of this schema."""
    text = json.dumps({"schema": schema, **content}, indent=2, ensure_ascii=False)
    click.echo(printable_json(text))


def print_json_line(schema: str, **content: Any) -> None:
    """Print one JSON document on one line."""
    click.echo(printable_json(json.dumps({"schema": schema, **content}, ensure_ascii=False)))


def print_struct(content: msgspec.Struct) -> None:
    """Print a struct as a JSON document; its tag is the schema."""
    print_json(**msgspec.to_builtins(content))


def print_list(
    schema: str, name: str, items: Iterable[Any], last: Callable[[], dict[str, Any]] = dict
) -> None:
    """Print a JSON document with one long list as it is read; `last` gives the members after it."""
    click.echo(f'{{"schema": {json.dumps(schema)}, "{name}": [', nl=False)
    for number, item in enumerate(items):
        text = printable_json(json.dumps(item, ensure_ascii=False))
        click.echo((",\n" if number else "\n") + text, nl=False)
    end = "".join(f', "{key}": {json.dumps(value)}' for key, value in last().items())
    click.echo(f"\n]{end}}}")


@contextmanager
def binary_stdout() -> Iterator[BinaryIO]:
    """Open stdout for bytes: a pipe gets them as they are, a terminal made printable."""
    sys.stdout.flush()
    if not sys.stdout.isatty():
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    shown = _PrintableStdout(sys.stdout.buffer)
    yield cast(BinaryIO, shown)
    shown.close()


class _PrintableStdout(io.RawIOBase):
    """A file for bytes that prints them on a terminal, each line made printable."""

    def __init__(self, out: BinaryIO) -> None:
        super().__init__()
        self._out = out
        self._rest = b""

    def writable(self) -> bool:
        return True

    def write(self, text: Any, /) -> int:
        *lines, self._rest = (self._rest + bytes(text)).split(b"\n")
        for line in lines:
            self._tell(line)
            self._out.write(b"\n")
        return len(text)

    def close(self) -> None:
        if not self.closed:
            self._tell(self._rest)
            self._out.flush()
        super().close()

    def _tell(self, line: bytes) -> None:
        text = line.removesuffix(b"\r").decode("utf-8", "backslashreplace")
        self._out.write(printable(text).encode())


def progress(items: Iterable[T], doing: str, total: int | None = None) -> Iterable[T]:
    """Iterate over items with a progress bar on stderr, if that is a terminal."""

    def counted() -> Iterator[T]:
        with progress_bar(doing, total) as advance:
            for item in items:
                yield item
                advance(1)

    return counted() if _shows_progress() else items


def progress_bars(doing: str) -> Callable[[Collection[T]], Iterable[T]]:
    """A function that iterates over a collection with a progress bar on stderr."""
    return lambda items: progress(items, doing, len(items))


@contextmanager
def progress_bar(doing: str, total: int | None, unit: str = "") -> Iterator[Callable[..., None]]:
    """Show a progress bar on stderr, if that is a terminal and without `--quiet`.

    Yields a function to call with the increase in the total, and in the count of the unit.
    """
    if not _shows_progress():
        yield lambda size, count=0: None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    count = f"{{task.fields[count]:,}} {unit}" if unit else ""
    title = TextColumn(escape(printable(doing)))  # no name in it is taken for rich's own marks
    columns = (title, BarColumn(), TaskProgressColumn(), TextColumn(count))
    times = (TimeElapsedColumn(), TimeRemainingColumn(), TextColumn("to go"))
    console = Console(stderr=True)
    with Progress(
        *columns, *(times if total else times[:1]), console=console, transient=True
    ) as bar:
        task = bar.add_task(doing, total=total, count=0)
        counted = 0

        def advance(size: int, count: int = 0) -> None:
            nonlocal counted
            counted += count
            bar.update(task, advance=size, count=counted)

        yield advance


def _shows_progress() -> bool:
    context = click.get_current_context(silent=True)
    return sys.stderr.isatty() and not (context and context.meta.get(QUIET))


def cell_text(value: Any) -> str:
    """A value of a row as text; empty for null."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@contextmanager
def stop_flag() -> Iterator[Callable[[], bool]]:
    """Yield a function that is true after Ctrl-C; a second Ctrl-C interrupts at once."""
    with _interrupt_event() as stopped:
        yield stopped.is_set


def repeat_every(seconds: float | None) -> Iterator[None]:
    """Yield every so many seconds until Ctrl-C, which ends the wait; never for None."""
    if seconds is not None:
        with _interrupt_event() as stopped:
            while not stopped.wait(seconds):
                yield


@contextmanager
def _interrupt_event() -> Iterator[threading.Event]:
    """Yield an event that Ctrl-C sets; a second Ctrl-C raises KeyboardInterrupt."""
    stopped = threading.Event()

    def ask(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        stopped.set()

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield stopped
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def exit_on_sigterm() -> Iterator[None]:
    """Raise SystemExit on SIGTERM, so that bots are ended and every answered hand is on disk."""

    def go(number: int, frame: FrameType | None) -> NoReturn:
        raise SystemExit(TERMINATED)

    before = signal.signal(signal.SIGTERM, go)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


UNFOLDED_MAX = 16  # characters of a cell that is never folded
GAP = 2  # blanks between two columns


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table of texts."""
    print_cells(columns, (list(map(Cell, row)) for row in rows))


def print_cells(
    columns: Sequence[str],
    rows: Iterable[Sequence[Cell]],
    right: Sequence[int] = (),
    head: str = "",
    foot: str = "",
) -> None:
    """Print a table of cells with a head and a foot; into a pipe, as the rows are read."""
    rows = ([cell._replace(text=printable(cell.text)) for cell in row] for row in rows)
    columns, head, foot = list(map(printable, columns)), printable(head), printable(foot)
    if not sys.stdout.isatty():  # data only: what stands above and below goes to the other stream
        if head:
            note(head)
        say(PrintableText("\t".join(columns) + "\n"))
        for row in rows:
            say(PrintableText("\t".join(cell.text for cell in row) + "\n"))
        if foot:
            note(foot)
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    lines, console = list(rows), Console(highlight=False)
    if head:
        console.print(Text(head, style="bold"))
    for number, block in enumerate(_column_blocks(columns, lines, right, console.width)):
        if number:
            console.print()
        grid = Table(box=None, pad_edge=False, header_style="dim")
        for place, width in block.items():
            justify = "right" if place in right else "left"
            grid.add_column(columns[place], justify=justify, width=width, overflow="fold")  # type: ignore[arg-type]
        for row in lines:
            grid.add_row(*(Text(row[place].text, style=_cell_style(row[place])) for place in block))
        console.print(grid)
    if foot:
        console.print(Text(foot, style="dim"))


def _column_blocks(
    columns: Sequence[str], lines: Sequence[Sequence[Cell]], right: Sequence[int], width: int
) -> Iterator[dict[int, int]]:
    """Blocks of columns and their widths that fit beside each other; keys recur in every block.

    In a table that is too wide, headings and long cells are folded between words before columns
    move into a block below.
    """
    from rich.cells import cell_len

    longest, least = [], []
    for place, column in enumerate(columns):
        texts = [row[place].text for row in lines]
        words = [word for text in texts if cell_len(text) > UNFOLDED_MAX for word in text.split()]
        whole = [text for text in texts if cell_len(text) <= UNFOLDED_MAX]
        longest.append(max(map(cell_len, [column, *texts])))
        least.append(min(width, max(map(cell_len, ["", *words, *whole, *column.split()]))))
    keys = list(range(min(right, default=1)))[:2]
    block, rest = list(keys), [place for place in range(len(columns)) if place not in keys]
    for place in rest:
        if len(block) > len(keys) and _block_width(least, [*block, place]) > width:
            yield _column_widths(longest, least, block, width)
            block = list(keys)
        block.append(place)
    yield _column_widths(longest, least, block, width)


def _block_width(widths: Sequence[int], block: Sequence[int]) -> int:
    return sum(widths[place] + GAP for place in block) - GAP


def _column_widths(
    longest: Sequence[int], least: Sequence[int], block: Sequence[int], width: int
) -> dict[int, int]:
    """Column widths of a block; spare width goes first to the columns that need least of it."""
    given, left = {place: least[place] for place in block}, width - _block_width(least, block)
    needing = sorted(block, key=lambda place: longest[place] - least[place])
    for done, place in enumerate(needing):
        more = max(0, min(longest[place] - least[place], left // (len(needing) - done)))
        given[place] += more
        left -= more
    return given


def _cell_style(cell: Cell) -> str:
    """The colour of a cell: grey, or a shade between cold and warm."""
    if cell.few:
        return "dim"
    if cell.warmth is None:
        return ""
    return _SHADES[min(len(_SHADES) - 1, int(cell.warmth * len(_SHADES)))]


_SHADES = ("blue", "cyan", "green", "yellow", "bold yellow", "bold red")
