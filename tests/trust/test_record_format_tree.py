"""Every example of the tree, notes and receipts in docs/record-format.md is what the code makes."""

from pathlib import Path
from textwrap import indent

import pytest

from store.proof.checkpoint import cosign
from store.proof.tree import Frontier, consistency, leaf_hash
from tests.trust.stored_hashes import InMemory
from tests.trust.test_checkpoint import LEAVES, LOG, RECEIPT, SIGNED, WITNESS

PAGE = Path(__file__).parents[2] / "docs" / "record-format.md"
LEAF = (
    b'{"first":0,"hand_seq":13,"lines":29,"record_sha256":'
    b'"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",'
    b'"stream":"scrim/7","v":1}'
)


@pytest.fixture(scope="module")
def page() -> str:
    if not PAGE.exists():
        pytest.skip("docs/record-format.md is not there yet")
    return PAGE.read_text("utf-8")


def test_the_leaf_has_the_hash_that_the_page_says(page: str) -> None:
    assert f"is {len(LEAF)} bytes and has the leaf hash\n`{leaf_hash(LEAF).hex()}`" in page


@pytest.mark.parametrize("size", [0, 1, 13, 20, 256, 257, 65_537])
def test_the_heads_are_those_of_the_page(page: str, size: int) -> None:
    head = Frontier().added(leaf_hash(b"%d" % number) for number in range(size)).root()
    assert f"| {size:,} | `{head.hex()}` |" in page


def test_the_proof_that_the_tree_grew_is_that_of_the_page(page: str) -> None:
    stored = InMemory(LEAVES)
    lines = [f"{hashed.hex()}\n" for hashed in consistency(13, 20, stored)]
    assert indent("".join(lines), "    ") in page
    assert lines[-1:] == [f"{hashed.hex()}\n" for hashed in consistency(16, 20, stored)]


def test_the_receipt_and_its_keys_are_those_of_the_page(page: str) -> None:
    shown = RECEIPT.format().decode().splitlines()
    assert shown in _runs(page, len(shown))
    assert f"`{LOG.key.text()}`" in page
    assert f"`{WITNESS.key.text()}`" in page
    assert cosign(SIGNED, WITNESS, 1_700_000_000).decode().splitlines()[-1] in page


def _runs(page: str, count: int) -> list[list[str]]:
    """Every so many lines in a row, without the spaces around them."""
    lines = [line.strip() for line in page.splitlines()]
    return [lines[at : at + count] for at in range(len(lines) - count + 1)]
