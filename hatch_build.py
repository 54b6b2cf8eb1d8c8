"""The wheel is made: every room of the house becomes a part of the one package `muckrake`.

In the repository rooms stand at the top, and import each other by their names. At the top of
somebody's site-packages an `engine` would be in the way of his own `engine.py`, or his in ours. So
a wheel has `muckrake/engine`, and each import says so; nothing else of a file is changed.
"""

import ast
import tempfile
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

PACKAGE = "muckrake"
COMPILED = (".pyc", ".pyo")


def get_build_hook() -> type[Any]:
    """What hatchling asks for; nothing else here needs it."""
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface

    class OnePackage(BuildHookInterface):  # type: ignore[misc]
        """An editable wheel has the repository's own files; any other has all of them moved."""

        def initialize(self, version: str, build_data: dict[str, Any]) -> None:
            if version != "editable":
                self.made = tempfile.TemporaryDirectory()
                files = contents(Path(self.root), self.config["rooms"], Path(self.made.name))
                build_data["force_include"] |= files

        def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
            if version != "editable":
                self.made.cleanup()

    return OnePackage


def contents(top: Path, rooms: Sequence[str], made: Path) -> dict[str, str]:
    """Every file of a wheel, and its place there; what is changed is written into `made`."""
    found = {}
    for room in (PACKAGE, *rooms):
        for file in sorted((top / room).rglob("*")):
            if file.suffix in COMPILED or not file.is_file():
                continue
            place = Path(*() if room == PACKAGE else (PACKAGE,), file.relative_to(top))
            if file.suffix == ".py":
                text = moved(file.read_text("utf-8"), rooms)
                file = made / place
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, "utf-8")
            found[str(file)] = str(place)
    return found


def moved(text: str, rooms: Collection[str]) -> str:
    """A file whose imports name the rooms by their place in the package."""
    lines = text.splitlines(keepends=True)
    for line, column, name in sorted(_imported(text, rooms), reverse=True):
        raw = lines[line - 1].encode()
        at = raw.index(name.encode(), column)
        lines[line - 1] = (raw[:at] + f"{PACKAGE}.".encode() + raw[at:]).decode()
    return "".join(lines)


def _imported(text: str, rooms: Collection[str]) -> Iterator[tuple[int, int, str]]:
    """Where an import names a room: the line, the byte behind which it does, and the name."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            if node.module.split(".")[0] in rooms:
                yield node.lineno, node.col_offset + len("from "), node.module
        elif isinstance(node, ast.Import):
            for one in node.names:
                if one.name.split(".")[0] in rooms:
                    if one.asname is None:
                        raise ValueError(f"import {one.name}: in a wheel it has another name")
                    yield one.lineno, one.col_offset, one.name
