"""The one spoken line of every event: a table of lines, and the events they mean."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from engine.game import Game
from events import types as t
from events.codec import Unreadable
from events.match import (
    DeckCommitted,
    DeckOpened,
    Drawer,
    Match,
    MatchEnded,
    MatchStarted,
    NonceGiven,
    SourceNoted,
    Tagged,
)
from events.notation import read, read_record, say, say_all
from events.types import Origin
from tests.hands import some_games, sources, walk
from tests.profiles import examples

SPOKEN: dict[str, t.Event] = {
    "hand m/7 of auction-2024 63deb2bee972b8e2, button 1: ursa 400, lynx 399": t.HandStarted(
        "m/7", "auction-2024", "63deb2bee972b8e2", 1, ("ursa", "lynx"), (400, 399)
    ),
    "hand 1 of g r, button 0, no small blind: a 1, b 2": t.HandStarted(
        "1", "g", "r", 0, ("a", "b"), (1, 2), dead_small=True
    ),
    "step 3: flop": t.StepEntered(3, "flop"),
    "2 antes 5": t.AntePosted(2, 5),
    "0 posts small 1 to 1": t.BlindPosted(0, 1, 1, "small"),
    "1 posts big 3 to 10": t.BlindPosted(1, 3, 10, "big"),
    "3 posts straddle 20 to 20 (chosen)": t.BlindPosted(3, 20, 20, "straddle", "chosen"),
    "4 posts post 10 to 10": t.BlindPosted(4, 10, 10, "post"),
    "4 posts dead 5 to 5 (recorded)": t.BlindPosted(4, 5, 5, "dead", "recorded"),
    "1 is dealt [As Kd]": t.HoleDealt(1, ("As", "Kd")),
    "2 is dealt [?? ??]": t.HoleDealt(2, ("??", "??")),
    "board [2c 3d 4h]": t.BoardDealt(("2c", "3d", "4h")),
    "board []": t.BoardDealt(()),
    "0 risks As in slot 1, holds Kd": t.CardSwapped(0, 1, "As", "Kd"),
    "0 risks As in slot 0, holds As": t.CardSwapped(0, 0, "As", "As"),
    "step 2: preflop betting, 2 to match, raise by 2, 0 to act": t.BettingOpened(
        2, "preflop", 2, 2, 0
    ),
    "step 9: river betting, 0 to match, raise by 20": t.BettingOpened(9, "river", 0, 20, None),
    "0 folds": t.Folded(0, None),
    "0 folds (default), 2 to act": t.Folded(0, 2, "default"),
    "1 checks (forced)": t.Checked(1, None, "forced"),
    "22 checks, 0 to act": t.Checked(22, 0),
    "1 calls 7": t.Called(1, 7, None),
    "1 calls 7 (recorded), 3 to act": t.Called(1, 7, 3, "recorded"),
    "0 bets 10, 1 to act": t.Bet(0, 10, True, 1),
    "0 bets 3, short, 1 to act": t.Bet(0, 3, False, 1),
    "1 raises 15 to 20, 0 to act": t.Raised(1, 15, 20, True, 0),
    "1 raises 15 to 20, short (default)": t.Raised(1, 15, 20, False, None, "default"),
    "2 bids 10": t.BidPlaced(2, 10, True),
    "2 bids 0, open (default)": t.BidPlaced(2, 0, False, "default"),
    "1 tosses [3d] from slot 2": t.Tossed(1, 2, ("3d",)),
    "0 tosses [3d] from slot 0 (recorded)": t.Tossed(0, 0, ("3d",), "recorded"),
    "auction to 1 at 4, bids 9 and 4": t.AuctionSettled((1,), 4, (9, 4), True),
    "auction to 0 and 1 at 9, bids 9 and 9, open": t.AuctionSettled((0, 1), 9, (9, 9), False),
    "auction to 1 at 4, bids ": t.AuctionSettled((1,), 4, (), True),
    "0 takes back 80": t.UncalledReturned(0, 80),
    "2 announces [Kd Kh 9d 9s 4d]": t.Announced(2, ("Kd", "Kh", "9d", "9s", "4d")),
    "1 shows [As Kd]": t.Shown(1, ("As", "Kd")),
    "1 mucks": t.Mucked(1),
    "rake 3 from pot 1": t.RakeTaken(1, 3),
    "0 has the bounty T": t.BountyDrawn(0, "T"),
    "0 hits its bounty, 13 from 1": t.BountySettled(0, 1, True, 13),
    "1 misses its bounty, 0 from 0": t.BountySettled(1, 0, False, 0),
    "pot 0: 150 to 1": t.PotSplit(0, (1,), (150,)),
    "pot 2: 31 to 3, 31 to 4, 30 to 1": t.PotSplit(2, (3, 4, 1), (31, 31, 30)),
    "hand void, recovery": t.HandVoided("recovery"),
    'hand void, "the dealer fell asleep"': t.HandVoided("the dealer fell asleep"),
    "hand over": t.HandEnded(),
    "2 is out of time": t.TimedOut(2, False, None),
    "2 is out of time and all-in, 0 to act": t.TimedOut(2, True, 0),
    "3 disconnects": t.Disconnected(3),
    "3 reconnects": t.Reconnected(3),
    "the source claims 3, -5, rake 2": t.Claimed((3, -5), 2),
    '1 replies "R\\"99", illegal as action': t.Faulted(1, 'R"99', "illegal", "action"),
    '1 replies "", late as bid': t.Faulted(1, "", "late", "bid"),
    "0 replies C, disconnected as acknowledgement": t.Faulted(
        0, "C", "disconnected", "acknowledgement"
    ),
}
RECORDS: dict[str, Match] = {
    "match m of g r, seeded decks of seed 4711, sealed: ursa, lynx": MatchStarted(
        "m", "g", "r", ("ursa", "lynx"), "seeded", "sealed", True, "4711"
    ),
    'match m of g r, recorded decks, open-after-match, open bids: "a b", c': MatchStarted(
        "m", "g", "r", ("a b", "c"), "recorded", "open-after-match", False
    ),
    "match m of g r, committed decks, each dealt 2 times, open: ursa, lynx": MatchStarted(
        "m", "g", "r", ("ursa", "lynx"), "committed", "open", True, deals=2
    ),
    'ursa is version "3 rc"': Tagged("ursa", "version", "3 rc"),
    "100 decks committed by a1b2": DeckCommitted("a1b2", 100),
    'nonce "00 ff" from ursa, drawn by the player': NonceGiven("ursa", "00 ff", "player"),
    "nonce 00ff from ursa, drawn by the dealer": NonceGiven("ursa", "00ff", "dealer"),
    "nonce 00ff from ursa": NonceGiven("ursa", "00ff"),
    "deck 7 opened by c0ffee": DeckOpened(7, "c0ffee"),
    'source mit-gamelog 2024, header "6.9630 MIT\\n", footer ""': SourceNoted(
        "mit-gamelog", "2024", "6.9630 MIT\n", ""
    ),
    "match over, played: 35, -35": MatchEnded((35, -35), "played"),
}
ODD_NAMES = (
    *("", " ", "a b", '"', "\\", '\\"', "7", "-7", "1 to 2", "null", "true", "None", "??", "[As]"),
    *(
        "a, b",
        "a and b",
        ", 2 to act",
        " (default)",
        ", open",
        "é",
        "漢字",
        "🂡",
        "a\nb",
        "\t",
        "\x00",
    ),
    *("\u2028", "a:b", "a/b.c-d+e", "seat:1", "ursa 400, lynx 400", "1.5", "007", "1e3", "_", "’"),
)


@pytest.mark.parametrize("line", SPOKEN)
def test_a_line_means_its_event(line: str) -> None:
    assert line == say(SPOKEN[line])
    assert SPOKEN[line] == read(line)


@pytest.mark.parametrize("line", RECORDS)
def test_a_line_means_its_match_record(line: str) -> None:
    assert line == say(RECORDS[line])
    assert RECORDS[line] == read_record(line)


def test_every_kind_of_event_has_a_line() -> None:
    assert set(get_args(t.Event)) == {type(event) for event in SPOKEN.values()}
    assert set(get_args(Match)) == {type(record) for record in RECORDS.values()}


def test_a_value_that_is_seldom_said_is_said() -> None:
    """Every field changes the line: nothing is lost between an event and what is said of it."""
    for event in (*SPOKEN.values(), *RECORDS.values()):
        for field in event.__struct_fields__:
            for value in _others(field, getattr(event, field)):
                assert say(event) != say(replace(event, **{field: value})), field


def _others(field: str, value: object) -> tuple[object, ...]:
    if field == "drawn_by":
        return tuple({None, *get_args(Drawer)} - {value})
    match value:
        case bool():
            return (not value,)
        case int():
            return (value + 1,)
        case None:
            return (0,)
        case "chosen" | "forced" | "default" | "recorded":
            return tuple(origin for origin in get_args(Origin) if origin != value)
    return ()


@pytest.mark.parametrize("name", ODD_NAMES, ids=ascii)
def test_an_odd_name_comes_back_as_it_was(name: str) -> None:
    for event in (
        t.HandStarted(name, "g", "r", 0, (name, "lynx", name), (1, 2, 3)),
        t.HandStarted("h", name, name, 0, ("lynx", name), (1, 2)),
        t.Faulted(1, name, "malformed", "bid"),
        t.HandVoided(name),
        t.StepEntered(1, name),
        t.BettingOpened(1, name, 0, 2, 1),
    ):
        assert event == read(say(event))
        assert "\n" not in say(event)
    for record in (
        MatchStarted(name, name, "r", (name, "lynx", name), "seeded", "open", True, name),
        Tagged(name, name, name),
        NonceGiven(name, name),
        SourceNoted(name, name, name, name),
        MatchEnded((1, -1), name),
    ):
        assert record == read_record(say(record))
        assert "\n" not in say(record)


@given(name=st.text())
def test_any_name_comes_back_as_it_was(name: str) -> None:
    event = t.HandStarted(name, "g", "r", 0, (name, "lynx"), (1, 2))
    assert event == read(say(event))
    fault = t.Faulted(1, name, "malformed", "bid")
    assert fault == read(say(fault))


@some_games
@examples(3)
@given(source=sources)
def test_a_hand_survives_being_told(game: Game, source: bytes) -> None:
    record = walk(game, source).record
    assert record == tuple(read(line) for line in say_all(record).splitlines())


REFUSED = {
    "": "says no event: see docs/events.md",
    "1 raises": "says no event",
    "1 raises 15": "says no event",
    "1  folds": "says no event",
    " 1 folds": "says no event",
    "1 folds ": "says no event",
    "1 folds\n": "says no event",
    "ursa folds": "Expected `int`, got `str` - at `$.seat`",
    "23 folds": "Expected `int` <= 22 - at `$.seat`",
    "-1 folds": "Expected `int` >= 0 - at `$.seat`",
    "1 folds, 23 to act": "Expected `int` <= 22 - at `$.next`",
    "1 is dealt [As Kx]": "$.cards[1]",
    "0 risks As in slot 4, holds Kd": "Expected `int` <= 3 - at `$.slot`",
    "1 posts medium 5 to 5": "at `$.kind`",
    "1 replies X, silly as action": "at `$.kind`",
    "1 bids many": "at `$.amount`",
    "hand 1 of g r, button 0: a b": "Expected `int`, got `str` - at `$.stacks[0]`",
    "match over, played: 1, -1": "says no event",
}


@pytest.mark.parametrize("line", REFUSED)
def test_a_line_that_is_no_event_is_refused_by_quoting_it(line: str) -> None:
    with pytest.raises(Unreadable) as refusal:
        read(line)
    assert REFUSED[line] in str(refusal.value)
    assert repr(line) in str(refusal.value)


def test_an_event_is_not_read_as_a_match_record() -> None:
    with pytest.raises(Unreadable, match="says no event"):
        read_record("hand over")
