"""What `./mr house` counts, on houses of a few lines."""

import ast
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests import house


def made(root: Path, files: Mapping[str, str]) -> Path:
    for path, text in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return root


FILES = {
    "events/__init__.py": '"""A package of which nothing is said."""\n',
    "events/a.py": '"""A."""\n\nfrom events import b\n\nx = b\n',
    "events/b.py": "def f():\n    from events.a import x\n    return x\n",
    "store/c.py": "import events.b\nimport numpy\n",
}


def test_lines_statements_and_modules(tmp_path: Path) -> None:
    counted = house.counted(made(tmp_path, FILES), asked=False)
    assert ("10", "8", "2") == (
        counted["lines"],
        counted["lines of events"],
        counted["lines of store"],
    )
    assert "8" == counted["statements"]
    assert "3" == counted["modules"]


def test_who_has_one_importer_and_who_is_in_a_circle(tmp_path: Path) -> None:
    """An import inside a function counts: only `b` imports `a`, but `a` and `c` import `b`."""
    counted = house.counted(made(tmp_path, FILES), asked=False)
    assert "33 % (1 of 3)" == counted["modules with one importer"]
    assert "1" == counted["circles of imports"]


@pytest.mark.parametrize(
    ("imports", "expected"),
    [
        ({"a": {"b"}, "b": {"c"}, "c": set()}, []),
        ({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}, [{"a", "b", "c"}]),
        ({"a": {"b"}, "b": {"a", "c"}, "c": {"d"}, "d": {"c"}}, [{"c", "d"}, {"a", "b"}]),
    ],
)
def test_circles(imports: Mapping[str, set[str]], expected: list[set[str]]) -> None:
    frozen = {path: frozenset(others) for path, others in imports.items()}
    assert expected == [set(ring) for ring in house.circles(frozen)]


def test_callers_of_private_functions() -> None:
    """One that only names itself has none."""
    text = """
def public():
    return _once() + _twice() + _twice()

def _once():
    return 1

def _twice():
    return 2

def _never():
    return _never()
"""
    assert [1, 2, 0] == list(house.private_callers(ast.parse(text)))


@pytest.mark.slow  # a figure of `./mr house`, which nothing that users run depends on
def test_a_page_is_asked_and_what_it_enters_is_counted() -> None:
    """Only files of the rooms count, and among them are the page and the database's door."""
    files = {"api/pages/winnings.py", "store/sql/query.py", "tests/house.py"}
    found = house.entered(house.ROOT, files)
    assert "2 (" == found[:3]


def test_a_table_stands_beside_what_it_must_come_to() -> None:
    printed = house.table({"before": {"lines": "60,000"}, "now": {"lines": "50,000"}})
    assert (
        "| what  | before | now    | must   | aim    |\n"
        "| ----- | ------ | ------ | ------ | ------ |\n"
        "| lines | 60,000 | 50,000 | 52,000 | 45,000 |"
    ) == printed


@pytest.mark.skipif(not (house.ROOT / ".git").exists(), reason="not a git checkout")
def test_a_commit_that_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert 1 == house.main(["no-such-commit"])
    assert capsys.readouterr().err.startswith("mr house: fatal: not a valid object name")
