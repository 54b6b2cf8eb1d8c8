"""Open Hand History and PokerStars text, written: read by us and by others, they are our hands."""

import json
import re
import warnings
from collections.abc import Callable
from decimal import Decimal
from io import StringIO
from typing import Any

import jsonschema_rs
import pytest
from msgspec.structs import replace

from dealer.play import play
from engine.changes import changed
from engine.game import Game
from engine.games import GAMES, RULESETS
from engine.games.site import at_stakes
from engine.hand import begin, step
from engine.policies import per_chip
from engine.turn import Deal, Fold
from events import types as t
from events.evolve import replay
from events.types import Events
from formats.hand_records import hand_record
from formats.ohh.history import write as write_ohh
from formats.ohh.read import read as read_ohh
from formats.pokerstars.read import read as read_pokerstars
from formats.pokerstars.text import write as write_pokerstars
from formats.site_stakes import Inexpressible
from formats.source import SourceFile, SourceHand
from tests.exports import start_of
from tests.hands import seeded, some_rulesets
from tests.profiles import sized

HANDS = sized(12, 60)
PLAYED = "2024-03-05T23:13:14Z"
FORMATS: dict[str, tuple[Callable[[Game, Events, str], str], Callable[[str], SourceFile]]] = {
    "ohh": (write_ohh, read_ohh),
    "pokerstars": (write_pokerstars, read_pokerstars),
}

# The members that the specification names (1.4.7), those without which it has no hand, and types.
_CARDS = {"type": "array", "items": {"type": "string", "pattern": "^[2-9TJQKA][hsdc]$"}}
_NUMBER, _WHOLE, _TEXT, _FLAG = ({"type": it} for it in ("number", "integer", "string", "boolean"))


def _object(required: str, **members: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": members,
        "required": required.split(),
        "additionalProperties": False,
    }


def _list(of: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": of}


SCHEMA = _object(
    "ohh",
    ohh=_object(
        "spec_version site_name game_number game_type bet_limit table_size currency dealer_seat"
        " small_blind_amount big_blind_amount players rounds pots",
        spec_version={"type": "string", "pattern": r"^\d+\.\d+\.\d+$"},
        internal_version={"type": "string", "pattern": r"^\d+\.\d+\.\d+$"},
        site_name=_TEXT,
        network_name=_TEXT,
        tournament=_FLAG,
        game_number=_TEXT,
        start_date_utc={"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"},
        table_name=_TEXT,
        game_type={"enum": ["Holdem", "Omaha", "OmahaHiLo", "Stud", "StudHiLo", "Draw"]},
        bet_limit=_object("bet_type", bet_type={"enum": ["NL", "PL", "FL"]}, bet_cap=_NUMBER),
        table_size=_WHOLE,
        currency=_TEXT,
        dealer_seat=_WHOLE,
        small_blind_amount=_NUMBER,
        big_blind_amount=_NUMBER,
        ante_amount=_NUMBER,
        hero_player_id=_WHOLE,
        flags=_list(_TEXT),
        players=_list(
            _object("id seat name starting_stack", id=_WHOLE, seat=_WHOLE, name=_TEXT,
                    starting_stack=_NUMBER)
        ),
        rounds=_list(
            _object(
                "id street actions",
                id=_WHOLE,
                street={"enum": ["Preflop", "Flop", "Turn", "River", "Showdown"]},
                cards=_CARDS,
                actions=_list(
                    _object(
                        "action_number player_id action",
                        action_number={"type": "integer", "minimum": 1},
                        player_id=_WHOLE,
                        action={
                            "enum": [
                                *("Dealt Cards", "Mucks Cards", "Shows Cards", "Post Ante"),
                                *("Post SB", "Post BB", "Straddle", "Post Dead"),
                                *("Post Extra Blind", "Fold", "Check", "Bet", "Raise", "Call"),
                            ]
                        },
                        amount=_NUMBER,
                        is_allin=_FLAG,
                        cards=_CARDS,
                    )
                ),
            )
        ),
        pots=_list(
            _object(
                "number amount player_wins",
                number=_WHOLE,
                amount=_NUMBER,
                rake=_NUMBER,
                jackpot=_NUMBER,
                player_wins=_list(
                    _object("player_id win_amount", player_id=_WHOLE, win_amount=_NUMBER)
                ),
            )
        ),
    ),
)  # fmt: skip


def _walked(game: Game, number: int) -> Events:
    """A random hand; replies that failed are left out of most."""
    record = seeded(game, f"site {number}").record
    return tuple(one for one in record if number % 6 == 0 or not isinstance(one, t.Faulted))


def _told(record: Events, unit: str) -> list[object]:
    """Posts, choices and boards in order, who showed what, cards and stacks, in chips. In which
    order hands are shown is the reader's site's rule."""
    per = Decimal(per_chip(unit))
    told: list[object] = []
    shown: list[object] = []
    for event in record:
        match event:
            case t.Folded(seat=seat, origin=origin) | t.Checked(seat=seat, origin=origin):
                told.append((type(event).__name__, seat, origin == "default"))
            case t.Called(seat=seat, amount=amount) | t.AntePosted(seat=seat, amount=amount):
                told.append((type(event).__name__, seat, amount / per))
            case t.BlindPosted(seat=seat, amount=amount, kind=kind):
                told.append((kind, seat, amount / per))
            case t.Bet(seat=seat, amount=to) | t.Raised(seat=seat, to=to):
                told.append(("to", seat, to / per))
            case t.BoardDealt(cards=cards):
                told.append(cards)
            case t.Shown(seat=seat, cards=cards):
                shown.append((seat, cards))
            case t.Mucked(seat=seat):
                shown.append((seat, ()))
    hand = replay(record)
    return [told, sorted(shown, key=str), hand.hole, [stack / per for stack in hand.stacks]]


@some_rulesets
@pytest.mark.parametrize("to", FORMATS)
def test_a_random_hand_is_read_back_as_the_same_hand_or_refused_in_a_sentence(
    game: Game, to: str
) -> None:
    write, read = FORMATS[to]
    refused: list[str] = []
    for number in range(1, HANDS + 1):
        record = _walked(game, number)
        try:
            text = write(game, record, PLAYED)
        except Inexpressible as refusal:
            refused.append(str(refusal))
            continue
        (hand,) = read(text).hands
        assert isinstance(hand, SourceHand), (hand, text)
        assert PLAYED == hand.played
        assert _told(record, game.unit) == _told(hand_record(hand, "m/1"), hand.game.unit), text
        if to == "ohh":
            jsonschema_rs.validate(SCHEMA, json.loads(text))
    named = ("Open Hand History ", "PokerStars text ")
    assert [] == [one for one in refused if not one.startswith(named)]


SITE_GAMES = [
    name for name, game in RULESETS.items() if name.startswith(("site-", "pokerstars-", "ohh-"))
]


@pytest.mark.parametrize("to", FORMATS)
@pytest.mark.parametrize("name", SITE_GAMES)
def test_most_hands_of_a_site_are_told(name: str, to: str) -> None:
    """Else the test above could refuse them all."""
    records = [_walked(RULESETS[name], number) for number in range(1, 31)]
    calm = [
        one
        for one in records
        if not any(
            isinstance(event, t.Faulted | t.TimedOut | t.Disconnected | t.Reconnected)
            or getattr(event, "origin", "") == "default"
            for event in one
        )
    ]
    refused = []
    for record in calm:
        try:
            FORMATS[to][0](RULESETS[name], record, PLAYED)
        except Inexpressible as refusal:
            refused.append(str(refusal))
    assert len(calm) > 2
    assert all("no dead blind but the small one" in one for one in refused)


@pytest.mark.parametrize("to", FORMATS)
@pytest.mark.parametrize("stack", [3, 9, 11, 12])
def test_a_blind_that_an_ante_has_made_short_is_read_back(stack: int, to: str) -> None:
    """An export is read again "to the same hand" (docs/export.md). "A big blind whose seat has
    nothing left after its ante: it posts 0" (docs/rules.md), and one with less posts that (G13)."""
    game = changed(GAMES["site-nl"], {"ante": "3"})
    record, hand = begin(game, "m/1", 0, ("ada", "bo", "cy"), (97, 97, stack))
    board = (Deal(("Kd", "Qh", "8s")), Deal(("4c",)), Deal(("Jc",)))
    later = (Fold(1),) if stack > 8 else board  # a small blind of 5 is asked for what is above it
    for answer in (Deal(("As", "Ad", "7c", "2d", "9h", "9s")), Fold(0), *later):
        events, hand = step(game, hand, answer)
        record += events
    (read,) = FORMATS[to][1](FORMATS[to][0](game, record, PLAYED)).hands
    assert isinstance(read, SourceHand), read
    assert _told(record, game.unit) == _told(hand_record(read, "m/1"), read.game.unit)


def test_the_text_of_a_hand() -> None:
    """The site's layout: number, stakes and both clocks, seats, posts, streets, summary."""
    game = at_stakes(RULESETS["pokerstars-nl"], 50, 100)
    (record,) = play(game, "home", 1, "two", 2)
    first, table, *_ = write_pokerstars(game, record, PLAYED).splitlines()
    assert re.fullmatch(
        r"PokerStars Hand #\d{1,15}:  Hold'em No Limit \(\$0.50/\$1 USD\)"
        r" - 2024/03/05 23:13:14 UTC \[2024/03/05 18:13:14 ET\]",
        first,
    )
    assert first.partition(":")[0].endswith("000001")  # the hand's number ends in its place
    assert table == "Table 'home' 2-max Seat #1 is the button"


# Refused by name.


@pytest.mark.parametrize("to", FORMATS)
@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("auction-2024", "has no code for auction-2024: its sequence of play is its own"),
        ("swap-2022", "has no code for swap-2022: its sequence of play is its own"),
        ("urcs-1998", "has no code for urcs-1998: its sequence of play is its own"),
        ("probability", "has no code for probability: it plays with"),
    ],
)
def test_a_game_without_words_is_refused(name: str, why: str, to: str) -> None:
    (record, *_) = play(GAMES[name], "m", 1, "refused")
    with pytest.raises(Inexpressible, match=why):
        FORMATS[to][0](GAMES[name], record, PLAYED)


def _site_hand(**changes: Any) -> tuple[Game, Events]:
    game = GAMES["site-nl-standard"]
    start, *rest = next(iter(play(game, "m", 1, "site", 2)))
    return game, (replace(start, **changes), *rest)


@pytest.mark.parametrize("name", ["a:b", " a", "a\nb", "*** x", "", "a\u200eb"])
def test_a_name_that_would_be_read_as_something_else_is_refused(name: str) -> None:
    game, record = _site_hand(players=(name, "lynx"))
    with pytest.raises(Inexpressible, match=r"so none is|has no form for the name"):
        write_pokerstars(game, record, PLAYED)
    assert json.loads(write_ohh(game, record, PLAYED))["ohh"]["players"][0]["name"] == name


@pytest.mark.parametrize("to", FORMATS)
def test_two_players_of_one_name_are_refused(to: str) -> None:
    game, record = _site_hand(players=("lynx", "lynx"))
    with pytest.raises(Inexpressible, match="no two share one"):
        FORMATS[to][0](game, record, PLAYED)


@pytest.mark.parametrize("to", FORMATS)
def test_half_chips_are_refused_and_whole_ones_told(to: str) -> None:
    game = RULESETS["acpc-nl"]
    (record,) = play(replace(game, odd_chips="clockwise_each"), "m", 1, "half", 2)
    whole = FORMATS[to][0](game, record, PLAYED)
    (hand,) = FORMATS[to][1](whole).hands
    assert isinstance(hand, SourceHand)
    assert hand.game.unit == "chip"
    start = record[0]
    assert isinstance(start, t.HandStarted)
    odd = (replace(start, stacks=(start.stacks[0] + 1, start.stacks[1])), *record[1:])
    with pytest.raises(Inexpressible, match=r"whole chips or hundredths: .* half chips are none"):
        FORMATS[to][0](game, odd, PLAYED)


def test_a_clock_of_no_zone_is_no_time_in_utc() -> None:
    game, record = _site_hand()
    with pytest.raises(Inexpressible, match="tells times in UTC: 2012-03-04T05:06:07 has no zone"):
        write_ohh(game, record, "2012-03-04T05:06:07")
    assert "(5/10) - 2012/03/04 05:06:07\n" in write_pokerstars(game, record, "2012-03-04T05:06:07")
    assert "start_date_utc" not in write_ohh(game, record, "")


# Others read it.


def _played(seats: int) -> tuple[Game, tuple[Events, ...]]:
    game = at_stakes(RULESETS["site-nl-standard"], 5, 10)
    return game, tuple(play(game, "m", sized(12, 60), f"others {seats}", seats))


def _nets(record: Events) -> dict[str, int]:
    hand, start = replay(record), start_of(record)
    both = zip(start.players, hand.stacks, start.stacks, strict=True)
    return {player: after - before for player, after, before in both}


@pytest.mark.parametrize("seats", [2, 3, 6])
def test_pokerkit_reads_the_text_to_the_same_stacks(seats: int) -> None:
    """Each choice is one that its rules allow, and its stacks end as ours do."""
    pokerkit = pytest.importorskip("pokerkit", reason="pokerkit is not installed")
    game, records = _played(seats)
    for record in records:
        if any(len(set(e.shares)) > 1 for e in record if isinstance(e, t.PotSplit)):
            continue  # pokerkit has its own odd chips
        text = write_pokerstars(game, record, PLAYED)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a fold that costs nothing
            (told,) = pokerkit.HandHistory.from_pokerstars(StringIO(text).read(), error_status=True)
            *_, last = told
        nets = dict(
            zip(told.players, map(int.__sub__, last.stacks, told.starting_stacks), strict=True)
        )
        assert _nets(record) == nets, text


@pytest.mark.parametrize("seats", [2, 3, 6])
def test_another_reader_finds_seats_board_pot_and_winners(seats: int) -> None:
    """The package `poker`, of another author; it wants the player's own cards first."""
    stars = pytest.importorskip("poker.room.pokerstars", reason="the package poker is not there")
    game, records = _played(seats)
    for record in records:
        told = stars.PokerStarsHandHistory(write_pokerstars(game, record, PLAYED).strip())
        told.parse()
        start, hand = start_of(record), replay(record)
        assert start.players == tuple(one.name for one in told.players)
        assert start.stacks == tuple(one.stack for one in told.players)
        assert told.button.name == start.players[start.button]
        assert (Decimal(5), Decimal(10)) == (told.sb, told.bb)
        pots = [event for event in record if isinstance(event, t.PotSplit)]
        assert told.total_pot == sum(sum(pot.shares) for pot in pots)
        assert [str(card) for card in (told.turn, told.river) if card] == [
            card.translate(str.maketrans("cdhs", "♣♦♥♠")) for card in hand.board[3:]
        ]
        if not hand.board:
            continue  # where there is no board, it looks for winners from the second seat on
        won = {start.players[seat] for pot in pots for seat in pot.seats}
        assert won == {name.partition(" (")[0] for name in told.winners}
