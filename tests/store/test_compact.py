"""Merging segments changes files and nothing else."""

import hashlib
import shutil
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from events.codec import encode
from store.columns.layout import columns
from store.folder import manifest
from store.folder.disk import RealDisk
from store.folder.frames import Damaged
from store.folder.manifest import Manifest, Segment
from store.segments import sealing as compact
from store.segments.parquet_files import FileWriter, StoredFile, write_file
from store.segments.sealed_segments import SealedSegments, write_segment
from store.tables.projection import STANDARD, EventRows
from tests.store.sealed_hands import closed as closed_by_one
from tests.store.sealed_hands import hands, leaves, of_games

CLOSED = of_games("auction-2024-mit", "swap-2022", "site-nl")


@pytest.fixture
def disk(tmp_path: Path) -> RealDisk:
    (tmp_path / "segments").mkdir()
    return RealDisk(tmp_path)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger of small segments, to be copied."""
    disk = RealDisk(tmp_path_factory.mktemp("small"))
    disk.make_folder("segments")
    segments = tuple(
        write_segment(disk, CLOSED[at : at + 4], STANDARD) for at in range(0, len(CLOSED), 4)
    )
    now = Manifest(0, "log/0", 0, segments[-1].last_pos + 1, len(CLOSED), segments)
    manifest.write(disk, now)
    return disk.root


@pytest.fixture
def before(small: Path, disk: RealDisk) -> Manifest:
    """Its copy on this disk."""
    shutil.copytree(small, disk.root, dirs_exist_ok=True)
    found = manifest.read(disk)
    assert found is not None
    return found


def digest(disk: RealDisk, now: Manifest) -> str:
    """Over the canonical line of every event, with its place, in closing order."""
    told = hashlib.sha256()
    shown = SealedSegments(disk, now.segments)
    for segment in now.segments:
        for leaf in shown.leaves(segment):
            for one in leaf.recorded:
                told.update(
                    f"{leaf.hand_seq} {one.pos} {one.stream} {one.index} {one.at}\n".encode()
                )
                told.update(encode(one.event))
    return told.hexdigest()


def test_one_large_segment_says_what_many_small_ones_said(disk: RealDisk, before: Manifest) -> None:
    after = compact.compact(disk, before, STANDARD, at=1)
    assert (11, 1) == (len(before.segments), len(after.segments))
    assert digest(disk, before) == digest(RealDisk(disk.root), after)
    assert after == manifest.read(disk)


def test_a_merged_segment_has_the_columns_of_its_parts(disk: RealDisk, before: Manifest) -> None:
    """A column that one of them lacks is filled with nothing; one that all lack is not written."""
    parts = [names(disk, one) for one in before.segments]
    (merged,) = compact.compact(disk, before, STANDARD, at=1).segments
    assert len({frozenset(one) for one in parts}) > 1
    assert set().union(*parts) == names(disk, merged) < set(columns())


def names(disk: RealDisk, segment: Segment) -> set[str]:
    return set(pq.read_schema(disk.root / segment.files["events"]).names)


def test_merging_makes_no_projection_that_is_there(disk: RealDisk, before: Manifest) -> None:
    """Made from parts or at once it is the same: no hand is folded again."""

    def never(events: EventRows) -> pa.Table:
        raise AssertionError(f"made anew from {events.table.num_rows} events")

    idle = tuple(one._replace(from_rows=never) for one in STANDARD)
    (merged,) = compact.compact(disk, before, idle, at=1).segments
    assert write_segment(disk, CLOSED, STANDARD).sha256["pots"] == merged.sha256["pots"]


def test_projections_grow_row_group_by_row_group(
    disk: RealDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was made of one row group of events is cut and written before the next is decoded."""
    monkeypatch.setattr("store.segments.parquet_files.ROW_GROUP", 100)
    small = tuple(one._replace(rows=3) for one in STANDARD)
    made = write_segment(disk, CLOSED, small)
    bare = write_segment(disk, CLOSED, ())
    now = Manifest(0, "log/0", 0, bare.last_pos + 1, len(CLOSED), (bare,))
    added: list[str] = []
    add = FileWriter.add

    def noted(aside: FileWriter, group: pa.Table) -> None:
        added.append(f"{group.num_rows} of {aside.name}")
        add(aside, group)

    monkeypatch.setattr(FileWriter, "add", noted)
    (rebuilt,) = compact.rebuild(disk, now, small, at=1).segments
    assert made.sha256 == rebuilt.sha256
    turns = [told.split()[2] for told in added]
    assert sum(left != right for left, right in pairwise(turns)) > len(STANDARD)


def test_merged_files_are_those_of_one_sealing(disk: RealDisk, before: Manifest) -> None:
    """Projections too: whoever seals at once gets the same digests, cell for cell."""
    (merged,) = compact.compact(disk, before, STANDARD, at=1).segments
    once = write_segment(disk, CLOSED, STANDARD)
    rest = {name: sha for name, sha in once.sha256.items() if name != "events"}
    assert rest == {name: sha for name, sha in merged.sha256.items() if name != "events"}
    assert (once.numbers, once.records, once.types) == (
        merged.numbers,
        merged.records,
        merged.types,
    )
    assert (once.first_pos, once.last_pos, once.events) == (
        merged.first_pos,
        merged.last_pos,
        merged.events,
    )


def test_segments_that_are_large_enough_stay_as_they_are(disk: RealDisk, before: Manifest) -> None:
    assert compact.compact(disk, before, STANDARD, at=1, large=1) is before
    half = compact.compact(disk, before, STANDARD, at=1, large=before.next_pos // 2 + 60)
    assert 1 < len(half.segments) < len(before.segments)
    assert digest(disk, before) == digest(disk, half)


def test_open_readers_survive_until_the_grace_period_is_over(
    disk: RealDisk, before: Manifest
) -> None:
    reader = SealedSegments(RealDisk(disk.root), before.segments)
    after = compact.compact(disk, before, STANDARD, at=1_000)
    old = {path for one in before.segments for path in one.files.values()}
    assert dict.fromkeys(sorted(old), 1_000) == after.retired
    assert compact.sweep(disk, after, at=1_000 + compact.GRACE_MS - 1) is after
    for leaf in leaves(CLOSED):
        assert leaf.recorded == reader.read_hand_seq(leaf.hand_seq)
    swept = compact.sweep(disk, after, at=1_000 + compact.GRACE_MS)
    assert {} == swept.retired
    left = {f"segments/{one.name}" for one in (disk.root / "segments").iterdir()}
    assert left == set(swept.segments[0].files.values())
    assert digest(disk, after) == digest(disk, swept)


def test_a_merge_that_changed_a_cell_is_refused(
    disk: RealDisk, before: Manifest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The proof is made from what was read back, not from what was meant to be written."""
    other = closed_by_one(
        (f"site-nl/{at}", one) for at, one in enumerate(hands("site-nl", 12, "other"), 1)
    )
    wrong = write_segment(disk, other, ())

    def crooked(*given: object) -> object:
        if given[1] == "events":
            return StoredFile(wrong.files["events"], wrong.sha256["events"], wrong.sizes["events"])
        return write_file(*given)  # type: ignore[arg-type]

    monkeypatch.setattr("store.segments.sealing.write_file", crooked)
    with pytest.raises(Damaged, match="what it was made of"):
        compact.compact(disk, before, STANDARD, at=1)
    assert before == manifest.read(disk)
