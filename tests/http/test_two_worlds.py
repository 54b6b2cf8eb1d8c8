"""Two ledgers that differ only in what a viewpoint may not see are answered alike, to the byte.

Every route, page and format there is, found in the application itself: whoever adds one is asked.
Commitments stand for values that differ, so they are stubbed, and nothing else is.
"""

from pathlib import Path

import pytest

from events.commitments import Nonces
from tests.http.worlds import addresses, answer, worlds


@pytest.fixture(autouse=True)
def stubbed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every commitment and nonce is the same."""
    monkeypatch.setattr("events.lines.commitment", lambda nonce, value: "0" * 64)
    monkeypatch.setattr(Nonces, "of", lambda self, stream, index, field: bytes(32))


@pytest.mark.parametrize("view", ["public", "seat:lynx"])
def test_no_address_tells_one_world_from_the_other(view: str, tmp_path: Path) -> None:
    one, other = worlds(tmp_path, view)
    told: list[str] = []
    asked = list(addresses())
    for address in asked:
        first, second = answer(one, address, view), answer(other, address, view)
        assert first[0] < 500, address
        if first != second:
            told.append(address)
    assert [] == told
    assert 80 < len(asked)


def test_an_auditor_tells_them_apart(tmp_path: Path) -> None:
    """Else the test above would prove nothing."""
    one, other = worlds(tmp_path, "public")
    for address in (
        "/api/v1/hands/auction/2/events",
        "/api/v1/hands/swap/2/frames",
        "/api/v1/exports/events?format=csv",
        "/api/v1/sql?q=SELECT * FROM bids&format=csv",
        "/hands/auction/2/events",
    ):
        first, second = answer(one, address, "auditor"), answer(other, address, "auditor")
        assert (200, 200) == (first[0], second[0])
        assert first[2] != second[2], address
