"""Sealed segments: whole hands in row groups, found again by stream, by place and by position."""

import io
import random
from functools import partial
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace

from engine.games import GAMES
from events import types as t
from store.columns.codec import encoded_table, event_table, leaves_of
from store.columns.layout import ENVELOPE, SCHEMA_VERSION
from store.folder.disk import RealDisk
from store.folder.frames import Damaged
from store.folder.manifest import Segment
from store.log.streams import HotLeaf, Leaf
from store.segments import parquet_files
from store.segments.parquet_files import CONSTANT_COLUMNS, hand_groups, leaf_groups
from store.segments.reading import NewerSegment, files_of, upcast
from store.segments.sealed_segments import SealedSegments, write_segment
from store.tables.projection import STANDARD
from tests.store.sealed_hands import flat, leaves, of_games, to_parquet

GAMES_HERE = ("auction-2024-mit", "swap-2022", "site-nl")


@pytest.fixture
def disk(tmp_path: Path) -> RealDisk:
    (tmp_path / "segments").mkdir()
    return RealDisk(tmp_path)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Row groups of a few hands."""
    monkeypatch.setattr(parquet_files, "ROW_GROUP", 100)


def sealed(disk: RealDisk, closed: tuple[HotLeaf, ...], size: int = 7) -> tuple[Segment, ...]:
    """So many leaves to a segment."""
    return tuple(
        write_segment(disk, closed[at : at + size], STANDARD) for at in range(0, len(closed), size)
    )


def test_no_hand_is_in_two_row_groups(small: None) -> None:
    """A hand cut in two once looked like a pot that does not balance."""
    given = leaves(of_games(*GAMES))
    file = pq.ParquetFile(io.BytesIO(to_parquet(given)))
    groups = [
        set(file.read_row_group(group)["hand_seq"].to_pylist())
        for group in range(file.num_row_groups)
    ]
    assert len(groups) > 10
    assert len(given) == sum(map(len, groups)) == len(set.union(*groups))


def test_a_hand_larger_than_a_row_group_is_one_of_its_own() -> None:
    given = leaves(of_games("site-nl"))
    assert [[leaf] for leaf in given] == list(leaf_groups(given, 1))


@pytest.mark.parametrize("rows", [1, 40, 100, 1_000_000])
def test_stored_rows_are_cut_where_leaves_would_be(rows: int) -> None:
    """Two ways to the same groups: from events, and from rows when segments are merged."""
    given = leaves(of_games(*GAMES_HERE))
    pieces = [event_table(given[at : at + 5]) for at in range(0, len(given), 5)]
    told = [sorted(set(one["hand_seq"].to_pylist())) for one in hand_groups(pieces, rows)]
    assert told == [[leaf.hand_seq for leaf in group] for group in leaf_groups(given, rows)]


def test_columns_that_nothing_fills_are_left_out() -> None:
    """Each would cost some bytes of every row group, and time whenever a hand is looked up."""
    data = to_parquet(leaves(of_games("site-nl")))
    names = set(pq.read_schema(io.BytesIO(data)).names)
    assert {*ENVELOPE, "to", "card1", "card2", "card3"} <= names
    assert not names & {"bids", "price", "old", "told", "card4", "more_cards"}


def test_a_column_that_says_one_thing_in_a_row_group_is_known_by_its_bounds(
    disk: RealDisk, small: None
) -> None:
    """Nobody decodes it to find a hand; where it says two things, or nothing, it is decoded."""
    (segment,) = sealed(disk, of_games(*GAMES_HERE), 100)
    opened = files_of(disk).open(segment, "events")
    several = 0
    for group in range(opened.groups):
        rows = files_of(disk).events(segment, group)
        told = {name: set(rows[name].to_pylist()) for name in ("match", *CONSTANT_COLUMNS)}
        alone = {name: it.pop() for name, it in told.items() if len(it) == 1 and it != {None}}
        assert alone == opened.same(group)
        several += len(alone) < len(told)
    assert 0 < several < opened.groups * len(CONSTANT_COLUMNS)


def test_a_few_columns_are_read_as_they_are_among_all(disk: RealDisk, small: None) -> None:
    (segment,) = sealed(disk, of_games(*GAMES_HERE), 100)
    files = files_of(disk)
    wanted = ["hand_seq", "match", "type", "game", "stacks", "dead_small", "size", "card1", "text"]
    for group in range(files.open(segment, "events").groups):
        whole, few = files.events(segment, group), files.events(segment, group, wanted)
        assert set(wanted) & set(whole.column_names) == set(few.column_names)
        assert {it: whole[it].to_pylist() for it in few.column_names} == few.to_pydict()


def test_bounds_that_say_what_no_row_says_are_damage(disk: RealDisk, small: None) -> None:
    """Who writes a file could tell other bounds than its rows have; digests he makes himself."""
    (segment,) = sealed(disk, of_games("swap-2022"), 100)
    path = disk.root / segment.files["events"]
    data = path.read_bytes()
    length = int.from_bytes(data[-8:-4], "little") + 8
    lie = data[-length:].replace(b"swap-2022", b"swap-2033")
    assert lie != data[-length:]
    path.write_bytes(data[:-length] + lie)
    footers = {**segment.footers, "events": sha256(lie).hexdigest()}
    digests = {**segment.sha256, "events": sha256(data[:-length] + lie).hexdigest()}
    forged = replace(segment, footers=footers, sha256=digests)
    other = files_of(RealDisk(disk.root))
    assert {"swap-2033"} == set(other.events(forged, 0, ["game"])["game"].to_pylist())
    with pytest.raises(Damaged, match="is not as it was sealed"):
        other.events(forged, 0)


def test_streams_are_found_again(disk: RealDisk, small: None) -> None:
    closed = of_games(*GAMES_HERE)
    shown = SealedSegments(disk, sealed(disk, closed))
    for one in leaves(closed):
        assert one.recorded == shown.read_hand_seq(one.hand_seq)
        if "/" in one.stream:
            assert len(one.recorded) == shown.version(one.stream)
            assert one.hand_seq == shown.hand_seq(one.stream)
            assert one.recorded == shown.read(one.stream)
    for match in GAMES_HERE:
        assert flat(it for it in leaves(closed) if it.stream == match) == shown.read(match)


def test_what_is_not_there_is_not_found(disk: RealDisk) -> None:
    shown = SealedSegments(disk, sealed(disk, of_games("site-nl")))
    for stream in ("site-nl/0", "site-nl/13", "site-nl/007", "other/1"):
        assert shown.version(stream) is None
        assert shown.read(stream) == ()
    assert shown.read("other") == ()
    assert shown.read_hand_seq(-1) == shown.read_hand_seq(10_000) == ()


def test_a_new_hand_opens_no_file(disk: RealDisk) -> None:
    """Every append of a new hand asks; the manifest knows."""
    shown = SealedSegments(RealDisk(disk.root), sealed(disk, of_games("site-nl")))
    for path in (disk.root / "segments").iterdir():
        path.unlink()
    assert shown.version("site-nl/13") is None
    assert shown.version("new/1") is None


def test_events_come_in_order_of_position(disk: RealDisk, small: None) -> None:
    """Hands that overlapped closed in another order than they began."""
    closed = list(of_games(*GAMES_HERE))
    chance = random.Random(4)
    pos, queue, placed = 0, [list(one.recorded()) for one in closed], {}
    while any(queue):
        events = chance.choice([it for it in queue[:6] if it] or [it for it in queue if it])
        one = events.pop(0)
        placed[one.stream, one.index] = pos
        pos += 1
        queue = [it for it in queue if it]
    moved = [replace_positions(leaf, placed) for leaf in closed]
    shown = SealedSegments(disk, sealed(disk, tuple(moved)))
    every = sorted((one for leaf in moved for one in leaf.recorded()), key=lambda it: it.pos)
    assert every == list(shown.read_from(0))
    for at in (1, 57, pos - 1, pos):
        assert every[at:] == list(shown.read_from(at))


def replace_positions(closed: HotLeaf, placed: dict[tuple[str, int], int]) -> HotLeaf:
    """The same leaf, each event an append of its own at its new position."""
    (_, append), index = closed.placed[0], closed.before
    single = tuple(
        type(closed.placed[0])(
            placed[closed.stream, index + at], replace(append, events=(event,), expected=index + at)
        )
        for at, event in enumerate(append.events)
    )
    return closed._replace(placed=single)


def test_a_wrong_byte_is_named_before_anything_is_served(disk: RealDisk) -> None:
    (segment,) = sealed(disk, of_games("site-nl"), 100)
    path = disk.root / segment.files["events"]
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    shown = SealedSegments(RealDisk(disk.root), (segment,))
    with pytest.raises(Damaged, match=r"is not as it was sealed: it holds what closed as 0 to 13"):
        shown.read("site-nl/3")


def test_footers_are_kept_within_bounds(disk: RealDisk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("store.segments.reading.GROUPS", 4)
    closed = of_games(*GAMES_HERE)
    shown = SealedSegments(disk, sealed(disk, closed, 3))
    for one in leaves(closed):
        assert one.recorded == shown.read_hand_seq(one.hand_seq)
    assert len(files_of(disk)._opened) <= 4


def test_an_old_schema_is_read_by_its_upcasts() -> None:
    """An example: version 0 knew no `dead_small` and no `told`, and called a street a round."""
    given = leaves(of_games("swap-2022", "site-nl"))
    now = encoded_table(given)
    names = ["round" if name == "street" else name for name in now.column_names]
    old = now.rename_columns(names).drop_columns(["dead_small", "told"])

    def to_one(rows: pa.Table) -> pa.Table:
        return rows.rename_columns(
            ["street" if name == "round" else name for name in rows.column_names]
        )

    back = leaves_of(upcast(old, 0, 1, {0: to_one}))
    assert [_without(leaf) for leaf in given] == back


def _without(leaf: Leaf) -> Leaf:
    """A leaf as the older version would have told it."""
    return Leaf(
        leaf.hand_seq,
        tuple(
            replace(one, event=replace(one.event, told=False))
            if isinstance(one.event, t.CardSwapped)
            else one
            for one in leaf.recorded
        ),
    )


def test_upcasts_are_chained() -> None:
    steps = {at: partial(_one_more, at) for at in range(3)}
    table = pa.table({"v0": [0]})
    assert ["v0", "v1", "v2", "v3"] == upcast(table, 0, 3, steps).column_names


def _one_more(at: int, rows: pa.Table) -> pa.Table:
    return rows.append_column(f"v{at + 1}", [[at]])


def test_a_schema_of_tomorrow_is_refused() -> None:
    with pytest.raises(NewerSegment, match="a newer muckrake wrote this ledger"):
        upcast(pa.table({}), SCHEMA_VERSION + 1)
