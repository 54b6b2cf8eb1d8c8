"""`--set NAME=VALUE` and `--ruleset FILE`: the rules that a command plays by."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from api.cli.options import Door, Option
from api.cli.output import NotFound
from api.questions import games as asking
from engine.game import Game
from engine.parameters import Impossible, named_values
from formats.rakes import RakeFrom
from formats.rules import Rules

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


def asked_rules(rules: str | None, settings: tuple[str, ...], rake: RakeFrom) -> Rules:
    """What decides imported hands: a ruleset that is named, changed by settings, or the settings
    alone, which change the one that a file looks like; and from where their rake is."""
    named = None if rules is None else rules_of(None, rules, settings)
    try:
        return Rules(named, tuple(settings_of(settings).items()), rake)
    except Impossible as reason:
        raise click.UsageError(str(reason)) from None


def rules_of(game: str | None, rules: str | None, settings: tuple[str, ...] = ()) -> Game:
    """The ruleset that is meant by a name or a file, and by settings."""
    if (game is None) == (rules is None):
        raise click.UsageError("name one GAME, or one --ruleset FILE")
    file = None if rules is None else _file(rules)
    try:
        return asking.wanted(game or rules, settings_of(settings), file and _read(file))
    except asking.NoGame as unknown:
        raise NotFound(str(unknown)) from None
    except Impossible as reason:
        raise click.UsageError(str(reason)) from None
    except asking.Unfit as reason:
        raise click.UsageError(f"{rules}: {reason}") from None


def settings_of(settings: tuple[str, ...]) -> dict[str, str]:
    """What `--set` says, as names and values."""
    try:
        return named_values(settings)
    except Impossible as reason:
        raise click.UsageError(str(reason)) from None


def _file(rules: str) -> Path | None:
    """The file that `--ruleset` names; a text that is no path and has no file is a name."""
    file = Path(rules)
    return file if "/" in rules or file.suffix == ".json" or file.is_file() else None


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
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice!r} is said twice in one object")
    return found
