"""The house rules that no other tool knows: who may import whom, purity, and a few of style.

Every complaint reads `path:line: sentence`, and every check is shown a bad sample it must find.
"""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import pytest

from tests import house

ROOT = house.ROOT

# Room by room, the rooms it may import: `ARCHITECTURE.md` draws the same arrows.
MAY_IMPORT: dict[str, frozenset[str]] = {
    "events": frozenset(),
    "odds": frozenset({"events"}),
    "engine": frozenset({"events", "odds"}),
    "store": frozenset({"events"}),
    "dealer": frozenset({"events", "odds", "engine"}),
    "formats": frozenset({"events", "odds", "engine"}),
    "analytics": frozenset({"events", "odds", "engine", "store"}),
    "api": frozenset({"events", "odds", "engine", "store", "dealer", "formats", "analytics"}),
    "muckrake": frozenset({"events", "odds", "engine", "store", "dealer", "analytics", "api"}),
}
# Rooms inside a room, from the ground up: each imports those below it; "" is the outer room itself.
FLOORS: dict[str, tuple[str, ...]] = {
    "store": ("folder", "log", "proof", "columns", "tables", "segments", "archive", "", "sql"),
    "analytics": (
        *("sql", "intervals", "p_values", "replay", "decisions", "batch_audit", "projections"),
        *("statistics", "auctions", "fairness", "luck", "results", "opponents"),
        *("ratings", "player_comparison", ""),
    ),
    "api": (
        *("", "auditing", "playing", "viewpoints", "evidence", "exporting", "importing"),
        *("questions", "jobs", "cluster", "http", "pages", "serving", "cli", "main"),
    ),
}
WORKSHOPS = frozenset({"tests", "bench", "docs"})  # they may import every room
PURE = frozenset({"events", "engine"})
PURE_ODDS = ("odds.rank", "odds.tables")
IMPURE = frozenset(
    {"random", "secrets", "uuid", "time", "datetime", "os", "io", "pathlib", "tempfile", "shutil"}
    | {"threading", "asyncio", "multiprocessing", "subprocess", "socket", "sqlite3", "logging"}
)
DOORS = frozenset({"open", "input", "print", "exec", "eval", "__import__", "float"})
PATH_DOORS = frozenset({"read_text", "read_bytes", "write_text", "write_bytes"})
LINES_MAX = 400
LONG = {
    "mr": "a program that starts alone, on any Python, before anything of ours can be imported",
    "engine/catalogue.py": "a list: one entry per policy value, with the sentence that it means",
    "dealer/wire/launcher.py": "a program that starts alone: nothing of ours can be imported there",
    "api/evidence/verify.py": "it lies alone in every bundle: an auditor reads one file",
}
MARKS = re.compile("|".join(rf"\b{a}{b}\b" for a, b in (("TO", "DO"), ("FIX", "ME"), ("XX", "X"))))
OPENING = re.compile(r'(?:#.*\n)*""".*?"""[ \t]*\n', re.DOTALL)
NO_NOUNS = {
    "Told": "name what it is, an event, a row, a field",
    "Beside": "name the table that is joined",
    "Apart": "name what is compared",
}
HEAVY = ("duckdb", "pyarrow", "fastapi", "numpy", "polars", "uvicorn")


@dataclass(frozen=True)
class Module:
    """One file of ours, read; and parsed, once, if a check asks for it."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All of the tree."""
        return tuple(ast.walk(self.tree))

    @property
    def room(self) -> str:
        return self.path.split("/")[0]

    @property
    def floor(self) -> str:
        """The room inside the room; "" for what lies in the outer one and is no floor itself."""
        inner = self.path.partition("/")[2].split("/")[0].removesuffix(".py")
        return inner if inner in FLOORS.get(self.room, ()) else ""


Found = Iterator[tuple[int, str]]


def who_imports_whom(module: Module) -> Found:
    """The arrows between the rooms."""
    rooms = {*MAY_IMPORT, *WORKSHOPS}
    if module.room == "tests":
        return  # they import every room, and one another
    for line, name in _imports(module):
        other = name.split(".")[0]
        if other not in rooms or other == module.room:
            continue
        if module.room in MAY_IMPORT and other not in MAY_IMPORT[module.room]:
            yield line, f"{module.room} may not import {other}"
        elif other == "tests":
            yield line, f"nothing imports tests, and {module.room} does"


def inner_rooms_look_down(module: Module) -> Found:
    """Inside a room no arrow runs up, and so none in a circle."""
    floors = FLOORS.get(module.room, ())
    if module.floor not in floors or module.path.endswith("/__init__.py"):
        return
    for line, name in _imports(module):
        outer, _, rest = name.partition(".")
        if outer != module.room:
            continue
        inner = rest.split(".")[0] if rest.split(".")[0] in floors else ""
        if floors.index(inner) > floors.index(module.floor):
            yield line, f"{module.room}/{module.floor} may not import {name}, which is above it"


def only_the_pure_part_of_odds(module: Module) -> Found:
    """The engine asks what a hand is worth, and nothing that needs numpy."""
    if module.room != "engine":
        return
    for line, name in _imports(module):
        if name.split(".")[0] == "odds" and name not in PURE_ODDS:
            yield line, f"engine imports only {' and '.join(PURE_ODDS)}, not {name}"


def pure_ranks(module: Module) -> Found:
    """`odds/rank.py` and `odds/tables.py` are pure Python."""
    if module.path in ("odds/rank.py", "odds/tables.py"):
        for line, name in _imports(module):
            top = name.split(".")[0]
            if top not in sys.stdlib_module_names and name not in PURE_ODDS:
                yield line, f"{module.path} is pure Python, and {name} is not"


def no_clock_no_chance_no_door(module: Module) -> Found:
    """No randomness, clock or I/O in `events/` and `engine/` (law 4)."""
    if module.room not in PURE:
        return
    for line, name in _imports(module):
        if name.split(".")[0] in IMPURE:
            yield line, f"{module.room} is pure: it may not import {name}"
    for node in module.nodes:
        if isinstance(node, ast.Call):
            match node.func:
                case ast.Name(id=called) if called in DOORS:
                    yield node.lineno, f"{module.room} is pure: it may not call {called}()"
                case ast.Attribute(attr=called) if called in PATH_DOORS:
                    yield node.lineno, f"{module.room} is pure: it may not call {called}()"


def no_float(module: Module) -> Found:
    """Whole numbers for chips, `Fraction` for odds."""
    if module.room in PURE:
        for node in module.nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, float | complex):
                yield node.lineno, f"{node.value} is a float: chips are whole numbers"


def a_sentence_first(module: Module) -> Found:
    """Every module opens with a docstring that says what lives here."""
    head = OPENING.match(module.text)  # the rest of the file need not be parsed for it
    docstring = ast.get_docstring(ast.parse(head[0]) if head else module.tree)
    if not docstring:
        yield 1, "a module opens with one sentence that says what lives here"
    elif not re.search(r"[.:?!]$", docstring.split("\n\n")[0].strip()):
        yield 1, "the first paragraph of a module is a sentence: it ends with a full stop"


def not_too_long(module: Module) -> Found:
    """A file that needs more is two files, or a list."""
    lines = len(module.text.splitlines())
    if lines > LINES_MAX and module.path not in LONG:
        yield LINES_MAX, f"{lines} lines, and {LINES_MAX} are many: make it two files"


def nothing_left_for_later(module: Module) -> Found:
    """What is to be done stands in an issue."""
    for number, line in enumerate(module.text.splitlines(), start=1):
        if found := MARKS.search(line):
            yield number, f"{found[0]}: do it now, or write an issue"


def names_that_others_search_for(module: Module) -> Found:
    """A class is called by a noun of poker, databases or the web, and each of these is gone."""
    if module.room in MAY_IMPORT:
        for node in module.nodes:
            if isinstance(node, ast.ClassDef) and node.name.strip("_") in NO_NOUNS:
                yield node.lineno, f"{node.name} says nothing: {NO_NOUNS[node.name.strip('_')]}"


CHECKS: tuple[Callable[[Module], Found], ...] = (
    who_imports_whom,
    inner_rooms_look_down,
    only_the_pure_part_of_odds,
    pure_ranks,
    no_clock_no_chance_no_door,
    no_float,
    a_sentence_first,
    not_too_long,
    nothing_left_for_later,
    names_that_others_search_for,
)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_house_is_tidy(check: Callable[[Module], Found]) -> None:
    assert [] == _house()[0][check]


def test_there_is_no_circle_in_this_house() -> None:
    assert [] == [sorted(ring) for ring in house.circles(_house()[1])]


def test_every_room_has_its_arrows() -> None:
    rooms = {package.parent.name for package in ROOT.glob("[a-z]*/__init__.py")}
    assert set() == rooms - {*MAY_IMPORT, *WORKSHOPS}


def test_every_inner_room_has_its_floor_and_says_what_lives_there() -> None:
    for room, floors in FLOORS.items():
        inner = {one.parent.name for one in (ROOT / room).glob("*/__init__.py")}
        files = {one.stem for one in (ROOT / room).glob("*.py")}  # a room may be a file
        assert inner == set(floors) - {"", *files}


def test_long_files_are_excused_only_while_they_are_long() -> None:
    for path in LONG:
        assert LINES_MAX < len((ROOT / path).read_text().splitlines())


def test_no_two_files_of_tests_have_one_name() -> None:
    """pytest imports them by their names alone, and stops at the second."""
    names = [file.name for file in (ROOT / "tests").rglob("test_*.py")]
    assert [] == sorted(name for name in set(names) if names.count(name) > 1)


HELLO = '"""A room."""\n'
BAD: tuple[tuple[Callable[[Module], Found], str, str, str], ...] = (
    (who_imports_whom, "events/a.py", "import engine.hand", "2: events may not import engine"),
    (who_imports_whom, "events/a.py", "from odds import rank", "2: events may not import odds"),
    (who_imports_whom, "odds/a.py", "import engine", "2: odds may not import engine"),
    (who_imports_whom, "engine/a.py", "import dealer", "2: engine may not import dealer"),
    (who_imports_whom, "store/a.py", "from engine import hand", "2: store may not import engine"),
    (who_imports_whom, "dealer/a.py", "import store.log", "2: dealer may not import store"),
    (who_imports_whom, "formats/a.py", "import dealer", "2: formats may not import dealer"),
    (who_imports_whom, "analytics/a.py", "import api", "2: analytics may not import api"),
    (who_imports_whom, "api/a.py", "import tests.hands", "2: api may not import tests"),
    (who_imports_whom, "bench/a.py", "import tests.x", "2: nothing imports tests, and bench does"),
    (
        who_imports_whom,
        "engine/a.py",
        "def f() -> None:\n    from api import main",
        "3: engine may not import api",
    ),
    (
        inner_rooms_look_down,
        "store/log/a.py",
        "from store.segments import sealed",
        "2: store/log may not import store.segments, which is above it",
    ),
    (
        inner_rooms_look_down,
        "store/proof/a.py",
        "from store.reader import Reader",
        "2: store/proof may not import store.reader, which is above it",
    ),
    (
        only_the_pure_part_of_odds,
        "engine/a.py",
        "from odds import unseen",
        "2: engine imports only odds.rank and odds.tables, not odds.unseen",
    ),
    (
        only_the_pure_part_of_odds,
        "engine/a.py",
        "from odds.batch import value",
        "2: engine imports only odds.rank and odds.tables, not odds.batch",
    ),
    (pure_ranks, "odds/rank.py", "import numpy as np", "2: odds/rank.py is pure Python, and numpy"),
    (pure_ranks, "odds/tables.py", "from odds import batch", "and odds.batch is not"),
    (no_clock_no_chance_no_door, "engine/a.py", "import random", "2: engine is pure"),
    (no_clock_no_chance_no_door, "events/a.py", "from datetime import UTC", "2: events is pure"),
    (no_clock_no_chance_no_door, "engine/a.py", "import os.path", "2: engine is pure"),
    (no_clock_no_chance_no_door, "events/a.py", "f = open('x')", "it may not call open()"),
    (no_clock_no_chance_no_door, "events/a.py", "f = x.read_bytes()", "not call read_bytes()"),
    (no_float, "engine/a.py", "half = 0.5", "2: 0.5 is a float"),
    (no_float, "events/steps/a.py", "tiny = 1e-9", "2: 1e-09 is a float"),
    (not_too_long, "api/a.py", "x = 1\n" * 399, "400: 401 lines"),
    (names_that_others_search_for, "api/a.py", "class _Told: ...", "2: _Told says nothing: name"),
    (nothing_left_for_later, "mr", "# TO" + "DO: later", "2: TO" + "DO: do it now"),
)


@pytest.mark.parametrize(("check", "path", "text", "expected"), BAD)
def test_a_bad_sample_is_found(
    check: Callable[[Module], Found], path: str, text: str, expected: str, tmp_path: Path
) -> None:
    file = tmp_path / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(HELLO)
    assert [] == complaints(tmp_path, check)
    file.write_text(f"{HELLO}{text}\n")
    (complaint,) = complaints(tmp_path, check)
    assert complaint.startswith(f"{path}:")
    assert expected in complaint


@pytest.mark.parametrize("text", ["x = 1\n", '"""Not a sentence"""\n', '""""""\n'])
def test_a_module_without_its_sentence_is_found(text: str, tmp_path: Path) -> None:
    (tmp_path / "events").mkdir()
    (tmp_path / "events" / "a.py").write_text(text)
    (complaint,) = complaints(tmp_path, a_sentence_first)
    assert complaint.startswith("events/a.py:1: ")


def test_help_loads_nothing_heavy() -> None:
    """`muckrake --help` answers at once: no database, no web server, no columns."""
    assert [] == _loaded_by("from api.main import main", "main()")


def test_something_heavy_would_be_noticed() -> None:
    assert ["numpy"] == _loaded_by("import numpy", "print(1)")


def complaints(root: Path, check: Callable[[Module], Found]) -> list[str]:
    """Everything that one check finds, as `path:line: sentence`."""
    return [sentence for module in _modules(root) for sentence in _told(module, check)]


@cache
def _house() -> tuple[dict[Callable[[Module], Found], list[str]], dict[str, frozenset[str]]]:
    """What each check finds here, and what each module of a room imports: a file is parsed once."""
    found: dict[Callable[[Module], Found], list[str]] = {check: [] for check in CHECKS}
    known = house.named(one.path for one in _modules(ROOT) if one.room in MAY_IMPORT)
    imports = {}
    for module in _modules(ROOT):
        for check in CHECKS:
            found[check] += _told(module, check)
        if module.room in MAY_IMPORT:
            imports[module.path] = frozenset(house.imported(module.nodes, known)) - {module.path}
    return found, imports


def _told(module: Module, check: Callable[[Module], Found]) -> list[str]:
    return [f"{module.path}:{line}: {sentence}" for line, sentence in check(module)]


def _modules(root: Path) -> Iterator[Module]:
    """All Python of ours: nothing from hidden folders, environments or caches."""
    rooms = sorted({*MAY_IMPORT, *WORKSHOPS})
    files = [*(root / "mr",), *(file for room in rooms for file in (root / room).rglob("*.py"))]
    for file in sorted(file for file in files if file.exists()):
        text = file.read_text(encoding="utf-8")
        yield Module(file.relative_to(root).as_posix(), text)


def _imports(module: Module) -> Iterator[tuple[int, str]]:
    """Every module that is imported, wherever it stands: `from odds import rank` is `odds.rank`."""
    for node in module.nodes:
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            whole = node.module or ""
            names = (f"{whole}.{alias.name}" for alias in node.names)
            in_parts = whole in ("", *MAY_IMPORT)
            yield from ((node.lineno, name) for name in (names if in_parts else (whole,)))


def _loaded_by(setup: str, call: str) -> list[str]:
    """The heavy modules that a fresh Python has loaded after `muckrake --help`."""
    program = (
        f"import sys\nsys.argv = ['muckrake', '--help']\n{setup}\n"
        f"try:\n    {call}\nexcept SystemExit as end:\n    assert not end.code, end.code\n"
        f"print('loaded:', *sorted({set(HEAVY)!r} & set(sys.modules)))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert 0 == ran.returncode, ran.stderr
    return ran.stdout.splitlines()[-1].split()[1:]
