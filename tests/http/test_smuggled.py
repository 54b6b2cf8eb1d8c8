"""Requests of which a proxy and a server could think that they end elsewhere, or are for another.

Each is sent to our server alone and through nginx with the documented configuration. Then somebody
else asks over the same ways, and must be told what he asked for: no request that was hidden in the
first may be answered, and none of its bytes may stand before the second.
"""

import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from api.http.limits import Limits
from tests.http.clients import site_of
from tests.http.proxies import CONFIGURATION, proxied
from tests.http.served import get, heard, said, served

NAME = "poker.example"
HIDDEN = b"GET /api/v1/games/hidden HTTP/1.1\r\nHost: poker.example\r\n\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"


def post(*lines: bytes, body: bytes = b"") -> bytes:
    head = b"POST /api/v1/keys HTTP/1.1\r\nHost: poker.example\r\n"
    return head + b"".join(lines) + b"\r\n" + body


ENDED = b"0\r\n\r\n" + HIDDEN
SIZED = b"Content-Length: %d\r\n" % len(ENDED)
REFUSED = {  # by our server alone, with 400 and the end of the connection
    "a length and chunks": post(b"Content-Length: 5\r\n", CHUNKED, body=ENDED),
    "chunks and a length": post(CHUNKED, SIZED, body=ENDED),
    "two lengths": post(b"Content-Length: 0\r\n", SIZED, body=ENDED),
    "lengths in a list": post(b"Content-Length: 0, %d\r\n" % len(HIDDEN), body=HIDDEN),
    "a length with a sign": post(b"Content-Length: +0\r\n", body=HIDDEN),
    "a length in hex": post(b"Content-Length: 0x0\r\n", body=HIDDEN),
    "chunks under a strange name": post(b"Transfer-Encoding: xchunked\r\n", body=ENDED),
    "chunks that are identity": post(b"Transfer-Encoding: identity\r\n", body=ENDED),
    "chunks and identity": post(b"Transfer-Encoding: chunked, identity\r\n", body=ENDED),
    "chunks twice": post(CHUNKED, CHUNKED, body=ENDED),
    "chunks before a colon with a space": post(b"Transfer-Encoding : chunked\r\n", body=ENDED),
    "a folded line of chunks": b"POST /api/v1/keys HTTP/1.1\r\n\tTransfer-Encoding: chunked\r\n"
    b"Host: poker.example\r\n\r\n" + ENDED,
    "chunks with a control character": post(b"Transfer-Encoding: \x0bchunked\r\n", body=ENDED),
    "chunks in HTTP/1.0": post(CHUNKED, body=ENDED).replace(b"HTTP/1.1", b"HTTP/1.0", 1),
    "a chunk without a size": post(CHUNKED, body=b"\r\n" + ENDED),
    "a chunk of a negative size": post(CHUNKED, body=b"-1\r\n" + ENDED),
    "a chunk with a wrong end": post(CHUNKED, body=b"1\r\nxX" + ENDED),
    "a chunk size of 30 digits": post(CHUNKED, body=b"0" * 29 + b"1\r\nx\r\n" + ENDED),
    "hosts": post(b"Host: elsewhere.example\r\n", b"Content-Length: 0\r\n"),
    "no host": b"GET /api/v1/games HTTP/1.1\r\n\r\n" + HIDDEN,
    "a folded line first": b"GET / HTTP/1.1\r\n X: y\r\nHost: poker.example\r\n\r\n" + HIDDEN,
    "a bare CR": post(b"X: y\rContent-Length: 0\r\n", body=HIDDEN),
    "a NUL": post(b"X: a\0b\r\n", b"Content-Length: 0\r\n", body=HIDDEN),
    "an address with a host": b"GET http://elsewhere.example/ HTTP/1.1\r\n"
    b"Host: poker.example\r\n\r\n",
    "a way through": b"CONNECT elsewhere.example:443 HTTP/1.1\r\nHost: poker.example\r\n\r\n"
    + HIDDEN,
    "an asterisk": b"OPTIONS * HTTP/1.1\r\nHost: poker.example\r\n\r\n",
    "a request of HTTP/0.9": b"GET /\r\n" + HIDDEN,
    "HTTP/2 as it is": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
}
READ_ONE_WAY = {  # by our server alone: what RFC 9112 lets a server read, and how many answers
    "a folded line": (get("/healthz").replace(b"Connection", b"X: a\r\n b\r\nConnection"), 1),
    "bare LF": (get("/healthz").replace(b"\r\n", b"\n"), 1),
    "an equal length twice": (post(b"Content-Length: 2\r\nContent-Length: 2\r\n", body=b"{}"), 1),
    "a chunk with an extension": (post(CHUNKED, body=b"2;a=b\r\n{}\r\n0\r\n\r\n"), 1),
    "a chunk with a trailer": (post(CHUNKED, body=b"2\r\n{}\r\n0\r\nHost: x\r\n\r\n"), 1),
    "an upgrade to a web socket": (get("/healthz", "Connection: upgrade", "Upgrade: websocket"), 1),
    "an upgrade to h2c": (get("/healthz", "Connection: upgrade", "Upgrade: h2c"), 1),
    "two requests": (get("/healthz").replace(b"Connection: close\r\n", b"") + get("/healthz"), 2),
}


class Ways(NamedTuple):
    """The ports of our server and of the proxy before it."""

    alone: int
    proxied: int


@pytest.fixture(scope="module")
def ways(house: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ways]:
    limits = Limits(rate=0, head_s=2.0)
    site = site_of(house, limits=limits, fronted=True, hosts=(NAME, "127.0.0.1"))
    with served(site.app) as alone, proxied(alone, tmp_path_factory.mktemp("nginx")) as front:
        yield Ways(alone, front)


@pytest.fixture(scope="module")
def alone(house: Path) -> Iterator[int]:
    site = site_of(house, limits=Limits(rate=0, head_s=0.6), hosts=(NAME, "127.0.0.1"))
    with served(site.app) as port:
        yield port


def statuses(came: bytes) -> list[int]:
    """The status of every answer in it."""
    return [int(one) for one in re.findall(rb"HTTP/1\.1 (\d{3}) ", came)]


@pytest.mark.parametrize("name", REFUSED)
def test_what_could_be_read_in_two_ways_is_refused_and_nothing_after_it_is_read(
    name: str, alone: int
) -> None:
    came = said(alone, REFUSED[name], rest_s=5)
    assert statuses(came) in ([400], [421]), came[:500]
    assert b"hidden" not in came


@pytest.mark.parametrize("name", READ_ONE_WAY)
def test_what_a_server_may_read_is_one_request(name: str, alone: int) -> None:
    words, count = READ_ONE_WAY[name]
    assert count == len(statuses(said(alone, words, rest_s=5)))


@pytest.mark.parametrize("name", [*REFUSED, *READ_ONE_WAY])
def test_nothing_is_smuggled_past_the_documented_proxy(name: str, ways: Ways) -> None:
    """The proxy keeps its connections to us: what it leaves there would stand before the next."""
    words = REFUSED[name] if name in REFUSED else READ_ONE_WAY[name][0]
    words = words.replace(b"Host: 127.0.0.1", b"Host: poker.example")
    with socket.create_connection(("127.0.0.1", ways.proxied), timeout=0.3) as talk:
        talk.sendall(words)
        first = heard(talk)
    hidden = first.count(b"no ruleset is called hidden")
    assert hidden <= (1 if b"\r\n\r\nGET /api/v1/games/hidden" in words else 0)
    for number in range(4):
        asked = get(f"/api/v1/games/mine-{number}").replace(b"127.0.0.1", NAME.encode())
        came = said(ways.proxied, asked, rest_s=5)
        assert [404] == statuses(came), came[:500]
        assert f"mine-{number}".encode() in came
        assert b"hidden" not in came


def test_the_proxy_names_the_client_and_passes_no_words_of_his(ways: Ways) -> None:
    """`X-Forwarded-*` that a client sends are replaced; another host is not served."""
    asked = get("/api/v1/", "X-Forwarded-For: 6.6.6.6", "X-Forwarded-Proto: http")
    came = said(ways.proxied, asked.replace(b"127.0.0.1", NAME.encode()))
    assert [200] == statuses(came)
    assert [421] == statuses(said(ways.proxied, get("/api/v1/")))


def test_a_trickle_does_not_get_through_the_proxy(house: Path, tmp_path: Path) -> None:
    site = site_of(house, limits=Limits(rate=0), fronted=True, hosts=(NAME, "127.0.0.1"))
    with (
        served(site.app) as port,
        proxied(port, tmp_path / "nginx", client_header_timeout="500ms") as front,
        socket.create_connection(("127.0.0.1", front), timeout=10) as talk,
    ):
        talk.sendall(b"GET / HTTP/1.1\r\nHost: poker.example\r\nX: ")
        heard(talk)
        assert [404] == statuses(
            said(front, get("/api/v1/games/mine").replace(b"127.0.0.1", NAME.encode()))
        )


def test_the_configuration_says_what_the_page_says() -> None:
    text = CONFIGURATION.read_text("utf-8")
    for line in ("X-Forwarded-For $remote_addr;", "Host $host;", "limit_conn connections 256;"):
        assert line in text
    page = (CONFIGURATION.parents[1] / "serving.md").read_text("utf-8")
    assert "(examples/nginx.conf)" in page
