"""Auction Hold'em: what a page cannot show, because it is about views and about matches."""

import pytest

from dealer.play import play
from engine.games import named
from events.types import AuctionSettled, HandStarted
from events.views import HIDDEN, BidPlacedSeen, HoleDealtSeen, Public, Seated, see
from tests.pages import played

LIMPED = "{game}, button 0, stacks 400 400\n> 0 calls; 1 checks; "


@pytest.mark.parametrize("who", [Seated(0), Public()])
def test_no_view_tells_the_first_bid_before_both_are_in(who: Seated | Public) -> None:
    """ "both players will post a bid without knowledge of the other player's bid" (A1).

    Two worlds: hands that differ in nothing but the first bid look the same to everybody else.
    """
    first, second = (
        played(LIMPED.format(game="auction-2024") + f"1 bids {bid}").events for bid in (37, 211)
    )
    assert first != second
    assert see(first, who) == see(second, who)


def test_the_engine_of_2024_told_the_dealer() -> None:
    """Its prompt carried the big blind's bid in clear; the record says so (A1)."""
    leaked = played(LIMPED.format(game="auction-2024-mit") + "1 bids 37, open").events
    assert BidPlacedSeen(1, 37, False, "chosen") == see(leaked, Seated(0))[-1]
    assert BidPlacedSeen(1, HIDDEN, False, HIDDEN) == see(leaked, Public())[-1]


def test_the_third_card_is_private() -> None:
    """The third card is a hole card (A14)."""
    won = played(LIMPED.format(game="auction-2024") + "1 bids 7; 0 bids 9").events
    dealt = [seen for seen in see(won, Seated(1)) if isinstance(seen, HoleDealtSeen)]
    assert HoleDealtSeen(0, (HIDDEN,)) == dealt[-1]


@pytest.mark.parametrize(("policy", "bids"), [("after_auction", (7, 9)), ("price_only", ())])
def test_what_becomes_public_after_an_auction(policy: str, bids: tuple[int, ...]) -> None:
    """The engine sends both bids to both players; another reading tells the price alone (A14)."""
    text = LIMPED.format(game="auction-2024").replace("\n", f"\nwith bids_revealed={policy}\n")
    won = played(text + "1 bids 7; 0 bids 9").events
    settled = [seen for seen in see(won, Public()) if isinstance(seen, AuctionSettled)]
    assert [AuctionSettled((0,), 7, bids, sealed=True)] == settled


def test_the_first_named_player_deals_hand_one_and_the_dealer_alternates() -> None:
    """ "The dealer alternates between successive rounds." (A18)"""
    starts = [hand[0] for hand in play(named("auction-2024"), "m", 4, "seed")]
    assert [0, 1, 0, 1] == [start.button for start in starts if isinstance(start, HandStarted)]
