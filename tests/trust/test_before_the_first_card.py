"""A player holds a checkpoint over the commitment and the nonces before he sees a card."""

from pathlib import Path

import pytest

from api.main import main
from api.playing.matches import MatchTerms, begin_match
from dealer.live.bots import ThinkingBot
from dealer.live.clock import Question
from dealer.play import plan
from engine.games import GAMES
from events.match import NonceGiven
from store.folder.disk import RealDisk
from store.ledger import open_ledger
from store.proof.checkpoint import Checkpoint, open_checkpoint
from store.proof.ledger_secrets import SecretFolder
from store.proof.notary import public_keys
from store.proof.witness_policy import checkpoints_before
from store.reader import Reader
from tests.http.clients import over, site_of
from tests.sessions import Captured
from tests.wire.misfits import bot

pytestmark = pytest.mark.usefixtures("jobs_are_forked")
LIVE = ("play", "site-nl", "--live", "--seats", "3", "--think-ms", "0", "--match", "m")


def opened(folder: Path, note: bytes) -> Checkpoint:
    return open_checkpoint(note, public_keys(RealDisk(folder))).checkpoint


def covers_the_nonces_and_no_hand(folder: Path, match: str, note: bytes) -> None:
    """The leaf of the nonces is under it, and the hand is not."""
    size = opened(folder, note).size
    snapshot = Reader(folder).snapshot()
    nonces = [
        leaf.hand_seq
        for leaf in snapshot.records(match)
        if isinstance(leaf.recorded[0].event, NonceGiven)
    ]
    first = snapshot.hand_seq(f"{match}/1")
    assert first is not None
    assert max(nonces) < size <= first


def test_at_a_live_table_every_player_is_told_before_he_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[tuple[str, str]] = []
    asked = ThinkingBot.asked

    def first_asked(self: ThinkingBot, question: Question) -> None:
        heard.append(("asked", ""))
        asked(self, question)

    monkeypatch.setattr(ThinkingBot, "asked", first_asked)
    monkeypatch.setattr(
        ThinkingBot, "committed", lambda self, checkpoint: heard.append(("told", checkpoint))
    )
    folder = tmp_path / "ledger"
    words = (*LIVE, "--hands", "2", "--news", "joins:caller@2", "--news", "leaves:random-1@2")
    assert main([*words, "--ledger", str(folder)]) == 0
    assert ["told"] * 3 == [what for what, _ in heard[:3]]
    assert 4 == [what for what, _ in heard].count("told")  # and who joined later
    (note,) = {checkpoint for what, checkpoint in heard if what == "told"}
    assert [(1, note.encode())] == checkpoints_before(RealDisk(folder), "m")
    covers_the_nonces_and_no_hand(folder, "m", note.encode())


def test_of_a_bot_over_the_wire_the_owner_gets_it(tmp_path: Path, capsys: Captured) -> None:
    folder, logs = tmp_path / "ledger", tmp_path / "logs"
    bots = [str(bot(tmp_path, name).folder) for name in ("ursa", "lynx")]
    words = ["match", *bots, "--hands", "2", "--match", "m", "--mirror", "--logs", str(logs)]
    assert main([*words, "--ledger", str(folder)]) == 0
    ((first, note),) = checkpoints_before(RealDisk(folder), "m")
    assert 1 == first
    assert note == (logs / "checkpoint.1").read_bytes()
    assert f"signed before the first card of hand 1: {folder}/before/m.1" in capsys.readouterr().err
    covers_the_nonces_and_no_hand(folder, "m", note)


def test_over_http_it_stands_in_the_root_of_the_match(tmp_path: Path) -> None:
    site = site_of(tmp_path / "ledger", delay_s=0.0)
    writer = site.as_("writer")
    wanted = {"game": "auction-2024", "hands": 2, "match": "m"}
    over(writer, writer.post("/api/v1/matches", json=wanted).headers["location"])
    (told,) = site.as_().get("/api/v1/matches/m/root").json()["before"]
    assert 1 == told["first"]
    covers_the_nonces_and_no_hand(site.folder, "m", told["checkpoint"].encode())


def test_every_chain_has_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.playing.matches.CHAIN_HANDS", 2)
    ledger, lock = open_ledger(tmp_path, "a test")
    match = plan(GAMES["auction-2024"], "m", 5, "7", ("random", "caller"))
    playing = begin_match(ledger, SecretFolder(tmp_path), match, MatchTerms("committed", "sealed"))
    given: list[bytes] = []
    playing.recording.gives = given.append
    for number in range(1, 6):
        playing.decks.deck(number)
    ledger.close()
    lock.release()
    assert [1, 3, 5] == [first for first, _ in checkpoints_before(RealDisk(tmp_path), "m")]
    assert given == [note for _, note in checkpoints_before(RealDisk(tmp_path), "m")]


def test_a_seeded_match_has_none(tmp_path: Path) -> None:
    words = ("play", "auction-2024", "--hands", "2", "--match", "m", "--ledger", str(tmp_path))
    assert main([*words]) == 0
    assert [] == checkpoints_before(RealDisk(tmp_path), "m")
