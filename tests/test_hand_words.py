"""The hands of a list in the words of players: every kind of action, and every game."""

import re

import pytest

from api.pages.hand_line import parse_line
from api.questions.one_line import events_line
from engine.game import Game
from events.views import Auditor, see
from tests.hands import seeded, some_games

_SHORT = re.compile(r"[FXCBRTsbpda]\d*[~!]*|st\d+|\[.*|.*>.*")
TABLE = "ann 400 BTN 5d6h, bob 400"


def said(line: str) -> list[str]:
    """Each street as plain text."""
    return [
        " ".join(piece.before + " ".join(piece.cards) + piece.after for piece in street)
        for street in parse_line(f"{TABLE} | {line}").streets[1:]
    ]


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ("s1 b2 R6 R20 C", "open 6 · 3-bet 20 · call"),
        ("s1 b2 R6 R20 R60 F", "open 6 · 3-bet 20 · 4-bet 60 · fold"),
        ("s1 b2 C R8 C", "limp · raise 8 · call"),
        ("s1 b2 F F C X", "2 folds · limp · check"),
        ("a1x3 s1 b2 st4 p2 d1 X", "ante 1 ×3 · straddle 4 · post 2 · dead post 1 · check"),
        ("s1 b2! R6! C!", "big blind 2 all-in · open 6 all-in · call all-in"),
        ("s1 b2 F~ X~ T", "fold (default) · check (default) · out of time"),
        ("s1 b2 T! C", "out of time all-in · limp"),
        ("a1 a2 B4 R9 C", "ante 1 · ante 2 · bet 4 · raise 9 · call"),
    ],
)
def test_the_opening_is_said_in_words(section: str, words: str) -> None:
    assert [words] == said(f"{section} | ...")[:1]


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ("Jd7c6c 12 X X", "Jd 7c 6c pot 12 · 2 checks"),
        ("8h B9 R30 R90 C", "8h bet 9 · raise 30 · 3-bet 90 · call"),
        ("8h [ann 52>37 +Th] X", "8h ann pays 37 for Th (bids 52, 37) · check"),
        ("8h [ann 52>37 @5 +*] X", "8h ann pays 5 for hidden (bids 52, 37) · check"),
        ("8h [ann=bob 4=4 +Th +4d] X", "8h ann and bob each pay 4 for Th 4d (bids 4, 4) · check"),
        ("8h [nobody 0=0] X", "8h nobody buys a card (bids 0, 0) · check"),
        ("8h [bid 37 *]", "8h bid 37, sealed bid"),
        (
            "8h 12500 [ann 2000>1500 +Th]",
            "8h pot 12\u202f500 · ann pays 1\u202f500 for Th (bids 2\u202f000, 1\u202f500)",
        ),
        ("8h B1000 R30000!", "8h bet 1\u202f000 · raise 30\u202f000 all-in"),
        ("8h [ann 4d>4s, bob +9h] X", "8h ann swaps 4d for 4s · bob gets 9h · check"),
        ("8h7c [bob -9h, ann -2c] X", "8h 7c bob tosses 9h · ann tosses 2c · check"),
    ],
)
def test_a_street_is_said_in_words(section: str, words: str) -> None:
    assert words == said(f"s1 b2 C X | {section} | ...")[1]


def test_streets_after_an_all_in_are_run_out_and_it_is_said_once() -> None:
    streets = said("s1 b2 R400! C! | Jd7c6c 800 | 8h | 4c | ann 5d6h | 800: even")
    assert ["Jd 7c 6c pot 800 · run-out", "8h", "4c"] == streets[1:4]
    assert "run-out" not in said("s1 b2 R400! C | Jd7c6c 800 [ann 5>3 +*] | 8h X")[1]


def test_a_showdown_says_who_shows_mucks_and_announces() -> None:
    shown = said("s1 b2 C X | bob Tc5s, ann says 5d6h7c8c9c, cid mucks | 4: even")[1]
    assert "bob Tc 5s, ann announces 5d 6h 7c 8c 9c, cid mucks" == shown


def test_stacks_and_nets_have_their_thousands_apart_and_names_have_not() -> None:
    line = parse_line('1234 40000 BTN 5d6h, "x, y" 999 | s1 b2 F | 3: 1234 -1500, "x, y" +1500')
    assert ["40\u202f000", "999"] == [seat[1].before for seat in line.seats]
    assert ["1234", "x, y"] == [seat[0].before for seat in line.seats]
    assert ("1234 \N{MINUS SIGN}1\u202f500", "x, y +1\u202f500") == line.outcome
    raked = parse_line("ann 4000, bob 4000 | s1 b2 C X | 7600 rake 400: ann +3600")
    assert (7_600, ("ann +3\u202f600",), 2) == (raked.paid, raked.outcome, len(raked.streets))
    assert ("even",) == parse_line("ann 4, bob 4 | s1 b2 C X | 4: even").outcome


def test_a_name_is_one_name_whatever_signs_it_has() -> None:
    line = (
        r'"a | b" 400 BTN, "x\"] =y" 400 | s1 b2 C X | 8h ["a | b"="x\"] =y" 4=4 +Th +4d] X | ...'
    )
    streets = parse_line(line).streets
    assert [["a | b", "400", "BTN"], ['x"] =y', "400"]] == [
        [piece.before for piece in seat] for seat in parse_line(line).seats
    ]
    assert 4 == len(streets)
    assert 'a | b and x"] =y each pay 4' == streets[2][1].before


@some_games
def test_no_sign_of_the_shorthand_is_left_in_any_game(game: Game) -> None:
    for seed in range(12):
        record = seeded(game, str(seed)).record
        for street in parse_line(events_line(list(see(record, Auditor())))).shown_streets:
            for piece in street:
                assert not _SHORT.fullmatch(piece.before), street
