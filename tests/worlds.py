"""Two worlds: a record, and another that a viewpoint may not be able to tell from it.

What a viewpoint may know is what `tests/hidden_fields.py` says, without `events.views`. All other
cards are exchanged at random, all other bids get other amounts, replies other texts.
"""

import random
from typing import get_args

from msgspec.structs import replace

from events import types as t
from events.cards import DECK, Rank
from events.evolve import replay
from events.types import Event, Events
from events.views import Auditor, Public, Seated, Viewpoint
from tests.hidden_fields import WHO_SEES, hidden, is_there, sees

CARDS = {"cards", "old", "new"}


def viewers(record: Events) -> tuple[Viewpoint, ...]:
    """Everybody who may not see everything."""
    start = record[0]
    assert isinstance(start, t.HandStarted)
    return (Public(), *(Seated(seat) for seat in range(len(start.stacks))))


def known_cards(record: Events, who: Viewpoint) -> set[str]:
    """Cards that lie open, and those of one's own seat."""
    return {
        card
        for event in record
        for field in CARDS & set(WHO_SEES[type(event).__name__])
        if sees(event, field, seat_of(who))
        for card in _row(getattr(event, field))
    }


def other_world(record: Events, who: Viewpoint, chance: random.Random) -> Events:
    """The same to this viewpoint, and otherwise as different as can be; whether somebody hit his
    bounty everybody is told, so his other cards and his other rank hit it, too, or miss it."""
    world = _exchanged(record, who, chance)
    while not _hits_are_told(world):
        world = _exchanged(record, who, chance)
    return world


def _hits_are_told(world: Events) -> bool:
    hand = replay(world)
    return all(
        event.hit
        == any(
            card[0] == dict(hand.bounties)[event.seat]
            for card in (*hand.hole[event.seat], *hand.board)
        )
        for event in world
        if isinstance(event, t.BountySettled)
    )


def _exchanged(record: Events, who: Viewpoint, chance: random.Random) -> Events:
    """Other cards, ranks, bids and replies wherever this viewpoint does not see them."""
    secret = sorted(set(DECK) - known_cards(record, who))
    others = dict(zip(secret, chance.sample(secret, len(secret)), strict=True))
    world: list[Event] = []
    for event in record:
        unseen = hidden(event, seat_of(who))
        if not is_there(event, seat_of(who)):
            continue
        match event:
            case t.HoleDealt(cards=cards):
                world.append(replace(event, cards=tuple(others.get(c, c) for c in cards)))
            case t.CardSwapped() if unseen:
                world.append(_other_swap(event, secret, chance, changed="changed" in unseen))
            case t.BountyDrawn() if unseen:
                world.append(replace(event, rank=chance.choice(get_args(Rank))))
            case t.BidPlaced() if unseen:
                origin = chance.choice(("chosen", "forced", "default"))
                world.append(replace(event, amount=chance.randrange(10**6), origin=origin))
            case t.Faulted() if unseen:
                world.append(replace(event, raw=f"reply {chance.random()}"))
            case _:
                assert not unseen, event
                world.append(event)
    return tuple(world)


def seat_of(who: Viewpoint) -> int | None:
    """The seat of who is no auditor; none of the public's."""
    assert not isinstance(who, Auditor)
    return who.seat if isinstance(who, Seated) else None


def _row(cards: str | tuple[str, ...]) -> tuple[str, ...]:
    return (cards,) if isinstance(cards, str) else cards


def _other_swap(
    event: t.CardSwapped, secret: list[str], chance: random.Random, *, changed: bool
) -> Event:
    """Other cards, and another outcome, too, where that is hidden."""
    old, new = chance.sample(secret, 2)
    another = chance.choice((False, True)) if changed else event.old != event.new
    return replace(event, old=old, new=new if another else old)
