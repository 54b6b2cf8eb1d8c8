"""Who sits out and is all-in by a blind or an ante, and "folds": two readings, and what moves."""

import pytest
from msgspec.structs import replace

from engine.audit import audit, nets_of
from engine.game import Game, fingerprint, to_json
from engine.games import RULESETS
from engine.verdict import Report, judge
from events import types as t
from events.types import Events
from formats.hand_records import hand_record
from formats.plain_records import plain_record
from formats.pokerstars.read import read
from formats.source import SourceHand
from tests.formats.test_claimed_records import folded_all_in

TEXT = """\
PokerStars Hand #11: Tournament #9, $1+$0.10 USD Hold'em No Limit - Level II (50/100) - 2012/03/04
Table '9 1' 6-max Seat #1 is the button
Seat 1: ada (1000 in chips)
Seat 2: bo (700 in chips)
Seat 3: cy (80 in chips) is sitting out
Seat 4: dee (1000 in chips)
ada: posts the ante 20
bo: posts the ante 20
cy: posts the ante 20
dee: posts the ante 20
bo: posts small blind 50
cy: posts big blind 60 and is all-in
*** HOLE CARDS ***
dee: raises 240 to 300
ada: folds
bo: calls 250
cy: folds
*** FLOP *** [2c 7d Jh]
bo: checks
dee: checks
*** TURN *** [2c 7d Jh] [Qs]
bo: checks
dee: checks
*** RIVER *** [2c 7d Jh Qs] [3s]
bo: checks
dee: checks
*** SHOW DOWN ***
bo: shows [Ah Kd] (high card Ace)
dee: shows [Qh Td] (a pair of Queens)
dee collected 480 from side pot
dee collected 260 from main pot
*** SUMMARY ***
Total pot 740 Main pot 260. Side pot 480. | Rake 0
Board [2c 7d Jh Qs 3s]
Seat 1: ada (button) folded before Flop (didn't bet)
Seat 2: bo (small blind) showed [Ah Kd] and lost with high card Ace
Seat 3: cy (big blind) folded before Flop
Seat 4: dee showed [Qh Td] and won (740) with a pair of Queens
"""
# All who could answer are all-in, so that the fold comes after the round; and by an ante alone.
CLOSED = (
    TEXT.replace("bo (700", "bo (300")
    .replace("dee (1000", "dee (320")
    .replace("raises 240 to 300", "raises 240 to 300 and is all-in")
    .replace("calls 250", "calls 230 and is all-in")
    .replace("bo: checks\n", "")
    .replace("dee: checks\n", "")
    .replace("cy: folds\n", "cy: folds\nUncalled bet (20) returned to dee\n")
    .replace("480", "440")
    .replace("740", "700")
)
ANTE = (
    TEXT.replace("#1 is the button", "#4 is the button")
    .replace("cy (80", "cy (15")
    .replace("cy: posts the ante 20", "cy: posts the ante 15 and is all-in")
    .replace("bo: posts small blind 50", "ada: posts small blind 50")
    .replace("cy: posts big blind 60 and is all-in", "bo: posts big blind 100")
    .replace("raises 240", "raises 200")
    .replace("cy: folds\n", "")
    .replace("dee: raises", "cy: folds\ndee: raises")
    .replace("raises 240 to 300", "raises 200 to 300")
    .replace("bo: calls 250", "bo: calls 200")
    .replace("480", "665")
    .replace("260", "60")
    .replace("740", "725")
    .replace(" (button) folded before Flop (didn't bet)", " (small blind) folded before Flop")
    .replace("bo (small blind)", "bo (big blind)")
    .replace("cy (big blind) folded before Flop", "cy folded before Flop (didn't bet)")
    .replace("dee showed", "dee (button) showed")
)
LAST = (
    TEXT[: TEXT.index("bo: calls")]
    + """\
bo: folds
cy: folds
Uncalled bet (240) returned to dee
dee collected 250 from pot
*** SUMMARY ***
Total pot 250 | Rake 0
Seat 1: ada (button) folded before Flop (didn't bet)
Seat 2: bo (small blind) folded before Flop
Seat 3: cy (big blind) folded before Flop
Seat 4: dee collected (250)
"""
)


def told(text: str) -> SourceHand:
    (hand,) = read(text).hands
    assert isinstance(hand, SourceHand), hand
    return hand


def stays(game: Game) -> Game:
    return replace(game, forced_all_in="stays_in")


def judged_as(game: Game, record: Events) -> Report:
    """The verdict on a record that was dealt by other rules."""
    start = record[0]
    assert isinstance(start, t.HandStarted)
    return judge(game, (replace(start, ruleset=fingerprint(game)), *record[1:]))


@pytest.mark.parametrize(
    ("text", "cannot_win"),
    [(TEXT, 260), (CLOSED, 260), (LAST, 250), (ANTE, 60)],
    ids=["in turn", "late", "last", "ante"],
)
def test_both_readings_of_a_text_in_which_he_folds(text: str, cannot_win: int) -> None:
    hand = told(text)
    assert "may_fold" == hand.game.forced_all_in
    record = hand_record(hand, "m/1")
    assert audit(hand.game, record) is None
    assert [2] == [e.seat for e in record if isinstance(e, t.Folded) if e.seat == 2]
    report = judge(hand.game, record)
    assert "assuming" == report.verdict
    (said,) = report.assumed
    assert said.startswith("absent")
    # By the other reading he stays in: his cards are not known, so all that he could have won.
    other = judged_as(stays(hand.game), record)
    assert ("differ", cannot_win, None) == (other.verdict, other.moves, other.decided)
    (reading,) = other.readings
    assert nets_of(record) == reading.nets
    assert "pokerstars-nl with forced_all_in may_fold" == reading.ruleset


@pytest.mark.parametrize(
    ("cards", "verdict", "moves"),
    [("Js Jd", "contested", 260), ("4s 5d", "assuming", 0)],
    ids=["would have won", "would have lost"],
)
def test_what_moves_is_counted_where_his_cards_are_known(
    cards: str, verdict: str, moves: int
) -> None:
    hand = told(TEXT.replace("cy: folds\n", f"cy: folds [{cards}]\n"))
    record = hand_record(hand, "m/1")
    report = judge(hand.game, record)
    assert (verdict, bool(moves)) == (report.verdict, bool(report.readings))
    other = judged_as(stays(hand.game), record)
    assert ("differ", moves) == (other.verdict, other.moves)
    if moves:
        (reading,) = report.readings
        assert other.decided == reading.nets
        assert 260 - 80 == reading.nets[2]


def test_a_record_made_before_there_were_two_readings_says_the_number_too() -> None:
    """The reader put such hands to the rules by which he stays in: they were counted, rules off."""
    for text, claim in ((TEXT, 260), (CLOSED, 260), (LAST, 250), (ANTE, 60)):
        hand = told(text)
        hand = replace(hand, game=stays(hand.game), assumed=())
        report = judge(hand.game, hand_record(hand, "m/1"))
        assert ("differ", claim) == (report.verdict, report.moves)


def test_who_is_not_said_to_sit_out_is_no_such_case() -> None:
    hand = told(TEXT.replace(" is sitting out", ""))
    assert "stays_in" == hand.game.forced_all_in
    report = judge(hand.game, hand_record(hand, "m/1"))
    assert ("differ", 260, ()) == (report.verdict, report.moves, report.assumed)


def test_who_folds_with_chips_left_is_no_such_case() -> None:
    hand = told(
        TEXT.replace("cy (80", "cy (180")
        .replace("blind 60 and is all-in", "blind 100")
        .replace("raises 240", "raises 200")
        .replace("480", "400")
        .replace("260", "380")
        .replace("740", "780")
    )
    assert ("stays_in", ()) == (hand.game.forced_all_in, hand.assumed)
    assert "agree" == judge(hand.game, hand_record(hand, "m/1")).verdict


def test_only_the_fold_of_who_is_forced_is_allowed() -> None:
    """One reading more, and nothing else: who chose any of his chips stays in."""
    hand = told(CLOSED)
    record = hand_record(hand, "m/1")
    for at, event in enumerate(record):
        if isinstance(event, t.Called):  # he is all-in by a call
            forged = (*record[: at + 1], t.Folded(event.seat, None), *record[at + 1 :])
            found = audit(hand.game, forged)
            assert found is not None
            assert at + 1 == found.at
        if isinstance(event, t.BoardDealt | t.Folded):  # too late, and twice
            forged = (*record[: at + 1], t.Folded(2, None), *record[at + 1 :])
            if at + 1 < len(record) and record[: at + 1].count(t.Folded(2, None)):
                found = audit(hand.game, forged)
                assert found is not None
                assert at + 1 == found.at


def test_some_rulesets_with_the_default_keeps_its_fingerprint() -> None:
    for game in RULESETS.values():
        assert b"forced_all_in" not in to_json(game)
        assert fingerprint(game) != fingerprint(replace(game, forced_all_in="may_fold"))


def test_the_short_way_leaves_such_a_hand_to_the_rules() -> None:
    hand = told(TEXT)
    assert plain_record(hand, "m/1") is None
    game = replace(RULESETS["site-nl"], forced_all_in="may_fold")
    assert plain_record(folded_all_in(game), "m/1") is None
