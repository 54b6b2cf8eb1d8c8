"""The sandbox of a bot: how it is isolated, in which copy of its folder, and what it sees.

The means are tried, best first, with everything that the bot will need; where one does not work
the next is tried, and the reason is kept for the report.
"""

import fcntl
import os
import pwd
import random
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from dealer.wire.launcher import folder_size
from dealer.wire.process import BotOutput, BotProcess, NoSandbox
from dealer.wire.program import TOOLS, BotProgram, Limits, bot_environment, tool_path, visible_paths

SandboxKind = Literal["user+namespaces", "namespaces", "user", "none"]

_PREFIX = "muckrake-bots-"
_USERS = (range(1_879_048_192, 2_147_483_648), range(61_184, 65_520))  # nobody's, by convention
_SCRATCH_BYTES = 256 << 20
_YOUNG_S = 60  # a folder that is younger may have just been made, and not yet be held


class Isolation(Struct, frozen=True):
    """What bots are isolated from, by which means, and the decks' seed, if any.

    `means` are those to be tried, in this order; None is what this system may offer.
    """

    hidden: tuple[Path, ...]
    means: tuple[SandboxKind, ...] | None = None
    seed: str | None = None


class Sandbox:
    """The sandbox of one bot in one leg of a match; `means` is what isolates it in the end.

    `reasons` says of better means why they did not work.
    """

    def __init__(
        self, program: BotProgram, rival: Path, guard: Isolation, limits: Limits, room: Path
    ) -> None:
        self.reasons: list[str] = []
        self._program = program
        self._guard = guard
        self._limits = limits
        self._secret = _outside(program.folder, guard.hidden)
        self._hidden = _outside(program.folder, (*guard.hidden, rival))
        self._room = room
        self._left: list[SandboxKind]  # those to be tried, best first
        if guard.means is not None:
            self._left = list(guard.means)
        elif sys.platform != "linux":
            self._left = ["none"]
        elif os.geteuid() == 0:
            self._left = ["user+namespaces", "namespaces", "user", "none"]
        else:
            self._left = ["namespaces", "none"]
        self._user: int | None = None
        self._order: dict[str, Any] | None = None

    @property
    def means(self) -> SandboxKind:
        """The means that is tried now, or has worked."""
        return self._left[0]

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warning to print when nothing keeps the bot apart."""
        if self.means != "none":
            return ()
        because = "; ".join(self.reasons) or "this system has no means"
        return (f"it is not kept apart and can read what you can, the ledger too ({because})",)

    def start(self, words: Sequence[str], output: BotOutput) -> BotProcess:
        """A command of this bot; OSError if it cannot be started, NoSandbox if no means is left."""
        while True:
            try:
                if self._order is None:
                    self._order = self._prepared()
                return BotProcess({**self._order, "words": words}, output)
            except NoSandbox as why:
                self.reasons.append(f"{self.means}: {why}")
                self.clear()
                if len(self._left) == 1:
                    raise NoSandbox("; ".join(self.reasons)) from None
                self._left.pop(0)

    def clear(self) -> None:
        """Remove what the bot left on the disk."""
        remove_folder(self._room)
        if self._user is not None and "namespaces" not in self.means:
            for folder in ("/tmp", "/var/tmp", "/dev/shm"):
                for entry in Path(folder).iterdir():  # all may write there; the user was his alone
                    with suppress(OSError):
                        if entry.lstat().st_uid == self._user:
                            remove_folder(entry)
        self._order = self._user = None

    def _prepared(self) -> dict[str, Any]:
        """Copy the bot's folder; return the order to the launcher, but for the words."""
        namespaces, program = "namespaces" in self.means, self._program
        if "user" in self.means:
            self._user = _unused_user()
        if self.means == "user" and (why := _seed_in_sight(self._guard.seed)):
            raise NoSandbox(why)
        work, scratch = self._room / "work", self._room / "tmp"
        try:
            (self._room / "root").mkdir(parents=True)
            scratch.mkdir()
            _copy(program.folder, work, self._hidden)
            if self._user is not None:
                # Give the folder and all in it to the user.
                os.lchown(self._room, self._user, self._user)
                self._room.chmod(0o700)
                for at, folders, files in os.walk(self._room):
                    for name in (*folders, *files):
                        os.lchown(os.path.join(at, name), self._user, self._user)
        except (OSError, shutil.Error) as why:
            raise NoSandbox(f"its folder cannot be copied: {why}") from None
        home = program.folder if namespaces else work
        hidden = (*self._hidden, self._room.parent) if namespaces else self._secret
        if self.means == "namespaces" and os.geteuid() == 0:  # it owns what root owns
            hidden += _not_for_all(Path("/etc"))
        shown, links = visible_paths(program) if namespaces else ((), ())
        words = {command[0] for command in (program.build, program.run) if command}
        tools = {word: tool_path(word) for word in (*words, *TOOLS) if os.sep not in word}
        return {
            "cwd": str(home),
            "env": bot_environment(home, Path("/tmp") if namespaces else scratch),
            "user": self._user,
            "namespaces": namespaces,
            # Each tool is to be found where it is found now.
            "needs": {word: path for word, path in tools.items() if path and self.means != "none"},
            "hidden": [str(path) for path in hidden],
            "room": str(self._room),
            "shown": [str(path) for path in shown],
            "links": [(str(link), target) for link, target in links],
            "folder": str(program.folder),
            "scratch_bytes": _SCRATCH_BYTES,
            "limits": {
                "RLIMIT_CORE": 0,
                "RLIMIT_FSIZE": self._limits.written_bytes,
                "RLIMIT_NOFILE": self._limits.open_files,
            }
            | ({"RLIMIT_NPROC": 4 * self._limits.processes} if self._user else {}),  # and threads
            "most": {
                "processes": self._limits.processes,
                "memory_bytes": self._limits.memory_bytes,
                "written_bytes": self._limits.written_bytes,
                "folder_bytes": self._limits.written_bytes + folder_size(str(work)),
            },
        }


@contextmanager
def bot_folders() -> Iterator[tuple[Path, Path]]:
    """A folder for each of two bots; nothing is left of them, nor of those of a killed match."""
    remove_stale()
    top = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=_base()))
    handle = os.open(top, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)  # for as long as this process is there
        top.chmod(0o711)
        yield top / "0", top / "1"
    finally:
        remove_folder(top)
        os.close(handle)


def remove_stale(match: int | None = None) -> None:
    """Take away the folders of killed matches, or of that which this process played."""
    for path in _base().glob(f"{_PREFIX}{match or '*'}-*"):
        with suppress(OSError):
            status = path.lstat()
            young = match is None and time.time() - status.st_mtime < _YOUNG_S
            if young or status.st_uid != os.getuid():
                continue
            handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                remove_folder(path)
            finally:
                os.close(handle)


def remove_folder(folder: Path) -> None:
    """Remove a folder, however deep and however closed a bot has left it."""
    if not os.path.lexists(folder):
        return
    for words in (["rm", "-rf"], ["chmod", "-R", "u+rwx"], ["rm", "-rf"]):
        ended = subprocess.run([*words, "--", str(folder)], stderr=subprocess.DEVNULL, check=False)
        if words[0] == "rm" and not ended.returncode:
            break


def _base() -> Path:
    """A folder where programs may be started: some systems forbid it in the temporary one."""
    usual = Path(tempfile.gettempdir())
    other = Path("/var/tmp")
    forbidden = os.statvfs(usual).f_flag & getattr(os, "ST_NOEXEC", 0)
    return other if forbidden and other.is_dir() else usual


def _outside(folder: Path, hidden: Sequence[Path]) -> tuple[Path, ...]:
    """The real paths of these folders, without the bot's own."""
    return tuple({path.resolve() for path in hidden} - {folder})


def _not_for_all(folder: Path) -> tuple[Path, ...]:
    """The files and folders in a folder that not every user may read."""
    closed = []
    for at, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(at, name)
            if not path.is_symlink() and not path.lstat().st_mode & stat.S_IROTH:
                closed.append(path)
        folders[:] = [name for name in folders if Path(at, name) not in closed]
    return tuple(closed)


def _unused_user() -> int:
    """A number that no user and no process has, and that this system lets us have."""
    lines = Path("/proc/self/uid_map").read_text().splitlines()
    spans = [[int(word) for word in line.split()] for line in lines]
    mapped = [range(first, first + count) for first, _, count in spans]  # in a container, few
    taken = {entry.pw_uid for entry in pwd.getpwall()}
    for process in os.scandir("/proc"):
        if process.name.isdigit():
            with suppress(OSError):
                taken.add(process.stat().st_uid)
    chance = random.SystemRandom()
    for numbers in _USERS:
        for _ in range(100):
            number = chance.choice(numbers)
            if number not in taken and any(number in span for span in mapped):
                return number
    raise NoSandbox("no number is free for another user")


def _seed_in_sight(seed: str | None) -> str | None:
    """Why every user can read the seed: the command line that it stands in; None if in none."""
    if seed is None:
        return None
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                words = re.split(rb"[\0\s=]", (entry / "cmdline").read_bytes())
                if b"--seed" in words and seed.encode() in words:
                    return f"every user may read the seed in the command line of {entry.name}"
    return None


def _copy(source: Path, target: Path, hidden: Sequence[Path]) -> None:
    """Copy a bot's folder: links as links, and nothing that is hidden, unreadable or no file."""

    def left_out(path: Path) -> bool:
        kind = path.lstat().st_mode
        plain = stat.S_ISDIR(kind) or stat.S_ISREG(kind)
        readable = plain and path not in hidden and os.access(path, os.R_OK)
        return not (stat.S_ISLNK(kind) or readable)

    def ignore(folder: str, names: list[str]) -> list[str]:
        return [name for name in names if left_out(Path(folder, name))]

    shutil.copytree(source, target, symlinks=True, ignore=ignore)
