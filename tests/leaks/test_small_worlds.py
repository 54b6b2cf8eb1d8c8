"""Worlds that differ in one thing that nobody is told: a bid that failed, the time of a bid.

Small ledgers, so that each thing is alone in its pair: the large worlds differ in everything.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from api.http.ledger_service import DelayedSnapshots
from api.playing.recording import ledger_projections
from api.viewpoints.viewer import Viewer
from engine.game import fingerprint, to_json
from events import types as t
from events.ledger import Append
from events.match import MatchEnded, MatchStarted
from events.types import Events
from store.ledger import open_ledger
from store.proof.checkpoint import CheckpointMemory
from store.reader import Reader
from tests.exports import AT
from tests.leaks.asked_routes import addresses
from tests.leaks.doors import answers, door
from tests.leaks.hidden_worlds import AUCTION, PLAYED, RUNNING, share_secrets, small_world
from tests.live.stepped import START, Scene
from tests.live.test_live_bids import GAME, NAMES, bidding
from tests.profiles import sized

MATCH = f"closed-{AUCTION}"
HANDS = next(one.hands for one in PLAYED if one.name == MATCH)
OTHERS = {one.name for one in PLAYED} - {MATCH}


class Worlds(NamedTuple):
    """Two ledgers, and in which matches something may be asked."""

    here: Path
    there: Path
    matches: tuple[str, ...]


Made = Callable[[Path], Worlds]


def one_more_bid_failed(home: Path) -> Worlds:
    """Before a bid, and written with it."""
    hands = tuple(_without_faults(hand) for hand in HANDS)
    here = small_world(home / "here", None, hands, late=False)
    at = next(at for at, hand in enumerate(hands) if _bid(hand) is not None)
    more = (*hands[:at], _with_fault(hands[at]), *hands[at + 1 :])
    there = small_world(home / "there", here, more, late=False)
    return Worlds(here, there, (MATCH, RUNNING))


def one_failed_later(home: Path) -> Worlds:
    """Alone, and later than all that is seen."""
    here = small_world(home / "here", None, HANDS, late=False)
    return Worlds(here, small_world(home / "there", here, HANDS, late=True), (MATCH, RUNNING))


def another_was_late(home: Path) -> Worlds:
    """Both bids are 0 when the clock has run out: the one was made, the other was not."""
    late = [{"ann": None, "bob": 3_000}, {"ann": 7_000, "bob": None}]
    return _live(home, [bidding(one, (0, 0)) for one in late])


def another_bid_sooner(home: Path) -> Worlds:
    """The first of two took a second, or as long as the last."""
    return _live(home, [bidding({"ann": after, "bob": 25_000}) for after in (1_000, 24_999)])


MADE: dict[str, Made] = {
    one.__name__: one
    for one in (one_more_bid_failed, one_failed_later, another_was_late, another_bid_sooner)
}


def _without_faults(hand: Events) -> Events:
    return tuple(one for one in hand if not isinstance(one, t.Faulted))


def _bid(hand: Events) -> int | None:
    return next((at for at, one in enumerate(hand) if isinstance(one, t.BidPlaced)), None)


def _with_fault(hand: Events) -> Events:
    place = _bid(hand) or 0
    bid = hand[place]
    assert isinstance(bid, t.BidPlaced)
    fault = t.Faulted(bid.seat, "bid(-1)", "illegal", "bid")
    return (*hand[:place], fault, *hand[place:])


def _live(home: Path, scenes: Sequence[Scene]) -> Worlds:
    """A hand of a live table as it was written, answer by answer."""
    folders: list[Path] = []
    for name, scene in zip(("here", "there"), scenes, strict=True):
        folder = home / name / "ledger"
        if folders:
            share_secrets(folders[0], folder)
        apart = CheckpointMemory(folder.with_name("witness"))
        ledger, lock = open_ledger(folder, "a test", ledger_projections(folder), apart)
        ledger.keep_ruleset(fingerprint(GAME), to_json(GAME))
        start = MatchStarted(
            "m", GAME.name, fingerprint(GAME), NAMES, "seeded", "sealed", True, "seed"
        )
        ledger.append(Append("m", 0, (start,), AT))
        for one in scene.ledger.appends:
            ledger.append(Append(one.stream, one.expected, one.events, AT + one.at - START))
        ledger.append(Append("m", 1, (MatchEnded((0, 0), "over"),), AT + 10**6))
        ledger.close()
        lock.release()
        folders.append(folder)
    return Worlds(folders[0], folders[1], ("m",))


def asked_of(worlds: Worlds, turn: int) -> list[str]:
    """Every kind of address, of no match but those that there are."""
    found = [it for it in addresses("some", turn) if not any(name in it for name in OTHERS)]
    if MATCH not in worlds.matches:
        found = [it.replace(MATCH, "m").replace("m/2", "m/1") for it in found if RUNNING not in it]
    return found


@pytest.mark.parametrize("name", MADE)
def test_nobody_else_is_told_one_world_from_the_other(name: str, tmp_path: Path) -> None:
    worlds, turn = MADE[name](tmp_path), [*MADE].index(name)
    parts = sized(len(MADE), 2, 1)
    asked = asked_of(worlds, turn)[(turn + 1) % parts :: parts]  # all, by so many of them
    here, there = (answers(door(one), asked) for one in worlds[:2])
    assert len(asked) // 2 < [one.status for one in here].count(200)
    assert [] == [it for it, one, other in zip(asked, here, there, strict=True) if one != other]


@pytest.mark.parametrize("name", MADE)
def test_only_what_is_hidden_differs(name: str, tmp_path: Path) -> None:
    """Else nothing above would prove anything; how long a bid took is in no record at all."""
    worlds = MADE[name](tmp_path)
    here, there = ([(one.event, one.at) for one in Reader(it).read_from(0)] for it in worlds[:2])
    assert (here == there) == (name == "another_bid_sooner")


def test_what_is_hidden_holds_nothing_back(tmp_path: Path) -> None:
    """The match that is over is told as soon with a failed bid of another before it as without."""
    worlds = one_failed_later(tmp_path)
    now = max(one.at for one in Reader(worlds.there).read_from(0)) + 1_000
    told = []
    for folder in worlds[:2]:
        newest = Reader(folder).snapshot()
        seen = DelayedSnapshots(20.0, lambda: now).snapshot(Viewer(), newest)
        told.append((seen.next_seq, seen.early))
    assert told[0] == told[1]
    assert not told[0][1]
