"""A monitor at work on logs that lie: each attack is signed by the log's own key."""

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from api.cli import witness as command
from api.cli.witness import _evidence_checker
from api.evidence.log_monitor import LogReport, Monitor, Unreachable
from api.evidence.verify import unzipped
from api.main import main
from events.lines import leaf_of
from store.folder.disk import RealDisk
from store.proof.checkpoint import Checkpoint, cosign, sign
from store.proof.notary import public_keys
from store.proof.note import WITNESSES, Key, Signer
from store.proof.tree import Frontier, leaf_hash
from store.proof.tree_file import SPAN, read_path
from store.proof.witness_policy import WitnessPolicy, read_policy
from tests.trust.stored_hashes import InMemory

LOG = Signer("poker.example/log", bytes(range(32)))
DIGEST = "ab" * 32


def leaf(place: int, stream: str | None = None, first: int = 0, lines: int = 9) -> bytes:
    return leaf_of(place, stream or f"scrim/{place}", first, lines, DIGEST)


class Log:
    """A log of these leaves as it is served; `shown` are entries that lie about them."""

    def __init__(
        self, leaves: Sequence[bytes], shown: dict[int, bytes] | None = None, by: Signer = LOG
    ) -> None:
        self.leaves = list(leaves)
        self.shown = shown or {}
        self.hashes = InMemory([leaf_hash(one) for one in leaves])
        root = Frontier().added(leaf_hash(one) for one in leaves).root()
        self.note = sign(Checkpoint(by.key.name, len(leaves), root), by)
        self.asked: list[str] = []

    def get(self, path: str) -> bytes:
        self.asked.append(path)
        if path == "checkpoint":
            return self.note
        tile = read_path(path.replace("tile/entries/", "tile/0/"))
        places = range(tile.number * SPAN, tile.number * SPAN + tile.width)
        if path.startswith("tile/entries/"):
            told = [self.shown.get(place, self.leaves[place]) for place in places]
            return b"".join(len(one).to_bytes(2, "big") + one for one in told)
        return b"".join(self.hashes(8 * tile.level, place) for place in places)


def looked(state: Path, log: Log, policy: WitnessPolicy | None = None) -> LogReport:
    monitor = Monitor(log.get, state, [LOG.key], policy)
    try:
        return monitor.look()
    finally:
        monitor.close()


def sentences(seen: LogReport) -> list[str]:
    return [f"{one.leaf} {one.sentence}" for one in seen.findings]


HANDS = [leaf(place) for place in range(600)]


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "monitor.db"


def test_a_log_that_grows_is_read_once(state: Path) -> None:
    sizes = (0, 1, 255, 256, 300, 600)
    for before, size in zip((0, *sizes), sizes, strict=False):
        expected = LogReport("poker.example/log", size, size - before, ())
        assert expected == looked(state, Log(HANDS[:size]))
    log = Log(HANDS)
    assert 0 == looked(state, log).new
    assert ["checkpoint"] == log.asked, "nothing new, nothing read"


def test_records_of_a_match_go_on_where_they_ended(state: Path) -> None:
    leaves = [leaf(0, "scrim", 0, 3), leaf(1), leaf(2, "scrim", 3, 2), leaf(3, "scrim", 5, 1)]
    assert () == looked(state, Log(leaves)).findings


def test_one_hand_has_one_record(state: Path) -> None:
    """Two leaves of one hand, perhaps with different payouts, are under one signature."""
    seen = looked(state, Log([*HANDS[:5], leaf(5, "scrim/3")]))
    assert ["5 scrim/3 is in the log already, as leaf 3"] == sentences(seen)
    assert sentences(seen) == sentences(looked(state, Log([*HANDS[:5], leaf(5, "scrim/3")])))


def test_a_repetition_is_found_long_after(state: Path) -> None:
    assert () == looked(state, Log(HANDS)).findings
    seen = looked(state, Log([*HANDS, leaf(600), leaf(601, "scrim/7", 9)]))
    assert ["601 scrim/7 is in the log already, as leaf 7"] == sentences(seen)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (leaf(3, "scrim", 4), "scrim begins with event 4: what came before is not in the log"),
        (leaf(2), "the leaf says that it is leaf 2 of version 1"),
        (leaf(3).replace(b'"v":1', b'"v":2'), "is not spelled in the one way that it can be"),
        (leaf(3) + b" ", "is not spelled in the one way that it can be"),
        (b"nonsense", "the leaf is not spelled as a leaf is"),
        (leaf(3).replace(b"ab", b"zz"), "the leaf says that it is leaf 3 of version 1"),
        (leaf(3, "scrim", lines=2**53), "the leaf is not spelled as a leaf is"),
        (leaf(3, "scrim", lines=-1), "the leaf is not spelled as a leaf is"),
        (leaf(3).replace(b"scrim", b"\xff"), "the leaf is not spelled as a leaf is"),
    ],
)
def test_a_leaf_that_says_nonsense_is_found(state: Path, wrong: bytes, sentence: str) -> None:
    (found,) = sentences(looked(state, Log([*HANDS[:3], wrong])))
    assert found.startswith("3 ")
    assert sentence in found


def test_an_entry_that_is_not_the_leaf_is_found(state: Path) -> None:
    """The tree is what was signed; the text that is shown for one leaf of it is another."""
    seen = looked(state, Log(HANDS[:300], {280: leaf(280, "scrim/999")}))
    assert ["280 the entry is not the leaf that is in the tree"] == sentences(seen)
    assert 0 == seen.size, "nothing of it is taken for seen"


def test_a_fork_is_found(state: Path) -> None:
    assert () == looked(state, Log(HANDS[:300])).findings
    forked = [*HANDS[:200], leaf(200, "scrim/other"), *HANDS[201:400]]
    (found,) = sentences(looked(state, Log(forked)))
    assert "of 400 leaves does not extend the one of 300" in found
    assert "the log has forked" in found


def test_a_fork_of_the_same_size_is_found(state: Path) -> None:
    assert () == looked(state, Log(HANDS[:300])).findings
    (found,) = sentences(looked(state, Log([*HANDS[:299], leaf(299, "scrim/other")])))
    assert "of 300 leaves does not extend the one of 300" in found


def test_a_tree_that_nobody_signed_is_found(state: Path) -> None:
    log = Log(HANDS[:300])
    log.note = Log([*HANDS[:299], leaf(299, "scrim/other")]).note
    (found,) = sentences(looked(state, log))
    assert "the tree that is served is not the one of 300 leaves that was signed" in found


def test_a_log_that_was_set_back_is_found(state: Path) -> None:
    assert () == looked(state, Log(HANDS[:300])).findings
    (found,) = sentences(looked(state, Log(HANDS[:299])))
    assert "of 299 leaves, and one of 300 was signed before: the log was set back" in found


def test_another_key_and_another_log_are_found(state: Path) -> None:
    assert () == looked(state, Log(HANDS[:3])).findings
    stranger = Signer("poker.example/log", bytes(range(1, 33)))
    (found,) = sentences(looked(state, Log(HANDS[:4], by=stranger)))
    assert "no known key has signed this" in found


def test_a_policy_asks_for_witnesses(state: Path) -> None:
    witness = Signer("w.example", bytes(range(2, 34)), WITNESSES)
    lines = f"log {LOG.key.text()}\nwitness w {witness.key.text()}\nquorum w\n"
    policy = read_policy(lines.encode())
    log = Log(HANDS[:3])
    assert [
        "None the checkpoint of 3 leaves is cosigned by no known witness: the policy asks for w"
    ] == sentences(looked(state, log, policy))
    log.note = cosign(log.note, witness, 1_790_000_000)
    assert 3 == looked(state, log, policy).size


def test_what_is_not_a_log_is_no_finding(state: Path) -> None:
    log = Log(HANDS[:3])
    log.get = lambda path: log.note if path == "checkpoint" else b"<html>"  # type: ignore[method-assign]
    with pytest.raises(Unreachable, match="a bundle of 0 whole entries, where 3 should be"):
        looked(state, log)
    assert 3 == looked(state, Log(HANDS[:3])).size


@pytest.mark.parametrize(
    "answer", [b"nonsense\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort"]
)
def test_what_is_no_http_is_said_in_a_sentence(
    state: Path, capsys: pytest.CaptureFixture[str], answer: bytes
) -> None:
    with answering(answer) as url:
        assert 1 == main(["monitor", url, "--state", str(state), "--key", LOG.key.text()])
    told = capsys.readouterr().err
    assert told.startswith(f"muckrake: {url}")
    assert 1 == told.count("\n")


def test_evidence_is_that_of_the_leaf_and_of_a_known_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that has forged a hand gives the sound bundle of another, or of another log."""
    hands = {}
    for log in ("own", "other"):
        monkeypatch.setenv("MUCKRAKE_LEDGER", str(tmp_path / log))
        assert 0 == main(["play", "auction-2024", "--hands", "2", "--seed", "7", "--match", "m"])
        for number in (1, 2):
            file = tmp_path / f"{log}{number}.zip"
            words = ("audit", f"m/{number}", "--as", "public", "--evidence", str(file))
            assert 0 == main([*words])
            hands[log, number] = file.read_bytes()
    keys = public_keys(RealDisk(tmp_path / "own"))

    def told(leaf: tuple[str, int], shown: tuple[str, int], by: Sequence[Key] = keys) -> str | None:
        head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(hands[shown])
        with answering(head + hands[shown]) as url:
            return _evidence_checker(url, by)("m/1", leaf_hash(unzipped(hands[leaf])["leaf.json"]))

    assert told(("own", 1), ("own", 1)) is None
    sentence = "the evidence of m/1 is of another leaf than the one in the tree"
    assert sentence == told(("own", 1), ("own", 2))
    assert sentence == told(("own", 1), ("other", 1), public_keys(RealDisk(tmp_path / "other")))
    assert "which is no key that you know" in (told(("own", 1), ("other", 1)) or "")


def test_who_watches_goes_on_when_the_log_is_away(
    state: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    log, away = Log(HANDS[:3]), iter((False, True, False))

    def get(path: str) -> bytes:
        if path == "checkpoint" and next(away):
            raise Unreachable("the log is away")
        return log.get(path)

    monkeypatch.setattr("api.evidence.log_monitor.http_get", lambda _: get)
    monkeypatch.setattr(command, "repeat_every", lambda seconds: iter((None, None)))
    words = ("monitor", "http://x", "--state", str(state), "--key", LOG.key.text())
    assert 0 == main([*words, "--watch", "1"])
    told = capsys.readouterr()
    assert 2 == told.out.count("  3 leaves, ")
    assert "the log is away\n" == told.err


@pytest.mark.parametrize("name", ["not a database", "no folder/seen.db"])
def test_a_state_file_that_cannot_be_used_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    state = tmp_path / name
    if state.parent == tmp_path:
        state.write_text("some other file")
    words = ("monitor", "http://127.0.0.1:9/log", "--state", str(state), "--key", LOG.key.text())
    assert 1 == main([*words])
    assert capsys.readouterr().err.startswith(f"muckrake: {state} cannot keep what was seen: ")


@contextmanager
def answering(answer: bytes) -> Iterator[str]:
    """Whoever connects is given these bytes."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(65_536)
                connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/log"
        thread.join()


def test_what_was_found_is_not_forgotten(state: Path) -> None:
    assert 1 == len(looked(state, Log([*HANDS[:3], leaf(3, "scrim/1")])).findings)
    later = looked(state, Log([*HANDS[:3], leaf(3, "scrim/1"), leaf(4), leaf(5)]))
    assert ["3 scrim/1 is in the log already, as leaf 1"] == sentences(later)
    assert 6 == later.size
