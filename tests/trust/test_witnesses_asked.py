"""Two real witness processes, and a ledger that publishes nothing behind their back."""

import json
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from api.evidence import verify as script
from api.main import main
from dealer.play import play as played
from engine.games import GAMES
from events.ledger import Append
from store.folder.disk import RealDisk
from store.ledger import open_ledger
from store.proof.notary import last_checkpoint
from store.proof.note import WITNESSES, Signer
from store.proof.witness_policy import last_published
from tests.http.servers import MUCKRAKE, Server
from tests.processes import Popen
from tests.sessions import name, printed, said

Captured = pytest.CaptureFixture[str]
ORIGIN = "poker.example/api/v1/log"
STRANGE = f"witness w3 {Signer('w3.example', bytes(range(32)), WITNESSES).key.text()}\n"


class Running:
    """`muckrake witness` as a process of its own at a free port."""

    def __init__(self, folder: Path, key: Path) -> None:
        self.folder, self.key = folder, key
        self._process: Popen | None = None
        self.port = 0
        self.start()

    def start(self) -> None:
        words = ("--log", str(self.key), "--port", str(self.port), "--json")
        name = () if self.folder.exists() else ("--name", f"{self.folder.name}.example")
        command = (*MUCKRAKE, "witness", str(self.folder), *words, *name)
        self._process = Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        text = ""
        while not text.endswith("}\n"):
            text += self._process.stdout.readline()
        told = json.loads(text)
        self.address, self.vkey = told["address"], told["key"]
        self.port = int(self.address.rpartition(":")[2])

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(20)
            assert self._process.stdout is not None
            self._process.stdout.close()
            self._process = None


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> Path:
    folder = tmp_path / "ledger"
    monkeypatch.setenv("MUCKRAKE_LEDGER", str(folder))
    (tmp_path / "key").write_text(printed(capsys, "init", "--origin", ORIGIN))
    return folder


@pytest.fixture
def witnesses(tmp_path: Path, ledger: Path) -> Iterator[tuple[Running, Running]]:
    made = (Running(tmp_path / "w1", tmp_path / "key"), Running(tmp_path / "w2", tmp_path / "key"))
    lines = (
        (tmp_path / "key").read_text().strip(),
        *(f"{one.folder.name} {one.vkey} {one.address}" for one in made),
    )
    text = f"log {lines[0]}\nwitness {lines[1]}\nwitness {lines[2]}\n"
    (tmp_path / "both").write_text(f"{text}group g all w1 w2\nquorum g\n")
    (tmp_path / "either").write_text(f"{text}group g any w1 w2\nquorum g\n")
    yield made
    for one in made:
        one.stop()


def play(name: str, *more: str) -> int:
    return main(["play", "auction-2024", "--hands", "6", "--seed", "7", "--match", name, *more])


def shown(folder: Path) -> tuple[int, set[str]]:
    """The size of what is published, and who has cosigned it."""
    found = last_published(RealDisk(folder))
    return (
        (0, set())
        if found is None
        else (
            found[0].checkpoint.size,
            {one.key.name for one in found[0].witnesses},
        )
    )


def signed(folder: Path) -> int:
    found = last_checkpoint(RealDisk(folder))
    assert found is not None
    return found.checkpoint.size


def test_what_is_published_was_cosigned(
    tmp_path: Path,
    ledger: Path,
    witnesses: tuple[Running, Running],
    capsys: Captured,
) -> None:
    """Both cosign; one is down and both are asked for; it comes back; one of two is enough."""
    assert 0 == main(["publish", "--policy", str(tmp_path / "both")])
    assert 0 == play("first")
    both = {"w1.example", "w2.example"}
    assert (signed(ledger), both) == shown(ledger)
    first = signed(ledger)

    witnesses[1].stop()
    assert 0 == play("second")
    assert (first, both) == shown(ledger), "what one witness has not seen is not published"
    assert signed(ledger) > first
    _, err = capsys.readouterr()
    assert "1 of 2 witnesses: not published: too few witnesses cosigned" in err
    assert f"w2: {witnesses[1].address} does not answer" in err
    sentence = "second/1 closed after the newest checkpoint"
    words = ("audit", "second/1", "--evidence", str(tmp_path / "e.zip"))
    assert sentence in said(capsys, 1, *words)

    witnesses[1].start()
    assert 0 == main(["publish"])
    assert (signed(ledger), both) == shown(ledger)
    assert 0 == main([*words])

    trusted = Path(script.__file__).read_bytes()  # nobody runs the copy in the bundle
    (tmp_path / "verify.py").write_bytes(trusted)
    alone = (sys.executable, str(tmp_path / "verify.py"), str(tmp_path / "e.zip"))
    asked = ("--policy", str(tmp_path / "both"))
    proved = "Cosigned by w1, w2: what the policy asks for, g."
    assert proved in printed(capsys, "verify", str(tmp_path / "e.zip"), *asked)
    assert proved in subprocess.run([*alone, *asked], capture_output=True, text=True).stdout
    assert 0 == main(["verify", "--all", *asked])

    (tmp_path / "more").write_text(
        (tmp_path / "both").read_text().replace("quorum g", f"{STRANGE}group h all g w3\nquorum h")
    )
    asked = ("--policy", str(tmp_path / "more"))
    refusal = "checkpoint is cosigned by w1, w2, and the policy asks for h"
    assert refusal in printed(capsys, "verify", str(tmp_path / "e.zip"), *asked, code=3)
    ran = subprocess.run([*alone, *asked], capture_output=True, text=True, check=False)
    assert (3, True) == (ran.returncode, refusal in ran.stdout)
    assert "is cosigned by w1, w2" in printed(capsys, "verify", "--all", *asked, code=3)

    witnesses[0].stop()
    assert 0 == main(["publish", "--policy", str(tmp_path / "either")])
    assert 0 == play("third")
    assert (signed(ledger), {"w2.example"}) == shown(ledger)


@pytest.mark.ci
def test_nobody_waits_for_a_witness_that_answers_byte_by_byte(
    tmp_path: Path, ledger: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each byte comes in time, and the answer never ends: it kept every checkpoint back."""
    monkeypatch.setattr("api.evidence.cosigning.PATIENCE", 0.1)
    ended = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def drip() -> None:
            connection, _ = server.accept()
            with connection, suppress(OSError):
                connection.sendall(b"HTTP/1.1 200 OK\r\nX: ")
                while not ended.wait(0.05):
                    connection.sendall(b"a")

        thread = threading.Thread(target=drip)
        thread.start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        (tmp_path / "slow").write_text(f"{STRANGE.strip()} {url}\nquorum w3\n")
        assert 0 == main(["publish", "--policy", str(tmp_path / "slow")])
        for name in ("first", "second"):  # and it is not asked a second question meanwhile
            assert 0 == play(name)
            assert f"w3: {url} takes longer than 0.5 s to answer\n" in capsys.readouterr().err
        ended.set()
        thread.join()


@pytest.mark.parametrize("url", ["http://[::1", "file:///etc/passwd", "https://", "http://a:x"])
def test_an_address_that_is_none_is_not_kept(
    tmp_path: Path, ledger: Path, capsys: Captured, url: str
) -> None:
    (tmp_path / "odd").write_text(f"{STRANGE.strip()} {url}\nquorum w3\n")
    assert 1 == main(["publish", "--policy", str(tmp_path / "odd")])
    assert f"muckrake: {url} is no address of a witness: " in capsys.readouterr().err
    assert not (ledger / "witnesses").exists()


def test_a_forked_ledger_is_not_cosigned(
    tmp_path: Path, ledger: Path, witnesses: tuple[Running, Running], capsys: Captured
) -> None:
    """A copy of the ledger, with its key, writes another history: no witness signs both.

    Its house keeps what is remembered of the copy apart, else its own writer would refuse it.
    """
    apart = ("--witness", str(tmp_path / "apart"))
    assert 0 == main(["publish", "--policy", str(tmp_path / "both")])
    assert 0 == play("first")
    fork = tmp_path / "fork"
    shutil.copytree(ledger, fork)
    assert 0 == play("second")
    known = shown(ledger)
    assert 0 == play("other", "--ledger", str(fork), *apart)
    assert known[0] == signed(fork), "two histories of one size under one key"
    _, err = capsys.readouterr()
    assert 2 == err.count("has cosigned another history of poker.example/api/v1/log with")
    assert 0 == play("more", "--ledger", str(fork), *apart)
    _, err = capsys.readouterr()
    assert 2 == err.count("answered 422")
    assert known[0] > shown(fork)[0], "the fork shows what was common to both, and no more"
    assert 2 == len(list((tmp_path / "w1" / "refused").iterdir()))


def test_a_ledger_that_was_set_back_is_told(
    tmp_path: Path, ledger: Path, witnesses: tuple[Running, Running], capsys: Captured
) -> None:
    assert 0 == main(["publish", "--policy", str(tmp_path / "both")])
    shutil.copytree(ledger, tmp_path / "old")
    assert 0 == play("first")
    assert 0 == play("second")
    capsys.readouterr()
    apart = ("--witness", str(tmp_path / "apart"))
    assert 0 == play("again", "--ledger", str(tmp_path / "old"), *apart)
    _, err = capsys.readouterr()
    assert "an old copy is in the place of the ledger" in err
    assert (0, set()) == shown(tmp_path / "old")


def test_a_monitor_follows_the_server_that_publishes(
    tmp_path: Path, ledger: Path, witnesses: tuple[Running, Running], capsys: Captured
) -> None:
    """The log over HTTP by the tiled layout, by its policy; every hand's evidence is verified."""
    assert 0 == main(["publish", "--policy", str(tmp_path / "both")])
    assert 0 == play("first")
    with Server(ledger, "--delay", "0") as server:
        url = f"http://127.0.0.1:{server.port}/api/v1/log"
        words = ("monitor", url, "--state", str(tmp_path / "seen.db"))
        by = ("--policy", str(tmp_path / "both"))
        capsys.readouterr()
        told = printed(capsys, *words, *by, "--hands")
        size = signed(ledger)
        assert f"{ORIGIN}  {size} leaves, {size} of them new\n" == told
        assert "0 of them new" in printed(capsys, *words, "--key", str(tmp_path / "key"))


def test_a_server_publishes_what_is_played_meanwhile(
    tmp_path: Path, ledger: Path, witnesses: tuple[Running, Running]
) -> None:
    """Whoever writes without asking a witness, as a live table does, is published by the server."""
    assert 0 == main(["publish", "--policy", str(tmp_path / "both")])
    with Server(ledger, "--delay", "0") as server:
        recording, lock = open_ledger(ledger, "a test")
        try:
            hands = list(played(GAMES["site-nl"], "home", 3, "7", 2))
            recording.append(*(Append(name(hand), 0, hand, 0) for hand in hands))
        finally:
            recording.close()
            lock.release()
        until = time.monotonic() + 30
        while shown(ledger)[0] < signed(ledger) and time.monotonic() < until:
            time.sleep(0.02)
        _, _, note = server.get("/api/v1/log/checkpoint")
    assert {"w1.example", "w2.example"} == shown(ledger)[1]
    assert note == (ledger / "published" / str(signed(ledger))).read_bytes()


@pytest.mark.parametrize(
    ("policy", "sentence"),
    [
        ("quorum nobody\n", "line 1 of the policy: no witness or group above is called nobody"),
        ("log {other}\nquorum none\n", "this policy is for another log"),
        ("witness w {witness}\nquorum w\n", "no address is given of enough witnesses"),
    ],
)
def test_a_policy_that_cannot_work_is_not_kept(
    tmp_path: Path, ledger: Path, capsys: Captured, policy: str, sentence: str
) -> None:
    other = Signer("other.example", bytes(32)).key.text()
    witness = Signer("w.example", bytes(32), WITNESSES).key.text()
    (tmp_path / "policy").write_text(policy.format(other=other, witness=witness))
    assert sentence in said(capsys, 1, "publish", "--policy", str(tmp_path / "policy"))
    assert not (ledger / "witnesses").exists()


def test_who_watches_stops_at_once(tmp_path: Path, ledger: Path) -> None:
    """Ctrl-C cuts the wait for the next look short."""
    witness = Signer("w.example", bytes(32), WITNESSES).key.text()
    (tmp_path / "policy").write_text(f"witness w {witness} http://127.0.0.1:1\nquorum w\n")
    words = ("publish", "--policy", str(tmp_path / "policy"), "--watch", "3600")
    with Popen([*MUCKRAKE, *words], stdout=subprocess.PIPE, text=True) as watching:
        assert watching.stdout is not None
        assert "nothing to publish" in watching.stdout.readline()
        time.sleep(0.3)  # the wait begins a moment after the line was written
        watching.send_signal(signal.SIGINT)
        assert watching.wait(20) in (0, 130)


def test_a_ledger_without_witnesses_has_nobody_to_ask(ledger: Path, capsys: Captured) -> None:
    assert f"{ledger} asks no witness: name some with --policy FILE" == said(capsys, 1, "publish")


def test_a_ledger_is_begun_once_under_its_name(ledger: Path, capsys: Captured) -> None:
    assert f"there is a ledger in {ledger} already" == said(capsys, 1, "init")
    assert 0 == play("first")
    found = last_checkpoint(RealDisk(ledger))
    assert found is not None
    assert ORIGIN == found.checkpoint.origin
