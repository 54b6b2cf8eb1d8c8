"""Two worlds: a record, and another that a viewpoint may not be able to tell from it.

What a viewpoint may know is said here once more, in words of its own and without `events.views`:
the board, what was shown or announced, one's own cards, swaps and bids, and open bids if one has
a seat. All other cards are exchanged at random, all other bids get other amounts, replies other
texts.
"""

import random

from msgspec.structs import replace

from events import types as t
from events.cards import DECK
from events.types import Event, Events
from events.views import Public, Seated, Viewpoint


def viewers(record: Events) -> tuple[Viewpoint, ...]:
    """Everybody who may not see everything."""
    start = record[0]
    assert isinstance(start, t.HandStarted)
    return (Public(), *(Seated(seat) for seat in range(len(start.stacks))))


def known_cards(record: Events, who: Viewpoint) -> set[str]:
    """Cards that lie open, and those of one's own seat."""
    known: set[str] = set()
    for event in record:
        match event:
            case t.BoardDealt(cards=cards) | t.Shown(cards=cards) | t.Announced(cards=cards):
                known.update(cards)
            case t.HoleDealt(seat=seat, cards=cards) if who == Seated(seat):
                known.update(cards)
            case t.CardSwapped(seat=seat, old=old, new=new) if who == Seated(seat):
                known.update((old, new))
    return known


def may_know_bid(bid: t.BidPlaced, who: Viewpoint) -> bool:
    """One's own; another's only if it was open, and only at the table (A1)."""
    return who == Seated(bid.seat) or (isinstance(who, Seated) and not bid.sealed)


def other_world(record: Events, who: Viewpoint, chance: random.Random) -> Events:
    """The same to this viewpoint, and otherwise as different as can be."""
    secret = sorted(set(DECK) - known_cards(record, who))
    others = dict(zip(secret, chance.sample(secret, len(secret)), strict=True))
    world: list[Event] = []
    for event in record:
        match event:
            case t.HoleDealt(cards=cards):
                world.append(replace(event, cards=tuple(others.get(c, c) for c in cards)))
            case t.CardSwapped(seat=seat) if who != Seated(seat):
                world.append(_other_swap(event, secret, chance))
            case t.BidPlaced() if not may_know_bid(event, who):
                origin = chance.choice(("chosen", "forced", "default"))
                world.append(replace(event, amount=chance.randrange(10**6), origin=origin))
            case t.Faulted(seat=seat, where=where) if who != Seated(seat):
                if where != "bid":
                    world.append(replace(event, raw=f"reply {chance.random()}"))
            case _:
                world.append(event)
    return tuple(world)


def _other_swap(event: t.CardSwapped, secret: list[str], chance: random.Random) -> Event:
    """Other cards, and another outcome too, unless the others were told that there was one."""
    old, new = chance.sample(secret, 2)
    changed = event.old != event.new if event.told else chance.choice((False, True))
    return replace(event, old=old, new=new if changed else old)
