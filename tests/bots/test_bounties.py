"""Bounties over a match: whose they are, how long they stay, and what a mirrored match makes."""

from itertools import pairwise

from dealer.deck import SeededDecks
from dealer.play import hand_records, plan
from engine.games.pokerbots import BOUNTY_2025_MIT
from events import types as t
from events.cards import Rank

BOTS = ("random", "random")


def _drawn(hands: int, *, mirrored: bool = False) -> list[dict[str, Rank]]:
    """Of each hand the rank of each player."""
    match = plan(BOUNTY_2025_MIT, "m", hands, "11", BOTS, mirrored=mirrored)
    found = []
    for record in hand_records(match, SeededDecks("11", match.deals)):
        start = record[0]
        assert isinstance(start, t.HandStarted)
        drawn = [one for one in record if isinstance(one, t.BountyDrawn)]
        found.append({start.players[one.seat]: one.rank for one in drawn})
    return found


def test_a_player_keeps_his_bounty_for_25_hands_whoever_deals() -> None:
    ranks = _drawn(100)
    changes = [number for number, (one, other) in enumerate(pairwise(ranks), 2) if one != other]
    assert [26, 51, 76] == changes
    assert {"random-0", "random-1"} == set(ranks[0])


def test_in_a_mirrored_match_each_player_has_every_bounty_with_the_cards_of_its_seat() -> None:
    ranks = _drawn(100, mirrored=True)
    for one, other in zip(ranks[::2], ranks[1::2], strict=True):
        assert one == {"random-0": other["random-1"], "random-1": other["random-0"]}
    assert {"random-0", "random-1"} == set(ranks[0])
    assert 1 < len({tuple(sorted(one.values())) for one in ranks})
