"""What the signature covers is counted, and a hand that is recorded twice is told."""

import json
import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from api.main import main
from events.ledger import Append, Recorded
from events.types import Events, HandStarted
from store.folder.disk import Lock, RealDisk
from store.folder.frames import Damaged, frame
from store.folder.manifest import read as manifest_of
from store.ledger import FileLedger, open_ledger
from store.log import hot_log
from store.log.admission import Admission
from store.log.hot_log import to_payload
from store.proof.notary import open_secrets
from store.proof.tree import Refuted
from store.reader import Reader
from store.receipts import Prover
from store.tables.projection import STANDARD
from store.verify import Verifier
from tests.store.small_hands import ended, whole
from tests.trust.test_verify_ledger import (
    HANDS,
    SECRETS,
    other_winner,
    sentences,
    verified,
    where_hands_lie,
    written,
)

Captured = pytest.CaptureFixture[str]


def unsigned(folder: Path, seal_hands: int) -> Path:
    """Eight hands under the signature and four that came when nobody had a key."""
    written(folder, HANDS[:8], seal_hands)
    ledger = FileLedger(RealDisk(folder), STANDARD, seal_hands=seal_hands)
    for hand in HANDS[8:]:
        ledger.append(appended(hand))
    ledger.close()
    return folder


def appended(hand: Events) -> Append:
    start = hand[0]
    assert isinstance(start, HandStarted)
    return Append(start.hand, 0, hand, 1_000)


# How much of it is under the signature.


@pytest.mark.parametrize("seal_hands", [100, 1000])
def test_leaves_that_nobody_signed_for_are_counted_and_wrong(
    tmp_path: Path, seal_hands: int
) -> None:
    found = verified(unsigned(tmp_path, seal_hands))
    assert (13, 9, 4, False) == (found.leaves, found.signed, found.unsigned, found.ok)
    (told,) = found.wrong
    assert told.where == "tree/checkpoint"
    assert told.sentence.startswith("4 of 13 leaves are not under it, from m/9 on, and nobody")


def test_a_writer_may_still_have_to_sign(tmp_path: Path) -> None:
    unsigned(tmp_path, 1000)
    lock = Lock(tmp_path, "play")
    found = verified(tmp_path)
    lock.release()
    assert (9, 4, True) == (found.signed, found.unsigned, found.ok)
    (told,) = found.wrong
    assert told.note
    assert "from m/9 on: play (process " in told.sentence


@where_hands_lie
def test_everything_is_signed_once_a_writer_has_ended(tmp_path: Path, seal_hands: int) -> None:
    found = verified(written(tmp_path, seal_hands=seal_hands))
    assert (13, 0, ()) == (found.signed, found.unsigned, found.wrong)


def test_a_checkpoint_over_another_history_covers_nothing(tmp_path: Path) -> None:
    honest = written(tmp_path / "honest")
    forged = written(tmp_path / "forged", HANDS[::-1])
    (forged / "tree/checkpoint").write_bytes((honest / "tree/checkpoint").read_bytes())
    found = verified(forged)
    assert (0, 13, False) == (found.signed, found.unsigned, found.ok)


@where_hands_lie
@pytest.mark.parametrize("name", ["tree/checkpoint", "keys"])
def test_what_vouches_must_be_there(tmp_path: Path, name: str, seal_hands: int) -> None:
    (written(tmp_path, seal_hands=seal_hands) / name).unlink()
    found = verified(tmp_path)
    assert (False, 0, 13) == (found.ok, found.signed, found.unsigned)
    assert any(one.where == name and "it is missing" in one.sentence for one in found.wrong)


@pytest.mark.parametrize(("seal_hands", "named"), [(1, "tree/0 is missing"), (99, "it is missing")])
def test_a_tree_that_is_not_there_is_wrong(tmp_path: Path, seal_hands: int, named: str) -> None:
    shutil.rmtree(written(tmp_path, seal_hands=seal_hands) / "tree")
    found = verified(tmp_path)
    assert (False, 0) == (found.ok, found.signed)
    assert any(named in one.sentence for one in found.wrong)


@where_hands_lie
def test_neither_checkpoint_nor_keys_is_no_new_ledger(tmp_path: Path, seal_hands: int) -> None:
    """What was taken for one that had never signed, also while somebody writes."""
    written(tmp_path, seal_hands=seal_hands)
    for name in ("tree/checkpoint", "keys"):
        (tmp_path / name).unlink()
    lock = Lock(tmp_path, "play")
    assert not verified(tmp_path).ok
    lock.release()


def test_a_new_ledger_has_signed_for_nothing_and_lacks_nothing(tmp_path: Path) -> None:
    found = verified(written(tmp_path, ()))
    assert (1, 1, True) == (found.leaves, found.signed, found.ok)
    (tmp_path / "none").mkdir()
    FileLedger(RealDisk(tmp_path / "none"), secrets=SECRETS).close()
    assert () == verified(tmp_path / "none").wrong


def test_a_checkpoint_that_came_meanwhile_is_no_lost_end(tmp_path: Path) -> None:
    written(tmp_path, HANDS[:3])
    before = Reader(tmp_path).snapshot()
    ledger = FileLedger(RealDisk(tmp_path), STANDARD, secrets=SECRETS)
    ledger.append(appended(HANDS[3]))
    ledger.close()
    verifier = Verifier(before, SECRETS.nonces)
    assert 5 == len(list(verifier.leaves()))
    assert (5, ()) == (verifier.verified().signed, verifier.verified().wrong)


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MUCKRAKE_LEDGER", str(tmp_path / "led"))
    assert main(["play", "auction-2024", "--hands", "4", "--seed", "1", "--match", "m"]) == 0
    return tmp_path / "led"


def told(capsys: Captured) -> str:
    capsys.readouterr()
    assert main(["verify", "--all"]) == 3
    return capsys.readouterr().out


def test_what_is_signed_is_told_in_words_and_to_programs(small: Path, capsys: Captured) -> None:
    capsys.readouterr()
    assert main(["verify", "--all", "--key", str(small / "keys")]) == 0
    assert "digests 6/6   signed 6/6   " in capsys.readouterr().out
    assert main(["verify", "--all", "--json", "--key", str(small / "keys")]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (6, 6, 0) == (document["leaves"], document["signed"], document["unsigned"])
    disk = RealDisk(small)
    FileLedger(disk, secrets=open_secrets(small, disk), clock=lambda: 0).append(whole(9))
    assert "signed 6/7   " in told(capsys)


def test_the_key_that_signs_next_must_be_there(small: Path, capsys: Captured) -> None:
    (small / "private/signing.key").unlink()
    assert "private/signing.key  it is missing, and 6 streams have closed" in told(capsys)


def test_the_key_that_signs_next_must_be_one_that_is_known(small: Path, capsys: Captured) -> None:
    """Somebody signed everything anew and put his key into `keys`: the house knows its own."""
    stranger, lock = open_ledger(small.parent / "other", "test")
    stranger.append(whole(1))
    stranger.close()
    lock.release()
    for name in ("keys", "tree/checkpoint"):
        (small / name).write_bytes((small.parent / "other" / name).read_bytes())
    assert "private/signing.key  its public key" in told(capsys)


# One hand, one record.


def paid_twice(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The house lets a hand in twice, the second time with the pot for the other seat."""
    place = next(at for at, hand in enumerate(HANDS) if paid(hand) != hand)
    again = paid(HANDS[place])
    monkeypatch.setattr(Admission, "_now", lambda _self, _stream: (0, False))
    written(folder, (*HANDS[: place + 1], again), seal_hands=1)
    return folder


def paid(hand: Events) -> Events:
    """The pot goes to the other seat."""
    return tuple(other_winner(event) or event for event in hand)


def test_a_second_record_of_a_hand_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        paid_twice(tmp_path, patched)
    snapshot = Reader(tmp_path).snapshot()
    *_, twice = snapshot.leaves()
    assert f"{twice.stream}: it is recorded a second time: one hand has one record" in sentences(
        tmp_path
    )
    with pytest.raises(Refuted, match=f"{twice.stream} is in the tree as .* and .*: one hand has"):
        Prover(snapshot, SECRETS.nonces).leaf(twice.stream)


def test_hands_that_end_in_any_order_are_recorded_once(tmp_path: Path) -> None:
    order = (3, 1, 2, 7, 0, 5, 6, 4)
    assert [] == sentences(written(tmp_path, [HANDS[at] for at in order]))


@pytest.mark.parametrize(
    ("again", "sealed", "sentence"),
    [
        (
            whole(1),
            True,
            "begins m/1 again, which has ended and is sealed: one",
        ),
        (whole(2), False, "an append to m/2 follows 0 events, and it has 3: one hand has one"),
        (
            replace(ended(2), expected=3),
            False,
            "m/2 has ended and goes on: one",
        ),
    ],
    ids=["sealed", "hot", "more of it"],
)
def test_a_writer_does_not_sign_for_a_second_record(
    tmp_path: Path, again: Append, sealed: bool, sentence: str
) -> None:
    """It stands in the log as if it had been admitted."""
    ledger = FileLedger(RealDisk(tmp_path), seal_hands=1)
    ledger.append(whole(1))
    ledger.close()
    ledger = FileLedger(RealDisk(tmp_path))
    ledger.append(whole(2))
    at = ledger.next_pos
    ledger.close()
    now = manifest_of(RealDisk(tmp_path))
    assert now is not None
    path = tmp_path / now.log
    before = path.read_bytes()
    path.write_bytes(before + frame(at, to_payload([again])))
    with pytest.raises(Damaged, match=sentence):
        FileLedger(RealDisk(tmp_path))
    assert path.read_bytes().startswith(before)
    assert hot_log.read(RealDisk(tmp_path), now.log).torn == 0


def test_records_of_a_match_follow_one_another(tmp_path: Path) -> None:
    written(tmp_path, HANDS[:1], seal_hands=1)
    snapshot = Reader(tmp_path).snapshot()
    leaves = list(snapshot.leaves())
    first: Recorded = leaves[0].recorded[0]
    gap = replace(leaves[0], recorded=(replace(first, index=3),))
    snapshot.leaves = lambda after=-1: iter((gap, leaves[1]))  # type: ignore[method-assign]
    verifier = Verifier(snapshot, SECRETS.nonces)
    for _ in verifier.leaves():
        pass
    assert ("m", "it goes on from 3 records, and had 0") in [
        (one.where, one.sentence) for one in verifier.verified().wrong
    ]
