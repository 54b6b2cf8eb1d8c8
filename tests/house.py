"""`./mr house [COMMIT]` counts the structure of this checkout, and of another commit beside it."""

import argparse
import ast
import os
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("events", "odds", "engine", "store", "dealer", "formats", "analytics", "api", "muckrake")
ENTERED = "files entered by /players/X/bids"
GOALS = {  # what must be reached, what is aimed at
    "lines": ("52,000", "45,000"),
    "statements": ("33,000", "28,000"),
    "modules": ("330", "280"),
    "modules with one importer": ("12 %", "8 %"),
    "private functions with one caller": ("50 %", "40 %"),
    "circles of imports": ("0", "0"),
    ENTERED: ("45", "35"),
}
REQUEST = """
import sys, tempfile, threading
from pathlib import Path
from msgspec.structs import replace
from starlette.testclient import TestClient
from api.main import main
try:
    from api.serving.app import create_app
except ImportError:  # a commit from before that room
    from api.http.app import create_app
try:
    from api.http.ledger_service import LedgerService, Settings
except ImportError:  # and from before that name
    from api.http.desk import Desk as LedgerService, Settings

with tempfile.TemporaryDirectory() as folder:
    ledger = Path(folder) / "ledger"
    words = ["play", "auction-2024", "--hands", "60", "--seed", "7", "--match", "scrim"]
    sys.argv = ["muckrake", *words, "--disclosure", "open", "--ledger", str(ledger)]
    try:
        main()
    except SystemExit as end:
        assert not end.code, end.code
    settings = Settings(ledger)
    for name in ("page_processes", "pages"):  # else a process of its own would make the page
        if hasattr(settings.limits, name):
            settings = replace(settings, limits=replace(settings.limits, **{name: 0}))
    with TestClient(create_app(LedgerService(settings))) as site:
        entered = set()

        def called(frame, event, _):
            if event == "call":
                entered.add((frame.f_code.co_filename, frame.f_code.co_name))

        threading.setprofile(called)
        sys.setprofile(called)
        answer = site.get("/players/random-0/bids")
        sys.setprofile(None)
        threading.setprofile(None)
        assert answer.status_code == 200, answer.text
    print(*sorted({f"{file}:{name}" for file, name in entered}), sep="\\n")
"""  # of a program of its own, for the other commit's code cannot be loaded beside this one's


class Module(Struct, frozen=True):
    """One file of a room, parsed, and the files of ours that it imports wherever it does."""

    path: str
    lines: int
    tree: ast.Module
    imports: frozenset[str]


def main(words: list[str] | None = None) -> int:
    """Print the table; 1 if the other commit is none."""
    parser = argparse.ArgumentParser(prog="./mr house", description=__doc__)
    parser.add_argument("commit", nargs="?", help="a commit to stand beside")
    wanted = parser.parse_args(words)
    columns = {}
    if wanted.commit is not None:
        with tempfile.TemporaryDirectory() as folder:
            packed = subprocess.run(
                ["git", "archive", wanted.commit], cwd=ROOT, capture_output=True, check=False
            )
            if packed.returncode:
                print(f"mr house: {packed.stderr.decode().strip()}", file=sys.stderr)
                return 1
            subprocess.run(["tar", "-x", "-C", folder], input=packed.stdout, check=True)
            columns[wanted.commit] = counted(Path(folder))
    columns["now"] = counted(ROOT)
    print(table(columns))
    return 0


def table(columns: Mapping[str, Mapping[str, str]]) -> str:
    """The figures side by side, with what they must come to, as Markdown."""
    names = ["what", *columns, "must", "aim"]
    rows = [
        [what, *(column[what] for column in columns.values()), *GOALS.get(what, ("", ""))]
        for what in next(iter(columns.values()))
    ]
    widths = [max(len(row[at]) for row in [names, *rows]) for at in range(len(names))]
    lines = [names, ["-" * width for width in widths], *rows]
    return "\n".join(
        f"| {' | '.join(word.ljust(width) for word, width in zip(line, widths, strict=True))} |"
        for line in lines
    )


def counted(root: Path, *, asked: bool = True) -> dict[str, str]:
    """What there is, each figure under its name; a page is asked only if so wanted."""
    modules = list(read(root))
    importers: dict[str, set[str]] = defaultdict(set)
    for one in modules:
        for other in one.imports:
            importers[other].add(one.path)
    single = sum(len(importers[one.path]) == 1 for one in modules)
    callers = [count for one in modules for count in private_callers(one.tree)]
    found = {f"lines of {room}": 0 for room in ROOMS}
    for one in modules:
        found[f"lines of {one.path.split('/')[0]}"] += one.lines
    return {
        "lines": f"{sum(one.lines for one in modules):,}",
        **{what: f"{count:,}" for what, count in found.items()},
        "statements": f"{sum(statements(one.tree) for one in modules):,}",
        "modules": f"{len(modules):,}",
        "modules with one importer": share(single, len(modules)),
        "private functions with one caller": share(callers.count(1), len(callers)),
        "circles of imports": str(len(circles({one.path: one.imports for one in modules}))),
        **({ENTERED: entered(root, {one.path for one in modules})} if asked else {}),
    }


def entered(root: Path, paths: set[str]) -> str:
    """How many files and functions of ours one request of a page goes through, asked cold."""
    ran = subprocess.run(
        [sys.executable, "-c", REQUEST],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode:
        return "cannot be asked: " + ran.stderr.strip().splitlines()[-1][:60]
    ours = [line.partition(f"{root.resolve()}/")[2] for line in ran.stdout.splitlines()]
    functions = {line for line in ours if line.split(":")[0] in paths}
    return f"{len({line.split(':')[0] for line in functions})} ({len(functions)} functions)"


def share(part: int, whole: int) -> str:
    """A part in whole per cent."""
    return f"{100 * part / max(whole, 1):.0f} % ({part:,} of {whole:,})"


def read(root: Path) -> Iterator[Module]:
    """Every module of every room; the `__init__.py` that holds nothing but its sentence is none."""
    paths = [
        file.relative_to(root).as_posix() for room in ROOMS for file in (root / room).rglob("*.py")
    ]
    known = named(paths)
    for path in sorted(paths):
        text = (root / path).read_text(encoding="utf-8")
        tree = ast.parse(text)
        if not path.endswith("/__init__.py") or len(tree.body) > 1:
            yield Module(
                path,
                len(text.splitlines()),
                tree,
                frozenset(imported(ast.walk(tree), known)) - {path},
            )


def named(paths: Iterable[str]) -> dict[str, str]:
    """Each file by the name that it is imported by."""
    return {
        path.removesuffix(".py").removesuffix("/__init__").replace("/", "."): path for path in paths
    }


def imported(nodes: Iterable[ast.AST], known: Mapping[str, str]) -> Iterator[str]:
    """The files that a module of these nodes imports, inside functions, too."""
    for node in nodes:
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            whole = node.module or ""
            parts = [f"{whole}.{alias.name}" for alias in node.names]
            names = [part if part in known else whole for part in parts]
        else:
            continue
        yield from (known[name] for name in names if name in known)


def statements(tree: ast.Module) -> int:
    """Statements, docstrings among them."""
    return sum(isinstance(node, ast.stmt) for node in ast.walk(tree))


def private_callers(tree: ast.Module) -> Iterator[int]:
    """How often each private function of a module is named in it, outside of itself."""
    functions = [
        node
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("_")
    ]
    named = names(tree)
    for one in functions:
        yield named[one.name] - names(one)[one.name]


def names(tree: ast.AST) -> Counter[str]:
    """How often each name is used."""
    return Counter(
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    )


def circles(imports: Mapping[str, frozenset[str]]) -> list[frozenset[str]]:
    """Groups of files that import one another in a ring (Tarjan's strong components)."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    waiting: list[str] = []
    found: list[frozenset[str]] = []

    def visit(path: str) -> None:
        order[path] = low[path] = len(order)
        waiting.append(path)
        for other in sorted(imports.get(path, ())):
            if other not in order:
                visit(other)
                low[path] = min(low[path], low[other])
            elif other in waiting:
                low[path] = min(low[path], order[other])
        if low[path] == order[path]:
            at = waiting.index(path)
            ring = frozenset(waiting[at:])
            del waiting[at:]
            if len(ring) > 1:
                found.append(ring)

    for path in sorted(imports):
        if path not in order:
            visit(path)
    return found


if __name__ == "__main__":
    sys.exit(main())
