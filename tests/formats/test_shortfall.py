"""A rake that one hand alone shows: of several pots it is what a capped rate takes of them, too."""

from collections.abc import Callable

import pytest

from engine.changes import changed
from engine.games import GAMES
from engine.hand import begin, step
from engine.turn import Call, Deal, Raise, Show
from engine.verdict import judge
from events.types import Events
from formats.hand_records import hand_record
from formats.ohh.history import write as write_ohh
from formats.ohh.read import read as read_ohh
from formats.phh.documents import write as write_phh
from formats.phh.read import read as read_phh
from formats.pokerstars.read import read as read_pokerstars
from formats.pokerstars.text import write as write_pokerstars
from formats.source import SourceFile, SourceHand

PLAYED = "2024-03-05T23:13:14Z"
GAME = changed(GAMES["site-nl"], {"rake_percent": "7/100", "rake_caps": "2:3"})
HOLE = Deal(("Kh", "7c", "As", "Ks", "2d", "Ad"))
BOARD = (Deal(("Qh", "8s", "Ts")), Deal(("4h",)), Deal(("3d",)))


def _played() -> Events:
    """ada wins the main pot of 300, less 3 for the house, and bo the side pot of 600."""
    record, hand = begin(GAME, "m/1", 0, ("ada", "bo", "cy"), (100, 400, 450))
    for answer in (HOLE, Raise(0, to=100), Raise(1, to=400), Call(2), *BOARD, Show(2)):
        events, hand = step(GAME, hand, answer)
        record += events
    assert (297, 600, 50) == hand.stacks
    return record


def _pokerstars(record: Events) -> str:
    return write_pokerstars(GAME, record, PLAYED)


def _ohh(record: Events) -> str:
    return write_ohh(GAME, record, PLAYED)


def _phh(record: Events) -> str:
    return write_phh(GAME, record)


def _verdict(source: SourceFile) -> tuple[str, int | None]:
    (hand,) = source.hands
    assert isinstance(hand, SourceHand), hand
    report = judge(hand.game, hand_record(hand, "m/1"))
    return report.verdict, report.moves


@pytest.mark.parametrize(
    ("write", "read"),
    [(_pokerstars, read_pokerstars), (_ohh, read_ohh), (_phh, read_phh)],
)
def test_a_cap_that_the_first_pot_reaches_pays_nobody_wrong(
    write: Callable[[Events], str], read: Callable[[str], SourceFile]
) -> None:
    """R5: "outwards: the rake of the first k pots together is what the rule takes from their sum
    (one cap for the hand)". And a rake that is only what is missing in a hand is unknown
    (docs/import.md); such a hand was said to differ, with 2 chips that somebody else should have.
    """
    assert ("unknown", None) == _verdict(read(write(_played())))


def test_chips_that_no_rule_of_a_rake_moves_still_differ() -> None:
    text = write_phh(GAME, _played())
    assert "finishing_stacks = [600, 50, 297]" in text
    moved = text.replace("[600, 50, 297]", "[590, 50, 307]")
    verdict, moves = _verdict(read_phh(moved))
    assert "differ" == verdict
    assert moves
