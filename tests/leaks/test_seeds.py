"""Nobody finds the cards of a seeded match by its seed: a drawn one has 128 bits, and none is named
to anybody while something that it dealt is sealed.

The attack had two public bundles and tried all seeds of 32 bits against the board cards. Nothing is
tried here: a drawn seed has 2^128 others beside it, and whatever the public is told is the same in
worlds that differ in their seeds alone.
"""

import hashlib
import io
import json
import random
from binascii import unhexlify
from pathlib import Path

import pytest
from msgspec.structs import replace
from starlette.testclient import TestClient

from api.evidence.bundle import make_bundle
from api.exporting.hand_logs import ExportRequest, VisibleHands
from api.main import main
from api.viewpoints.redaction import SEED_WARNING, Redactor
from api.viewpoints.viewer import Viewer
from dealer.deck import SEED_BYTES, SeededDecks
from engine.games import GAMES
from engine.turn import ToDeal
from events.ledger import Append
from events.match import MatchStarted, SourceNoted
from store.folder.disk import RealDisk
from store.ledger import FileLedger
from store.reader import Reader
from tests.exports import start_of
from tests.http.clients import Site, over, site_of
from tests.leaks.conftest import Pair
from tests.leaks.doors import answers
from tests.leaks.hidden_worlds import AUCTION, OPEN_SEED, PLAYED, SEALED_SEED, SWAP, as_they_are
from tests.leaks.test_what_jobs_tell import no_auditor
from tests.sessions import printed, told
from tests.wire.misfits import bot

pytestmark = pytest.mark.usefixtures("jobs_are_forked")
BITS = 128
Captured = pytest.CaptureFixture[str]


def seed_in(folder: Path, match: str) -> str:
    """What the record of a match says of it, to who may read the ledger's folder."""
    start = Reader(folder).read(match)[0].event
    assert isinstance(start, MatchStarted)
    assert start.seed is not None
    return start.seed


def traces(seed: str) -> list[bytes]:
    """The seed as it may stand somewhere, and what anybody who has it could compute from it."""
    word = seed.encode()
    deck = " ".join(SeededDecks(seed).deck(1).deal(ToDeal(20, "hole")).cards)
    digests = [hashlib.new(name, word).digest() for name in ("sha256", "sha512", "md5", "sha1")]
    spelled = [form for digest in digests for form in (digest, digest.hex().encode())]
    return [word, unhexlify(word), word.upper(), deck.encode(), *spelled]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MUCKRAKE_LEDGER", str(tmp_path / "ledger"))
    return tmp_path / "ledger"


def test_a_drawn_seed_has_as_many_bits_as_a_key(
    home: Path, tmp_path: Path, capsys: Captured
) -> None:
    play = ("play", "auction-2024", "--hands", "1")
    seeds = [told(capsys, *play)["seed"] for _ in range(2)]
    several = json.loads(printed(capsys, *play, "--matches", "2", "--json"))
    seeds += [one["seed"] for one in several["matches"]]
    seeds.append(told(capsys, *play, "--dealing", "committed")["seed"])  # what bots choose
    seeds.append(told(capsys, *play, "--live", "--think-ms", "0")["seed"])
    bots = [str(bot(tmp_path, name).folder) for name in ("ursa", "lynx")]
    wire = ("match", *bots, "--hands", "1", "--dealing", "seeded")
    seeds.append(told(capsys, *wire)["seed"])
    assert len(seeds) == len(set(seeds))
    assert BITS == 8 * SEED_BYTES
    assert [BITS] * len(seeds) == [8 * len(unhexlify(one)) for one in seeds]


def test_a_job_keeps_no_seed_that_it_was_given(tmp_path: Path) -> None:
    """Who gave it knows it; nobody else is told, and no file of the job names it."""
    site = site_of(tmp_path / "ledger")
    writer = no_auditor(site)
    seed = random.Random(2).randbytes(SEED_BYTES).hex()
    wanted = {"game": "auction-2024", "hands": 3, "match": "m", "seed": seed}
    begun = writer.post("/api/v1/matches", json=wanted)
    where = begun.headers["location"]
    heard = over(writer, where)
    assert "done" == heard["state"]
    assert seed == seed_in(site.folder, "m")
    again = writer.post("/api/v1/matches", json=wanted)
    assert b"there is a match m already" in again.content
    written = [one.read_bytes() for one in (site.folder / "jobs").rglob("*") if one.is_file()]
    followed = writer.get(where, headers={"Accept": "text/event-stream"}).content
    told = [begun.content, again.content, json.dumps(heard).encode(), followed]
    assert [] == _found(seed, [*told, writer.get("/api/v1/jobs").content, *written])


def test_a_job_draws_a_seed_as_long_and_says_it_to_nobody(tmp_path: Path) -> None:
    """Neither in its answer nor in its own files: it stands in the match's record alone."""
    site = site_of(tmp_path / "ledger")
    wanted = {"game": "auction-2024", "hands": 3, "match": "m", "dealing": "seeded"}
    writer = site.as_("writer")
    begun = writer.post("/api/v1/matches", json=wanted)
    heard = over(writer, begun.headers["location"])
    assert "done" == heard["state"]
    seed = seed_in(site.folder, "m")
    assert BITS == 8 * len(unhexlify(seed))
    written = [one.read_bytes() for one in (site.folder / "jobs").rglob("*") if one.is_file()]
    assert [] == _found(seed, [begun.content, json.dumps(heard).encode(), *written])
    seen = site.as_("auditor").get("/api/v1/matches/m").json()
    assert seed == seen["seed"]


@pytest.mark.parametrize("dealing", ["seeded", "committed"])
def test_a_sealed_match_names_its_seed_at_no_door(
    dealing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """Pages, documents, files, the feed, the log of the server, its metrics, and public bundles."""
    folder = tmp_path / "ledger"
    words = ("auction-2024", "--hands", "4", "--match", "m", "--dealing", dealing)
    with as_they_are():
        assert main(["play", *words, "--ledger", str(folder)]) == 0
        capsys.readouterr()
        seed = seed_in(folder, "m")
        log = io.StringIO()
        monkeypatch.setattr("sys.stderr", log)
        bodies = _public_bodies(site_of(folder, logs=True, delay_s=0.0))
        snapshot = Reader(folder).snapshot()
        bundles = [make_bundle(snapshot, f"m/{number}", "public") for number in (1, 2)]
    assert "/api/v1/matches/m" in log.getvalue()
    told_so = [SEED_WARNING.encode() in one for one in bodies].count(True)
    pages_and_bundle = 3 + 1
    assert (pages_and_bundle if dealing == "seeded" else 0) == told_so
    assert [] == _found(seed, [*bodies, *bundles, log.getvalue().encode()])


def _public_bodies(site: Site) -> list[bytes]:
    """What anybody is answered at every kind of door that speaks of a match or its hands."""
    asked = [
        "/metrics",
        "/matches",
        "/matches/m",
        "/hands/m/1",
        "/hands/m/1/audit",
        "/hands/m/1/events",
        "/api/v1/matches",
        "/api/v1/matches/m",
        "/api/v1/matches/m/root",
        "/api/v1/hands/m/1",
        "/api/v1/hands/m/1/events",
        "/api/v1/hands/m/1/proof",
        "/api/v1/hands/m/1/proof?format=zip",
        "/api/v1/exports/events?format=ndjson",
        "/api/v1/exports/events?format=arrow",
        "/api/v1/stream?after=start&until=now",
        "/api/v1/sql?q=SELECT * FROM events WHERE number IS NULL",
    ]
    with TestClient(site.app, "http://127.0.0.1:8000") as client:
        answered = [client.get(one) for one in asked]
        wrong = [client.get("/api/v1/matches/m/none"), client.get("/api/v1/sql?q=SELECT seed+1")]
    assert [200] * len(asked) == [one.status_code for one in answered]
    heads = [str(one.headers).encode() for one in (*answered, *wrong)]
    return [*heads, *(one.content for one in (*answered, *wrong))]


def _found(seed: str, said: list[bytes]) -> list[bytes]:
    return [trace for trace in traces(seed) if any(trace in one for one in said)]


def test_the_search_finds_what_is_there() -> None:
    """Else nothing here would prove anything."""
    seed = random.Random(1).randbytes(SEED_BYTES).hex()
    for trace in traces(seed):
        assert trace in _found(seed, [b"before" + trace + b"after"])


# The two worlds of each viewpoint differ in the seed of every match but one: most are sealed, some
# are open and over. So each test of this folder is one of seeds, too; what is left is the contrary.


def test_an_open_match_tells_its_seed_unless_another_of_it_is_sealed(public: Pair) -> None:
    asked = [f"/api/v1/matches/after-{game}" for game in (AUCTION, SWAP)]
    for app in public.apps:
        own, shared = (json.loads(one.body) for one in answers(app, asked))
        assert (True, True) == (own["open"], shared["open"])
        assert (OPEN_SEED, {"redacted": True}) == (own["seed"], shared["seed"])


def test_an_auditor_is_told_every_seed(public: Pair) -> None:
    """Else nothing would prove anything."""
    asked = [f"/api/v1/matches/after-{SWAP}", "/api/v1/exports/events?format=ndjson"]
    here, there = (answers(app, asked, public.auditor) for app in public.apps)
    assert [True, True] == [SEALED_SEED.encode() in one.body for one in here]
    assert [False, False] == [SEALED_SEED.encode() in one.body for one in there]


def test_the_words_of_a_source_are_told_no_sooner_than_a_seed(tmp_path: Path) -> None:
    """They may name one: of an open match that is not over, nobody but an auditor is told them."""
    match = next(one for one in PLAYED if one.name == f"open-{SWAP}")
    ledger = FileLedger(RealDisk(tmp_path))
    start = start_of(match.hands[0])
    announced = MatchStarted(
        "m", start.game, start.ruleset, start.players, "recorded", "open", True
    )
    note = SourceNoted("acpc", "dealer", f"# seed {SEALED_SEED}", "")
    ledger.append(Append("m", 0, (announced, note), 1))
    hand = (replace(start, hand="m/1"), *match.hands[0][1:])
    ledger.append(Append("m/1", 0, hand, 2))
    ledger.close()
    snapshot = Reader(tmp_path).snapshot()
    told = {}
    for view in ("public", "auditor"):
        leaves = list(snapshot.leaves(-1))
        asked = ExportRequest(
            snapshot,
            leaves,
            Redactor(snapshot, Viewer(view)),
            lambda _: GAMES[SWAP],
            "",
            lossy=False,
        )
        told[view] = [(one.record, one.file_note) for one in VisibleHands(asked)]
    assert [(hand, None)] == told["public"]
    assert [(hand, note)] == told["auditor"]
