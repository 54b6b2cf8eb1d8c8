"""A bot is told what its seat may see, and nothing that could lead it further."""

import random
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given, strategies

from dealer.bots.seat_view import SeatHistories, Seen, seat_view
from engine.game import Game
from engine.hand import turn
from engine.turn import ToAct, ToBid, ToShow, ToStraddle
from events import types
from events.evolve import replay
from events.state import Auction, Hand, Round
from events.views import Seated, see
from tests.hands import Move, Played, seeded, some_games, sources, walk
from tests.worlds import other_world

SEEDS = strategies.integers(0, 1 << 32)


def asked(played: Played) -> Iterator[tuple[Move, int]]:
    """The questions that are a seat's, and whose."""
    for move in played.moves:
        if isinstance(move.asked, ToAct | ToBid | ToShow | ToStraddle):
            yield move, move.asked.seat


@some_games
@given(source=sources, seed=SEEDS)
def test_two_worlds_that_differ_in_secret_are_one_to_a_bot(
    game: Game, source: bytes, seed: int
) -> None:
    played = walk(game, source)
    chance = random.Random(seed)
    for move, seat in asked(played):
        record = played.record[: move.at]
        other = other_world(record, Seated(seat), chance)
        question = turn(game, replay(other))
        assert isinstance(question, ToAct | ToBid | ToShow | ToStraddle)
        assert _told(game, move.before, record, seat) == seat_view(
            game, replay(other), question, SeatHistories(other).of(seat)
        )


def _told(game: Game, hand: Hand, record: types.Events, seat: int) -> Seen:
    question = turn(game, hand)
    assert isinstance(question, ToAct | ToBid | ToShow | ToStraddle)
    return seat_view(game, hand, question, SeatHistories(record).of(seat))


@some_games
def test_what_a_bot_is_told_can_be_played_by(game: Game) -> None:
    """Its own cards, the board, the chips on the table, and the menu: as they are."""
    for seed in range(10):
        played = seeded(game, f"told {seed}")
        for move, seat in asked(played):
            hand, seen = move.before, _told(game, move.before, played.record[: move.at], seat)
            assert (seat, move.asked) == (seen.seat, seen.asked)
            assert (hand.hole[seat], hand.board) == (seen.hole, seen.board)
            assert (hand.pot, hand.stacks, hand.paid) == (seen.pot, seen.stacks, seen.paid)
            assert seat not in seen.rivals
            assert len(seen.rivals) == len(hand.stacks) - hand.standing.count("folded") - 1
            for shown, hole in zip(seen.shown, hand.hole, strict=True):
                assert shown in ((), hole)


@some_games
def test_a_history_that_grows_is_that_of_its_record(game: Game) -> None:
    played = seeded(game, "grows")
    record: list[types.Event] = []
    histories = SeatHistories(record)
    for event in played.record:
        record.append(event)
        assert see(record, Seated(1)) == histories.of(1)
    assert see(record, Seated(0)) == histories.of(0)


SECRET = (Hand, Round, Auction, types.HoleDealt, types.BidPlaced, types.CardSwapped, types.Faulted)


def test_nothing_in_what_a_bot_is_told_can_hold_a_secret() -> None:
    """By its types: no hand, no stored event that hides something, in no field of any depth."""
    reached = _types_in(Seen)
    assert Seen in reached
    assert {types.HandStarted, Game, ToAct} <= reached
    assert set() == reached & set(SECRET)
    assert {Hand, Round, Auction} <= _types_in(Hand)


def _types_in(whole: type) -> set[type]:
    """Every struct that a value of this type may hold."""
    found: set[type] = set()
    rest: list[Any] = [msgspec.inspect.type_info(whole)]
    while rest:
        here = rest.pop()
        if isinstance(here, msgspec.inspect.StructType):
            if here.cls in found:
                continue
            found.add(here.cls)
            rest += [field.type for field in here.fields]
        elif isinstance(here, msgspec.inspect.UnionType):
            rest += here.types
        elif isinstance(here, msgspec.inspect.VarTupleType):
            rest.append(here.item_type)
        elif isinstance(here, msgspec.inspect.TupleType):
            rest += here.item_types
        else:
            assert not isinstance(here, msgspec.inspect.AnyType | msgspec.inspect.CustomType)
    return found


def test_what_a_bot_is_told_cannot_be_changed() -> None:
    seen = msgspec.structs.replace(_any_sight(), pot=7)
    with pytest.raises(AttributeError):
        seen.pot = 8  # type: ignore[misc]


def _any_sight() -> Seen:
    from engine.games import named

    played = seeded(named("auction-2024"), "any")
    move, seat = next(asked(played))
    return _told(played.game, move.before, played.record[: move.at], seat)
