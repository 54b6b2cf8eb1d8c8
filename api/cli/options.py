"""Options that several commands take: rules, old names, where an answer goes in which format."""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, get_args

import click

from api.cli.output import QUIET, NotFound, data, refusing
from api.playing.names import Misnamed, names_of, tagged, tags_of
from api.questions import games as rulesets
from engine.game import Game
from engine.parameters import Impossible, named_values
from events.match import Disclosure, Tagged
from formats.mit.dialects import ENGINES
from formats.rakes import RakeFrom
from formats.source import Rules

Door = Callable[..., Any]
File = tuple[str, Path | None]  # a format, and the file; without one it is for stdout
FILES = click.Path(dir_okay=False, path_type=Path)
TABLES = ("csv", "parquet")


def quiet_option(command: Door) -> Door:
    """For a command that may take its time."""

    def keep(context: click.Context, _: click.Parameter, is_quiet: bool) -> None:
        context.meta[QUIET] = is_quiet

    text = "No progress bar; there is none either where stderr is no terminal."
    names = ("-q", "--quiet")
    return click.option(*names, is_flag=True, expose_value=False, callback=keep, help=text)(command)


class Option(click.Option):
    """An option that is still taken by the names it had before, which no help shows."""

    def __init__(
        self, names: Sequence[str], formerly: Sequence[str] = (), **attributes: Any
    ) -> None:
        super().__init__(names, **attributes)
        self.formerly = list(formerly)

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Have the parser know every name."""
        shown, self.opts = self.opts, self.opts + self.formerly
        super().add_to_parser(parser, ctx)
        self.opts = shown


def out_option(
    about: str, formerly: Sequence[str] = (), *, name: str = "out", kind: Any = FILES
) -> Callable[[Door], Door]:
    """The file that an answer is written into."""
    names = ("-o", "--out", name)
    return click.option(
        *names, cls=Option, formerly=formerly, type=kind, metavar="FILE", help=about
    )


def names_option(about: str) -> Callable[[Door], Door]:
    """Other names for players."""
    return click.option("--names", multiple=True, metavar="A=x,B=y", help=about)


def tags_option(who: str) -> Callable[[Door], Door]:
    """What players are beside their names."""
    about = f"Tags of {who}, by which questions tell them apart (--by-tag)."
    return click.option("--tags", multiple=True, metavar="A=bot:x,version:2", help=about)


def given_tags(tags: Sequence[str], players: Mapping[str, str] | None = None) -> tuple[Tagged, ...]:
    """The records of the tags of players, by what they are called here; or of any, by name."""
    with refusing(click.UsageError, Misnamed):
        return tagged(tags_of(tags), players)


def given_names(words: Sequence[str]) -> dict[str, str]:
    """What --names gives, each of them one or several with commas."""
    with refusing(click.UsageError, Misnamed):
        return names_of(pair for word in words for pair in word.split(","))


dialect_option = click.option(
    "--dialect",
    type=click.Choice(sorted(one for one, engine in ENGINES.items() if not engine.undetermined)),
    help="Of a gamelog: of an older engine; else the newest, or as it was imported.",
)
disclosure_option = click.option(
    "--disclosure",
    type=click.Choice(get_args(Disclosure)),
    default="sealed",
    show_default=True,
    help="Shows hidden cards afterwards to nobody, to everybody after the match, to everybody.",
)


def files_option(about: str = "The table as a file, CSV or Parquet.") -> Callable[[Door], Door]:
    """A table as files: `files_of` says which."""

    def with_files(command: Door) -> Door:
        kind = "Of that table; else as the name of --out ends. Without --out it is on stdout."
        for option in (
            click.option("--parquet", type=FILES, hidden=True, help="As --out FILE.parquet."),
            click.option("--csv", type=FILES, hidden=True, help="As --out FILE.csv."),
            click.option("--format", "kind", type=click.Choice(TABLES), help=kind),
            out_option(about),
        ):
            command = option(command)
        return command

    return with_files


def files_of(
    out: Path | None, kind: str | None, csv: Path | None, parquet: Path | None
) -> list[File]:
    """The files that a table is written into; none, if nobody asked for one."""
    named: list[File] = [("csv", csv), ("parquet", parquet)]
    files = [] if out is None and kind is None else [(format_of(kind, out, TABLES), out)]
    return [*files, *(one for one in named if one[1] is not None)]


def format_of(kind: str | None, out: Path | None, kinds: Sequence[str]) -> str:
    """The format that is named, or in which the name of the file ends."""
    ending = "" if out is None else out.suffix.removeprefix(".")
    if kind is None and ending not in kinds:
        what = "" if out is None else f"; {out.name} does not end in one"
        raise click.UsageError(f"--format says which format: {', '.join(kinds)}{what}")
    return kind or ending


@contextmanager
def written(file: Path | None) -> Iterator[BinaryIO]:
    """Where the bytes of a table go: a file that is there whole or not at all, or stdout."""
    try:
        with data() if file is None else whole(file) as sink:
            yield sink
    except BrokenPipeError:
        raise
    except OSError as failure:
        raise click.ClickException(f"cannot be written: {failure}") from None


@contextmanager
def whole(out: Path) -> Iterator[BinaryIO]:
    """A file that is there whole or not at all."""
    if out.exists() and not out.is_file():  # a pipe or a device: nothing can take its place
        with out.open("wb") as sink:
            yield sink
    else:
        aside = out.with_name(f"{out.name}.{os.getpid()}.part")
        try:
            with aside.open("xb") as sink:
                yield sink
            aside.replace(out)
        finally:
            aside.unlink(missing_ok=True)


FILE_MAX = 1 << 20  # bytes; the longest ruleset of ours has twenty thousand


def rules_options(*formerly: str) -> Callable[[Door], Door]:
    """By which rules, and what is changed of them."""

    settings = click.option(
        "--set",
        "settings",
        multiple=True,
        metavar="NAME=VALUE",
        help="Change a parameter; `games GAME` lists them. May be said more than once.",
    )
    rules = ruleset_option("The rules", formerly)
    return lambda command: rules(settings(command))


def ruleset_option(about: str, formerly: Sequence[str] = ()) -> Callable[[Door], Door]:
    """The rules by which hands are played or decided: `rules_of` finds them."""
    return click.option(
        "--ruleset",
        "rules",
        cls=Option,
        formerly=formerly,
        metavar="GAME|FILE",
        help=f"{about}: a name, a fingerprint, or a file of JSON as `games GAME --json` prints it,"
        " perhaps edited.",
    )


def import_rules(rules: str | None, settings: tuple[str, ...], rake: RakeFrom) -> Rules:
    """What decides imported hands: a ruleset that is named, changed by settings, or the settings
    alone, which change the one that a file looks like; and from where their rake is."""
    named = None if rules is None else rules_of(None, rules, settings)
    with refusing(click.UsageError, Impossible):
        return Rules(named, tuple(settings_of(settings).items()), rake)


def rules_of(game: str | None, rules: str | None, settings: tuple[str, ...] = ()) -> Game:
    """The ruleset that is meant by a name or a file, and by settings."""
    if (game is None) == (rules is None):
        raise click.UsageError("name one GAME, or one --ruleset FILE")
    values, content = settings_of(settings), None
    if rules is not None:  # a text that is no path and has no file is a name
        file = Path(rules)
        if "/" in rules or file.suffix == ".json" or file.is_file():
            content = _read(file)
    try:
        return rulesets.wanted(game or rules, values, content)
    except rulesets.NoGame as unknown:
        raise NotFound(str(unknown)) from None
    except Impossible as reason:
        raise click.UsageError(str(reason)) from None
    except rulesets.Unfit as reason:
        raise click.UsageError(f"{rules}: {reason}") from None


def settings_of(settings: tuple[str, ...]) -> dict[str, str]:
    """What `--set` says, as names and values."""
    with refusing(click.UsageError, Impossible):
        return named_values(settings)


def _read(file: Path) -> Any:
    """What a JSON file holds; a broken one is answered with the place."""
    try:
        if file.stat().st_size > FILE_MAX:
            raise click.UsageError(f"{file} is no ruleset: it has more than {FILE_MAX} bytes")
        return json.loads(file.read_text("utf-8"), object_pairs_hook=_once)
    except FileNotFoundError:
        raise NotFound(f"there is no file {file}: muckrake games GAME --json > {file}") from None
    except OSError as reason:
        raise click.ClickException(f"{file} cannot be read: {reason.strerror}") from None
    except json.JSONDecodeError as broken:
        place = f"line {broken.lineno}, column {broken.colno}"
        raise click.UsageError(f"{file} is no JSON: {place}: {broken.msg}") from None
    except (UnicodeDecodeError, RecursionError, ValueError) as broken:
        raise click.UsageError(f"{file} is no JSON: {broken}") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object, in which nothing is said twice."""
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice!r} is said twice in one object")
    return members
