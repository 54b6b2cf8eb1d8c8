"""Winamax text becomes told hands: words without a colon, signs behind amounts, and refusals."""

from pathlib import Path

import pytest

from engine.turn import Post
from formats.registry import FORMATS, SITES, format_of
from formats.source import AS_READ, Act, Board, Holds, Paid, Refused, Shows, SourceHand
from tests.formats.site_hands import changed_and_agreed, dropped_and_agreed, one, reason, verdict

CASH = """\
Winamax Poker - CashGame - HandId: #700-12-1 - Holdem no limit (0.50€/1€) - 2017/07/14 02:40:00 UTC
Table: 'Rook 03' 5-max (real money) Seat #4 is the button
Seat 1: wren (100€)
Seat 3: kite 5€ (99.50€)
Seat 4: rook (1040€)
*** ANTE/BLINDS ***
wren posts small blind 0.50€
kite 5€ posts big blind 1€
Dealt to rook [Ah Kd]
*** PRE-FLOP ***
rook raises 2.50€ to 3.50€
wren folds
kite 5€ calls 2.50€
*** FLOP *** [2c 7d Jh]
kite 5€ checks
rook bets 4.50€
kite 5€ calls 4.50€
*** TURN *** [2c 7d Jh][Qs]
kite 5€ checks
rook checks
*** RIVER *** [2c 7d Jh Qs][3s]
kite 5€ bets 10€
rook raises 20€ to 30€
kite 5€ folds
rook collected 34.68€ from pot
*** SUMMARY ***
Total pot 34.68€ | Rake 1.82€
Board: [2c 7d Jh Qs 3s]
Seat 4: rook (button) won 34.68€
"""

TOURNAMENT = """\
Winamax Poker - Tournament "Freezer (1)" buyIn: 4.50€ + 0.50€ level: 6 - \
HandId: #88-7-1 - Holdem no limit (5/10/20) - 2017/07/14 02:40:00 UTC
Table: 'Freezer (1)(88)#001' 6-max (real money) Seat #3 is the button
Seat 1: ada (300, 0.50€ bounty)
Seat 2: bo (120, 1€ bounty)
Seat 3: cy (500)
*** ANTE/BLINDS ***
ada posts ante 5
bo posts ante 5
cy posts ante 5
ada posts small blind 10
bo posts big blind 20
*** PRE-FLOP ***
cy raises 475 to 495 and is all-in
ada calls 285 and is all-in
bo calls 95 and is all-in
*** FLOP *** [2c 7d Jh]
*** TURN *** [2c 7d Jh][Qs]
*** RIVER *** [2c 7d Jh Qs][3s]
*** SHOW DOWN ***
cy shows [As Ad] (One pair : Aces)
ada shows [Qc Qd] (Trips of Queens)
bo shows [5c 4c] (High card : Queen)
ada collected 360 from main pot
ada collected 360 from side pot 1
*** SUMMARY ***
Total pot 720 | No rake
Board: [2c 7d Jh Qs 3s]
Seat 1: ada (small blind) showed [Qc Qd] and won 720 with Trips of Queens
Seat 2: bo (big blind) showed [5c 4c] and lost with High card : Queen
Seat 3: cy (button) showed [As Ad] and lost with One pair : Aces
"""


(WINAMAX,) = (site for site in SITES if site.name == "winamax")
read = WINAMAX.read


def test_a_cash_hand_is_told_in_euro_cents() -> None:
    hand = one(read, CASH)
    assert "700-12-1" == hand.source_id
    assert ("wren", "kite 5€", "rook") == hand.players
    assert (10000, 9950, 104000) == hand.stacks
    assert ("euro cent", 2) == (hand.game.unit, hand.button)
    assert (Paid(2, 3468),) == hand.paid
    assert 182 == hand.rake
    assert Act(2, "raise", to=3000) in hand.items
    assert "assuming" == verdict(hand)


def test_a_tournament_has_antes_bounties_and_side_pots() -> None:
    hand = one(read, TOURNAMENT)
    assert ("chip", (300, 120, 500)) == (hand.game.unit, hand.stacks)
    assert (Paid(0, 360, 0), Paid(0, 360, 1)) == hand.paid
    assert Holds(1, ("5c", "4c")) in hand.items
    assert [("2c", "7d", "Jh"), ("Qs",), ("3s",)] == [
        item.cards for item in hand.items if isinstance(item, Board)
    ]
    assert [2, 0, 1] == [item.seat for item in hand.items if isinstance(item, Shows)]
    assert "agree" == verdict(hand)


@pytest.mark.parametrize(
    ("said", "won", "rake", "post"),
    [
        ("big blind 1€", "34.68", "1.82", Post(2)),
        ("small blind 0.50€", "35.15", "1.85", Post(2, "dead", 50)),
    ],
)
def test_who_posts_out_of_position(said: str, won: str, rake: str, post: Post) -> None:
    """He owes a big blind, or pays a dead small one."""
    late = f"kite 5€ posts big blind 1€\nrook posts {said} out of position\n"
    text = CASH.replace("kite 5€ posts big blind 1€\n", late)
    hand = one(read, text.replace("34.68", won).replace("1.82", rake))
    assert (post,) == hand.posts
    assert "assuming" == verdict(hand)


def test_a_large_pot_is_told_in_thousands() -> None:
    text = TOURNAMENT.replace("Total pot 720 ", "Total pot 0.7k ")
    assert one(read, TOURNAMENT).items == one(read, text).items


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_a_file_is_known_in_any_encoding(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes((CASH + "\n" + TOURNAMENT).replace("\n", "\r\n").encode(encoding))
    assert FORMATS["winamax"] is format_of(path)
    hands = list(FORMATS["winamax"].read(path, AS_READ).hands)
    assert [1, 31] == [hand.line for hand in hands if isinstance(hand, SourceHand)]


@pytest.mark.parametrize(
    ("was", "now", "why"),
    [
        ("Holdem no limit", "Omaha pot limit", "Omaha pot limit is not hold'em of a kind"),
        ("Holdem no limit", "7-Card Stud fixed limit", "7-Card Stud fixed limit is not hold'em"),
        (" Seat #4 is the button", "", "no line says which seat has the button"),
        ("*** SUMMARY ***", "", "the hand stops before its summary"),
        ("(0.50€/1€)", "(0.50€/1inf)", "1inf is no amount"),
        ("(0.50€/1€)", "(1€)", "1€ are no stakes of hold'em"),
        ("wren folds", "wren hesitates", 'a line that cannot be read: "wren hesitates"'),
        ("wren folds", "wrenn folds", 'a line that cannot be read: "wrenn folds"'),
        ("[Qs]\n", "[Qs Qd]\n", "the turn has 2 cards"),
        ("*** TURN ***", "*** RIVER ***", "the river is dealt where it cannot be"),
        ("*** TURN ***", "*** FIRST TURN ***", "a part of the hand that hold'em does not have"),
        ("Board: [2c", "Board: [2d", "the summary has another board than the hand"),
        ("won 34.68€", "won 35.68€", "rook collects 3468, and 3568 in the summary"),
        ("Seat 4: rook (button)", "Seat 1: rook (button)", "rook has another seat in the summary"),
        ("Board:", "Seat 1: wren folded on the flop\nBoard:", "hand and summary do not say alike"),
        ("Total pot 34.68€", "Total pot 35.68€", "3468 is collected of a pot of 3568"),
        ("Seat 4: rook (10", "Seat 4: wren (10", "two players of one name sit at the table"),
        ("Seat 4: rook (10", "Seat 3: rook (10", "two players sit in one seat"),
    ],
)
def test_what_is_refused_says_why(was: str, now: str, why: str) -> None:
    assert reason(read, CASH.replace(was, now)).startswith(why)


def test_a_text_without_a_hand_is_refused() -> None:
    with pytest.raises(Refused, match="no hand of Winamax begins in this text"):
        read("Winamax Poker - Tournament summary : Freezer(88)\n")


def test_no_other_number_agrees() -> None:
    """But of stacks that nobody bet up to, and of what only names the hand, its table or date."""
    header, table, *seats = CASH.splitlines()[:5]
    assert [header, table, *seats] == changed_and_agreed(read, CASH)
    header, table = TOURNAMENT.splitlines()[:2]
    assert [header, table] == changed_and_agreed(read, TOURNAMENT)[:2]


def test_no_line_is_missed() -> None:
    """But one that says again what other lines say, or only begins a part of the hand."""
    assert [
        "*** ANTE/BLINDS ***",
        "Dealt to rook [Ah Kd]",
        "*** PRE-FLOP ***",
        "Board: [2c 7d Jh Qs 3s]",
        "Seat 4: rook (button) won 34.68€",
    ] == dropped_and_agreed(read, CASH)
