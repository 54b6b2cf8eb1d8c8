"""Bundles of one hand for different eyes: one root, and nobody's holds more than he may see."""

import base64
import hashlib
import json
import re
from itertools import permutations, product
from typing import Any

import pytest

from api.evidence.bundle import bundle_bytes
from api.evidence.verify import canonical, unzipped, verify
from engine.game import Game
from events import types as t
from events.cards import DECK
from events.types import Events, HandStarted
from events.views import see, viewpoint
from tests.hands import some_games
from tests.profiles import sized
from tests.trust.own_bundles import hands, views, with_kinds
from tests.trust.test_evidence import _note, evidence


def _files(record: Events, view: str) -> dict[str, bytes]:
    return unzipped(bundle_bytes(evidence(record, view), _note))


def _openings(files: dict[str, bytes]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(files["openings.json"])["openings"]
    return found


@some_games
def test_every_view_proves_the_same_leaf_in_the_same_tree(game: Game) -> None:
    for record in hands(game.name, sized(2, 4)):
        start = record[0]
        assert isinstance(start, HandStarted)
        bundles = [_files(record, view) for view in views(start.players)]
        for name in (
            "events.jsonl",
            "leaf.json",
            "receipt.tlog-proof",
            "checkpoint",
            "ruleset.json",
        ):
            assert 1 == len({files[name] for files in bundles})
        for files in bundles:
            assert () == verify(files).problems


def test_who_may_open_what() -> None:
    """One auction hand: the whole list, seat by seat."""
    record = with_kinds("auction-2024", t.BidPlaced, t.Shown)
    opened = {}
    for view in ("public", "seat:random-0", "seat:random-1", "auditor"):
        rows = _openings(_files(record, view))
        opened[view] = [(one["line"], one["field"]) for one in rows]
    lines = [json.loads(line) for line in _files(record, "public")["events.jsonl"].splitlines()]
    assert [] == opened["public"]
    first = [(5, "cards"), (14, "amount"), (14, "faults"), (14, "origin")]
    second = [(4, "cards"), (15, "amount"), (15, "faults"), (15, "origin"), (17, "cards")]
    assert first == opened["seat:random-0"]
    assert second == opened["seat:random-1"]
    assert sorted((*first, *second, (36, "faults"))) == opened["auditor"]
    for view, seat in (("seat:random-0", 0), ("seat:random-1", 1)):
        assert {seat} == {lines[line]["seat"] for line, _ in opened[view]}


@some_games
def test_no_card_stands_in_a_bundle_that_its_reader_may_not_see(game: Game) -> None:
    """Every file but the script and the rules, searched for every card."""
    for record in hands(game.name, 6):
        start = record[0]
        assert isinstance(start, HandStarted)
        for view in ("public", *(f"seat:{player}" for player in start.players)):
            files = _files(record, view)
            text = b"".join(
                files[name] for name in files if name not in ("verify.py", "ruleset.json")
            )
            seen = str(see(record, viewpoint(view, start.players)))
            found = {card for card in DECK if re.search(rb'"%s"' % card.encode(), text)}
            assert set() == {card for card in found if f"'{card}'" not in seen}


def _published(files: dict[str, bytes]) -> list[bytes]:
    """Every 32 bytes that a bundle shows in any spelling, and what follows easily from them."""
    text = b"\n".join(files[name] for name in sorted(files) if name != "verify.py")
    found = {bytes.fromhex(word.decode()) for word in re.findall(rb"\b[0-9a-f]{64}\b", text)}
    found |= {base64.b64decode(word)[-32:] for word in re.findall(rb"[A-Za-z0-9+/]{43}=", text)}
    found |= {base64.b64decode(word)[-32:] for word in re.findall(rb"[A-Za-z0-9+/]{44}\b", text)}
    found |= {hashlib.sha256(one).digest() for one in files.values()}
    found |= {hashlib.sha256(one).digest() for one in sorted(found)}
    return [b"", bytes(32), *sorted(found)]


def _guess(commitment: str, nonces: list[bytes], count: int) -> tuple[str, ...] | None:
    """The cards behind a commitment, found by trying: every hand in either order."""
    tag = b"muckrake/commitment/v1\x00"
    wanted = bytes.fromhex(commitment)
    values = [(cards, canonical(list(cards))) for cards in permutations(DECK, count)]
    for nonce in nonces:
        prefix = hashlib.sha256(tag + nonce)
        for cards, value in values:
            tried = prefix.copy()
            tried.update(value)
            if tried.digest() == wanted:
                return cards
    return None


def _folded() -> Events:
    """A hand in which somebody threw his cards away unseen."""
    for record in hands("auction-2024", 60):
        kinds = {type(event) for event in record}
        if t.Folded in kinds and t.Shown not in kinds:
            return record
    raise AssertionError("nobody folds")


def test_folded_cards_cannot_be_guessed_from_all_that_is_published() -> None:
    """1,326 hands, each in both orders, under every nonce that could be in the bundle."""
    files = _files(_folded(), "public")
    lines = [json.loads(line) for line in files["events.jsonl"].splitlines()]
    place = next(line["cards"]["commitment"] for line in lines if line["type"] == "HoleDealt")
    nonces = _published(files)
    assert len(nonces) > 30  # commitments, digests, hashes of the proof, the root, the key
    assert None is _guess(place, nonces, 2)


def test_a_seats_nonces_do_not_open_another_seat() -> None:
    files = _files(_folded(), "seat:random-0")
    lines = [json.loads(line) for line in files["events.jsonl"].splitlines()]
    other = next(
        line["cards"]["commitment"]
        for line in lines
        if line["type"] == "HoleDealt" and line["seat"] == 1
    )
    assert None is _guess(other, _published(files), 2)


def test_the_same_attack_finds_cards_whose_nonce_is_known_or_missing() -> None:
    """The positive control: it is the nonce that hides, not the hash."""
    record = _folded()
    files = _files(record, "auditor")
    dealt = next(event for event in record if isinstance(event, t.HoleDealt))
    lines = [json.loads(line) for line in files["events.jsonl"].splitlines()]
    place = next(line["cards"]["commitment"] for line in lines if line["type"] == "HoleDealt")
    assert dealt.cards == _guess(place, _published(files), 2)
    bare = hashlib.sha256(b"muckrake/commitment/v1\x00" + canonical(list(dealt.cards))).hexdigest()
    assert dealt.cards == _guess(bare, [b""], 2)


def test_a_bid_of_few_chips_cannot_be_guessed_either() -> None:
    """401 amounts, fewer than there are hands; and origins, of which there are four."""
    files = _files(with_kinds("auction-2024", t.BidPlaced), "public")
    lines = [json.loads(line) for line in files["events.jsonl"].splitlines()]
    wanted = {
        line[field]["commitment"]
        for line in lines
        if line["type"] == "BidPlaced"
        for field in ("amount", "origin", "faults")
    }
    values = [*map(canonical, range(401)), b"[]"]
    values += [canonical(word) for word in ("chosen", "forced", "default", "recorded")]
    tag = b"muckrake/commitment/v1\x00"
    tried = {
        hashlib.sha256(tag + nonce + value).hexdigest()
        for nonce, value in product(_published(files), values)
    }
    assert 6 == len(wanted)
    assert set() == tried & wanted


@pytest.mark.parametrize("view", ["public", "seat:random-0"])
def test_what_is_said_of_a_bundle_tells_no_card(view: str) -> None:
    said = " ".join(verify(_files(_folded(), view)).proved)
    assert [] == [card for card in DECK if card in said.split()]
