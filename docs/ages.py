"""When each locked version was released: `./mr lock` writes `requirements-ages.toml`.

`uv lock` tells it of the files of each version. Which of them are older than a year when they are
locked stands there under `old` with a sentence why, which is written by hand and kept: a version
that nobody renews is one whose faults nobody mends. A test holds the list to the lock, offline.
"""

import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
LIST = ROOT / "requirements-ages.toml"
LOCKS = tuple(
    ROOT / f"requirements{it}.txt" for it in ("", "-test", "-dev", "-docs", "-spark", "-lakehouse")
)
YEAR = timedelta(days=365)
HEAD = """\
# When each locked version was released. `./mr lock` writes it;
# only the sentences under `old` are written by hand.

"""
_PIN = re.compile(r"^(?P<name>[\w.-]+)==(?P<version>[^ ;\\]+)(?: *; *(?P<marker>[^\\]+?))? *\\?$")


class Pin(NamedTuple):
    """A version that is locked, and where it is wanted."""

    name: str
    version: str
    marker: str

    def __str__(self) -> str:
        return f"{self.name}=={self.version}"


def pins(lock: str) -> Iterator[Pin]:
    """Every version of a lock."""
    for line in lock.splitlines():
        if found := _PIN.match(line):
            yield Pin(found["name"], found["version"], found["marker"] or "")


def wrong(listed: dict[str, Any], locked: set[str]) -> Iterator[str]:
    """What is not as it should be, in sentences."""
    released: dict[str, date] = listed["released"]
    old: dict[str, str] = listed["old"]
    for name in sorted(locked - released.keys()):
        yield f"nobody knows when {name} was released: ./mr lock writes it down"
    for name in sorted(released.keys() - locked):
        yield f"{name} is not locked any more: ./mr lock takes it out"
    for name, day in sorted(released.items()):
        aged = listed["locked"] - day > YEAR
        if aged and len(old.get(name, "")) < 20:
            yield f"{name} was a year old when it was locked ({day}), and no sentence says why"
        elif not aged and name in old:
            yield f"{name} is not old: its sentence goes"
    for name in sorted(old.keys() - released.keys()):
        yield f"{name} is not locked: its sentence goes"


def released(those: set[Pin]) -> dict[str, date]:
    """The day on which the first file of each version came out, as `uv lock` is told."""
    wanted = sorted(f"{pin} ; {pin.marker}" if pin.marker else str(pin) for pin in those)
    with tempfile.TemporaryDirectory() as aside:
        lines = ["[project]", 'name = "ages"', 'version = "0"', 'requires-python = ">=3.11"']
        lines += ["dependencies = [", *(f"  {one!r}," for one in wanted), "]", ""]
        (Path(aside) / "pyproject.toml").write_text("\n".join(lines))
        subprocess.run([sys.executable, "-m", "uv", "lock", "-q"], cwd=aside, check=True)
        found = tomllib.loads((Path(aside) / "uv.lock").read_text())
    days: dict[str, date] = {}
    for package in found["package"]:
        files = [*package.get("wheels", ()), package.get("sdist", {})]
        told = (one["upload-time"] for one in files if "upload-time" in one)
        times = [datetime.fromisoformat(one) for one in told]
        if times:
            days[f"{package['name']}=={package['version']}"] = min(times).date()
    return {str(pin): days[str(pin)] for pin in those if str(pin) in days}


def main() -> None:
    """Write the list anew; the sentences of what is still old are kept."""
    those = {pin for lock in LOCKS for pin in pins(lock.read_text("utf-8"))}
    days = released(those)
    before = tomllib.loads(LIST.read_text("utf-8"))["old"] if LIST.exists() else {}
    today = datetime.now(UTC).date()
    lines = [f"locked = {today}", "", "[released]"]
    lines += [f'"{name}" = {day}' for name, day in sorted(days.items())]
    aged = sorted(name for name, day in days.items() if today - day > YEAR)
    lines += ["", "[old]", *(f'"{name}" = "{before.get(name, "")}"' for name in aged), ""]
    LIST.write_text(HEAD + "\n".join(lines), "utf-8")
    for sentence in wrong(tomllib.loads(LIST.read_text("utf-8")), {str(pin) for pin in those}):
        print(f"docs.ages: {sentence}")


if __name__ == "__main__":
    main()
