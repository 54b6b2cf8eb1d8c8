"""A bot's folder: its build and run commands, its limits, and the paths that it needs to see.

In a sandbox it sees, besides its own folder, the system's programs and the toolchains. These are
looked at by `os.path`, for which one that we may not enter is none; `Path` would raise.
"""

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
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
TOOLS = ("python3", "python", "java", "javac", "node", "cargo", "go", "g++", "cmake", "make")
"""What bots are written in: each is found where it would be found outside, or the means fails."""

_SYSTEM = ("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "etc", "opt", "nix", "gnu")
_KNOWN = tuple(f"/{name}/" for name in _SYSTEM if name != "etc")
_DEVICES = Path("/sys/devices/system/cpu")  # how many processors there are
_CLOSED = (Path("/proc"), Path("/dev"))
_FOLDERS = ("JAVA_HOME", "VIRTUAL_ENV", "CONDA_PREFIX", "PYENV_ROOT", "GOROOT")
_HOMES = {
    "CARGO_HOME": (".cargo", ("bin", "registry", "git")),  # not the credentials beside them
    "RUSTUP_HOME": (".rustup", ("",)),
    "PYTHONUSERBASE": (".local", ("bin", "lib")),
}
_WORDS = ("PATH", "LANG", "LANGUAGE", "TZ", "LD_LIBRARY_PATH", "PYENV_VERSION", "OMP_NUM_THREADS")
_PROGRAMS = ("bin", "sbin", "shims", "condabin")
_INSTALLED = ("lib", "lib64", "libexec", "pyvenv.cfg", "versions")


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


USUAL_LIMITS = Limits()


class NoBotFolder(Exception):
    """The folder holds no bot that could be started; the message says why."""


class _Commands(Struct, frozen=True):
    build: tuple[str, ...]
    run: tuple[str, ...]


class BotProgram(Struct, frozen=True):
    """A bot that can be built and run: its player's name, its folder, its two commands."""

    name: str
    folder: Path
    build: tuple[str, ...]
    run: tuple[str, ...]


def read_program(folder: Path, name: str) -> BotProgram:
    """Read the bot in a folder; `NoBotFolder` says why there is none."""
    path = folder / COMMANDS
    try:
        exists = folder.is_dir()
    except OSError as why:  # no folder is called so
        raise NoBotFolder(f"{folder} cannot be used: {why.strerror}") from None
    if not exists:
        raise NoBotFolder(f"{folder} is no folder: a bot is a folder with a {COMMANDS} in it")
    try:
        commands = msgspec.json.decode(path.read_bytes(), type=_Commands)
    except FileNotFoundError:
        raise NoBotFolder(f"{folder} holds no bot: there is no {COMMANDS} in it") from None
    except (OSError, msgspec.DecodeError) as why:
        raise NoBotFolder(f"{path} cannot be used: {why}") from None
    if not commands.run:
        raise NoBotFolder(f'{path} cannot be used: "run" names no command')
    return BotProgram(name, folder.resolve(), commands.build, commands.run)


def named_programs(
    first: Path, second: Path, names: Mapping[str, str] = NONE
) -> tuple[BotProgram, BotProgram]:
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
    return read_program(first, name_a), read_program(second, name_b)


def _plain(name: str) -> str:
    """A folder's own name, as far as it can stand in a list of names, a log and a path."""
    plain = "".join(c if c.isalnum() or c in "._-+" else "-" for c in name)
    return plain[:NAME_MAX].strip("-") or "bot"


def bot_environment(home: Path, scratch: Path) -> dict[str, str]:
    """The environment of a bot: where programs are, which language is spoken, its own folder."""
    ours = os.environ
    known = {name: ours[name] for name in (*_WORDS, *_FOLDERS) if name in ours}
    known |= {name: value for name, value in ours.items() if name.startswith("LC_")}
    known |= {name: str(path) for name, path in _homes().items()}
    known.setdefault("PATH", os.defpath)
    own = {"HOME": str(home), "TMPDIR": str(scratch), "USER": "bot", "LOGNAME": "bot"}
    return known | own


def tool_path(name: str) -> str | None:
    """The path of a command of this name, if there is one."""
    return shutil.which(name, path=os.environ.get("PATH", os.defpath))


def visible_paths(program: BotProgram) -> tuple[list[Path], list[tuple[Path, str]]]:
    """The folders that the sandbox shows, and the links on the way to them and their programs."""
    shown: list[Path] = []
    links: dict[Path, str] = {}
    for path in dict.fromkeys(_useful(program)):
        real = _real_path(path, links)
        if os.path.exists(real) and not _too_much(real) and not _below(real, shown):
            shown = [folder for folder in shown if not folder.is_relative_to(real)] + [real]
    outside = [(link, target) for link, target in links.items() if not _below(link, shown)]
    return shown, outside


def _useful(program: BotProgram) -> Iterator[Path]:
    """The paths of the system and of toolchains that a bot may have use for."""
    yield from (Path("/", name) for name in _SYSTEM)
    yield from (_DEVICES, Path("/etc/resolv.conf"))
    yield from (Path(os.environ[name]) for name in _FOLDERS if name in os.environ)
    for name, path in _homes().items():
        yield from (path / part for part in _HOMES[name][1])
    searched: set[str] = set()
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        if os.path.isabs(folder) and os.path.isdir(folder):
            yield from _installation(Path(folder))
            real = os.path.realpath(folder)
            if real not in searched:  # on many systems /bin is another name of /usr/bin
                searched.add(real)
                for name in _leading_out(folder):
                    yield from _behind(Path(name))
    for command in (program.build, program.run):
        if command and os.path.isabs(command[0]):
            yield from _installation(Path(command[0]).parent)
            yield from _behind(Path(command[0]))


def _leading_out(folder: str) -> list[str]:
    """The links in a folder of programs that lead out of the folders that are shown anyhow."""
    with suppress(PermissionError), os.scandir(folder) as entries:
        links = [entry.path for entry in entries if entry.is_symlink()]
        ends = [os.path.normpath(os.path.join(folder, os.readlink(link))) for link in links]
        real = [os.path.realpath(end) if end.startswith("/etc/") else end for end in ends]
        inside = (*_KNOWN, f"{folder}/")
        return [link for link, end in zip(links, real, strict=True) if not end.startswith(inside)]
    return []


def _behind(name: Path) -> Iterator[Path]:
    """The installations of the programs that a link leads to, link after link."""
    for _ in range(40):
        if not os.path.islink(name):
            break
        name = Path(os.path.normpath(name.parent / os.readlink(name)))
        if os.path.isfile(name) and os.access(name, os.X_OK):
            yield from _installation(name.parent)


def _installation(programs: Path) -> Iterator[Path]:
    """A folder of programs, and what was installed around it, as `lib` beside `bin`."""
    around = programs.parent
    yield programs
    if programs.name in _PROGRAMS and not _too_much(around):
        if around.name == ".local":  # a user's: much of it is no program
            yield around / "lib"
        elif any(os.path.exists(around / name) for name in _INSTALLED):
            yield around


def _homes() -> dict[str, Path]:
    """The folders in the user's home where tools look; the bot's home is another."""
    paths = {name: os.environ.get(name) or _home() / below for name, (below, _) in _HOMES.items()}
    return {name: Path(path) for name, path in paths.items() if os.path.isdir(path)}


def _home() -> Path:
    return Path(os.path.expanduser("~"))


def _too_much(path: Path) -> bool:
    """Whether a home, or what holds homes, would be shown with it."""
    return _home().resolve().is_relative_to(path) or any(
        path.is_relative_to(other) for other in _CLOSED
    )


def _below(path: Path, shown: list[Path]) -> bool:
    return any(path.is_relative_to(other) for other in shown)


def _real_path(path: Path, links: dict[Path, str]) -> Path:
    """The place that a path leads to; the links on the way are added to `links`."""
    at, left = Path("/"), list(path.parts[1:])
    for _ in range(400):
        if not left:
            break
        name = left.pop(0)
        step = at.parent if name == ".." else at / name
        if os.path.islink(step):
            links[step] = os.readlink(step)
            target = Path(links[step])
            at = Path("/") if target.is_absolute() else at
            left = [*(part for part in target.parts if part != "/"), *left]
        else:
            at = step
    return at
