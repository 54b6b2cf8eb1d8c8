"""Foreign text on a terminal: nothing of it steers the terminal or ends a line."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.printable import printable
from tests.sessions import Captured, printed

NAMED = """\
variant = "NT"
antes = [0, 0]
blinds_or_straddles = [1, 2]
min_bet = 2
starting_stacks = [100, 100]
players = ["\\u001b[2J\\u001b[31mann", "bo\\nAGREE"]
actions = ["d dh p1 AsAh", "d dh p2 KsKh", "p2 f"]
"""


@given(st.text(st.characters()))
def test_it_is_one_line_and_all_else_is_as_it_was(text: str) -> None:
    said = printable(text)
    assert 1 >= len(said.splitlines())
    assert said == text or "\\" in said
    assert "\x1b" not in said
    said.encode()


def test_what_is_no_control_stays() -> None:
    text = "Zoë\u00a0日本 $5: folds 👩\u200d🚀"
    assert text == printable(text)
    assert "\\x1b[31mann" == printable("\x1b[31mann")
    assert "a\\nb" == printable("a\nb")
    assert "abc\\u202ecba" == printable("abc\u202ecba")


@pytest.mark.parametrize("words", [["import"], ["matches"], ["stats"], ["audit"], ["replay"]])
def test_no_command_lets_a_name_through_to_the_terminal(
    capsys: Captured, tmp_path: Path, words: list[str]
) -> None:
    file = tmp_path / "\x1b[31mred\n.phh"
    file.write_text(NAMED)
    ledger = ("--ledger", str(tmp_path / "ledger"))
    told = printed(capsys, "import", str(file), *ledger)
    match = told.splitlines()[1].split()[0]
    if words[0] in ("audit", "replay"):
        words = [*words, f"{match}/1"]
    if words != ["import"]:
        told = printed(capsys, *words, *ledger)
    assert "\x1b" not in told
    assert "\nAGREE" not in told
    assert "mann" in told
