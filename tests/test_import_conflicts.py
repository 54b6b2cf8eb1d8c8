"""What a conflict between two texts of one hand comes to later: audits of all, and `--strict`."""

import json
from pathlib import Path

import pytest

from api.main import main
from tests.sessions import Captured, printed
from tests.test_import_again import changed, hands, imported, ledger, stars

__all__ = ["ledger", "stars"]  # the fixtures that pytest finds here


def test_an_audit_of_all_says_which_matches_have_conflicts(
    stars: list[str], capsys: Captured, tmp_path: Path
) -> None:
    """By the exit code that an import has for them; of hands that only come again nothing."""
    imported(capsys, tmp_path, "a.txt", "".join(stars[:3]))
    imported(capsys, tmp_path, "same.txt", stars[3] + stars[0])
    assert {} == json.loads(printed(capsys, "audit", "--all", "--json"))["conflicts"]
    one = imported(capsys, tmp_path, "b.txt", changed(stars[0]) + stars[4], code=3)
    for words in ((), ("--engine",)):
        text = printed(capsys, "audit", "--all", "--json", *words, code=3)
        assert {one["match"]: 1} == json.loads(text)["conflicts"]
    assert main(["audit", "--all"]) == 3
    said = f"{one['match']} was imported without 1 hands that contradict one of the ledger"
    assert said in capsys.readouterr().err


def test_a_file_of_nothing_but_a_conflict_is_no_match_of_the_list(
    stars: list[str], capsys: Captured, tmp_path: Path
) -> None:
    """Its notes stay, and an audit of all tells of them."""
    imported(capsys, tmp_path, "a.txt", "".join(stars[:3]))
    one = imported(capsys, tmp_path, "b.txt", changed(stars[0]), code=3)
    listed = json.loads(printed(capsys, "matches", "--json"))["matches"]
    assert [3] == [it["hands"] for it in listed]
    audited = json.loads(printed(capsys, "audit", "--all", "--json", code=3))
    assert {one["match"]: 1} == audited["conflicts"]


@pytest.mark.parametrize("within", [False, True], ids=["of another file", "of the same file"])
def test_strict_refuses_a_file_with_a_conflict(
    within: bool, stars: list[str], capsys: Captured, tmp_path: Path, ledger: Path
) -> None:
    """Nothing of it comes in, and what it is said to hold is not known by it afterwards."""
    imported(capsys, tmp_path, "a.txt", "".join(stars[:3]))
    before = hands(ledger)
    text = stars[4] + (stars[3] if within else "") + changed(stars[3 if within else 0])
    one = imported(capsys, tmp_path, "b.txt", text, "--strict", code=1)
    assert (None, 0) == (one["hands"], one["imported"])
    assert text.rpartition("PokerStars ")[0].count("\n") + 1 == one["refused"]["line"]
    assert "board [Kd Td 7h]" in one["refused"]["reason"] or within
    assert "(under --strict no hand contradicts another)" in one["refused"]["reason"]
    assert before == hands(ledger)
    again = imported(capsys, tmp_path, "c.txt", "".join((stars[4], stars[0])), "--strict")
    assert (1, 1) == (again["imported"], again["repeated"])
