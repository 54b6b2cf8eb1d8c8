"""Random legal hands of every ruleset: tables the rules allow, and players who try everything.

A hand is a pure function of its ruleset and a string of bytes: each choice eats one byte, and where
there are no more the calmest choice is made (check, call, show). So a hand can be repeated from its
bytes, drawn by Hypothesis and shrunk to a shorter, calmer one, and it always ends.
"""

import random
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, TypeVar, get_args

import pytest
from hypothesis import strategies

from engine.game import Game
from engine.games import GAMES, IMPORTED
from engine.hand import begin, step, turn
from engine.policies import Policies
from engine.turn import (
    Announce,
    Bid,
    Call,
    Check,
    Command,
    Deal,
    Disconnect,
    Draw,
    Fold,
    IllegalCommand,
    Muck,
    Over,
    Post,
    Raise,
    Reconnect,
    Show,
    Straddle,
    Swap,
    TimeOut,
    ToAct,
    ToBid,
    ToDeal,
    ToDraw,
    ToShow,
    Toss,
    ToStraddle,
    ToSwap,
    ToToss,
    Turn,
)
from events.cards import DECK, Rank
from events.evolve import evolve
from events.notation import say_all
from events.state import Hand
from events.types import Event, Events, Faulted, HandVoided
from odds.rank import best_five
from tests.profiles import sized

T = TypeVar("T")

RULESETS = {**GAMES, **IMPORTED}
sources = strategies.binary(min_size=64, max_size=160)
NAMES = ("ursa", "lynx", "puma", "wolf", "crow", "moth", "toad", "hare", "boar")
CLOCKED = ("all_in_if_paid", "fold_or_check")  # values of time_out under which a clock is a player


def steps(game: Game) -> set[tuple[str, str]]:
    """The kinds of its steps alone."""
    return {("step", type(step).__name__) for step in game.script}


def traits(game: Game) -> set[tuple[str, str]]:
    """Each policy with its value, and the kinds of its steps."""
    policies = {(name, repr(getattr(game, name))) for name in Policies.__struct_fields__}
    return policies | steps(game)


def covering(
    games: Mapping[str, Game], traits: Callable[[Game], set[tuple[str, str]]] = traits
) -> dict[str, Game]:
    """A few of these rulesets: every step and every value of a policy that one of them has, some
    of these few has. The next one taken is always that which adds the most."""
    missing = set().union(*map(traits, games.values()))
    taken: dict[str, Game] = {}
    while missing:
        name = max(games, key=lambda one: len(traits(games[one]) & missing))
        taken[name] = games[name]
        missing -= traits(games[name])
    return taken


COVER = covering(RULESETS)


def each(games: Mapping[str, Game]) -> pytest.MarkDecorator:
    """A test of each of these rulesets."""
    return pytest.mark.parametrize("game", games.values(), ids=list(games))


every_game, every_ruleset = each(GAMES), each(RULESETS)
# A few hold every step and every value of a policy; all of them are for `slow`.
some_games = each(sized(quick=covering(GAMES), ci=covering(GAMES), slow=GAMES))
some_rulesets = each(sized(quick=COVER, ci=COVER, slow=RULESETS))


class Choices:
    """A string of bytes as a row of choices."""

    def __init__(self, source: bytes) -> None:
        self._bytes = iter(source)

    def pick(self, options: tuple[T, ...]) -> T:
        """One of these; the first when no bytes are left."""
        return options[next(self._bytes, 0) % len(options)]

    def seldom(self) -> bool:
        """True one time in sixteen."""
        return next(self._bytes, 0) % 16 == 15


class Pack:
    """A shuffled deck that answers what is asked of chance; it can be peeked into."""

    def __init__(self, seed: int) -> None:
        self.cards = list(DECK)
        if seed:
            random.Random(seed).shuffle(self.cards)

    def deal(self, asked: ToDeal) -> Deal:
        if asked.place == "bottom":
            return Deal(tuple(self.cards.pop() for _ in range(asked.count)))
        del self.cards[: asked.burn]
        given = tuple(self.cards[: asked.count])
        del self.cards[: asked.count]
        return Deal(given)

    def swap(self, asked: ToSwap, choices: Choices) -> Swap:
        """Far more swaps than the rules' own chance would make."""
        return Swap(
            tuple(
                self.cards.pop(0) if choices.pick((False, False, True)) else None
                for _ in asked.at_risk
            )
        )


class Move(NamedTuple):
    """One question, its answer, and what came of it; `at` events were recorded before."""

    at: int
    before: Hand
    asked: Turn
    command: Command
    events: Events
    after: Hand


class Played(NamedTuple):
    """A whole hand: its record, and the answers that made it."""

    game: Game
    record: Events
    opened: Hand
    moves: tuple[Move, ...]
    left: tuple[str, ...]

    @property
    def hand(self) -> Hand:
        return self.moves[-1].after if self.moves else self.opened

    def __repr__(self) -> str:
        return f"\n{say_all(self.record)}"


def walk(game: Game, source: bytes) -> Played:
    """The hand that these bytes play."""
    choices = Choices(source)
    pack = Pack(choices.pick(tuple(range(256))))
    events, hand = _table(game, choices)
    opened = hand
    record: list[Event] = list(events)
    moves: list[Move] = []
    while not hand.voided and not isinstance(asked := turn(game, hand), Over):
        assert len(moves) < 1000, "this hand does not end"
        command = _answer(game, hand, asked, choices, pack)
        events, after = answered(game, hand, command)
        moves.append(Move(len(record), hand, asked, command, events, after))
        record.extend(_faults(asked, command))
        record.extend(events)
        hand = after
    return Played(game, tuple(record), opened, tuple(moves), tuple(pack.cards))


def seeded(game: Game, seed: str) -> Played:
    """The hand of a seed."""
    return walk(game, random.Random(f"{game.name}/{seed}").randbytes(160))


def answered(game: Game, hand: Hand, command: Command) -> tuple[Events, Hand]:
    """What `step` makes of an answer; but a pot that no unit divides voids the hand (G1)."""
    try:
        return step(game, hand, command)
    except IllegalCommand as refusal:
        if game.odd_chips != "fractional" or "does not divide" not in str(refusal):
            raise
        void = HandVoided(str(refusal))
        return (void,), evolve(hand, void)


def offered(game: Game, hand: Hand, asked: Turn, pack: tuple[str, ...]) -> tuple[Command, ...]:
    """Answers of every kind and edge size that this turn allows, the calmest first."""
    match asked:
        case ToAct():
            return (*_actions(asked), *_clock(game, asked.seat))
        case ToStraddle(seat=seat):
            return Straddle(seat), Fold(seat), *_clock(game, seat)
        case ToBid(seat=seat, bid_max=top):
            sizes = dict.fromkeys((0, min(1, top), top // 7, top // 2, top))
            bids = tuple(Bid(seat, size) for size in sizes)
            leaked = tuple(Bid(seat, size, sealed=False) for size in (0, top))
            late = (Bid(seat, 0, origin="default"),)
            return (*bids, *(leaked if game.bids == "leaked" else ()), *late)
        case ToToss(seat=seat, slots=slots):
            return *(Toss(seat, slot) for slot in range(slots)), Fold(seat, "default")
        case ToDeal(count=count):
            return (Deal(tuple(pack[:count])),)
        case ToSwap(at_risk=at_risk):
            return Swap((None,) * len(at_risk)), Swap(pack[: len(at_risk)])
        case ToDraw(seats=seats):
            ranks: tuple[Rank, ...] = get_args(Rank)
            same: tuple[Rank, ...] = tuple("7" for _ in seats)
            several = [ranks[at:] + ranks[:at] for at in range(len(ranks))]
            return (*(Draw(row[: len(seats)]) for row in several), Draw(same))
        case ToShow(seat=seat, may_muck=may_muck, announce=announce):
            muck = (Muck(seat),) if may_muck else ()
            shows = _announcements(game, hand, seat) if announce else (Show(seat),)
            return (*shows, *muck)
        case Over():
            return ()


def connections(hand: Hand) -> tuple[Command, ...]:
    """Who is there may drop out, who is gone may come back, whoever's turn it is."""
    seats = range(len(hand.stacks))
    return tuple(Reconnect(s) if s in hand.absent else Disconnect(s) for s in seats)


def _table(game: Game, choices: Choices) -> tuple[Events, Hand]:
    """Seats, button and stacks; now and then a newcomer posts."""
    low, high = game.seats_min, min(game.seats_max, len(NAMES))
    few = tuple(range(low, min(high, low + 2) + 1))
    count = choices.pick((*few, *few, *range(low, high + 1)))
    names = NAMES[:count]
    if choices.seldom():  # as many as the ruleset seats
        count = game.seats_max
        names = tuple(f"bird-{seat}" for seat in range(count))
    button = choices.pick(tuple(range(count)))
    sizes = (game.stack, game.stack, 1, 2, 3, 7, 11, 25, 47, game.stack // 4 + 1, game.stack * 2)
    even = choices.pick((True, False))
    stacks = tuple(game.stack if even else choices.pick(sizes) for _ in names)
    hand_id = f"{game.name}/1"
    if count > 3 and choices.pick((False, False, False, True)):
        post = Post((button + 3) % count, choices.pick(("post", "dead")))
        try:
            return begin(game, hand_id, button, names, stacks, (post,))
        except IllegalCommand:
            pass  # it has put in a blind, or the game knows no posts
    return begin(game, hand_id, button, names, stacks)


def _answer(game: Game, hand: Hand, asked: Turn, choices: Choices, pack: Pack) -> Command:
    """Chance answers for the deck, the bytes for everybody else."""
    if choices.seldom() and choices.seldom():
        return choices.pick(connections(hand))
    match asked:
        case ToDeal():
            return pack.deal(asked)
        case ToSwap():
            return pack.swap(asked, choices)
        case ToAct(check=check):
            calm = Check(asked.seat) if check else Call(asked.seat)
            return choices.pick((calm, calm, calm, *offered(game, hand, asked, ())))
        case _:
            return choices.pick(offered(game, hand, asked, ()))


def _actions(asked: ToAct) -> Iterator[Command]:
    """Passing, raising and folding, and the default of somebody who did not answer."""
    seat, low, high = asked.seat, asked.raise_min, asked.raise_max
    yield Check(seat) if asked.check else Call(seat)
    if low is not None and high is not None:
        for to in dict.fromkeys((low, min(low + 1, high), (low + high) // 2, high)):
            yield Raise(seat, to)
    yield Check(seat, "default") if asked.check else Fold(seat, "default")
    if asked.fold:
        yield Fold(seat)


def _clock(game: Game, seat: int) -> tuple[Command, ...]:
    return (TimeOut(seat),) if game.time_out in CLOCKED else ()


def _announcements(game: Game, hand: Hand, seat: int) -> tuple[Command, ...]:
    """The best five, and five worse ones that include a hole card."""
    held, board = hand.hole[seat], hand.board
    best = best_five(
        held, board, straights=game.straights, ranking=game.ranking, hole_min=game.hole_min
    )
    return Announce(seat, best), Announce(seat, (*held, *board)[:5])


def _faults(asked: Turn, command: Command) -> tuple[Event, ...]:
    """What a match runner notes before the default action of a program."""
    if getattr(command, "origin", "chosen") != "default":
        return ()
    seat = getattr(command, "seat", 0)
    return (Faulted(seat, 'R"99', "illegal", "bid" if isinstance(asked, ToBid) else "action"),)
