"""A real server on a free port of this machine, for what only a socket can show."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from fastapi import FastAPI

from api.serving.server import Worker

PATIENCE_S = 30.0  # with a machine that does much else meanwhile


@contextmanager
def served(app: FastAPI) -> Iterator[int]:
    """The port at which it is served, until the end of the block."""
    with socket.socket(proto=socket.IPPROTO_TCP) as listening:  # else asyncio waits, as Nagle does
        listening.bind(("127.0.0.1", 0))
        listening.listen(100)
        server = Worker(app)
        before = set(threading.enumerate())
        thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield listening.getsockname()[1]
        finally:
            server.should_exit = server.force_exit = True
            thread.join(10)
            if (feeds := getattr(app.state, "feeds", None)) is not None:
                feeds._threads.shutdown()  # else they wait for work that nobody has any more
            for one in set(threading.enumerate()) - before:
                one.join(10)  # whoever still asks the ledger: Python cannot end around him


def said(port: int, words: bytes, *, rest_s: float = PATIENCE_S) -> bytes:
    """What is answered to these bytes, up to the end of the connection or of patience."""
    with socket.create_connection(("127.0.0.1", port), timeout=rest_s) as talk:
        talk.sendall(words)
        return heard(talk)


def heard(talk: socket.socket) -> bytes:
    """Everything that comes, until nothing does."""
    came = b""
    try:
        while part := talk.recv(1 << 16):
            came += part
    except (TimeoutError, ConnectionResetError):
        pass
    return came


def get(path: str, *headers: str) -> bytes:
    """A request as it is sent, to be answered alone."""
    lines = (f"GET {path} HTTP/1.1", "Host: 127.0.0.1", "Connection: close", *headers, "", "")
    return "\r\n".join(lines).encode("latin-1")
