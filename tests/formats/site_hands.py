"""What the tests of single sites ask of a reader alike: a hand told, a reason, a changed number."""

import re
from collections.abc import Callable

from engine.verdict import judge
from formats.hand_records import hand_record
from formats.source import Refused, Skipped, SourceFile, SourceHand, Text

Read = Callable[[Text], SourceFile]


def one(read: Read, text: Text) -> SourceHand:
    """The only hand of a text."""
    (hand,) = read(text).hands
    assert isinstance(hand, SourceHand), hand
    return hand


def reason(read: Read, text: str) -> str:
    """Why the only hand of a text is left out."""
    (hand,) = read(text).hands
    assert isinstance(hand, Skipped), hand
    return hand.reason


def verdict(hand: SourceHand) -> str:
    """What the rules say of it."""
    return judge(hand.game, hand_record(hand, "h/1")).verdict


def changed_and_agreed(read: Read, text: str) -> list[str]:
    """Every number of a text made one larger in turn: the lines with one that no rule misses."""
    agreed = []
    for number in re.finditer(r"(?<![\w.,])[0-9]+(?:[.,][0-9]+)*(?![\w])", text):
        digits = number[0]
        other = digits[:-1] + str((int(digits[-1]) + 1) % 10)
        spoilt = text[: number.start()] + other + text[number.end() :]
        if _agrees(read, spoilt):
            begun = text.rfind("\n", 0, number.start()) + 1
            agreed.append(text[begun : text.find("\n", begun)])
    return list(dict.fromkeys(agreed))


def dropped_and_agreed(read: Read, text: str) -> list[str]:
    """Every line of a text taken out in turn: those that no rule misses."""
    lines = text.splitlines()
    return [
        line
        for at, line in enumerate(lines)
        if line and _agrees(read, "\n".join([*lines[:at], *lines[at + 1 :]]))
    ]


def _agrees(read: Read, text: str) -> bool:
    try:
        hands = list(read(text).hands)
        (found,) = [verdict(hand) for hand in hands if isinstance(hand, SourceHand)]
        return found in ("agree", "assuming")
    except (Refused, ValueError):
        return False
