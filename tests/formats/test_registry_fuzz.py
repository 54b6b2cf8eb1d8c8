"""Any bytes at all: a file's format is known, or the file is refused with line and reason."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from formats.registry import FORMATS, Format, format_of, read
from formats.source import Refused
from tests.profiles import sized

BEGINNINGS = (
    b"6.9630 MIT Pokerbots - A vs B\n\nRound #1, A (0), B (0)\n",
    b"STATE:0:cr300f:AsKd|2c2d:-100|100:A|B\n",
    b"# name/game/hands/seed 2p holdem 1000 0\n",
    b"variant = 'NT'\nantes = [0, 0]\n",
    b"[1]\nvariant = 'F2L3D'\n",
    b"PokerStars Hand #1:  Hold'em No Limit ($5/$10 USD) - 2024/01/01 12:00:00 ET\n",
    b'{"ohh": {"spec_version": "1.2.2"}}',
    b"<<<<<<< HEAD\n",
    b"\x1f\x8b\x08PAR1PK\x03\x04",
    "\ufeffhands".encode("utf-16-le"),
)


@st.composite
def spoilt(draw: st.DrawFn) -> bytes:
    """Pieces of all formats, some cut, some with bytes put between, in any of their encodings."""
    pieces = st.one_of(st.sampled_from(BEGINNINGS), st.binary(max_size=40))
    joined = b"".join(draw(st.lists(pieces, max_size=5)))
    cut = draw(st.integers(0, len(joined)))
    put = draw(st.binary(max_size=4))
    text = joined[:cut] + put + joined[cut + draw(st.integers(0, 3)) :]
    if draw(st.booleans()):
        return text
    encoding = draw(st.sampled_from(["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig", "cp1252"]))
    return text.decode("latin-1").encode(encoding, "replace")


@settings(
    max_examples=sized(60, 150, 600), suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(spoilt())
def test_any_bytes_are_known_or_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    try:
        found = format_of(path)
    except Refused as refused:
        _is_told(refused, data)
    else:
        assert found is FORMATS[found.name]


@settings(
    max_examples=sized(40, 100, 300), suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(spoilt(), st.sampled_from([one for one in FORMATS.values() if one.name != "irc"]))
def test_any_bytes_are_read_or_refused_by_every_reader(
    tmp_path: Path, data: bytes, named: Format
) -> None:
    """Also by one that the file is not for: --format names whichever it likes."""
    path = tmp_path / "file"
    path.write_bytes(data)
    try:
        for hand in read(path, named).hands:
            assert hand.line >= 0
    except Refused as refused:
        _is_told(refused, data)


@pytest.mark.parametrize("data", BEGINNINGS)
def test_every_beginning_is_of_one_format_at_most(tmp_path: Path, data: bytes) -> None:
    head = data.decode("latin-1").splitlines()
    assert sum(one.begins(head) for one in FORMATS.values()) <= 1


def _is_told(refused: Refused, data: bytes) -> None:
    assert 0 <= refused.line <= data.count(b"\n") + data.count(b"\r") + 60
    assert refused.reason
    assert "\n" not in refused.reason
