"""Whoever connects and does not ask, or asks by the drop, is let go; everybody else is answered."""

import os
import resource
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path

import pytest
from fastapi import Request
from fastapi.responses import Response

from api.http.limits import Limits, client_network
from api.http.responses import streaming_response
from api.http.routes.stream import Followers
from api.serving.server import DescriptorLimits
from tests.http.clients import site_of
from tests.http.served import PATIENCE_S, get, heard, said, served
from tests.processes import Popen
from tests.profiles import sized

SOON_S = 10.0  # with seven others at this machine
HEAD = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX: "
# A server with few descriptors; SIGUSR1 takes away those that are left, SIGUSR2 gives them back.
FEW = """
import os, resource, signal, sys
from pathlib import Path
from api.http.ledger_service import Settings
from api.http.limits import Limits
from api.serving.server import listening_socket, run_server
resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[2]),) * 2)
taken = []
def take(*_):
    try:
        while True:
            taken.append(os.dup(0))
    except OSError:
        pass
def give(*_):
    while taken:
        os.close(taken.pop())
signal.signal(signal.SIGUSR1, take)
signal.signal(signal.SIGUSR2, give)
sock = listening_socket("127.0.0.1", 0)
print(sock.getsockname()[1], flush=True)
run_server(Settings(Path(sys.argv[1]), 0, limits=Limits(rate=0)), sock, 1, None)
"""


@contextmanager
def from_address(address: str, port: int) -> Iterator[socket.socket]:
    """A connection that comes from an address of this machine."""
    with socket.create_connection(("127.0.0.1", port), SOON_S, (address, 0)) as talk:
        yield talk


def asked(port: int, address: str = "127.0.0.1") -> bytes:
    """What somebody who asks for /healthz is answered."""
    with from_address(address, port) as talk:
        talk.sendall(get("/healthz"))
        return heard(talk)


def well(port: int, address: str = "127.0.0.1") -> bool:
    """Whether somebody there is answered, and at once."""
    since = time.monotonic()
    came = asked(port, address)
    return came.startswith(b"HTTP/1.1 200") and time.monotonic() - since < SOON_S


def _is_open(talk: socket.socket) -> bool:
    talk.settimeout(0)
    try:
        return talk.recv(1) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


@contextmanager
def few_files(folder: Path, files: int) -> Iterator[tuple[int, Popen]]:
    """A server that may have so many files open: its port, its process."""
    command = [sys.executable, "-c", FEW, str(folder), str(files)]
    with Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            port = int(process.stdout.readline())
            assert well(port)
            yield port, process
        finally:
            process.terminate()


@pytest.mark.ci
def test_eleven_hundred_half_open_connections_stop_nobody(tmp_path: Path) -> None:
    """The attack that stopped /healthz for minutes: more halves of heads than there are files."""
    files, halves = sized((128, 160), (512, 1_100))
    with few_files(tmp_path, files) as (port, _), ExitStack() as held:
        for number in range(halves):
            talk = held.enter_context(from_address(f"127.0.0.{2 + number % 20}", port))
            talk.sendall(HEAD)
        assert well(port), "an address of its own"
        assert well(port, "127.0.0.2"), "an address of those that attack"


def test_one_address_takes_the_places_of_no_other(house: Path) -> None:
    site = site_of(house, limits=Limits(rate=0, at_once=8))
    with served(site.app) as port, ExitStack() as held:
        patient = held.enter_context(from_address("127.0.0.3", port))
        patient.sendall(HEAD)
        theirs = [held.enter_context(from_address("127.0.0.2", port)) for _ in range(40)]
        for talk in theirs:
            with suppress(OSError):  # the first of them are let go already
                talk.sendall(HEAD)
        assert well(port)
        assert 8 >= sum(_is_open(talk) for talk in theirs)
        assert well(port, "127.0.0.2"), "who asks is answered, who only waited longest is let go"
        patient.sendall(b"\r\nConnection: close\r\n\r\n")
        assert heard(patient).startswith(b"HTTP/1.1 200"), "he was not one of theirs"


def test_who_is_being_answered_is_not_let_go_for_a_newcomer(house: Path) -> None:
    site = site_of(house, limits=Limits(rate=0, at_once=3))
    with served(site.app) as port, ExitStack() as held:
        streams = [held.enter_context(from_address("127.0.0.2", port)) for _ in range(3)]
        for talk in streams:
            talk.sendall(get("/api/v1/stream"))
            assert talk.recv(100).startswith(b"HTTP/1.1 200")
        refused = asked(port, "127.0.0.2")
        assert refused.startswith(b"HTTP/1.1 503 It cannot be answered now\r\n")
        assert b"as many connections are open as may be" in refused
        assert b"urn:muckrake:problem:unavailable" in refused
        assert b"Retry-After: 5\r\n" in refused
        assert well(port, "127.0.0.4")
        streams.pop().close()
        until = time.monotonic() + SOON_S
        while not well(port, "127.0.0.2"):
            assert time.monotonic() < until


def test_who_still_reads_his_answer_is_not_let_go_for_a_newcomer(house: Path) -> None:
    site = site_of(house, limits=Limits(rate=0, at_once=2))
    size = 8 << 20

    @site.app.get("/api/v1/test/long")
    def long() -> Response:
        return Response(b"x" * size)

    with served(site.app) as port, ExitStack() as held:
        reader = held.enter_context(from_address("127.0.0.2", port))
        reader.sendall(get("/api/v1/test/long"))
        assert reader.recv(100).startswith(b"HTTP/1.1 200")
        held.enter_context(from_address("127.0.0.2", port)).sendall(HEAD)
        assert well(port, "127.0.0.2")
        assert size <= len(heard(reader))


def test_a_head_that_trickles_is_ended_with_a_sentence(house: Path) -> None:
    """A byte now and then is no request: neither the first of a connection, nor the second."""
    site = site_of(house, limits=Limits(rate=0, head_s=0.4))
    with served(site.app) as port:
        for before in (b"", get("/healthz").replace(b"Connection: close\r\n", b"")):
            since = time.monotonic()
            with from_address("127.0.0.1", port) as talk:
                talk.sendall(before + HEAD)
                came = b""
                talk.settimeout(0.05)
                while time.monotonic() - since < PATIENCE_S:
                    try:
                        talk.sendall(b"x")
                        part = talk.recv(1 << 16)
                    except TimeoutError:
                        continue
                    except OSError:
                        break
                    if not part:
                        break
                    came += part
            assert time.monotonic() - since < SOON_S
            answers = came.count(b"HTTP/1.1 ")
            assert answers == (2 if before else 1)
            assert b"HTTP/1.1 408 It came too slowly\r\n" in came
            assert b"the head of a request must come within 0.4 seconds" in came


def test_a_body_that_trickles_is_refused(own: Path) -> None:
    site = site_of(own, limits=Limits(rate=0, body_s=0.25))
    head = "POST {} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nContent-Length: 5000\r\n\r\n"
    with served(site.app) as port:
        for path in ("/api/v1/imports", "/api/v1/keys"):
            since = time.monotonic()
            with from_address("127.0.0.1", port) as talk:
                talk.sendall(head.format(path, site.keys["admin"]).encode())
                talk.settimeout(0.05)
                came = b""
                while not came and time.monotonic() - since < PATIENCE_S:
                    talk.sendall(b"x")
                    try:
                        came = talk.recv(1 << 16)
                    except TimeoutError:
                        continue
                came += heard(talk)
            assert time.monotonic() - since < SOON_S
            assert came.startswith(b"HTTP/1.1 408")
            assert b"urn:muckrake:problem:too-slow" in came
    assert not list((own / "jobs").glob("*/upload/*")), "what had come of it is gone"


@pytest.mark.ci
def test_a_long_body_has_the_time_that_its_length_earns(own: Path) -> None:
    site = site_of(own, limits=Limits(rate=0, body_s=1.0, min_bytes_per_second=1 << 17))
    head = "POST /api/v1/imports HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{}\r\n{}\r\n\r\n"
    key = f"Authorization: Bearer {site.keys['writer']}"
    with served(site.app) as port, from_address("127.0.0.1", port) as talk:
        talk.sendall(head.format(key, f"Content-Length: {6 << 16}").encode())
        for _ in range(6):
            time.sleep(0.2)
            talk.sendall(b"x" * (1 << 16))
        assert b"HTTP/1.1 408" not in heard(talk), "more than a second, at twice that pace"


@pytest.mark.parametrize("made", [pytest.param("whole", marks=pytest.mark.ci), "streamed"])
def test_who_takes_nothing_of_an_answer_is_cut(made: str, house: Path) -> None:
    site = site_of(house, limits=Limits(rate=0, stall_s=0.4))
    size = 8 << 20  # more than the kernel keeps for both ends

    @site.app.get("/api/v1/test/long")
    def long(request: Request) -> Response:
        pieces = (b"x" * (1 << 18) for _ in range(size >> 18))
        return (
            Response(b"x" * size) if made == "whole" else streaming_response(request, pieces, "txt")
        )

    with served(site.app) as port, from_address("127.0.0.1", port) as talk:
        talk.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        talk.sendall(get("/api/v1/test/long"))
        assert well(port)
        cut = select.poll()
        cut.register(talk, 0)  # an end is told of unasked
        assert cut.poll(1_000 * PATIENCE_S), "nobody cut it"
        came = heard(talk)
        assert len(came) < size, "it was cut"
        assert size < len(said(port, get("/api/v1/test/long"))), "who reads has it whole"


@pytest.mark.ci
def test_a_server_without_a_file_to_open_goes_on_when_there_are_some(tmp_path: Path) -> None:
    """accept() fails then: the newcomer waits, and nothing is written again and again."""
    with few_files(tmp_path, 256) as (port, process):
        process.send_signal(signal.SIGUSR1)
        while len(os.listdir(f"/proc/{process.pid}/fd")) < 250:  # it takes all at once
            time.sleep(0.01)
        with from_address("127.0.0.1", port) as talk:
            talk.sendall(get("/healthz"))
            talk.settimeout(0.6)
            assert b"" == heard(talk)
            process.send_signal(signal.SIGUSR2)
            talk.settimeout(SOON_S)
            assert heard(talk).startswith(b"HTTP/1.1 200")
        assert well(port)
        process.terminate()
        assert process.stderr is not None
        assert len(process.stderr.read()) < 10_000


def test_behind_a_proxy_requests_of_one_client_are_counted_and_not_the_proxys(house: Path) -> None:
    """Its connections are everybody's; who came is its own word, above each request."""
    site = site_of(house, limits=Limits(rate=0, at_once=2), fronted=True)
    with served(site.app) as port, ExitStack() as held:
        for client in ("10.0.0.1", "10.0.0.1", "10.0.0.2", "10.0.0.2"):
            talk = held.enter_context(from_address("127.0.0.1", port))
            talk.sendall(get("/api/v1/stream", f"X-Forwarded-For: 6.6.6.6, {client}"))
            assert talk.recv(100).startswith(b"HTTP/1.1 200")
        third = said(port, get("/api/v1/", "X-Forwarded-For: 10.0.0.1"))
        assert third.startswith(b"HTTP/1.1 429")
        assert b"2 requests of yours are being answered: end one first" in third
        assert said(port, get("/api/v1/", "X-Forwarded-For: 10.0.0.3")).startswith(b"HTTP/1.1 200")


def test_a_few_addresses_do_not_take_every_place_of_the_stream(
    house: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who has most of them gives his oldest one to a newcomer; who has as many is sent away."""
    monkeypatch.setattr(sys.modules["api.http.routes.stream"], "FOLLOWERS_MAX", 3)
    site = site_of(house, limits=Limits(rate=0), fronted=True)
    with served(site.app) as port, ExitStack() as held:

        def follow(client: str) -> tuple[socket.socket, bytes]:
            talk = held.enter_context(from_address("127.0.0.1", port))
            talk.sendall(get("/api/v1/stream", f"X-Forwarded-For: {client}"))
            return talk, talk.recv(100)

        greedy = [follow("10.0.0.1")[0] for _ in range(3)]
        for client in ("10.0.0.2", "10.0.0.3"):
            assert follow(client)[1].startswith(b"HTTP/1.1 200")
        for talk in greedy[:2]:
            with suppress(ConnectionResetError):
                heard(talk)
        assert follow("10.0.0.1")[1].startswith(b"HTTP/1.1 503")
        assert follow("10.0.0.4")[1].startswith(b"HTTP/1.1 503")
        assert 3 == site.app.state.feeds.followers


@pytest.mark.parametrize(
    ("files", "room"),
    [
        (20_000, DescriptorLimits(12_288, 2_048)),
        (1_024, DescriptorLimits(768, 128)),
        (64, DescriptorLimits(16, 32)),
    ],
)
def test_some_descriptors_are_left_for_the_ledger(
    files: int, room: DescriptorLimits, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = {"now": (min(files, 1_024), files)}
    monkeypatch.setattr(resource, "getrlimit", lambda _: limits["now"])
    monkeypatch.setattr(resource, "setrlimit", lambda _, wanted: limits.update(now=wanted))
    assert room == DescriptorLimits.of_process()
    assert min(files, 16_384) == limits["now"][0]


def test_an_address_of_ipv6_is_a_network() -> None:
    assert client_network("2001:db8:1:2::9") == client_network("2001:db8:1:2:ffff::1")
    assert "10.0.0.1" == client_network("10.0.0.1")


def test_newcomers_of_one_address_at_once_take_no_more_than_their_share() -> None:
    """Each was told that there is a place before any of the others had taken it."""
    followers, ended = Followers(), list[str]()
    with ExitStack() as held:
        for name in ("a", "a", "a", "b"):
            held.enter_context(followers.follow(name, 4, partial(ended.append, name)))
        assert followers.has_room("c", 4)
        found = [held.enter_context(followers.follow("c", 4, print)) for _ in range(4)]
        assert [True, False, False, False] == found
        assert ["a"] == ended
    assert followers.has_room("d", 1)
    assert not followers.has_room("d", 0)
