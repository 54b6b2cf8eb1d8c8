"""Matches that the unmodified engines played with odd bots: their cards from the logs, the replies
from the wire, and the lines that each bot was sent.
"""

import re
from ast import literal_eval
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path

import pytest

from dealer.deck import Deck
from dealer.wire.player import Reply
from engine.turn import Deal, Draw, Swap, ToDeal, ToDraw, ToSwap
from events.cards import DECK
from events.types import BoardDealt, BountyDrawn, CardSwapped, Events, HoleDealt
from formats.hand_records import hand_record
from formats.mit.read import read
from formats.source import SourceHand

MADE = Path(__file__).parents[3] / "shared/data/mit/made"
GONE = {"close": Reply("")}


def log_of(name: str) -> str:
    """The engine's own log of a match; a skip where the data is not at hand."""
    path = MADE / name.split("-")[1] / f"{name}.txt"
    if not path.exists():
        pytest.skip(f"the engines' own transcripts are not here: {path} is missing")
    return path.read_text("utf-8")


class Scripted:
    """A bot that replies as a transcript says, then as it is told to, then no more."""

    def __init__(self, lines: list[str], then: list[Reply]) -> None:
        self.sent = [literal_eval(line[2:]) for line in lines if line.startswith("< ")]
        said = [line[2:].removesuffix("\n") for line in lines if line.startswith("> ")]
        self.replies = [GONE.get(reply, Reply(reply.strip())) for reply in said] + then
        self.told: list[str] = []

    def ask(self, told: str) -> Reply | None:
        at = len(self.told)
        if at >= len(self.replies):
            return None
        self.told.append(told)
        return self.replies[at]

    @property
    def expected(self) -> list[str]:
        """Every line that the engine sent, without its clock and the end of the match."""
        return [re.sub(r"^T\d+\.\d{3} (.*)\n$", r"\1", line) for line in self.sent if line != "Q\n"]


def scripted(name: str, player: str, *then: Reply) -> Scripted:
    """One side of a match; of some odd bots there is no transcript."""
    path = MADE / "wire" / f"{name}.{player}.wire"
    lines = path.read_text("utf-8").splitlines(keepends=True) if path.exists() else []
    return Scripted(lines, list(then))


class Recalled(Deck):
    """The cards of a hand that was played before; for what never came to be dealt, any others."""

    def __init__(self, record: Events) -> None:
        self._board = [c for event in record if isinstance(event, BoardDealt) for c in event.cards]
        self._holes: dict[int, list[str]] = {0: [], 1: []}
        for event in record:
            if isinstance(event, HoleDealt):
                self._holes[event.seat] += event.cards
        self._ranks = {e.seat: e.rank for e in record if isinstance(e, BountyDrawn)}
        self._swaps = [event for event in record if isinstance(event, CardSwapped)]
        known = {*self._board, *self._holes[0], *self._holes[1], *(e.new for e in self._swaps)}
        self._others = [card for card in DECK if card not in known]

    def fork(self) -> "Recalled":
        return deepcopy(self)

    def deal(self, asked: ToDeal) -> Deal:
        places = [self._holes[seat] for seat in asked.to] or [self._board] * asked.count
        return Deal(tuple((place or self._others).pop(0) for place in places))

    def draw(self, asked: ToDraw) -> Draw:
        return Draw(tuple(self._ranks[seat] for seat in asked.seats))

    def swap(self, asked: ToSwap) -> Swap:
        risked = [self._swaps.pop(0) for _ in asked.at_risk if self._swaps]
        swapped = [one.new if one.new != one.old else None for one in risked]
        return Swap((*swapped, *(None for _ in asked.at_risk[len(risked) :])))


class RecalledDecks:
    """The cards of a whole match."""

    def __init__(self, log: str) -> None:
        self.records = list(_records(log))

    def deck(self, number: int) -> Deck:
        return Recalled(self.records[number - 1])


def _records(log: str) -> Iterator[Events]:
    for hand in read(log).hands:
        assert isinstance(hand, SourceHand)
        yield hand_record(hand, f"m/{hand.number}")
