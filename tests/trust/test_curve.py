"""Keys and signatures at the edges of the curve: each is refused by everything that reads one."""

import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from hypothesis import given
from hypothesis import strategies as st

from api.evidence import verify as script
from store.proof.note import WITNESSES, Key, Note, Signature, Signer, is_public_key, verify
from store.proof.tree import Refuted
from tests.fences import fences
from tests.trust.own_bundles import Draft, hands, problem

PAGE = Path(__file__).parents[2] / "docs" / "record-format.md"
VECTORS: list[dict[str, Any]] = json.loads(
    next(fence.text for fence in fences(PAGE) if fence.told == "signatures")
)
every_vector = pytest.mark.parametrize("one", VECTORS, ids=[one["what"] for one in VECTORS])
BAD_KEYS = [one for one in VECTORS if one["what"].startswith("the key is")]
every_bad_key = pytest.mark.parametrize("one", BAD_KEYS, ids=[one["what"] for one in BAD_KEYS])


def _parts(one: dict[str, Any]) -> tuple[bytes, bytes, bytes]:
    return bytes.fromhex(one["key"]), bytes.fromhex(one["signature"]), one["text"].encode()


@every_vector
def test_the_verifier_in_a_bundle_tells_them_apart(one: dict[str, Any]) -> None:
    assert one["holds"] is script.is_signed(*_parts(one))


@every_vector
def test_the_ledgers_own_notes_tell_them_apart(one: dict[str, Any]) -> None:
    public, signed, _ = _parts(one)
    key = Key("a.log", 1, public)
    note = Note(one["text"], (Signature(key.name, key.id, signed),))
    if one["holds"]:
        assert verify(note, [key])
        return
    with pytest.raises(Refuted, match="does not hold"):
        verify(note, [key])


def test_most_of_them_are_taken_by_a_library_that_asks_less() -> None:
    """So it is our own rule that refuses them, and not its."""
    assert 15 <= sum(map(_taken, VECTORS)) < len(VECTORS)


def _taken(one: dict[str, Any]) -> bool:
    public, signed, message = _parts(one)
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signed, message)
    except InvalidSignature:
        return False
    return True


@every_bad_key
@pytest.mark.parametrize("kind", [1, WITNESSES])
def test_such_a_key_is_not_read(one: dict[str, Any], kind: int) -> None:
    line = Key("a.log", kind, bytes.fromhex(one["key"])).text()
    with pytest.raises(Refuted, match="is no key that anybody can have drawn"):
        Key.read(line)


@every_bad_key
def test_a_bundle_under_such_a_key_is_refused_before_its_signatures(one: dict[str, Any]) -> None:
    line = Key("a.log", 1, bytes.fromhex(one["key"])).text()
    files = Draft(hands("auction-2024")[0], "public").files()
    expected = "key is no key that anybody can have drawn: no point of order L"
    assert expected == problem({**files, "key": f"{line}\n".encode()})


def test_a_forger_without_any_secret_signs_nothing_under_the_neutral_point() -> None:
    """R = S*B holds for every text under it: nobody would need to know anything."""
    public, signed, _ = _parts(BAD_KEYS[0])
    for text in (b"one history\n", b"another\n"):
        assert _taken({**BAD_KEYS[0], "text": text.decode()})
        assert not script.is_signed(public, signed, text)


@given(seed=st.binary(min_size=32, max_size=32))
def test_every_key_that_is_drawn_is_read(seed: bytes) -> None:
    public = Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()
    assert is_public_key(public)
    assert script.key_point(public) is not None
    assert Key.read(Signer("a.log", seed).key.text()).public == public


@given(some=st.binary(min_size=32, max_size=32))
def test_both_think_alike_of_any_bytes(some: bytes) -> None:
    assert is_public_key(some) == (script.key_point(some) is not None)


@pytest.mark.parametrize("size", [0, 31, 33])
def test_a_key_has_32_bytes(size: int) -> None:
    assert not is_public_key(bytes(size))
    assert script.key_point(bytes(size)) is None
