"""Options that several commands share: rulesets, names, tags, output files and their formats."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, get_args

import click

from api.cli.ledger import Decorator, Function
from api.cli.output import QUIET, NotFound, binary_stdout, errors_as
from api.playing.names import InvalidName, parse_names, parse_tags, tagged_records
from api.questions import games as rulesets
from engine.game import Game
from engine.parameters import Impossible, named_values
from events.match import Disclosure, Tagged
from formats.mit.dialects import ENGINES
from formats.rakes import RakeFrom
from formats.source import ImportRules

OutputFile = tuple[str, Path | None]  # a format, and the file; without one it is for stdout
FILE_PATH = click.Path(dir_okay=False, path_type=Path)
TABLE_FORMATS = ("csv", "parquet")


def quiet_option(command: Function) -> Function:
    """The option --quiet of a command that shows progress."""

    def keep(context: click.Context, _: click.Parameter, is_quiet: bool) -> None:
        context.meta[QUIET] = is_quiet

    text = "No progress bar; there is none either where stderr is no terminal."
    names = ("-q", "--quiet")
    return click.option(*names, is_flag=True, expose_value=False, callback=keep, help=text)(command)


class Option(click.Option):
    """An option that also takes its former names, which no help shows."""

    def __init__(
        self, names: Sequence[str], formerly: Sequence[str] = (), **attributes: Any
    ) -> None:
        super().__init__(names, **attributes)
        self.formerly = list(formerly)

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Give the parser the former names, too."""
        shown, self.opts = self.opts, self.opts + self.formerly
        super().add_to_parser(parser, ctx)
        self.opts = shown


def out_option(
    about: str, formerly: Sequence[str] = (), *, name: str = "out", kind: Any = FILE_PATH
) -> Decorator:
    """The option --out: the file that an answer is written into."""
    names = ("-o", "--out", name)
    return click.option(
        *names, cls=Option, formerly=formerly, type=kind, metavar="FILE", help=about
    )


def names_option(about: str) -> Decorator:
    """The option --names: new names for players."""
    return click.option("--names", multiple=True, metavar="A=x,B=y", help=about)


def tags_option(who: str) -> Decorator:
    """The option --tags of players."""
    about = f"Tags of {who}, by which questions tell them apart (--by-tag)."
    return click.option("--tags", multiple=True, metavar="A=bot:x,version:2", help=about)


def tag_records(
    tags: Sequence[str], players: Mapping[str, str] | None = None
) -> tuple[Tagged, ...]:
    """Tag records from the option --tags, for these players, or for any by name."""
    with errors_as(click.UsageError, InvalidName):
        return tagged_records(parse_tags(tags), players)


def renames(words: Sequence[str]) -> dict[str, str]:
    """New names by old name, from the option --names."""
    with errors_as(click.UsageError, InvalidName):
        return parse_names(pair for word in words for pair in word.split(","))


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


def files_option(about: str = "The table as a file, CSV or Parquet.") -> Decorator:
    """The options --out, --format, --csv and --parquet of a table, for `files_of`."""

    def with_files(command: Function) -> Function:
        kind = "Of that table; else as the name of --out ends. Without --out it is on stdout."
        for option in (
            click.option("--parquet", type=FILE_PATH, hidden=True, help="As --out FILE.parquet."),
            click.option("--csv", type=FILE_PATH, hidden=True, help="As --out FILE.csv."),
            click.option("--format", "kind", type=click.Choice(TABLE_FORMATS), help=kind),
            out_option(about),
        ):
            command = option(command)
        return command

    return with_files


def files_of(
    out: Path | None, kind: str | None, csv: Path | None, parquet: Path | None
) -> list[OutputFile]:
    """The files that a table is written into, with their formats."""
    named: list[OutputFile] = [("csv", csv), ("parquet", parquet)]
    files = [] if out is None and kind is None else [(format_of(kind, out, TABLE_FORMATS), out)]
    return [*files, *(one for one in named if one[1] is not None)]


def format_of(kind: str | None, out: Path | None, kinds: Sequence[str]) -> str:
    """The format that --format names, else the file name extension."""
    ending = "" if out is None else out.suffix.removeprefix(".")
    if kind is None and ending not in kinds:
        what = "" if out is None else f"; {out.name} does not end in one"
        raise click.UsageError(f"--format says which format: {', '.join(kinds)}{what}")
    return kind or ending


@contextmanager
def open_output(file: Path | None) -> Iterator[BinaryIO]:
    """Open a file that appears whole or not at all, or stdout, for the bytes of an answer."""
    try:
        with binary_stdout() if file is None else atomic_file(file) as sink:
            yield sink
    except BrokenPipeError:
        raise
    except OSError as failure:
        raise click.ClickException(f"cannot be written: {failure}") from None


@contextmanager
def atomic_file(out: Path) -> Iterator[BinaryIO]:
    """Open a file that appears under its name only when it is complete."""
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


def rules_options(*formerly: str) -> Decorator:
    """The options --ruleset and --set."""

    settings = click.option(
        "--set",
        "settings",
        multiple=True,
        metavar="NAME=VALUE",
        help="Change a parameter; `games GAME` lists them. May be said more than once.",
    )
    rules = ruleset_option("The rules", formerly)
    return lambda command: rules(settings(command))


def ruleset_option(about: str, formerly: Sequence[str] = ()) -> Decorator:
    """The option --ruleset, for `rules_of`."""
    return click.option(
        "--ruleset",
        "rules",
        cls=Option,
        formerly=formerly,
        metavar="GAME|FILE",
        help=f"{about}: a name, a fingerprint, or a file of JSON as `games GAME --json` prints it,"
        " perhaps edited.",
    )


def import_rules(rules: str | None, settings: tuple[str, ...], rake: RakeFrom) -> ImportRules:
    """The rules of imported hands: a ruleset or none, settings, and the source of the rake."""
    named = None if rules is None else rules_of(None, rules, settings)
    with errors_as(click.UsageError, Impossible):
        return ImportRules(named, tuple(settings_of(settings).items()), rake)


def rules_of(game: str | None, rules: str | None, settings: tuple[str, ...] = ()) -> Game:
    """The ruleset of a name, a fingerprint or a file, changed by settings."""
    if (game is None) == (rules is None):
        raise click.UsageError("name one GAME, or one --ruleset FILE")
    values, content = settings_of(settings), None
    if rules is not None:  # a text that is no path and has no file is a name
        file = Path(rules)
        if "/" in rules or file.suffix == ".json" or file.is_file():
            content = _read_json(file)
    try:
        return rulesets.game_with_settings(game or rules, values, content)
    except rulesets.UnknownGame as unknown:
        raise NotFound(str(unknown)) from None
    except Impossible as reason:
        raise click.UsageError(str(reason)) from None
    except rulesets.InvalidRuleset as reason:
        raise click.UsageError(f"{rules}: {reason}") from None


def settings_of(settings: tuple[str, ...]) -> dict[str, str]:
    """The names and values of the option --set."""
    with errors_as(click.UsageError, Impossible):
        return named_values(settings)


def _read_json(file: Path) -> Any:
    """Read a JSON file; a sentence says where a broken one is wrong."""
    try:
        if file.stat().st_size > FILE_MAX:
            raise click.UsageError(f"{file} is no ruleset: it has more than {FILE_MAX} bytes")
        return json.loads(file.read_text("utf-8"), object_pairs_hook=_unique_members)
    except FileNotFoundError:
        raise NotFound(f"there is no file {file}: muckrake games GAME --json > {file}") from None
    except OSError as reason:
        raise click.ClickException(f"{file} cannot be read: {reason.strerror}") from None
    except json.JSONDecodeError as broken:
        place = f"line {broken.lineno}, column {broken.colno}"
        raise click.UsageError(f"{file} is no JSON: {place}: {broken.msg}") from None
    except (UnicodeDecodeError, RecursionError, ValueError) as broken:
        raise click.UsageError(f"{file} is no JSON: {broken}") from None


def _unique_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; refused if a member occurs twice."""
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice!r} is said twice in one object")
    return members
