"""Gamelogs of 2026: three cards each, one of them laid on the board."""

from pathlib import Path

import pytest

from engine.audit import audit
from events.evolve import replay
from events.types import Events, Faulted, Tossed
from formats.hand_records import hand_record
from formats.mit.read import read
from formats.mit.write import write
from formats.source import Refused, Skipped, SourceHand

TOSS = """\
6.9630 MIT Pokerbots - a vs b

Round #1, a (0), b (0)
a posts the blind of 1
b posts the blind of 2
a dealt [As Ah 2c]
b dealt [Ks Kh 3d]
a calls
street = 0
b attempted illegal DiscardAction
b checks
Flop [7c 8d], a (2), b (2)
Current stacks: 398, 398
b discards 3d
street = 2
a attempted illegal FoldAction
a checks
Discard 1 [7c 8d 3d], a (2), b (2)
Current stacks: 398, 398
a discards 2c
b response misformatted: Kd
b checks
Discard 2 [7c 8d 3d 2c], a (2), b (2)
Current stacks: 398, 398
b checks
a bets 3
b calls
Turn [7c 8d 3d 2c Qs], a (5), b (5)
Current stacks: 395, 395
b checks
a checks
River [7c 8d 3d 2c Qs 5h], a (5), b (5)
Current stacks: 395, 395
b checks
a checks
a shows [As Ah]
b shows [Ks Kh]
a awarded 5
b awarded -5
a response misformatted: what

Round #2, b (-5), a (5)
b posts the blind of 1
a posts the blind of 2
b dealt [9s 9h 4c]
a dealt [Td Jd 6s]
b raises to 400
a calls
Flop [7h 8c], b (400), a (400)
Current stacks: 0, 0
a discards 6s
b checks
Discard 1 [7h 8c 6s], b (400), a (400)
Current stacks: 0, 0
b attempted to discard invalid index 7
b folds
b awarded -400
a awarded 400

Final, a (405), b (-405)
a preflop bets EV: 4
a flop bets EV: 6
a turn bets EV: 395
b preflop bets EV: -402
b flop bets EV: 0
b turn bets EV: -3"""


def _records(text: str) -> list[Events]:
    hands = [hand for hand in read(text).hands if isinstance(hand, SourceHand)]
    return [hand_record(hand, f"m/{hand.number}") for hand in hands]


def test_a_log_of_2026_is_read_audited_and_written_to_the_byte() -> None:
    source = read(TOSS)
    assert ("T1", ("a", "b")) == (source.dialect, source.players)
    one, two = (hand for hand in source.hands if isinstance(hand, SourceHand))
    assert "toss-2026-mit" == one.game.name
    records = _records(TOSS)
    assert [None, None] == [audit(one.game, record) for record in records]
    assert [one.nets, two.nets] == [
        tuple(now - 400 for now in replay(record).stacks) for record in records
    ]
    assert TOSS == write(records, source.note)


def test_a_bad_answer_to_a_toss_is_kept_and_changes_nothing() -> None:
    """It stands right behind the toss that it answers, or what the rules made of that at once."""
    record = _records(TOSS)[0]
    told = [event for event in record if isinstance(event, Tossed | Faulted)]
    assert told == [
        Faulted(1, "DiscardAction", "illegal", "action"),
        Tossed(1, 2, ("3d",), "chosen"),
        Faulted(0, "FoldAction", "illegal", "acknowledgement"),
        Tossed(0, 2, ("2c",), "chosen"),
        Faulted(1, "Kd", "malformed", "acknowledgement"),
        Faulted(0, "what", "malformed", "acknowledgement"),
    ]


def test_the_footer_keeps_a_part_until_it_is_divided_again() -> None:
    """As that engine does: nobody bets on the flop in round 2, and 3 chips of round 1 count
    again."""
    own = write(_records(TOSS))
    assert TOSS.partition("\nFinal")[2] == own.partition("\nFinal")[2]


WRONG = {
    "a discards 2c": ("a discards 2d", "a card that he does not hold"),
    "street = 2\n": ("street = 2\na checks\n", "comes what was illegal on it"),
    "b checks\nDiscard 2": ("b folds\nDiscard 2", "a toss is answered with a check of the other"),
    "b dealt [Ks Kh 3d]": ("b dealt [Ks Kh]", "both are dealt as many cards"),
    "Discard 1 [7c 8d 3d]": ("Discard 1 [7c 8d]", "a discard 1 has 3 cards"),
}


@pytest.mark.parametrize("was", WRONG)
def test_a_damaged_log_is_refused_at_its_line(was: str) -> None:
    now, why = WRONG[was]
    with pytest.raises(Refused, match=why):
        list(read(TOSS.replace(was, now, 1)).hands)


CONTRADICTED = {
    "street = 0": ("street = 4", "a bad reply on another street than the one that is played"),
    "Current stacks: 395, 395": ("Current stacks: 395, 394", "stacks that do not fit"),
    "Discard 2 [7c 8d 3d 2c]": ("Discard 2 [7c 8d 3d 2d]", "a street changes the cards"),
}


@pytest.mark.parametrize("was", CONTRADICTED)
def test_a_hand_that_contradicts_itself_is_left_out(was: str) -> None:
    now, why = CONTRADICTED[was]
    first, _ = read(TOSS.replace(was, now, 1)).hands
    assert isinstance(first, Skipped)
    assert why in first.reason


def test_a_log_in_which_nobody_sees_a_flop_is_known_by_its_three_cards(tmp_path: Path) -> None:
    start, _, _ = TOSS.partition("a calls\n")
    text = f"{start}a folds\na awarded -1\nb awarded 1\n\nFinal, b (1), a (-1)"
    file = tmp_path / "log.txt"
    file.write_text(text)
    source = read(file.read_bytes())
    assert "T1" == source.dialect
    assert text == write(_records(text), source.note)
