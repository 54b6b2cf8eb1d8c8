"""A cursor goes on in the list that it was written of, and tells nobody where that is."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.http.access import Access, Caller
from api.http.cursors import CURSORS_FILE, KEY_BYTES, Cursors, cursor_key
from api.http.ledger_service import LedgerService, Settings
from api.problem import Problem
from store.proof.ledger_secrets import SecretExposed

OURS = Cursors(b"k" * KEY_BYTES)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=20),
    lambda part: st.lists(part, max_size=3),
    max_leaves=5,
)


@given(PLAIN, st.text(max_size=30))
def test_a_cursor_is_read_as_it_was_written(last: Any, about: str) -> None:
    cursor = OURS.encode(last, about)
    assert cursor.isascii()
    assert last == OURS.decode(cursor, about)
    assert cursor == OURS.encode(last, about)


@pytest.mark.parametrize(
    "about",
    [("/hands", "public", "pot>100"), ("/hands", "public", ""), ("/hands", "seat:lynx", "pot>10")],
)
def test_a_cursor_of_another_list_opens_nothing(about: tuple[str, ...]) -> None:
    cursor = OURS.encode([17], "/hands", "public", "pot>10")
    with pytest.raises(Problem) as refused:
        OURS.decode(cursor, *about)
    assert refused.value.kind == "wrong-cursor"


@given(st.text(max_size=100))
def test_what_was_made_up_opens_nothing(cursor: str) -> None:
    with pytest.raises(Problem) as refused:
        OURS.decode(cursor, "/hands")
    assert refused.value.kind == "wrong-cursor"


def test_a_changed_cursor_opens_nothing() -> None:
    cursor = OURS.encode([17], "/hands")
    for place in range(len(cursor)):
        other = "A" if cursor[place] != "A" else "B"
        with pytest.raises(Problem):
            OURS.decode(cursor[:place] + other + cursor[place + 1 :], "/hands")


def test_a_cursor_of_another_ledger_opens_nothing() -> None:
    with pytest.raises(Problem):
        OURS.decode(Cursors(b"l" * KEY_BYTES).encode([17], "/hands"), "/hands")


def test_how_many_digits_a_key_has_is_not_to_be_seen() -> None:
    """A number of a hand among all that closed would tell what closed besides."""
    lengths = {len(OURS.encode([10**digits, "scrim"], "/hands")) for digits in range(15)}
    assert 1 == len(lengths)
    assert "scrim" not in json.dumps(OURS.encode([1, "scrim"], "/hands"))


def test_every_worker_reads_what_another_wrote(tmp_path: Path) -> None:
    """Each has its own service over the same folder; whoever is first draws the key."""
    one, other = (LedgerService(Settings(tmp_path / "ledger")) for _ in range(2))
    viewer = Caller().viewer(None)
    cursor = Access(Caller(), viewer, one, "/hands").next_cursor([17], "pot>10")
    assert [17] == Access(Caller(), viewer, other, "/hands").cursor_key(cursor, "pot>10")
    assert (tmp_path / "ledger/private" / CURSORS_FILE).stat().st_mode & 0o777 == 0o600


def test_the_end_of_a_list_has_no_cursor(tmp_path: Path) -> None:
    asked = Access(Caller(), Caller().viewer(None), LedgerService(Settings(tmp_path)), "/hands")
    assert asked.next_cursor(None) is None
    assert asked.cursor_key(None) is None


def test_a_key_that_others_can_read_seals_nothing(tmp_path: Path) -> None:
    cursor_key(tmp_path)
    (tmp_path / "private" / CURSORS_FILE).chmod(0o644)
    with pytest.raises(SecretExposed):
        cursor_key(tmp_path)
