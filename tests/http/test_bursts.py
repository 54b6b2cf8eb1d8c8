"""What a burst of big answers took is given back to the system."""

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from fastapi.responses import Response

from api.http import request_log
from api.main import main
from tests.http.clients import site_of
from tests.http.served import PATIENCE_S, get, said, served
from tests.http.servers import Server

# Threads that take a lot in small pieces, let go of all but the last, and end.
BURST = """
import threading
from pathlib import Path
from api.http.request_log import limit_heaps, trim_memory

def rss():
    return int(Path("/proc/self/statm").read_text().split()[1]) >> 8  # MiB of pages of 4 KiB

kept = []
def take():
    pieces = [bytes(700) for _ in range(60_000)]
    kept.append(bytes(700))

limit_heaps()
before = rss()
threads = [threading.Thread(target=take) for _ in range(4)]
for one in threads: one.start()
for one in threads: one.join()
held = rss()
trim_memory()
print(before, held, rss())
"""


@pytest.mark.ci
def test_what_threads_freed_goes_back_to_the_system() -> None:
    told = subprocess.run([sys.executable, "-c", BURST], capture_output=True, text=True, check=True)
    before, held, after = map(int, told.stdout.split())
    assert held > before + 60, "else this shows nothing"
    assert after < before + 20


@pytest.mark.ci
def test_a_server_gives_back_when_it_has_sent_much(
    house: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = []
    monkeypatch.setattr(request_log, "TRIM_EVERY_S", 0.05)
    monkeypatch.setattr(request_log, "trim_memory", lambda: given.append(time.monotonic()))
    site = site_of(house)

    @site.app.get("/api/v1/test/long")
    def long() -> Response:
        return Response(b"x" * request_log.TRIM_AFTER_BYTES)

    with served(site.app) as port:
        assert said(port, get("/api/v1/")).startswith(b"HTTP/1.1 200")
        time.sleep(0.3)
        assert [] == given, "not for a small answer"
        assert len(said(port, get("/api/v1/test/long"))) > request_log.TRIM_AFTER_BYTES
        until = time.monotonic() + PATIENCE_S
        while not given:
            assert time.monotonic() < until
            time.sleep(0.02)
        time.sleep(0.3)
        assert len(given) <= 3, "and once more when nobody is being answered, but not for ever"


@pytest.mark.slow
def test_a_burst_of_large_lists_gives_its_memory_back(tmp_path: Path) -> None:
    """Of 4,000 hands: it took 950 MiB and kept 525 to 666; now it ends near where it began."""
    folder = tmp_path / "ledger"
    words = ("--hands", "4000", "--seed", "1", "--match", "scrim", "--ledger", str(folder))
    assert 0 == main(["play", "auction-2024-mit", *words])
    kinds = ("csv", "ndjson", "parquet", "arrow")
    paths = [
        f"/api/v1/exports/{table}?format={kind}" for table in ("hands", "events") for kind in kinds
    ]
    paths += [f"/api/v1/hands?limit=1000&format={kind}" for kind in ("json", "ndjson", "csv")]
    with Server(folder, "--delay", "0", "--rate", "0") as server:
        cookie = server.cookie()

        def ask() -> None:
            for path in paths:
                assert 200 == server.get(path, Cookie=cookie)[0]

        ask()
        time.sleep(2.5)
        warm = server.resident_mb
        burst = [threading.Thread(target=ask) for _ in range(4)]
        for one in burst:
            one.start()
        for one in burst:
            one.join()
        until = time.monotonic() + PATIENCE_S
        while server.resident_mb > warm + 120:
            assert time.monotonic() < until, f"{server.resident_mb} MiB, from {warm}"
            time.sleep(0.2)
