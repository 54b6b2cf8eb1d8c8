"""Swap Hold'em: chances, discards, and what nobody learns of another's swap."""

from fractions import Fraction

import pytest
from msgspec.structs import replace

from dealer.play import play
from engine.game import fingerprint
from engine.games import named
from engine.games.swap_2022 import script
from engine.hand import step, turn
from engine.steps import SwapHole
from engine.turn import Check, Deal, IllegalCommand, Swap, ToSwap
from events.cards import DECK
from events.state import Hand
from events.types import CardSwapped, HandStarted
from events.views import HIDDEN, Auditor, CardSwappedSeen, Public, Seated, see
from tests.pages import Table, played

SWAP = named("swap-2022")
FLOP, TURN = (Fraction(one.chance, one.of) for one in SWAP.script if isinstance(one, SwapHole))

LIMPED = "{game}, button 0, stacks 200 200\n{more}deal 0: Kd Ah, 1: Qs Qh\n"


def test_the_chances_of_a_swap() -> None:
    """ "On the flop, the probability of a swap is 10%, and on the turn, the probability of a swap
    is 5%." """
    assert (Fraction(10, 100), Fraction(5, 100)) == (FLOP, TURN)


@pytest.mark.parametrize(
    ("chance", "percent"),
    [
        (FLOP**2, "1"),
        (1 - (1 - FLOP) ** 2, "19"),
        (1 - (1 - FLOP) ** 4, "34.39"),
        (1 - (1 - TURN) ** 2, "9.75"),
        (1 - (1 - TURN) ** 4, "18.55"),
        ((1 - FLOP) * (1 - TURN), "85.5"),
        (((1 - FLOP) * (1 - TURN)) ** 4, "53.44"),
    ],
)
def test_what_independent_swaps_add_up_to(chance: Fraction, percent: str) -> None:
    """ "Cards are evaluated independently": both cards of one player; one player; anybody; the
    same on the turn; a card that survives both; no swap at all (S3)."""
    told = Fraction(percent) / 100
    assert abs(told - chance) < Fraction(1, 20_000)


@pytest.mark.parametrize("discard", ["dead", "returned"])
def test_a_discarded_card_is_dead(discard: str) -> None:
    """The engine puts it under the deck: a player has then seen six cards, 46 are left (S2)."""
    table = _swapped(f"with swap_discard={discard}\n")
    hand = table.hand
    assert ("Ah",) == hand.discards
    seen = {*hand.hole[0], *hand.board, *hand.discards}
    assert 46 == len(set(DECK) - seen)
    at_turn = _until_swap(table)
    if discard == "dead":
        with pytest.raises(IllegalCommand, match=r"^Ah is already in play$"):
            step(table.game, at_turn, Swap((None, "Ah", None, None)))
    else:
        _, hand = step(table.game, at_turn, Swap((None, "Ah", None, None)))
        assert ("Kd", "Ah") == hand.hole[0]


def test_at_most_thirteen_cards_of_forty_eight_are_drawn() -> None:
    """Five for the board and four on each of two streets (S2)."""
    table = played(
        "swap-2022, button 0, stacks 200 200\nswaps new new new new / new new new new\n"
        "> 0 calls; 1 checks; 1 checks; 0 checks; 1 checks; 0 checks; 1 checks; 0 checks"
    )
    assert 13 == len(table.hand.board) + len(table.hand.discards)


def test_a_swap_needs_an_answer_for_every_card_at_risk() -> None:
    """The dealer's two cards, then the other's; each with a chance of its own (S3)."""
    table = played(LIMPED.format(game="swap-2022", more="") + "> 0 calls; 1 checks")
    hand = _until_swap(table)
    asked = turn(table.game, hand)
    assert ToSwap(((0, 0), (0, 1), (1, 0), (1, 1)), 5, 100) == asked


def test_nobody_learns_of_anothers_swap() -> None:
    """A player is always shown his own cards; the opponent's swaps appear only at showdown (S5).

    Two worlds: hands that differ only in seat 0's swap look the same to everybody else.
    """
    swapped = _swapped("").events
    kept = played(LIMPED.format(game="swap-2022", more="") + "> 0 calls; 1 checks").events
    assert swapped != kept
    for who in (Seated(1), Public()):
        assert see(kept, who) == see(swapped, who)
    assert CardSwappedSeen(0, 1, "Ah", "7d", changed=True) in see(swapped, Seated(0))
    assert CardSwappedSeen(0, 1, "Ah", "7d", changed=True) in see(swapped, Auditor())


def test_where_both_are_told_the_card_itself_stays_hidden() -> None:
    """`both_told`: that it changed, not into what (S5)."""
    told = _swapped("with swap_seen=both_told\n").events
    assert CardSwappedSeen(0, 1, HIDDEN, HIDDEN, changed=True) in see(told, Seated(1))
    assert CardSwappedSeen(0, 0, HIDDEN, HIDDEN, changed=False) in see(told, Seated(1))


def test_other_chances_are_another_ruleset() -> None:
    """ "Note that these may change later in the competition.": 0.3 and 0.2 in a tournament of 2022
    (S6)."""
    other = replace(SWAP, script=script("after_board", SwapHole(30), SwapHole(20)))
    assert fingerprint(SWAP) != fingerprint(other)


def test_the_record_lists_every_card_at_risk() -> None:
    """Four on the flop, four on the turn, changed or not: so the rate can be tested (S6)."""
    for number, record in enumerate(play(SWAP, "m", 40, "seed")):
        at_risk = [event for event in record if isinstance(event, CardSwapped)]
        assert len(at_risk) in (0, 4, 8), number


def test_a_fresh_deal_swaps_about_as_often_as_it_should() -> None:
    """10 % of the cards on the flop and 5 % on the turn, within four standard deviations (S3)."""
    risks: dict[bool, list[bool]] = {False: [], True: []}
    for record in play(SWAP, "m", 400, "rates"):
        at_risk = [event for event in record if isinstance(event, CardSwapped)]
        for place, event in enumerate(at_risk):
            risks[place >= 4].append(event.old != event.new)
    for later, chance in ((False, FLOP), (True, TURN)):
        count = len(risks[later])
        off = sum(risks[later]) - count * chance
        assert off**2 < 16 * count * chance * (1 - chance)


def test_the_dealer_alternates() -> None:
    """ "The dealer alternates between successive rounds." (A18, M4)"""
    starts = [record[0] for record in play(SWAP, "m", 4, "seed")]
    assert [0, 1, 0, 1] == [one.button for one in starts if isinstance(one, HandStarted)]
    assert {(200, 200)} == {one.stacks for one in starts if isinstance(one, HandStarted)}


@pytest.mark.parametrize(("name", "flop", "turn"), [("swap-2022", 3, 4), ("swap-2022-mit", 0, 3)])
def test_fixed_places_do_not_depend_on_who_swapped_what(name: str, flop: int, turn: int) -> None:
    """Flop c52 to c49, turn c48 to c45: dealer 1, dealer 2, other 1, other 2 (G21)."""
    table = played(f"{name}, button 0, stacks 200 200\nwith deck_slots=fixed\n> 0 calls; 1 checks")
    swap = next(one for one in table.game.script if isinstance(one, SwapHole))
    board = ("6c", "7c", "8c", "9c")
    for dealt, slots in ((flop, (51, 50, 49, 48)), (turn, (47, 46, 45, 44))):
        assert slots == swap.turn(table.game, replace(table.hand, board=board[:dealt])).slots


def _swapped(more: str) -> Table:
    """Seat 0 is dealt Kd Ah and holds Kd 7d on the flop."""
    text = LIMPED.format(game="swap-2022", more=more)
    return played(text + "swaps - 7d - -\n> 0 calls; 1 checks")


def _until_swap(table: Table) -> Hand:
    """The hand as it waits for the swap on the turn."""
    hand = table.hand
    for command in (Check(1), Check(0), Deal(("2s",))):
        _, hand = step(table.game, hand, command)
    return hand
