"""Checkpoints and receipts: what the log signed, and that a leaf is in it."""

import pytest

from store.proof.checkpoint import (
    Checkpoint,
    SignedCheckpoint,
    cosign,
    open_checkpoint,
    read_checkpoint,
    sign,
)
from store.proof.note import WITNESSES, Key, Signed, Signer
from store.proof.note import sign as sign_text
from store.proof.tree import EMPTY, Frontier, Refuted, inclusion, leaf_hash
from store.receipts import Receipt, read_receipt
from tests.profiles import sized
from tests.trust.stored_hashes import InMemory

LEAVES = [leaf_hash(b"%d" % number) for number in range(20)]
HEAD = Frontier().added(LEAVES).root()
LOG = Signer("muckrake.local/log", bytes(range(32)))
NEXT = Signer("muckrake.local/log", bytes(range(1, 33)))
OTHER = Signer("muckrake.local/other", bytes(range(2, 34)))
WITNESS = Signer("witness.local/w", bytes(range(3, 35)), WITNESSES)
CHECKPOINT = Checkpoint("muckrake.local/log", 20, HEAD)
SIGNED = sign(CHECKPOINT, LOG)
RECEIPT = Receipt(13, inclusion(13, 20, InMemory(LEAVES)), SIGNED)

# C2SP tlog-checkpoint's example of a body.
BODY = "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n"
FROZEN = """\
c2sp.org/tlog-proof@v1
index 13
FNf/Bsl9rs+tenSfTlkGp0roYG1y0Mkml7f5/oxaa7Q=
XOA/l03nR45CDvBA3cUVJWBJR+pBQlroBt8IaVR2lKA=
W2Y6NiYBvj87rGQx+fYVRv7BEfYpyWRD17Z8wL3VyUU=
O4WpYmwcy2TGuV7H+mSIje/izxLjnnfhCBLOX8uctY4=
EHoP522na/WiROaSGUzOTnt8MgxUEGoDmXiIMtdX2fs=

muckrake.local/log
20
GQuedIt7eoV+VfPp2K1o6rcBnSvYz9dGYGKcTyauSuc=

— muckrake.local/log \
B63nOvglF2E6/iP3zFtXlN9GwWjNimba4y64LFlz+EEIBEBn9G3T6sya1VjHkyl+4b8BXsWGBo/vCGUrVe16XpTMnw4=
"""


def test_the_example_of_the_specification_is_read_and_written() -> None:
    read = read_checkpoint(BODY)
    assert ("example.com/behind-the-sofa", 20_852_163) == (read.origin, read.size)
    assert "0ac5186a91863e8e1d90c808014aa89bf5da8e3ee1d9f07630f0378f68f1ab62" == read.root.hex()
    assert BODY == read.text()


def test_a_signed_checkpoint_is_believed() -> None:
    assert SignedCheckpoint(CHECKPOINT, (LOG.key,)) == open_checkpoint(SIGNED, [LOG.key])


def test_while_keys_change_either_is_enough() -> None:
    both = sign(CHECKPOINT, LOG, NEXT)
    assert SignedCheckpoint(CHECKPOINT, (LOG.key,)) == open_checkpoint(both, [LOG.key])
    assert SignedCheckpoint(CHECKPOINT, (NEXT.key,)) == open_checkpoint(both, [NEXT.key])
    assert SignedCheckpoint(CHECKPOINT, (LOG.key, NEXT.key)) == open_checkpoint(
        both, [NEXT.key, LOG.key]
    )


def test_a_witness_adds_his_name_and_time() -> None:
    seen = cosign(SIGNED, WITNESS, 1_700_000_000)
    assert SignedCheckpoint(CHECKPOINT, (LOG.key,)) == open_checkpoint(seen, [LOG.key])
    witnessed = (Signed(WITNESS.key, 1_700_000_000),)
    assert SignedCheckpoint(CHECKPOINT, (LOG.key,), witnessed) == open_checkpoint(
        seen, [LOG.key], [WITNESS.key]
    )


def test_a_witness_alone_is_no_log() -> None:
    foreign = sign_text(CHECKPOINT.text(), OTHER)
    seen = cosign(foreign, WITNESS, 1_700_000_000)
    with pytest.raises(Refuted, match=r"a checkpoint that .* has not signed itself"):
        open_checkpoint(seen, [LOG.key], [WITNESS.key])


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ([], "a checkpoint of muckrake.local/log, of which no key is known, but none"),
        ([OTHER.key], "a checkpoint of muckrake.local/log, of which no key is known, but OTHER"),
        (
            [NEXT.key],
            f"no known key has signed this: it is signed by muckrake.local/log+{LOG.key.id.hex()}",
        ),
    ],
)
def test_a_checkpoint_of_a_log_that_is_not_known_is_refused(keys: list[Key], sentence: str) -> None:
    with pytest.raises(Refuted) as refused:
        open_checkpoint(SIGNED, keys)
    assert sentence.replace("OTHER", OTHER.key.name) == str(refused.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("log\n20\n", "a checkpoint has 3 lines, not 2"),
        (f"{BODY}more\n", "a checkpoint has 3 lines, not 4"),
        (f"{BODY}\n", "a checkpoint has 3 lines, not 4"),
        (BODY[:-1], "a checkpoint has 3 lines, not 2"),
        (BODY.replace("example.com/behind-the-sofa", ""), "a checkpoint without the name of its"),
        (BODY.replace("20852163", "020852163"), "the size in a checkpoint is a number up to"),
        (BODY.replace("20852163", "+5"), "the size in a checkpoint is a number up to"),
        (BODY.replace("20852163", "٥"), "the size in a checkpoint is a number up to"),
        (BODY.replace("20852163", str(2**63)), "the size in a checkpoint is a number up to"),
        (BODY.replace("20852163", "9" * 5000), "the size in a checkpoint is a number up to"),
        (BODY.replace("20852163", "0"), "a checkpoint of no leaves whose root is not that of the"),
        (BODY.replace("q2I=", "q2J="), "the root in a checkpoint is 32 bytes in base64, not 'CsUY"),
        (BODY.replace("q2I=", "q2I"), "the root in a checkpoint is 32 bytes in base64, not 'CsUY"),
        (BODY.replace("CsUY", ""), "the root in a checkpoint is 32 bytes in base64, not 'apGG"),
    ],
)  # fmt: skip
def test_what_is_no_checkpoint_is_refused_with_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(Refuted) as refused:
        read_checkpoint(text)
    assert str(refused.value).startswith(sentence)


def test_the_empty_tree_has_a_checkpoint_too() -> None:
    empty = Checkpoint("log", 0, EMPTY)
    assert empty == read_checkpoint(empty.text())


def test_a_receipt_proves_its_leaf() -> None:
    assert RECEIPT == read_receipt(RECEIPT.format())
    assert SignedCheckpoint(CHECKPOINT, (LOG.key,)) == RECEIPT.check(LEAVES[13], [LOG.key])


def test_a_receipt_in_a_tree_of_one_has_no_hashes() -> None:
    alone = Receipt(0, (), sign(Checkpoint(LOG.key.name, 1, LEAVES[0]), LOG))
    begin = b"c2sp.org/tlog-proof@v1\nindex 0\n\nmuckrake.local/log\n1\n"
    assert alone.format().startswith(begin)
    assert alone == read_receipt(alone.format())
    alone.check(LEAVES[0], [LOG.key])


def test_a_receipt_proves_no_other_leaf_and_no_other_index() -> None:
    for number, leaf in enumerate(LEAVES):
        if number != 13:
            with pytest.raises(Refuted, match="leaf 13 of 20 is not proved"):
                RECEIPT.check(leaf, [LOG.key])
            moved = Receipt(number, RECEIPT.proof, SIGNED)
            with pytest.raises(Refuted, match=f"leaf {number} of 20 is"):
                moved.check(LEAVES[13], [LOG.key])


def test_a_receipt_proves_nothing_beside_another_checkpoint() -> None:
    later = Frontier().added([*LEAVES, LEAVES[0]]).root()
    for size, root in ((21, later), (20, later), (40, HEAD), (10, HEAD)):
        moved = Receipt(13, RECEIPT.proof, sign(Checkpoint(LOG.key.name, size, root), LOG))
        with pytest.raises(Refuted):
            moved.check(LEAVES[13], [LOG.key])


def test_each_flipped_bit_of_a_receipt_is_refused() -> None:
    written = Receipt(13, RECEIPT.proof, cosign(SIGNED, WITNESS, 1_700_000_000)).format()
    assert seen_by_witness(written)
    for bit in range(0, 8 * len(written), sized(5, 1)):
        flipped = bytearray(written)
        flipped[bit // 8] ^= 1 << bit % 8
        assert not seen_by_witness(bytes(flipped)), f"bit {bit}"


def test_each_missing_or_doubled_byte_of_a_receipt_is_refused() -> None:
    written = Receipt(13, RECEIPT.proof, cosign(SIGNED, WITNESS, 1_700_000_000)).format()
    for at in range(len(written)):
        assert not seen_by_witness(written[:at])
        assert not seen_by_witness(written[:at] + written[at + 1 :])
        assert not seen_by_witness(written[: at + 1] + written[at:])


def seen_by_witness(data: bytes) -> bool:
    """A witness whose name was damaged is an unknown one: the receipt holds without him."""
    try:
        return bool(read_receipt(data).check(LEAVES[13], [LOG.key], [WITNESS.key]).witnesses)
    except Refuted:
        return False


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "a receipt begins with the line c2sp.org/tlog-proof@v1, not ''"),
        (b"c2sp.org/tlog-proof@v2\nindex 0\n\n", "a receipt begins with the line c2sp.org/tlog"),
        (b"c2sp.org/tlog-proof@v1\nindex 0\n", "a receipt without the empty line that stands"),
        (b"c2sp.org/tlog-proof@v1\n\nx", "the second line of a receipt is its index, not ''"),
        (
            b"c2sp.org/tlog-proof@v1\nextra AAAA\nindex 0\n\nx",
            "the second line of a receipt is its index, not 'extra AAAA'",
        ),
        (b"c2sp.org/tlog-proof@v1\nindex\n\nx", "the second line of a receipt is its index"),
        (b"c2sp.org/tlog-proof@v1\nindex 01\n\nx", "the index in a receipt is a number up to"),
        (b"c2sp.org/tlog-proof@v1\nindex -1\n\nx", "the index in a receipt is a number up to"),
        (b"c2sp.org/tlog-proof@v1\nindex 1\nAAAA\n\nx", "hash 0 of a receipt is 32 bytes in"),
        (b"c2sp.org/tlog-proof@v1\nindex 1\n\xff\n\nx", "a receipt that is not UTF-8 at byte 31"),
    ],
)  # fmt: skip
def test_what_is_no_receipt_is_refused_with_a_sentence(data: bytes, sentence: str) -> None:
    with pytest.raises(Refuted) as refused:
        read_receipt(data)
    assert str(refused.value).startswith(sentence)


def test_a_receipt_is_written_as_it_always_was() -> None:
    assert FROZEN == RECEIPT.format().decode()
