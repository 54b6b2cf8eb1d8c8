"""Open Hand History becomes told hands: its shape, its amounts, and what it is refused for."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from engine.steps import Posts
from engine.turn import Post
from engine.verdict import judge
from events.evolve import replay
from formats.hand_records import hand_record
from formats.ohh.read import read
from formats.registry import format_of
from formats.source import Act, Board, Holds, Mucks, Paid, Refused, Shows, Skipped, SourceHand

CASH = """\
{"ohh": {
  "spec_version": "1.4.7", "internal_version": "7", "site_name": "Made Up", "network_name": "None",
  "game_number": "77", "start_date_utc": "2024-03-14T12:00:00Z", "table_name": "Rook",
  "game_type": "Holdem", "bet_limit": {"bet_type": "NL", "bet_cap": 0}, "table_size": 6,
  "currency": "USD", "dealer_seat": 1, "small_blind_amount": 0.5, "big_blind_amount": 1.00,
  "ante_amount": 0, "hero_player_id": 11, "flags": [],
  "players": [
    {"id": 11, "seat": 1, "name": "wren", "display": "Wren", "starting_stack": 100.0},
    {"id": 12, "seat": 2, "name": "kite", "starting_stack": 99.5},
    {"id": 15, "seat": 5, "name": "rook", "starting_stack": 40, "is_sitting_out": false},
    {"id": 16, "seat": 6, "name": "idle", "starting_stack": 12, "is_sitting_out": true}],
  "rounds": [
    {"id": 0, "street": "Preflop", "cards": "", "actions": [
      {"action_number": 1, "player_id": 12, "action": "Post SB", "amount": 0.5, "is_allin": false},
      {"action_number": 2, "player_id": 15, "action": "Post BB", "amount": 1.0, "is_allin": false},
      {"action_number": 3, "player_id": 11, "action": "Dealt Cards", "cards": ["Ah", "Kd"]},
      {"action_number": 4, "player_id": 11, "action": "Raise", "amount": 3.0, "is_allin": false},
      {"action_number": 5, "player_id": 12, "action": "Raise", "amount": 8.5, "is_allin": false},
      {"action_number": 6, "player_id": 15, "action": "Fold"},
      {"action_number": 7, "player_id": 11, "action": "Call", "amount": 6.0}]},
    {"id": 1, "street": "Flop", "cards": ["2c", "7d", "Jh"], "actions": [
      {"action_number": 1, "player_id": 12, "action": "Check", "amount": 0},
      {"action_number": 2, "player_id": 11, "action": "Bet", "amount": 10.25},
      {"action_number": 3, "player_id": 12, "action": "Call", "amount": 10.25}]},
    {"id": 2, "street": "Turn", "cards": ["Qs"], "actions": [
      {"action_number": 1, "player_id": 12, "action": "Check"},
      {"action_number": 2, "player_id": 11, "action": "Check"}]},
    {"id": 3, "street": "River", "cards": ["3s"], "actions": [
      {"action_number": 1, "player_id": 12, "action": "Check"},
      {"action_number": 2, "player_id": 11, "action": "Check"}]},
    {"id": 4, "street": "Showdown", "actions": [
      {"action_number": 1, "player_id": 12, "action": "Shows Cards", "cards": ["Th", "9h"]},
      {"action_number": 2, "player_id": 11, "action": "Shows Cards", "cards": ["Ah", "Kd"]}]}],
  "pots": [{"number": 0, "amount": 39.5, "rake": 1.98, "jackpot": 0,
    "player_wins": [{"player_id": 11, "win_amount": 37.52, "contributed_rake": 0.99}]}]
}}
"""

ALL_IN = """\
{"ohh": {"spec_version": "1.4.6", "site_name": "Made Up", "game_number": "T1-9",
  "tournament": true, "game_type": "Holdem", "bet_limit": {"bet_type": "NL"}, "currency": "USD",
  "dealer_seat": 3, "small_blind_amount": 10, "big_blind_amount": 20, "ante_amount": 5,
  "players": [{"id": 0, "seat": 1, "name": "ada", "starting_stack": 300},
    {"id": 1, "seat": 2, "name": "bo", "starting_stack": 120},
    {"id": 2, "seat": 3, "name": "cy", "starting_stack": 500}],
  "rounds": [{"id": 0, "street": "Preflop", "actions": [
      {"action_number": 1, "player_id": 0, "action": "Post Ante", "amount": 5},
      {"action_number": 2, "player_id": 1, "action": "Post Ante", "amount": 5},
      {"action_number": 3, "player_id": 2, "action": "Post Ante", "amount": 5},
      {"action_number": 4, "player_id": 0, "action": "Post SB", "amount": 10},
      {"action_number": 5, "player_id": 1, "action": "Post BB", "amount": 20},
      {"action_number": 6, "player_id": 2, "action": "Raise", "amount": 495, "is_allin": true},
      {"action_number": 7, "player_id": 0, "action": "Call", "amount": 285, "is_allin": true},
      {"action_number": 8, "player_id": 1, "action": "Call", "amount": 95, "is_allin": true}]},
    {"id": 1, "street": "Showdown", "actions": [
      {"action_number": 1, "player_id": 2, "action": "Shows Cards", "cards": ["As", "Ad"]}]},
    {"id": 2, "street": "Flop", "cards": ["2c", "7d", "Jh"], "actions": []},
    {"id": 3, "street": "Turn", "cards": ["Qs"], "actions": []},
    {"id": 4, "street": "River", "cards": ["3s"], "actions": []},
    {"id": 5, "street": "Showdown", "actions": [
      {"action_number": 1, "player_id": 2, "action": "Shows Cards", "cards": ["As", "Ad"]},
      {"action_number": 2, "player_id": 0, "action": "Shows Cards", "cards": ["Qc", "Qd"]},
      {"action_number": 3, "player_id": 1, "action": "Mucks Cards", "cards": ["5c", "4c"]}]}],
  "pots": [{"number": 1, "amount": 360, "rake": 0,
      "player_wins": [{"player_id": 0, "win_amount": 360}]},
    {"number": 0, "amount": 360, "rake": 0,
      "player_wins": [{"player_id": 0, "win_amount": 360}]}]
}}
"""


def _one(text: str | bytes) -> SourceHand:
    (hand,) = read(text).hands
    assert isinstance(hand, SourceHand), hand
    return hand


def _reason(text: str) -> str:
    (hand,) = read(text).hands
    assert isinstance(hand, Skipped), hand
    return hand.reason


def _changed(text: str, *changes: tuple[str, Any]) -> str:
    """The object with other values at these paths, such as `players.0.seat`."""
    hand = json.loads(text)
    for path, value in changes:
        *outer, last = path.split(".")
        place = hand["ohh"]
        for name in outer:
            place = place[int(name) if isinstance(place, list) else name]
        place[int(last) if isinstance(place, list) else last] = value
    return json.dumps(hand)


def _verdict(hand: SourceHand) -> str:
    return judge(hand.game, hand_record(hand, "h/1")).verdict


# What is told.


def test_a_cash_hand_is_told_in_cents() -> None:
    hand = _one(CASH)
    assert "77" == hand.source_id
    assert ("wren", "kite", "rook") == hand.players
    assert (10000, 9950, 4000) == hand.stacks
    assert "cent" == hand.game.unit
    assert "assuming" == _verdict(hand)


def test_amounts_are_what_an_action_adds() -> None:
    """A raise of 8.50 by the small blind, who had 0.50 in, goes to 9.00."""
    told = _one(CASH).items
    assert Act(0, "raise", to=300) in told
    assert Act(1, "raise", to=900) in told
    assert Act(0, "call", amount=600) in told
    assert Act(0, "raise", to=1025) in told


def test_cards_streets_and_shows_are_told_in_order() -> None:
    told = _one(CASH).items
    assert told[:2] == (Holds(0, ("Ah", "Kd")), Holds(1, ("Th", "9h")))
    assert [("2c", "7d", "Jh"), ("Qs",), ("3s",)] == [
        item.cards for item in told if isinstance(item, Board)
    ]
    assert told[-2:] == (Shows(1, ("Th", "9h")), Shows(0, ("Ah", "Kd")))


def test_what_a_pot_paid_and_what_the_house_took() -> None:
    hand = _one(CASH)
    assert (Paid(0, 3752),) == hand.paid
    assert 198 == hand.rake


def test_antes_side_pots_and_early_shows_of_a_tournament() -> None:
    hand = _one(ALL_IN)
    assert "chip" == hand.game.unit
    assert (Paid(0, 360, 0), Paid(0, 360, 1)) == hand.paid
    assert [Shows(2, ("As", "Ad")), Shows(0, ("Qc", "Qd")), Mucks(1)] == [
        item for item in hand.items if isinstance(item, Shows | Mucks)
    ]
    assert "agree" == _verdict(hand)
    assert (720, 0, 200) == replay(hand_record(hand, "h/1")).stacks


def test_a_fixed_limit_is_measured_by_the_big_blind() -> None:
    text = _changed(CASH, ("bet_limit.bet_type", "FL"))
    assert "ohh-fl" == _one(text).game.name
    assert "differ" == _verdict(_one(text)), "it raises to 3, where 2 is the limit"


def test_dead_and_extra_blinds_are_posts() -> None:
    late = [
        {"action_number": 1, "player_id": 11, "action": "Post Dead", "amount": 0.5},
        {"action_number": 2, "player_id": 11, "action": "Post Extra Blind", "amount": 1},
    ]
    hand = json.loads(CASH)["ohh"]
    hand["rounds"][0]["actions"][2:2] = late
    hand["rounds"][0]["actions"][5]["amount"] = 2.0
    hand["pots"][0] |= {
        "amount": 40.0,
        "rake": 2,
        "player_wins": [{"player_id": 11, "win_amount": 38}],
    }
    told = _one(json.dumps({"ohh": hand}))
    assert (Post(0), Post(0, "dead", 50)) == told.posts
    assert "assuming" == _verdict(told)


def test_a_straddle_is_owed_by_its_position() -> None:
    hand = json.loads(CASH)["ohh"]
    straddle = {"action_number": 1, "player_id": 11, "action": "Straddle", "amount": 2}
    hand["rounds"][0]["actions"][2:2] = [straddle]
    hand["rounds"][0]["actions"][4:6] = [
        {"action_number": 5, "player_id": 12, "action": "Raise", "amount": 8.5},
        {"action_number": 6, "player_id": 15, "action": "Fold"},
    ]
    hand["rounds"][0]["actions"][6:8] = [
        {"action_number": 7, "player_id": 11, "action": "Call", "amount": 7.0}
    ]
    told = _one(json.dumps({"ohh": hand}))
    assert Posts((0, 0, 0), (50, 100, 200), False) == told.game.script[0]
    assert "assuming" == _verdict(told)


def test_numbers_with_an_error_of_binary_counting_are_read() -> None:
    path = "rounds.1.actions.1.amount"
    assert _one(CASH).items == _one(_changed(CASH, (path, 10.250000000000002))).items
    why = "what wren puts in is 10.255: no whole number of hundredths"
    assert why == _reason(_changed(CASH, (path, 10.255)))


# Files.


@pytest.mark.parametrize("between", ["", "\n\n", ",\n"])
def test_objects_stand_one_after_the_other(between: str) -> None:
    flat = json.dumps(json.loads(CASH))
    for text in (flat, CASH):
        hands = list(read(text + between + ALL_IN).hands)
        assert ["77", "T1-9"] == [hand.source_id for hand in hands if isinstance(hand, SourceHand)]
        first, second = hands
        assert (1, 1 + (text + between).count("\n")) == (first.line, second.line)


def test_an_array_of_objects_is_read() -> None:
    assert 2 == len(list(read(f"[{CASH}, {ALL_IN}]").hands))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
def test_any_encoding_and_line_end(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(CASH.replace("\n", "\r\n").replace("wren", "wr\xe9n").encode(encoding))
    found = format_of(path)
    assert "ohh" == found.name
    (hand,) = list(read(path).hands)
    assert isinstance(hand, SourceHand)
    assert "wr\xe9n" == hand.players[0]


def test_members_that_nobody_asks_for_may_stand_there() -> None:
    assert _one(CASH).items == _one(_changed(CASH, ("_mine", {"a": [1]}))).items


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        (CASH[:-4], 1, "the file ends in the middle of this object"),
        (CASH + "hello\n", CASH.count("\n") + 1, "this is no JSON object: 'hello'"),
        (CASH.replace('"pots"', "pots"), 1, "this is not JSON: "),
        (CASH.replace("]}]\n}}", "]}\n}}"), 1, "this is not JSON: "),
    ],
)
def test_damaged_json_refuses_the_file(text: str, line: int, reason: str) -> None:
    with pytest.raises(Refused) as refused:
        list(read(text).hands)
    assert line == refused.value.line
    assert refused.value.reason.startswith(reason)


# The schema: a sentence names the place.


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        ("rounds.1.actions.1.amount", "x", "ohh.rounds[1].actions[1].amount: invalid decimal"),
        ("rounds.0.actions.3.action", "Shove", "ohh.rounds[0].actions[3].action: invalid enum"),
        ("rounds.2.street", "Fourth", "ohh.rounds[2].street: invalid enum value 'Fourth'"),
        ("players.2.seat", 1.5, "ohh.players[2].seat: expected int, got float"),
        ("players", {}, "ohh.players: expected array, got object"),
        ("bet_limit.bet_type", "XL", "ohh.bet_limit.bet_type: invalid enum value 'XL'"),
        ("pots.0.player_wins.0", {}, "ohh.pots[0].player_wins[0]: object missing required field"),
    ],
)
def test_what_is_not_of_the_shape_is_named_by_its_place(path: str, value: Any, reason: str) -> None:
    assert _reason(_changed(CASH, (path, value))).startswith(reason)


def test_an_object_without_a_hand_is_left_out() -> None:
    assert "the object: object missing required field ohh" == _reason('{"hand": {}}')


# What is refused by name.


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        ("game_type", "Omaha", "Omaha is not hold'em of a kind we have rules for"),
        ("game_type", "StudHiLo", "StudHiLo is not hold'em of a kind we have rules for"),
        ("flags", ["Run_It_Twice"], "the board was dealt more than once"),
        ("currency", "DOGE", "amounts in DOGE: dollars, euros, pounds and chips are read"),
        ("rounds.3.street", "Turn", "the board was dealt more than once: the turn is twice"),
        ("rounds.3.street", "Flop", "the flop comes after the turn"),
        ("rounds.2.cards", ["Qs", "Qd"], "the turn has 2 cards"),
        ("rounds.2.cards", ["Zz"], "Zz is not a card"),
        ("rounds.0.actions.5.action", "Add to Pot", "chips are added to the pot that no player"),
        ("rounds.0.actions.5.amount", 5, "rook puts in 500 by Fold"),
        ("rounds.0.actions.5.player_id", 99, "player 99 of the preflop is nobody at the table"),
        ("pots.0.player_wins.0.player_id", 99, "player 99 of the pots is nobody at the table"),
        ("pots.0.player_wins.0.cashout_amount", 20, "a hand was cashed out"),
        ("pots.0.player_wins.0.bonus_amount", 1, "a bonus was paid that no player put in"),
        ("pots.0.amount", 39, "pot 0 is 3900, and pays 3752 and a rake of 198"),
        ("players.0.id", 12, "two players have one id"),
        ("players.0.name", "kite", "two players of one name sit at the table"),
        ("players.0.seat", 2, "two players sit in one seat"),
        ("players.0.starting_stack", -1, "the stack of wren is -1: less than nothing"),
        ("players.0.starting_stack", 1e30, "the stack of wren is more than any table has held"),
        ("small_blind_amount", 0.25, "kite posts small blind 50, which is said to be 25"),
        ("pots.0.number", 1, "the pots are numbered 1: the main pot is 0, the next ones follow"),
        ("ante_amount", 1, "ante_amount is 100, and nobody posts one"),
    ],
)
def test_what_is_refused_says_why(path: str, value: Any, reason: str) -> None:
    assert _reason(_changed(CASH, (path, value))).startswith(reason)


def test_an_ante_above_the_named_one_is_refused() -> None:
    why = "ada posts the ante 500, which is said to be 300"
    assert why == _reason(_changed(ALL_IN, ("ante_amount", 3)))


# Every number is held against another one.

NOT_HELD = {  # numbers that nothing else in the text repeats, so that another one is another hand
    "starting_stack": "deeper stacks would have played so, too",
    "seat": "the order of seats may stay the same",
    "table_size": "not asked",
    "hero_player_id": "not asked",
    "action_number": "not asked: actions stand in their order",
    "contributed_rake": "not asked",
    "bet_cap": "no bet of the hand says that it has reached it",
}


def _numbers(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(value, dict):
        return [p for name, one in value.items() for p in _numbers(one, (*path, name))]
    if isinstance(value, list):
        return [p for at, one in enumerate(value) for p in _numbers(one, (*path, at))]
    return [path] if isinstance(value, int | float) and not isinstance(value, bool) else []


@pytest.mark.parametrize(
    ("text", "agree"),
    [
        (CASH, ["ohh.players.3.id"]),  # who sits out is never called by it
        (ALL_IN, ["ohh.dealer_seat"]),  # an empty seat behind the last may be the button
    ],
    ids=["cash", "tournament"],
)
@pytest.mark.parametrize("by", [1, 20])
def test_no_other_number_agrees(text: str, agree: list[str], by: int) -> None:
    whole = json.loads(text)
    held = [path for path in _numbers(whole) if path[-1] not in NOT_HELD]
    assert len(held) > 30
    agreed = []
    for path in held:
        other = copy.deepcopy(whole)
        place = other
        for name in path[:-1]:
            place = place[name]
        if path[-1] == "id" and "players" not in path:
            continue  # the number of a street: not asked, streets have names
        place[path[-1]] += by
        (hand,) = read(json.dumps(other)).hands
        if isinstance(hand, SourceHand) and _agrees(hand):
            agreed.append(".".join(map(str, path)))
    assert agree == agreed


def _agrees(hand: SourceHand) -> bool:
    try:
        return _verdict(hand) in ("agree", "assuming")
    except ValueError:
        return False
