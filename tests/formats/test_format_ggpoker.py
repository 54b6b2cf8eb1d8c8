"""GGPoker text, read by the grammar of PokerStars: what it says more, and is refused for."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from engine.steps import Posts
from formats.pokerstars.read import read
from formats.registry import FORMATS, format_of
from formats.source import AS_READ, Act, Paid, SourceHand
from tests.formats.site_hands import changed_and_agreed, dropped_and_agreed, one, reason, verdict
from tests.formats.test_format_pokerstars import CASH as STARS

CASH = """\
Poker Hand #RC77: Hold'em No Limit ($0.50/$1) - 2025/08/10 02:21:00
Table 'Rook 1' 6-max Seat #1 is the button
Seat 1: Hero ($100 in chips)
Seat 2: 6ba7b810 ($99.5 in chips)
Seat 3: 9dad11d1 ($104 in chips)
6ba7b810: posts small blind $0.5
9dad11d1: posts big blind $1
*** HOLE CARDS ***
Dealt to Hero [Ah Kd]
Dealt to 6ba7b810
Dealt to 9dad11d1
Hero: raises $2.5 to $3.5
6ba7b810: folds
9dad11d1: raises $100.5 to $104 and is all-in
Hero: calls $96.5 and is all-in
Uncalled bet ($4) returned to 9dad11d1
Hero: shows [Ah Kd] (Ace high)
9dad11d1: shows [Qc Qd] (a pair of Queens)
*** FLOP *** [2c 7d Jh]
*** TURN *** [2c 7d Jh] [Qs]
*** RIVER *** [2c 7d Jh Qs] [3s]
*** SHOWDOWN ***
9dad11d1 collected $189.4 from pot
*** SUMMARY ***
Total pot $200.5 | Rake $10.1 | Jackpot $1 | Bingo $0 | Fortune $0 | Tax $0
Board [2c 7d Jh Qs 3s]
Seat 1: Hero (button) showed [Ah Kd] and lost with Ace high
Seat 2: 6ba7b810 (small blind) folded before Flop
Seat 3: 9dad11d1 (big blind) showed [Qc Qd] and won ($189.4) with three of a kind, Queens
"""

TOURNAMENT = """\
Poker Hand #TM12: Tournament #345, Daily Special $25 Hold'em No Limit - Level2(60/120) \
- 2025/08/10 02:21:00
Table '6' 8-max Seat #1 is the button
Seat 1: Hero (10,000 in chips)
Seat 2: a9055bd5 (23,639 in chips)
Hero: posts the ante 18
a9055bd5: posts the ante 18
Hero: posts small blind 60
a9055bd5: posts big blind 120
*** HOLE CARDS ***
Dealt to Hero [Qh Jh]
Dealt to a9055bd5
Hero: raises 156 to 276
a9055bd5: folds
Uncalled bet (156) returned to Hero
*** SHOWDOWN ***
Hero collected 276 from pot
*** SUMMARY ***
Total pot 276
Seat 1: Hero (small blind) won (276)
Seat 2: a9055bd5 (big blind) folded before Flop
"""


def test_a_cash_hand_is_told_by_the_rules_of_its_site() -> None:
    hand = one(read, CASH)
    assert ("RC77", "ggpoker-nl") == (hand.source_id, hand.game.name)
    assert ("Hero", "6ba7b810", "9dad11d1") == hand.players
    assert Act(2, "raise", to=10400) in hand.items


def test_all_that_the_house_takes_is_its_rake() -> None:
    hand = one(read, CASH)
    assert ((Paid(2, 18940),), 1110) == (hand.paid, hand.rake)
    assert ("shortfall 1110 of 20050",) == hand.assumed
    assert "unknown" == verdict(hand)


def test_a_usual_rate_alone_is_assumed() -> None:
    text = CASH.replace("Rake $10.1 | Jackpot $1 ", "Rake $10.02 | Jackpot $0 ")
    hand = one(read, text.replace("189.4", "190.48"))
    assert ("rake 5 %",) == hand.assumed
    assert "assuming" == verdict(hand)


def test_a_tournament_has_a_terse_summary() -> None:
    hand = one(read, TOURNAMENT)
    assert ("chip", (10000, 23639)) == (hand.game.unit, hand.stacks)
    assert "agree" == verdict(hand)


def test_a_straddle_is_owed_by_its_position() -> None:
    """The button straddles, so the small blind chooses first."""
    text = CASH.replace("big blind $1\n", "big blind $1\nHero: straddle $2\n")
    raised = "Hero: raises $2.5 to $3.5\n6ba7b810: folds\n9dad11d1: raises $100.5 to $104"
    text = text.replace(raised, "6ba7b810: folds\n9dad11d1: raises $102 to $104")
    hand = one(read, text.replace("calls $96.5", "calls $98"))
    assert Posts((0, 0, 0), (50, 100, 200), False) == hand.game.script[0]
    assert "unknown" == verdict(hand), "for the rake"


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("Hero: shows", "Hero: Chooses to EV Cashout\nHero: shows"),
        ("*** SUMMARY ***", "9dad11d1: Pays Cashout Risk ($1.23)\n*** SUMMARY ***"),
        ("*** SUMMARY ***", "Hero: Receives Cashout ($1.23)\n*** SUMMARY ***"),
        ("blind) folded", "blind) received ($0.01) from time bank card, folded"),
    ],
)
def test_what_the_site_does_beside_the_pot_changes_nothing(was: str, now: str) -> None:
    plain, changed = (one(read, text) for text in (CASH, CASH.replace(was, now, 1)))
    assert plain == replace(changed, text=plain.text)


@pytest.mark.parametrize(
    ("was", "now", "why"),
    [
        ("Hold'em No Limit", "PLO-5", "PLO-5 is not hold'em of a kind we have rules for"),
        ("Hold'em No Limit", "ShortDeck No Limit", "ShortDeck No Limit is not hold'em of a kind"),
        ("6ba7b810: posts", "Cash Drop to Pot : total $5\n6ba7b810: posts", "chips are added to"),
        ("*** FLOP", "*** FIRST FLOP", "the board was dealt more than once"),
        ("6ba7b810: folds", "6ba7b810: posts missed blind $1", "a line that cannot be read"),
        ("Jackpot $1 ", "Jackpot $2 ", "18940 collected and a rake of 1210 are no pot of 20050"),
    ],
)
def test_what_is_refused_says_why(was: str, now: str, why: str) -> None:
    assert reason(read, CASH.replace(was, now)).startswith(why)


def test_a_file_is_known_and_each_hand_by_its_own_site(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text(f"{CASH}\n{STARS}\n{TOURNAMENT}")
    found = format_of(path)
    assert FORMATS["pokerstars"] is found, "any PokerStars hand makes it theirs"
    hands = [hand for hand in found.read(path, AS_READ).hands if isinstance(hand, SourceHand)]
    assert ["ggpoker-nl", "pokerstars-nl", "ggpoker-nl"] == [hand.game.name for hand in hands]
    path.write_text(CASH.replace("\n", "\r\n"))
    assert FORMATS["ggpoker"] is format_of(path)
    assert "ggpoker" == FORMATS["ggpoker"].read(path, AS_READ).format


def test_no_other_number_agrees() -> None:
    """But of a stack that nobody bet up to, and of what only names the hand, its table or date."""
    header, table, _, _, *_ = lines = TOURNAMENT.splitlines()
    assert [header, table, *lines[2:4]] == changed_and_agreed(read, TOURNAMENT)


def test_no_line_is_missed() -> None:
    """But one that only begins a part of the hand or says again what other lines say: the total
    of a raise has the blind in it, the highest bet what nobody called, the play who folded."""
    missed = ["Hero: posts small blind 60", "*** HOLE CARDS ***", "Dealt to Hero [Qh Jh]"]
    missed += ["Dealt to a9055bd5", "Uncalled bet (156) returned to Hero", "*** SHOWDOWN ***"]
    missed += ["Seat 2: a9055bd5 (big blind) folded before Flop"]
    assert missed == dropped_and_agreed(read, TOURNAMENT)
