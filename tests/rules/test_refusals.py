"""Every sentence the engine refuses with, provoked once and compared whole (G18).

The last test reads the engine's source: a place that refuses and is not provoked here fails it.
"""

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec.structs import replace

import engine
from engine import table as between
from engine.game import Game
from engine.games import named
from engine.games.urcs_1998 import urcs
from engine.hand import begin, decide, step, turn
from engine.steps import Antes, Blind, Posts
from engine.steps.sizing import VETOES
from engine.turn import Command, Deal, Draw, Fold, IllegalCommand, Post, Raise, Swap, ToAct
from events.cards import Rank
from events.state import Hand, opened
from tests.pages import played
from tests.spoken import command

# Hands and what they wait for, without the chance that a page answers by itself.
WAITING = {
    "hole": ("probability-standard", 3, ""),
    "flop": ("probability-standard", 3, "deal 2c 3c 4c 5c 6c 7c; 0 calls; 1 calls; 2 checks"),
    "bounty": ("bounty-2025-mit", 2, "deal 2c 3c 4c 5c"),
    "toss": ("toss-2026-mit", 2, "deal 2c 3c 4c 5c 6c 7c; 0 calls; 1 checks; deal 8c 9c"),
    "swap": ("swap-2022", 2, "deal 2c 3c 4c 5c; 0 calls; 1 checks; deal 6c 7c 8c"),
}

LIMPED = "> 0 calls; 1 calls; 2 checks"
DOWN = "> 1 checks; 0 checks; 1 checks; 0 checks; 1 checks; 0 checks"
STARTS = {
    "preflop": "probability-standard, button 0, stacks 1000 1000 1000",
    "on the flop": f"probability-standard, button 0, stacks 1000 1000 1000\n{LIMPED}",
    "all-in 60": "probability-standard, button 0, stacks 510 70 510\n"
    "> 0 folds; 1 calls; 2 checks; 1 bets 60",
    "short": "probability-standard, button 0, stacks 10 510 510",
    "reraised": "probability-standard, button 0, stacks 1000 1000 160\n"
    f"{LIMPED}; 1 bets 100; 2 raises to 150; 0 calls",
    "capped": "site-fl, button 0, stacks 1000 1000 1000\n"
    "> 0 raises to 20; 1 raises to 30; 2 raises to 40",
    "checked": "probability-standard, button 0, stacks 1000 1000\nwith check_raise=no\n"
    "> 0 calls; 1 checks; 1 checks; 0 bets 10",
    "too short": "site-fl, button 0, stacks 15 1000 1000\nwith short_raise=forbidden",
    "over": "probability-standard, button 0, stacks 1000 1000\n> 0 folds",
    "disconnected": "probability-standard, button 0, stacks 1000 1000\n> 0 disconnects",
    "auction": "auction-2024, button 0, stacks 400 400\n> 0 calls; 1 checks",
    "shown down": "probability-standard, button 0, stacks 1000 1000\n"
    f"deal 0: 3h 4h, 1: As Ah, board: Ks Qd 9c 9d 5s\n> 0 calls; 1 checks\n{DOWN}",
    "must show": "probability-standard, button 0, stacks 1000 1000\n"
    f"deal 0: As Ah, 1: 3h ??, board: Ks Qd 9c 9d 5s\n> 0 calls; 1 checks\n{DOWN}",
    "announcing": "urcs-1998, button 0, stacks 1000 1000\n"
    "deal 0: As Ah, 1: 3h 4h, board: Ks Qd 9c 9d 5s\n"
    f"> 1 straddles; 0 calls; 1 straddles; 0 calls\n> {'; '.join(['0 checks', '1 checks'] * 2)}",
    "straddling": "urcs-1998, button 0, stacks 1000 1000",
    "unknown hand": "bounty-2025-mit, button 0, stacks 400 400\ndeal 0: As ??, 1: Ks Kh\n"
    "bounties T 5\n> 0 raises to 6",
    "unknown board": "probability-standard, button 0, stacks 1000 1000\n"
    "deal board: Ks Qd 9c 9d ??\n> 0 calls; 1 checks\n"
    "> 1 checks; 0 checks; 1 checks; 0 checks; 1 checks",
    "a third each": "probability-standard, button 0, stacks 100 100 100 100, blinds 1/2\n"
    "with odd_chips=fractional\ndeal board: Ts Js Qs Ks As\n"
    "> 3 calls; 0 calls; 1 folds; 2 checks\n"
    f"> {'; '.join(['2 checks; 3 checks; 0 checks'] * 2)}; 2 checks; 3 checks",
}

REFUSED = """
hole         | deal 2c 3c           | 6 cards are to be dealt, not 2
hole         | deal 2c 3c 4c 5c 6c 2c | 2c is already in play
hole         | deal 2c 3c 4c 5c 6c 1c | 1c is not a card: a rank and a suit, such as As, or ??
hole         | 0 folds              | the dealer owes 6 cards: Fold does not answer that
flop         | deal 7c 8c 9c        | 7c is already in play
flop         | deal 8c 8c 9c        | 8c is already in play
swap         | 0 checks             | chance owes 4 swaps: Check does not answer that
swap         | swap - - 9c          | 4 cards are at risk, not 3
swap         | swap - - 2c -        | 2c is already in play
bounty       | 0 checks             | chance owes 2 bounties: Check does not answer that
bounty       | draw T               | 2 bounties are to be drawn, not 1
bounty       | draw T 1             | 1 is no rank: 2 3 4 5 6 7 8 9 T J Q K A are
toss         | 1 checks             | seat 1 must toss a card: Check does not answer that
toss         | 0 tosses 0           | it is seat 1's turn to toss, not seat 0's
toss         | 1 tosses 3           | seat 1 may toss slot 0..2, not 3
toss         | 1 tosses 2 2c        | slot 2 of seat 1 is 7c, not 2c
preflop      | 1 calls              | it is seat 0's turn to act, not seat 1's
preflop      | 7 calls              | it is seat 0's turn to act, not seat 7's
preflop      | 0 bids 10            | it is seat 0's turn to act: Bid does not answer that
preflop      | deal As              | it is seat 0's turn to act: Deal does not answer that
preflop      | 0 checks             | seat 0 owes 10: it may not check
preflop      | 0 raises to 19       | seat 0 may raise to 20..1000, not 19
preflop      | 0 raises to 1001     | seat 0 may raise to 20..1000, not 1001
preflop      | 0 is out of time     | seat 0 cannot run out of time: this ruleset has no clock
preflop      | 3 disconnects        | there is no seat 3: the seats are 0..2
preflop      | 0 reconnects         | seat 0 is not disconnected
disconnected | 0 disconnects        | seat 0 is disconnected already
on the flop  | 1 calls              | seat 1 owes nothing: it may check, there is nothing to call
on the flop  | 1 folds              | seat 1 owes nothing: it may check, folding is not offered
on the flop  | 1 bets 9             | seat 1 may bet 10..990, not 9
on the flop  | 1 bets -10           | seat 1 may bet 10..990, not -10
all-in 60    | 2 raises to 120      | seat 2 may not raise: no other seat could put in more than 60
all-in 60    | 1 checks             | it is seat 2's turn to act, not seat 1's
reraised     | 1 raises to 250      | seat 1 may not raise: it matched 100, and the bet of 150 \
has not been raised by enough since to reopen the betting
capped       | 0 raises to 50       | seat 0 may not raise: the cap of 3 raises is reached
checked      | 1 raises to 20       | seat 1 may not raise: it has checked, and check-raising is off
short        | 0 raises to 20       | seat 0 has 10 and owes 10: nothing is left to raise with
too short    | 0 raises to 15       | seat 0 may not raise: 15 is short of the 20 that a full bet \
needs
a third each | 0 checks             | a pot of 7 does not divide between 3 seats: declare a \
smaller unit
over         | 1 checks             | the hand is over: nothing more can happen in it
auction      | 1 checks             | it is seat 1's turn to bid: Check does not answer that
auction      | 0 bids 3             | it is seat 1's turn to bid, not seat 0's
auction      | 1 bids 399           | seat 1 may bid 0..398, not 399
auction      | 1 bids -1            | seat 1 may bid 0..398, not -1
auction      | 1 bids 3, open       | seat 1 must bid sealed: this ruleset shows no bid early
shown down   | 0 checks             | it is seat 0's turn to show: Check does not answer that
shown down   | 1 mucks              | it is seat 0's turn to show, not seat 1's
shown down   | 0 shows 3h           | seat 0 holds 2 cards, not 1
shown down   | 0 shows 3h 5h        | seat 0 holds 4h, not 5h
shown down   | 0 announces As Ah 9c 9d Ks | seat 0 shows its cards, and cards speak: \
nothing is announced
must show    | 1 mucks              | seat 1 must show its hand: it may not muck
must show    | 1 shows              | seat 1 must name its cards: they were never recorded
must show    | 1 shows 3h Ks        | Ks is already in play
announcing   | 0 shows              | seat 0 must announce the five cards of its hand
announcing   | 0 announces As Ah 9c 9d | seat 0 must announce five cards, not As Ah 9c 9d
announcing   | 0 announces As Ah 9c 9d 9d | seat 0 must announce five cards, not As Ah 9c 9d 9d
announcing   | 0 announces As ?? 9c 9d Ks | seat 0 must announce five cards by name: ?? is none
announcing   | 0 announces As Ah 9c 9d 3h | seat 0 cannot announce 3h: \
it is neither in its hand nor on the board
announcing   | 0 announces Ks Qd 9c 9d 5s | seat 0 must use at least one of its own cards
straddling   | 1 calls              | seat 1 may straddle 10 or fold: Call does not answer that
straddling   | 0 straddles          | it is seat 1's turn to straddle, not seat 0's
unknown hand | 1 folds              | a card of seat 0 or of the board was never recorded
unknown board | 0 checks            | a card of seat 0 or of the board was never recorded
"""


def _rows() -> list[tuple[str, str, str]]:
    rows = (line.split("|") for line in REFUSED.strip().splitlines())
    return [(start.strip(), answer.strip(), why.strip()) for start, answer, why in rows]


def _command(text: str) -> Command:
    """A command in words; `deal` and `swap` are the dealer's, whom a page needs no words for."""
    match text.split():
        case ["deal", *dealt]:
            return Deal(tuple(dealt))
        case ["swap", *new]:
            return Swap(tuple(None if card == "-" else card for card in new))
        case ["draw", *ranks]:
            return Draw(cast(tuple[Rank, ...], tuple(ranks)))
    return command(text)


def _at(start: str) -> tuple[Game, Hand]:
    if start in STARTS:
        table = played(STARTS[start])
        return table.game, table.hand
    name, seats, commands = WAITING[start]
    game = named(name)
    _, hand = begin(game, "m/1", 0, PLAYERS[:seats], (200,) * seats)
    for text in filter(None, commands.split("; ")):
        _, hand = step(game, hand, _command(text))
    return game, hand


@pytest.mark.parametrize(("start", "answer", "why"), _rows())
def test_a_refusal_says_why_and_changes_nothing(start: str, answer: str, why: str) -> None:
    game, hand = _at(start)
    with pytest.raises(IllegalCommand) as refusal:
        step(game, hand, _command(answer))
    assert why == str(refusal.value)
    assert _at(start)[1] == hand


PLAYERS = tuple("abcdefghijklmnopqrstuvwx")
HOLDEM = named("probability-standard")
AUCTION = named("auction-2024")
URCS = named("urcs-1998")
EMPTY = between.Table((None,) * 3)
ONE = between.sit(EMPTY, 0, "a", 100, posts=False)


def _begin(game: Game, button: int, *stacks: int, **more: Any) -> Callable[[], object]:
    players = more.pop("players", PLAYERS[: len(stacks)])
    return lambda: begin(game, "m/1", button, players, stacks, **more)


def _opened(game: Game) -> Hand:
    """A hand that has only begun: no blind is posted yet."""
    return opened(begin(game, "m/1", 0, ("a", "b"), (100, 100))[1].start)


ELSEWHERE: list[tuple[Callable[[], object], str]] = [
    # Hands that cannot begin.
    (_begin(HOLDEM, 0, 100), "probability-standard seats 2..23 players, not 1"),
    (_begin(HOLDEM, 0, *[100] * 24), "probability-standard seats 2..23 players, not 24"),
    (_begin(AUCTION, 0, 400, 400, 400), "auction-2024 seats 2..2 players, not 3"),
    (_begin(HOLDEM, 0, 100, 100, players=("a",)), "2 stacks need 2 players, not 1"),
    (_begin(HOLDEM, 2, 100, 100), "the button is at one of the seats 0..1, not at 2"),
    (_begin(HOLDEM, -1, 100, 100), "the button is at one of the seats 0..1, not at -1"),
    (_begin(HOLDEM, 0, 100, 0), "seat 1 brings 0 chips: a seat needs at least one"),
    (
        _begin(HOLDEM, 0, *[100] * 4, posts=(Post(4),)),
        "seat 4 may not post: there are 4 seats",
    ),
    (
        _begin(HOLDEM, 0, *[100] * 4, posts=(Post(2),)),
        "seat 2 may not post: it has put in its blind already",
    ),
    (
        _begin(HOLDEM, 0, *[100] * 4, posts=(Post(3), Post(3))),
        "seat 3 may not post: it has put in its blind already",
    ),
    (
        _begin(HOLDEM, 0, *[100] * 3, 5, posts=(Post(3, "dead", 5), Post(3))),
        "seat 3 may not post: it has nothing left",
    ),
    (
        _begin(HOLDEM, 0, *[100] * 4, posts=(Post(3, "post", 5),)),
        "seat 3 may post the blind of 10, not 5",
    ),
    (
        _begin(URCS, 0, *[100] * 4, posts=(Post(3),)),
        "seat 3 may not post: urcs-1998 has no big blind",
    ),
    (
        _begin(URCS, 0, 100, 100, dead_small=True),
        "urcs-1998 has no small blind that could be left out",
    ),
    (
        _begin(
            replace(HOLDEM, script=(Posts((), (5, 10), dead=False), *HOLDEM.script)), 0, 100, 100
        ),
        "forced bets of 0 seats, and 2 play",
    ),
    # Steps that nobody is ever asked at.
    (
        lambda: decide(HOLDEM, _opened(HOLDEM), Fold(0)),
        "nobody is asked here: what is forced is put in by itself",
    ),
    (
        lambda: Antes(2).decide(URCS, _opened(URCS), Fold(0)),
        "nobody is asked here: what is forced is put in by itself",
    ),
    (
        lambda: Blind(5).decide(URCS, _opened(URCS), Fold(0)),
        "nobody is asked here: what is forced is put in by itself",
    ),
    # Parameters.
    (lambda: urcs(1), "the low limit is at least 2, not 1: half of it is the blind"),
    (lambda: urcs(10, 5), "the high limit is at least the low one of 10, not 5"),
    # Between hands.
    (lambda: between.sit(EMPTY, 3, "a", 100, posts=False), "there is no chair 3: there are 0..2"),
    (lambda: between.sit(ONE, 0, "b", 100, posts=False), "chair 0 is taken by a"),
    (lambda: between.sit(ONE, 1, "a", 100, posts=False), "a sits at this table already"),
    (
        lambda: between.sit(EMPTY, 0, "a", 0, posts=False),
        "a brings 0 chips: a seat needs at least one",
    ),
    (lambda: between.stand_up(EMPTY, 1), "nobody sits in chair 1"),
    (lambda: between.add_chips(ONE, 0, 0), "a may add at least one chip, not 0"),
    (lambda: between.moved(HOLDEM, ONE), "a hand needs two players with chips, not 1"),
    (lambda: between.deal_in(HOLDEM, ONE), "the button has no place yet: move it first"),
]


@pytest.mark.parametrize(("provoke", "why"), ELSEWHERE, ids=[why for _, why in ELSEWHERE])
def test_what_cannot_begin_or_stand_is_refused_in_one_sentence(
    provoke: Callable[[], object], why: str
) -> None:
    with pytest.raises(IllegalCommand) as refusal:
        provoke()
    assert why == str(refusal.value)


def test_every_place_that_refuses_is_provoked_here() -> None:
    provoked = {
        *(_raised_by(_answers(start, answer)) for start, answer, _ in _rows()),
        *(_raised_by(provoke) for provoke, _ in ELSEWHERE),
    }
    there = {place for path in sorted(ENGINE.rglob("*.py")) for place in _refusals(path)}
    assert sorted(there) == sorted(provoked)


def test_every_reason_not_to_raise_is_provoked_here() -> None:
    named_in_a_menu = set()
    for start, answer, _ in _rows():
        game, hand = _at(start)
        asked = turn(game, hand)
        if isinstance(asked, ToAct) and isinstance(_command(answer), Raise):
            named_in_a_menu.add(asked.veto)
    assert set(VETOES) == named_in_a_menu - {None}


ENGINE = Path(engine.__file__).parent


def _answers(start: str, answer: str) -> Callable[[], object]:
    game, hand = _at(start)
    return lambda: step(game, hand, _command(answer))


def _raised_by(provoke: Callable[[], object]) -> str:
    """File and line of the statement that refused."""
    with pytest.raises(IllegalCommand) as refusal:
        provoke()
    last = refusal.traceback[-1]
    return f"{Path(last.path).relative_to(ENGINE)}:{last.lineno + 1}"


def _refusals(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        match node:
            case ast.Raise(exc=ast.Call(func=ast.Name(id="IllegalCommand" | "Undecided"))):
                yield f"{path.relative_to(ENGINE)}:{node.lineno}"
