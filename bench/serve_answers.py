"""What players did and whole exports, over HTTP: asked of a ledger as a client asks it.

Heads-up auction hands of 200 players, a sample of hands under other names (`bench/large.py`). Every
answer is asked of a server in a process of its own and read whole, as plain bytes, by this one; the
first one of a viewpoint also opens the ledger and checks its files. Exports are compared with
DuckDB alone, which writes the same rows of the same files to a file of the same format.
"""

import http.client
import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import NamedTuple
from urllib.parse import quote

import duckdb
import pyarrow as pa

from analytics.projections.facts import ruleset_projections
from api.exporting.table_files import BINARY
from bench.large import build
from bench.ledger import disk
from bench.serve_hands import server
from store.folder.disk import CACHE
from store.reader import Reader
from store.tables.projection import STANDARD

HANDS = 1_000_000
DISTINCT = 2_000
STATS_S = 0.5
ONCE_S = 2.0  # what takes longer is asked once
PATIENCE_S = 120
BESIDE = 1.0  # of DuckDB's own speed, in a binary format
QUESTIONS = {
    "players": "players",
    "statistics of a player": "players/p000/stats",
    "the same, beside the field": "players/p000/stats?field=true",
    "grid": "players/p000/grid",
    "winnings": "players/p000/winnings",
    "bids, 20 values": "players/p000/bids?spots=20",
    "bids, no values": "players/p000/bids?spots=0",
    "swaps and luck, no run-outs": "players/p000/swaps?spots=0&runouts=0",
    "SQL, a count by player": "sql?q=SELECT player, count(*) FROM players GROUP BY player",
}
VIEWS = ("auditor", "public")
DATASET = "players"
KINDS = ("parquet", "arrow", "csv", "ndjson")


class Asked(NamedTuple):
    """Seconds of the first answer and of later ones, by question; bytes and seconds by format; the
    most memory that the server had."""

    first: float
    answers: dict[str, float]
    exports: dict[str, tuple[int, float]]
    peak: int


def sections(scratch: Path, hands: int, rounds: int, seconds: float) -> list[str]:
    """One ledger, asked by an auditor and by the public, each in a new Python."""
    tables = (*STANDARD, *ruleset_projections(lambda mark: None))
    build(scratch / "small", scratch / "large", hands, min(DISTINCT, hands), projections=tables)
    os.environ[CACHE] = str(scratch / "cache")
    found = {view: _asked(scratch / "large", view, max(1, min(rounds, 3))) for view in VIEWS}
    alone = {kind: _alone(scratch / "large", scratch / f"alone.{kind}", kind) for kind in KINDS}
    return [
        disk(scratch),
        "",
        *_told(hands, found),
        "",
        *_exports(found, alone),
        "",
        *_goals(hands, found, alone),
    ]


def _asked(folder: Path, view: str, rounds: int) -> Asked:
    """Of a server that was just started, with no value counted before."""
    with server(folder) as it:
        client = http.client.HTTPConnection("127.0.0.1", it.port, timeout=PATIENCE_S)

        def ask(path: str) -> int:
            whole = f"/api/v1/{quote(path, safe='/?=&')}{'&' if '?' in path else '?'}as={view}"
            client.request("GET", whole, headers={"Authorization": f"Bearer {it.key}"})
            answer, size = client.getresponse(), 0
            while piece := answer.read(1 << 20):
                size += len(piece)
            assert answer.status == 200 or "/bids" in path, (path, answer.status, piece)
            return size

        first = _seconds(partial(ask, "players/p000/stats"))[0]
        answers = {name: _median(partial(ask, path), rounds) for name, path in QUESTIONS.items()}
        exports = {}
        for kind in KINDS:
            spent, size = _seconds(partial(ask, f"exports/{DATASET}?format={kind}"))
            exports[kind] = (size, spent)
        return Asked(first, answers, exports, it.peak())


def _median(act: Callable[[], int], rounds: int) -> float:
    """Of some rounds; what takes long is asked once."""
    first = _seconds(act)[0]
    if first > ONCE_S:
        return first
    return median([first, *(_seconds(act)[0] for _ in range(rounds))])


def _seconds(act: Callable[[], int]) -> tuple[float, int]:
    start = time.perf_counter()
    done = act()
    return time.perf_counter() - start, done


_COPIES = {
    "parquet": "FORMAT PARQUET, COMPRESSION ZSTD",
    "csv": "FORMAT CSV, HEADER",
    "ndjson": "FORMAT JSON",
}


def _alone(folder: Path, out: Path, kind: str) -> float:
    """The same rows in the same order, by DuckDB."""
    segments = Reader(folder).snapshot().parts().segments
    listed = ", ".join(f"'{folder / one.files[DATASET]}'" for one in segments)
    rows = "SELECT hand_seq, match || '/' || number AS hand, * EXCLUDE (hand_seq)"
    rows += f" FROM read_parquet([{listed}])"
    rows += " ORDER BY hand_seq, seat"
    with duckdb.connect(config={"threads": "2"}) as con:
        start = time.perf_counter()
        if kind == "arrow":
            reader = con.sql(rows).to_arrow_reader()
            with pa.OSFile(str(out), "wb") as file, pa.ipc.new_stream(file, reader.schema) as to:
                for batch in reader:
                    to.write_batch(batch)
        else:
            con.sql(f"COPY ({rows}) TO '{out}' ({_COPIES[kind]})")
        return time.perf_counter() - start


def _told(hands: int, found: dict[str, Asked]) -> list[str]:
    lines = [
        f"## Answers over {hands:,} hands",
        "",
        f"| | {' | '.join(VIEWS)} |",
        "|---|---:|---:|",
        _row("statistics, the first answer of a new server", [found[one].first for one in VIEWS]),
    ]
    lines += [_row(name, [found[one].answers[name] for one in VIEWS]) for name in QUESTIONS]
    peaks = " | ".join(f"{found[one].peak / 2**20:,.0f} MB" for one in VIEWS)
    return [*lines, f"| memory, with the exports below | {peaks} |"]


def _row(name: str, seconds: Sequence[float]) -> str:
    return f"| {name} | {' | '.join(f'{1000 * one:,.0f} ms' for one in seconds)} |"


def _exports(found: dict[str, Asked], alone: dict[str, float]) -> list[str]:
    lines = [
        f"## Export of `{DATASET}`",
        "",
        f"| format | bytes | {' | '.join(VIEWS)} | DuckDB alone |",
        "|---|---:|---:|---:|---:|",
    ]
    for kind in KINDS:
        size = found[VIEWS[0]].exports[kind][0]
        cells = [f"{found[one].exports[kind][1]:.2f} s" for one in VIEWS]
        cells.append(f"{alone[kind]:.2f} s")
        lines.append(f"| {kind} | {size:,} | {' | '.join(cells)} |")
    return lines


def _goals(hands: int, found: dict[str, Asked], alone: dict[str, float]) -> list[str]:
    stats = found["auditor"].answers["statistics of a player"]
    verdict = "met" if stats < STATS_S else "**missed**"
    quick = f"statistics of a player under {STATS_S:g} s"
    lines = [f"- goal: {quick}: {verdict}, {stats:.3f} s at {hands:,} hands"]
    for kind in BINARY:
        ratio = alone[kind] / found["auditor"].exports[kind][1]
        beside = "met" if ratio >= BESIDE else "**missed**"
        lines.append(f"- goal: {kind} at {BESIDE:g} × DuckDB alone: {beside}, {ratio:.2f}")
    return lines
