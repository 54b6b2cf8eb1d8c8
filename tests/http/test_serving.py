"""`muckrake serve` as processes: streams across restarts, slow readers, workers, the end."""

import json
import select
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from api.main import main
from api.serving.server import GRACE_S
from api.viewpoints.feed_events import FeedEncoder
from api.viewpoints.viewer import Viewer
from bench import serve_stream
from dealer.play import play
from engine.games import GAMES
from events.ledger import Append
from events.match import MatchEnded, MatchStarted
from store.folder.disk import now_ms
from store.ledger import open_ledger
from store.reader import Reader
from tests.http.servers import MUCKRAKE, Follower, Server, killed
from tests.processes import Popen
from tests.profiles import sized
from tests.sessions import Captured, said

GAME = GAMES["auction-2024-mit"]
STREAM = "/api/v1/stream?match=scrim&after=start&until=end"


@contextmanager
def match_at_play(folder: Path, hands: int, pause_s: float) -> Iterator[threading.Thread]:
    """A match that somebody else plays meanwhile, and ends."""

    def write() -> None:
        ledger, lock = open_ledger(folder, "a test")
        players = ("random-0", "random-1")
        start = MatchStarted(
            "scrim", GAME.name, "0" * 16, players, "seeded", "sealed", True, "s3cr3t"
        )
        ledger.append(Append("scrim", 0, (start,), now_ms()))
        for number, hand in enumerate(play(GAME, "scrim", hands, "7", 2), 1):
            middle = len(hand) // 2  # as a live table writes: not hand by hand
            ledger.append(Append(f"scrim/{number}", 0, hand[:middle], now_ms()))
            time.sleep(pause_s)
            ledger.append(Append(f"scrim/{number}", middle, hand[middle:], now_ms()))
            if number % 50 == 0:
                ledger.seal()
        ledger.append(Append("scrim", 1, (MatchEnded((0, 0), "over"),), now_ms()))
        ledger.close()
        lock.release()

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield thread
    finally:
        thread.join(60)


def ids(folder: Path) -> list[str]:
    """What the public is told of the ledger, from its first event to its last."""
    snapshot = Reader(folder).snapshot()
    told = FeedEncoder(Viewer()).encode(snapshot.read_from(0), snapshot)
    return [one.place.decode() for one in told]


def test_a_follower_misses_nothing_and_hears_nothing_twice_across_restarts_and_workers(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "ledger"
    heard: list[str] = []
    last: str | None = None
    broken = 0
    two = ("--workers", "2")
    servers: list[tuple[str, ...]] = sized([(), ()], [(), two, ()], [(), two, two, ()])
    turns = [3 if words else 1 for words in servers]  # which worker takes it is chance
    with match_at_play(folder, sized(60, 120), 0.02):
        for number, words in enumerate(servers):
            with Server(folder, "--delay", "0", *words) as server:
                for _ in range(turns[number]):
                    follower = Follower(server.port, STREAM, last)
                    for event in follower.events():
                        heard.append(event["id"])
                        if broken < sum(turns) - 1 and len(heard) % 211 == 0:
                            broken += 1
                            break
                    last = follower.last_id
                    follower.close()
                if number == 0:
                    server.stop(signal.SIGKILL)  # as a power cut would
    assert sum(turns) - 1 == broken
    assert heard == ids(folder)


def test_who_waits_for_a_ledger_hears_of_it_when_there_is_one(tmp_path: Path) -> None:
    folder = tmp_path / "ledger"
    with Server(folder, "--delay", "0") as server:
        follower = Follower(server.port, STREAM)
        with match_at_play(folder, 5, 0):
            heard = [event["id"] for event in follower.events()]
        assert heard == ids(folder)


def test_another_process_is_watched_by_the_auditor_and_later_by_the_public(tmp_path: Path) -> None:
    folder = tmp_path / "ledger"
    with Server(folder, "--delay", "3600") as server:
        public = Follower(server.port, "/api/v1/stream?match=scrim&after=start&until=end")
        cookie = server.cookie()
        with match_at_play(folder, 20, 0.02) as match:
            auditor = Follower(server.port, STREAM, Cookie=cookie)
            first = next(auditor.events())
            assert match.is_alive()
            assert "MatchStarted" == first["event"]["type"]
            assert "s3cr3t" == first["event"]["seed"]
        heard = list(public.events())  # an hour has not passed: but the match is over
        assert [event["id"] for event in heard] == ids(folder)
        assert {"redacted": True} == heard[0]["event"]["seed"]


@pytest.mark.parametrize(
    ("told", "code", "workers"),
    [
        pytest.param(signal.SIGTERM, 0, "2", marks=pytest.mark.slow),  # a worker dies: it stops so
        (signal.SIGINT, 130, "1"),
        pytest.param(signal.SIGTERM, 0, "1", marks=pytest.mark.ci),
        pytest.param(signal.SIGINT, 130, "2", marks=pytest.mark.ci),
    ],
)
def test_told_to_stop_it_lets_streams_end_with_a_last_word(
    told: signal.Signals, code: int, workers: str, tmp_path: Path
) -> None:
    with Server(tmp_path / "ledger", "--workers", workers) as server:
        _ends_with_a_last_word(server, told, code)


def _ends_with_a_last_word(server: Server, told: signal.Signals, code: int) -> None:
    followers = [Follower(server.port, "/api/v1/stream") for _ in range(4)]
    since = time.monotonic()
    assert code == server.stop(told)
    assert time.monotonic() - since < GRACE_S  # nobody was waited for
    for follower in followers:
        assert [] == list(follower.events())
        assert ["the server stops, come again with your last id"] == follower.comments


@pytest.mark.ci
def test_a_worker_that_dies_is_replaced(tmp_path: Path) -> None:
    """And who follows then hears the last word, as if none had died."""
    with Server(tmp_path / "ledger", "--workers", "2") as server:
        until = time.monotonic() + 20
        while server.get("/healthz")[0] != 200 or len(server.workers) < 2:
            assert time.monotonic() < until
        first = server.workers
        killed(first[0])
        while len(set(server.workers) - set(first)) < 1:
            assert time.monotonic() < until
            time.sleep(0.05)
        assert 200 == server.get("/healthz")[0]
        _ends_with_a_last_word(server, signal.SIGTERM, 0)


@pytest.mark.ci
def test_who_does_not_read_is_dropped_and_harms_nobody(tmp_path: Path) -> None:
    """He may come back with the last id he has read, and gets exactly the rest."""
    folder = tmp_path / "ledger"
    words = ("play", GAME.name, "--hands", sized("800", "1500"), "--seed", "1", "--match", "scrim")
    assert 0 == main([*words, "--ledger", str(folder)])
    with Server(folder, impatient=True) as server:
        with socket.socket() as slow:
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            slow.connect(("127.0.0.1", server.port))
            slow.sendall(f"GET {STREAM} HTTP/1.0\r\nHost: localhost\r\n\r\n".encode())
            whole = [event["id"] for event in Follower(server.port, STREAM).events()]
            assert whole == ids(folder)
            _cut(slow)
            got = _until_cut(slow)
        told = [line[4:].decode() for line in got.splitlines() if line.startswith(b"id: ")][:-1]
        assert 0 < len(told) < len(whole)
        rest = Follower(server.port, STREAM, told[-1])
        assert [event["id"] for event in rest.events()] == whole[len(told) - 1 :]


def _cut(link: socket.socket) -> None:
    """Wait until the connection is cut, without reading from it."""
    poll = select.poll()
    poll.register(link, 0)  # an end is told of unasked
    assert poll.poll(30_000), "nobody cut it"


def _until_cut(link: socket.socket) -> bytes:
    """What was sent before the connection was cut, and not merely ended."""
    got = b""
    try:
        while part := link.recv(1 << 16):
            got += part
    except ConnectionResetError:
        return got
    raise AssertionError("it ended as if that was all")


@pytest.mark.ci  # before, one follows a match across a restart, above
@pytest.mark.parametrize(
    ("readers", "hands"), [(20, 200), pytest.param(200, 3_000, marks=pytest.mark.slow)]
)
def test_many_follow_a_match_at_full_speed_and_nothing_is_lost(
    readers: int, hands: int, tmp_path: Path
) -> None:
    run = serve_stream.followed(tmp_path / "ledger", hands, readers, idle=2)
    assert 0 == run.lost
    assert run.events > 10 * hands
    assert readers == len(run.heard)


def test_a_port_that_is_taken_is_told_in_a_sentence(tmp_path: Path, capsys: Captured) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        told = said(capsys, 1, "serve", "--port", str(port), "--ledger", str(tmp_path))
    assert f"127.0.0.1:{port} is taken: somebody listens there; --port 0 takes a free one" == told


def test_serve_tells_a_program_where_it_is(tmp_path: Path) -> None:
    words = ["serve", "--port", "0", "--json", "--ledger", str(tmp_path / "ledger")]
    with Popen([*MUCKRAKE, *words], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        told = json.loads("".join(iter(process.stdout.readline, "}\n")) + "}")
        process.terminate()
    assert "muckrake.serve/1" == told["schema"]
    assert told["login"].startswith(f"{told['address']}login?once=")
