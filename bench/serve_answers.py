"""What players did and whole exports, over HTTP: asked of a ledger as a client asks it.

Heads-up auction hands of 200 players, a sample of hands under other names (`bench/large.py`). Every
answer is asked of the application in this process, without a socket, and read whole; the first one
of a viewpoint also opens the ledger and checks its files. Exports are compared with DuckDB alone,
which writes the same rows of the same files to a file of the same format.
"""

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

import duckdb
from starlette.testclient import TestClient

from analytics.bids_kept import VARIABLE
from analytics.stored import stored
from api.http.app import create_app
from api.http.desk import Desk, Settings
from api.http.limits import Limits
from bench.apart import apart
from bench.large import build
from bench.ledger import disk
from store.projections import STANDARD
from store.reader import Reader

HANDS = 100_000
DISTINCT = 2_000
STATS_S = 0.5
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
    """Seconds of the first answer and of later ones, by question; bytes and seconds by format."""

    first: float
    answers: dict[str, float]
    exports: dict[str, tuple[int, float]]


def sections(scratch: Path, hands: int, rounds: int, seconds: float) -> list[str]:
    """One ledger, asked by an auditor and by the public, each in a new Python."""
    tables = (*STANDARD, *stored(lambda mark: None))
    build(scratch / "small", scratch / "large", hands, min(DISTINCT, hands), projections=tables)
    found, memory = {}, {}
    for view in VIEWS:
        spent = apart(_asked, scratch / "large", view, max(1, min(rounds, 3)))
        found[view], memory[view] = spent.answer, spent.peak
    alone = {kind: _alone(scratch / "large", scratch / f"alone.{kind}", kind) for kind in _COPIES}
    return [
        disk(scratch),
        "",
        *_told(hands, found, memory),
        "",
        *_exports(found, alone),
        "",
        *_goals(hands, found, alone),
    ]


def _asked(folder: Path, view: str, rounds: int) -> Asked:
    """In a Python of its own, with no value counted before."""
    os.environ[VARIABLE] = str(folder / "cache")
    app = create_app(Desk(Settings(folder, limits=Limits(rate=0))))
    _, key = app.state.keys.make(("audit:read",))
    client = TestClient(app, "http://127.0.0.1", headers={"Authorization": f"Bearer {key}"})

    def ask(path: str) -> int:
        answer = client.get(f"/api/v1/{path}{'&' if '?' in path else '?'}as={view}")
        assert answer.status_code == 200 or "/bids" in path, answer.text
        return len(answer.content)

    first = _seconds(lambda: ask("players/p000/stats"))[0]
    answers = {
        name: median(_seconds(lambda path=path: ask(path))[0] for _ in range(rounds))  # type: ignore[misc]
        for name, path in QUESTIONS.items()
    }
    exports = {}
    for kind in KINDS:
        spent, size = _seconds(lambda kind=kind: ask(f"exports/{DATASET}?format={kind}"))  # type: ignore[misc]
        exports[kind] = (size, spent)
    return Asked(first, answers, exports)


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
    with duckdb.connect(config={"threads": "2"}) as con:
        start = time.perf_counter()
        con.sql(f"COPY ({rows} ORDER BY hand_seq, seat) TO '{out}' ({_COPIES[kind]})")
        return time.perf_counter() - start


def _told(hands: int, found: dict[str, Asked], memory: dict[str, int]) -> list[str]:
    lines = [
        f"## Answers over {hands:,} hands",
        "",
        f"| | {' | '.join(VIEWS)} |",
        "|---|---:|---:|",
        _row("statistics, the first answer of a new server", [found[one].first for one in VIEWS]),
    ]
    lines += [_row(name, [found[one].answers[name] for one in VIEWS]) for name in QUESTIONS]
    peaks = " | ".join(f"{memory[one] / 2**20:,.0f} MB" for one in VIEWS)
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
        cells.append(f"{alone[kind]:.2f} s" if kind in alone else "")
        lines.append(f"| {kind} | {size:,} | {' | '.join(cells)} |")
    return lines


def _goals(hands: int, found: dict[str, Asked], alone: dict[str, float]) -> list[str]:
    stats = found["auditor"].answers["statistics of a player"]
    verdict = "met" if stats < STATS_S else "**missed**"
    ratio = alone["parquet"] / found["auditor"].exports["parquet"][1]
    beside = "met" if ratio >= BESIDE else "**missed**"
    quick = f"statistics of a player under {STATS_S:g} s"
    return [
        f"- goal: {quick}: {verdict}, {stats:.3f} s at {hands:,} hands",
        f"- goal: Parquet at {BESIDE:g} × DuckDB alone: {beside}, {ratio:.2f}",
    ]
