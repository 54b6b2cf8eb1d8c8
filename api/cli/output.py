"""How commands speak: data on stdout, everything else as sentences on stderr.

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
    """The hand, match or player that was asked for does not exist."""

    exit_code = MISSING


class NotPermitted(click.ClickException):
    """The hand or match exists, and this viewpoint may not see it."""

    exit_code = FORBIDDEN


@contextmanager
def refusing(how: type[click.ClickException], *kinds: type[Exception]) -> Iterator[None]:
    """What fails in these ways ends the command with its sentence, and the exit code of `how`."""
    try:
        yield
    except kinds as reason:
        raise how(str(reason)) from None


def say(text: str, *, err: bool = False) -> None:
    """A line, or a page: all that any command writes for people leaves here."""
    text = text if isinstance(text, PrintableText) else f"{printable(text)}\n"
    click.echo(text, err=err, nl=False)


def several(count: int, one: str) -> str:
    """1 segment, 41,200 closed streams."""
    return f"{count:,} {one}{'' if count == 1 else 's'}"


def note(sentence: str) -> None:
    """Progress and remarks, out of the way of the data."""
    say(sentence, err=True)


def wrong(sentence: str) -> NoReturn:
    """The check was made, and its answer is no."""
    note(f"muckrake: {sentence}")
    raise click.exceptions.Exit(WRONG)


def document(schema: str, **content: Any) -> None:
    """Print one JSON document, its shape named by `schema`."""
    text = json.dumps({"schema": schema, **content}, indent=2, ensure_ascii=False)
    click.echo(printable_json(text))


def line(schema: str, **content: Any) -> None:
    """Print one JSON document on a line of its own, where others follow."""
    click.echo(printable_json(json.dumps({"schema": schema, **content}, ensure_ascii=False)))


def answer(content: msgspec.Struct) -> None:
    """Print a struct, whose tag is the schema, as one JSON document."""
    document(**msgspec.to_builtins(content))


def listed(
    schema: str, name: str, items: Iterable[Any], last: Callable[[], dict[str, Any]] = dict
) -> None:
    """Print a document with one long list as it is read; `last` is called after the list."""
    click.echo(f'{{"schema": {json.dumps(schema)}, "{name}": [', nl=False)
    for number, item in enumerate(items):
        text = printable_json(json.dumps(item, ensure_ascii=False))
        click.echo((",\n" if number else "\n") + text, nl=False)
    end = "".join(f', "{key}": {json.dumps(value)}' for key, value in last().items())
    click.echo(f"\n]{end}}}")


@contextmanager
def data() -> Iterator[BinaryIO]:
    """Where the bytes of an answer go: as they are into a pipe, printable onto a terminal."""
    sys.stdout.flush()
    if not sys.stdout.isatty():
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    shown = _Shown(sys.stdout.buffer)
    yield cast(BinaryIO, shown)
    shown.close()


class _Shown(io.RawIOBase):
    """Lines of bytes as a terminal may have them."""

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
    """The items, with a bar on stderr while they are worked off, if somebody is watching."""

    def counted() -> Iterator[T]:
        with watched(doing, total) as advance:
            for item in items:
                yield item
                advance(1)

    return counted() if _is_watched() else items


def bar(doing: str) -> Callable[[Collection[T]], Iterable[T]]:
    """The same for work whose items are counted already."""
    return lambda items: progress(items, doing, len(items))


@contextmanager
def watched(doing: str, total: int | None, unit: str = "") -> Iterator[Callable[..., None]]:
    """A bar with the time to go on stderr, if that is a terminal and nobody said `--quiet`.

    The function that it gives is called with how much more is done, of the total and of the unit.
    """
    if not _is_watched():
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


def _is_watched() -> bool:
    context = click.get_current_context(silent=True)
    return sys.stderr.isatty() and not (context and context.meta.get(QUIET))


def cell(value: Any) -> str:
    """A value of a row; nothing for null."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@contextmanager
def stopping() -> Iterator[Callable[[], bool]]:
    """Ctrl-C asks to stop after what is at work; a second one stops at once."""
    with _interrupted() as stopped:
        yield stopped.is_set


def every(seconds: float | None) -> Iterator[None]:
    """After each so many seconds, until Ctrl-C, which cuts the wait short; without them, never."""
    if seconds is not None:
        with _interrupted() as stopped:
            while not stopped.wait(seconds):
                yield


@contextmanager
def _interrupted() -> Iterator[threading.Event]:
    """What Ctrl-C sets; a second one is an interrupt as ever."""
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
def ended_by_sigterm() -> Iterator[None]:
    """End on SIGTERM in order: the bots are ended, every answered hand is on disk."""

    def go(number: int, frame: FrameType | None) -> NoReturn:
        raise SystemExit(TERMINATED)

    before = signal.signal(signal.SIGTERM, go)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


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


def _style(cell: Cell) -> str:
    """Grey, or a shade between cold and warm; the number itself always says the same."""
    if cell.few:
        return "dim"
    if cell.warmth is None:
        return ""
    return _SHADES[min(len(_SHADES) - 1, int(cell.warmth * len(_SHADES)))]


_SHADES = ("blue", "cyan", "green", "yellow", "bold yellow", "bold red")
