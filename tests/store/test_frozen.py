"""Ledgers of every version there has been: read, whole, and replaying to what they said then."""

import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

from events.evolve import replay
from events.ledger import is_match
from events.state import Hand
from store.folder.disk import RealDisk
from store.folder.manifest import read as manifest_of
from store.ledger import FileLedger
from store.reader import Reader
from store.tables.projection import STANDARD

FROZEN = sorted((Path(__file__).parent / "frozen").glob("v*"))


@pytest.fixture(params=FROZEN, ids=lambda path: path.name)
def frozen(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy, so that whatever an opening does is not done to the original."""
    shutil.copytree(request.param, tmp_path / "frozen")
    return tmp_path / "frozen"


def recorded(frozen: Path) -> dict[str, Any]:
    told: dict[str, Any] = msgspec.json.decode((frozen / "expected.json").read_bytes())
    return told


def plain(told: Any) -> Any:
    """As JSON holds it."""
    return msgspec.json.decode(msgspec.json.encode(told))


def said(then: Any, now: Any) -> bool:
    """Everything that was said then is said now; a later version may say more."""
    if isinstance(then, dict):
        return isinstance(now, dict) and all(
            key in now and said(value, now[key]) for key, value in then.items()
        )
    return bool(then == now)


def test_there_is_a_frozen_ledger_of_this_version() -> None:
    assert [path.name for path in FROZEN] == ["v1"]


def test_every_event_is_where_it_was(frozen: Path) -> None:
    told = recorded(frozen)
    ledger = FileLedger(RealDisk(frozen / "ledger"), STANDARD)
    held = list(ledger.read_from(0))
    assert told["positions"] == [[one.pos, one.stream, one.index, one.at] for one in held]
    assert ledger.notes == []
    for stream, then in told["streams"].items():
        now = plain([one.event for one in ledger.read(stream)])
        assert len(then["events"]) == len(now)
        for old, new in zip(then["events"], now, strict=True):
            assert said(old, new)
    ledger.close()


def test_every_hand_replays_to_the_state_it_had(frozen: Path) -> None:
    ledger = FileLedger(RealDisk(frozen / "ledger"), STANDARD)
    for stream, then in recorded(frozen)["streams"].items():
        if not is_match(stream):
            hand = replay([one.event for one in ledger.read(stream)])  # type: ignore[misc]
            assert said(then["state"], plain(hand) | {"tapped": _tapped_in_v1(hand)})
    ledger.close()


def _tapped_in_v1(hand: Hand) -> list[int]:
    """The size of the pot when a seat went all-in, or 0: what every seat had paid then tells it.

    Dead chips are there before anybody goes all-in, or nobody can add any: a price is what the
    other can match.
    """
    return [sum(row) + sum(hand.dead) if row else 0 for row in hand.tapped]


def test_a_reader_beside_no_writer_sees_all_of_it(frozen: Path) -> None:
    told = recorded(frozen)
    shown = Reader(frozen / "ledger").snapshot()
    assert len(told["positions"]) == sum(1 for _ in shown.read_from(0))


def test_its_files_are_as_they_were_written(frozen: Path) -> None:
    """Two segments, and a log that was not sealed: each way of keeping events is frozen."""
    now = manifest_of(RealDisk(frozen / "ledger"))
    assert now is not None
    assert 2 == len(now.segments)
    assert (frozen / "ledger" / now.log).stat().st_size > 1_000
