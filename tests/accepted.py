"""`./mr accept`: of all tests, or of those that are named, the ones that rewrite something."""

from pathlib import Path

import pytest

REWRITES = "accept: bool"  # the fixture, as a test asks for it


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """No other file is imported: it would take a minute."""
    is_test = collection_path.match("test_*.py")
    return True if is_test and REWRITES not in collection_path.read_text("utf-8") else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """No other test of these files is run."""
    rewriting = [each for each in items if "accept" in getattr(each, "fixturenames", ())]
    config.hook.pytest_deselected(items=[each for each in items if each not in rewriting])
    items[:] = rewriting
