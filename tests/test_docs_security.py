"""Every attack of docs/security.md has a test, and every test that it names is there."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/security.md").read_text("utf-8")
TABLE = PAGE.partition("## Attacks, and what holds each")[2].partition("\n## ")[0]
ROWS = [line.strip("| ").split(" | ") for line in TABLE.splitlines() if line.startswith("| ")][1:]
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py(?:::\w+)?)`", PAGE)))


@cache
def functions_of(path: Path) -> set[str]:
    """The functions of a file that pytest runs."""
    tree = ast.parse(path.read_text("utf-8"))
    found = {one.name for one in tree.body if isinstance(one, ast.FunctionDef)}
    return {name for name in found if name.startswith("test_")}


def missing(named: str) -> str | None:
    """Why a test that is named is none."""
    path, _, name = named.partition("::")
    if not (ROOT / path).exists():
        return f"{path} is not there"
    known = functions_of(ROOT / path)
    if not known or (name and name not in known):
        return f"{path} has no {name or 'test'}"
    return None


@pytest.mark.parametrize("named", NAMED)
def test_a_test_that_is_named_is_there(named: str) -> None:
    assert missing(named) is None


def test_every_attack_has_a_test() -> None:
    attacks = [row for row in ROWS if not row[0].startswith("**")]
    assert len(attacks) >= 30
    assert [] == [row[0] for row in attacks if "`tests/" not in row[-1]]


def test_a_test_that_is_gone_would_be_found() -> None:
    here = "tests/test_docs_security.py"
    assert f"{here} has no test_gone" == missing(f"{here}::test_gone")
    assert "tests/gone.py is not there" == missing("tests/gone.py::test_x")
    assert missing(f"{here}::test_every_attack_has_a_test") is None


@pytest.mark.parametrize("page", ["README.md", "docs/serving.md", "docs/trust.md", "SECURITY.md"])
def test_it_is_linked_from(page: str) -> None:
    assert "security.md)" in (ROOT / page).read_text("utf-8")
