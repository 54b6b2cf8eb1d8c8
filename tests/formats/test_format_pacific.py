"""888poker text becomes told hands: chips that are added, no pot, no rake, and refusals."""

from pathlib import Path

import pytest

from engine.turn import Post
from formats import registry
from formats.registry import FORMATS, SITES, format_of
from formats.source import AS_READ, Act, Holds, ImportRules, Mucks, Paid, Refused, Shows, SourceHand
from tests.formats.site_hands import changed_and_agreed, dropped_and_agreed, one, reason, verdict

CASH = """\
#Game No : 835
***** 888poker Hand History for Game 835 *****
$0.50/$1 Blinds No Limit Holdem - *** 27 10 2016 18:03:49
Table Rook 6 Max (Real Money)
Seat 1 is the button
Total number of players : 4
Seat 1: wren ( $100 )
Seat 2: kite [1] ( $99.50 )
Seat 4: rook ( $1,040 )
Seat 9: idle ( $20 )
kite [1] posts small blind [$0.50]
rook posts big blind [$1]
idle folds
** Dealing down cards **
Dealt to wren [ Ah, Kd ]
wren raises [$3]
kite [1] raises [$8.50]
rook folds
wren calls [$6]
** Dealing flop ** [ 2c, 7d, Jh ]
kite [1] checks
wren bets [$10.25]
kite [1] calls [$10.25]
** Dealing turn ** [ Qs ]
kite [1] checks
wren did not respond in time
wren checks
** Dealing river ** [ 3s ]
kite [1] checks
wren checks
** Summary **
kite [1] shows [ Th, 9h ]
wren shows [ Ah, Kd ]
wren collected [ $37.52 ]
"""

TOURNAMENT = """\
***** Cassava Hand History for Game 12 *****
$10/$20 Blinds No Limit Holdem - *** 27 10 2016 18:03:49
Tournament #894 $0.45 + $0.05 - Table #3 9 Max (Real Money)
Seat 3 is the button
Total number of players : 3
Seat 1: ada ( $300 )
Seat 2: bo ( $120 )
Seat 3: cy ( $500 )
ada posts ante [$5]
bo posts ante [$5]
cy posts ante [$5]
ada posts small blind [$10]
bo posts big blind [$20]
** Dealing down cards **
cy raises [$495]
ada calls [$285]
bo calls [$95]
** Dealing flop ** [ 2c, 7d, Jh ]
** Dealing turn ** [ Qs ]
** Dealing river ** [ 3s ]
** Summary **
cy shows [ As, Ad ]
ada shows [ Qc, Qd ]
bo mucks [ 5c, 4c ]
ada collected [ $360 ]
ada collected [ $360 ]
"""

WALK = """\
***** 888.ro Hand History for Game 13 *****
0,50 $/1 $ Blinds Fix Limit Holdem - *** 27 10 2016 18:03:49
Table Low 10 Max (Real Money)
Seat 1 is the button
Total number of players : 2
Seat 1: ann ( 12,50 $ )
Seat 7: bob ( 1 012,50 $ )
ann posts small blind [0,50 $]
bob posts big blind [1 $]
** Dealing down cards **
ann folds
** Summary **
bob did not show his hand
bob collected [ 1,50 $ ]
"""

(PACIFIC,) = (site for site in SITES if site.name == "pacific")
read = PACIFIC.read


def test_a_cash_hand_is_told_in_cents() -> None:
    hand = one(read, CASH)
    assert "835" == hand.source_id
    assert ("wren", "kite [1]", "rook") == hand.players, "idle would not post"
    assert (10000, 9950, 104000) == hand.stacks
    assert ("cent", 0) == (hand.game.unit, hand.button)
    assert (Holds(0, ("Ah", "Kd")), Holds(1, ("Th", "9h"))) == hand.items[:2]
    assert Act(1, "raise", to=900) in hand.items, "8.50 more than the blind of 0.50"
    assert (Shows(1, ("Th", "9h")), Shows(0, ("Ah", "Kd"))) == hand.items[-2:]


def test_what_was_not_paid_is_the_rake_and_assumed() -> None:
    hand = one(read, CASH)
    assert ((Paid(0, 3752),), 198) == (hand.paid, hand.rake)
    assert ("rake 5 %",) == hand.assumed


def test_a_pot_that_no_usual_rate_explains_is_not_judged() -> None:
    hand = one(read, CASH.replace("$37.52", "$31"))
    assert ("shortfall 850 of 3950",) == hand.assumed
    assert "unknown" == verdict(hand)


def test_a_rake_that_is_known_decides(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text(CASH)
    said = {}
    for percent in ("5", "4"):
        rules = ImportRules(settings=(("rake_percent", percent),))
        (hand,) = registry.read(path, FORMATS["pacific"], rules).hands
        assert isinstance(hand, SourceHand)
        said[percent] = verdict(hand)
    assert {"5": "assuming", "4": "differ"} == said


def test_tournament_chips_have_the_sign_of_money() -> None:
    hand = one(read, TOURNAMENT)
    assert ("chip", (300, 120, 500)) == (hand.game.unit, hand.stacks)
    assert Mucks(1) in hand.items
    assert "agree" == verdict(hand)


def test_who_is_left_in_his_blind_wins_what_nobody_called() -> None:
    hand = one(read, WALK)
    assert ("pacific-fl", (1250, 101250)) == (hand.game.name, hand.stacks)
    assert (-50, 50) == hand.nets
    assert "agree" == verdict(hand)


def test_a_dead_blind_is_posted_with_a_live_one() -> None:
    late = "rook posts big blind [$1]\nwren posts dead blind [$0.50 + $1]"
    text = CASH.replace("rook posts big blind [$1]", late)
    text = text.replace("wren raises [$3]", "wren raises [$2]").replace("37.52", "38")
    hand = one(read, text)
    assert (Post(0), Post(0, "dead", 50)) == hand.posts
    assert "assuming" == verdict(hand)
    alone = text.replace("+ $1]", "+ $0]").replace("wren raises [$2]", "wren raises [$3]")
    assert (Post(0, "dead", 50),) == one(read, alone).posts


def test_play_money_is_chips() -> None:
    for said in ("Practice Play", "Play Money"):
        assert "hundredth of a chip" == one(read, CASH.replace("Real Money", said)).game.unit


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_a_file_is_known_in_any_encoding(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(f"{CASH}\n\n{TOURNAMENT}\n{WALK}".replace("\n", "\r\n").encode(encoding))
    assert FORMATS["pacific"] is format_of(path)
    hands = list(FORMATS["pacific"].read(path, AS_READ).hands)
    assert ["835", "12", "13"] == [hand.source_id for hand in hands if isinstance(hand, SourceHand)]


@pytest.mark.parametrize(
    ("was", "now", "why"),
    [
        ("No Limit Holdem", "Pot Limit OmahaHL", "Pot Limit OmahaHL is not hold'em of a kind"),
        ("Seat 1 is the button\n", "", "no line says which seat has the button"),
        ("players : 4", "players : 5", "5 players are said to be there, and 4 have a seat"),
        ("** Summary **\n", "", "the hand stops before its summary"),
        ("Ah, Kd", "Ap, Kd", "cards are named in another language than English: Ap Kd"),
        ("rook folds", "rook hesitates", 'a line that cannot be read: "rook hesitates"'),
        ("rook folds", "crow folds", 'a line that cannot be read: "crow folds"'),
        ("[ Qs ]", "[ Qs, Qd ]", "the turn has 2 cards"),
        ("Dealing turn", "Dealing river", "the river is dealt where it cannot be"),
        ("Dealing turn", "Second turn", "a part of the hand that hold'em does not have"),
        ("wren collected [ $37.52 ]\n", "", "nobody is said to have won anything"),
        ("$37.52", "$137.52", "13752 is collected of a pot of 3950"),
        ("[$3]", "[3\u00c2023]", "3\u00c2023 is no amount"),
        ("wren raises [$3]", "wren raises [.3]", ".3 is no amount"),
        ("Seat 4: rook", "Seat 4: wren", "two players of one name sit at the table"),
        ("Seat 4: rook", "Seat 2: rook", "two players sit in one seat"),
        ("[$0.50]", "[$0.25]", "a small blind of 25 is posted, and 50 is named"),
    ],
)
def test_what_is_refused_says_why(was: str, now: str, why: str) -> None:
    assert reason(read, CASH.replace(was, now)).startswith(why)


def test_a_text_without_a_hand_is_refused() -> None:
    with pytest.raises(Refused, match="no hand of 888poker begins in this text"):
        read("***** Hand History for Game 12 *****\n")


def test_no_other_number_agrees() -> None:
    """But of stacks that nobody bet up to, of what only names the hand, its table or date, and of a
    rake that another usual rate would explain: a single hand assumes it."""
    lines = CASH.splitlines()
    names = [lines[at] for at in (0, 1, 2, 3, 6, 7, 8, 9)]
    assert [*names, "wren collected [ $37.52 ]"] == changed_and_agreed(read, CASH)
    lines = WALK.splitlines()
    assert [*lines[:4], *lines[5:7]] == changed_and_agreed(read, WALK)


def test_no_line_is_missed() -> None:
    """But one that says again what other lines say, or only begins a part of the hand."""
    lines = CASH.splitlines()
    missed = [lines[0], lines[5], "idle folds", "** Dealing down cards **"]
    missed += ["Dealt to wren [ Ah, Kd ]", "wren did not respond in time"]
    missed += ["wren shows [ Ah, Kd ]"]  # who wins shows what he is known to hold
    assert missed == dropped_and_agreed(read, CASH)
