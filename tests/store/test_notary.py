"""The tree of a ledger and its signatures: nothing that was signed for is lost unnoticed."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from events.lines import leaf_bytes
from store.folder.disk import RealDisk
from store.folder.frames import Damaged
from store.folder.manifest import read as manifest_of
from store.ledger import CLOSE_HANDS, FileLedger, open_ledger
from store.log.hot_log import ReadyLedger
from store.proof.checkpoint import open_checkpoint
from store.proof.ledger_secrets import SecretExposed, SecretFolder, Secrets, salts_of
from store.proof.notary import last_checkpoint, public_keys
from store.proof.note import Signer
from store.proof.tree import EMPTY, leaf_hash, node_hash
from store.reader import Reader
from store.segments.parquet_files import LEVEL
from store.segments.sealing import QUICK, seal
from tests.store.small_hands import begun, ended, noted, whole

pytestmark = pytest.mark.usefixtures("salted")
SECRETS = Secrets(bytes(range(32)), Signer("m.local/test", bytes(32)))
FROZEN = Path(__file__).parent / "frozen/v1/ledger"


def opened(folder: Path, **how: int) -> FileLedger:
    folder.mkdir(exist_ok=True)
    return FileLedger(RealDisk(folder), secrets=SECRETS, **how)  # type: ignore[arg-type]


def signed(folder: Path) -> tuple[int, bytes]:
    """Size and root of the newest checkpoint."""
    known = last_checkpoint(RealDisk(folder))
    assert known is not None
    return known.checkpoint.size, known.checkpoint.root


def naive_root(folder: Path, size: int) -> bytes:
    """The head by the definition of RFC 6962, from the events as any reader has them."""
    salts = salts_of(RealDisk(folder), SECRETS.nonces)
    hashes = [
        leaf_hash(leaf_bytes(one.hand_seq, one.recorded, salts.of(one.stream, one.hand_seq)))
        for one in Reader(folder).snapshot().leaves()
    ]
    return head(hashes[:size])


def head(hashes: list[bytes]) -> bytes:
    if len(hashes) < 2:
        return hashes[0] if hashes else EMPTY
    split = 1 << (len(hashes) - 1).bit_length() - 1
    return node_hash(head(hashes[:split]), head(hashes[split:]))


def filled(folder: Path, hands: int, **how: int) -> FileLedger:
    ledger = opened(folder, **how)
    for number in range(hands):
        ledger.append(whole(number, at=number))
    return ledger


# What is signed for, and when.


def test_a_clean_close_signs_for_everything_that_closed(tmp_path: Path) -> None:
    ledger = filled(tmp_path, 5)
    ledger.append(noted(0))
    ledger.append(begun(7))
    ledger.close()
    assert (6, naive_root(tmp_path, 6)) == signed(tmp_path)


@pytest.mark.parametrize("seal_hands", [1, 2, 3, 7, 1000])
def test_the_root_does_not_depend_on_where_hands_lie(tmp_path: Path, seal_hands: int) -> None:
    filled(tmp_path / "a", 20, seal_hands=seal_hands).close()
    filled(tmp_path / "b", 20).close()
    assert signed(tmp_path / "a") == signed(tmp_path / "b")
    assert (20, naive_root(tmp_path / "a", 20)) == signed(tmp_path / "a")


def test_a_checkpoint_is_signed_for_every_thousand_and_every_second(tmp_path: Path) -> None:
    at = [50_000]
    ledger = FileLedger(RealDisk(tmp_path), secrets=SECRETS, clock=lambda: at[0])
    ledger.append(*(whole(number) for number in range(999)))
    assert last_checkpoint(RealDisk(tmp_path)) is None
    ledger.append(whole(999))
    assert 1000 == signed(tmp_path)[0]
    at[0] += 999
    ledger.append(whole(1000))
    assert 1000 == signed(tmp_path)[0]
    at[0] += 1
    ledger.append(begun(1001))
    assert 1001 == signed(tmp_path)[0]


def test_a_clock_that_goes_backwards_signs_all_the_same(tmp_path: Path) -> None:
    at = [50_000]
    ledger = FileLedger(RealDisk(tmp_path), secrets=SECRETS, clock=lambda: at[0])
    ledger.append(whole(1))
    at[0] = 1_000
    ledger.append(whole(2))
    assert 2 == signed(tmp_path)[0]


def test_a_hand_that_has_not_ended_is_no_leaf(tmp_path: Path) -> None:
    ledger = opened(tmp_path)
    ledger.append(begun(1))
    ledger.close()
    assert last_checkpoint(RealDisk(tmp_path)) is None


def test_closing_seals_what_is_worth_a_segment_and_packs_it_quickly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    levels = []

    def watched(*given: Any) -> ReadyLedger:
        levels.append(given[-1])
        return seal(*given)

    monkeypatch.setattr("store.ledger.seal", watched)
    ledger = opened(tmp_path)
    ledger.append(whole(CLOSE_HANDS))
    ledger.seal()
    ledger.append(*(whole(number) for number in range(CLOSE_HANDS)))
    ledger.close()
    assert levels == [LEVEL, QUICK]
    now = manifest_of(RealDisk(tmp_path))
    assert now is not None
    assert (CLOSE_HANDS + 1, CLOSE_HANDS + 1) == (now.next_seq, now.tree)


def test_a_ledger_from_before_there_was_a_tree_gets_one(tmp_path: Path) -> None:
    shutil.copytree(FROZEN, tmp_path / "old")
    opened(tmp_path / "old").close()
    now = manifest_of(RealDisk(tmp_path / "old"))
    assert now is not None
    assert now.next_seq == now.tree > 0
    size, root = signed(tmp_path / "old")
    assert (now.next_seq < size, naive_root(tmp_path / "old", size)) == (True, root)


def test_what_was_sealed_without_secrets_is_caught_up_with(tmp_path: Path) -> None:
    filled(tmp_path, 5, seal_hands=2).close()
    plain = FileLedger(RealDisk(tmp_path), seal_hands=2)
    for number in range(5, 10):
        plain.append(whole(number))
    plain.close()
    opened(tmp_path).close()
    assert (10, naive_root(tmp_path, 10)) == signed(tmp_path)


# What is noticed at opening.


def test_a_lost_end_is_noticed(tmp_path: Path) -> None:
    """The one loss that no checksum shows: an older state of the whole folder, whole in itself."""
    filled(tmp_path / "now", 5).close()
    shutil.copytree(tmp_path / "now", tmp_path / "then")
    ledger = opened(tmp_path / "now")
    ledger.append(whole(5), whole(6))
    ledger.close()
    shutil.copy(tmp_path / "now/tree/checkpoint", tmp_path / "then/tree/checkpoint")
    with pytest.raises(Damaged, match="signed for 7 closed streams, and 5 are there: the end"):
        opened(tmp_path / "then")


@pytest.mark.parametrize("seal_hands", [1, 2, 1000])
def test_another_history_under_the_same_checkpoint_is_noticed(
    tmp_path: Path, seal_hands: int
) -> None:
    filled(tmp_path / "told", 4, seal_hands=seal_hands).close()
    forged = opened(tmp_path / "forged", seal_hands=seal_hands)
    for number in (0, 1, 3, 2):
        forged.append(whole(number, at=number))
    forged.close()
    shutil.copy(tmp_path / "told/tree/checkpoint", tmp_path / "forged/tree/checkpoint")
    with pytest.raises(Damaged, match="are not those that tree/checkpoint was signed for"):
        opened(tmp_path / "forged")


def test_a_checkpoint_of_a_stranger_is_not_believed(tmp_path: Path) -> None:
    filled(tmp_path / "a", 3).close()
    (tmp_path / "b").mkdir()
    stranger = Secrets(SECRETS.nonces, Signer("m.local/test", bytes([1]) * 32))
    ledger = FileLedger(RealDisk(tmp_path / "b"), secrets=stranger)
    ledger.append(whole(1))
    ledger.close()
    shutil.copy(tmp_path / "b/tree/checkpoint", tmp_path / "a/tree/checkpoint")
    with pytest.raises(Damaged, match="tree/checkpoint cannot be believed: no known key"):
        opened(tmp_path / "a")


def test_every_flipped_bit_of_a_checkpoint_is_noticed(tmp_path: Path) -> None:
    filled(tmp_path, 3).close()
    path = tmp_path / "tree/checkpoint"
    whole_note = path.read_bytes()
    for place in range(len(whole_note)):
        flipped = bytearray(whole_note)
        flipped[place] ^= 1 << place % 8
        path.write_bytes(flipped)
        with pytest.raises(Damaged, match="tree/checkpoint"):
            opened(tmp_path)


@pytest.mark.parametrize("seal_hands", [2, 1000])
def test_every_flipped_byte_of_the_sealed_tree_is_noticed(tmp_path: Path, seal_hands: int) -> None:
    filled(tmp_path, 8, seal_hands=seal_hands).close()
    path = tmp_path / "tree/0"
    hashes = path.read_bytes() if path.exists() else b""
    assert len(hashes) == (8 * 32 if seal_hands == 2 else 0)
    for place in range(len(hashes)):
        flipped = bytearray(hashes)
        flipped[place] ^= 4
        path.write_bytes(flipped)
        with pytest.raises(Damaged, match="are not those that tree/checkpoint was signed for"):
            opened(tmp_path)


# Keys and secrets.


def test_secrets_are_for_their_owner_alone(tmp_path: Path) -> None:
    drawn = SecretFolder(tmp_path).secrets()
    assert ("nonce.key", "signing.key") == drawn.new
    assert 0o700 == (tmp_path / "private").stat().st_mode & 0o777
    for name in drawn.new:
        assert 0o600 == (tmp_path / "private" / name).stat().st_mode & 0o777
    again = SecretFolder(tmp_path).secrets()
    assert ((), drawn.nonces, drawn.signer.key) == (again.new, again.nonces, again.signer.key)


@pytest.mark.parametrize(
    ("path", "mode", "right"),
    [("private", 0o750, "700"), ("private/nonce.key", 0o640, "600")],
)
def test_a_secret_that_others_can_read_is_refused(
    tmp_path: Path, path: str, mode: int, right: str
) -> None:
    SecretFolder(tmp_path).secrets()
    (tmp_path / path).chmod(mode)
    with pytest.raises(SecretExposed, match=f"is open to others .mode {mode:o}.: chmod {right} "):
        SecretFolder(tmp_path).secrets()


@pytest.mark.parametrize("text", [b"", b"00", b"zz" * 32 + b"\n", b"00" * 33])
def test_a_nonce_secret_that_is_none_is_refused(tmp_path: Path, text: bytes) -> None:
    SecretFolder(tmp_path).secrets()
    (tmp_path / "private/nonce.key").write_bytes(text)
    with pytest.raises(SecretExposed, match="is not 64 hex digits and a newline"):
        SecretFolder(tmp_path).secrets()


def test_a_ledger_without_its_nonce_secret_is_not_written(tmp_path: Path) -> None:
    written(tmp_path)
    (tmp_path / "private/nonce.key").unlink()
    with pytest.raises(Damaged, match="is missing: without it no record of this ledger"):
        open_ledger(tmp_path, "test")
    assert not (tmp_path / "private/nonce.key").exists()


def test_a_ledger_without_its_salts_is_not_written(tmp_path: Path) -> None:
    """With others every leaf of the log would be another, and the key would sign for those."""
    written(tmp_path)
    shutil.rmtree(tmp_path / "tree")
    with pytest.raises(Damaged, match="tree/nonces is missing: without it no record of this"):
        open_ledger(tmp_path, "test")
    assert not (tmp_path / "tree").exists()


def test_another_nonce_secret_is_noticed(tmp_path: Path) -> None:
    written(tmp_path)
    (tmp_path / "private/nonce.key").write_bytes(b"00" * 32 + b"\n")
    with pytest.raises(Damaged, match="not the secret that this ledger began with"):
        open_ledger(tmp_path, "test")


def test_a_new_signing_key_signs_from_now_on_beside_the_old(tmp_path: Path) -> None:
    """Whoever lost the key, or knows that it leaked, takes the file away."""
    written(tmp_path)
    old_note = (tmp_path / "tree/checkpoint").read_bytes()
    (old,) = public_keys(RealDisk(tmp_path))
    (tmp_path / "private/signing.key").unlink()
    written(tmp_path, 1)
    first, new = public_keys(RealDisk(tmp_path))
    assert (old, old.name, True) == (first, new.name, old != new)
    assert (old,) == open_checkpoint(old_note, [old, new]).keys
    assert (new,) == open_checkpoint((tmp_path / "tree/checkpoint").read_bytes(), [old, new]).keys


def test_a_new_signing_key_signs_anew_what_is_there(tmp_path: Path) -> None:
    """Evidence is signed by the newest key, and so must be the checkpoint in it."""
    written(tmp_path)
    (tmp_path / "private/signing.key").unlink()
    ledger, lock = open_ledger(tmp_path, "test")
    ledger.close()
    lock.release()
    _, new = public_keys(RealDisk(tmp_path))
    assert (new,) == open_checkpoint((tmp_path / "tree/checkpoint").read_bytes(), [new]).keys


def written(folder: Path, number: int = 0) -> None:
    ledger, lock = open_ledger(folder, "test")
    ledger.append(whole(number))
    ledger.close()
    lock.release()


def test_each_opening_goes_on_where_the_last_one_signed(tmp_path: Path) -> None:
    for number in range(4):
        written(tmp_path, number)
    assert 4 == signed(tmp_path)[0]


def test_an_open_hand_is_signed_for_once_it_ends(tmp_path: Path) -> None:
    ledger = opened(tmp_path)
    ledger.append(begun(1))
    ledger.append(whole(2))
    ledger.append(ended(1))
    ledger.close()
    assert (2, naive_root(tmp_path, 2)) == signed(tmp_path)
