"""A text is looked at in large pieces for damage; told of it is what every line would tell."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from formats.pokerstars import text
from formats.source import Refused

MOST = 12  # characters of a line, and of a piece
SEAM = "<<<<<<< b"


@given(
    st.lists(st.sampled_from([SEAM, "a", "bc", "\n", "\n", "\r\n", "\r", "\0", " "]), max_size=20)
)
@example(["a", "\n", SEAM, "\n", "a"])
@example(["a"] * 9 + ["\n", SEAM])
@example(["a", "\n", *["a"] * 14, "\n"])
@example(["a"] * 11 + ["\n"])
@example(["a"] * 12)
def test_pieces_have_the_lines_and_the_damage_of_the_whole(parts: list[str]) -> None:
    source, found = "".join(parts), list[str]()
    with pytest.MonkeyPatch.context() as small:
        small.setattr(text, "LINE_MAX", MOST)
        try:
            found.extend(text._lines(source))
            refused = None
        except Refused as reason:
            refused = (reason.line, reason.reason.split(":")[0])
    assert line_by_line(source) == (found, refused)


def line_by_line(source: str) -> tuple[list[str], tuple[int, str] | None]:
    """The lines before the first that shows damage, and what it shows."""
    sound: list[str] = []
    lines = source.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for number, line in enumerate(lines if lines[-1] else lines[:-1], 1):
        if len(line) >= MOST:
            return sound, (number, f"a line of more than {MOST - 1} characters")
        if "\0" in line:
            return sound, (number, "a zero byte")
        if line.startswith("<<<<<<< "):
            return sound, (number, "a mark of a failed merge")
        sound.append(line)
    return sound, None
