"""A folder with a bot in it: how to build and run it, and what time and space it may take."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import msgspec
from msgspec import Struct

_EXAMPLES = Path(__file__).parents[1] / "examples"  # to be read, copied and played against
STEADY = _EXAMPLES / "steady"  # in Python
GRUFF = _EXAMPLES / "gruff"  # in a shell
COMMANDS = "commands.json"
NAME_MAX = 40  # letters of a bot's name
NONE: Mapping[str, str] = MappingProxyType({})


class Limits(Struct, frozen=True):
    """Seconds and bytes, for each bot; `clock` is for a whole match, the rest for one thing.

    The clock, the wait for a reply, a connection or the end, and the size of the log are those of
    the MIT engine, which waits 10 seconds for a build and has no limit on a line. What a bot uses
    is looked at twice a second: a bot that uses more is ended, and the report says so.
    """

    clock: float = 30.0
    reply: float = 10.0
    build: float = 60.0
    connect: float = 10.0
    quit: float = 10.0
    log_bytes: int = 524_288
    line_bytes: int = 65_536
    output_bytes: int = 256 << 20
    processes: int = 256
    open_files: int = 1_024
    memory_bytes: int = 4 << 30
    written_bytes: int = 1 << 30


USUAL = Limits()


class NoBot(Exception):
    """This folder holds no bot that could be started."""


class _Commands(Struct, frozen=True):
    build: tuple[str, ...]
    run: tuple[str, ...]


class Program(Struct, frozen=True):
    """A bot that can be built and run: its player's name, its folder, its two commands."""

    name: str
    folder: Path
    build: tuple[str, ...]
    run: tuple[str, ...]


def program(folder: Path, name: str) -> Program:
    """The bot in a folder, or the sentence why there is none."""
    path = folder / COMMANDS
    try:
        exists = folder.is_dir()
    except OSError as why:  # no folder is called so
        raise NoBot(f"{folder} cannot be used: {why.strerror}") from None
    if not exists:
        raise NoBot(f"{folder} is no folder: a bot is a folder with a {COMMANDS} in it")
    try:
        commands = msgspec.json.decode(path.read_bytes(), type=_Commands)
    except FileNotFoundError:
        raise NoBot(f"{folder} holds no bot: there is no {COMMANDS} in it") from None
    except (OSError, msgspec.DecodeError) as why:
        raise NoBot(f"{path} cannot be used: {why}") from None
    if not commands.run:
        raise NoBot(f'{path} cannot be used: "run" names no command')
    return Program(name, folder.resolve(), commands.build, commands.run)


def named(first: Path, second: Path, names: Mapping[str, str] = NONE) -> tuple[Program, Program]:
    """Two bots, A and B, by these names, or else after their folders; where both folders have one
    name, the second bot gets a number."""
    for letter, name in names.items():
        if letter not in ("A", "B"):
            raise ValueError(f"there is no bot {letter[:40]}: A is the first, B the second")
        if name != _plain(name):
            allowed = f"letters, digits and ._-+, {NAME_MAX} at most"
            raise ValueError(f"{name[:80]!r} cannot be a bot's name: {allowed}")
    name_a, name_b = names.get("A", _plain(first.resolve().name)), names.get("B")
    if name_a == name_b:
        raise ValueError(f"both bots cannot be called {name_a}")
    plain = _plain(second.resolve().name)
    name_b = name_b or (f"{plain}-2" if name_a == plain else plain)
    return program(first, name_a), program(second, name_b)


def _plain(name: str) -> str:
    """A folder's own name, as far as it can stand in a list of names, a log and a path."""
    plain = "".join(c if c.isalnum() or c in "._-+" else "-" for c in name)
    return plain[:NAME_MAX].strip("-") or "bot"
