"""Mutated PokerStars texts: lines dropped, doubled, exchanged; no chip is made or lost."""

import random

import pytest

from events.evolve import replay
from formats.hand_records import hand_record
from formats.pokerstars.read import read
from formats.source import Refused, SourceHand
from tests.formats.test_format_pokerstars import CASH, DEAD, TOURNAMENT, WALK


def test_mutated_texts_are_read_left_out_or_refused_and_nothing_else() -> None:
    for seed in range(1500):
        _survives(seed)


@pytest.mark.slow
def test_many_mutated_texts_are_read_left_out_or_refused_and_nothing_else() -> None:
    for seed in range(1500, 40000):
        _survives(seed)


def _survives(seed: int) -> None:
    """Lines dropped, doubled, exchanged; characters changed; a chip never made or lost."""
    chance = random.Random(seed)
    lines = chance.choice((CASH, TOURNAMENT, WALK, DEAD)).splitlines()
    for _ in range(chance.randint(1, 4)):
        at, other = chance.randrange(len(lines)), chance.randrange(len(lines))
        line = lines[at]
        place = chance.randrange(len(line) + 1)
        kind = chance.randrange(4)
        if kind == 0:
            lines[at], lines[other] = lines[other], line
        elif kind == 1:
            lines[at] = line[:place] + chance.choice("0159 ,.$:[]()*\n\0é") + line[place + 1 :]
        elif kind == 2:
            lines[at] = line[:place] + lines[other][place:]
        else:
            lines.insert(other, line)
    try:
        for hand in read("\n".join(lines)).hands:
            if isinstance(hand, SourceHand):
                _followed(hand)
    except Refused:
        pass


def _followed(hand: SourceHand) -> None:
    try:
        record = hand_record(hand, "h/1")
    except ValueError:
        return
    end = replay(record)
    assert sum(hand.stacks) == sum(end.stacks) + end.pot + end.rake
