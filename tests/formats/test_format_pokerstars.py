"""PokerStars text becomes told hands: the grammar, on made-up hands."""

import pytest

from engine.turn import Post
from engine.verdict import judge
from events.evolve import replay
from events.types import Folded
from formats.hand_records import hand_record
from formats.pokerstars.read import read
from formats.source import Act, Holds, Mucks, Paid, Refused, Skipped, SourceHand

CASH = """\
PokerStars Hand #7:  Hold'em No Limit ($0.50/$1.00 USD) - 2012/03/04 5:06:07 ET
Table 'Nix III' 6-max Seat #1 is the button
Seat 1: wren ($100 in chips)
Seat 2: kite: folds ($99.50 in chips)
Seat 4: [o_O] $5 ($1,040 in chips)
Seat 5: rook ($20 in chips) is sitting out
kite: folds: posts small blind $0.50
[o_O] $5: posts big blind $1
rook: sits out
*** HOLE CARDS ***
Dealt to wren [Ah Kd]
wren: raises $2 to $3
kite: folds: folds
passer-by said, "wren: folds"
[o_O] $5 has timed out
[o_O] $5: calls $2
*** FLOP *** [2c 7d Jh]
[o_O] $5: checks
wren: bets $4.50
[o_O] $5: calls $4.50
*** TURN *** [2c 7d Jh] [Qs]
[o_O] $5: checks
wren: checks
*** RIVER *** [2c 7d Jh Qs] [3s]
[o_O] $5: checks
wren: checks
*** SHOW DOWN ***
[o_O] $5: shows [Th 9h] (high card Queen)
wren: shows [Ah Kd] (high card Ace)
wren collected $14.72 from pot
*** SUMMARY ***
Total pot $15.50 | Rake $0.78
Board [2c 7d Jh Qs 3s]
Seat 1: wren (button) showed [Ah Kd] and won ($14.72) with high card Ace
"""

TOURNAMENT = """\
PokerStars Hand #8: Tournament #9, $1.00+$0.10 USD Hold'em Limit - Level II (20/40) - 2012/03/04
Table '9 1' 9-max Seat #3 is the button
Seat 1: ada (300 in chips)
Seat 3: bo (290 in chips)
Seat 6: cy (2 in chips) is sitting out
ada: posts the ante 2
bo: posts the ante 2
cy: posts the ante 2 and is all-in
ada: posts big blind 20
*** HOLE CARDS ***
bo: raises 20 to 40
ada: folds
Uncalled bet (20) returned to bo
*** FLOP *** [2c 7d Jh]
*** TURN *** [2c 7d Jh] [Qs]
*** RIVER *** [2c 7d Jh Qs] [3s]
*** SHOW DOWN ***
bo: shows [Ah Kd] (high card Ace)
bo collected 40 from side pot
cy: mucks hand
bo collected 6 from main pot
*** SUMMARY ***
Total pot 46 Main pot 6. Side pot 40. | Rake 0
Seat 6: cy (small blind) mucked [4h 9h]
"""

WALK = """\
PokerStars Game #5: Hold'em Limit ($1/$2 USD) - 2005/08/15 - 14:27:10 (ET)
Table 'Old' Seat #6 is the button
Seat 6: eve ($40 in chips)
Seat 7: fay ($24.75 in chips)
fay: posts small blind $0.50
eve: posts big blind $1
*** HOLE CARDS ***
fay: folds
eve collected $1 from pot
*** SUMMARY ***
Total pot $1 | Rake $0
"""

DEAD = """\
PokerStars Hand #6: Hold'em No Limit ($1/$2 USD) - 2012/03/04 5:06:07 ET
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
"""


def _one(text: str | bytes) -> SourceHand:
    (hand,) = read(text).hands
    assert isinstance(hand, SourceHand), hand
    return hand


def _reason(text: str) -> str:
    (hand,) = read(text).hands
    assert isinstance(hand, Skipped)
    return hand.reason


def _verdict(hand: SourceHand) -> str:
    return judge(hand.game, hand_record(hand, "h/1")).verdict


# The grammar.


def test_names_may_look_like_lines_of_play() -> None:
    hand = _one(CASH)
    assert ("wren", "kite: folds", "[o_O] $5") == hand.players
    assert (10000, 9950, 104000) == hand.stacks
    assert Act(1, "fold") in hand.items


def test_talk_is_no_play() -> None:
    assert 1 == sum(item == Act(0, "raise", to=300) for item in _one(CASH).items)
    assert Act(0, "fold") not in _one(CASH).items


def test_who_is_not_dealt_in_has_no_seat_in_the_hand() -> None:
    assert "rook" not in _one(CASH).players


def test_a_hand_told_in_text_agrees_with_the_rules() -> None:
    hand = _one(CASH)
    assert ("7", 1, 0) == (hand.source_id, hand.number, hand.button)
    assert "assuming" == _verdict(hand)  # that the rake is 5 %


COIN = ("0.50", "0.50", "0.45", "0.45")


def _shared(*cuts: str) -> str:
    """Pot 2.00, rake 0.10, four winners."""
    ends = [f"p{seat} collected ${cut} from pot" for seat, cut in enumerate(cuts)]
    return "\n".join(
        [
            "PokerStars Game #1: Hold'em No Limit ($0.25/$0.50 USD) - 2008/01/07 22:59:37 ET",
            "Table 'J' 9-max Seat #4 is the button",
            *(f"Seat {seat + 1}: p{seat} ($9 in chips)" for seat in range(4)),
            "p0: posts small blind $0.25",
            "p1: posts big blind $0.50",
            *("p2: calls $0.50", "p3: calls $0.50", "p0: calls $0.25", "p1: checks"),
            "*** FLOP *** [2d Ks Ad]",
            *(f"p{seat}: checks" for seat in range(4)),
            "*** TURN *** [2d Ks Ad] [Kd]",
            *(f"p{seat}: checks" for seat in range(4)),
            "*** RIVER *** [2d Ks Ad Kd] [2h]",
            *(f"p{seat}: checks" for seat in range(4)),
            *("p0: shows [Jc 3s]", "p1: shows [Th 9d]", "p2: shows [6s 5c]", "p3: shows [9h 5h]"),
            *ends,
            "*** SUMMARY ***",
            "Total pot $2 | Rake $0.10",
        ]
    )


def test_the_coin_of_a_split_is_inferred() -> None:
    hand = _one(_shared(*COIN))
    assert 5 == hand.game.split_unit
    assert ("rake 5 %", "odd-chips in coins of 5") == hand.assumed
    assert "assuming" == _verdict(hand)


@pytest.mark.parametrize(
    "cuts",
    [
        ("1.90", "0.00", "0.00", "0.00"),  # one of four alike takes all: a coin of 1.90
        ("0.95", "0.95", "0.00", "0.00"),
        ("0.76", "0.38", "0.38", "0.38"),
    ],
)
def test_no_coin_is_made_of_a_share_that_was_moved(cuts: tuple[str, ...]) -> None:
    """A coin is one in which the blinds can be paid: else these agreed, assuming coins of 190."""
    assert "differ" == _verdict(_one(_shared(*cuts)))


def test_a_tournament_counts_chips_and_its_pots_from_the_main_one_outwards() -> None:
    hand = _one(TOURNAMENT)
    assert ("chip", None) == (hand.game.unit, hand.game.rake)
    assert (Paid(1, 40, 1), Paid(1, 6, 0)) == hand.paid
    assert Holds(2, ("4h", "9h")) in hand.items
    assert Mucks(2) in hand.items
    assert not hand.dead_small


def test_the_blinds_of_a_fixed_limit_are_half_the_small_bet_and_the_small_bet() -> None:
    blinds = _one(TOURNAMENT).game.script[0]
    assert (10, 20, 2) == (blinds.small, blinds.big, blinds.ante)  # type: ignore[union-attr]


def test_an_old_walk_leaves_out_what_went_back_and_the_button_may_be_the_big_blind() -> None:
    hand = _one(WALK)
    assert "left_small" == hand.game.heads_up_blinds
    assert ("heads_up_blinds",) == hand.inferred
    assert "agree" == _verdict(hand)


def test_what_a_player_missed_is_dead_and_his_big_blind_is_live() -> None:
    hand = _one(DEAD)
    assert (Post(3), Post(3, "dead", 100), Post(4, "dead", 100)) == hand.posts
    record = hand_record(hand, "h/1")
    assert (0, 0, 0, 100, 100) == replay(record).dead
    assert "assuming" == judge(hand.game, record).verdict


def test_a_big_blind_with_nothing_left_after_its_ante_is_owed_in_full() -> None:
    text = (
        TOURNAMENT.replace("Seat #3 is", "Seat #1 is")
        .replace("ada: posts big blind 20", "bo: posts small blind 10")
        .replace("bo: raises 20 to 40\nada: folds", "ada: calls 20\nbo: checks")
        .replace("bo: checks", "bo: calls 10\n")
        .replace("Uncalled bet (20) returned to bo\n", "")
        .replace("[2c 7d Jh]\n*** TURN", "[2c 7d Jh]\nbo: checks\nada: checks\n*** TURN")
        .replace("cy (small blind)", "cy (big blind)")
        .replace("[Qs]\n", "[Qs]\nbo: bets 40\nada: folds\nUncalled bet (40) returned to bo\n")
    )
    assert "agree" == _verdict(_one(text))


def test_an_answer_after_the_clock_ran_out_was_not_chosen() -> None:
    late = CASH.replace("kite: folds: folds", "kite: folds has timed out\nkite: folds: folds")
    record = hand_record(_one(late), "h/1")
    folds = [event.origin for event in record if isinstance(event, Folded)]
    assert ["default"] == folds


def test_an_empty_button_seat_passes_the_button_to_its_right() -> None:
    dead_button = DEAD.replace("Seat 1: ann", "Seat 6: ann").replace(
        "Seat #1 is", "Seat #1 of 9 is"
    )
    assert "no line says" in _reason(dead_button.replace("Seat #1 of 9 is", "Seat of"))
    passed = _one(dead_button.replace("Seat #1 of 9 is", "Seat #1 is"))
    assert 4 == passed.button
    assert ("button of empty seat 1 is the next to its right", "rake 5 %") == passed.assumed


def test_without_a_small_blind_nobody_owes_one() -> None:
    hand = _one(
        DEAD.replace(
            "bob: posts small blind $1\ncol: posts big blind $2", "bob: posts big blind $2"
        )
        .replace("dee: posts small & big blinds $3\neli: posts small blind $1\n", "")
        .replace("dee: checks", "col: folds\ndee: folds")
        .split("bob: folds")[0]
        + "bob collected $2 from pot\n*** SUMMARY ***\nTotal pot $2 | Rake $0\n"
    )
    assert hand.dead_small
    assert "agree" == _verdict(hand)


@pytest.mark.parametrize(
    ("encoding", "sign"), [("utf-8-sig", "€"), ("cp1252", "€"), ("utf-16", "€"), ("utf-8", "£")]
)
def test_encodings_and_line_ends_do_not_matter(encoding: str, sign: str) -> None:
    text = CASH.replace("$0.50/", "0.50/").replace("$", sign).replace(f"] {sign}5", "] é")
    text = text.replace("(0.50/", f"({sign}0.50/")
    for end in ("\n", "\r\n", "\r", " \n\n"):
        hand = _one(text.replace("\n", end).encode(encoding))
        assert ("wren", "kite: folds", "[o_O] é") == hand.players
        assert {"€": "euro cent", "£": "penny"}[sign] == hand.game.unit


def test_a_line_cut_in_the_middle_costs_one_hand_only() -> None:
    cut = CASH[: CASH.index("Qs] [3s]")]
    first, second = read(cut + TOURNAMENT).hands
    assert Skipped(1, "the hand stops before its summary") == first
    assert isinstance(second, SourceHand)
    assert (2, 24) == (second.number, second.line)


# What is left out, and why.

LEFT_OUT = [
    (("Hold'em No", "Omaha Pot"), "Omaha Pot Limit is not hold'em of a kind we have rules for"),
    ((" Hold'em No", " 6+ Hold'em No"), "6+ Hold'em No Limit is not hold'em"),
    ((" Hold'em No", " Split Hold'em No"), "Split Hold'em No Limit is not hold'em"),
    (("*** FLOP ***", "*** FIRST FLOP ***"), "the board was dealt more than once"),
    (("*** FLOP ***", "*** 3rd STREET ***"), "a part of the hand that hold'em does not have"),
    (("wren: checks", "wren: dances", 1), 'a line that cannot be read: "wren: dances"'),
    (("wren: bets", "owl: bets"), 'somebody without a seat plays: "owl: bets $4.50"'),
    (("bets $4.50", "bets $4.40"), "1540 put in and 0 given back are no pot of 1550"),
    (("$14.72", "$14.71"), "1471 collected and a rake of 78 are no pot of 1550"),
    (("Total pot $15.50", "Total pot $15.50 Main pot $15. Side pot $1."), "main and side pots"),
    (("[2c 7d Jh]\n[", "[2c 7d]\n["), "the flop has 2 cards"),
    (("[2c 7d Jh]\n[", "[2c 7d 1h]\n["), "1h is not a card"),
    (("($100 in", "($2 in"), "wren puts in more than the 200 he brought"),
    (("Seat #1 is the button", ""), "no line says which seat has the button"),
    (("Seat 4: [o_O]", "Seat 2: [o_O]"), "two players sit in one seat"),
    (("big blind $1\n", "big blind $1\nwren: posts the ante $1\n"), "some pay an ante and some do"),
    (
        ("posts big blind $1", "posts small & big blinds $1.40"),
        "the blinds are not where the rules",
    ),
    (("raises $2 to", "raises $2.50 to"), "wren raises 250 to 300, where 100 had been bet"),
    (("[2c 7d Jh] [Qs]", "[2c 7d Jd] [Qs]"), "the turn comes after another board than was dealt"),
    (("Board [2c", "Board [3c"), "the summary has another board than the hand"),
    (
        ("showed [Ah Kd]", "showed [Ah Ks]"),
        "wren holds Ah Kd, and then Ah Ks",
    ),
    (("calls $4.50", "calls $4.50 and has reached the $9 cap"), "no ruleset of ours knows one"),
    (("*** SHOW", "Hand cancelled\n*** SHOW"), "the hand was cancelled"),
    (("Total pot", "Whole pot"), "the summary does not tell the pot and the rake"),
    (("$1,040", "$1,04,0"), "$1,04,0 is no amount"),
    (("$1,040", "$" + "9" * 30), "an amount is larger than any table has held"),
]


@pytest.mark.parametrize(("change", "reason"), LEFT_OUT, ids=[one[1] for one in LEFT_OUT])
def test_a_hand_that_cannot_be_told_is_left_out_with_its_reason(
    change: tuple[str, str], reason: str
) -> None:
    old, new = change[:2]
    text = CASH.replace(old, new)
    if "cap" in new:
        text = text.replace("$1.00 USD", "$1.00 - $9 Cap -  USD")
    assert text != CASH
    assert reason in _reason(text)


REFUSED = [
    ("", 1, "no PokerStars hand begins in this text"),
    ("Full Tilt Poker Game #1: Table", 1, "this is a hand of Full Tilt Poker, not of PokerStars"),
    (CASH + "<<<<<<< HEAD\n", 35, "a mark of a failed merge: the file is damaged"),
    (CASH + "=======\n", 35, "a mark of a failed merge: the file is damaged"),
    (CASH + "\0", 35, "a zero byte: this is no text in UTF-8, UTF-16 or cp1252"),
    (CASH + "x" * 70000, 35, "a line of more than 65535 characters"),
    (CASH + "x\n" * 6000, 1, "a hand of more than 5000 lines"),
]


@pytest.mark.parametrize(("text", "line", "reason"), REFUSED, ids=[one[2] for one in REFUSED])
def test_a_damaged_file_is_refused_with_line_and_reason(text: str, line: int, reason: str) -> None:
    with pytest.raises(Refused) as refused:
        read(text)
    assert (line, reason) == (refused.value.line, refused.value.reason)
