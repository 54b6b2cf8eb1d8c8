"""Between hands: the button, who is dealt in, newcomers, bankrolls, freeze-out (M1 to M6, T1)."""

import pytest
from msgspec.structs import replace

from dealer.deck import SeededDecks
from dealer.play import hand_records, plan, play
from engine.game import Game
from engine.games import named
from engine.hand import begin
from engine.table import (
    Chair,
    Last,
    Seating,
    Standing,
    Table,
    add_chips,
    by_busts,
    by_winnings,
    deal_in,
    fresh,
    has_all,
    moved,
    set_anew,
    settled,
    sit,
    stand_up,
)
from engine.turn import IllegalCommand, Post
from events.evolve import replay
from events.state import Hand
from events.types import HandStarted
from tests.pages import played

SITE = named("site-fl")
URCS = named("urcs-1998")
NAMES = ("ann", "bob", "cid", "dot", "eve", "fox")


def _table(stacks: tuple[int, ...], **last: int) -> Table:
    """Chairs taken in order; `last` are the chairs that had button and blinds."""
    table = Table((None,) * len(stacks))
    for chair, stack in enumerate(stacks):
        if stack:
            table = sit(table, chair, NAMES[chair], stack, posts=False)
    return replace(table, **last)


SIX = (1000,) * 6


def test_the_first_person_sitting_is_the_first_dealer() -> None:
    """ "A fresh table starts of with the first person sitting on the table becoming the dealer and
    the next player posting the small blind." (T1)"""
    table = moved(SITE, _table((0, 1000, 0, 1000, 1000, 0)))
    assert (1, 3, 4) == (table.button, table.small, table.big)


def _seated(*order: int) -> Table:
    table = Table((None,) * 6)
    for chair in order:
        table = sit(table, chair, NAMES[chair], 1000, posts=False)
    return table


def test_whoever_sat_down_first_deals_first_whatever_his_chair() -> None:
    """ "the first person sitting on the table becoming the dealer and the next player posting the
    small blind": dot in chair 3, then ann in 0, then fox in 5 (T1)."""
    table = moved(SITE, _seated(3, 0, 5))
    assert (3, 5, 0) == (table.button, table.small, table.big)
    seating = deal_in(SITE, table)
    assert "dot" == seating.players[seating.button]


def test_if_the_first_has_left_before_the_first_hand_the_second_deals() -> None:
    """And who takes his chair after that, or comes back to it, sat down last (T1)."""
    left = stand_up(_seated(3, 5, 0), 3)
    assert 5 == moved(SITE, left).button
    assert 5 == moved(SITE, sit(left, 3, "gus", 1000, posts=False)).button


def test_who_has_no_chips_does_not_deal_first() -> None:
    table = _seated(3, 5, 0)
    broke = replace(table, chairs=(*table.chairs[:3], Chair("dot", 0), *table.chairs[4:]))
    assert 5 == moved(SITE, broke).button


def test_a_table_that_begins_afresh_has_its_first_dealer_again() -> None:
    """Of those who are still there, whoever has been sitting longest (T1)."""
    table = moved(SITE, moved(SITE, _seated(3, 0, 5)))
    assert 5 == table.button
    assert 3 == moved(SITE, fresh(table)).button
    assert 0 == moved(SITE, stand_up(fresh(table), 3)).button


@pytest.mark.parametrize(("button", "expected"), [("moving", (4, 5, 0)), ("dead", (3, 4, 5))])
def test_the_small_blind_leaves(button: str, expected: tuple[int, ...]) -> None:
    """ "the button moves clockwise to the next active player": button 2, blinds 3 and 4, and seat
    3 leaves. A dead button stays on the empty seat (M1)."""
    game = replace(SITE, button=button)
    table = moved(game, stand_up(_table(SIX, button=2, small=3, big=4), 3))
    assert expected == (table.button, table.small, table.big)


def test_a_dead_button_deals_from_an_empty_chair() -> None:
    """The hand is dealt as if from the seat before it; the blinds are where they must be (M1)."""
    game = replace(SITE, button="dead")
    table = moved(game, stand_up(_table(SIX, button=2, small=3, big=4), 3))
    seating = deal_in(game, table)
    assert (0, 1, 2, 4, 5) == seating.chairs
    assert (2, False) == (seating.button, seating.dead_small)
    _, hand = _begun(game, seating)
    assert (0, 0, 0, 5, 10) == hand.paid


def test_who_would_post_between_a_dead_button_and_the_big_blind_waits_a_hand_more() -> None:
    """Chair 3 is behind the button, before the big blind in 5: a post there would be a blind."""
    game = replace(SITE, button="dead")
    table = moved(game, stand_up(_table((100,) * 6, button=2, small=3, big=4), 3))
    assert (3, 4, 5) == (table.button, table.small, table.big)
    crowded = replace(table, chairs=(*table.chairs[:4], None, *table.chairs[5:]))
    newcomer = sit(crowded, 4, "gus", 100, posts=True)
    later = replace(newcomer, small=None)
    assert 4 not in deal_in(game, later).chairs
    assert 4 in deal_in(SITE, later).chairs


def test_with_a_dead_button_the_big_blind_that_left_leaves_no_small_blind() -> None:
    """Button 2, blinds 3 and 4, seat 4 leaves: button 3, nobody small, big 5 (M1)."""
    game = replace(SITE, button="dead")
    table = moved(game, stand_up(_table(SIX, button=2, small=3, big=4), 4))
    seating = deal_in(game, table)
    assert (3, True) == (seating.button, seating.dead_small)
    _, hand = _begun(game, seating)
    assert 10 == hand.paid[seating.chairs.index(5)]
    assert 10 == sum(hand.paid)


def test_a_newcomer_may_post_a_big_blind_next_hand() -> None:
    """ "The player would get an option of placing a Big Blind at the start of the next hand or wait
    for his/her turn" (M2)."""
    running = _table((0, *SIX[1:]), button=1, small=2, big=3)
    table = moved(SITE, sit(running, 0, "ann", 1000, posts=True))
    seating = deal_in(SITE, table)
    assert (2, (Post(0),)) == (seating.button, seating.posts)
    _, hand = _begun(SITE, seating)
    assert (10, 0, 0, 5, 10, 0) == hand.paid


def test_or_wait_for_it() -> None:
    """He is dealt in when the big blind reaches him, and posts nothing else (M2)."""
    running = _table((0, *SIX[1:]), button=1, small=2, big=3)
    table = sit(running, 0, "ann", 1000, posts=False)
    dealt = []
    for _ in range(3):
        table = moved(SITE, table)
        seating = deal_in(SITE, table)
        dealt.append("ann" in seating.players)
        assert not seating.posts
        if "ann" in seating.players:
            _, hand = _begun(SITE, seating)
            assert 10 == hand.paid[0]
    assert [False, False, True] == dealt


def test_the_third_player_of_a_table_waits_for_the_big_blind_too() -> None:
    """Between two players the button has the small blind; whom the big blind reaches makes them
    three, and left of the button comes the small blind again (M2, G14)."""
    table = sit(_table((1000, 0, 1000), button=2, small=2, big=0), 1, "bob", 1000, posts=False)
    posted = []
    for _ in range(3):
        table = moved(SITE, table)
        seating = deal_in(SITE, table)
        _, hand = _begun(SITE, seating)
        posted.append((table.button, dict(zip(seating.players, hand.paid, strict=True))))
        assert (table.small, table.big) == tuple(
            seating.chairs[hand.paid.index(blind)] for blind in (5, 10)
        )
        table = settled(SITE, table, seating, _ended(hand, hand.start.stacks))
    assert [
        (0, {"ann": 5, "cid": 10}),
        (2, {"ann": 5, "bob": 10, "cid": 0}),
        (0, {"ann": 0, "bob": 5, "cid": 10}),
    ] == posted


def test_a_newcomer_on_the_blind_posts_it_once() -> None:
    """Whoever posts is asked for nothing that his seat posts anyway (M2)."""
    running = _table((0, *SIX[1:]), button=3, small=4, big=5)
    table = moved(SITE, sit(running, 0, "ann", 1000, posts=True))
    seating = deal_in(SITE, table)
    assert (0, ()) == (table.big, seating.posts)


def test_the_dealer_of_a_match_alternates_and_bankrolls_have_no_floor() -> None:
    """Stacks are made anew every hand; what was won adds up from 0 (M4)."""
    game = named("auction-2024")
    table = Table((None, None))
    for chair, name in enumerate(("ann", "bob")):
        table = sit(table, chair, name, game.stack, posts=False)
    buttons = []
    for _ in range(4):
        table = moved(game, table)
        seating = deal_in(game, table)
        buttons.append(seating.button)
        assert (400, 400) == seating.stacks
        _, hand = _begun(game, seating)
        table = settled(game, table, seating, _ended(hand, (0, 800)))
    assert [0, 1, 0, 1] == buttons
    assert (("ann", -1600), ("bob", 1600)) == table.bankrolls
    assert has_all(table) is None


@pytest.mark.parametrize(
    ("nets", "decided", "expected"),
    [
        ((-7, 7), True, Standing("bob", None, False, (2, 1))),
        ((0, 0), True, Standing(None, None, True, (1, 1))),
        ((5, -5), False, Standing(None, "ann", False, (1, 2))),
        ((0, 0), False, Standing(None, None, False, (1, 1))),
    ],
)
def test_the_higher_bankroll_wins_and_equal_ones_are_a_draw(
    nets: tuple[int, ...], decided: bool, expected: Standing
) -> None:
    """M4; a match that was cut off has somebody ahead and no winner."""
    assert expected == by_winnings(("ann", "bob"), nets, decided=decided)


def test_a_freeze_out_carries_stacks_and_moves_the_button_over_busts() -> None:
    """ "That is, no player can take money off the table (except the final winner, of course)." A
    seat without chips leaves; the button goes on to the next seat with chips (M5)."""
    table = moved(URCS, _table((1000, 1000, 1000)))
    seating = deal_in(URCS, table)
    table = settled(URCS, table, seating, _ended(_begun(URCS, seating)[1], (1300, 0, 1700)))
    assert (1300, 1700) == tuple(one.stack for one in table.chairs if one)
    table = moved(URCS, table)
    assert 2 == table.button
    assert (0, 2) == deal_in(URCS, table).chairs


def test_two_busts_in_one_hand_are_ranked_by_what_they_began_with() -> None:
    """A 30, B 12 and C 2,958; A and B bust: A second, B third (M5)."""
    table = moved(URCS, _table((30, 12, 2958)))
    seating = deal_in(URCS, table)
    over = settled(URCS, table, seating, _ended(_begun(URCS, seating)[1], (0, 0, 3000)))
    assert "cid" == has_all(over)
    lasts = {"ann": Last(9, 30, 0), "bob": Last(9, 12, 0), "cid": Last(9, 2958, 3000)}
    assert Standing("cid", None, False, (2, 3, 1)) == by_busts(NAMES[:3], lasts)


def test_equal_busts_share_their_place() -> None:
    lasts = {"ann": Last(9, 30, 0), "bob": Last(9, 30, 0), "cid": Last(9, 2940, 3000)}
    assert Standing("cid", None, False, (2, 2, 1)) == by_busts(NAMES[:3], lasts)


def test_who_went_out_later_is_placed_higher() -> None:
    """However much he had when he went, and while others still play on nobody has won (M5)."""
    lasts = {
        "ann": Last(4, 900, 0),
        "bob": Last(7, 20, 0),
        "cid": Last(9, 1500, 1600),
        "dot": Last(9, 2500, 2400),
    }
    assert Standing(None, "dot", False, (4, 3, 2, 1)) == by_busts(NAMES[:4], lasts)


THREE = (900, 900, 1200)


def _after(game: Game) -> Table:
    """The table once ann has lost all she had to cid."""
    table = moved(game, _table(THREE))
    seating = deal_in(game, table)
    return settled(game, table, seating, _ended(_begun(game, seating)[1], (0, 900, 2100)))


def test_who_has_nothing_left_leaves_buys_in_or_waits() -> None:
    """The three values of `broke`, after ann has lost all (M5, T17)."""
    left = _after(replace(URCS, broke="leaves"))
    assert (None, Chair("bob", 900), Chair("cid", 2100)) == left.chairs
    again = _after(replace(URCS, broke="buys_in"))
    assert (Chair("ann", 1000), Chair("bob", 900), Chair("cid", 2100)) == again.chairs
    waits = _after(replace(URCS, broke="set_anew"))
    assert (Chair("ann", 0), Chair("bob", 900), Chair("cid", 2100)) == waits.chairs
    assert (1, 2) == deal_in(URCS, moved(URCS, waits)).chairs
    anew = set_anew(URCS, waits)
    assert tuple(Chair(name, 1000) for name in NAMES[:3]) == anew.chairs
    assert 0 == moved(URCS, anew).button


@pytest.mark.parametrize("broke", ["leaves", "buys_in", "set_anew"])
def test_a_match_goes_on_as_its_ruleset_says_when_somebody_has_nothing_left(broke: str) -> None:
    game = replace(named("site-nl"), broke=broke)
    match = plan(game, "m", 300, "9", ("random",) * 3)
    hands = [replay(record) for record in hand_records(match, SeededDecks("9"))]
    stacks = [dict(zip(hand.start.players, hand.start.stacks, strict=True)) for hand in hands]
    bought = {player for hand in stacks[1:] for player, had in hand.items() if had == 1000}
    if broke == "leaves":
        assert len(hands) < 300
        assert {3000} == {sum(had.values()) for had in stacks}
        assert 1 == sum(stack > 0 for stack in hands[-1].stacks)
        return
    assert 300 == len(hands)
    assert set(match.players) == bought
    for hand, had in zip(hands, stacks[1:], strict=False):
        over = dict(zip(hand.start.players, hand.stacks, strict=True))
        carried = {player: stack or 1000 for player, stack in over.items()}
        if broke == "buys_in":
            assert carried == had
        elif sum(stack > 0 for stack in over.values()) > 1:
            assert {player: stack for player, stack in over.items() if stack} == had
        else:
            assert dict.fromkeys(match.players, 1000) == had


def test_both_bust_in_a_hand_that_is_played() -> None:
    """The same with cards: seat 2 wins from two who are all-in (M5)."""
    hand = played(
        """
urcs-1998, button 0, stacks 30 12 2958
deal 0: Ks Kh, 1: Qs Qh, 2: As Ah, board: 2c 3d 7h 8s Jd
> 1 straddles; 2 raises to 20; 0 calls
> 2 straddles; 0 calls
> 0 announces Ks Kh Jd 8s 7h; 1 mucks; 2 announces As Ah Jd 8s 7h"""
    ).hand
    assert (0, 0, 3000) == hand.stacks


def test_a_freeze_out_ends_when_one_player_has_it_all() -> None:
    """ "the game continues until one player has won the money" (M5)."""
    table = moved(URCS, _table((1000, 1000)))
    assert has_all(table) is None
    seating = deal_in(URCS, table)
    over = settled(URCS, table, seating, _ended(_begun(URCS, seating)[1], (2000, 0)))
    assert "ann" == has_all(over)
    with pytest.raises(IllegalCommand, match=r"^a hand needs two players with chips, not 1$"):
        moved(URCS, over)


def test_the_button_of_a_freeze_out_rotates() -> None:
    """ "The button rotates clockwise from its initial position." """
    starts = [record[0] for record in play(URCS, "m", 5, "rotate", seats=4)]
    buttons = [one.players[one.button] for one in starts if isinstance(one, HandStarted)]
    assert ["random-0", "random-1", "random-2", "random-3", "random-0"] == buttons


def test_chips_are_added_between_hands_only() -> None:
    """ "This means that the player cannot get additional funds from the cashier while he is in the
    midst of a game." (T17): there is no command for it."""
    table = moved(SITE, _table((1000, 40)))
    seating = deal_in(SITE, table)
    table = settled(SITE, table, seating, _ended(_begun(SITE, seating)[1], (1000, 40)))
    assert Chair("bob", 140) == add_chips(table, 1, 100).chairs[1]


def _begun(game: Game, seating: Seating) -> tuple[object, Hand]:
    return begin(
        game,
        "m/1",
        seating.button,
        seating.players,
        seating.stacks,
        seating.posts,
        seating.dead_small,
    )


def _ended(hand: Hand, stacks: tuple[int, ...]) -> Hand:
    """The hand as if it had ended with these stacks."""
    return replace(hand, stacks=stacks, pot=0, over=True)
