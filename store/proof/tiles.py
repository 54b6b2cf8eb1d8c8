"""How C2SP tlog-tiles names a piece of the tree: `tile/1/x001/x234/067`, or `....p/19` in part."""

import re
from typing import NamedTuple

from store.proof.tree import Refuted

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


def read_path(path: str) -> Tile:
    """The tile of this name; a name spelled otherwise than `Tile.path` spells it is none."""
    found = _PATH.fullmatch(path)
    if found is not None:
        number = int(found["number"].replace("x", "").replace("/", ""))
        tile = Tile(int(found["level"]), number, int(found["width"] or SPAN))
        if tile.path() == path and tile.level < LEVELS:
            return tile
    raise Refuted(f"{path[:80]!r} names no tile: one is called tile/0/x001/067 or tile/0/067.p/9")


def width(tile: Tile, size: int) -> int:
    """How many hashes this tile has in a tree of this size: 0 if it is not in it."""
    return max(0, min(SPAN, (size >> HEIGHT * tile.level) - SPAN * tile.number))


def tiles(size: int) -> list[Tile]:
    """Every tile of a tree of this size, full and partial, level by level."""
    found = []
    for level in range(LEVELS):
        full, part = divmod(size >> HEIGHT * level, SPAN)
        found += [Tile(level, number) for number in range(full)]
        found += [Tile(level, full, part)] if part else []
    return found
