"""Texts of foreign files: decoded at once they have the lines that they have piece by piece."""

from pathlib import Path

import pytest

from formats.source import Refused, decoded_if_small, lines

TEXT = "Zoë bets\r\n\r\nBob calls\rannounced\x85so\n\x0cend"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
def test_a_small_file_has_the_same_lines_at_hand(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "hands.phh"
    path.write_bytes(TEXT.replace("\x85", "…").encode(encoding))
    for text in (path, path.read_bytes()):
        found = decoded_if_small(text)
        assert isinstance(found, str)
        assert list(lines(text)) == list(lines(found))


def test_what_is_large_or_no_text_is_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "hands.phh"
    path.write_bytes(b"a line\n" * 100_000)
    assert path == decoded_if_small(path)
    for wrong in (b"\x81\x8d\x00", b"fine\x00"):
        path.write_bytes(wrong)
        with pytest.raises(Refused, match="this is no text"):
            decoded_if_small(path)
