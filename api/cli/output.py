"""How commands speak: data on stdout, everything else as sentences on stderr."""

import io
import json
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from types import FrameType
from typing import Any, BinaryIO, NoReturn, TypeVar, cast

import click

from api.printable import Page, as_json, printable

T = TypeVar("T")

_SHORT = 16  # cells up to this are never folded

WRONG = 3  # exit code: checked, and found wrong
FORBIDDEN = 4  # exit code: not permitted for this viewpoint
MISSING = 5  # exit code: what was asked for does not exist
CONTESTED = 6  # exit code: right, but another reading pays differently (under --strict)
OWN_KEY = 7  # exit code: it holds, and nothing but itself says whose key signed it
INTERRUPTED = 130  # exit code: Ctrl-C


class NotFound(click.ClickException):
    """The hand, match or player that was asked for does not exist."""

    exit_code = MISSING


class NotPermitted(click.ClickException):
    """The hand or match exists, and this viewpoint may not see it."""

    exit_code = FORBIDDEN


def say(text: str, *, err: bool = False) -> None:
    """A line, or a page: all that any command writes for people leaves here."""
    click.echo(text if isinstance(text, Page) else f"{printable(text)}\n", err=err, nl=False)


def note(sentence: str) -> None:
    """Progress and remarks, out of the way of the data."""
    say(sentence, err=True)


def wrong(sentence: str) -> NoReturn:
    """The check was made, and its answer is no."""
    note(f"muckrake: {sentence}")
    raise click.exceptions.Exit(WRONG)


def document(schema: str, **content: Any) -> None:
    """Print one JSON document, its shape named by `schema`."""
    click.echo(as_json(json.dumps({"schema": schema, **content}, indent=2, ensure_ascii=False)))


def listed(
    schema: str, name: str, items: Iterable[Any], last: Callable[[], dict[str, Any]] = dict
) -> None:
    """Print a document with one long list as it is read; `last` is called after the list."""
    click.echo(f'{{"schema": {json.dumps(schema)}, "{name}": [', nl=False)
    for number, item in enumerate(items):
        told = as_json(json.dumps(item, ensure_ascii=False))
        click.echo((",\n" if number else "\n") + told, nl=False)
    end = "".join(f', "{key}": {json.dumps(value)}' for key, value in last().items())
    click.echo(f"\n]{end}}}")


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Drawn on a terminal, long cells folded if there is no room; tab-separated in a pipe."""
    columns = tuple(map(printable, columns))
    rows = (tuple(map(printable, row)) for row in rows)
    if not sys.stdout.isatty():
        for row in chain((columns,), rows):
            say(Page("\t".join(row) + "\n"))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    told = list(rows)
    drawn = Table(box=None, pad_edge=False, header_style="bold")
    for place, column in enumerate(columns):
        longest = max((len(row[place]) for row in told), default=0)
        drawn.add_column(column, no_wrap=longest <= _SHORT, overflow="fold")
    for row in told:
        drawn.add_row(*(Text(value) for value in row))
    Console().print(drawn)


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

    def write(self, said: Any, /) -> int:
        *lines, self._rest = (self._rest + bytes(said)).split(b"\n")
        for line in lines:
            self._tell(line)
            self._out.write(b"\n")
        return len(said)

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
    if not sys.stderr.isatty():
        return items
    from rich.console import Console
    from rich.progress import track

    return track(items, _plainly(doing), total, console=Console(stderr=True), transient=True)


@contextmanager
def watched(doing: str, total: int) -> Iterator[Callable[[int, int], None]]:
    """A progress bar over so many bytes on stderr, if that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda size, hands: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn(_plainly(doing)), BarColumn(), TextColumn("{task.fields[hands]:,} hands"))
    with Progress(
        *columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True
    ) as bar:
        task = bar.add_task(doing, total=total, hands=0)
        done = [0]

        def advance(size: int, hands: int) -> None:
            done[0] += hands
            bar.update(task, advance=size, hands=done[0])

        yield advance


def _plainly(doing: str) -> str:
    """A title of a bar: no name in it is taken for rich's own marks."""
    from rich.markup import escape

    return escape(printable(doing))


def cell(value: Any) -> str:
    """A value of a row; nothing for null."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@contextmanager
def asked_to_stop() -> Iterator[Callable[[], bool]]:
    """Ctrl-C asks to stop after what is at work; a second one stops at once."""
    with _interrupted() as asked:
        yield asked.is_set


def every(seconds: float | None) -> Iterator[None]:
    """After each so many seconds, until Ctrl-C, which cuts the wait short; without them, never."""
    if seconds is not None:
        with _interrupted() as asked:
            while not asked.wait(seconds):
                yield


@contextmanager
def _interrupted() -> Iterator[threading.Event]:
    """What Ctrl-C sets; a second one is an interrupt as ever."""
    asked = threading.Event()

    def ask(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        asked.set()

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)
