"""Signed notes: what others signed is read, what nobody could have signed is refused."""

from collections.abc import Callable

import pytest

from store.proof.note import (
    SIGNATURES_MAX,
    WITNESSES,
    Key,
    Note,
    Signature,
    Signed,
    Signer,
    open_note,
    parse,
    sign,
    verify,
)
from store.proof.tree import Refuted

# C2SP signed-note gives these two as its example.
EXAMPLE_KEY = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"
EXAMPLE = (
    "This is an example message.\n\n— example.com/foo "
    "Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n"
)
# The checksum database of Go tests itself with these two keys, and what they sign.
PETER_SECRET = "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz"
PETER = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
ENOCH = "EnochRoot+af0cfe78+ATtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop"
TEXT = (
    "If you think cryptography is the answer to your problem,\n"
    "then you don't know what your problem is.\n"
)
BY_PETER = (
    "— PeterNeumann "
    "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
)
BY_ENOCH = (
    "— EnochRoot "
    "rwz+eBzmZa0SO3NbfRGzPCpDckykFXSdeX+MNtCOXm2/5n2tiOHp+vAF1aGrQ5ovTG01oOTGwnWLox33WWd1RvMc+QQ=\n"
)
peter, enoch = Key.read(PETER), Key.read(ENOCH)


def opened(note: str, *keys: Key) -> tuple[str, tuple[Signed, ...]]:
    return open_note(note.encode(), keys)


def test_the_example_of_the_specification_is_believed() -> None:
    key = Key.read(EXAMPLE_KEY)
    assert EXAMPLE_KEY == key.text()
    assert ("This is an example message.\n", (Signed(key),)) == opened(EXAMPLE, key)


def test_we_sign_as_go_does() -> None:
    signer = Signer.read(PETER_SECRET.encode())
    assert PETER == signer.key.text()
    assert f"{PETER_SECRET}\n".encode() == signer.spelled()
    assert f"{TEXT}\n{BY_PETER}" == sign(TEXT, signer).decode()


def test_whose_key_is_known_is_named_and_others_are_passed_over() -> None:
    both = f"{TEXT}\n{BY_PETER}{BY_ENOCH}"
    assert (TEXT, (Signed(peter),)) == opened(both, peter)
    assert (TEXT, (Signed(enoch),)) == opened(both, enoch)
    assert (TEXT, (Signed(peter), Signed(enoch))) == opened(both, enoch, peter, peter)


def test_a_key_that_signed_twice_is_named_once() -> None:
    assert (TEXT, (Signed(peter),)) == opened(f"{TEXT}\n{BY_PETER}{BY_PETER}", peter)


def test_a_note_by_nobody_known_says_who_signed_it() -> None:
    with pytest.raises(Refuted) as refused:
        opened(f"{TEXT}\n{BY_PETER}{BY_ENOCH}")
    who = "PeterNeumann+c74f20a3, EnochRoot+af0cfe78"
    assert f"no known key has signed this: it is signed by {who}" == str(refused.value)


def test_one_known_signature_that_does_not_hold_spoils_the_note() -> None:
    more = f"{TEXT}More.\n"
    signed = sign(more, Signer.read(PETER_SECRET.encode())).decode()
    assert (more, (Signed(peter),)) == opened(signed + BY_ENOCH, peter)
    with pytest.raises(Refuted) as refused:
        opened(signed + BY_ENOCH, peter, enoch)
    assert "the signature of EnochRoot+af0cfe78 does not hold" == str(refused.value)


def test_two_keys_of_one_name_and_id_are_refused() -> None:
    class Twin(Key, frozen=True):
        """Four bytes of a hash can be found again by trying; here the search is left out."""

        @property
        def id(self) -> bytes:
            return peter.id

    twin = Twin(peter.name, peter.kind, enoch.public)
    with pytest.raises(Refuted, match="two different keys are PeterNeumann\\+c74f20a3"):
        opened(f"{TEXT}\n{BY_PETER}", peter, twin)


def signer_of(text: str) -> Signer:
    return Signer.read(text.encode())


@pytest.mark.parametrize(("read", "right"), [(Key.read, PETER), (signer_of, PETER_SECRET)])
def test_a_key_has_one_spelling(read: Callable[[str], object], right: str) -> None:
    """Go's own mutations: every piece of it, and every sign replaced by the next."""
    read(right)
    pieces = {right[i:j] for i in range(len(right)) for j in range(i, len(right) + 1)}
    nexts = {right[:i] + chr(ord(right[i]) + 1) + right[i + 1 :] for i in range(len(right))}
    others = {PETER, PETER_SECRET}
    for wrong in (pieces | nexts | others) - {right}:
        with pytest.raises(Refuted):
            read(wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        # one byte too many, and a kind that nobody knows, each with the id that would fit
        "PeterNeumann+cc469956+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TWBADKEY==",
        "PeterNeumann+173116ae+ZRpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
        PETER.upper(),
        PETER.replace("c74f20a3", "C74F20A3"),
        f"{PETER}\n",
        f" {PETER}",
        PETER.replace("PeterNeumann", ""),
        PETER.replace("PeterNeumann", "Peter Neumann"),
        PETER.replace("PeterNeumann", "Peter\u00a0Neumann"),
    ],
)
def test_what_is_no_key_is_refused(wrong: str) -> None:
    with pytest.raises(Refuted):
        Key.read(wrong)


def test_a_secret_shows_itself_nowhere() -> None:
    signer = Signer.read(PETER_SECRET.encode())
    seed = PETER_SECRET.rsplit("+", 1)[1]
    assert f"Signer of {PETER}" == repr(signer)
    for wrong in (
        PETER_SECRET.replace("c74f20a3", "c74f20a4"),
        PETER_SECRET[:-1],
        "x" + PETER_SECRET,
    ):
        with pytest.raises(Refuted) as refused:
            Signer.read(wrong.encode())
        assert seed[:8] not in str(refused.value)


def test_a_new_key_signs_and_is_read_again() -> None:
    one, other = Signer.new("muckrake.local/test"), Signer.new("muckrake.local/test")
    assert one.key != other.key
    again = Signer.read(one.spelled())
    assert one.key == again.key == Key.read(one.key.text())
    assert ("hi\n", (Signed(one.key),)) == open_note(sign("hi\n", again), [one.key, other.key])


@pytest.mark.parametrize(
    ("note", "sentence"),
    [
        (TEXT, "a note without the empty line that stands before its signatures"),
        (f"{TEXT}\n", "a note that does not end in a signature line"),
        (f"{TEXT}\n{BY_PETER[:-1]}", "a note that does not end in a signature line"),
        (f"\x01{TEXT}\n{BY_PETER}", "a note has no control characters but newlines"),
        (f"{TEXT}\r\n\n{BY_PETER}", "a note has no control characters but newlines"),
        (f"{TEXT}\n{BY_PETER}Unexpected.\n", "not a signature line: 'Unexpected.'"),
        (f"{TEXT}\n{BY_PETER.replace('—', '-')}", "not a signature line: '- PeterNeumann "),
        (f"{TEXT}\n{BY_PETER.replace('Neumann', ' Neumann')}", "not a signature line: "),
        (f"{TEXT}\n{BY_PETER.replace('Neumann', '+')}", "'Peter+' cannot be the name of a key"),
        (f"{TEXT}\n— PeterNeumann x08g\n", "the signature of PeterNeumann is not four bytes"),
        (f"{TEXT}\n— PeterNeumann x08gozz\n", "the signature of PeterNeumann is not four bytes"),
        (f"{TEXT}\n{BY_PETER * (SIGNATURES_MAX + 1)}", "a note with 101 signatures: at most 100"),
        (f"{'x' * 999_999}\n\n{BY_PETER}", "a note of 1000111 bytes: more than 1000000"),
    ],
)  # fmt: skip
def test_what_is_no_note_is_refused_with_a_sentence(note: str, sentence: str) -> None:
    with pytest.raises(Refuted) as refused:
        parse(note.encode())
    assert str(refused.value).startswith(sentence)


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(Refuted, match="a note that is not UTF-8 at byte 0"):
        parse(b"\xff" + f"{TEXT}\n{BY_PETER}".encode())


def test_a_text_may_have_empty_lines_of_its_own() -> None:
    text = "one\n\ntwo\n\n— not a signature, for there is more below\n"
    signer = Signer.new("poet")
    assert (text, (Signed(signer.key),)) == open_note(sign(text, signer), [signer.key])


def test_nothing_is_signed_that_could_not_be_read_again() -> None:
    for wrong in ("", "no newline", "a\tb\n", "a\r\n"):
        with pytest.raises(Refuted):
            sign(wrong, Signer.new("poet"))


def test_a_note_is_written_as_it_was_read() -> None:
    note = f"{TEXT}\n{BY_PETER}{BY_ENOCH}".encode()
    assert note == parse(note).format()


def signed_by_both(note: bytes) -> bool:
    """A signature whose key's name was damaged is an unknown one: the note holds without it."""
    try:
        return len(open_note(note, [peter, enoch])[1]) == 2
    except Refuted:
        return False


def test_each_flipped_bit_of_a_signed_note_is_refused() -> None:
    note = f"{TEXT}\n{BY_PETER}{BY_ENOCH}".encode()
    assert signed_by_both(note)
    for bit in range(8 * len(note)):
        flipped = bytearray(note)
        flipped[bit // 8] ^= 1 << bit % 8
        assert not signed_by_both(bytes(flipped))


def test_a_witness_signs_for_a_time() -> None:
    witness = Signer.new("witness.local/w", WITNESSES)
    signature = witness.cosign(TEXT, 1_679_315_147)
    note = Note(TEXT, (signature,))
    assert (Signed(witness.key, 1_679_315_147),) == verify(note, [witness.key])
    later = signature.signed[:7] + bytes([signature.signed[7] ^ 1]) + signature.signed[8:]
    for wrong in (later, signature.signed[8:], b"", bytes(72)):
        with pytest.raises(Refuted, match=r"the signature of witness\.local/w\+.* does not hold"):
            verify(Note(TEXT, (Signature(witness.key.name, witness.key.id, wrong),)), [witness.key])


def test_the_witnesses_of_others_are_known_by_their_keys() -> None:
    """A public witness's vkey; and a cosignature in the tests of transparency-dev/formats."""
    text = "remora.n621.de+da77ade7+BOvN63jn/bLvkieywe8R6UYAtVtNbZpXh34x7onlmtw2"
    assert WITNESSES == Key.read(text).kind
    line = (
        "— someone ZGhGuQAAAABm/qTPeyKXD+R2rzyQsxPiP8mXum7qq/iF0u4vanlqJyoc"
        "WODBt97w9uL+8qT7S5gxEHWWOworDcFiEBYJXORmnFBOBA=="
    )
    (signature,) = parse(f"{TEXT}\n{line}\n".encode()).signatures
    assert 1_727_964_367 == int.from_bytes(signature.signed[:8], "big")
    assert 64 == len(signature.signed[8:])
    assert line == signature.line()


def test_the_same_secret_as_log_and_as_witness_is_two_keys() -> None:
    """Else a log's signature could be passed off as a witness's, or the other way round."""
    log, witness = Signer("a", bytes(32)), Signer("a", bytes(32), WITNESSES)
    assert log.key.public == witness.key.public
    assert log.key.id != witness.key.id
    for signature, key in (
        (log.sign(TEXT), witness.key),
        (witness.cosign(TEXT, 5), log.key),
    ):
        taken = Signature(key.name, key.id, signature.signed)
        with pytest.raises(Refuted, match="does not hold"):
            verify(Note(TEXT, (taken,)), [key])
