"""What a PokerStars text says twice: one of the two changed or dropped, and the hand never agrees.

Each line is dropped, each number, card and name of it changed, one at a time. Where the rules still
agree, the record must be the very same; what else may change is said once in the text, so that
nothing there can contradict it.
"""

import re
from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from engine.verdict import judge
from events.types import Events
from formats.hand_records import hand_record
from formats.pokerstars.read import read
from formats.source import Refused, Skipped, SourceHand

SHOWDOWN = """\
PokerStars Hand #71:  Hold'em No Limit ($0.50/$1.00 USD) - 2012/03/04 5:06:07 ET
Table 'Nix III' 6-max Seat #1 is the button
Seat 1: wren ($100 in chips)
Seat 2: kite ($99.50 in chips)
Seat 4: lark ($1,040 in chips)
Seat 5: rook ($20 in chips) is sitting out
Seat 6: teal ($50 in chips)
kite: posts small blind $0.50
lark: posts big blind $1
*** HOLE CARDS ***
Dealt to wren [Ah Kd]
teal: folds
wren: raises $2 to $3
kite: folds
lark: calls $2
*** FLOP *** [2c 7d Jh]
lark: checks
wren: bets $4.50
lark: calls $4.50
*** TURN *** [2c 7d Jh] [Qs]
lark: checks
wren: checks
*** RIVER *** [2c 7d Jh Qs] [3s]
lark: checks
wren: checks
*** SHOW DOWN ***
lark: shows [Th 9h] (high card Queen)
wren: shows [Ah Kd] (high card Ace)
wren collected $14.72 from pot
*** SUMMARY ***
Total pot $15.50 | Rake $0.78
Board [2c 7d Jh Qs 3s]
Seat 1: wren (button) showed [Ah Kd] and won ($14.72) with high card Ace
Seat 2: kite (small blind) folded before Flop
Seat 4: lark (big blind) showed [Th 9h] and lost with high card Queen
Seat 6: teal folded before Flop (didn't bet)
"""

ALL_IN = """\
PokerStars Hand #72: Tournament #9, $1.00+$0.10 USD Hold'em No Limit - Level IV (1500/3000) - 2012
Table '9 1' 9-max Seat #3 is the button
Seat 1: ada (30000 in chips)
Seat 3: bo (29000 in chips)
Seat 6: cy (9000 in chips)
ada: posts the ante 200
bo: posts the ante 200
cy: posts the ante 200
cy: posts small blind 1500
ada: posts big blind 3000
*** HOLE CARDS ***
Dealt to bo [Ah Kd]
bo: raises 3000 to 6000
cy: raises 2800 to 8800 and is all-in
ada: calls 5800
bo: calls 2800
*** FLOP *** [2c 7d Jh]
ada: bets 6000
bo: calls 6000
*** TURN *** [2c 7d Jh] [Qs]
ada: bets 9000
bo: folds
Uncalled bet (9000) returned to ada
*** RIVER *** [2c 7d Jh Qs] [3s]
*** SHOW DOWN ***
ada: shows [Jc Js] (three of a kind, Jacks)
ada collected 12000 from side pot
cy: mucks hand
ada collected 27000 from main pot
*** SUMMARY ***
Total pot 39000 Main pot 27000. Side pot 12000. | Rake 0
Board [2c 7d Jh Qs 3s]
Seat 1: ada (big blind) showed [Jc Js] and won (39000) with three of a kind, Jacks
Seat 3: bo (button) folded on the Turn
Seat 6: cy (small blind) mucked [4h 9h]
"""

WALK = """\
PokerStars Game #73: Hold'em Limit ($1/$2 USD) - 2005/08/15 - 14:27:10 (ET)
Table 'Old' Seat #6 is the button
Seat 6: eve ($40 in chips)
Seat 7: fay ($24.75 in chips)
Seat 8: gil ($30 in chips)
fay: posts small blind $0.50
gil: posts big blind $1
*** HOLE CARDS ***
eve: calls $1
fay: folds
gil: checks
*** FLOP *** [2c 7d Jh]
gil: bets $1
eve: folds
Uncalled bet ($1) returned to gil
gil collected $2.40 from pot
gil: doesn't show hand
*** SUMMARY ***
Total pot $2.50 | Rake $0.10
Board [2c 7d Jh]
Seat 6: eve (button) folded on the Flop
Seat 7: fay (small blind) folded before Flop
Seat 8: gil (big blind) collected ($2.40)
"""

DEAD = """\
PokerStars Hand #74: Hold'em No Limit ($1/$2 USD) - 2012/03/04 5:06:07 ET
Table 'Dead' 6-max Seat #1 is the button
Seat 1: ann ($100 in chips)
Seat 2: bob ($100 in chips)
Seat 3: col ($100 in chips)
Seat 4: dee ($100 in chips)
Seat 5: eli ($100 in chips)
bob: posts small blind $1
col: posts big blind $2
dee: posts small & big blinds $3
eli: posts small blind $1
*** HOLE CARDS ***
dee: checks
eli: folds
ann: folds
bob: folds
col: checks
*** FLOP *** [2c 7d Jh]
col: bets $4
dee: folds
Uncalled bet ($4) returned to col
col collected $6.65 from pot
*** SUMMARY ***
Total pot $7 | Rake $0.35
Board [2c 7d Jh]
Seat 1: ann (button) folded before Flop (didn't bet)
Seat 2: bob (small blind) folded before Flop
Seat 3: col (big blind) collected ($6.65)
Seat 4: dee folded on the Flop
Seat 5: eli folded before Flop
"""
HANDS = {"showdown": SHOWDOWN, "all-in": ALL_IN, "walk": WALK, "dead": DEAD}

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_CARD = re.compile(r"\b[2-9TJQKA][cdhs]\b")
_OTHERS = ("6s", "8d", "5c")  # in none of these hands


def _record(text: str) -> tuple[str, Events]:
    """The verdict over a text of one hand, and its record; of one that is none, what it is."""
    try:
        hand, *more = read(text).hands
    except Refused:
        return "refused", ()
    if isinstance(hand, Skipped) or more:  # a doubled header begins another hand, cut off at once
        return "left out", ()
    assert isinstance(hand, SourceHand)
    try:
        record = hand_record(replace(hand, played=""), "h/1")  # its date is said once
    except ValueError:
        return "left out", ()
    return judge(hand.game, record).verdict, record


def _changed(text: str) -> Iterator[tuple[str, str, str]]:
    """The kind of change, the line that it is of, and the changed text."""
    lines = text.splitlines()
    names = re.findall(r"^Seat \d+: (\w+) \(", text, re.MULTILINE)
    for at, line in enumerate(lines):
        yield "dropped", line, "\n".join(lines[:at] + lines[at + 1 :])
        yield "doubled", line, "\n".join([*lines[: at + 1], *lines[at:]])
        for kind, other in _lines(line, names):
            yield kind, line, "\n".join([*lines[:at], other, *lines[at + 1 :]])


def _lines(line: str, names: list[str]) -> Iterator[tuple[str, str]]:
    for found in _NUMBER.finditer(line):
        for more in (1, -1, 10):
            number = found[0]
            new = f"{float(number) + more:.2f}" if "." in number else str(int(number) + more)
            if not new.startswith("-"):
                yield "number", line[: found.start()] + new + line[found.end() :]
    for found in _CARD.finditer(line):
        for card in _OTHERS[:2]:
            yield "card", line[: found.start()] + card + line[found.end() :]
    for found in re.finditer("|".join(names), line):
        for name in {*names, "nobody"} - {found[0]}:
            yield "name", line[: found.start()] + name + line[found.end() :]
    for word, other in WORDS:
        if word in line:
            yield "word", line.replace(word, other)


WORDS = (
    ("folds", "checks"),
    ("checks", "folds"),
    ("calls", "bets"),
    ("bets", "calls"),
    (" and is all-in", ""),
    ("mucks hand", "doesn't show hand"),
    ("(didn't bet)", ""),
    ("before Flop", "on the Flop"),
    ("on the Flop", "on the Turn"),
    ("on the Turn", "on the River"),
    ("(small blind)", "(big blind)"),
    ("(button)", ""),
    ("showed", "mucked"),
    ("mucked", "showed"),
    ("won", "lost"),
    ("lost", "won ($1)"),
    ("main pot", "side pot"),
    ("side pot", "main pot"),
    ("No Limit", "Pot Limit"),
    ("Limit (", "No Limit ("),
)

# What the text says once, so that nothing in it can speak against another value: lines of these
# kinds, changed in these ways, and why.
ONCE = (
    (r"Seat \d+: \w+ \(.* in chips\)", {"number"}, "a stack that is never all in"),
    (r"Dealt to bo", {"card", "dropped"}, "cards of his own that their owner folded"),
    (r"Seat 6: cy .* mucked", {"card", "number"}, "thrown away: only the summary names them"),
    (r"PokerStars (Hand|Game) .*Hold'em", {"word"}, "no bet is larger than the pot allows"),
    (r"PokerStars Game #73", {"number"}, "a big bet, in a hand that ends on the flop"),
)


@pytest.mark.parametrize("name", HANDS)
def test_the_hands_agree_as_they_are(name: str) -> None:
    assert _record(HANDS[name])[0] == ("agree" if name == "all-in" else "assuming")


@pytest.mark.parametrize("name", HANDS)
def test_what_is_changed_in_one_place_only_never_agrees(name: str) -> None:
    _, record = _record(HANDS[name])
    left = []
    for kind, line, text in _changed(HANDS[name]):
        verdict, other = _record(text)
        once = any(kind in kinds and re.match(what, line) for what, kinds, _ in ONCE)
        if verdict not in ("left out", "refused", "differ") and other != record and not once:
            left.append((kind, line, verdict))
    assert left == []


def test_each_line_that_is_said_once_is_one_of_the_hands() -> None:
    lines = [line for text in HANDS.values() for line in text.splitlines()]
    for what, _, why in ONCE:
        assert any(re.match(what, line) for line in lines), why


def _reason(text: str) -> str:
    (hand,) = read(text).hands
    assert isinstance(hand, Skipped)
    return hand.reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            SHOWDOWN.replace("teal: folds\n", ""),
            "teal folds before the flop in the summary and does not fold before it",
        ),
        (
            SHOWDOWN.replace("Seat 2: kite (small blind) folded before Flop\n", ""),
            "kite plays, and the summary does not tell how he ended",
        ),
        (
            SHOWDOWN.replace("and won ($14.72)", "and won ($14.62)"),
            "wren collected 14.72, and 14.62 at the end",
        ),
        (
            SHOWDOWN.replace("before Flop (didn't bet)", "before Flop"),
            "the summary says that teal bet, the lines of play do not",
        ),
        (
            SHOWDOWN.replace("lark: shows [Th 9h] (high card Queen)\n", ""),
            "the summary says that lark showed, and no line does",
        ),
        (SHOWDOWN.replace("Seat 1: wren (button)", "Seat 1: wren"), "do not give wren the button"),
        (SHOWDOWN.replace("(small blind) folded", "(big blind) folded"), "have another big blind"),
        (
            SHOWDOWN.replace("Seat 6: teal folded", "Seat 7: teal folded"),
            'the summary has a seat that the hand does not have: "Seat 7: teal folded',
        ),
        (
            SHOWDOWN.replace("teal folded before", "teal flew before"),
            'a line of the summary that cannot be read: "Seat 6: teal flew before',
        ),
        (ALL_IN.replace("cy: mucks hand\n", ""), "says that cy mucked, and no line does"),
        (ALL_IN.replace("cy (9000", "cy (9001"), "cy is said to be all-in with 1 left"),
        (
            ALL_IN.replace("posts big blind 3000", "posts big blind 3001"),
            "a big blind of 3001 is posted where the stakes make it 3000",
        ),
        (
            ALL_IN.replace("12000 from side pot", "12000 from main pot"),
            "the summary tells of other pots than were collected",
        ),
    ],
)
def test_a_contradiction_is_told_by_both_of_its_sides(text: str, reason: str) -> None:
    assert reason in _reason(text)


def test_a_program_that_tells_only_of_the_showdown_is_asked_for_no_more() -> None:
    """Seats that folded have no line, who showed no line before, nor who lost the word how."""
    text = re.sub(r"Seat \d: \w+ .*folded.*\n", "", SHOWDOWN)
    text = text.replace("lark: shows [Th 9h] (high card Queen)\n", "")
    text = text.replace("and lost with high card Queen", "and lost")
    text = text.replace("wren (button) showed", "wren showed").replace("lark (big blind)", "lark")
    assert _record(text)[0] == "assuming"  # that the rake is 5 %
