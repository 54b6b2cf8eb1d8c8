"""Trees that others hashed: the reference vectors of RFC 6962, a real log; and one of our own."""

from base64 import b64decode
from collections import defaultdict
from pathlib import Path

import pytest

from store.proof.tree import (
    EMPTY,
    Frontier,
    Refuted,
    check_consistency,
    check_inclusion,
    consistency,
    inclusion,
    leaf_hash,
)
from tests.trust.stored_hashes import InMemory

# The eight leaves of the reference implementation of Certificate Transparency, which every other
# implementation tests itself with: heads of their first n, and its named hashes in proofs of them.
REFERENCE = [
    bytes.fromhex(data)
    for data in (
        "", "00", "10", "2021", "3031", "40414243", "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]  # fmt: skip
HEADS = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
PATHS = {
    (0, 1): [],
    (0, 8): [
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    ],
    (5, 8): [
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ],
    (2, 3): ["fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"],
    (1, 5): [
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    ],
}
PROOFS = {
    (1, 1): [],
    (1, 8): [
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    ],
    (6, 8): [
        "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ],
    (2, 5): [
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    ],
    (6, 7): [
        "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
        "b08693ec2e721597130641e8211e7eedccb4c26413963eee6c1e2ed16ffb1a5f",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ],
}
# Ours, frozen: leaf n is the number n in ASCII. A tree that hashes otherwise is another tree.
FROZEN = {
    1: "db3426e878068d28d269b6c87172322ce5372b65756d0789001d34835f601c03",
    255: "32f85bcaa87d7bcd05728f09e9aeba350ba6a2f733830087f0597682848be5cb",
    256: "828515d033c19d8c901f37eccb8aed919667703486f8d2fff1cf7040321c5db1",
    257: "1eda049a4351d86f76252bd7ec0b7746ad75b7fa0316ad5f541dbda458a312c4",
    65_537: "dc8795a25fd4bd52a0b84f639fd3139ba160824023d188e428eb5db0f3ce221a",
}


def test_the_heads_of_the_reference_leaves_are_the_published_ones() -> None:
    grown = Frontier()
    heads = [grown.root().hex()]
    for data in REFERENCE:
        grown = grown.added([leaf_hash(data)])
        heads.append(grown.root().hex())
    assert HEADS == heads


@pytest.mark.parametrize(("index", "size"), PATHS)
def test_a_reference_leaf_has_the_published_path(index: int, size: int) -> None:
    leaves = [leaf_hash(data) for data in REFERENCE]
    proof = inclusion(index, size, InMemory(leaves))
    assert PATHS[index, size] == [hashed.hex() for hashed in proof]
    check_inclusion(leaves[index], index, size, bytes.fromhex(HEADS[size]), proof)


@pytest.mark.parametrize(("old", "new"), PROOFS)
def test_a_reference_tree_has_the_published_proof_that_it_grew(old: int, new: int) -> None:
    proof = consistency(old, new, InMemory([leaf_hash(data) for data in REFERENCE]))
    assert PROOFS[old, new] == [hashed.hex() for hashed in proof]
    heads = bytes.fromhex(HEADS[old]), bytes.fromhex(HEADS[new])
    check_consistency(old, heads[0], new, heads[1], proof)


def test_the_proofs_of_a_real_log_are_accepted_and_nothing_near_them() -> None:
    told = defaultdict(list)
    for line in (Path(__file__).parent / "argon2020.txt").read_text("ascii").splitlines():
        word, _, value = line.partition(" ")
        told[word].append(value)
    size, index, old = (int(told[word][0]) for word in ("size", "index", "old-size"))
    leaf, root, then = (b64decode(told[word][0]) for word in ("leaf", "root", "old-root"))
    path, unchanged = ([b64decode(one) for one in told[word]] for word in ("path", "unchanged"))
    check_inclusion(leaf, index, size, root, path)
    check_consistency(old, then, size, root, unchanged)
    for near in (index - 1, index + 1, index + 16_384):
        with pytest.raises(Refuted):
            check_inclusion(leaf, near, size, root, path)
    for near in (old - 1, old + 1):
        with pytest.raises(Refuted):
            check_consistency(near, then, size, root, unchanged)


def test_our_own_tree_has_the_heads_it_always_had() -> None:
    heads = {}
    grown = Frontier()
    for size in FROZEN:
        grown = grown.added(leaf_hash(b"%d" % number) for number in range(grown.size, size))
        heads[size] = grown.root().hex()
    assert FROZEN == heads


def test_the_empty_tree_is_the_hash_of_nothing() -> None:
    assert HEADS[0] == EMPTY.hex()
