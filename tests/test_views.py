"""What is hidden stays hidden: two worlds that a viewpoint may not tell apart look the same to it.

What a viewpoint may know is said here once more, in words of its own and without `events.views`:
the board, what was shown or announced, one's own cards, swaps and bids, and open bids if one has
a seat. All other cards are exchanged at random, all other bids get other amounts, replies other
texts; what is seen must then be the same to the byte, for every beginning of a record.
"""

import random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from engine.game import Game
from events import types as t
from events.cards import DECK
from events.codec import encode
from events.types import Event, Events
from events.views import Auditor, Public, Seated, Viewpoint, see, viewpoint
from tests.hands import every_game, sources, walk

TELLTALE = 987654321
_encoder = msgspec.json.Encoder(order="sorted")


@every_game
@settings(max_examples=12)
@given(source=sources, seed=st.integers(0, 2**16))
def test_two_worlds_look_alike_to_whom_they_differ_in_secret(
    game: Game, source: bytes, seed: int
) -> None:
    record = walk(game, source).record
    chance = random.Random(seed)
    for who in _viewers(record):
        for end in {chance.randrange(1, len(record) + 1), len(record)}:
            begun = record[:end]
            assert _seen(begun, who) == _seen(_other_world(begun, who, chance), who)


@every_game
@settings(max_examples=12)
@given(source=sources)
def test_a_stream_never_changes_behind_who_follows_it(game: Game, source: bytes) -> None:
    record = walk(game, source).record
    for who in (*_viewers(record), Auditor()):
        whole = _seen(record, who)
        for end in range(0, len(record), 5):
            begun = _seen(record[:end], who)
            assert begun == whole[: len(begun)]


@every_game
@settings(max_examples=12)
@given(source=sources)
def test_no_secret_stands_anywhere_in_what_is_seen(game: Game, source: bytes) -> None:
    record = walk(game, source).record
    for who in _viewers(record):
        bids = tuple(_with_telltale_bid(event, who) for event in record)
        text = b"\n".join(_seen(bids, who)).decode()
        secret = set(DECK) - _known_cards(record, who)
        assert [] == [card for card in secret if f'"{card}"' in text]
        assert str(TELLTALE) not in text
        assert '\\"' not in text or isinstance(who, Seated)  # the text of another's bad reply


@every_game
@settings(max_examples=12)
@given(source=sources)
def test_nothing_is_hidden_from_an_auditor(game: Game, source: bytes) -> None:
    record = walk(game, source).record
    for event, seen in zip(record, _seen(record, Auditor()), strict=True):
        told = msgspec.json.decode(encode(event))
        read = msgspec.json.decode(seen)
        assert told == {**told, **{field: read[field] for field in told if field in read}}
        assert b"redacted" not in seen


@every_game
@settings(max_examples=12)
@given(source=sources)
def test_that_a_sealed_bid_failed_is_for_its_bidder_alone(game: Game, source: bytes) -> None:
    record = walk(game, source).record
    for who in _viewers(record):
        note = t.Faulted(0, "X", "malformed", "bid")
        noted = (*record[:3], note, *record[3:])
        assert (who == Seated(0)) == (_seen(noted, who) != _seen(record, who))


def test_only_an_auditor_may_know_the_seed() -> None:
    start = t.MatchStarted("m", "g", "r", ("ursa", "lynx"), "seeded", "sealed", True, "4711")
    unseeded = replace(start, seed=None)
    for who in (Public(), Seated(0), Seated(1)):
        assert "4711" not in _encoder.encode(see((start,), who)).decode()
        assert _encoder.encode(see((unseeded,), who)) != _encoder.encode(see((start,), who))
    assert "4711" in _encoder.encode(see((start,), Auditor())).decode()


@pytest.mark.parametrize("view", ["public", "seat:ursa", "seat:lynx", "auditor"])
def test_a_viewpoint_has_a_name(view: str) -> None:
    expected = {"public": Public(), "seat:ursa": Seated(0), "seat:lynx": Seated(1)}
    assert expected.get(view, Auditor()) == viewpoint(view, ("ursa", "lynx"))


@pytest.mark.parametrize("view", ["", "seat", "seat:", "seat:puma", "seat:0", "Public", "ursa"])
def test_an_unknown_viewpoint_is_refused_with_those_there_are(view: str) -> None:
    with pytest.raises(ValueError, match="there are public, auditor, seat:ursa, seat:lynx"):
        viewpoint(view, ("ursa", "lynx"))


def _viewers(record: Events) -> tuple[Viewpoint, ...]:
    """Everybody who may not see everything."""
    start = record[0]
    assert isinstance(start, t.HandStarted)
    return (Public(), *(Seated(seat) for seat in range(len(start.stacks))))


def _seen(record: Events, who: Viewpoint) -> tuple[bytes, ...]:
    return tuple(_encoder.encode(seen) for seen in see(record, who))


def _known_cards(record: Events, who: Viewpoint) -> set[str]:
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


def _may_know_bid(bid: t.BidPlaced, who: Viewpoint) -> bool:
    """One's own; another's only if it was open, and only at the table (A1)."""
    return who == Seated(bid.seat) or (isinstance(who, Seated) and not bid.sealed)


def _other_world(record: Events, who: Viewpoint, chance: random.Random) -> Events:
    """The same to this viewpoint, and otherwise as different as can be."""
    secret = sorted(set(DECK) - _known_cards(record, who))
    others = dict(zip(secret, chance.sample(secret, len(secret)), strict=True))
    world: list[Event] = []
    for event in record:
        match event:
            case t.HoleDealt(cards=cards):
                world.append(replace(event, cards=tuple(others.get(c, c) for c in cards)))
            case t.CardSwapped(seat=seat) if who != Seated(seat):
                world.append(_other_swap(event, secret, chance))
            case t.BidPlaced() if not _may_know_bid(event, who):
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


def _with_telltale_bid(event: Event, who: Viewpoint) -> Event:
    if isinstance(event, t.BidPlaced) and not _may_know_bid(event, who):
        return replace(event, amount=TELLTALE)
    return event
