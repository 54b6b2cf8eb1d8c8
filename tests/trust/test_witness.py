"""A witness, request by request: the statuses of C2SP tlog-witness, and that it signs no fork."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from store.folder.disk import LedgerLocked
from store.proof.checkpoint import (
    SIZE_TYPE,
    Checkpoint,
    Witness,
    WitnessAnswer,
    open_checkpoint,
    sign,
)
from store.proof.note import Signer, to_base64
from store.proof.tree import Frontier, Refuted, consistency, leaf_hash
from tests.trust.stored_hashes import InMemory

LOG = Signer("poker.example/log", bytes(range(32)))
STRANGER = Signer("poker.example/log", bytes(range(1, 33)))
LEAVES = [leaf_hash(b"%d" % number) for number in range(20)]
FORKED = [*LEAVES[:3], leaf_hash(b"another"), *LEAVES[4:]]
NOW = 1_790_000_000


@pytest.fixture
def witness(tmp_path: Path) -> Iterator[Witness]:
    made = Witness(tmp_path / "w", [LOG.key], "w.example", lambda: NOW)
    yield made
    made.close()


def note(size: int, leaves: list[bytes] = LEAVES, by: Signer = LOG) -> bytes:
    return sign(Checkpoint(by.key.name, size, Frontier().added(leaves[:size]).root()), by)


def asked(old: int, new: int, leaves: list[bytes] = LEAVES, by: Signer = LOG) -> bytes:
    proof = consistency(old, new, InMemory(leaves)) if old <= new else ()
    lines = "".join(f"{line}\n" for line in (f"old {old}", *map(to_base64, proof), ""))
    return lines.encode() + note(new, leaves, by)


def test_a_log_that_grows_is_cosigned_each_time(witness: Witness) -> None:
    for old, new in ((0, 5), (5, 5), (5, 20)):
        answer = witness.add_checkpoint(asked(old, new))
        assert 200 == answer.status
        whole = note(new) + answer.body.encode()
        opened = open_checkpoint(whole, [LOG.key], [witness.key])
        assert [(witness.key, NOW)] == list(opened.witnesses)


def test_who_does_not_know_what_was_cosigned_is_told(witness: Witness) -> None:
    assert 200 == witness.add_checkpoint(asked(0, 5)).status
    assert WitnessAnswer(409, "5\n", SIZE_TYPE) == witness.add_checkpoint(asked(0, 20))
    assert WitnessAnswer(409, "5\n", SIZE_TYPE) == witness.add_checkpoint(asked(3, 20))


def test_an_older_checkpoint_is_not_cosigned_after_a_newer(witness: Witness) -> None:
    assert 200 == witness.add_checkpoint(asked(0, 20)).status
    assert WitnessAnswer(409, "20\n", SIZE_TYPE) == witness.add_checkpoint(asked(0, 5))
    assert 400 == witness.add_checkpoint(asked(20, 5)).status


def test_a_fork_is_refused_and_kept_as_evidence(witness: Witness, tmp_path: Path) -> None:
    """The log's own key signs another history: with a wrong proof, or of the same size."""
    assert 200 == witness.add_checkpoint(asked(0, 5)).status
    answer = witness.add_checkpoint(asked(5, 20, FORKED))
    assert (422, True) == (answer.status, "is not proved" in answer.body)
    assert WitnessAnswer(409, "5\n", SIZE_TYPE) == witness.add_checkpoint(asked(5, 5, FORKED))
    kept = {one.read_bytes() for one in (tmp_path / "w" / "refused").iterdir()}
    assert {note(20, FORKED), note(5, FORKED)} == kept
    assert 200 == witness.add_checkpoint(asked(5, 20)).status, "the true history goes on"


def test_it_remembers_after_a_restart_and_is_one_process(tmp_path: Path) -> None:
    first = Witness(tmp_path / "w", [LOG.key], "w.example")
    assert 200 == first.add_checkpoint(asked(0, 5)).status
    with pytest.raises(LedgerLocked):
        Witness(tmp_path / "w", [LOG.key])
    first.close()
    again = Witness(tmp_path / "w", [LOG.key])
    assert first.key == again.key
    assert WitnessAnswer(409, "5\n", SIZE_TYPE) == again.add_checkpoint(asked(0, 20, FORKED))
    again.close()
    with pytest.raises(Refuted, match=r"this witness is called w\.example, not v\.example"):
        Witness(tmp_path / "w", [LOG.key], "v.example")


def test_what_was_changed_on_its_disk_is_not_built_on(witness: Witness, tmp_path: Path) -> None:
    assert 200 == witness.add_checkpoint(asked(0, 5)).status
    (seen,) = (tmp_path / "w" / "seen").iterdir()
    seen.write_bytes(note(3))
    answer = witness.add_checkpoint(asked(3, 20))
    assert (500, True) == (answer.status, "was changed on its disk" in answer.body)


def test_whom_it_does_not_know_it_does_not_cosign(witness: Witness) -> None:
    other = Signer("poker.example/elsewhere", bytes(range(32)))
    assert 404 == witness.add_checkpoint(asked(0, 5, by=other)).status
    assert 403 == witness.add_checkpoint(asked(0, 5, by=STRANGER)).status


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b"", "a request is `old SIZE`"),
        (b"old 0\n" + note(5), "a hash of the proof is 32 bytes in base64"),
        (b"old 00\n\n" + note(5), "the old size is a number"),
        (b"old -1\n\n" + note(5), "the old size is a number"),
        (b"new 0\n\n" + note(5), "a request is `old SIZE`"),
        (b"old 0\n" + b"x\n" * 64 + b"\n" + note(5), "a proof of 64 hashes"),
        (b"old 0\nAAAA\n\n" + note(5), "a hash of the proof is 32 bytes in base64"),
        (b"old 0\n\nnonsense\n", "a note without the empty line"),
        (b"old 0\n\xff\n\n" + note(5), "a request that is not ASCII"),
    ],
)
def test_nonsense_is_a_bad_request(witness: Witness, body: bytes, sentence: str) -> None:
    answer = witness.add_checkpoint(body)
    assert 400 == answer.status
    assert sentence in answer.body


def test_a_new_witness_needs_a_name(tmp_path: Path) -> None:
    with pytest.raises(Refuted, match="a new witness needs a name"):
        Witness(tmp_path / "w", [LOG.key])
