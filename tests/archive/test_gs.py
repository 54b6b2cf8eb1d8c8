"""Google Cloud Storage, as its XML interface is documented: a condition there is a generation."""

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from api.main import main
from store.archive.object_storage import storage_of
from tests.sessions import Captured, printed

URL = "gs://poker/league"


class Google(BaseHTTPRequestHandler):
    """Objects with their generations; a PUT without a condition replaces what is there."""

    objects: dict[str, tuple[int, bytes]] = {}  # noqa: RUF012

    def do_GET(self) -> None:
        found = self.objects.get(self.path)
        if found is None:
            self._answer(404)
            return
        generation, data = found
        if self.headers.get("If-None-Match") == _tag(data):
            self._answer(304, generation, b"", data)
            return
        part = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        first, last = (int(part[1]), int(part[2])) if part else (0, len(data) - 1)
        if part and first >= len(data):
            self._answer(416)
            return
        some = data[first : last + 1]
        span = f"bytes {first}-{first + len(some) - 1}/{len(data)}" if part else ""
        self._answer(206 if part else 200, generation, some, data, span)

    do_HEAD = do_GET  # noqa: N815

    def do_PUT(self) -> None:
        data = self.rfile.read(int(self.headers["Content-Length"]))
        now, _ = self.objects.get(self.path, (0, b""))
        wanted = self.headers.get("x-goog-if-generation-match")
        if wanted is not None and int(wanted) != now:
            self._answer(412)
            return
        self.objects[self.path] = (now + 1, data)
        self._answer(200, now + 1, b"", data)

    def _answer(
        self,
        status: int,
        generation: int = 0,
        body: bytes = b"",
        whole: bytes = b"",
        span: str = "",
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Last-Modified", "Tue, 24 Nov 2026 00:00:00 GMT")
        if generation:
            self.send_header("ETag", _tag(whole))
            self.send_header("x-goog-generation", str(generation))
        if span:
            self.send_header("Content-Range", span)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def _tag(data: bytes) -> str:
    return f'"{hashlib.sha256(data).hexdigest()}"'


@pytest.fixture(autouse=True)
def google(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[type[Google]]:
    """A server on loopback, named as a service account names one."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Google)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    account = tmp_path / "account.json"
    address = f"http://127.0.0.1:{server.server_port}"
    empty = dict.fromkeys(("client_email", "private_key", "private_key_id"), "")
    account.write_text(json.dumps({"gcs_base_url": address, "disable_oauth": True, **empty}))
    monkeypatch.setenv("GOOGLE_SERVICE_ACCOUNT", str(account))
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
    monkeypatch.setenv("MUCKRAKE_CACHE", str(tmp_path / "cache"))
    Google.objects = {}
    yield Google
    server.shutdown()
    server.server_close()


def test_an_archive_grows_and_is_read(tmp_path: Path, capsys: Captured) -> None:
    """The index is replaced, the second time by its generation."""
    ledger = tmp_path / "ledger"
    for match in ("scrim", "final"):
        words = ("play", "auction-2024", "--hands", "20", "--seed", "7", "--match", match)
        assert main([*words, "--ledger", str(ledger)]) == 0
        assert main(["compact", "--ledger", str(ledger)]) == 0
        assert main(["push", URL, "--ledger", str(ledger)]) == 0
    capsys.readouterr()
    ours = printed(capsys, "audit", "final/3", "--ledger", str(ledger))
    assert printed(capsys, "audit", "final/3", "--ledger", URL) == ours
    assert main(["pull", URL, "--ledger", str(tmp_path / "copy")]) == 0
    capsys.readouterr()
    assert printed(capsys, "audit", "final/3", "--ledger", str(tmp_path / "copy")) == ours


def test_of_two_who_replace_an_object_one_does(google: type[Google]) -> None:
    """By the generation that each has read."""
    one, other = storage_of(URL), storage_of(URL)
    assert one.put_if_unchanged("index", b"first", None)
    assert not other.put_if_unchanged("index", b"another", None)
    read = [who.get("index") for who in (one, other)]
    assert [it and it[0] for it in read] == [b"first", b"first"]
    assert one.put_if_unchanged("index", b"second", read[0] and read[0][1])
    assert not other.put_if_unchanged("index", b"third", read[1] and read[1][1])
    assert [data for _, data in google.objects.values()] == [b"second"]
