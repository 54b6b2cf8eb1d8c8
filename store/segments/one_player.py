"""One player's rows of a table, straight from its files: sooner read than a database is opened.

Footers tell between which names a row group lies, so few groups are read, and of these more than
the names only where he is found. Files are read side by side.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from itertools import chain

import pyarrow as pa
import pyarrow.compute as pc

from store.folder.manifest import Segment
from store.segments.opened import Opened
from store.segments.reading import Files

_AT_ONCE = 2  # files

Places = list[tuple[int, pa.Array]]


class About:
    """A player in a table; where he was found in a file is known as long as it is the same."""

    def __init__(self, files: Files, name: str, player: str) -> None:
        self._files = files
        self._name = name
        self._player = player
        self._found: dict[str, tuple[Opened, Places]] = {}

    def rows(
        self, segments: Sequence[Segment], tables: Sequence[pa.Table], wanted: Sequence[str]
    ) -> pa.Table:
        """These columns of his rows, in order of closing: sealed ones, then those of tables."""
        read = partial(self._in_segment, wanted=wanted)
        with ThreadPoolExecutor(_AT_ONCE) if len(segments) > 1 else nullcontext() as pool:
            sealed = chain.from_iterable((pool.map if pool else map)(read, segments))
            return pa.concat_tables([*sealed, *(self._within(it, wanted) for it in tables)])

    def _within(self, table: pa.Table, wanted: Sequence[str]) -> pa.Table:
        return table.filter(pc.equal(table["player"], self._player)).select(wanted)

    def _in_segment(self, segment: Segment, wanted: Sequence[str]) -> list[pa.Table]:
        parts = []
        for group, places in self._places(segment):
            first, last = places[0].as_py(), places[-1].as_py()
            rows = self._files.rows(segment, self._name, group, list(wanted))
            rows = rows.slice(first, last - first + 1)
            everything = rows.num_rows == len(places)
            parts.append(rows if everything else rows.take(pc.subtract(places, places[0])))
        return parts

    def _places(self, segment: Segment) -> Places:
        """In which rows of which groups of a segment's file he is."""
        path, opened = segment.files[self._name], self._files.again(segment, self._name)
        if path in self._found and self._found[path][0] is opened:
            return self._found[path][1]
        places = []
        for group, (low, high) in enumerate(opened.bounds["player"]):
            if low is None or low <= self._player <= high:
                names = self._files.rows(segment, self._name, group, ["player"])["player"]
                where = pc.indices_nonzero(pc.equal(names, self._player))
                if len(where):
                    places.append((group, where))
        self._found[path] = opened, places
        return places
