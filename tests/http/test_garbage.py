"""Whoever sends garbage, or half of something, harms nobody: a real server, and raw sockets."""

import random
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.http.clients import site_of
from tests.http.served import get, heard, said, served


@pytest.fixture(scope="module")
def port(house: Path) -> Iterator[int]:
    """Where a server listens over the ledger of these tests."""
    with served(site_of(house).app) as port:
        yield port


def well(port: int) -> bool:
    """Whether somebody else is answered as ever."""
    came = said(port, get("/api/v1/"))
    return came.startswith(b"HTTP/1.1 200") and b'"view":"public"' in came


GARBAGE = {
    "no HTTP at all": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(range(256)),
    "an empty line for ever": b"\r\n" * 5_000,
    "a request line without an end": b"GET /" + b"a" * 200_000,
    "a thousand headers": b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 5_000 + b"\r\n",
    "a header of a megabyte": b"GET / HTTP/1.1\r\nX: " + b"y" * 1_000_000 + b"\r\n\r\n",
    "a NUL in a header": b"GET / HTTP/1.1\r\nHost: x\r\nX: a\0b\r\n\r\n",
    "two lengths": b"POST /api/v1/keys HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n"
    b"Content-Length: 4\r\n\r\nabcd",
    "a length and chunks": b"POST /api/v1/keys HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a length that is no number": b"POST /api/v1/keys HTTP/1.1\r\nHost: x\r\n"
    b"Content-Length: many\r\n\r\n",
    "a chunk of an unknown size": b"POST /api/v1/keys HTTP/1.1\r\nHost: x\r\n"
    b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
    "another protocol": b"GET / HTTP/9.9\r\nHost: x\r\n\r\n",
    "an upgrade to nothing": b"GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\n"
    b"Upgrade: h2c\r\n\r\n",
    "a host that is none": b"GET / HTTP/1.1\r\nHost: ]:[\r\nConnection: close\r\n\r\n",
}


@pytest.mark.parametrize("name", GARBAGE)
def test_garbage_is_answered_or_cut_off_and_nobody_else_notices(name: str, port: int) -> None:
    try:
        came = said(port, GARBAGE[name], rest_s=1.0)
    except (ConnectionResetError, BrokenPipeError):
        came = b""
    assert not came.startswith((b"HTTP/1.1 2", b"HTTP/1.1 5")) or name in (
        "an upgrade to nothing",
        "a host that is none",
        "a thousand headers",
        "another protocol",
    )
    assert not came.startswith(b"HTTP/1.1 5")
    assert well(port)


PATHS = (
    "/api/v1/%",
    "/api/v1/%0",
    "/api/v1/%zz",
    "/api/v1/%00",
    "/api/v1/%c3%28",
    "/api/v1/%ff%fe",
    "/api/v1/..%2f..%2fetc%2fpasswd",
    "/static/..%2f..%2f..%2f..%2fetc%2fpasswd",
    "/static/../../../../etc/passwd",
    "//elsewhere.example/",
    "/api/v1//",
    "/api/v1/hands/%00/1",
    "/api/v1/hands/holdem/999999999999999999999999999999",
    "/api/v1/hands/holdem/-1",
    "/api/v1/hands/holdem/1.5",
    "/api/v1/hands/holdem/%D9%A1",
    "/api/v1/hands/..%2fprivate/1",
    "/api/v1/matches/..%2f..%2fprivate%2fkeys",
    "/api/v1/?as=%00",
    "/api/v1/?as=seat:%ff",
    "/api/v1/?as=public&as=auditor",
    "/api/v1/?" + "a=1&" * 1_000,
    "/api/v1/?cursor=%F0%9F%83%8F",
    "/hands?q=" + "(" * 2_000,
)


@pytest.mark.parametrize("path", PATHS, ids=range(len(PATHS)))
def test_no_address_is_a_failure_of_ours(path: str, port: int) -> None:
    came = said(port, get(path))
    assert came.startswith(b"HTTP/1.1 ")
    assert not came.startswith(b"HTTP/1.1 5"), came[:2000]
    assert b"root:" not in came


@pytest.mark.parametrize(
    "header",
    [
        "Authorization: Bearer",
        "Authorization: Bearer \xff\xfe",
        "Authorization: Bearer " + "mr_" * 1_000,
        "Cookie: =; ;;; a=b=c; muckrake_\xff=1",
        "Accept: " + "text/html;q=0.1," * 500,
        "Accept: \xff/\xfe;q=9.99999",
        "If-None-Match: " + '"' * 999,
        "Range: bytes=-1--99",
        "Content-Type: multipart/form-data; boundary=",
        "Last-Event-ID: \xff",
        "Origin: http://[",
        "Sec-Fetch-Site: \xff",
    ],
)
def test_no_header_is_a_failure_of_ours(header: str, port: int) -> None:
    for path in ("/api/v1/", "/api/v1/hands", "/"):
        came = said(port, get(path, header))
        assert came.startswith(b"HTTP/1.1 ")
        assert not came.startswith(b"HTTP/1.1 5"), came[:2000]


@pytest.mark.parametrize("origin", ["http://[", "null", "\xff", "", "http://127.0.0.1:1"])
def test_an_origin_that_is_none_of_ours_is_refused(origin: str, port: int) -> None:
    words = get("/api/v1/keys", f"Origin: {origin}", "Content-Length: 0")
    assert said(port, words.replace(b"GET", b"POST", 1)).startswith(b"HTTP/1.1 403")


def test_many_halves_of_requests_hold_up_nobody(port: int) -> None:
    held = []
    for number in range(50):
        talk = socket.create_connection(("127.0.0.1", port))
        talk.sendall(get("/api/v1/")[: number + 1])
        held.append(talk)
    assert well(port)
    for talk in held:
        talk.close()
    assert well(port)


def test_who_is_gone_before_the_answer_harms_nobody(port: int) -> None:
    for _ in range(30):
        with socket.create_connection(("127.0.0.1", port)) as talk:
            talk.sendall(get("/api/v1/hands"))
    assert well(port)


def test_random_bytes_never_end_the_server(port: int) -> None:
    chance = random.Random(20)
    good = get("/api/v1/?as=public", "Accept: application/json", "X: y")
    for _ in range(150):
        bad = bytearray(good)
        for _ in range(chance.randint(1, 6)):
            bad[chance.randrange(len(bad))] = chance.randrange(256)
        with socket.create_connection(("127.0.0.1", port), timeout=0.2) as talk:
            with suppress(OSError):  # it may have answered, and gone, already
                talk.sendall(bytes(bad))
                talk.shutdown(socket.SHUT_WR)
            assert not heard(talk).startswith(b"HTTP/1.1 5")
    assert well(port)
