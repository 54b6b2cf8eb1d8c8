"""The Merkle tree on disk: `tree/0` holds leaf hashes, `tree/1` those of every 256 leaves, etc.

A level's file is the hashes of complete subtrees of `256**level` leaves, 32 bytes each, in order:
its pieces of 256 are the tiles that C2SP names. All that is not stored is at most eight hashings
away. Only level 0 is new knowledge: the levels above can be made again from it, and are checked
against it.

Files only grow. They are synced before anything durable says that the tree reaches so far; what
lies beyond that is a leftover of a crash, and opening cuts it off.

C2SP tlog-tiles names a piece `tile/1/x001/x234/067`, or `....p/19` in part.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from store.folder.disk import Disk, Output, Readable, replace_file
from store.folder.frames import Damaged
from store.proof.tree import WIDTH, Refuted, node_hash

HEIGHT = 8
SPAN = 1 << HEIGHT  # hashes in a full tile
LEVELS = 8  # 256**8 leaves are more than a size can say
_PATH = re.compile(
    r"tile/(?P<level>0|[1-9][0-9]?)/(?P<number>(?:x[0-9]{3}/)*[0-9]{3})"
    r"(?:\.p/(?P<width>[1-9][0-9]{0,2}))?",
    re.ASCII,
)


class Tile(NamedTuple):
    """`width` hashes in a row, from hash `256 * number` of the level on."""

    level: int
    number: int
    width: int = SPAN

    def path(self) -> str:
        groups = [f"{self.number % 1000:03}"]
        rest = self.number // 1000
        while rest:
            groups.append(f"x{rest % 1000:03}")
            rest //= 1000
        part = "" if self.width == SPAN else f".p/{self.width}"
        return f"tile/{self.level}/{'/'.join(reversed(groups))}{part}"


def width(tile: Tile, size: int) -> int:
    """The number of hashes of this tile in a tree of this size; 0 if it is not in it."""
    return max(0, min(SPAN, (size >> HEIGHT * tile.level) - SPAN * tile.number))


FOLDER = "tree"
_TILE = SPAN * WIDTH
_TOGETHER = 64  # tiles read at once where a whole level is read


class TreeFiles:
    """The hashes of a tree, read from its files; any number of readers, in any process."""

    def __init__(self, disk: Readable) -> None:
        self._disk = disk

    def __call__(self, level: int, index: int) -> bytes:
        """The hash of a complete subtree of `2**level` leaves: what proofs ask for."""
        stored, above = divmod(level, HEIGHT)
        return _subtree(self.hashes(stored, index << above, index + 1 << above))

    def hashes(self, level: int, begin: int, end: int) -> bytes:
        """Stored hashes of a level, joined."""
        try:
            found = self._disk.read(path_of(level), begin * WIDTH, end * WIDTH)
        except FileNotFoundError:
            raise Damaged(f"{path_of(level)} is missing") from None
        if len(found) != (end - begin) * WIDTH:
            raise Damaged(
                f"{path_of(level)} ends before hash {end - 1}", begin * WIDTH + len(found)
            )
        return found

    def tile(self, tile: Tile) -> bytes:
        """The bytes that C2SP serves under this tile's name."""
        begin = tile.number * SPAN
        return self.hashes(tile.level, begin, begin + tile.width)


class GrowingTree:
    """The files being written to; only one writer may have them open."""

    def __init__(self, disk: Disk, size: int, outputs: list[Output], ends: list[bytes]) -> None:
        self.size = size
        self._disk = disk
        self._outputs = outputs
        self._ends = ends  # of each level, the hashes after its last full tile
        self._unsynced: set[int] = set()  # levels that were written to
        self._unnamed = False  # a file was made that its folder does not durably know

    def append(self, leaf_hashes: Sequence[bytes]) -> None:
        """Append leaf hashes to the files; they are durable only after `sync`."""
        added = b"".join(leaf_hashes)
        assert len(added) == len(leaf_hashes) * WIDTH
        self.size += len(leaf_hashes)
        level = 0
        while added:
            if level == len(self._outputs):
                self._outputs.append(self._disk.create(path_of(level)))
                self._ends.append(b"")
                self._unnamed = True
            self._unsynced.add(level)
            self._outputs[level].write(added)
            full, self._ends[level] = _full_tiles(self._ends[level] + added)
            added = b"".join(map(_subtree, full))
            level += 1

    def sync(self) -> None:
        """Make what was appended durable."""
        for level in sorted(self._unsynced):
            self._outputs[level].sync()
        if self._unnamed:
            self._disk.sync_folder(FOLDER)
        self._unsynced, self._unnamed = set(), False

    def close(self) -> None:
        for output in self._outputs:
            output.close()


def path_of(level: int) -> str:
    return f"{FOLDER}/{level}"


def open_tree(disk: Disk, size: int) -> GrowingTree:
    """The tree as it was with `size` leaves, to be grown on; longer files are cut to that.

    A file that is too short was durable once and is damaged. The folder is made if there is none.
    """
    disk.make_folder(FOLDER)
    disk.sync_folder("")  # also when it was there: who made it may have been killed before this
    counts = _counts(size)
    check_reach(disk, size)
    for name in disk.names(FOLDER):
        if name.isdecimal() and int(name) >= len(counts):
            disk.remove(f"{FOLDER}/{name}")
    outputs, ends = [], []
    for level, count in enumerate(counts):
        outputs.append(disk.extend(path_of(level), count * WIDTH))
        ends.append(disk.read(path_of(level), count // SPAN * _TILE, count * WIDTH))
    disk.sync_folder(FOLDER)
    return GrowingTree(disk, size, outputs, ends)


def check_reach(disk: Disk, size: int) -> None:
    """`Damaged` if the files do not hold a tree of this size."""
    for level, count in enumerate(_counts(size)):
        _must_hold(disk, level, count, size)


def faults(disk: Disk, size: int) -> Iterator[str]:
    """A sentence for each level that is too short, and for each hash not made of those below it."""
    below_is_whole = True
    for level, count in enumerate(_counts(size)):
        try:
            _must_hold(disk, level, count, size)
        except Damaged as reason:
            yield str(reason)
            below_is_whole = False
            continue
        if level and below_is_whole:
            stored = TreeFiles(disk).hashes(level, 0, count)
            for index, made in enumerate(_made(disk, level, count)):
                if stored[index * WIDTH : (index + 1) * WIDTH] != made:
                    why = f"{path_of(level)} is damaged at byte {index * WIDTH}: hash {index}"
                    yield f"{why} is not that of its {SPAN} in {path_of(level - 1)}"
        below_is_whole = True


def rebuild(disk: Disk, size: int) -> None:
    """The levels above 0 made again from level 0, aside and then renamed; no tree may be open."""
    for level, count in list(enumerate(_counts(size)))[1:]:
        replace_file(disk, path_of(level), b"".join(_made(disk, level, count)))


def level_file_sizes(size: int) -> list[int]:
    """The file size of each level of a tree of this size, in bytes."""
    return [count * WIDTH for count in _counts(size)]


def _counts(size: int) -> list[int]:
    """The number of hashes of each level that holds any."""
    return [size >> HEIGHT * level for level in range(LEVELS) if size >> HEIGHT * level]


def _must_hold(disk: Disk, level: int, count: int, size: int) -> None:
    """`Damaged` if a level's file does not reach as far as it durably did."""
    try:
        last = disk.read(path_of(level), (count - 1) * WIDTH, count * WIDTH)
    except FileNotFoundError:
        raise Damaged(f"{path_of(level)} is missing: the tree has {size} leaves") from None
    if len(last) != WIDTH:
        raise Damaged(
            f"{path_of(level)} is too short: a tree of {size} leaves has {count} hashes there"
        )


def _made(disk: Disk, level: int, count: int) -> Iterator[bytes]:
    """A level's hashes as the level below makes them."""
    below = TreeFiles(disk)
    for begin in range(0, count, _TOGETHER):
        end = min(begin + _TOGETHER, count)
        yield from map(_subtree, _full_tiles(below.hashes(level - 1, begin * SPAN, end * SPAN))[0])


def _full_tiles(hashes: bytes) -> tuple[list[bytes], bytes]:
    """The full tiles in a row of hashes, and what is left after them."""
    whole = len(hashes) // _TILE * _TILE
    return [hashes[at : at + _TILE] for at in range(0, whole, _TILE)], hashes[whole:]


def _subtree(hashes: bytes) -> bytes:
    """The root of a complete subtree over these hashes."""
    row = [hashes[at : at + WIDTH] for at in range(0, len(hashes), WIDTH)]
    while len(row) > 1:
        row = [node_hash(row[at], row[at + 1]) for at in range(0, len(row), 2)]
    return row[0]


def read_path(path: str) -> Tile:
    """The tile of this name; a name spelled otherwise than `Tile.path` spells it is none."""
    match = _PATH.fullmatch(path)
    if match is not None:
        number = int(match["number"].replace("x", "").replace("/", ""))
        tile = Tile(int(match["level"]), number, int(match["width"] or SPAN))
        if tile.path() == path and tile.level < LEVELS:
            return tile
    raise Refuted(f"{path[:80]!r} names no tile: one is called tile/0/x001/067 or tile/0/067.p/9")


def tiles(size: int) -> list[Tile]:
    """Every tile of a tree of this size, full and partial, level by level."""
    found = []
    for level in range(LEVELS):
        full, part = divmod(size >> HEIGHT * level, SPAN)
        found += [Tile(level, number) for number in range(full)]
        found += [Tile(level, full, part)] if part else []
    return found
