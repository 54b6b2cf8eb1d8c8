"""From the deck to the table, by the words of docs/deals.md alone: nothing of the engine deals."""

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, get_args

import pytest
from msgspec.structs import replace

from engine.game import Game, to_json
from engine.games import GAMES
from events import types as t
from events.cards import Rank
from events.deck import Committed, Luck, committed, deck_number, opened_key, shuffled
from events.match import DeckOpened
from tests.trust.committed_matches import played

EVERY = (
    *((game, False) for game in GAMES.values()),
    *((game, True) for game in GAMES.values() if game.stacks == "reset"),
    (replace(GAMES["site-nl"], burn=1), False),
    (replace(GAMES["auction-2024"], third_card="bottom", burn=1), False),
    (replace(GAMES["swap-2022"], burn=1), True),
    (replace(GAMES["swap-2022"], seats_max=3, burn=1), True),
    (replace(GAMES["auction-2024"], seats_max=3), True),
)


class Stranger:
    """A deck in the hands of somebody who has the page, the ruleset's text and the record."""

    def __init__(
        self,
        rules: dict[str, Any],
        start: t.HandStarted,
        key: bytes,
        index: int = 0,
        keys: Callable[[int], bytes] = lambda index: b"",
    ) -> None:
        self.rules = rules
        self.seats = len(start.players)
        self.button = start.button
        self.deck = list(shuffled(key))
        self.top, self.bottom = 0, 51
        self.luck = Luck(key)
        self.board = 0
        (self.dealt,) = (it["count"] for it in rules["script"] if it["type"] == "DealHole")
        self.index, self.keys = index, keys

    @property
    def fixed(self) -> bool:
        return bool(self.rules["deck_slots"] == "fixed")

    def next(self) -> str:
        self.top += 1
        return self.deck[self.top - 1]

    def hole(self) -> dict[int, tuple[str, ...]]:
        """Two cards for every seat."""
        held: dict[int, list[str]] = {seat: [] for seat in range(self.seats)}
        if self.rules["hole_order"] == "one_each_from_left":
            for _ in range(self.dealt):
                for away in range(1, self.seats + 1):
                    held[(self.button + away) % self.seats].append(self.next())
        else:
            for away in range(self.seats):
                held[(self.button + away) % self.seats] += [self.next() for _ in range(self.dealt)]
        return {seat: tuple(cards) for seat, cards in held.items()}

    def street(self, count: int) -> tuple[str, ...]:
        if self.fixed:
            first = self.dealt * self.seats + self.board
            self.board += count
            return tuple(self.deck[first : first + count])
        self.top += self.rules["burn"]
        return tuple(self.next() for _ in range(count))

    def third(self, seat: int) -> str:
        if self.fixed:
            return self.deck[51 - (seat - self.button) % self.seats]
        if self.rules["third_card"] == "bottom":
            self.bottom -= 1
            return self.deck[self.bottom + 1]
        return self.next()

    def swap(self, step: dict[str, Any], place: int, on_turn: bool) -> str | None:
        if self.luck.below(step["of"]) >= step["chance"]:
            return None
        late = 2 * self.seats if on_turn else 0
        return self.deck[51 - place - late] if self.fixed else self.next()

    def bounties(self, hands: int) -> list[Rank]:
        """The ranks of the seats, the button's first."""
        luck = Luck(self.keys(self.index // hands * hands), b"muckrake/bounty/v1\0")
        ranks: tuple[Rank, ...] = get_args(Rank)
        assert "23456789TJQKA" == "".join(ranks)
        drawn = [ranks[luck.below(13)] for _ in range(self.seats)]
        return [drawn[(after + self.index) % self.seats] for after in range(self.seats)]


def owed(hand: t.Events, dealer: Stranger) -> Iterator[tuple[t.Event, t.Event]]:
    """Each event that gives cards, and what it should have said."""
    hole: dict[int, tuple[str, ...]] = {}
    step: dict[str, Any] = {}
    swaps = 0
    for event in hand:
        match event:
            case t.StepEntered(step=at, name=name):
                step = dealer.rules["script"][at]
                swaps += name == "swap"
                hole = dealer.hole() if name == "hole" else hole
            case t.HoleDealt(seat=seat) if step["type"] == "DealHole":
                yield event, t.HoleDealt(seat, hole[seat])
            case t.HoleDealt(seat=seat):
                yield event, t.HoleDealt(seat, (dealer.third(seat),))
            case t.BoardDealt(cards=cards):
                yield event, t.BoardDealt(dealer.street(len(cards)))
            case t.CardSwapped(seat=seat, slot=slot, old=old):
                place = 2 * ((seat - dealer.button) % dealer.seats) + slot
                new = dealer.swap(step, place, swaps == 2)
                yield event, replace(event, new=new or old)
            case t.BountyDrawn(seat=seat):
                after = (seat - dealer.button) % dealer.seats
                yield event, t.BountyDrawn(seat, dealer.bounties(step["hands"])[after])


@pytest.mark.parametrize(
    ("game", "mirrored"), EVERY, ids=lambda one: one.name if isinstance(one, Game) else str(one)
)
def test_a_stranger_deals_the_same_cards_to_the_same_seats(game: Game, mirrored: bool) -> None:
    rules, records, hands = played(game, mirrored=mirrored)
    deals = 1 if not mirrored else len(start_of(hands[0]).players)
    (made,) = committed(records)
    opened = records[-1]
    assert isinstance(opened, DeckOpened)
    text = json.loads(to_json(rules))
    for number, hand in enumerate(hands, start=1):
        key = opened_key(opened, made.nonces, "m", deck_number(number, deals))
        keys = partial(key_of, opened, made, deals)
        index = (number - 1) // deals
        pairs = list(owed(hand, Stranger(text, start_of(hand), key, index, keys)))
        assert [event for event, _ in pairs] == [expected for _, expected in pairs]
        assert pairs


def key_of(opened: DeckOpened, made: Committed, deals: int, index: int) -> bytes:
    """The key of the deck of this index."""
    return opened_key(opened, made.nonces, "m", index * deals + 1)


def start_of(hand: t.Events) -> t.HandStarted:
    start = hand[0]
    assert isinstance(start, t.HandStarted)
    return start
