"""Damage anywhere in a ledger's files: never a wrong record, and a sentence that says where.

A small ledger is damaged in every way that is one flipped bit or one missing end. Reading it gives
exactly what was written, or refuses and names the file, the byte, and the last hand before it.
"""

import random
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace as replaced

from events.ledger import Recorded
from store.folder import manifest
from store.folder.disk import RealDisk
from store.folder.frames import Damaged
from store.ledger import FileLedger
from store.log import hot_log
from store.log.hot_log import check_durable
from store.log.streams import WATERMARK, Tail, durable_size, read_watermark
from store.reader import Reader
from store.recovery import Finding, check_files
from store.segments.parquet_files import ROW_GROUPS, manifest_fields, write_file
from store.segments.reading import SegmentFiles
from store.segments.sealed_segments import SealedSegments
from store.tables.projection import STANDARD
from tests.profiles import sized
from tests.store.simulated_disk import SimulatedDisk
from tests.store.small_hands import begun, ended, noted, whole

Files = dict[str, bytes]
STEP = sized(5, 3, 1)  # from a bit to the next: one or more of each byte, or all


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two segments, a log with a hand carried over, and one more hand of every kind."""
    folder = tmp_path_factory.mktemp("small")
    ledger = FileLedger(RealDisk(folder), STANDARD)
    ledger.append(noted(0))
    ledger.append(whole(1), whole(2))
    ledger.seal()
    ledger.append(begun(3))
    ledger.append(whole(4, 5, "ann", 1))
    ledger.seal()
    ledger.append(ended(3))
    ledger.append(noted(1), whole(5))
    ledger.append(begun(6))
    ledger.append(ended(6))
    ledger.close()
    return folder


@pytest.fixture(scope="module")
def files(small: Path) -> Files:
    return contents(small)


@pytest.fixture(scope="module")
def written(small: Path) -> list[Recorded]:
    return list(FileLedger(disk_of(contents(small))).read_from(0))


def test_a_sound_ledger_has_no_findings(small: Path, files: Files) -> None:
    assert () == check_files(RealDisk(small)) == check_files(disk_of(files))
    assert 2 * (1 + len(STANDARD)) == len(list(segments_of(files)))


# The hot log.


def test_every_flipped_bit_of_the_log_is_found_and_named(files: Files) -> None:
    log, ends = log_of(files)
    for bit in range(0, len(files[log]) * 8, STEP):
        with pytest.raises(Damaged) as told:
            read_log(files, log, flipped(files[log], bit))
        frame = sum(end <= bit // 8 for end in ends)
        place = [0, *ends][frame]
        assert str(told.value).startswith(f"{log} is damaged at byte {place}, ")
        assert place == told.value.place
        assert ["", "m/3", "m/3", "m/5", "m/6"][frame] == told.value.hand


def test_every_missing_end_of_the_log_is_found_and_named(files: Files) -> None:
    log, ends = log_of(files)
    for size in range(len(files[log])):
        with pytest.raises(Damaged) as told:
            read_log(files, log, files[log][:size])
        assert max([0, *(end for end in ends if end <= size)]) == told.value.place
        assert f"{len(files[log])} bytes of it were durable" in str(told.value)


def test_without_a_watermark_only_the_last_write_can_pass_for_a_torn_one(files: Files) -> None:
    """Then nobody knows whether it had been acknowledged: it is dropped, and a note says so."""
    log, ends = log_of(files)
    bare = {path: data for path, data in files.items() if path != WATERMARK}
    calls = read_log(bare, log, files[log])
    for bit in range(0, len(files[log]) * 8, STEP):
        if bit // 8 < ends[-2]:
            with pytest.raises(Damaged):
                read_log(bare, log, flipped(files[log], bit))
        else:
            assert calls[:-1] == read_log(bare, log, flipped(files[log], bit))
    for size in range(len(files[log])):
        if size < now(files).log_size:
            with pytest.raises(Damaged):
                read_log(bare, log, files[log][:size])
        else:
            left = read_log(bare, log, files[log][:size])
            assert calls[: len(left)] == left


def test_what_is_dropped_is_told(files: Files) -> None:
    log, ends = log_of(files)
    torn = {**files, log: files[log] + b"\xf3mrL and no more"}
    told = (
        f"dropped the last 16 bytes, from byte {ends[-1]} on, "
        "after m/6 (position 19): a write was cut short and never acknowledged"
    )
    (finding,) = check_files(disk_of(torn))
    assert (log, ends[-1], "", True) == (finding.file, finding.place, finding.hand, finding.note)
    assert [f"{log}: {told}"] == FileLedger(disk_of(torn)).notes


# The manifest and the watermark.


def test_every_flipped_bit_of_the_manifest_is_found(files: Files) -> None:
    refuses(files, manifest.PATH, range(0, len(files[manifest.PATH]) * 8, STEP), flipped)


def test_every_missing_end_of_the_manifest_is_found(files: Files) -> None:
    refuses(files, manifest.PATH, range(len(files[manifest.PATH])), cut)


def refuses(files: Files, path: str, places: range, harm: Callable[[bytes, int], bytes]) -> None:
    disk = disk_of(files)
    for place in places:
        replace(disk, path, harm(files[path], place))
        with pytest.raises(Damaged, match=f"^{path} "):
            manifest.read(disk)


def test_a_damaged_watermark_is_no_watermark(files: Files) -> None:
    """It lies next to the truth: without it the log and the manifest say the same."""
    data = files[WATERMARK]
    good = durable_size(read_watermark(disk_of(files)), now(files))
    disk = disk_of(files)
    for bit in range(len(data) * 8):
        replace(disk, WATERMARK, flipped(data, bit))
        size = durable_size(read_watermark(disk), now(files))
        assert size in (good, now(files).log_size)
    for end in range(len(data)):
        replace(disk, WATERMARK, data[:end])
        assert durable_size(read_watermark(disk), now(files)) in (good, now(files).log_size)


# Segments and projections.


def test_flipped_bits_of_segments_are_never_served(files: Files, written: list[Recorded]) -> None:
    chance = random.Random("segments")
    for path in segments_of(files):
        for bit in chance.sample(range(len(files[path]) * 8), 4):
            serves_no_wrong_record({**files, path: flipped(files[path], bit)}, path, written)


def test_missing_ends_of_segments_are_never_served(files: Files, written: list[Recorded]) -> None:
    chance = random.Random("ends")
    for path in segments_of(files):
        for size in (0, 1, *chance.sample(range(len(files[path])), 1), len(files[path]) - 1):
            serves_no_wrong_record({**files, path: files[path][:size]}, path, written)


def test_no_flipped_bit_and_no_missing_end_of_any_segment_is_read(files: Files) -> None:
    disk = disk_of(files)
    for segment in now(files).segments:
        for name, path in segment.files.items():
            assert SegmentFiles(disk).rows(segment, name, 0).num_columns
            for bit in range(0, len(files[path]) * 8, sized(23, 7, 1)):  # of each byte some
                is_refused(disk, segment, name, flipped(files[path], bit))
            for size in range(0, len(files[path]), sized(7, 3, 1)):
                is_refused(disk, segment, name, files[path][:size])
            is_refused(disk, segment, name, files[path] + b"P")
            replace(disk, path, files[path])


def is_refused(disk: SimulatedDisk, segment: manifest.Segment, name: str, data: bytes) -> None:
    replace(disk, segment.files[name], data)
    try:
        SegmentFiles(disk).rows(segment, name, 0)
    except Damaged:
        return
    raise AssertionError(f"{segment.files[name]} was read")


def seats(disk: RealDisk) -> manifest.Segment:
    """A segment with one table, of three row groups."""
    rows = pa.table({"hand_seq": range(30), "player": ["ann"] * 30})
    disk.make_folder("segments")
    stored = write_file(disk, "seats", 0, 29, (rows.slice(at, 10) for at in (0, 10, 20)))
    files = manifest_fields({"seats": stored})
    segment = manifest.Segment(0, 29, 0, 0, 0, 1, files["files"], files["sha256"], {})
    return replaced(segment, sizes=files["sizes"], footers=files["footers"])


@pytest.mark.parametrize("first", [1 << 18, 16], ids=["all at once", "its length first"])
def test_a_row_group_is_compared_before_it_is_read_and_another_is_not(
    first: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Damage in one row group is found by whoever reads that one, and by who reads every byte."""
    monkeypatch.setattr("store.segments.reading._FOOTER", first)
    disk = RealDisk(tmp_path)
    segment = seats(disk)
    path = segment.files["seats"]
    whole = (tmp_path / path).read_bytes()
    told = pq.read_metadata(tmp_path / path).metadata[ROW_GROUPS].decode().split()
    ends = [int(one.partition(":")[0]) for one in told]
    assert 0 < ends[0] < ends[1] < ends[2] < len(whole) - 8
    (tmp_path / path).write_bytes(flipped(whole, 8 * (ends[0] + ends[1]) // 2))
    opening = SegmentFiles(disk)
    for group in (0, 2, 0):
        assert 10 == opening.rows(segment, "seats", group).num_rows
    for _ in range(2):
        with pytest.raises(Damaged, match=f"^{path} is not as it was sealed: "):
            opening.rows(segment, "seats", 1)
    with pytest.raises(Damaged, match=f"^{path} is not as it was sealed: "):
        opening.check(segment, "seats")


def test_what_may_have_changed_is_compared_anew_also_without_digests_in_its_footer(
    tmp_path: Path,
) -> None:
    disk = RealDisk(tmp_path)
    segment = replaced(seats(disk), footers={})
    path, opening = tmp_path / segment.files["seats"], SegmentFiles(disk)
    whole = path.read_bytes()
    assert 3 == opening.reopen(segment, "seats").groups
    path.write_bytes(flipped(whole, 8 * 6))
    for _ in range(2):
        with pytest.raises(Damaged, match=f"^{segment.files['seats']} is not as it was sealed: "):
            opening.reopen(segment, "seats")
    path.write_bytes(whole)
    assert 3 == opening.reopen(segment, "seats").groups


def test_a_file_whose_footer_has_no_digests_is_compared_as_a_whole(files: Files) -> None:
    disk = disk_of(files)
    segment = replaced(now(files).segments[0], footers={})
    for name, path in segment.files.items():
        for bit in random.Random(name).sample(range(len(files[path]) * 8), 20):
            replace(disk, path, flipped(files[path], bit))
            with pytest.raises(Damaged):
                SegmentFiles(disk).open(segment, name)
        replace(disk, path, files[path])
        assert SegmentFiles(disk).rows(segment, name, 0).num_columns


def serves_no_wrong_record(files: Files, path: str, written: list[Recorded]) -> None:
    """A stream is read as it was written, or refused with the name of the damaged file."""
    disk = disk_of(files)
    (finding,) = check_files(disk)
    assert path == finding.file
    assert finding.hand in ("m/1 to m/2 and m", "m/4")
    sealed = SealedSegments(disk, now(files).segments)
    for stream in ("m", "m/1", "m/2", "m/4"):
        told = [one for one in written if one.stream == stream and one.pos < 12]
        told = told[:1] if stream == "m" else told
        refused = refusal(partial(sealed.read, stream), told)
        assert not refused or path in refused
    if path.startswith("segments/events"):
        with pytest.raises(Damaged, match=f"^{path} is not as it was sealed: "):
            list(sealed.read_from(0))


def test_a_missing_file_is_found_and_named(files: Files) -> None:
    for path in files:
        if path in (WATERMARK, "lock"):
            continue
        left = {name: data for name, data in files.items() if name != path}
        (finding,) = check_files(disk_of(left))
        assert path == finding.file
        assert finding.sentence.startswith(f"{path} is missing: ")


def test_a_truncated_segment_is_named_with_its_end(files: Files) -> None:
    path = next(segments_of(files))
    (finding,) = check_files(disk_of({**files, path: files[path][:100]}))
    told = f"{path} ends at byte 100 of {len(files[path])}: it holds m/1 to m/2 and m"
    assert Finding(path, 100, "m/1 to m/2 and m", told) == finding


def test_a_reader_in_another_process_serves_no_wrong_record(
    small: Path, files: Files, written: list[Recorded], tmp_path: Path
) -> None:
    chance = random.Random("reader")
    log, _ = log_of(files)
    for path in (log, log, log, *segments_of(files)):
        folder = tmp_path / f"{path.rpartition('/')[2]}-{chance.random()}"
        bit = chance.randrange(len(files[path]) * 8)
        for name, data in {**files, path: flipped(files[path], bit)}.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
        refused = refusal(partial(everything, folder), written)
        assert path in refused or not (refused or path == log or "/events-" in path)


# What the tests above stand on.


def everything(folder: Path) -> Iterable[Recorded]:
    return Reader(folder).read_from(0)


def refusal(read: Callable[[], Iterable[Recorded]], told: list[Recorded]) -> str:
    """Why it was refused; nothing if what was read is what was told."""
    try:
        found = list(read())
    except Damaged as damage:
        return str(damage)
    assert told == found
    return ""


def contents(folder: Path) -> Files:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def disk_of(files: Files) -> SimulatedDisk:
    disk = SimulatedDisk("damage")
    for folder in ("log", "segments"):
        disk.make_folder(folder)
    for path, data in files.items():
        disk.create(path).write(data)
    return disk


def replace(disk: SimulatedDisk, path: str, data: bytes) -> None:
    disk.extend(path, 0).write(data)


def now(files: Files) -> manifest.Manifest:
    return manifest_of(files[manifest.PATH])


@cache
def manifest_of(data: bytes) -> manifest.Manifest:
    found = manifest.read(disk_of({manifest.PATH: data}))
    assert found is not None
    return found


def log_of(files: Files) -> tuple[str, list[int]]:
    """The log, and where its frames end."""
    log = now(files).log
    disk = disk_of(files)
    ends = []
    for size in range(1, len(files[log]) + 1):
        if hot_log.read(disk, log, 0, size).torn == 0:
            ends.append(size)
    return log, ends


def read_log(files: Files, log: str, data: bytes) -> tuple[hot_log.LoggedCall, ...]:
    """The log as recovery reads it."""
    disk = disk_of({manifest.PATH: b"", WATERMARK: files.get(WATERMARK, b""), log: data})
    return logged_calls(disk, now(files))


def logged_calls(disk: SimulatedDisk, found: manifest.Manifest) -> tuple[hot_log.LoggedCall, ...]:
    recovered = hot_log.read(disk, found.log)
    check_durable(read_watermark(disk), found, recovered)
    tail = Tail(found)
    for call in recovered.calls:
        for placed in call:
            tail.add(*placed)
    return recovered.calls


def segments_of(files: Files) -> Iterator[str]:
    return (path for path in sorted(files) if path.startswith("segments/"))


def flipped(data: bytes, bit: int) -> bytes:
    harmed = bytearray(data)
    harmed[bit // 8] ^= 1 << bit % 8
    return bytes(harmed)


def cut(data: bytes, size: int) -> bytes:
    return data[:size]
