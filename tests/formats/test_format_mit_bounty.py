"""Gamelogs of 2025: bounties that stay for 25 hands, hits, stacks, standings, and a footer."""

import pytest
from msgspec.structs import replace

from engine.audit import audit
from events.evolve import replay
from formats.hand_records import hand_record
from formats.mit.read import read
from formats.mit.write import write
from formats.source import HasBounty, Item, Refused, Skipped, SourceHand

BOUNTY = """\
6.9630 MIT Pokerbots - a vs b

Round #1, a (0), b (0)
Bounties reset to T for player a and K for player b
a posts the blind of 1
b posts the blind of 2
a dealt [As Ah]
b dealt [Ks Kh]
a raises to 7
b calls
Flop [2c 3c Th], a (7), b (7)
Current stacks: 393, 393
b checks
a checks
Turn [2c 3c Th 8s], a (7), b (7)
Current stacks: 393, 393
b checks
a checks
River [2c 3c Th 8s 9h], a (7), b (7)
Current stacks: 393, 393
b checks
a bets 6
b calls
a shows [As Ah]
b shows [Ks Kh]
a awarded 29
b awarded -29
a hits their bounty
b hits their bounty
Winning counts at the end of the round: , a (29), b (-29)

Round #2, b (-29), a (29)
b posts the blind of 1
a posts the blind of 2
b dealt [4s 6d]
a dealt [Td 7c]
b attempted illegal CheckAction
b folds
b awarded -12
a awarded 12
a hits their bounty
Winning counts at the end of the round: , b (-41), a (41)

Final, a (41), b (-41)
a preflop bets EV: 14
a flop bets EV: 0
a turn bets EV: 1
b preflop bets EV: -14
b flop bets EV: 0
b turn bets EV: 6"""


def _without_footer(text: str) -> str:
    return text[: text.index("\na preflop bets EV")]


def test_a_log_is_read_and_written_to_the_byte_in_each_dialect() -> None:
    """Until 30 January it had no footer, until the 27th it did not say who hit."""
    ended = _without_footer(BOUNTY)
    unhit = "".join(line for line in ended.splitlines(keepends=True) if "hits" not in line)
    for text, dialect in ((BOUNTY, "B3"), (ended, "B2"), (unhit, "B1")):
        source = read(text)
        hands = [hand for hand in source.hands if isinstance(hand, SourceHand)]
        assert (dialect, {"bounty-2025-mit"}) == (source.dialect, {it.game.name for it in hands})
        records = [hand_record(hand, f"m/{hand.number}") for hand in hands]
        assert [None, None] == [audit(hands[0].game, record) for record in records]
        assert [(429, 371), (412, 388)] == [replay(record).stacks for record in records]
        assert text == write(records, source.note)
        assert text == write(records, None, dialect)


WRONG = {
    ("a hits their bounty\nb hits", "b hits"): "other bounties are hit than the cards hit",
    ("stacks: 393, 393", "stacks: 393, 394"): "stacks that do not fit what was put in",
    ("b (-29)\n\n", "b (-28)\n\n"): "other winning counts are told than the awards come to",
    ("Bounties reset to T for player a and K for player b\n", ""): "no line before it tells the "
    "bounties",
}


@pytest.mark.parametrize(("line", "instead"), WRONG)
def test_a_hand_whose_lines_contradict_each_other_is_left_out(line: str, instead: str) -> None:
    (first, *_) = read(BOUNTY.replace(line, instead, 1)).hands
    assert isinstance(first, Skipped)
    assert f"round #1: {WRONG[line, instead]}" == first.reason


REFUSED = {
    ("player a and K for player b", "player b and K for player a"): "the dealer's bounty is named",
    ("a (29), b (-29)\n\nR", "b (-29), a (29)\n\nR"): "the dealer's count is named first here",
    ("b (-29)\n\nRound #2", "b (-29)\nb checks\n\nRound #2"): "nothing comes after the winning",
    ("b calls\nFlop", "b calls\nRun"): "a run comes after the river",
}


@pytest.mark.parametrize(("line", "instead"), REFUSED)
def test_a_damaged_log_is_refused(line: str, instead: str) -> None:
    with pytest.raises(Refused, match=REFUSED[line, instead]):
        read(BOUNTY.replace(line, instead, 1))


def test_a_bid_in_a_log_of_2025_is_two_logs() -> None:
    flop = "Current stacks: 393, 393\nb checks\na checks\nTurn"
    with pytest.raises(Refused, match="auctions and bounties in one log"):
        read(BOUNTY.replace(flop, f"b bids 0\na bids 0\n{flop}"))


def test_bounties_that_change_between_are_told_where_they_do() -> None:
    """A mirrored match deals each deck again with the seats exchanged: no engine logged one."""
    hands = [hand for hand in read(BOUNTY).hands if isinstance(hand, SourceHand)]
    other = replace(hands[1], items=(*map(_exchanged, hands[1].items),))
    text = write([hand_record(hands[0], "m/1"), hand_record(replace(other, nets=None), "m/2")])
    assert "Round #2, b (-29), a (29)\nBounties reset to T for player b and K for player a" in text


def _exchanged(item: Item) -> Item:
    return replace(item, seat=1 - item.seat) if isinstance(item, HasBounty) else item
