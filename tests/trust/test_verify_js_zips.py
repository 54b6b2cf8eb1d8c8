"""What verify.js and verify.py make of zips, deflated streams, hashes and signatures."""

import hashlib
import hmac
import random
import zlib
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.evidence import verify as script
from api.evidence.bundle import zip_bytes
from tests.profiles import sized
from tests.trust.in_node import VERIFY_JS, called_in_node, node, same
from tests.trust.raw_zip import DEFLATED, Part, zipped
from tests.trust.test_curve import VECTORS
from tests.trust.test_evidence_zip import FINE, STRANGE
from tests.trust.test_verify_py_changed import _files


@pytest.fixture(autouse=True, scope="module")
def _node_is_there() -> None:
    node()


@pytest.fixture(autouse=True)
def _signatures_are_checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script, "is_signed", cache(script.is_signed))


# Zips.


@pytest.mark.parametrize(
    "whole", [*FINE.values(), *(one[0] for one in STRANGE.values())], ids=[*FINE, *STRANGE]
)
def test_zips_are_read_alike(whole: bytes) -> None:
    assert 3 == same(whole).code  # none of them holds a whole bundle


def test_a_bundle_is_proved_from_its_zip() -> None:
    assert 7 == same(zip_bytes(_files())).code


def test_any_changed_byte_of_a_zip_is_told_alike() -> None:
    whole = zip_bytes(_files())
    few = sized(quick=3, ci=2, slow=1)
    for at in [*range(0, len(whole), 997 * few), *range(len(whole) - 900, len(whole), 7 * few)]:
        same(whole[:at] + bytes([whole[at] ^ 1 << at % 8]) + whole[at + 1 :])


@pytest.mark.parametrize("level", [0, 1, 6, 9])
@pytest.mark.parametrize("strategy", [zlib.Z_DEFAULT_STRATEGY, zlib.Z_HUFFMAN_ONLY, zlib.Z_FIXED])
def test_what_is_deflated_is_inflated_alike(level: int, strategy: int) -> None:
    text = VERIFY_JS.read_bytes() * 3 + random.Random(level).randbytes(70_000)
    packer = zlib.compressobj(level, zlib.DEFLATED, -15, 8, strategy)
    data = packer.compress(text) + packer.flush()
    assert 3 == same(zipped([Part(b"key", text, DEFLATED, data=data)])).code


@pytest.mark.parametrize("seed", range(6))
def test_streams_that_are_spoilt_are_told_alike(seed: int) -> None:
    """Inflating is ours in JavaScript, the library's in Python."""
    chance = random.Random(seed)
    text = bytes(chance.choice(b"aaabcdef\n") for _ in range(300)) + chance.randbytes(40)
    packer = zlib.compressobj(9, zlib.DEFLATED, -15, 8, chance.choice([0, 0, 2, 4]))
    data = packer.compress(text) + packer.flush()
    for _ in range(sized(quick=50, ci=100, slow=150)):
        spoilt = bytearray(data)
        for _ in range(chance.choice([1, 1, 2, 9])):
            spoilt[chance.randrange(min(len(spoilt), 90))] ^= 1 << chance.randrange(8)
        cut = bytes(spoilt)[: chance.choice([len(spoilt), chance.randrange(len(spoilt))])]
        size = chance.choice([len(text), chance.randrange(400)])
        same(zipped([Part(b"key", text, DEFLATED, data=cut, size=size)]))


@given(data=st.binary(max_size=60), size=st.integers(0, 300))
def test_streams_of_anything_are_told_alike(data: bytes, size: int) -> None:
    for first in (b"", b"\x04", b"\x05", b"\x03"):
        same(zipped([Part(b"key", b"", DEFLATED, data=first + data, size=size, crc=0)]))


# The same vectors.


@pytest.mark.parametrize("one", VECTORS, ids=[one["what"] for one in VECTORS])
def test_signatures_at_the_edges_are_told_alike(one: dict[str, Any]) -> None:
    public, signed = bytes.fromhex(one["key"]), bytes.fromhex(one["signature"])
    assert one["holds"] is called_in_node("isSigned", public, signed, one["text"].encode())
    is_key = script.key_point(public) is not None
    assert is_key is called_in_node("keyPoint", public)


@given(message=st.binary(max_size=400))
def test_hashes_are_those_of_the_library(message: bytes) -> None:
    assert hashlib.sha256(message).digest() == called_in_node("sha256", message)
    assert hashlib.sha512(message).digest() == called_in_node("sha512", message)
    key = hashlib.sha256(message).digest()
    assert hmac.digest(key, message, "sha256") == called_in_node("hmac", key, message)
