"""What a ledger with witnesses shows of its tree: to readers of now, and to those of a delay."""

from pathlib import Path

import pytest

from api.questions.proof import UNWITNESSED_SENTENCE, NotSigned, Tree
from dealer.play import play
from engine.games import GAMES
from events.ledger import Append
from store.folder.disk import RealDisk
from store.ledger import open_ledger
from store.proof.checkpoint import cosign
from store.proof.notary import CHECKPOINT
from store.proof.note import WITNESSES, Signer
from store.proof.tree import Refuted
from store.proof.witness_policy import keep_policy, last_published, policy_of, publish, read_policy
from store.reader import Reader, Snapshot
from tests.sessions import name

WITNESS = Signer("w.example", bytes(range(32)), WITNESSES)
POLICY = f"witness w {WITNESS.key.text()} http://127.0.0.1:1\nquorum w\n"
HANDS = list(play(GAMES["site-nl"], "home", 6, "7", 2))


def grown(folder: Path, hands: int, *, seen: bool) -> None:
    """The ledger with so many hands; its checkpoint is cosigned and published, if it was `seen`."""
    ledger, lock = open_ledger(folder, "a test")
    there = Reader(folder).snapshot().next_seq
    ledger.append(*(Append(name(hand), 0, hand, 0) for hand in HANDS[there:hands]))
    ledger.close()
    lock.release()
    disk = RealDisk(folder)
    if policy_of(disk) is None:
        keep_policy(disk, read_policy(POLICY.encode()))
    if seen:
        publish(disk, cosign(disk.read(CHECKPOINT), WITNESS, 1_790_000_000))


def early(folder: Path, hands: int) -> Tree:
    """The tree for who is told of so many hands only."""
    newest = Reader(folder).snapshot()
    return Tree(Snapshot(newest.live, newest.next_pos, hands, early=True))


def test_only_what_was_cosigned_is_shown(tmp_path: Path) -> None:
    grown(tmp_path, 2, seen=False)
    with pytest.raises(NotSigned, match=UNWITNESSED_SENTENCE):
        Tree(Reader(tmp_path).snapshot())
    grown(tmp_path, 3, seen=True)
    grown(tmp_path, 5, seen=False)
    tree = Tree(Reader(tmp_path).snapshot())
    assert 3 == tree.size
    assert [WITNESS.key] == [one.key for one in tree.newest.witnesses]
    assert 3 * 32 == len(tree.tile("0/000.p/3"))
    with pytest.raises(Refuted, match="is not in a tree of 3 leaves"):
        tree.entries("000.p/4")


def test_who_is_told_later_is_shown_an_older_one_that_was_cosigned(tmp_path: Path) -> None:
    """Without witnesses a checkpoint is signed for him alone; here none would have seen it."""
    for hands in (2, 4, 6):
        grown(tmp_path, hands, seen=True)
    assert [6, 4, 4, 2, 2] == [early(tmp_path, hands).size for hands in (6, 5, 4, 3, 2)]
    with pytest.raises(NotSigned, match=UNWITNESSED_SENTENCE):
        early(tmp_path, 1)


def test_a_stricter_policy_hides_what_an_older_one_let_through(tmp_path: Path) -> None:
    grown(tmp_path, 2, seen=True)
    other = Signer("v.example", bytes(range(1, 33)), WITNESSES)
    one = POLICY.partition("quorum")[0]
    lines = f"{one}witness v {other.key.text()} http://127.0.0.1:1\n"
    disk = RealDisk(tmp_path)
    keep_policy(disk, read_policy(f"{lines}group both all w v\nquorum both\n".encode()))
    assert last_published(disk) is None
    note = cosign(disk.read(CHECKPOINT), WITNESS, 1_790_000_000)
    with pytest.raises(Refuted, match="the policy asks for both"):
        publish(disk, note)
    publish(disk, cosign(note, other, 1_790_000_000))
    found = last_published(disk)
    assert found is not None
    assert {WITNESS.key, other.key} == {one.key for one in found[0].witnesses}


def test_a_note_that_was_put_in_the_folder_is_not_shown(tmp_path: Path) -> None:
    """Without a cosignature, or signed by another log's key."""
    grown(tmp_path, 2, seen=True)
    disk = RealDisk(tmp_path)
    grown(tmp_path, 4, seen=False)
    (tmp_path / "published" / "4").write_bytes(disk.read(CHECKPOINT))
    found = last_published(disk)
    assert found is not None
    assert 2 == found[0].checkpoint.size
