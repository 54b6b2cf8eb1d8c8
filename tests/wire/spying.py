"""A bot that looks for everything a bot must not see, and prints what it has found.

It knows one word that stands in the name of the ledger's folder, in a file of it, in the seed and
in the environment of the match. It tries the doors that a system may leave open: files by every
path, the process table, descriptors, signals, tracing, devices, mounts, its rival's folder.
"""

WORD = "spied-upon"

SPY = r'''
import ctypes, os, stat, sys

WORD = "spied-upon"
SKIPPED = ("/proc", "/sys", "/usr", "site-packages", ".git", "node_modules", ".venv", "overlay")
libc = ctypes.CDLL(None, use_errno=True)

def found(door, what):
    print("FOUND", door, what, flush=True)

def attempt(door, what, do, *arguments):
    try:
        result = do(*arguments)
    except Exception:
        return None
    if result is not None and result is not False:
        found(door, what)
    return result

def holds(path):
    with open(path, "rb") as file:
        return WORD.encode() in file.read(1 << 20) or None

def names(path):
    return any(WORD in name for name in os.listdir(path)) or None

def leads(path):
    return WORD in os.readlink(path) or None

def walk(door, top):
    """The nearest first, and no deeper than a ledger lies."""
    folders = [top]
    for depth in range(8):
        below = []
        for folder in folders:
            try:
                entries = list(os.scandir(folder))
            except OSError:
                continue
            for entry in entries:
                if WORD in entry.name:
                    if os.access(entry.path, os.R_OK): return found(door, entry.path)
                elif entry.is_dir(follow_symlinks=False) and entry.path not in SKIPPED:
                    if entry.name not in SKIPPED: below.append(entry.path)
        folders = below

def ours():
    """Ourselves, and whoever we descend from."""
    pid, line = os.getpid(), []
    while pid:
        line.append(pid)
        try:
            with open(f"/proc/{pid}/status") as file:
                pid = int(next(row for row in file if row.startswith("PPid:")).split()[1])
        except Exception:
            break
    return line

def others():
    """Whom to look at: everybody; as root only those who started us, and the rival."""
    seen = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    above = ours()[1:]
    if os.getuid() == 0:
        seen = [pid for pid in seen if pid in above or rival(pid)]
    return [pid for pid in seen if pid != os.getpid()], above

def rival(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return b"rival.py" in file.read()
    except OSError:
        return False

def writable(pid):
    with open(f"/proc/{pid}/mem", "rb+"):
        return True

def seize(pid):
    if libc.ptrace(0x4206, pid, 0, 0):
        return None
    libc.ptrace(17, pid, 0, 0)
    return True

def signal(pid):
    os.kill(pid, 0)
    return True

def processes():
    seen, above = others()
    for pid in seen:
        attempt("command line", pid, holds, f"/proc/{pid}/cmdline")
        attempt("environment", pid, holds, f"/proc/{pid}/environ")
        attempt("maps", pid, holds, f"/proc/{pid}/maps")
        attempt("memory", pid, writable, pid)
        attempt("trace", pid, seize, pid)
        for link in ("cwd", "exe", "root"):
            attempt(link, pid, leads, f"/proc/{pid}/{link}")
        attempt("cwd", pid, names, f"/proc/{pid}/cwd")
        attempt("other root", pid, os.listdir, f"/proc/{pid}/root/tmp")
        for handle in range(64):
            attempt("descriptor", pid, os.readlink, f"/proc/{pid}/fd/{handle}")
        first_of_namespace = pid == 1 and os.getpid() < 100  # it cannot be harmed from inside
        if not first_of_namespace:
            attempt("signal", pid, signal, pid)

def ourselves():
    for name, value in os.environ.items():
        if WORD in value:
            found("own environment", name)
    if WORD in os.getcwd():
        found("own folder", os.getcwd())
    for handle in os.listdir("/proc/self/fd"):
        if int(handle) > 2:
            try:
                kind = os.fstat(int(handle)).st_mode
            except OSError:
                continue  # it was the listing's own
            if not stat.S_ISDIR(kind):
                found("inherited descriptor", handle)
    for name in ("mountinfo", "maps", "cmdline"):
        attempt(name, "self", holds, f"/proc/self/{name}")
    attempt("terminal", "/dev/tty", open, "/dev/tty")

def rivals(folder):
    for path in (folder, "../rival", "../../0/work", "../../1/work"):
        if os.path.realpath(path) == os.getcwd():
            continue
        attempt("rival's folder", path, lambda: open(os.path.join(path, "gift"), "w"))
        attempt("rival's bot", path, lambda: open(os.path.join(path, "rival.py")))

def block():
    os.mknod("disk", 0o600 | stat.S_IFBLK, os.makedev(254, 0))
    return True

def devices():
    attempt("device made", "disk", block)
    for name in os.listdir("/dev"):
        path = os.path.join("/dev", name)
        if stat.S_ISBLK(os.stat(path).st_mode):
            attempt("disk", path, open, path, "rb")
    for path in ("/proc/kcore", "/proc/sysrq-trigger", "/proc/sys/kernel/core_pattern"):
        attempt("system", path, open, path, "r+b")

def rooted():
    os.setuid(0)
    return True

def deeper():
    """In namespaces of our own nothing that was hidden comes to light."""
    attempt("root", "setuid", rooted)
    pid = os.fork()
    if not pid:
        if not libc.unshare(0x10000000 | 0x20000):
            with open("/proc/self/mountinfo") as file:
                mounts = [row.split()[4] for row in file]
            for path in reversed(mounts):
                if not libc.umount2(path.encode(), 2):
                    if path != "/": found("unmounted", path)
            walk("file below a mount", "/")
        os._exit(0)
    os.waitpid(pid, 0)

def spy(folder):
    ourselves()
    processes()
    rivals(folder)
    devices()
    walk("file", "/")
    if os.getuid(): deeper()
    print("SPIED", os.getuid(), flush=True)
'''
