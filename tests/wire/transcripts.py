"""Matches that the unmodified engines played with odd bots: their cards from the logs, the replies
from the wire, and the lines that each bot was sent.
"""

import re
from ast import literal_eval
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dealer.deck import Deck
from dealer.wire.connection import idle
from dealer.wire.player import Reply
from engine.turn import Deal, Swap, ToDeal, ToSwap
from events.types import BoardDealt, CardSwapped, Events, HoleDealt
from formats.follow import follow
from formats.mit.read import read
from formats.told import ToldHand

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

    def ask(self, told: str, meanwhile: Callable[[], None] = idle) -> Reply | None:
        meanwhile()
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
    """The cards of a hand that was played before, given again in the same order."""

    def __init__(self, record: Events) -> None:
        self._dealt = [event for event in record if isinstance(event, HoleDealt | BoardDealt)]
        self._swaps = [event for event in record if isinstance(event, CardSwapped)]

    def deal(self, asked: ToDeal) -> Deal:
        if not asked.to:
            return Deal(self._dealt.pop(0).cards)
        held = {seat: iter(self._dealt.pop(0).cards) for seat in dict.fromkeys(asked.to)}
        return Deal(tuple(next(held[seat]) for seat in asked.to))

    def swap(self, asked: ToSwap) -> Swap:
        risked = [self._swaps.pop(0) for _ in asked.at_risk]
        return Swap(tuple(one.new if one.new != one.old else None for one in risked))


class RecalledDecks:
    """The cards of a whole match."""

    def __init__(self, log: str) -> None:
        self.records = list(_records(log))

    def deck(self, number: int) -> Deck:
        return Recalled(self.records[number - 1])


def _records(log: str) -> Iterator[Events]:
    for hand in read(log).hands:
        assert isinstance(hand, ToldHand)
        yield follow(hand, f"m/{hand.number}")
