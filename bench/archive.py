"""What a ledger in object storage costs to read: requests and bytes of each question.

An S3 server on loopback (moto's) counts what it is asked and what it answers, and those are the
same at any distance. The ledger is one of heads-up auctions. Before a question nothing is in the
cache, unless it says so.
"""

import io
import os
import shutil
from collections.abc import Iterator
from contextlib import closing, redirect_stdout
from pathlib import Path
from unittest.mock import patch

from api.main import main
from bench.large import build, name_of
from bench.s3 import Server
from store.ledger import open_ledger

HANDS = 1_000_000
MOST = 1  # rounds: nothing here is a matter of time
DISTINCT = 10_000
PER_SEGMENT = 350_000  # hands: 10 million events, up to which compaction merges
WORKERS = 2
COUNT = "SELECT count(*) FROM hands"


def sections(scratch: Path, hands: int, rounds: int, seconds: float) -> list[str]:
    """A ledger is made, pushed and asked."""
    ledger, cache = scratch / "ledger", scratch / "cache"
    distinct = min(DISTINCT, hands)
    build(scratch / "small", ledger, hands, distinct, PER_SEGMENT)
    _sealed(ledger)
    server = Server()
    url = server.create()
    match, number = name_of(hands // distinct // 3), distinct * 3 // 4
    with (
        closing(server),
        patch.dict(os.environ, server.environment, MUCKRAKE_CACHE=str(cache)),
    ):
        said = _asked(server, "push", url, "--ledger", str(ledger)).strip().rpartition("; ")[2]
        sent = f"The push: {said}, {len(server.requests):,} requests."
        rows = list(_answers(server, url, cache, f"{match}/{number}", f"{match}/{number + 1}"))
    stored = sum(it.stat().st_size for it in ledger.rglob("*.parquet"))
    return [
        f"{hands:,} hands in segments of {PER_SEGMENT:,} at most; {stored:,} bytes of Parquet. "
        + sent,
        "",
        "| question | requests | bytes | of these the index |",
        "|---|---:|---:|---:|",
        *rows,
        "",
    ]


def _sealed(ledger: Path) -> None:
    """A ledger that was built has no checkpoint: two hands more, and a seal, make one."""
    _run("play", "auction-2024", "--hands", "2", "--match", "last", "--ledger", str(ledger))
    opened, lock = open_ledger(ledger, "bench")
    opened.seal()
    opened.close()
    lock.release()


def _answers(server: Server, url: str, cache: Path, hand: str, following: str) -> Iterator[str]:
    """A row for each question; what is asked again finds the cache of the question before."""
    for name, words, fresh in (
        ("`audit HAND`", ("audit", hand), True),
        ("`replay HAND`", ("replay", hand), True),
        ("`replay` of the next hand, after it", ("replay", following), False),
        ("`sql` COUNT", ("sql", COUNT), True),
        ("`sql` COUNT, again", ("sql", COUNT), False),
        ("`audit --all`", ("audit", "--all"), True),
        (f"`audit --all --workers {WORKERS}`", ("audit", "--all", "--workers", str(WORKERS)), True),
    ):
        if fresh:
            shutil.rmtree(cache, ignore_errors=True)
        _asked(server, *words, "--ledger", url)
        index = sum(it.size for it in server.requests if it.name == "archive.json")
        yield f"| {name} | {len(server.requests):,} | {_bytes(server):,} | {index:,} |"


def _asked(server: Server, *words: str) -> str:
    """What a command prints; the server has counted it alone."""
    server.requests.clear()
    return _run(*words)


def _run(*words: str) -> str:
    """What a command prints; it must succeed."""
    with redirect_stdout(io.StringIO()) as printed:
        assert main(list(words)) == 0, words
    return printed.getvalue()


def _bytes(server: Server) -> int:
    return sum(it.size for it in server.requests)
