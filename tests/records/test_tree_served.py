"""Tiles, checkpoints and proofs that are served hold against each other and against the files."""

import base64
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from api.evidence.verify import unzipped, verify
from api.playing.recording import ledger_projections
from api.questions.one_line import hand_lines, one_line
from api.questions.proof import NotSigned, Tree
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.viewer import viewer_of
from events.ledger import Append
from events.lines import commitment
from store.ledger import open_ledger
from store.proof import tree_file
from store.proof.checkpoint import open_checkpoint
from store.proof.note import Key
from store.proof.tree import Refuted, check_consistency, frontier, leaf_hash
from store.proof.tree_file import Tile, TreeFiles
from store.reader import Reader
from store.receipts import read_receipt
from tests.http import ledgers
from tests.http.clients import Site, site_of
from tests.records.conftest import HANDS
from tests.sessions import dealt, name

LOG = "/api/v1/log"


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A ledger of 300 hands, most of them sealed, some not."""
    folder = tmp_path_factory.mktemp("long") / "ledger"
    ledger, lock = open_ledger(folder, "a test", ledger_projections(folder))
    records = dealt(("auction-2024", "--hands", "300", "--seed", "7", "--match", "scrim"))
    for place, record in enumerate(records):
        if place == 280:
            ledger.seal()
        ledger.append(Append(name(record), 0, record, ledgers.AT + place))
    ledger.close()
    lock.release()
    return site_of(folder)


def test_lines_of_a_page_are_those_of_its_hands_however_they_are_read(long: Site) -> None:
    viewed = LedgerView(Reader(long.folder).snapshot(), viewer_of("seat:random-0"))
    hands = [f"scrim/{number}" for number in (*range(270, 291), 3, 150, 151)]
    assert [one_line(viewed.redacted_hand(hand)) for hand in hands] == hand_lines(viewed, hands)
    viewed.close()


def test_served_tiles_are_the_bytes_of_the_files_of_the_tree(long: Site) -> None:
    files = TreeFiles(Reader(long.folder).snapshot().live.disk)
    client = long.as_()
    for tile in (Tile(0, 0), Tile(0, 0, 1), Tile(0, 1, 24), Tile(1, 0, 1), Tile(0, 0, 255)):
        assert files.tile(tile) == client.get(f"{LOG}/{tile.path()}").content


def test_every_root_can_be_computed_from_tiles_alone(long: Site) -> None:
    client = long.as_()
    size = 300
    told: dict[Tile, bytes] = {
        tile: client.get(f"{LOG}/{tile.path()}").content for tile in tree_file.tiles(size)
    }

    def hashes(level: int, index: int) -> bytes:
        stored, above = divmod(level, tree_file.HEIGHT)
        row = [
            told[tile][32 * at : 32 * at + 32]
            for tile in sorted(told)
            if tile.level == stored
            for at in range(tile.width)
        ][index << above : index + 1 << above]
        while len(row) > 1:
            row = [_node(*row[at : at + 2]) for at in range(0, len(row), 2)]
        return row[0]

    key = Key.read(client.get(f"{LOG}/key").text.strip())
    known = open_checkpoint(client.get(f"{LOG}/checkpoint").content, (key,)).checkpoint
    assert (size, frontier(size, hashes).root()) == (known.size, known.root)


def _node(left: bytes, right: bytes) -> bytes:
    return sha256(b"\x01" + left + right).digest()


def test_a_tile_never_changes_and_there_is_none_beyond_the_checkpoint(long: Site) -> None:
    client = long.as_()
    found = client.get(f"{LOG}/tile/0/000.p/9")
    assert found.headers["cache-control"] == "max-age=31536000, immutable"
    assert found.headers["content-type"] == "application/octet-stream"
    for path in ("0/001", "0/001.p/45", "1/000.p/2", "2/000.p/1", "0/1", "0/000.p/256", "9/000"):
        assert client.get(f"{LOG}/tile/{path}").status_code == 404


def test_the_tree_only_grows_and_every_proof_of_it_holds(long: Site) -> None:
    client = long.as_()
    for old, new in ((0, 300), (1, 300), (3, 7), (128, 256), (255, 256), (280, 281), (300, 300)):
        told = client.get(f"{LOG}/consistency", params={"from": old, "to": new}).json()
        begin, end = _bytes(told["from"]["root"]), _bytes(told["to"]["root"])
        check_consistency(old, begin, new, end, list(map(_bytes, told["proof"])))
    for old, new in ((5, 3), (0, 301), (-1, 3)):
        answer = client.get(f"{LOG}/consistency", params={"from": old, "to": new})
        assert answer.status_code == 422


def test_what_a_witness_is_sent_is_the_old_size_a_proof_and_the_checkpoint(long: Site) -> None:
    client = long.as_()
    text = client.get(f"{LOG}/consistency", params={"from": 3, "format": "txt"}).text
    above, _, note = text.partition("\n\n")
    first, *proof = above.split("\n")
    assert first == "old 3"
    assert note.encode() == client.get(f"{LOG}/checkpoint").content
    told = client.get(f"{LOG}/consistency", params={"from": 3}).json()
    assert proof == told["proof"]


def test_where_nothing_was_signed_for_nothing_is_proved(tmp_path: Path) -> None:
    ledger, lock = open_ledger(tmp_path, "a test")
    try:
        with pytest.raises(NotSigned, match="nothing was signed for"):
            Tree(Reader(tmp_path).snapshot())
        answer = site_of(tmp_path).as_().get(f"{LOG}/checkpoint")
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    finally:
        ledger.close()
        lock.release()


def _bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


# Receipts, openings, bundles.


@pytest.mark.parametrize("who", ["auditor", "lynx", None])
@pytest.mark.parametrize("hand", HANDS)
def test_a_receipt_leads_from_the_lines_to_the_signed_root(
    site: Site, who: str | None, hand: str
) -> None:
    told = site.as_(who).get(f"/api/v1/hands/{hand}/proof").json()
    leaf = told["leaf"].encode()
    receipt = read_receipt(told["receipt"].encode())
    receipt.check(leaf_hash(leaf), [Key.read(key) for key in told["keys"]])
    record = "\n".join(told["lines"]).encode()
    assert f'"record_sha256":"{sha256(record).hexdigest()}"' in told["leaf"]
    with pytest.raises(Refuted):
        receipt.check(leaf_hash(leaf + b" "), [Key.read(key) for key in told["keys"]])


@pytest.mark.parametrize("who", ["auditor", "lynx", None])
@pytest.mark.parametrize("hand", HANDS)
def test_every_opening_fits_its_commitment(site: Site, who: str | None, hand: str) -> None:
    told = site.as_(who).get(f"/api/v1/hands/{hand}/proof").json()
    for one in told["openings"]:
        made = commitment(bytes.fromhex(one["nonce"]), one["value"])
        assert f'"{one["field"]}":{{"commitment":"{made}"' in told["lines"][one["line"]]
    opened = {(one["line"], one["field"]) for one in told["openings"]}
    closed = sum(line.count('"commitment":') for line in told["lines"])
    match = hand.partition("/")[0]
    if who == "auditor" or match == "open":
        assert len(opened) == closed
    elif who is None:
        assert opened == set()
    else:
        assert 0 < len(opened) < closed
    seats = {"auditor": "auditor", "lynx": "seat:lynx", None: "public"}
    assert told["view"] == seats[who]


@pytest.mark.parametrize("who", ["auditor", "lynx", None])
def test_a_bundle_that_was_fetched_verifies_by_itself(site: Site, who: str | None) -> None:
    answer = site.as_(who).get("/api/v1/hands/auction/3/proof", params={"format": "zip"})
    assert answer.headers["content-type"] == "application/zip"
    assert 'filename="auction-3.zip"' in answer.headers["content-disposition"]
    files = unzipped(answer.content)
    assert not verify(files).problems
    assert ("report.json" in files) == (who == "auditor")


def test_a_match_holds_and_one_that_was_forged_does_not(site: Site, tmp_path: Path) -> None:
    client = site.as_("auditor")
    told: dict[str, Any] = client.get("/api/v1/matches/auction/verify").json()
    assert told["ok"]
    assert (told["hands"], told["leaves"], told["wrong"]) == (12, 14, [])
    assert told["digests"] == told["proved"] == 14
    assert told["balanced"] == 12
    first, *_ = dealt(("auction-2024", "--hands", "1", "--seed", "7", "--match", "scrim"))
    forged = tuple(one for one in first if type(one).__name__ != "PotSplit")
    ledger, lock = open_ledger(tmp_path, "a forger")
    ledger.append(Append("scrim/1", 0, forged, 1))
    ledger.close()
    lock.release()
    found = site_of(tmp_path).as_("auditor").get("/api/v1/matches/scrim/verify").json()
    assert not found["ok"]
    assert "chips are still in the middle" in found["wrong"][0]["sentence"]
