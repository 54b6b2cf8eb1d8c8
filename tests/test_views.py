"""What is hidden stays hidden: two worlds that a viewpoint may not tell apart look the same to it.

The other world is made by `tests/worlds.py`; what is seen must be the same to the byte, for every
beginning of a record.
"""

import random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from engine.game import Game
from events import types as t
from events.cards import DECK
from events.codec import encode
from events.match import MatchStarted
from events.types import Event, Events
from events.views import Auditor, Public, Seated, Viewpoint, see, viewpoint
from tests.hands import some_games, sources, walk
from tests.hidden_fields import sees
from tests.profiles import examples
from tests.worlds import known_cards, other_world, seat_of, viewers

TELLTALE = 987654321
_encoder = msgspec.json.Encoder(order="sorted")


@some_games
@examples(4)
@given(source=sources, seed=st.integers(0, 2**16))
def test_two_worlds_look_alike_to_whom_they_differ_in_secret(
    game: Game, source: bytes, seed: int
) -> None:
    record = walk(game, source).record
    chance = random.Random(seed)
    for who in viewers(record):
        for end in {chance.randrange(1, len(record) + 1), len(record)}:
            begun = record[:end]
            assert _seen(begun, who) == _seen(other_world(begun, who, chance), who)


@some_games
@examples(4)
@given(source=sources)
def test_a_stream_never_changes_behind_who_follows_it(game: Game, source: bytes) -> None:
    record = walk(game, source).record
    for who in (*viewers(record), Auditor()):
        whole = _seen(record, who)
        for end in range(0, len(record), 5):
            begun = _seen(record[:end], who)
            assert begun == whole[: len(begun)]


@some_games
@examples(4)
@given(source=sources)
def test_no_secret_stands_anywhere_in_what_is_seen(game: Game, source: bytes) -> None:
    record = walk(game, source).record
    for who in viewers(record):
        bids = tuple(_with_telltale_bid(event, who) for event in record)
        text = b"\n".join(_seen(bids, who)).decode()
        secret = set(DECK) - known_cards(record, who)
        assert [] == [card for card in secret if f'"{card}"' in text]
        assert str(TELLTALE) not in text
        assert '\\"' not in text or isinstance(who, Seated)  # the text of another's bad reply


@some_games
@examples(4)
@given(source=sources)
def test_nothing_is_hidden_from_an_auditor(game: Game, source: bytes) -> None:
    record = walk(game, source).record
    for event, seen in zip(record, _seen(record, Auditor()), strict=True):
        told = msgspec.json.decode(encode(event))
        read = msgspec.json.decode(seen)
        assert told == {**told, **{field: read[field] for field in told if field in read}}
        assert b"redacted" not in seen


@some_games
@examples(4)
@given(source=sources)
def test_that_a_sealed_bid_failed_is_for_its_bidder_alone(game: Game, source: bytes) -> None:
    record = walk(game, source).record
    for who in viewers(record):
        note = t.Faulted(0, "X", "malformed", "bid")
        noted = (*record[:3], note, *record[3:])
        assert (who == Seated(0)) == (_seen(noted, who) != _seen(record, who))


def test_only_an_auditor_may_know_the_seed() -> None:
    start = MatchStarted("m", "g", "r", ("ursa", "lynx"), "seeded", "sealed", True, "4711")
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


def _seen(record: Events, who: Viewpoint) -> tuple[bytes, ...]:
    return tuple(_encoder.encode(seen) for seen in see(record, who))


def _with_telltale_bid(event: Event, who: Viewpoint) -> Event:
    if isinstance(event, t.BidPlaced) and not sees(event, "amount", seat_of(who)):
        return replace(event, amount=TELLTALE)
    return event
