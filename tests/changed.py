"""`./mr test --changed [COMMIT]`: the test files that a change can reach, by what imports what.

A test file reaches what it imports, what that imports, and the fixtures that it names. What only
registers commands, routes or pages (`HUBS`) imports them all: a test reaches those of them whose
name, or one of whose paths, stands among its words, and all if it reads files by a pattern. A file
that is no Python is reached by the Python that names it or its ending, and by that of its folder.
"""

import ast
import re
import subprocess
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path, PurePosixPath

from msgspec import Struct

ROOT = Path(__file__).resolve().parents[1]
HUBS = {  # and the folder of what each registers
    "api/main.py": "api/cli/",
    "api/http/routes/__init__.py": "api/http/routes/",
    "api/pages/__init__.py": "api/pages/",
    "api/questions/declared/__init__.py": "api/questions/declared/",
}
COMMAND_LINE = ("muckrake", "api/main.py")  # whoever says the word may start it as a process
EVERYTHING = ("pyproject.toml", "requirements")
PATTERN = re.compile(r"\*\.\w+")
DOTTED = re.compile(r"[a-z_]\w*(?:\.\w+)+\b(?!/)")  # `muckrake.hands/1` is a schema, and no module
TEMPLATE = re.compile(r"/[\w{}:./-]*")
WORD = re.compile(r"\w+")


class NoSuchCommit(Exception):
    """There is nothing to compare with."""


class Unit(Struct, frozen=True):
    """What a module, or a function of it, imports and says."""

    imports: frozenset[str]
    names: frozenset[str]
    strings: frozenset[str]


def changed(root: Path, commit: str) -> list[str]:
    """Files that differ from where this branch left a commit, those that are new included."""
    base = _git(root, "merge-base", commit, "HEAD").strip()
    differing = _git(root, "diff", "--name-only", "--no-renames", base, "--")
    new = _git(root, "ls-files", "--others", "--exclude-standard")
    return sorted({*differing.splitlines(), *new.splitlines()})


def _git(root: Path, *words: str) -> str:
    ran = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise NoSuchCommit(ran.stderr.strip())
    return ran.stdout


class Tree:
    """All Python of a checkout."""

    def __init__(self, root: Path) -> None:
        paths = (file.relative_to(root) for file in root.rglob("*.py"))
        shown = [path for path in paths if not any(part.startswith(".") for part in path.parts)]
        trees = {path.as_posix(): ast.parse((root / path).read_bytes()) for path in shown}
        self.paths = {_module(path): path for path in trees}
        self.units = {path: self._unit(tree) for path, tree in trees.items()}
        self.fixtures = {
            path: [(it, self._unit(it)) for it in tree.body if isinstance(it, ast.FunctionDef)]
            for path, tree in trees.items()
            if path.endswith("conftest.py")
        }
        for path, tree in trees.items():
            if path in self.fixtures:
                rest = [node for node in tree.body if not isinstance(node, ast.FunctionDef)]
                self.units[path] = self._unit(ast.Module(rest, []))

    @cached_property
    def tests(self) -> list[str]:
        return sorted(path for path in self.units if PurePosixPath(path).name.startswith("test_"))

    def reached(self, changes: Iterable[str]) -> list[str]:
        """The test files that any of these changes can reach; all of them, if a module is gone or
        nothing is known to read a file."""
        touched = set[str]()
        for path in changes:
            readers = self._readers(path)
            unknown = path not in self.units if path.endswith(".py") else not readers
            if unknown or path.startswith(EVERYTHING):
                return self.tests
            touched |= {path} | readers
        return [test for test in self.tests if not touched.isdisjoint(self.closure(test))]

    def _readers(self, path: str) -> set[str]:
        """The Python that may read a file: by its name, its ending, or from beside it."""
        file = PurePosixPath(path)
        naming = {f"*{file.suffix}"} if file.suffix == ".py" else {file.suffix, f"*{file.suffix}"}
        readers = {
            one
            for one, unit in self.units.items()
            if any(it.endswith(file.name) or it in naming for it in unit.strings)
        }
        if file.suffix != ".py":
            near = f"{file.parent}/"
            readers |= {one for one in self.units if one.startswith(near)}
        return readers

    def closure(self, test: str) -> set[str]:
        """Every file that a test file can come to."""
        units = [self.units[test], *self._fixtures(test)]
        ours = self._followed((it for unit in units for it in unit.imports), "tests/")
        units += [self.units[path] for path in ours]
        strings = {it for unit in units for it in unit.strings}
        words = None if any(map(PATTERN.search, strings)) else _words(strings)
        begin = {it for unit in units for it in unit.imports}
        if any("subprocess" in it.names and COMMAND_LINE[0] in _words(it.strings) for it in units):
            begin.add(COMMAND_LINE[1])
        above = {path for path in self.fixtures if _lies_under(test, path)}
        return {test, *above, *self._followed(begin, "", words)}

    def _fixtures(self, test: str) -> list[Unit]:
        """What `conftest.py` above does for this file: of its functions, those named or autouse."""
        named = self.units[test].names | self.units[test].strings
        above = [path for path in self.fixtures if _lies_under(test, path)]
        waiting = [one for path in above for one in self.fixtures[path]]
        used: list[Unit] = [self.units[path] for path in above]
        while found := [it for it in waiting if it[0].name in named or _is_autouse(it[0])]:
            waiting = [it for it in waiting if it not in found]
            used += [unit for _, unit in found]
            named = named.union(*(unit.names | unit.strings for _, unit in found))
        return used

    def _followed(
        self, begin: Iterable[str], within: str, words: frozenset[str] | None = None
    ) -> set[str]:
        """What is imported from here on, in a folder; of what a hub registers, what is said."""
        found, waiting = set[str](), [path for path in begin if path.startswith(within)]
        while waiting:
            path = waiting.pop()
            if path in found:
                continue
            found.add(path)
            imports = set(self.units[path].imports)
            if path in HUBS:
                registered = {one for one in self.units if one.startswith(HUBS[path])} - {path}
                said = {one for one in registered if words is None or self._is_said(one, words)}
                routed = {one for one in registered if "APIRouter" in self.units[one].names}
                imports = imports - routed | said
            waiting += [one for one in imports if one.startswith(within)]
        return found

    def _is_said(self, path: str, words: frozenset[str]) -> bool:
        """Whether the words hold the name of this module, or every part of one of its paths."""
        unit = self.units[path]
        templates = filter(TEMPLATE.fullmatch, unit.strings if "APIRouter" in unit.names else ())
        parts = ({*WORD.findall(re.sub(r"{.*?}", "", one))} for one in templates)
        return PurePosixPath(path).stem.rstrip("_") in words or any(it <= words for it in parts)

    def _unit(self, tree: ast.AST) -> Unit:
        imports, names, strings = set[str](), set[str](), set[str]()
        prose = set[int]()  # docstrings: whoever stands around a node comes before it
        for node in ast.walk(tree):
            match node:
                case ast.Expr():
                    prose.add(id(node.value))
                case ast.Import():
                    imports |= {alias.name for alias in node.names}
                case ast.ImportFrom():
                    imports |= {f"{node.module}.{alias.name}" for alias in node.names}
                case ast.Name():
                    names.add(node.id)
                case ast.arg():
                    names.add(node.arg)
                case ast.Constant(value=str(text)) if id(node) not in prose:
                    strings.add(text)
                    imports |= {*DOTTED.findall(text)}  # a patch, or what another Python runs
        files = (file for name in imports for file in self._files(name))
        return Unit(frozenset(files), frozenset(names), frozenset(strings))

    def _files(self, name: str) -> Iterator[str]:
        """The module of ours that this is or lies in, and the packages around it."""
        while name:
            if name in self.paths:
                yield self.paths[name]
            name = name.rpartition(".")[0]


def _module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _words(strings: Iterable[str]) -> frozenset[str]:
    return frozenset(word for text in strings for word in WORD.findall(text))


def _is_autouse(function: ast.FunctionDef) -> bool:
    return any("autouse" in ast.dump(mark) for mark in function.decorator_list)


def _lies_under(test: str, conftest: str) -> bool:
    return test.startswith(conftest.removesuffix("conftest.py"))
