"""How many bytes a hand takes, sealed, and beside it the other ways to keep the same hands."""

import io
from collections.abc import Iterator, Sequence
from itertools import groupby, islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from bench import auction
from bench.auction import simulated
from bench.phh import phh
from events.ledger import Append
from formats.mit.write import write as mit
from store.columns.codec import event_table
from store.folder import manifest
from store.folder.disk import RealDisk
from store.folder.manifest import Segment
from store.ledger import open_ledger
from store.log.hot_log import to_payload
from store.log.streams import Leaf
from store.reader import Reader
from store.segments.parquet_files import LEVEL
from store.tables.projection import STANDARD

ABOUT = """\
Simulated is one append a hand; live, every choice is an append with a time of its own. Facts are
the projections. No digest of a hand is kept yet, so none is counted. Default Parquet is the same
table by pyarrow's own choices. JSON lines are what our hot log holds, and zstd has the level of our
segments. MIT text is the gamelog that `formats/mit` writes: no times, no positions, no ruleset.
PHH knows neither bids nor auctions: it is the text of what it can say."""
GOAL = 60
CALL = 5_000  # appends a call
SHOWN = 8  # columns


def sections(scratch: Path, hands: int) -> list[str]:
    """A table of sizes, the goal, and which columns the bytes are in."""
    once = list(islice(simulated(hands), hands))
    slowly = list(_hands(auction.live(hands), hands))
    sealed = {
        kind: _sealed(scratch / kind, appends)
        for kind, appends in (("simulated", once), ("live", slowly))
    }
    rows = [row for kind in sealed for row in _ours(sealed[kind], hands, kind)]
    events = rows[0][1]
    rows += [(name, size / hands) for name, size in _peers(scratch / "simulated", once)]
    verdict = "met" if events <= GOAL else "**missed**"
    return [
        f"## Bytes of a hand, {hands:,} heads-up auction hands, no two alike",
        "",
        "| | bytes a hand | times our events |",
        "|---|---:|---:|",
        *(f"| {name} | {size:,.1f} | {size / events:,.2f} |" for name, size in rows),
        "",
        f"- goal: at most {GOAL} bytes a hand in event segments: {verdict}, {events:.1f}",
        "",
        *(f"Events, {it}: {_columns(scratch / it, sealed[it], hands)}.\n" for it in sealed),
        ABOUT,
        "",
    ]


def _hands(appends: Iterator[Append], hands: int) -> Iterator[Append]:
    """All appends of the first hands."""
    for _, each in islice(groupby(appends, key=lambda one: one.stream), hands):
        yield from each


def _sealed(folder: Path, appends: Sequence[Append]) -> tuple[Segment, ...]:
    """A ledger of these, sealed as it seals; what is left over is sealed at the end."""
    ledger, lock = open_ledger(folder, "bench", STANDARD)
    for start in range(0, len(appends), CALL):
        ledger.append(*appends[start : start + CALL])
    ledger.seal()
    ledger.close()
    lock.release()
    now = manifest.read(RealDisk(folder))
    assert now is not None
    return now.segments


def _ours(segments: Sequence[Segment], hands: int, kind: str) -> list[tuple[str, float]]:
    """Events, and the projections one by one in words."""
    sizes = {name: sum(one.sizes[name] for one in segments) / hands for name in segments[0].sizes}
    events = sizes.pop("events")
    each = ", ".join(f"{name} {size:.1f}" for name, size in sizes.items())
    return [
        (f"muckrake, events, {kind}", events),
        (f"muckrake, facts beside them ({each})", sum(sizes.values())),
    ]


def _peers(folder: Path, appends: Sequence[Append]) -> Iterator[tuple[str, int]]:
    """The same hands elsewhere."""
    recorded = Reader(folder).read_from(0)
    leaves = [
        Leaf(seq, tuple(each))
        for seq, (_, each) in enumerate(groupby(recorded, key=lambda one: one.stream))
    ]
    sink = io.BytesIO()
    pq.write_table(event_table(leaves), sink)
    yield "Parquet, pyarrow's defaults", sink.tell()
    lines = to_payload(appends)
    yield "JSON lines", len(lines)
    yield f"JSON lines, zstd {LEVEL}", _zstd(lines)
    gamelog = mit(one.events for one in appends).encode()  # type: ignore[misc]
    yield "MIT text", len(gamelog)
    yield f"MIT text, zstd {LEVEL}", _zstd(gamelog)
    texts = "\n".join(phh(one.events) for one in appends).encode()  # type: ignore[arg-type]
    yield "PHH, without bids and auctions", len(texts)
    yield f"PHH, without bids and auctions, zstd {LEVEL}", _zstd(texts)


def _zstd(data: bytes) -> int:
    return len(pa.Codec("zstd", compression_level=LEVEL).compress(data))


def _columns(folder: Path, segments: Sequence[Segment], hands: int) -> str:
    """The largest columns with their bytes a hand, and the rest."""
    sizes: dict[str, float] = {}
    for segment in segments:
        meta = pq.read_metadata(folder / segment.files["events"])
        for group in map(meta.row_group, range(meta.num_row_groups)):
            for column in map(group.column, range(group.num_columns)):
                name = column.path_in_schema
                sizes[name] = sizes.get(name, 0) + column.total_compressed_size / hands
    largest = sorted(sizes, key=lambda name: -sizes[name])[:SHOWN]
    rest = sum(sizes.values()) - sum(sizes[name] for name in largest)
    return ", ".join(f"{name} {sizes[name]:.1f}" for name in largest) + f", the rest {rest:.1f}"
