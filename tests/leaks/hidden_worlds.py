"""Ledgers that differ only in what a viewer may not see.

Matches of four games, of every disclosure (`tests/asking/seen_ledgers.py`), one whose decks are
committed to, one that is mirrored, one of a league, and one that is being played: its last reply
was no bid, and came later than all that is seen. The worlds share the secrets of the first, so
keys, cursors and the log's signature are alike. They differ in their seeds, too: one of each is of
every match but one, of sealed ones and of some that are open and over.
"""

import random
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from api.http.credentials import Keys
from api.http.cursors import cursor_key
from api.playing.recording import ledger_projections
from api.viewpoints.viewer import Viewer
from engine.game import fingerprint, to_json
from engine.games import GAMES
from events import types as t
from events.cards import DECK
from events.ledger import Append, Record
from events.lines import Nonces, commitment, leaf_of
from events.match import (
    Dealing,
    DeckCommitted,
    Disclosure,
    MatchEnded,
    MatchStarted,
    NonceGiven,
    SourceNoted,
    Tagged,
)
from events.types import Events
from store.ledger import open_ledger
from store.proof.checkpoint import CheckpointMemory
from store.proof.ledger_secrets import LOG, SecretFolder
from tests.asking.seen_ledgers import HANDS, Kept, matches, who, worlds
from tests.exports import AT, start_of
from tests.hands import NAMES
from tests.worlds import other_world

AUCTION, SWAP = "auction-2024-mit", "swap-2022-mit"
KINDS = {
    AUCTION: ("closed", "before", "after", "bare"),
    SWAP: ("closed", "before", "open", "after"),
    "bounty-2025-mit": ("closed", "open"),
    "site-nl": ("closed",),
    "site-fl": ("closed", "bare"),
}
COMMITTED, MIRRORED = "committed", "mirrored"


def _again(one: Kept, kind: str, called: str = "") -> Kept:
    """The same hands in a match of another kind, or of another name."""
    name = called or one.name.replace(one.kind, kind)
    hands = (
        (replace(start_of(hand), hand=f"{name}/{number}"), *hand[1:])
        for number, hand in enumerate(one.hands, 1)
    )
    return one._replace(kind=kind, name=name, hands=tuple(hands))


_OF_KINDS = tuple(
    one for game, kinds in KINDS.items() for one in matches((GAMES[game],)) if one.kind in kinds
)
PLAYED = (
    *_OF_KINDS,
    *(_again(_OF_KINDS[0], COMMITTED), _again(_OF_KINDS[0], MIRRORED)),
    _again(_OF_KINDS[0], _OF_KINDS[0].kind, "cup.1.lynx.ursa"),
)
RUNNING = "running"
SEALED_SEED, OPEN_SEED = "s3cr3t", "t0ld"  # of all matches but one, some open; of one that is open
LATE_MS = 50_000  # after all that is seen of the hand
URSA, LYNX = NAMES[:2]
_OF = Nonces.of


class Redactor(NamedTuple):
    """Who asks: his viewpoint, the scopes of his key, and how he is named in `--as`."""

    viewer: Viewer
    scopes: tuple[str, ...]


EYES = {
    "public": Redactor(Viewer(), ()),
    "a player": Redactor(Viewer(f"seat:{URSA}"), (f"seat:{URSA}",)),
    "a player elsewhere": Redactor(Viewer(f"seat:o'{URSA}"), (f"seat:o'{URSA}",)),
    "a player of one match": Redactor(
        Viewer(f"seat:{LYNX}", (f"closed-{AUCTION}",)), (f"seat:{LYNX}@closed-{AUCTION}",)
    ),
}


@contextmanager
def stubbed() -> Iterator[None]:
    """Commitments stand for values that differ: each is the same digest here, and so is the digest
    of a hand of which nothing is told. Nothing else is changed, so that lines, leaves, roots,
    receipts and bundles are compared as they are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("events.lines.commitment", lambda nonce, value: "0" * 64)
        patch.setattr("events.lines.leaf_of", _leaf_of)
        patch.setattr(Nonces, "of", lambda self, stream, index, field, value: bytes(32))
        yield


def _leaf_of(hand_seq: int, stream: str, first: int, count: int, record_sha256: str) -> bytes:
    told = "0" * 64 if stream.startswith(f"{MIRRORED}-") and "/" in stream else record_sha256
    return leaf_of(hand_seq, stream, first, count, told)


@contextmanager
def as_they_are() -> Iterator[None]:
    """Commitments again, inside of what is stubbed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("events.lines.commitment", commitment)
        patch.setattr("events.lines.leaf_of", leaf_of)
        patch.setattr(Nonces, "of", _OF)
        yield


def first_world(home: Path) -> tuple[Path, dict[str, str]]:
    """The ledger as it was played, and a key for everybody who needs one."""
    folder = _kept(home / "ledger", PLAYED, _running(), SEALED_SEED)
    cursor_key(folder)
    everybody = {name: one.scopes for name, one in EYES.items() if one.scopes}
    everybody["auditor"] = ("audit:read", "matches:write", "keys:admin")
    keys = Keys(folder)
    return folder, {name: keys.make(scopes, name)[1] for name, scopes in everybody.items()}


def second_world(home: Path, first: Path, viewer: Viewer) -> Path:
    """The same to this viewer; everything else is another."""
    chance = random.Random(repr(viewer))
    others = tuple(
        one._replace(hands=tuple(_redealt(hand, chance) for hand in one.hands))
        if one.kind == MIRRORED
        else other
        for one, other in zip(PLAYED, worlds(PLAYED, viewer, chance), strict=True)
    )
    assert PLAYED != others
    share_secrets(first, home / "ledger")
    live = other_world(_running(), who(_running(), viewer, RUNNING), chance)
    late = t.Faulted(1, "bid(999)", "malformed", "bid")
    return _kept(home / "ledger", others, live, "other", late)


def _redealt(record: Events, chance: random.Random) -> Events:
    """Other cards for everybody, on the board, too, and another who was paid: nothing of the hand
    is told."""
    others = dict(zip(DECK, chance.sample(DECK, len(DECK)), strict=True))
    seats = len(start_of(record).players)
    return tuple(_turned(event, others, seats) for event in record)


def _turned(event: t.Event, others: dict[str, str], seats: int) -> t.Event:
    match event:
        case t.HoleDealt() | t.BoardDealt() | t.Shown() | t.Announced():
            return replace(event, cards=tuple(others[card] for card in event.cards))
        case t.PotSplit():
            return replace(event, seats=tuple((seat + 1) % seats for seat in event.seats))
        case t.BidPlaced():
            return replace(event, amount=event.amount + 1)
        case _:
            return event


def small_world(home: Path, first: Path | None, hands: tuple[Events, ...], late: bool) -> Path:
    """One match of these hands and the one that is being played, in which a bid may have failed
    later than all that is seen; with the secrets of the first world, if there is one."""
    folder = home / "ledger"
    if first is not None:
        share_secrets(first, folder)
    closed = next(one for one in PLAYED if one.name == f"closed-{AUCTION}")
    fault = t.Faulted(1, "bid(999)", "malformed", "bid") if late else None
    return _kept(folder, (closed._replace(hands=hands),), _running(), SEALED_SEED, fault)


def share_secrets(first: Path, folder: Path) -> None:
    """A ledger that is yet to be made gets the secrets of another, so that keys, cursors and the
    log's signature are alike."""
    cursor_key(first)
    no_marks = shutil.ignore_patterns(LOG)  # they are the other ledger's: this one begins anew
    shutil.copytree(SecretFolder(first).folder, SecretFolder(folder).folder, ignore=no_marks)


def _kept(
    folder: Path,
    played: tuple[Kept, ...],
    live: Events,
    seed: str,
    late: t.Event | None = None,
) -> Path:
    """A signed ledger: several segments, a hot tail, and a hand that is being played."""
    apart = CheckpointMemory(folder.with_name(f"{folder.name}.witness"))  # worlds have the same key
    ledger, lock = open_ledger(folder, "a test", ledger_projections(folder), apart)
    versions: dict[str, int] = {}

    def add(stream: str, *events: Record, late_ms: int = 0) -> None:
        version = versions.get(stream, 0)
        at = AT + 1_000 * len(versions) + late_ms
        ledger.append(Append(stream, version, events, at))
        versions[stream] = version + len(events)

    for game in {start_of(one.hands[0]).game: None for one in played}:
        ledger.keep_ruleset(fingerprint(GAMES[game]), to_json(GAMES[game]))
    for one in played:
        if one.disclosure is not None:
            own = OPEN_SEED if one.name == f"after-{AUCTION}" else seed
            add(one.name, _started(one.name, one.hands[0], one.disclosure, own, one.kind))
            if one.kind == COMMITTED:
                add(one.name, DeckCommitted("ab" * 32, HANDS))
            add(one.name, NonceGiven(URSA, "n0"), NonceGiven(LYNX, "n1"))
            # By tag somebody else goes by a viewer's name: he sees no card of his for that.
            add(one.name, Tagged(URSA, "bot", LYNX), Tagged(LYNX, "bot", "cat"))
    add(played[0].name, SourceNoted("acpc", "dealer", f"# seed {seed}\n", f"SCORE {seed}"))
    for number in range(HANDS):
        for one in played:
            add(start_of(one.hands[number]).hand, *one.hands[number])
        if number == HANDS // 2:
            ledger.seal()
    for one in played:
        if one.ended:
            nets = (0,) * len(start_of(one.hands[0]).players)
            add(one.name, MatchEnded(nets, "over"))
    add(RUNNING, _started(RUNNING, live, "open-after-match", seed, RUNNING))
    add(f"{RUNNING}/1", *live)
    if late is not None:
        add(f"{RUNNING}/1", late, late_ms=LATE_MS)
    ledger.close()
    lock.release()
    return folder


def _started(
    match: str, hand: Events, disclosure: Disclosure, seed: str, kind: str
) -> MatchStarted:
    """What is open to all keeps its seed; where decks are committed to there is none."""
    start = start_of(hand)
    dealing: Dealing = "committed" if kind == COMMITTED else "seeded"
    players = tuple(dict.fromkeys(start.players))
    return MatchStarted(
        match,
        start.game,
        start.ruleset,
        players,
        dealing,
        disclosure,
        True,
        None if kind == COMMITTED else seed,
        2 if kind == MIRRORED else 1,
    )


def _running() -> Events:
    """An auction hand up to the bid of the first seat, which is sealed; the second is asked."""
    played = next(one for one in PLAYED if one.name == f"closed-{AUCTION}")
    for hand in played.hands:
        place = next((at for at, it in enumerate(hand) if isinstance(it, t.BidPlaced)), 0)
        if place and start_of(hand).players == (URSA, LYNX):
            start = replace(start_of(hand), hand=f"{RUNNING}/1")
            return (start, *hand[1:place], t.BidPlaced(0, 3, sealed=True, origin="chosen"))
    raise LookupError(played.name)
