"""A hand on one line says what its viewer saw of it, in the words of docs/one-line.md."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.questions.one_line import events_line, one_line
from engine.game import Game
from events import types as t
from events.notation import read
from events.views import Auditor, Public, Seated, Viewpoint, see
from tests.hands import seeded, some_games, sources, walk
from tests.profiles import examples
from tests.redacted_hands import sight_of
from tests.worlds import other_world, viewers

OPENING = """\
hand scrim/1 of auction-2024 5b97ece4fdf354c9, button 0: ursa 400, lynx 400
0 posts small 1 to 1
1 posts big 2 to 2
step 1: hole
0 is dealt [5d 6h]
1 is dealt [Tc 5s]
step 2: preflop betting, 2 to match, raise by 2, 0 to act
"""
AUCTION = """\
0 raises 5 to 6, 1 to act
1 calls 4
step 3: flop
board [Jd 7c 6c]
step 4: auction
1 bids 37
0 bids 52
auction to 0 at 37, bids 37 and 52
0 is dealt [Th]
step 5: flop betting, 0 to match, raise by 2, 1 to act
1 checks, 0 to act
0 bets 20, 1 to act
1 calls 20
step 6: turn
board [8h]
step 7: turn betting, 0 to match, raise by 2, 1 to act
1 bets 374, 0 to act
0 folds (default)
1 takes back 374
pot 0: 89 to 1
hand over
"""


def line(text: str, who: Viewpoint) -> str:
    """The one line of a hand that is given in notation."""
    return events_line(see(tuple(map(read, text.splitlines())), who))


def test_an_auditor_reads_every_card_and_bid() -> None:
    assert (
        "ursa 400 BTN 5d6h, lynx 400 Tc5s | s1 b2 R6 C | Jd7c6c 12 [ursa 52>37 +Th] X B20 C"
        " | 8h 89 B374! F~ | 89: lynx +63"
    ) == line(OPENING + AUCTION, Auditor())


def test_the_public_reads_no_card_that_was_not_shown() -> None:
    assert (
        "ursa 400 BTN, lynx 400 | s1 b2 R6 C | Jd7c6c 12 [ursa 52>37 +*] X B20 C"
        " | 8h 89 B374! F~ | 89: lynx +63"
    ) == line(OPENING + AUCTION, Public())


def test_a_seat_reads_its_own_cards_and_before_the_settlement_its_own_bid() -> None:
    begun = OPENING + "".join(AUCTION.splitlines(keepends=True)[:7])
    assert "ursa 400 BTN, lynx 400 Tc5s | s1 b2 R6 C | Jd7c6c 12 [bid 37 *] | ..." == line(
        begun, Seated(1)
    )


PIECES: tuple[tuple[str, str], ...] = (
    ("0 folds\n1 takes back 1\npot 0: 2 to 1\nhand over", "s1 b2 F | 2: lynx +1"),
    ("0 calls 398, 1 to act\n1 checks", "s1 b2 C X | ..."),
    ("0 raises 399 to 400, 1 to act\n1 calls 398", "s1 b2 R400! C! | ..."),
    ("0 is out of time and all-in", "s1 b2 T! | ..."),
    ('hand void, "no power"', "s1 b2 | void: no power"),
    ("0 calls 1, 1 to act\n1 checks\nboard [As Kd 2c]\nboard [3c]", "s1 b2 C X | AsKd2c 4 | 3c"),
    ("0 shows [5d 6h]\n1 mucks", "s1 b2 | ursa 5d6h, lynx mucks"),
    ("0 announces [5d 6h 7h 8h 9h]\n0 shows [5d 6h]", "ursa says 5d6h7h8h9h, ursa 5d6h"),
    ("rake 1 from pot 0\npot 0: 1 to 0, 1 to 1\nhand over", "| 2 rake 1: even"),
    ("0 risks 5d in slot 0, holds 9h\n1 risks Tc in slot 0, holds Tc", "b2 [ursa 5d>9h] | ..."),
    ("auction to 0 and 1 at 9, bids 9 and 9", "s1 b2 [ursa=lynx 9=9] | ..."),
    ("auction to 1 at 5, bids 9 and 7", "s1 b2 [lynx 9>7 @5] | ..."),
)


@pytest.mark.parametrize(("rest", "said"), PIECES, ids=lambda text: text[:30])
def test_each_thing_has_its_word(rest: str, said: str) -> None:
    assert said in line(OPENING + rest, Auditor())


def test_what_was_dealt_later_and_what_may_not_be_seen_is_a_star() -> None:
    later = OPENING + "0 calls 1, 1 to act\n1 checks\n0 is dealt [9h]"
    assert "C X [ursa +9h] | ..." in line(later, Auditor())
    assert "C X [ursa +*] | ..." in line(later, Public())


def test_a_swap_is_on_the_line_only_for_who_knows_that_there_was_one() -> None:
    sealed = OPENING + "0 risks 5d in slot 0, holds 9h"
    openly = sealed + ", openly"
    assert "[ursa 5d>9h]" in line(sealed, Seated(0))
    assert "s1 b2 | ..." in line(sealed, Seated(1))
    assert "[ursa *>*]" in line(openly, Seated(1))


def test_names_and_antes_are_short_where_they_can_be() -> None:
    text = 'hand m/1 of g 0, button 2: "a b" 9, "c,d" 9, e 9\n0 antes 1\n1 antes 1\n2 antes 1\n'
    assert '"a b" 9, "c,d" 9, e 9 BTN | a1x3 | ...' == line(text, Public())
    assert "a1 a2 | ..." in line(text.replace("1 antes 1\n2 antes 1", "1 antes 2"), Public())


def test_a_record_without_a_beginning_does_not_add_up() -> None:
    assert "does not add up" == events_line(see((t.HandEnded(),), Auditor()))


def test_a_record_that_breaks_says_so_at_its_end() -> None:
    broken = (*map(read, OPENING.splitlines()), t.Folded(7, None))
    assert events_line(see(broken, Public())).endswith("s1 b2 | does not add up")


@some_games
@examples(4)
@given(source=sources, seed=st.integers(0, 2**16))
def test_two_worlds_have_the_same_line(game: Game, source: bytes, seed: int) -> None:
    record = walk(game, source).record
    chance = random.Random(seed)
    for who in viewers(record):
        for end in {chance.randrange(1, len(record) + 1), len(record)}:
            begun = record[:end]
            other = other_world(begun, who, chance)
            assert one_line(sight_of(begun, who)) == one_line(sight_of(other, who))


@some_games
def test_every_hand_of_some_games_ends_in_who_won(game: Game) -> None:
    for seed in range(20):
        played = seeded(game, str(seed))
        said = one_line(sight_of(played.record, Auditor()))
        nets = [
            left - had
            for left, had in zip(played.hand.stacks, played.hand.start.stacks, strict=True)
        ]
        end = said.rpartition(" | ")[2]
        assert "\n" not in said
        if played.hand.voided:
            assert end.startswith("void: ")
            continue
        for name, net in zip(played.hand.start.players, nets, strict=True):
            assert (f"{name} +{net}" in end) == (net > 0)
