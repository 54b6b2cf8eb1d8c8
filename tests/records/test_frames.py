"""Frames are the fold of what is seen, event by event, and tell nobody more than that."""

import math
import random
import re
from itertools import groupby
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from api.questions.frames import frames
from api.questions.hand import event_rows
from api.viewpoints.redaction import event_line, replay_seen, table_as_json
from engine.game import Game
from engine.games import GAMES
from engine.pots import pots
from engine.seats import contenders
from events import types as t
from events.notation import read, say
from events.types import Events
from events.views import Auditor, Public, Seated, see
from odds.batch import equities
from tests.hands import seeded, some_games, sources, walk
from tests.profiles import examples, sized
from tests.redacted_hands import sight_of
from tests.worlds import other_world, viewers

AUCTION = """\
hand scrim/1 of auction-2024 5b97ece4fdf354c9, button 0: ursa 400, lynx 400
0 posts small 1 to 1
1 posts big 2 to 2
step 1: hole
0 is dealt [5d 6h]
1 is dealt [Tc 5s]
step 2: preflop betting, 2 to match, raise by 2, 0 to act
0 calls 1, 1 to act
1 checks
step 3: flop
board [Jd 7c 6c]
step 4: auction
1 bids 37
0 bids 52
auction to 0 at 37, bids 37 and 52
0 is dealt [Th]
step 5: flop betting, 0 to match, raise by 2, 1 to act
1 checks, 0 to act
"""


def record_of(text: str) -> Events:
    """A hand from its lines."""
    return tuple(map(read, text.splitlines()))


@some_games
@examples(2, 3)
@given(source=sources)
def test_each_frame_is_the_table_that_replay_counts(game: Game, source: bytes) -> None:
    record = walk(game, source).record
    for who in (Auditor(), *viewers(record)):
        seen = see(record, who)
        drawn = frames(sight_of(record, who), "anybody", game)["frames"]
        assert len(drawn) == len(seen)
        for place, frame in enumerate(drawn):
            table = table_as_json(replay_seen(seen[: place + 1]))
            seats = table.pop("seats")
            assert table == {name: frame[name] for name in table}
            for told, seat in zip(seats, frame["seats"], strict=True):
                del told["player"]
                told["bet"] = told["bet"] if frame["middle"] < frame["pot"] else 0
                assert told == {name: seat[name] for name in told}


@some_games
@examples(2, 3)
@given(source=sources)
def test_every_chip_is_in_a_stack_a_pot_or_the_rake_in_every_frame(
    game: Game, source: bytes
) -> None:
    played = walk(game, source)
    brought = sum(played.hand.start.stacks)
    for frame in frames(sight_of(played.record, Public()), "public", game)["frames"]:
        stacks = sum(seat["stack"] for seat in frame["seats"])
        bets = sum(seat["bet"] for seat in frame["seats"])
        assert brought == stacks + frame["pot"] + frame["rake"]
        assert frame["pot"] == frame["middle"] + bets
        if frame["pot"] and not frame["awards"] and not frame["rake"]:
            assert frame["middle"] == sum(pot["amount"] for pot in frame["pots"])


@some_games
@examples(2, 3)
@given(source=sources)
def test_the_pots_before_payment_are_those_that_the_rules_pay(game: Game, source: bytes) -> None:
    record = walk(game, source).record
    paid = [at for at, event in enumerate(record) if isinstance(event, t.PotSplit | t.RakeTaken)]
    if not paid:
        return
    hand = replay_seen(see(record[: paid[0]], Auditor()))
    expected = [
        {"amount": one.amount, "seats": list(one.seats)}
        for one in pots(game, hand, contenders(hand))
    ]
    drawn = frames(sight_of(record, Auditor()), "auditor", game)["frames"]
    for frame in drawn[paid[0] : paid[-1] + 1]:
        assert _merged(expected) == _merged(frame["pots"])


@some_games
@examples(2, 3)
@given(source=sources)
def test_whoever_faces_a_bet_is_told_his_price_and_all_see_the_same(
    game: Game, source: bytes
) -> None:
    """He puts in no more than he has; he can win all that others have put in, and what he calls
    with, unless he or another is all-in for less."""
    record = walk(game, source).record
    told = [frames(sight_of(record, who), "anybody", game)["frames"] for who in viewers(record)]
    # Not all see as many events: a sealed bid is one of them.
    prices = [[it for it, _ in groupby(one["facing"] for one in drawn) if it] for drawn in told]
    assert all(prices[0] == others for others in prices)
    for frame in told[0]:
        facing = frame["facing"]
        if facing is None:
            continue
        seat = frame["seats"][facing["seat"]]
        assert facing["seat"] == frame["next"]
        assert 0 < facing["call"] <= seat["stack"]
        assert facing["call"] < facing["of"] <= frame["pot"] + facing["call"]
        all_in = "all_in" in {it["standing"] for it in frame["seats"]}
        if game.dead_chips == "first_pot" and not all_in:  # else a price is its bidder's own stake
            short = facing["call"] == seat["stack"]
            assert short or facing["of"] == frame["pot"] + facing["call"]


def test_a_short_stack_calls_for_what_he_can_win() -> None:
    """Three are in for 10; a bets 30 and b has 15 left: he can win 15 of it."""
    lines = """\
hand scrim/1 of site-nl-standard 5b97ece4fdf354c9, button 0: a 100, b 25, c 100
1 posts small 5 to 5
2 posts big 10 to 10
step 1: hole
step 2: preflop betting, 10 to match, raise by 10, 0 to act
0 calls 10, 1 to act
1 calls 5, 2 to act
2 checks
step 3: flop
board [Jd 7c 6c]
step 4: flop betting, 0 to match, raise by 10, 1 to act
1 checks, 2 to act
2 checks, 0 to act
0 bets 30, 1 to act
"""
    told = frames(sight_of(record_of(lines), Public()), "public", GAMES["site-nl-standard"])
    assert {"seat": 1, "call": 15, "of": 60} == told["frames"][-1]["facing"]


def _merged(told: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Pots for the same seats are one; where nobody is all-in we never take them apart."""
    merged: list[dict[str, Any]] = []
    for one in told:
        if merged and merged[-1]["seats"] == one["seats"]:
            merged[-1] = {**one, "amount": merged[-1]["amount"] + one["amount"]}
        else:
            merged.append(one)
    return merged


@some_games
@examples(2, 3)
@given(source=sources, seed=st.integers(0, 2**16))
def test_two_worlds_have_the_same_frames_and_rows(game: Game, source: bytes, seed: int) -> None:
    record = walk(game, source).record
    chance = random.Random(seed)
    for who in viewers(record)[:: sized(2, 1)]:
        one, other = sight_of(record, who), sight_of(other_world(record, who, chance), who)
        for told in (lambda it: frames(it, "somebody", game), lambda it: list(event_rows(it))):
            rows = [_timeless(told(redacted_hand)) for redacted_hand in (one, other)]
            assert rows[0] == rows[1]


def _timeless(told: object) -> bytes:
    """Times here count the record's own events, and one world has faults that nobody sees."""
    return re.sub(rb'"at":[^,{}\[\]]+', b"", msgspec.json.encode(told))


@some_games
def test_lines_are_those_of_replay(game: Game) -> None:
    record = seeded(game, "5").record
    for who in viewers(record):
        told = frames(sight_of(record, who), "somebody", game)["frames"]
        assert [event_line(seen) for seen in see(record, who)] == [frame["line"] for frame in told]
    told = frames(sight_of(record, Auditor()), "auditor", game)["frames"]
    assert list(map(say, record)) == [frame["line"] for frame in told]


def test_an_auction_is_sealed_until_it_is_settled_and_stays_to_be_read() -> None:
    drawn = frames(sight_of(record_of(AUCTION), Seated(0)), "seat:ursa", GAMES["auction-2024"])
    told = drawn["frames"]
    assert [None, None] == [told[11]["auction"], told[0]["auction"]]
    assert [
        {"seat": 1, "amount": {"redacted": True}},
        {"seat": 0, "amount": 52},
    ] == told[13]["auction"]["bids"]
    settled = {
        "bids": [{"seat": 1, "amount": 37}, {"seat": 0, "amount": 52}],
        "sealed": True,
        "settled": True,
        "winners": [0],
        "price": 37,
    }
    assert settled == told[14]["auction"] == told[17]["auction"]
    assert [2, 1] == told[15]["seats"][0]["dealt"]
    assert told[17]["pot"] == 41


def test_marks_say_where_something_begins() -> None:
    told = frames(sight_of(record_of(AUCTION), Public()), "public", None)
    assert [(6, "P", "preflop"), (10, "F", "flop"), (11, "A", "auction")] == [
        tuple(mark.values()) for mark in told["marks"]
    ]


def test_hands_are_in_words_only_as_far_as_their_cards_are_seen() -> None:
    game = GAMES["auction-2024"]
    own = frames(sight_of(record_of(AUCTION), Seated(1)), "seat:lynx", game)["frames"][-1]
    assert [None, "jack high, ten, seven, six, five kickers"] != [it["made"] for it in own["seats"]]
    assert own["seats"][0]["made"] is None
    assert isinstance(own["seats"][1]["made"], str)
    assert "redacted" in str(own["seats"][0]["cards"])


def test_odds_are_those_of_every_deal_that_can_still_come() -> None:
    """Of cards that a viewpoint sees; the third card that was won counts until it is there."""
    record = record_of(AUCTION)
    drawn = frames(sight_of(record, Auditor()), "auditor", GAMES["auction-2024"])["frames"]
    shares = [[it["odds"] and it["odds"]["share"] for it in one["seats"]] for one in drawn]
    assert [[None, None]] * 5 == shares[:5]  # not before both have cards
    for at, board in ((5, ()), (10, ("Jd", "7c", "6c"))):
        exact = equities([("5d", "6h"), ("Tc", "5s")], board)
        assert [round(float(one.share), 6) for one in exact] == shares[at]
    assert shares[13] == shares[10]  # bids change no card
    assert shares[14][0] > shares[13][0]  # a card to come
    assert all(math.isclose(sum(filter(None, one)), 1, abs_tol=1e-5) for one in shares[5:])
    for who in (Public(), Seated(0)):
        told = frames(sight_of(record, who), "anybody", GAMES["auction-2024"])["frames"]
        assert not [seat for one in told for seat in one["seats"] if seat["odds"]]


def kinds_in(record: Events) -> set[str]:
    """What happens in a hand that both play to its end; a hand that is mucked is not known."""
    kinds = {type(one).__name__ for one in record}
    return set() if kinds & {"Folded", "Mucked", "HandVoided"} else kinds


def test_cards_that_are_shown_later_have_odds_before() -> None:
    """Whoever has the page sees them at its end; but a hand that may have been swapped is none."""
    for name, known in (("site-nl", True), ("swap-2022", False)):
        records = (seeded(GAMES[name], str(seed)).record for seed in range(40))
        record = next(it for it in records if {"BoardDealt", "Shown"} <= kinds_in(it))
        told = frames(sight_of(record, Public()), "public", GAMES[name])["frames"]
        first = next(at for at, one in enumerate(record) if isinstance(one, t.BoardDealt))
        assert known == all(seat["odds"] for seat in told[first]["seats"])


def test_without_the_rules_there_are_no_pots_and_no_hands_in_words() -> None:
    told = frames(sight_of(record_of(AUCTION), Auditor()), "auditor", None)["frames"]
    assert {None} == {frame["pots"] for frame in told}
    assert {None} == {seat["made"] for frame in told for seat in frame["seats"]}


def test_a_swapped_card_is_kept_beside_the_one_that_took_its_place() -> None:
    record = next(
        found
        for found in (seeded(GAMES["swap-2022"], str(seed)).record for seed in range(50))
        if any(isinstance(one, t.CardSwapped) and one.old != one.new for one in found)
    )
    swap = next(one for one in record if isinstance(one, t.CardSwapped) and one.old != one.new)
    last = frames(sight_of(record, Auditor()), "auditor", None)["frames"][-1]
    told = [one for one in last["seats"][swap.seat]["swaps"] if one["changed"]]
    assert (swap.slot, swap.old, swap.new) == (told[0]["slot"], told[0]["old"], told[0]["new"])
    seen = frames(sight_of(record, Public()), "public", None)["frames"][-1]
    hidden = {"redacted": True}
    for one in seen["seats"][swap.seat]["swaps"]:
        assert [hidden, hidden, hidden] == [one["old"], one["new"], one["changed"]]


@pytest.mark.parametrize(
    "wrong",
    [t.Folded(9, None), t.CardSwapped(0, 3, "As", "Kd"), t.PotSplit(0, (7,), (1,))],
    ids=lambda event: type(event).__name__,
)
def test_a_record_that_does_not_add_up_is_drawn_as_far_as_it_does(wrong: t.Event) -> None:
    record = (*record_of(AUCTION)[:6], wrong, t.HandEnded())
    told = frames(sight_of(record, Auditor()), "auditor", GAMES["auction-2024"])
    assert len(told["frames"]) == 6
    assert told["broken"] == "from here on its events do not add up to a hand"
    assert msgspec.json.encode(told)


def test_a_card_that_nobody_recorded_is_not_one_that_is_hidden() -> None:
    start, *rest = record_of(AUCTION)
    unknown = [
        replace(one, cards=("??",) * len(one.cards)) if isinstance(one, t.HoleDealt) else one
        for one in rest
    ]
    record = (start, *unknown)
    told = frames(sight_of(record, Seated(0)), "seat:ursa", None)["frames"][5]
    assert [["??", "??"], [{"redacted": True}] * 2] == [seat["cards"] for seat in told["seats"]]
