"""The process between the match and a bot: enters the sandbox, starts the bot there, ends it whole.

It is a program of its own, of the standard library only, and of little of that: each bot waits for
it. Its standard input is a socket to the match: a dict comes in, as `marshal` writes it, and says
what to start and how to keep it apart. Lines go out:

    -REASON   the sandbox cannot be entered, nothing was started
    !ERRNO    the sandbox was entered, and the command cannot be started
    +         the bot has been started
    =CODE     its first process has exited, below zero by that signal
    *REASON   it took more than it may, and was ended

When the match closes its end, or is killed, all that was started here is killed.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import marshal
import os
import resource
import select
import signal
import sys
import time

TYPE_CHECKING = False  # as `typing` has it, which takes longer to import than all we need of it
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, NoReturn

NEW_MOUNTS, NEW_IPC, NEW_USER, NEW_PIDS = 0x0002_0000, 0x0800_0000, 0x1000_0000, 0x2000_0000
READ_ONLY, NO_SUID, NO_DEVICES, NO_EXEC = 1, 2, 4, 8  # of mount(2) and mount_setattr(2) alike
BIND, RECURSIVE, PRIVATE = 4_096, 16_384, 1 << 18
DETACH = 2
MOUNT_SETATTR, HERE, WHOLE_TREE = 442, -100, 0x8000
DUMPABLE, SUBREAPER, NO_NEW_PRIVILEGES = 4, 36, 38

PLAIN = NO_SUID | NO_DEVICES
SCRATCH = ("/tmp", "/var/tmp", "/dev/shm")
DEVICES = ("null", "zero", "full", "random", "urandom")
DEVICE_LINKS = {"fd": "self/fd", "stdin": "self/fd/0", "stdout": "self/fd/1", "stderr": "self/fd/2"}
SEEN_AS = 1_000  # root is seen as this number in a user namespace of its own: nobody's root
ROUNDS = 200
WATCH_MS = 500

_libc = ctypes.CDLL(None, use_errno=True)


class SandboxRefused(Exception):
    """The system refuses a step of the sandbox; the message says which."""


def main() -> None:
    """Read the order, start what it says, stay until it is over."""
    match = os.dup(0)
    with open(os.devnull, "r+b", buffering=0) as null:
        os.dup2(null.fileno(), 0)
        with open(match, "rb", closefd=False) as link:
            try:
                order = marshal.load(link)
            except EOFError:
                sys.exit(0)
        os.umask(0o022)  # the folders of the bot's root are for the bot, whatever ours are
        with contextlib.suppress(OSError):
            _write("/proc/self/oom_score_adj", "1000")  # if memory runs out, the bot goes first
        try:
            if order["namespaces"]:
                _enter(order, match, null.fileno())
            elif sys.platform == "linux":
                _check(_libc.prctl(SUBREAPER, 1, 0, 0, 0), "be told of orphans")
            _supervise(order, match, _started(order, match, null.fileno()))
        except (SandboxRefused, OSError) as why:
            reason = f"{why.filename}: {why.strerror}" if isinstance(why, OSError) else why
            os.write(match, f"-{reason}\n".encode())
            sys.exit(1)


# Namespaces: another view of files and processes.


def _enter(order: Mapping[str, Any], match: int, null: int) -> None:
    """Return as the first process of new namespaces, in which only what is shown can be seen."""
    kinds = NEW_PIDS | NEW_IPC
    user, group = os.getuid(), os.getgid()
    if order["user"] is None:
        _check(_libc.unshare(kinds | NEW_USER), "new user and process namespaces")
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{user or SEEN_AS} {user} 1")
        _write("/proc/self/gid_map", f"{group or SEEN_AS} {group} 1")
    else:
        _check(_libc.unshare(kinds), "new process namespaces")
    first = os.fork()
    if first:
        _silent(null)
        watch = UsageWatch(order)
        look = select.poll()
        look.register(match, select.POLLIN)
        while not os.waitpid(first, os.WNOHANG)[0]:  # it is over when all in the namespace are
            if look.poll(WATCH_MS):  # the match has closed its end
                time.sleep(0.001)
            if reason := watch.too_much():
                _say(match, f"*{reason}")
                os.kill(first, signal.SIGKILL)
        os._exit(0)
    _check(_libc.unshare(NEW_MOUNTS), "a new mount namespace")
    _root(order)
    if order["user"] is not None:
        _become(order["user"])


def _root(order: Mapping[str, Any]) -> None:
    """A root folder of our own: the system and the toolchains to read, the bot's copy to write."""
    root = order["room"] + "/root"
    size = f"size={order['scratch_bytes']}"
    _mount(None, "/", None, RECURSIVE | PRIVATE)
    _mount("tmpfs", root, "tmpfs", PLAIN, "mode=755,size=1m")
    for path in SCRATCH:
        os.makedirs(root + path)
        _mount("tmpfs", root + path, "tmpfs", PLAIN, f"mode=1777,{size}")
    for name in DEVICES:
        _file(f"{root}/dev/{name}")
        _mount(f"/dev/{name}", f"{root}/dev/{name}", None, BIND)
    for name, target in DEVICE_LINKS.items():
        os.symlink(f"/proc/{target}", f"{root}/dev/{name}")
    for link, target in order["links"]:
        os.makedirs(os.path.dirname(root + link), exist_ok=True)
        os.symlink(target, root + link)
    for path in order["shown"]:
        _shown(path, root + path, READ_ONLY | PLAIN)
    _known_as(order["user"] or os.getuid(), order["folder"], order["room"], root)
    hidden = [root + path for path in order["hidden"] if os.path.lexists(root + path)]
    for path in hidden:
        if os.path.isdir(path):
            _mount("tmpfs", path, "tmpfs", PLAIN, "mode=755,size=64k")
        else:
            _mount("/dev/null", path, None, BIND)
    _shown(order["room"] + "/work", root + order["folder"], PLAIN)
    os.makedirs(f"{root}/proc", exist_ok=True)
    _mount("proc", f"{root}/proc", "proc", READ_ONLY | PLAIN | NO_EXEC)
    for path in (*hidden, root):
        _flags(path, READ_ONLY, 0)
    os.chdir(root)
    _check(_libc.pivot_root(b".", b"."), "change the root folder")
    _check(_libc.umount2(b".", DETACH), "leave the old root folder")
    os.chdir("/")


def _known_as(user: int, home: str, room: str, root: str) -> None:
    """Give the bot's user a name and a home in /etc/passwd: Java looks them up."""
    if os.path.islink("/etc/passwd") or not os.path.isfile("/etc/passwd"):
        return
    with open("/etc/passwd") as before, open(f"{room}/passwd", "w") as after:
        after.write(f"bot:x:{user}:{user}:bot:{home}:/bin/sh\n{before.read()}")
    os.chmod(f"{room}/passwd", 0o644)
    _mount(f"{room}/passwd", f"{root}/etc/passwd", None, BIND)
    _flags(f"{root}/etc/passwd", READ_ONLY | PLAIN, 0)


def _shown(source: str, target: str, flags: int) -> None:
    """A folder or a file of the system at this place, with all that is mounted below it."""
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        _file(target)
    _mount(source, target, None, BIND | RECURSIVE)
    _flags(target, flags, WHOLE_TREE)


def _file(path: str) -> None:
    if not os.path.lexists(path):
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o644))


def _mount(source: str | None, target: str, kind: str | None, flags: int, more: str = "") -> None:
    words = [text.encode() if text is not None else None for text in (source, target, kind, more)]
    _check(_libc.mount(*words[:3], ctypes.c_ulong(flags), words[3]), f"mount {kind or source}")


def _flags(path: str, flags: int, depth: int) -> None:
    """Set flags of a mount, and with `WHOLE_TREE` of all below it; others stay as they are."""
    attributes = (ctypes.c_uint64 * 4)(flags, 0, 0, 0)
    call, size = ctypes.c_long(MOUNT_SETATTR), ctypes.sizeof(attributes)
    result = _libc.syscall(call, HERE, path.encode(), depth, attributes, size)
    _check(result, "set the flags of a mount")


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def _check(result: int, step: str) -> None:
    if result:
        raise SandboxRefused(f"{step}: {os.strerror(ctypes.get_errno())}")


# Another user.


def _become(user: int) -> None:
    """A user and a group of this number, and of no other group, for good."""
    try:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    except OSError as why:
        raise SandboxRefused(f"become user {user}: {why.strerror}") from None


# The bot.


def _started(order: Mapping[str, Any], match: int, null: int) -> int:
    """Start the bot's first process, or send the match what keeps it from that and exit."""
    reading, writing = os.pipe()
    if sys.platform == "linux":
        _check(_libc.prctl(DUMPABLE, 0, 0, 0, 0), "keep our memory to ourselves")
    pid = os.fork()
    if not pid:
        _bot(order, writing)
    os.close(writing)
    _silent(null)
    with os.fdopen(reading, "rb") as pipe:
        trouble = pipe.read()
    if trouble:
        os.write(match, trouble + b"\n")
        os._exit(1)
    os.write(match, b"+\n")
    return pid


def _bot(order: Mapping[str, Any], trouble: int) -> NoReturn:
    try:
        os.setsid()
        if order["user"] is not None and not order["namespaces"]:
            _become(order["user"])
        _checked(order)
        if sys.platform == "linux":
            _check(_libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0), "give up new privileges")
        for name, value in order["limits"].items():
            kind = getattr(resource, name)
            hard = resource.getrlimit(kind)[1]
            value = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(kind, (value, value))
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them
            signal.signal(number, signal.SIG_DFL)
        os.chdir(order["cwd"])
        os.execvpe(order["words"][0], order["words"], order["env"])
    except SandboxRefused as why:
        os.write(trouble, f"-{why}".encode())
    except OSError as why:
        os.write(trouble, f"!{why.errno}".encode())
    except ValueError:  # a zero among the words
        os.write(trouble, f"!{errno.EINVAL}".encode())
    except BaseException as why:
        os.write(trouble, f"-{type(why).__name__}: {why}".encode())
    os._exit(127)


def _checked(order: Mapping[str, Any]) -> None:
    """Refuse if the bot could reach what is hidden, or could not reach a tool that it needs."""
    if order["user"] is not None:
        for path in order["hidden"]:
            if not order["namespaces"] and os.access(path, os.R_OK | os.X_OK):
                raise SandboxRefused(f"every user may read {path}: chmod o-rwx {path}")
    for tool, path in order["needs"].items():  # where `execvp` finds the program of this name
        folders = order["env"]["PATH"].split(os.pathsep)
        programs = (os.path.join(folder, tool) for folder in folders)
        found = (name for name in programs if os.path.isfile(name) and os.access(name, os.X_OK))
        if next(found, None) != path:
            raise SandboxRefused(f"{path} would be out of its reach")


def _silent(null: int) -> None:
    """Let go of the pipe that the bot's output goes to."""
    os.dup2(null, 1)
    os.dup2(null, 2)


def _supervise(order: Mapping[str, Any], match: int, bot: int) -> None:
    """Tell when the bot has exited; end what it started when the match says so, or is gone."""
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    look = select.poll()
    look.register(match, select.POLLIN)
    look.register(woken, select.POLLIN)
    alone = not order["namespaces"]  # else all end with us, and another one watches
    watch = UsageWatch(order)
    while True:
        for pid, code in _reaped():
            if pid == bot:
                _say(match, f"={code}")
            if not pid:
                return
        ready = [handle for handle, _ in look.poll(WATCH_MS if alone else None)]
        if woken in ready:
            os.read(woken, 4_096)
        reason = watch.too_much() if alone else None
        if reason:
            _say(match, f"*{reason}")
        if reason or match in ready:  # nothing ever comes from there but its end
            if alone:
                _end(order["user"], bot)
            return


def _say(match: int, line: str) -> None:
    with contextlib.suppress(OSError):
        os.write(match, f"{line}\n".encode())


def _reaped() -> Sequence[tuple[int, int]]:
    """The processes that have exited, with their codes; (0, 0) if none is left."""
    exited: list[tuple[int, int]] = []
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return [*exited, (0, 0)]
        if not pid:
            return exited
        exited.append((pid, os.waitstatus_to_exitcode(status)))


def _end(user: int | None, bot: int) -> None:
    """Kill all our descendants, and all that this user runs, until no process is left."""
    for _ in range(ROUNDS):
        if user is not None and not os.fork():
            try:
                _become(user)
                os.kill(-1, signal.SIGKILL)
            finally:
                os._exit(0)
        for pid in _children():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if sys.platform != "linux":
            with contextlib.suppress(OSError):
                os.killpg(bot, signal.SIGKILL)
        if (0, 0) in _reaped():
            return
        time.sleep(0.002)


# What it takes.


class UsageWatch:
    """The processes, the memory and the disk space that a bot uses."""

    def __init__(self, order: Mapping[str, Any]) -> None:
        self._most = order["most"]
        self._folders = [f"{order['room']}/{name}" for name in ("work", "tmp")]
        self._again = time.monotonic()

    def too_much(self) -> str | None:
        """The limit that the bot exceeds, as a sentence; None if it keeps all."""
        bot = descendants(os.getpid())
        if len(bot) > self._most["processes"]:
            return f"it had more than {self._most['processes']} processes at once"
        if sum(map(_resident, bot)) > self._most["memory_bytes"]:
            return f"it used more than {self._most['memory_bytes'] >> 20} MB of memory"
        now = time.monotonic()
        if now < self._again:
            return None
        size = sum(map(folder_size, self._folders))
        self._again = now + max(1.0, 20 * (time.monotonic() - now))  # little of it is looking
        if size > self._most["folder_bytes"]:
            return f"it wrote more than {self._most['written_bytes'] >> 20} MB into its folder"
        return None


def descendants(pid: int) -> list[int]:
    """The processes that a process has started, and those that they have."""
    pids = _children(pid)
    for child in pids:
        pids += _children(child)
    return pids


def _children(pid: int | None = None) -> list[int]:
    pid = pid or os.getpid()
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def _resident(pid: int) -> int:
    """The memory that is a process's own."""
    try:
        with open(f"/proc/{pid}/statm") as file:
            _, resident, shared, *_ = file.read().split()
    except (OSError, ValueError):
        return 0
    return (int(resident) - int(shared)) * resource.getpagesize()


def folder_size(folder: str) -> int:
    """The bytes that a folder takes on the disk; endless if its bottom cannot be reached."""
    size, left = 0, [folder]
    while left:
        try:
            with os.scandir(left.pop()) as entries:
                for entry in entries:
                    status = entry.stat(follow_symlinks=False)
                    size += max(512, status.st_blocks * 512)
                    if entry.is_dir(follow_symlinks=False):
                        left.append(entry.path)
        except OSError as why:
            if why.errno == errno.ENAMETOOLONG:
                return 1 << 62
    return size
