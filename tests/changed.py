"""`./mr test --changed [COMMIT]`: the test files that a change can reach, by what imports what.

In profile `quick` the nearest of them are run, by the number of imports between, for a minute; in
`ci` and `slow` all of them. A test file reaches what it imports, and the fixtures that it names. Of
a module it reaches the body and the functions, classes and values that are imported by name, and
what these use; all of it, if the module itself is imported, or a name that nothing in it defines.
What only registers commands, routes or pages (`HUBS`) imports them all: a test reaches commands and
questions whose name stands among its words, functions of routes whose path does, and all if it
reads files by a pattern. A file that is no Python is reached by the Python that names it or its
ending, and by that of its folder.
"""

import ast
import re
import subprocess
from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from itertools import count
from pathlib import Path, PurePosixPath

from msgspec import Struct

from api.main import COMMAND_FILES

ROOT = Path(__file__).resolve().parents[1]
HUBS = {  # and the folder of what each registers
    "api/main.py": "api/cli/",
    "api/http/routes/__init__.py": "api/http/",
    "api/serving/app.py": "api/pages/",
    "api/questions/declared/__init__.py": "api/questions/declared/",
}
COMMAND_LINE = ("muckrake", "api/main.py")  # whoever says the word may start it as a process
EVERYTHING = ("pyproject.toml", "requirements")
PATTERN = re.compile(r"\*\.\w+")
DOTTED = re.compile(r"[a-z_]\w*(?:\.\w+)+\b(?!/)")  # `muckrake.hands/1` is a schema, and no module
TEMPLATE = re.compile(r"/[\w{}:./-]*")
WORD = re.compile(r"\w+")
WHOLE, BODY = "*", ""  # of a module all, and what is no function, class or value of it
SAID = "?"  # before a name that a string says: where none is called so, the string is no name
Place = tuple[str, str]  # a file, and what of it


class NoSuchCommit(Exception):
    """There is nothing to compare with."""


class Unit(Struct, frozen=True):
    """What a module, or a part of it, imports and says."""

    imports: frozenset[Place]
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
        self.trees = trees
        self.parts, self.bound = cache(self._parts_of), cache(self._bound_of)
        self.used, self.closure = cache(self._used_by), cache(self._closure_of)
        for path, tree in trees.items():
            if path in self.fixtures:
                rest = [node for node in tree.body if not isinstance(node, ast.FunctionDef)]
                self.units[path] = self._unit(ast.Module(rest, []))

    @cached_property
    def tests(self) -> list[str]:
        return sorted(path for path in self.units if PurePosixPath(path).name.startswith("test_"))

    def reached(self, changes: Iterable[str]) -> list[str]:
        """The test files that any of these changes can reach, the nearest first; all of them, if a
        module is gone or nothing is known to read a file."""
        touched = set[str]()
        for path in changes:
            readers = self._readers(path)
            unknown = path not in self.units if path.endswith(".py") else not readers
            if unknown or path.startswith(EVERYTHING):
                return self.tests
            touched |= {path} | readers
        distances = {
            test: min(
                (far for path, far in self.closure(test).items() if path in touched), default=-1
            )
            for test in self.tests
        }
        return sorted(
            (test for test in self.tests if distances[test] >= 0), key=distances.__getitem__
        )

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

    def _closure_of(self, test: str) -> dict[str, int]:
        """Every file that a test file can come to, and after how many imports."""
        units = [self.units[test], *self._fixtures(test)]
        ours = self._followed((it for unit in units for it in unit.imports), "tests/")
        units += [self.units[path] for path in ours]
        strings = {it for unit in units for it in unit.strings}
        words = None if any(map(PATTERN.search, strings)) else _words(strings)
        begin = {it for unit in units for it in unit.imports}
        if any("subprocess" in it.names and COMMAND_LINE[0] in _words(it.strings) for it in units):
            begin.add((COMMAND_LINE[1], WHOLE))
        above = {path for path in self.fixtures if _lies_under(test, path)}
        return self._followed(begin, "", words) | dict.fromkeys(above, 1) | {test: 0}

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
        self, begin: Iterable[Place], within: str, words: frozenset[str] | None = None
    ) -> dict[str, int]:
        """The files of what is imported from here on, in a folder, and after how many imports; of
        a hub's, what is said."""
        found, files = set[Place](), dict[str, int]()
        waiting = {place for place in begin if place[0].startswith(within)}
        for distance in count(1):
            if not waiting:
                break
            found |= waiting
            files = dict.fromkeys((path for path, _ in waiting), distance) | files
            needed = set[Place]().union(*(self._needs(*place, words) for place in waiting))
            waiting = {it for it in needed - found if it[0].startswith(within)}
        return files

    def _needs(self, path: str, name: str, words: frozenset[str] | None) -> Iterable[Place]:
        """What a part of a module uses; of a hub, what it registers and is said."""
        if path not in HUBS:
            return self.used(path, name)
        registered = {one for one in self.units if one.startswith(HUBS[path])} - {path}
        said = (it for one in registered for it in self._said(one, words))
        return {it for it in self.units[path].imports if not self.parts(it[0])[1]}.union(said)

    def _used_by(self, path: str, name: str) -> Iterable[Place]:
        """What a part of a module uses."""
        parts, whole = self.parts(path)[0], self.units[path].imports
        bare = name.removeprefix(SAID)
        if bare in parts:
            return parts[bare].imports | {(path, BODY)}
        if parts and bare in self.bound(path):
            return self.bound(path)[bare] | {(path, BODY)}
        return parts[BODY].imports if parts and name != bare else whole

    def _said(self, path: str, words: frozenset[str] | None) -> set[Place]:
        """Of what a hub registers, that of which the words hold the name, or all of a path; with
        the path of a router, all of its routes."""
        routes = self.parts(path)[1]
        if not routes:
            name = PurePosixPath(path).stem.rstrip("_")
            names = {name, *(command for command, file in COMMAND_FILES.items() if file == name)}
            return {(path, WHOLE)} if words is None or names & words else set()
        said = {
            name
            for name, paths in routes.items()
            if words is None
            or any({*WORD.findall(re.sub(r"{.*?}", "", it))} <= words for it in paths)
        }
        if BODY in said:
            return {(path, WHOLE)}
        return {(path, it) for it in said}

    def _parts_of(self, path: str) -> tuple[dict[str, Unit], dict[str, frozenset[str]]]:
        """Functions, classes and values of a module, and its body; and the paths of those that
        answer at one. A function that something else decorates may be registered there: it is of
        the body, too."""
        if path.startswith("tests/"):
            return {}, {}
        tree, bound = self.trees[path], self.bound(path)
        body: list[ast.stmt] = []
        defined: dict[str, ast.stmt] = {}
        routes: dict[str, frozenset[str]] = {}
        is_routed = any(isinstance(it, ast.Name) and it.id == "APIRouter" for it in ast.walk(tree))
        for node in tree.body:
            match node:
                case (
                    ast.FunctionDef(name=name)
                    | ast.AsyncFunctionDef(name=name)
                    | ast.ClassDef(name=name)
                    | ast.Assign(targets=[ast.Name(id=name)])
                    | ast.AnnAssign(target=ast.Name(id=name))
                ) if name in defined:
                    body.append(node)  # of two with one name, either may be meant
                case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                    defined[node.name] = node
                    paths = [it for mark in node.decorator_list for it in _templates(mark)]
                    if is_routed and paths:
                        routes[node.name] = frozenset(paths)
                    elif node.decorator_list:
                        body.append(node)
                case (
                    ast.Assign(targets=[ast.Name(id=name)])
                    | ast.AnnAssign(target=ast.Name(id=name))
                ) if not is_routed or not [*_templates(node)]:
                    defined[name] = node
                case ast.Import() | ast.ImportFrom():
                    pass
                case _:
                    body.append(node)
        rest = ast.Module(body, [])
        if is_routed and (paths := list(_templates(rest))):
            routes[BODY] = frozenset(paths)
        if is_routed and not routes:
            routes[BODY] = frozenset()
        parts = dict[str, Unit]()
        trees: dict[str, ast.AST] = {**defined, BODY: rest}
        for name, part in trees.items():
            unit = self._unit(part)
            used = {it for one in unit.names | {WHOLE} for it in bound.get(one, ())}
            own = {(path, one) for one in unit.names & defined.keys() if one != name}
            parts[name] = Unit(unit.imports | used | own, unit.names, unit.strings)
        return parts, routes

    def _bound_of(self, path: str) -> dict[str, set[Place]]:
        """What each name that a module imports stands for."""
        bound = dict[str, set[Place]]()
        for node in ast.walk(self.trees[path]):
            if isinstance(node, ast.Import | ast.ImportFrom):
                for alias in node.names:
                    before = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
                    name = alias.asname or alias.name.partition(".")[0]
                    bound.setdefault(name, set()).update(self._places(before + alias.name))
        return bound

    def _unit(self, tree: ast.AST) -> Unit:
        imports, said, names, strings = set[str](), set[str](), set[str](), set[str]()
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
                    said |= {*DOTTED.findall(text)}  # a patch, or what another Python runs
        places = {place for name in imports for place in self._places(name)}
        places |= {place for name in said for place in self._places(name, SAID)}
        return Unit(frozenset(places), frozenset(names), frozenset(strings))

    def _places(self, name: str, how: str = "") -> Iterator[Place]:
        """The module of ours that this is or lies in, and the packages around it."""
        part = WHOLE
        while name:
            if name in self.paths:
                yield self.paths[name], part
                part = BODY
            name, _, last = name.rpartition(".")
            part = how + last if part != BODY else BODY


def _module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _templates(tree: ast.AST) -> Iterator[str]:
    """The paths that are told to a router, or to a route."""
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)) if TEMPLATE.fullmatch(text):
                yield text


def _words(strings: Iterable[str]) -> frozenset[str]:
    return frozenset(word for text in strings for word in WORD.findall(text))


def _is_autouse(function: ast.FunctionDef) -> bool:
    return any("autouse" in ast.dump(mark) for mark in function.decorator_list)


def _lies_under(test: str, conftest: str) -> bool:
    return test.startswith(conftest.removesuffix("conftest.py"))
