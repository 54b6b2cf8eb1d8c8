"""A signing key that is replaced has signed for the next one: else anybody could say it is his."""

from pathlib import Path

import pytest

from api.main import main
from store.folder.disk import RealDisk
from store.proof.checkpoint import open_checkpoint
from store.proof.ledger_secrets import SIGNING, SecretFolder
from store.proof.notary import CHECKPOINT, key_doubts, public_keys, read_replacement, replace_signer
from store.proof.notary import REPLACED as FOLDER
from store.proof.note import Signer, sign
from store.proof.tree import EMPTY, Refuted
from store.reader import Reader
from tests.sessions import Captured, printed, said, told


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MUCKRAKE_LEDGER", str(tmp_path / "ledger"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert main(["play", "auction-2024", "--hands", "3", "--match", "m"]) == 0
    return tmp_path / "ledger"


def test_the_old_key_signs_for_the_new_one_before_it_signs(folder: Path, capsys: Captured) -> None:
    disk = RealDisk(folder)
    before = disk.read(CHECKPOINT)
    capsys.readouterr()
    text = printed(capsys, "key", "replace").strip()
    old, new = public_keys(disk)
    assert new.text() == text
    found = read_replacement(disk.read(f"{FOLDER}/1"))
    known = open_checkpoint(before, (old,)).checkpoint
    assert (old, new, known.size, known.root) == found
    assert (new,) == open_checkpoint(disk.read(CHECKPOINT), (old, new)).keys
    assert old.name == new.name
    assert main(["play", "auction-2024", "--hands", "3", "--match", "n"]) == 0
    assert main(["key", "replace"]) == 0
    assert (new, public_keys(disk)[2]) == read_replacement(disk.read(f"{FOLDER}/2"))[:2]
    assert ([], []) == key_doubts(disk)
    capsys.readouterr()
    assert 5 <= told(capsys, "verify", "--all", code=7)["digests"]


def test_a_key_without_a_statement_is_told_and_a_wrong_statement_is_an_error(
    folder: Path, capsys: Captured
) -> None:
    disk, private = RealDisk(folder), SecretFolder(folder)
    (private.folder / SIGNING).unlink()
    assert main(["play", "auction-2024", "--hands", "3", "--match", "n"]) == 0
    capsys.readouterr()
    text = printed(capsys, "verify", "--all", code=7)
    assert "without a statement by the old key" in text
    assert main(["key", "replace"]) == 0
    path = folder / FOLDER / "1"
    path.write_bytes(path.read_bytes().replace(b"v1", b"v2"))
    wrong, unstated = key_doubts(disk)
    assert (1, 2) == (len(wrong), len(unstated))
    assert main(["verify", "--all"]) == 3


def test_a_statement_counts_only_with_both_signatures() -> None:
    old, new, thief = (Signer(f"m.local/{n}", bytes([n]) * 32) for n in (1, 2, 3))
    text = f"muckrake key replaced v1\n{old.key.text()}\n{new.key.text()}\n0 {'A' * 43}=\n"
    assert (old.key, new.key) == read_replacement(sign(text, old, new))[:2]
    for signers in ((old,), (new,), (thief,), (old, thief)):
        with pytest.raises(Refuted):
            read_replacement(sign(text, *signers))
    for other in (text + "more\n", text.replace("replaced", "changed"), text.replace("0 A", "x A")):
        with pytest.raises((Refuted, ValueError)):
            read_replacement(sign(other, old, new))


def test_a_ledger_that_signed_nothing_says_so(tmp_path: Path) -> None:
    private = SecretFolder(tmp_path)
    old = private.secrets("m.local/log").signer
    new = replace_signer(RealDisk(tmp_path), private, old)
    found = read_replacement(RealDisk(tmp_path).read(f"{FOLDER}/1"))
    assert (old.key, new.key, 0, EMPTY) == found
    kept = private.signer()
    assert kept is not None
    assert kept.key == new.key


def test_without_a_key_there_is_nothing_to_replace(tmp_path: Path, capsys: Captured) -> None:
    sentence = said(capsys, 5, "key", "replace", "--ledger", str(tmp_path / "none"))
    assert "has no signing key to replace: a lost one is drawn anew" in sentence
    assert not (tmp_path / "none").exists()


def test_hands_of_before_stay_proved(folder: Path, capsys: Captured) -> None:
    assert main(["key", "replace"]) == 0
    assert Reader(folder).snapshot().hand_seq("m/1") is not None
    file = folder.parent / "e.zip"
    assert main(["audit", "m/1", "--evidence", str(file)]) == 0
    assert main(["verify", str(file)]) == 7  # under a key that nobody named
