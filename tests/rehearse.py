"""What a stranger does first, by a script: `./mr rehearse [SUITE...]`, and in CI without a suite.

Without a suite: this checkout copied into a path with a space and a letter outside ASCII, and
`./mr` there as an ordinary user (where we are root) with an empty HOME that nobody can write and
the umask 077: interrupted, twice at once, with readers that go away, at last the demo. With a suite
of Debian's, such as bookworm: both commands in a bare root with python3 and git alone, which needs
root and mmdebstrap; with --test FILE... it is those tests and not all. Only the standard library is
needed.
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NOBODY = 65534
SYSTEM = Path("/usr/bin/python3")
PACKAGES = "python3,git,ca-certificates"
FEW = ("tests/test_evolve.py", "tests/test_mr.py")
NEVER = ("Traceback", "Exception ignored", "did not play to the end", "not kept apart")
DEMO = ("CONTESTED: ", "Look at all of it:")


class Reader:
    """Somebody in front of a new checkout: his folder, his variables, and what he types."""

    def __init__(self, room: Path) -> None:
        self.folder, home = room / "a first été", room / "home"
        for each in (self.folder, home):
            each.mkdir(parents=True)
        copied(self.folder)
        known = {name: value for name, value in os.environ.items() if "MUCKRAKE" not in name}
        self.variables = {**known, "HOME": str(home), "TMPDIR": str(room)}
        self.user: int | None = None
        if os.geteuid() == 0 and SYSTEM.exists():  # root's own Python may lie where nobody may look
            self.user = NOBODY
            ours = [name for name, value in known.items() if value.startswith(str(Path.home()))]
            for name in {*ours} - {"HOME"}:
                del self.variables[name]
            self.variables["PATH"] = "/usr/bin:/bin"
            for each in (room, *room.rglob("*")):
                os.chown(each, NOBODY, NOBODY, follow_symlinks=False)
        home.chmod(0o555)

    def starts(self, line: str) -> "subprocess.Popen[str]":
        """A line of shell, in a group of its own as a terminal makes it."""
        return subprocess.Popen(
            ["/bin/sh", "-c", line],
            cwd=self.folder,
            env=self.variables,
            user=self.user,
            umask=0o077,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def types(self, line: str, *expected: str, code: int = 0) -> None:
        """A line that ends as it should, without a traceback, and says what it should."""
        ends(line, self.starts(line), *expected, code=code)


def ends(
    line: str, process: "subprocess.Popen[str]", *expected: str, code: int = 0, minutes: int = 10
) -> None:
    """Complain of a traceback, a bot that failed, another exit code, or words that are missing."""
    said, _ = process.communicate(timeout=60 * minutes)
    wrong = [f"no {words!r}" for words in expected if words not in said]
    wrong += [f"{words!r}" for words in NEVER if words in said]
    wrong += [f"exit code {process.returncode}, not {code}"] * (process.returncode != code)
    if wrong:
        sys.exit(f"{said}\nrehearse: {line}: {', '.join(wrong)}")
    print(f"rehearse: {line}: as it should be", flush=True)


def begins(process: "subprocess.Popen[str]") -> None:
    """Wait until an install says what it will cost."""
    assert process.stdout is not None
    line = process.stdout.readline()
    if not re.search("making .* fetches .* keeps .* once", line):
        sys.exit(f"rehearse: the install began with: {line}")


def copied(folder: Path) -> None:
    """Every file that git knows of, as it lies here."""
    listed = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True)
    for name in filter(None, listed.split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)


def here(room: Path) -> None:
    """All that a first hour brings, in one folder."""
    reader = Reader(room)
    first = reader.starts("exec ./mr games")
    begins(first)
    os.killpg(first.pid, signal.SIGINT)
    ends("./mr games, and Ctrl-C", first, code=130)
    first = reader.starts("exec ./mr games")
    begins(first)
    second = reader.starts("exec ./mr games")
    ends("./mr games once more", first, "ready after", "auction-2024")
    ends("./mr games beside it", second, "waiting for another ./mr", "auction-2024")
    reader.types("./mr games | head -1", "ruleset")
    reader.types("./mr games >&-")
    reader.types("./mr games 2>&- >/dev/full", code=1)
    reader.types("./mr games >/dev/full", "muckrake: No space left on device", code=1)
    reader.types("./mr demo", *DEMO)
    reader.types(f"./mr test {' '.join(FEW)}", " passed")


def bare(suite: str, tests: list[str]) -> None:
    """Both commands in a Debian that has python3 and git, and nothing else."""
    kept = Path(tempfile.gettempdir()) / f"muckrake-{suite}.tar"
    if not kept.exists():
        words = ["mmdebstrap", "--variant=minbase", "--format=tar", f"--include={PACKAGES}", suite]
        subprocess.run([*words, f"{kept}.new"], check=True)
        os.replace(f"{kept}.new", kept)
    root = Path(tempfile.mkdtemp(prefix=f"rehearse-{suite}-"))
    try:
        subprocess.run(["tar", "-C", root, "-xf", kept], check=True)
        for name in ("etc/resolv.conf", "etc/ssl/certs/ca-certificates.crt"):
            shutil.copy(f"/{name}", root / name)
        (root / "etc/hosts").write_text("127.0.0.1 localhost\n")  # as an installer leaves it
        subprocess.run(["chroot", root, "useradd", "-m", "reader"], check=True)
        copied(root / "home/reader/muckrake")
        subprocess.run(["chroot", root, "chown", "-R", "reader:", "/home/reader"], check=True)
        ends(f"{suite}: ./mr demo", in_root(root, "./mr demo"), *DEMO)
        line = " ".join(["./mr test", *tests])
        ends(f"{suite}: {line}", in_root(root, line), " passed", minutes=90)
    finally:
        shutil.rmtree(root)


def in_root(root: Path, line: str) -> "subprocess.Popen[str]":
    """A line of shell as the ordinary user of a root, whose mounts end with it."""
    # With what is mounted below it: shared memory for several processes, terminals for bars.
    mounts = 'mount --rbind /dev "$0/dev"; mount -t proc proc "$0/proc"; '
    # Not chroot: the kernel refuses namespaces, which keep bots apart, to anybody inside one.
    pivot = 'mount --rbind "$0" "$0"; cd "$0"; pivot_root . .; umount -l .; '
    reader = "exec setpriv --reuid=reader --regid=reader --init-groups env -i "
    reader += "HOME=/home/reader PATH=/usr/bin:/bin LANG=C.UTF-8 "
    script = "set -e; " + mounts + pivot + reader + 'sh -c "cd ~/muckrake && $1"'
    return subprocess.Popen(
        ["unshare", "--mount", "--pid", "--fork", "sh", "-c", script, root, line],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
    )


def main() -> None:
    """Rehearse here, or in the suites that are named."""
    asked = argparse.ArgumentParser(prog="./mr rehearse", description=__doc__)
    asked.add_argument("suites", nargs="*", help="Debian's: bookworm (Python 3.11), trixie (3.13)")
    asked.add_argument("--test", nargs="+", default=[], metavar="FILE", help="these tests, not all")
    words = asked.parse_args()
    # Who began this in the background had Ctrl-C ignored, and so would everybody below.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for suite in words.suites:
        bare(suite, words.test)
    if not words.suites:
        with tempfile.TemporaryDirectory(prefix="rehearse-") as room:
            Path(room).chmod(0o755)
            here(Path(room))
    print("rehearse: all of it went well")


if __name__ == "__main__":
    main()
