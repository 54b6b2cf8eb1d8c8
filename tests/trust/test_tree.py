"""Heads and proofs: every tree of up to 64 leaves against the definition, and large ones."""

import random
from functools import cache
from hashlib import sha256

import pytest

from store.proof.tree import (
    EMPTY,
    Frontier,
    Proof,
    Refuted,
    check_consistency,
    check_inclusion,
    consistency,
    frontier,
    inclusion,
    leaf_hash,
)
from tests.profiles import sized
from tests.trust import naive_tree
from tests.trust.stored_hashes import InMemory

MOST = 64
DATA = [b"leaf %d" % number for number in range(MOST)]
LEAVES = [leaf_hash(data) for data in DATA]
SIZES = range(1, MOST + 1)


@cache
def naive_head(size: int) -> bytes:
    return naive_tree.head(DATA[:size])


def flipped(proof: Proof, bit: int) -> Proof:
    at, inside = divmod(bit, 256)
    changed = bytearray(proof[at])
    changed[inside // 8] ^= 1 << inside % 8
    return (*proof[:at], bytes(changed), *proof[at + 1 :])


def test_a_frontier_that_grows_leaf_by_leaf_has_the_head_of_every_size() -> None:
    grown = Frontier()
    assert EMPTY == grown.root()
    for size in SIZES:
        grown = grown.added([LEAVES[size - 1]])
        assert naive_head(size) == grown.root()
        assert size == grown.size
        assert size.bit_count() == len(grown.hashes)


@pytest.mark.parametrize("first", [0, 1, 7, 32, 63])
def test_many_leaves_at_once_are_the_same_tree(first: int) -> None:
    for size in range(first, MOST + 1):
        begun = Frontier().added(LEAVES[:first])
        assert Frontier().added(LEAVES[:size]) == begun.added(LEAVES[first:size])


def test_a_frontier_read_from_stored_hashes_is_the_one_that_grew() -> None:
    stored = InMemory(LEAVES)
    for size in range(MOST + 1):
        assert Frontier().added(LEAVES[:size]) == frontier(size, stored)


@pytest.mark.parametrize("size", SIZES)
def test_each_leaf_is_proved_as_the_definition_says(size: int) -> None:
    stored = InMemory(LEAVES)  # a larger tree's hashes serve the smaller
    for index in range(size):
        proof = inclusion(index, size, stored)
        assert naive_tree.path(index, DATA[:size]) == list(proof)
        check_inclusion(LEAVES[index], index, size, naive_head(size), proof)


@pytest.mark.parametrize("new", SIZES)
def test_each_older_tree_is_proved_as_the_definition_says(new: int) -> None:
    stored = InMemory(LEAVES)
    for old in range(1, new + 1):
        proof = consistency(old, new, stored)
        assert naive_tree.proof(old, DATA[:new]) == list(proof)
        check_consistency(old, naive_head(old), new, naive_head(new), proof)


@pytest.mark.parametrize("size", [2, 3, 6, 7, 8, 13, 16])
def test_each_flipped_bit_of_a_proof_of_a_leaf_is_refused(size: int) -> None:
    stored = InMemory(LEAVES)
    root = naive_head(size)
    for index in range(size):
        proof = inclusion(index, size, stored)
        for bit in range(256 * len(proof)):
            with pytest.raises(Refuted):
                check_inclusion(LEAVES[index], index, size, root, flipped(proof, bit))


@pytest.mark.parametrize("new", [2, 3, 6, 7, 8, 13, 16])
def test_each_flipped_bit_of_a_proof_of_an_older_tree_is_refused(new: int) -> None:
    stored = InMemory(LEAVES)
    for old in range(1, new):
        proof = consistency(old, new, stored)
        for bit in range(0, 256 * len(proof), sized(7, 1)):
            with pytest.raises(Refuted):
                check_consistency(old, naive_head(old), new, naive_head(new), flipped(proof, bit))


def test_a_proof_of_a_leaf_proves_no_other_leaf_index_or_head() -> None:
    stored = InMemory(LEAVES[:24])
    for size in range(1, 25):
        for index in range(size):
            proof = inclusion(index, size, stored)
            for other in range(-1, 25):
                if other != index:
                    with pytest.raises(Refuted):
                        check_inclusion(LEAVES[index], other, size, naive_head(size), proof)
                if other != size and other >= 0:
                    with pytest.raises(Refuted):
                        check_inclusion(LEAVES[index], index, size, naive_head(other), proof)
            with pytest.raises(Refuted):
                check_inclusion(LEAVES[(index + 1) % MOST], index, size, naive_head(size), proof)


def test_a_proof_of_an_older_tree_proves_no_other_pair_of_trees() -> None:
    stored = InMemory(LEAVES[:16])
    heads = [naive_head(size) for size in range(17)]
    for new in range(1, 17):
        for old in range(1, new):
            proof = consistency(old, new, stored)
            for then in range(17):
                if then != old:
                    with pytest.raises(Refuted):
                        check_consistency(old, heads[then], new, heads[new], proof)
                if then != new:
                    with pytest.raises(Refuted):
                        check_consistency(old, heads[old], new, heads[then], proof)


def test_a_wrong_size_is_refused_where_the_path_would_be_another() -> None:
    """RFC 6962 lets one path serve several sizes; the head then is of one of them only."""
    stored = InMemory(LEAVES)
    for size in SIZES:
        for index in range(0, size, sized(5, 1)):
            proof = inclusion(index, size, stored)
            for said in SIZES:
                if said != size:
                    with pytest.raises(Refuted):
                        check_inclusion(LEAVES[index], index, said, naive_head(said), proof)


@pytest.mark.parametrize(
    ("index", "size", "proof", "sentence"),
    [
        (3, 3, (), "there is no leaf 3 in a tree of 3"),
        (-1, 3, (), "there is no leaf -1 in a tree of 3"),
        (0, 0, (), "there is no leaf 0 in a tree of 0"),
        (2, 8, (EMPTY,), "leaf 2 of 8 is proved by 3 hashes, not 1"),
        (0, 1, (EMPTY,), "leaf 0 of 1 is proved by 0 hashes, not 1"),
        (0, 2, (b"short",), "leaf 0 of 2 is proved by hashes of 32 bytes, not 5"),
    ],
)
def test_what_is_no_proof_of_a_leaf_is_refused_with_a_sentence(
    index: int, size: int, proof: Proof, sentence: str
) -> None:
    with pytest.raises(Refuted) as refused:
        check_inclusion(LEAVES[0], index, size, EMPTY, proof)
    assert sentence == str(refused.value)


def test_a_proof_that_leads_elsewhere_says_where() -> None:
    there, here = naive_head(2).hex(), naive_head(3).hex()
    with pytest.raises(Refuted) as refused:
        check_inclusion(LEAVES[0], 0, 2, naive_head(3), (LEAVES[1],))
    assert f"leaf 0 of 2 is not proved: leaf and proof lead to the root {there}, not {here}" == str(
        refused.value
    )
    with pytest.raises(Refuted, match="that the first 1 of 2 leaves are unchanged is not proved"):
        check_consistency(1, LEAVES[0], 2, naive_head(3), (LEAVES[1],))


def test_a_tree_that_shrank_is_refused() -> None:
    sentence = "a tree of 3 leaves cannot have become one of 2: it only grows"
    with pytest.raises(Refuted, match=sentence):
        check_consistency(3, naive_head(3), 2, naive_head(2), ())
    with pytest.raises(Refuted, match=sentence):
        consistency(3, 2, InMemory(LEAVES))


def test_from_nothing_and_to_itself_no_hash_is_needed() -> None:
    head = naive_head(5)
    assert () == consistency(0, 5, InMemory(LEAVES))
    assert () == consistency(5, 5, InMemory(LEAVES))
    check_consistency(0, EMPTY, 5, head, ())
    check_consistency(5, head, 5, head, ())
    with pytest.raises(Refuted, match="two trees of 5 leaves: "):
        check_consistency(5, naive_head(4), 5, head, ())
    with pytest.raises(Refuted, match="two trees of 0 leaves: "):
        check_consistency(0, head, 5, head, ())
    with pytest.raises(Refuted, match="is proved by 0 hashes, not 1"):
        check_consistency(0, EMPTY, 5, head, (EMPTY,))


def test_large_trees_are_proved_with_few_stored_hashes() -> None:
    chance = random.Random(5)
    leaves = [sha256(b"%d" % number).digest() for number in range(70_000)]
    stored = InMemory(leaves)
    for _ in range(200):
        size = chance.randint(1, len(leaves))
        index, old = chance.randrange(size), chance.randint(1, size)
        root = frontier(size, stored).root()
        then = frontier(old, stored).root()
        stored.asked = 0
        check_inclusion(leaves[index], index, size, root, inclusion(index, size, stored))
        check_consistency(old, then, size, root, consistency(old, size, stored))
        assert stored.asked <= 4 * size.bit_length()
    assert Frontier().added(leaves) == frontier(len(leaves), stored)
