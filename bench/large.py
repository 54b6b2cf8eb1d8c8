"""A large ledger out of a small one: its segments again and again, under later numbers.

Every copy has the same hands in a match of its own, between players of its own, at later
positions. Its files are written as a seal writes them, whole hands to a row group, and a manifest
with their digests names them: nothing that reads it can tell that nobody played ten million hands.
"""

from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import islice
from multiprocessing import get_context
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from msgspec.structs import replace

from bench.auction import MATCH, SAMPLE, simulated
from store.folder import manifest
from store.folder.disk import RealDisk
from store.folder.manifest import Manifest, Segment
from store.ledger import open_ledger
from store.log import hot_log
from store.log.streams import publish_watermark
from store.segments.parquet_files import hand_groups, manifest_fields, write_file
from store.tables.projection import STANDARD, Projection

PER_SEGMENT = 1_000_000  # hands: what compaction makes of many
PLAYERS = 200
WORKERS = 2
SHIFTED = {"hand_seq": "hands", "pos": "events", "first_pos": "events", "last_pos": "events"}
NAMED = ["match", "player", "players", "rival"]
ROWS = {one.name: one.rows for one in STANDARD}


def build(
    small: Path,
    large: Path,
    hands: int,
    distinct: int = SAMPLE,
    together: int = PER_SEGMENT,
    projections: Sequence[Projection] = STANDARD,
    only: Collection[str] = (),
) -> int:
    """A ledger of so many hands in `large`, of few segments; how many hands a match of it has.

    A `small` that is there is taken as it is, and so is a `large` of so many hands. With `only`, no
    other tables are copied: nothing else can then be asked of `large`.
    """
    each = min(hands, distinct)
    if not small.exists():
        _play(small, each, projections)
    disk = RealDisk(large)
    known = manifest.read(disk) if large.exists() else None
    if known is not None and known.next_seq == hands // each * each:
        return each
    for folder in (hot_log.FOLDER, "segments"):
        disk.make_folder(folder)
    copies = hands // each
    at_once = max(1, min(together // each, copies))
    starts = range(0, copies, at_once)
    made = partial(_segment, small, large, together=at_once, copies=copies, only=only)
    with ProcessPoolExecutor(WORKERS, mp_context=get_context("spawn")) as pool:
        segments = tuple(pool.map(made, starts))
    disk.sync_folder("segments")
    log = hot_log.create(disk, hot_log.path_of(1), [])
    log.close()
    publish_watermark(disk, log.path, log.size)
    last = segments[-1]
    manifest.write(
        disk, Manifest(1, log.path, log.size, last.last_pos + 1, last.last_seq + 1, segments)
    )
    return each


def name_of(copy: int) -> str:
    """The match of one copy."""
    return f"{MATCH}-{copy:04}"


def _play(small: Path, hands: int, projections: Sequence[Projection]) -> None:
    """The hands that are copied, as one sealed segment."""
    ledger, lock = open_ledger(small, "bench", projections)
    waiting = simulated(hands)
    for start in range(0, hands, 1_000):
        ledger.append(*islice(waiting, min(1_000, hands - start)))
    ledger.seal()
    ledger.close()
    lock.release()


def _segment(
    small: Path, large: Path, start: int, together: int, copies: int, only: Collection[str]
) -> Segment:
    """Some copies as one segment."""
    now = manifest.read(RealDisk(small))
    assert now is not None
    (one,) = now.segments
    numbers = range(start, min(start + together, copies))
    hands = one.last_seq + 1
    first, last = numbers[0] * hands, (numbers[-1] + 1) * hands - 1
    disk = RealDisk(large)
    files = {}
    for name in only or one.files:
        rows = _copies(small, one, name, numbers)
        groups = rows if name == "events" else hand_groups(rows, ROWS.get(name, 65_536))
        files[name] = write_file(disk, name, first, last, groups)
    return replace(
        one,
        first_seq=first,
        last_seq=last,
        first_pos=numbers[0] * one.events,
        last_pos=(numbers[-1] + 1) * one.events - 1,
        events=len(numbers) * one.events,
        numbers={name_of(copy): one.numbers[MATCH] for copy in numbers},
        **manifest_fields(files),
    )


def _copies(small: Path, one: Segment, name: str, numbers: Sequence[int]) -> Iterator[pa.Table]:
    """The rows of one file again for every copy, row group by row group."""
    path = small / one.files[name]
    group = pq.read_metadata(path).row_group(0)
    each = map(group.column, range(group.num_columns))
    words = [
        it.path_in_schema
        for it in each
        if it.physical_type == "BYTE_ARRAY" and "RLE_DICTIONARY" in it.encodings
    ]
    file = pq.ParquetFile(path, read_dictionary=words)
    groups = [file.read_row_group(group) for group in range(file.num_row_groups)]
    for copy in numbers:
        for rows in groups:
            yield _renamed(rows, one, copy)


def _renamed(rows: pa.Table, one: Segment, copy: int) -> pa.Table:
    """Later numbers, another match, other players."""
    by = {"hands": copy * (one.last_seq + 1), "events": copy * one.events}
    for place, name in enumerate(rows.column_names):
        if name in SHIFTED:
            column = pc.add(rows[name], by[SHIFTED[name]])
        elif name in NAMED and pa.types.is_dictionary(rows[name].type):
            chunks = [_respelled(it, copy) for it in rows[name].chunks]
            column = pa.chunked_array(chunks, rows[name].type)
        else:
            continue
        rows = rows.set_column(place, name, column)
    return rows


def _respelled(column: pa.DictionaryArray, copy: int) -> pa.DictionaryArray:
    """Other words under the same numbers."""
    words = column.dictionary.to_pylist()
    first = copy * 2 % PLAYERS
    said = [
        None
        if word is None
        else name_of(copy)
        if word == MATCH
        else word.replace("random-0", f"p{first:03}").replace("random-1", f"p{first + 1:03}")
        for word in words
    ]
    return pa.DictionaryArray.from_arrays(column.indices, pa.array(said, pa.string()))
