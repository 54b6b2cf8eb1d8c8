"""The tree's files: tiles as C2SP names them, proofs from them, cuts, damage and power losses."""

import random
from itertools import pairwise
from pathlib import Path

import pytest

from store.folder.disk import Disk, RealDisk
from store.folder.frames import Damaged
from store.proof.tree import (
    Frontier,
    Refuted,
    check_consistency,
    check_inclusion,
    consistency,
    frontier,
    inclusion,
    leaf_hash,
)
from store.proof.tree_file import (
    Tile,
    TreeFiles,
    faults,
    open_tree,
    path_of,
    read_path,
    rebuild,
    tiles,
    width,
)
from tests.profiles import sized
from tests.store.simulated_disk import PowerLost, SimulatedDisk

MOST = 70_000  # the size that tlog-tiles gives as its example
LEAVES = [leaf_hash(b"leaf %d" % number) for number in range(MOST)]


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Disk:
    disk = RealDisk(tmp_path_factory.mktemp("large"))
    grow(disk, 0, MOST)
    return disk


def grow(disk: Disk, old: int, new: int, together: int = 1_000) -> None:
    tree = open_tree(disk, old)
    for begin in range(old, new, together):
        tree.append(LEAVES[begin : min(begin + together, new)])
    assert new == tree.size
    tree.sync()
    tree.close()


def contents(disk: Disk) -> dict[str, bytes]:
    return {name: disk.read(f"tree/{name}") for name in disk.names("tree")}


def test_a_level_is_the_hashes_of_all_full_tiles_below(large: Disk) -> None:
    """Level 0 has 70,000, level 1 has 273 and level 2 has 1: the specification's own example."""
    kept = contents(large)
    assert {"0": MOST * 32, "1": 273 * 32, "2": 32} == {name: len(kept[name]) for name in kept}
    assert b"".join(LEAVES) == kept["0"]
    for at in (0, 1, 272):
        piece = Frontier().added(LEAVES[256 * at : 256 * at + 256])
        assert piece.hashes[0] == kept["1"][32 * at : 32 * at + 32]
    assert Frontier().added(LEAVES[:65_536]).hashes == (kept["2"],)


def test_its_tiles_are_those_of_the_specification(large: Disk) -> None:
    """ "273 full level 0 tiles, one partial level 0 tile of width 112, one full level 1 tile, one
    partial level 1 tile of width 17, and one partial level 2 tile of width 1" """
    found = tiles(MOST)
    assert 273 == sum(tile.level == 0 and tile.width == 256 for tile in found)
    assert ["tile/0/273.p/112", "tile/1/000", "tile/1/001.p/17", "tile/2/000.p/1"] == [
        tile.path() for tile in found[273:]
    ]
    assert [Tile(0, 0), Tile(1, 0, 1)] == tiles(256)
    read = TreeFiles(large)
    for tile in found:
        assert tile.width == width(tile, MOST)
        assert tile.width * 32 == len(read.tile(tile))
    assert b"".join(LEAVES[69_888:]) == read.tile(read_path("tile/0/273.p/112"))


@pytest.mark.parametrize(
    ("path", "tile"),
    [
        ("tile/0/000", Tile(0, 0)),
        ("tile/0/x001/x234/067", Tile(0, 1_234_067)),
        ("tile/5/x123/x456/078.p/2", Tile(5, 123_456_078, 2)),
        ("tile/1/x001/000.p/255", Tile(1, 1_000, 255)),
    ],
)
def test_a_tile_has_one_name(path: str, tile: Tile) -> None:
    assert tile == read_path(path)
    assert path == tile.path()


@pytest.mark.parametrize(
    "path",
    [
        "", "tile/0", "tile/0/", "tile/0/0", "tile/0/67", "tile/00/000", "tile/-1/000",
        "tile/8/000", "tile/64/000", "tile/0/123/456", "tile/0/x000/067", "tile/0/x001/x67",
        "tile/0/000.p/0", "tile/0/000.p/256", "tile/0/000.p/01", "tile/0/000.p/", "tile/0/٠٠٠",
        "/tile/0/000", "tile/0/000\n", "tile/entries/000", "tile/0/../1/000",
    ],
)  # fmt: skip
def test_another_spelling_names_no_tile(path: str) -> None:
    with pytest.raises(Refuted, match="names no tile"):
        read_path(path)


def test_a_tile_beyond_the_tree_has_no_width() -> None:
    assert [256, 44, 0] == [width(Tile(0, number), 300) for number in range(3)]
    assert [1, 0] == [width(Tile(1, number), 300) for number in range(2)]
    assert 0 == width(Tile(2, 0), 300)


def test_proofs_from_files_hold_in_trees_of_every_shape(large: Disk) -> None:
    chance = random.Random(7)
    stored = TreeFiles(large)
    edges = [1, 2, 255, 256, 257, 511, 512, 65_535, 65_536, 65_537, MOST]
    for size in edges + [chance.randint(1, MOST) for _ in range(sized(10, 40))]:
        root = frontier(size, stored).root()
        if size in edges[:: sized(3, 1)]:
            assert Frontier().added(LEAVES[:size]).root() == root
        for index in {0, size - 1, chance.randrange(size)}:
            proof = inclusion(index, size, stored)
            check_inclusion(LEAVES[index], index, size, root, proof)
        old = chance.randint(1, size)
        then = frontier(old, stored).root()
        check_consistency(old, then, size, root, consistency(old, size, stored))


@pytest.mark.parametrize("together", [1, 3, 255, 256, 257, 1_000])
def test_files_are_the_same_however_leaves_come(tmp_path: Path, together: int) -> None:
    sizes = (0, 1, 255, 256, 300, 1_500)
    for old, new in pairwise(sizes):  # closed and opened in between
        grow(RealDisk(tmp_path), old, new, together)
    (tmp_path / "at-once").mkdir()
    grow(RealDisk(tmp_path / "at-once"), 0, 1_500)
    assert contents(RealDisk(tmp_path / "at-once")) == contents(RealDisk(tmp_path))


@pytest.mark.parametrize("size", [0, 1, 255, 256, 700, 1_500])
def test_opening_cuts_to_the_size_it_is_told(tmp_path: Path, size: int) -> None:
    disk = RealDisk(tmp_path)
    grow(disk, 0, 1_500)
    open_tree(disk, size).close()
    (tmp_path / "small").mkdir()
    grow(RealDisk(tmp_path / "small"), 0, size)
    assert contents(RealDisk(tmp_path / "small")) == contents(disk)
    grow(disk, size, 1_500)
    assert [] == list(faults(disk, 1_500))


def test_a_file_that_is_too_short_is_damaged(tmp_path: Path) -> None:
    disk = RealDisk(tmp_path)
    grow(disk, 0, 600)
    with pytest.raises(Damaged, match="tree/0 is too short: a tree of 601 leaves has 601"):
        open_tree(disk, 601)
    with pytest.raises(Damaged, match="tree/0 ends before hash 600"):
        TreeFiles(disk)(0, 600)
    disk.remove(path_of(1))
    with pytest.raises(Damaged, match="tree/1 is missing: the tree has 600 leaves"):
        open_tree(disk, 600)
    assert ["tree/1 is missing: the tree has 600 leaves"] == list(faults(disk, 600))


def test_each_flipped_bit_above_the_leaves_is_named(tmp_path: Path) -> None:
    disk = RealDisk(tmp_path)
    grow(disk, 0, 600)
    good = (tmp_path / "tree/1").read_bytes()
    for bit in range(8 * len(good)):
        flipped = bytearray(good)
        flipped[bit // 8] ^= 1 << bit % 8
        (tmp_path / "tree/1").write_bytes(flipped)
        index = bit // 256
        assert [
            f"tree/1 is damaged at byte {32 * index}: hash {index} is not that of its 256 in tree/0"
        ] == list(faults(disk, 600))


def test_a_flipped_leaf_shows_one_level_up(tmp_path: Path) -> None:
    disk = RealDisk(tmp_path)
    grow(disk, 0, 600)
    flipped = bytearray((tmp_path / "tree/0").read_bytes())
    flipped[32 * 300] ^= 1
    (tmp_path / "tree/0").write_bytes(flipped)
    assert ["tree/1 is damaged at byte 32: hash 1 is not that of its 256 in tree/0"] == list(
        faults(disk, 600)
    )


@pytest.mark.parametrize("size", [0, 200, 600, MOST])
def test_the_levels_above_are_made_again_from_the_leaves(tmp_path: Path, size: int) -> None:
    disk = RealDisk(tmp_path)
    grow(disk, 0, size)
    whole = contents(disk)
    for name in whole:
        if name != "0":
            (tmp_path / "tree" / name).write_bytes(b"nonsense")
            (tmp_path / "tree" / f"{name}.tmp").write_bytes(b"of an earlier try")
    rebuild(disk, size)
    assert whole == contents(disk)


def test_an_empty_folder_is_an_empty_tree(tmp_path: Path) -> None:
    tree = open_tree(RealDisk(tmp_path), 0)
    tree.append([])
    tree.sync()
    tree.close()
    assert {} == contents(RealDisk(tmp_path))
    assert [] == list(faults(RealDisk(tmp_path), 0))


@pytest.mark.parametrize("seed", range(150))
def test_what_was_synced_survives_a_power_loss(seed: int) -> None:
    """The size that a manifest would know is that of the last sync; up to four crashes in a row."""
    disk = SimulatedDisk(f"tree {seed}")
    chance = random.Random(seed)
    synced = 0
    for _ in range(4):
        disk.fuse = chance.randint(1, 40)
        try:
            tree = open_tree(disk, synced)
            while tree.size < 1_400:
                tree.append(LEAVES[tree.size : tree.size + chance.randint(1, 200)])
                if chance.random() < 0.5:
                    tree.sync()
                    synced = tree.size
        except PowerLost:
            pass
        disk.restart(power_lost=chance.random() < 0.7)
        open_tree(disk, synced).sync()
        stored = TreeFiles(disk)
        if synced:
            assert b"".join(LEAVES[:synced]) == stored.hashes(0, 0, synced)
        assert [] == list(faults(disk, synced))
        assert Frontier().added(LEAVES[:synced]) == frontier(synced, stored)


def test_a_disk_that_does_not_sync_is_noticed() -> None:
    """The test above can fail: on a disk that is deaf to syncs of what was written, it does."""
    lost = 0
    for seed in range(40):
        disk = SimulatedDisk(f"deaf {seed}", deaf="write tree")
        tree = open_tree(disk, 0)
        tree.append(LEAVES[:300])
        tree.sync()
        tree.append(LEAVES[300:600])
        tree.sync()
        disk.restart(power_lost=True)
        try:
            open_tree(disk, 600)
            lost += TreeFiles(disk).hashes(0, 0, 600) != b"".join(LEAVES[:600])
        except Damaged:
            lost += 1
    assert 20 < lost
