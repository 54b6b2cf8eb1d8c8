"""A ledger that a newer program wrote: each door says so in one sentence, and changes nothing."""

from pathlib import Path

import pytest

from store.columns.layout import SCHEMA_VERSION
from store.ledger import open_ledger
from store.segments import sealed_segments
from store.tables.projection import STANDARD
from tests.http.clients import site_of
from tests.sessions import Captured, printed, said

NEWER = SCHEMA_VERSION + 1
SENTENCE = "a newer muckrake wrote this ledger, and reads it"


@pytest.fixture
def newer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> Path:
    """Five hands in a segment of the layout after today's."""
    folder = tmp_path / "ledger"
    monkeypatch.setenv("MUCKRAKE_LEDGER", str(folder))
    printed(capsys, "play", "auction-2024", "--hands", "5", "--seed", "7", "--match", "m")
    with monkeypatch.context() as later:
        later.setattr(sealed_segments, "SCHEMA_VERSION", NEWER)
        ledger, lock = open_ledger(folder, "test", STANDARD)
        ledger.seal()
        ledger.close()
        lock.release()
    return folder


@pytest.mark.parametrize(
    "words",
    [
        ("replay", "m/1"),
        ("audit", "m/1"),
        ("sql", "SELECT count(*), sum(amount) FROM events"),
        ("verify", "--all"),
        ("export", "m", "--format", "mit-gamelog"),
    ],
    ids=lambda words: str(words[0]),
)
def test_a_command_says_so(newer: Path, capsys: Captured, words: tuple[str, ...]) -> None:
    before = {path: path.read_bytes() for path in newer.rglob("*") if path.is_file()}
    layouts = f"layout {NEWER} of its segments is newer than {SCHEMA_VERSION}"
    assert f"{SENTENCE}: {layouts}" in said(capsys, 1, *words)
    assert before == {path: path.read_bytes() for path in newer.rglob("*") if path.is_file()}


@pytest.mark.parametrize("address", ["/api/v1/hands/m/1", "/api/v1/hands/m/1/audit"])
def test_a_server_says_so(newer: Path, address: str) -> None:
    answer = site_of(newer).as_("auditor").get(address)
    assert (answer.status_code, answer.json()["detail"]) == (503, SENTENCE)
