"""A sealed ledger and its archive, for each test its own."""

from pathlib import Path

import pytest

from tests.archive.ledgers import grow, push


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    folder = tmp_path / "ledger"
    grow(folder, 1, 30, opened=True)
    return folder


@pytest.fixture
def archive(tmp_path: Path, ledger: Path) -> Path:
    folder = tmp_path / "archive"
    push(ledger, folder)
    return folder
