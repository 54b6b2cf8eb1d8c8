"""A ledger that is older than what is known of it is refused, until somebody accepts that."""

import json
import re
import shutil
from pathlib import Path

import pytest

from api.main import main
from store.folder.disk import RealDisk
from store.folder.frames import Damaged
from store.ledger import open_ledger
from store.proof.checkpoint import CheckpointMemory, open_checkpoint, rollbacks, state_folder
from store.proof.ledger_secrets import SecretFolder
from store.proof.notary import last_checkpoint, public_keys
from tests.store.small_hands import whole

Captured = pytest.CaptureFixture[str]
PLAY = ("play", "auction-2024", "--hands", "3", "--seed", "1", "--match")


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Five closed streams, and a copy of it; then five more."""
    folder = tmp_path / "led"
    monkeypatch.setenv("MUCKRAKE_LEDGER", str(folder))
    assert main([*PLAY, "a"]) == 0
    shutil.copytree(folder, tmp_path / "copy")
    assert main([*PLAY, "b"]) == 0
    return folder


def rolled_back(folder: Path) -> Path:
    """The older copy in the place of the ledger: whole in itself, with the checkpoint it had."""
    shutil.rmtree(folder)
    shutil.copytree(folder.with_name("copy"), folder)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    there = {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return {path: data for path, data in there.items() if not path.endswith("/lock")}


def kept() -> Path:
    """The one file that is kept."""
    folder = state_folder()
    assert folder is not None
    (file,) = (path for path in folder.iterdir() if "." not in path.name)
    return file


def test_the_newest_checkpoint_is_kept_outside_the_folder(ledger: Path) -> None:
    note = kept().read_bytes()
    assert note == (ledger / "tree/checkpoint").read_bytes()
    assert 10 == open_checkpoint(note, public_keys(RealDisk(ledger))).checkpoint.size


def test_an_older_copy_is_refused_by_whoever_writes(ledger: Path, capsys: Captured) -> None:
    before = contents(rolled_back(ledger))
    capsys.readouterr()
    assert main([*PLAY, "c"]) == 3
    told = capsys.readouterr()
    assert "" == told.out
    assert told.err.count("\n") == 1
    assert f"{kept()} was signed for 10 closed streams, and 5 are there" in told.err
    assert "muckrake restored goes on from here all the same" in told.err
    assert before == contents(ledger)


def test_an_older_copy_is_told_by_verify_and_doctor(ledger: Path, capsys: Captured) -> None:
    rolled_back(ledger)
    capsys.readouterr()
    assert main(["verify", "--all"]) == 3
    assert f"{kept()}  it was signed for 10 closed streams, and 5 are" in capsys.readouterr().out
    assert main(["doctor"]) == 3
    assert f"{kept()} was signed for 10 closed streams, and 5 are" in capsys.readouterr().out


def test_who_reads_an_older_copy_hears_that_it_is_one(ledger: Path, capsys: Captured) -> None:
    rolled_back(ledger)
    capsys.readouterr()
    assert main(["hands"]) == 0
    told = capsys.readouterr()
    assert "a/3" in told.out
    assert f"{ledger} has 5 closed streams, and {kept()} was signed for 10" in told.err


def test_another_history_of_the_same_log_is_refused(ledger: Path, capsys: Captured) -> None:
    """Somebody went on with the copy; as long as it is longer, its length tells nothing."""
    known = kept().read_bytes()
    kept().unlink()
    rolled_back(ledger)
    for match in ("c", "d"):
        assert main([*PLAY, match]) == 0
    kept().write_bytes(known)
    capsys.readouterr()
    assert main([*PLAY, "e"]) == 3
    assert "the first 10 closed streams are not those that" in capsys.readouterr().err
    assert main(["verify", "--all"]) == 3
    assert f"{kept()}  the first 10 closed streams are not those" in capsys.readouterr().out
    assert main(["doctor"]) == 3
    assert "the first 10 closed streams are not those" in capsys.readouterr().out


def test_a_rollback_that_is_accepted_stays_on_record(ledger: Path, capsys: Captured) -> None:
    old = kept().read_bytes()
    rolled_back(ledger)
    capsys.readouterr()
    assert main(["restored", "--json"]) == 0
    (sentence,) = json.loads(capsys.readouterr().out)["accepted"]
    assert "was signed for 10 closed streams, and 5 are there" in sentence
    (one,) = rollbacks(RealDisk(ledger))
    assert (old.decode(), sentence) == (one.checkpoint, one.sentence)
    assert old in [path.read_bytes() for path in kept().parent.iterdir()]
    assert main([*PLAY, "c"]) == 0
    for words in (("verify", "--all", "--key", str(ledger / "keys")), ("doctor",)):
        capsys.readouterr()
        assert main([*words]) == 0
        said = capsys.readouterr().out
        assert re.search(rf"at 20\d\d-[-T:\d]+Z somebody went on all the same: {sentence}", said)
    assert main(["restored"]) == 0
    assert "nothing to accept: " in capsys.readouterr().out


def test_there_is_nothing_to_accept_in_a_sound_ledger(ledger: Path, capsys: Captured) -> None:
    capsys.readouterr()
    assert main(["restored"]) == 0
    assert f"nothing to accept: {ledger} is all that is remembered of it\n" in (
        capsys.readouterr().out
    )
    assert () == rollbacks(RealDisk(ledger))
    assert main(["restored", "--ledger", str(ledger / "nowhere")]) == 5


def test_a_backup_can_be_looked_at(ledger: Path, capsys: Captured, tmp_path: Path) -> None:
    """Under another witness nothing is known of it."""
    words = ("--ledger", str(tmp_path / "copy"))
    capsys.readouterr()
    assert main(["verify", "--all", *words]) == 3
    alone = ("--witness", str(tmp_path / "none"), "--key", str(ledger / "keys"))
    assert main(["verify", "--all", *alone, *words]) == 0
    assert main(["hands", *words]) == 0
    assert not (tmp_path / "none").exists()


def test_a_witness_can_be_any_file(
    ledger: Path, capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "elsewhere/witness"
    assert main([*PLAY, "c", "--witness", str(file)]) == 0
    assert file.read_bytes() == (ledger / "tree/checkpoint").read_bytes() != kept().read_bytes()
    kept().unlink()
    rolled_back(ledger)
    capsys.readouterr()
    assert main([*PLAY, "d", "--witness", str(file)]) == 3
    assert f"{file} was signed for 15 closed streams" in capsys.readouterr().err
    monkeypatch.setenv("MUCKRAKE_WITNESS", str(file))
    assert main(["verify", "--all"]) == 3
    with pytest.raises(Damaged, match="was signed for 15 closed streams, and 5 are there"):
        open_ledger(ledger, "a job of a server")


def test_a_new_ledger_in_the_same_place_is_another_log(ledger: Path) -> None:
    shutil.rmtree(ledger)
    assert main([*PLAY, "a"]) == 0
    assert main(["verify", "--all", "--key", str(ledger / "keys")]) == 0


def test_a_new_key_is_known_and_the_old_one_still_counts(ledger: Path, capsys: Captured) -> None:
    note = (ledger / "tree/checkpoint").read_bytes()
    (ledger / "private/signing.key").unlink()
    assert main([*PLAY, "c"]) == 0
    folder = state_folder()
    assert folder is not None
    there = {path.read_bytes() for path in folder.iterdir()}
    assert {(ledger / "tree/checkpoint").read_bytes()} == there != {note}
    rolled_back(ledger)
    capsys.readouterr()
    assert main([*PLAY, "c"]) == 3


@pytest.mark.parametrize("witness", [False, True])
def test_a_copy_from_before_the_newest_key_is_older(
    ledger: Path, capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, witness: bool
) -> None:
    """It knows only the key that was replaced, and has all that this one ever signed for."""
    if witness:
        monkeypatch.setenv("MUCKRAKE_WITNESS", str(tmp_path / "kept"))
        assert main([*PLAY, "w"]) == 0
    shutil.rmtree(tmp_path / "copy")
    shutil.copytree(ledger, tmp_path / "copy")
    assert main(["key", "replace"]) == 0
    assert main([*PLAY, "c"]) == 0
    shutil.copytree(ledger, tmp_path / "newest")
    before = contents(rolled_back(ledger))
    capsys.readouterr()
    assert main([*PLAY, "d"]) == 3
    size = 15 if witness else 10
    told = f"was signed for {size + 5} closed streams, and {size} are there"
    assert told in capsys.readouterr().err
    assert before == contents(ledger)
    assert main(["verify", "--all", "--key", str(ledger / "keys")]) == 3
    assert main(["doctor"]) == 3
    assert main(["restored"]) == 0
    assert main([*PLAY, "d"]) == 0, "what was accepted is put aside"
    shutil.rmtree(ledger)
    shutil.copytree(tmp_path / "newest", ledger)
    assert main([*PLAY, "e"]) == 3, "and now the newer copy is the other history"


def test_what_is_remembered_must_be_signed(ledger: Path, capsys: Captured) -> None:
    kept().write_bytes(kept().read_bytes().replace(b"\n10\n", b"\n5\n"))
    capsys.readouterr()
    assert main([*PLAY, "c"]) == 3
    assert f"{kept()} cannot be believed: " in capsys.readouterr().err
    assert main(["verify", "--all"]) == 3
    assert main(["doctor"]) == 3
    assert main(["hands"]) == 0


@pytest.mark.parametrize("where", ["no folder", "a file", "nowhere"])
def test_where_nothing_can_be_kept_it_is_said_and_nothing_fails(
    ledger: Path, capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    (tmp_path / "file").write_text("")
    if where == "nowhere":
        monkeypatch.setenv("XDG_STATE_HOME", "relative")
        monkeypatch.setattr(Path, "home", homeless)
    else:
        name = "/proc/nowhere" if where == "no folder" else str(tmp_path / "file")
        monkeypatch.setenv("XDG_STATE_HOME", name)
    capsys.readouterr()
    assert main([*PLAY, "c"]) == 0
    assert "the checkpoint is kept here alone: " in capsys.readouterr().err
    assert main(["verify", "--all", "--key", str(ledger / "keys")]) == 0


def homeless() -> Path:
    raise RuntimeError("Could not determine home directory.")


def test_state_is_kept_by_the_convention(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert tmp_path / "muckrake/checkpoints" == state_folder()
    monkeypatch.setenv("XDG_STATE_HOME", "not/absolute")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert tmp_path / ".local/state/muckrake/checkpoints" == state_folder()


def test_ledgers_are_remembered_apart(tmp_path: Path) -> None:
    for name in ("a", "b"):
        made, lock = open_ledger(tmp_path / name, "test")
        made.append(whole(1))
        made.close()
        lock.release()
    folder = state_folder()
    assert folder is not None
    assert 2 == len(list(folder.iterdir()))
    for name in ("a", "b"):
        disk = RealDisk(tmp_path / name)
        known = last_checkpoint(disk)
        assert known is not None
        ((_, one),) = CheckpointMemory().of(public_keys(disk))
        assert one == known.checkpoint
        signer = SecretFolder(tmp_path / name).signer()
        assert signer is not None
        assert signer.key.name == one.origin


def test_a_writer_at_work_is_never_behind_itself(tmp_path: Path) -> None:
    """What is remembered is signed first: readers ask for it before they read."""
    made, lock = open_ledger(tmp_path / "a", "test")
    made.append(*(whole(number) for number in range(1_000)))
    disk = RealDisk(tmp_path / "a")
    ((_, one),) = CheckpointMemory().of(public_keys(disk))
    assert 1_000 == one.size
    assert main(["doctor", "--ledger", str(tmp_path / "a")]) == 0
    made.close()
    lock.release()
