"""Gamelogs of 2023: boards that run on, in two dialects, and logs in which none does."""

import pytest

from engine.audit import audit
from engine.games.pokerbots import RIVER_2023_MIT
from formats.hand_records import hand_record
from formats.mit.read import read
from formats.mit.write import write
from formats.source import ImportRules, Refused, Skipped, SourceHand

RIVER = """\
6.176 MIT Pokerbots - a vs b

Round #1, a (0), b (0)
a posts the blind of 1
b posts the blind of 2
a dealt [As Ah]
b dealt [Ks Kh]
a calls
b checks
Flop [2c 3c 4h], a (2), b (2)
b checks
a checks
Turn [2c 3c 4h 8s], a (2), b (2)
b checks
a checks
River [2c 3c 4h 8s 9h], a (2), b (2)
b checks
a bets 3
b calls
Run [2c 3c 4h 8s 9h Td], a (5), b (5)
b attempted illegal FoldAction
b checks
a bets 6
b calls
Run [2c 3c 4h 8s 9h Td Jc], a (11), b (11)
b checks
a checks
a shows [As Ah]
b shows [Ks Kh]
a awarded 11
b awarded -11
Run reached
a won 6
b won -6

Final, b (-11), a (11)"""


def test_a_run_is_read_and_written_with_what_it_was_worth() -> None:
    """The later engine of 2023 says what was won beyond the river; the earlier does not."""
    without = RIVER.replace("Run reached\na won 6\nb won -6\n", "")
    for text, dialect in ((RIVER, "R2"), (without, "R1")):
        source = read(text)
        (hand,) = source.hands
        assert isinstance(hand, SourceHand)
        assert (dialect, "river-2023-mit") == (source.dialect, hand.game.name)
        record = hand_record(hand, "m/1")
        assert audit(hand.game, record) is None
        assert text == write([record], source.note)
    (wrong,) = read(RIVER.replace("a won 6", "a won 7")).hands
    assert isinstance(wrong, Skipped)
    assert "round #1: another sum is won by the run than the awards come to" == wrong.reason


def test_a_log_of_2023_without_a_run_is_read_where_its_ruleset_is_named() -> None:
    """Half of all rivers are black, so a short log may have none."""
    start, _, rest = RIVER.partition("Run [2c 3c 4h 8s 9h Td]")
    text = (start + rest[rest.index("a shows") :]).replace("8s 9h]", "8s 9s]").replace("11", "5")
    text = text[: text.index("Run reached")] + "\n" + text[text.index("Final") :]
    with pytest.raises(Refused, match="without a run, as --ruleset river-2023-mit says, or Blotto"):
        read(text)
    source = read(text, ImportRules(RIVER_2023_MIT))
    (hand,) = source.hands
    assert isinstance(hand, SourceHand)
    assert "river-2023-mit" == hand.game.name
    assert text == write([hand_record(hand, "m/1")], source.note)


@pytest.mark.parametrize("name", ["bids", "swaps"])
def test_a_run_in_a_log_of_another_year_is_two_logs(name: str) -> None:
    other = {"bids": "b bids 0\na bids 0\n", "swaps": "a's hand: [As Ah]\nb's hand: [Ks Kh]\n"}
    flop = "Flop [2c 3c 4h], a (2), b (2)\n"
    with pytest.raises(Refused, match="two logs are mixed in this file"):
        read(RIVER.replace(flop, flop + other[name]))


def test_a_run_before_the_river_is_no_line_of_any_log() -> None:
    with pytest.raises(Refused, match="a run comes after the river"):
        read(RIVER.replace("Turn [2c 3c 4h 8s]", "Run [2c 3c 4h 8s]"))
