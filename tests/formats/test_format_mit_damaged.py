"""Gamelogs that are none any more: refused with line and reason, before any hand is told."""

import pytest

from formats.mit.read import read
from formats.source import Refused
from tests.formats.test_format_mit import AUCTION

DAMAGED = [
    (
        lambda s: s[: s.index("Round #2")].rstrip(),
        "line 33: the final line is missing: this is not the whole log",
    ),
    (lambda s: s[: s.index("Turn")], "line 20: round #1 stops in the middle"),
    (lambda s: s.replace("Round #2", "Round #3"), "line 35: round #3 stands where round #2 is due"),
    (
        lambda s: s.replace("(-6), ada (6)", "(-5), ada (6)"),
        (
            "line 35: ada II has -6 by the rounds before, not -5: "
            "hands are missing or from another match"
        ),
    ),
    (
        lambda s: s.replace("ada calls\n", "<<<<<<< HEAD\nada calls\n"),
        "line 8: a git merge marker: two logs are mixed in this file",
    ),
    (
        lambda s: s.replace("ada II checks\n", "ada II shrugs\n", 1),
        "line 9: no line of a gamelog is like this: 'ada II shrugs'",
    ),
    (  # the engine asks nobody else before it plays for him who failed
        lambda s: s.replace("amount 1000\n", "amount 1000\nada disconnected\n"),
        "line 25: after a bad reply comes what was played instead: 'ada disconnected'",
    ),
    (
        lambda s: "<<<<<<< HEAD\n" + s,
        "line 1: a git merge marker: two logs are mixed in this file",
    ),
    (
        lambda s: s.replace("\nRound #1", "\n=======\nRound #1"),
        "line 3: a git merge marker: two logs are mixed in this file",
    ),
    (
        lambda s: s.replace("Round #2", ">>>>>>> theirs\nRound #2"),
        "line 35: a git merge marker: two logs are mixed in this file",
    ),
    (lambda s: s + "\nmore", "line 47: this may not follow the final line: 'more'"),
    (
        lambda s: s.replace("Final, ada (7)", "Final, ada (8)"),
        "line 46: ada has 7 by the rounds before, not 8: hands are missing or from another match",
    ),
    (
        lambda s: s.replace("ada posts the blind of 1", "ada posts the blind of 5"),
        "line 4: blinds of 1 and 2 come here, the dealer's first: 'ada posts the blind of 5'",
    ),
    (
        lambda s: s.replace("ada calls\n", "ada calls\r\n"),
        "line 1: the lines end in different ways: this file was put together",
    ),
]


@pytest.mark.parametrize(("damage", "sentence"), DAMAGED, ids=range(len(DAMAGED)))
def test_a_damaged_log_is_refused_with_line_and_reason(damage, sentence: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(Refused) as refusal:
        list(read(damage(AUCTION).encode()).hands)
    assert sentence == str(refusal.value)
