"""`muckrake serve` as a process of its own, and who follows its stream over a socket."""

import http.client
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from tests.processes import Popen

MUCKRAKE = (sys.executable, "-c", "import sys; from api.main import main; sys.exit(main())")
IMPATIENT = """
import sys
from pathlib import Path
from api.http.ledger_service import Settings
from api.http.limits import Limits
from api.serving.server import listening_socket, run_server
sock = listening_socket("127.0.0.1", 0)
print(f"http://127.0.0.1:{sock.getsockname()[1]}/", flush=True)
run_server(Settings(Path(sys.argv[1]), 0, limits=Limits(rate=0, stall_s=1)), sock, 1, None)
"""


class Server:
    """A server at a free port, or at one of one's own."""

    def __init__(self, folder: Path, *words: str, impatient: bool = False) -> None:
        command = (*MUCKRAKE, "serve", "--port", "0", "--ledger", str(folder), *words)
        if impatient:
            command = (sys.executable, "-c", IMPATIENT, str(folder))
        self._process = Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        first = self._process.stdout.readline().split()
        assert first, "it did not start"
        self.port = int(first[0].rstrip("/").rpartition(":")[2])
        self.once = "" if impatient else self._process.stdout.readline().split()[0]

    @property
    def workers(self) -> list[int]:
        """The processes that it has started to answer."""
        path = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children")
        names = {int(one): Path(f"/proc/{one}/cmdline") for one in path.read_text().split()}
        return [one for one, line in names.items() if b"spawn_main" in line.read_bytes()]

    @property
    def resident_mb(self) -> int:
        """What of its memory is in use."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) >> 10

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Its exit code."""
        self._process.send_signal(number)
        return self._process.wait(30)

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *failure: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait(10)
        for one in [] if self._process.stdout is None else [self._process.stdout]:
            one.close()

    def get(self, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
        """An answer as a whole."""
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        link.request("GET", path, headers=headers)
        answer = link.getresponse()
        told = {name.lower(): value for name, value in answer.getheaders()}
        body = answer.read()
        link.close()
        return answer.status, told, body

    def cookie(self) -> str:
        """The auditor's, for the link that was printed."""
        status, headers, _ = self.get(self.once.partition(str(self.port))[2])
        assert status == 303
        return headers["set-cookie"].partition(";")[0]


class Follower:
    """Somebody at a stream: what he is told, block by block."""

    def __init__(self, port: int, path: str, last_id: str | None = None, **headers: str) -> None:
        self._link = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        asked = headers if last_id is None else {**headers, "Last-Event-ID": last_id}
        self._link.request("GET", path, headers={"Accept": "text/event-stream", **asked})
        self.answer = self._link.getresponse()
        self.last_id = last_id
        self.comments: list[str] = []

    def events(self) -> Iterator[dict[str, Any]]:
        """Every event, until the stream ends or breaks; what came before it broke is whole."""
        block: dict[str, str] = {}
        while line := self._line():
            name, _, value = line.rstrip("\n").partition(":")
            if line == "\n":
                self.last_id = block.get("id", self.last_id)
                if "data" in block:
                    yield msgspec.json.decode(block["data"])
                block = {}
            elif not name:
                self.comments.append(value.strip())
            else:
                block[name] = value.removeprefix(" ")

    def close(self) -> None:
        self._link.close()

    def _line(self) -> str:
        try:
            return self.answer.readline().decode()
        except (OSError, http.client.HTTPException):
            return ""


def killed(process: int) -> None:
    os.kill(process, signal.SIGKILL)
