"""A disk that is really full: a sentence for who asks, nothing is lost, and it goes on later."""

import http.client
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from api.main import main
from store.reader import Reader
from tests.http.served import PATIENCE_S
from tests.http.test_jobs_import import log_of

SIZE_MB = 24
# A server whose ledger lies on a small disk of its own, which only it and its children see.
SMALL = """
import sys
from pathlib import Path
from api.http.ledger_service import Settings
from api.http.credentials import Keys
from api.http.limits import Limits
from api.serving.server import listening_socket, run_server
folder = Path(sys.argv[1]) / "ledger"
key = Keys(folder).make(("matches:write", "audit:read"), "writer")[1]
sock = listening_socket("127.0.0.1", 0)
print(sock.getsockname()[1], key, flush=True)
run_server(Settings(folder, 0, limits=Limits(rate=0, keep_free=0)), sock, 1, None)
"""
MOUNTED = 'mount -t tmpfs -o size={}m none "$1" && exec "$0" -c "$2" "$1"'


class Served:
    """That server: its port, a key to it, and its disk as it sees it."""

    def __init__(self, process: "subprocess.Popen[str]", disk: Path) -> None:
        assert process.stdout is not None
        first = process.stdout.readline().split()
        if not first:
            pytest.skip("this machine lets nobody make a small disk (unshare, mount)")
        self.port, self.key = int(first[0]), first[1]
        self.disk = Path(f"/proc/{process.pid}/root") / disk.relative_to("/")

    def ask(self, method: str, path: str, body: bytes | None = None) -> tuple[int, dict[str, Any]]:
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        link.request(method, path, body, headers)
        answer = link.getresponse()
        told = answer.read()
        link.close()
        return answer.status, msgspec.json.decode(told)

    def over(self, job: str) -> dict[str, Any]:
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            _, told = self.ask("GET", f"/api/v1/jobs/{job}")
            if told["state"] not in ("starting", "waiting", "running"):
                return told
            time.sleep(0.05)
        raise AssertionError(f"job {job} is at work for too long")


@contextmanager
def small_disk(tmp_path: Path) -> Iterator[Served]:
    disk = tmp_path / "disk"
    disk.mkdir()
    if shutil.which("unshare") is None:
        pytest.skip("there is no unshare here, so no small disk can be made")
    command = ["unshare", "-rm", "sh", "-c", MOUNTED.format(SIZE_MB)]
    with subprocess.Popen(
        [*command, sys.executable, str(disk), SMALL],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            yield Served(process, disk)
        finally:
            process.terminate()


def fill(path: Path, leave: int) -> None:
    """A file that leaves so many bytes of the disk."""
    free = os.statvfs(path.parent)
    with path.open("wb") as file:
        left = free.f_bavail * free.f_frsize - leave
        while left > 0:
            file.write(bytes(min(left, 1 << 20)))
            left -= 1 << 20


@pytest.mark.ci  # disks that are simulated fill up before
def test_a_full_disk_is_a_sentence_and_the_ledger_goes_on_when_there_is_room(
    tmp_path: Path,
) -> None:
    match = b'{"game": "site-nl", "hands": %d, "match": "%s"}'
    with small_disk(tmp_path) as served:
        status, told = served.ask("POST", "/api/v1/matches", match % (30, b"before"))
        assert 202 == status, told
        assert "done" == served.over(told["id"])["state"]

        status, told = served.ask("POST", "/api/v1/imports", b"x" * (SIZE_MB << 20))
        assert (507, "urn:muckrake:problem:no-room") == (status, told["type"])
        status, told = served.ask("POST", "/api/v1/imports", log_of(3))
        assert 202 == status, "what was sent of it is gone again"
        assert "done" == served.over(told["id"])["state"]

        fill(served.disk / "filler", 1 << 20)
        status, told = served.ask("POST", "/api/v1/matches", match % (1_000_000, b"during"))
        assert 202 == status, told
        ended = served.over(told["id"])
        assert "failed" == ended["state"]
        assert "the disk is full: what was written before is safe" == ended["detail"]
        fill(served.disk / "more", 0)
        status, told = served.ask("POST", "/api/v1/matches", match % (1, b"nothing"))
        assert (507, "the disk is full: nothing of it was kept") == (status, told["detail"])
        assert 200 == served.ask("GET", "/healthz")[0]
        status, hand = served.ask("GET", "/api/v1/hands/before/30?as=auditor")
        assert (200, "before/30") == (status, hand["hand"])

        (served.disk / "filler").unlink()
        (served.disk / "more").unlink()
        status, told = served.ask("POST", "/api/v1/matches", match % (5, b"after"))
        assert 202 == status, told
        assert "done" == served.over(told["id"])["state"]
        copy = Path(shutil.copytree(served.disk / "ledger", tmp_path / "copy"))
    assert {"before", "during", "after"} <= set(Reader(copy).matches())
    assert 0 == main(["doctor", "--ledger", str(copy)])
