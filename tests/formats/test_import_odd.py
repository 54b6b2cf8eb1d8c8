"""Odd names, what is no file, endless words: each is refused or read, the others are imported."""

import hashlib
import os
from pathlib import Path
from typing import Any

import pytest

from api.importing.index import naming_of
from events.match import SourceNoted
from store.proof.ledger_secrets import SaltedSecret, SecretFolder
from tests.foreign import gamelog, opened
from tests.formats.test_format_irc import made_month
from tests.sessions import Captured, printed, told

ODD = os.fsdecode(b"odd \xff\xfe.txt")


def imported(capsys: Captured, folder: Path, *files: Path, code: int) -> list[dict[str, Any]]:
    ledger = ("--ledger", str(folder / "ledger"))
    found: list[dict[str, Any]] = told(capsys, "import", *map(str, files), *ledger, code=code)[
        "files"
    ]
    return found


def test_the_name_of_a_file_is_any_bytes(capsys: Captured, tmp_path: Path) -> None:
    odd = gamelog(tmp_path / ODD, rounds=3, seed="8")
    one, two = imported(capsys, tmp_path, odd, gamelog(tmp_path / "a.txt", rounds=3), code=0)
    assert (3, 3) == (one["imported"], two["imported"])
    assert r"odd \xff\xfe.txt" == Path(one["file"]).name
    with opened(tmp_path / "ledger") as ledger:
        (file,) = [
            one.event.header
            for one in ledger.read(one["match"])
            if isinstance(one.event, SourceNoted) and one.event.dialect == "file"
        ]
    assert r"odd \xff\xfe.txt" == file


def test_a_month_may_hold_players_of_any_bytes(capsys: Captured, tmp_path: Path) -> None:
    folder = made_month(tmp_path / "199504")
    (folder / "pdb" / os.fsdecode(b"pdb.\xff")).write_bytes(b"")
    (one,) = imported(capsys, tmp_path, folder, code=3)
    assert (3, 1, None) == (one["imported"], len(one["skipped"]), one["refused"])


def test_a_match_of_the_same_name_stops_no_other_file(capsys: Captured, tmp_path: Path) -> None:
    """Somebody played a match under the name that the content of a file has."""
    log, other = (gamelog(tmp_path / name, rounds=3, seed=name) for name in ("a.txt", "b.txt"))
    ledger = str(tmp_path / "ledger")
    printed(capsys, "init", "--ledger", ledger)
    sha256 = hashlib.sha256(log.read_bytes()).hexdigest()
    name = naming_of(SaltedSecret(SecretFolder(tmp_path / "ledger").nonces() or b"")).name(sha256)
    play = ("play", "auction-2024-mit", "--hands", "2", "--seed", "1", "--match", name)
    printed(capsys, *play, "--ledger", ledger)
    one, two = imported(capsys, tmp_path, log, other, code=1)
    assert f"there is another match {name} in the ledger already" == one["refused"]["reason"]
    assert (0, None, 3) == (one["imported"], one["agree"], two["imported"])


def test_what_is_no_file_is_never_waited_for(capsys: Captured, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "broken").symlink_to("nowhere")
    (tmp_path / "round").symlink_to("round")
    named = [tmp_path / name for name in ("pipe", "broken", "round")] + [Path("/dev/zero")]
    found = imported(capsys, tmp_path, *named, gamelog(tmp_path / "a.txt", rounds=3), code=1)
    assert [
        "this is no file",
        "there is no such file",
        "there is no such file",
        "this is no file",
    ] == [one["refused"]["reason"] for one in found[:4]]
    assert 3 == found[4]["imported"]


@pytest.mark.parametrize(
    "text",
    [
        "variant = 'NT'\nstarting_stacks = [%s]\n",
        (
            "variant = 'NT'\nstarting_stacks = [1, 1]\nantes = [0, 0]\nmin_bet = 2\n"
            "blinds_or_straddles = [1, 2]\nactions = ['p2 cbr %s']\n"
        ),
        "STATE:0:r%sf:|:1|-1:A|B\n",
        "STATE:%s:f:|:1|-1:A|B\n",
        "PokerStars Hand #1:  Hold'em No Limit ($%s/$2)\n*** SUMMARY ***\n",
        "6.176 MIT Pokerbots - A vs B\n\nRound #1, A (%s), B (0)\n",
        "%s",
    ],
    ids=lambda text: text[:12],
)
def test_a_refusal_is_one_short_sentence(capsys: Captured, tmp_path: Path, text: str) -> None:
    file = tmp_path / "long"
    file.write_text(text % ("9" * 500_000))
    (one,) = imported(capsys, tmp_path, file, code=1)
    assert 0 < len(one["refused"]["reason"]) < 200
    assert one["refused"]["reason"].isprintable()
