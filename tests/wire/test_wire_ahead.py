"""What is tried while a bot thinks changes no record, no line, no deck and no bot's clock."""

import random
import time
from collections.abc import Callable, Iterator
from itertools import islice

import pytest

from dealer.deck import Deck, SeededDecks, of_key, seeded
from dealer.wire.connection import IDLE, Connection, done
from dealer.wire.match import Ahead, Habits, Referee, Spot, play
from dealer.wire.plan import plan
from dealer.wire.player import Reply
from engine.games import GAMES
from engine.turn import ToDeal, ToSwap
from events.types import Events
from tests.wire.links import pair

GAMES_SPOKEN = ("auction-2024-mit", "swap-2022-mit")
WORDS = ("K", "K", "K", "C", "C", "C", "F", "R4", "R9", "R400", "A0", "A3", "A3", "Rx", "", "k")


class Erratic:
    """Replies at random, and leaves time for so many pieces of work; keeps every line."""

    def __init__(self, seed: str, pieces: int | None) -> None:
        self._draw = random.Random(seed)
        self._pieces = pieces
        self.lines: list[str] = []

    def ask(self, told: str, meanwhile: Iterator[None] = IDLE) -> Reply | None:
        done(islice(meanwhile, self._pieces))
        self.lines.append(told)
        chance = self._draw.random()
        if chance < 0.01:
            return Reply("", "late")
        return None if chance > 0.99 else Reply(self._draw.choice(WORDS))


Told = tuple[list[Events], list[str], list[str]]


def _played(game: str, seed: int, pieces: int | None, *, mirrored: bool, shown: bool) -> Told:
    bots = (Erratic(f"{seed}/a", pieces), Erratic(f"{seed}/b", pieces))
    match = plan(GAMES[game], "m", ("a", "b"), 20, mirrored=mirrored, open_bids=shown)
    decks = SeededDecks(str(seed), match.deals)
    records = [hand.record for leg in match.legs for hand in play(match, leg, decks, bots)]
    return records, bots[0].lines, bots[1].lines


@pytest.mark.parametrize("game", GAMES_SPOKEN)
@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_however_much_is_tried_ahead_records_and_lines_are_the_same(
    game: str, mirrored: bool, seed: int
) -> None:
    shown = seed % 2 == 1
    nothing, all_of_it, some = (
        _played(game, seed, pieces, mirrored=mirrored, shown=shown) for pieces in (0, None, 1)
    )
    assert nothing == all_of_it == some


@pytest.mark.parametrize("game", GAMES_SPOKEN)
def test_to_try_a_reply_leaves_the_question_as_it_was(game: str) -> None:
    referee = Referee(plan(GAMES[game], "m", ("a", "b"), 9))
    draw = random.Random(game)
    for number in range(1, 10):
        spot = referee.opened(number, SeededDecks("ahead").deck(number))
        while spot.seat is not None:
            tried = {word: _said(referee.after(spot, Reply(word))) for word in WORDS}
            again = {word: _said(referee.after(spot, Reply(word))) for word in reversed(WORDS)}
            assert tried == again
            spot = referee.after(spot, Reply(draw.choice(WORDS)))


def _said(spot: Spot) -> tuple[object, ...]:
    """All that a spot says, and what either seat would be told next."""
    waiting = spot.clauses.fork()
    return spot.events, spot.hand, spot.seat, spot.line, waiting.take(0), waiting.take(1)


def test_a_bot_that_repeats_itself_is_foreseen() -> None:
    referee, habits = Referee(plan(GAMES["auction-2024-mit"], "m", ("a", "b"), 3)), Habits()
    for number in (1, 3):
        spot = referee.opened(number, seeded(str(number)))
        ahead = Ahead(referee, habits, spot)
        done(ahead.pieces())
        after = ahead.after(Reply("R9"))
        assert (after is ahead.after(Reply("R9"))) == (number == 3)
    assert [("preflop", "P", "R9")] == [(*kind[:2], reply) for kind, reply in habits.items()]


def test_one_reply_is_tried_and_another_than_before_ends_the_habit() -> None:
    class Counting(Referee):
        asked = 0

        def after(self, spot: Spot, reply: Reply | None) -> Spot:
            self.asked += 1
            return super().after(spot, reply)

    referee, habits = Counting(plan(GAMES["auction-2024-mit"], "m", ("a", "b"), 9)), Habits()
    asked = []
    for number, reply in zip((1, 3, 5, 7, 9), ("R9", "R9", "R6", "C", "C"), strict=True):
        spot = referee.opened(number, seeded(str(number)))
        ahead = Ahead(referee, habits, spot)
        done(ahead.pieces())
        ahead.after(Reply(reply))
        asked.append(referee.asked)
        referee.asked = 0
    assert asked == [2, 1, 2, 1, 1]  # without a habit, a call is likely
    assert [("preflop", "P", "C")] == [(*kind[:2], reply) for kind, reply in habits.items()]


@pytest.mark.parametrize("made", [lambda: seeded("x"), lambda: of_key(b"x" * 32)])
def test_a_fork_of_a_deck_deals_what_the_deck_will_deal(made: Callable[[], Deck]) -> None:
    swap = ToSwap(((0, 0), (0, 1), (1, 0), (1, 1)), 50, 100)
    deck, untouched = made(), made()
    for asked in (ToDeal(3, "board"), ToDeal(1, "board", place="bottom"), ToDeal(2, "board")):
        forks = deck.fork(), deck.fork()
        tried = [(fork.deal(asked), fork.swap(swap), fork.swap(swap)) for fork in forks]
        dealt = (deck.deal(asked), deck.swap(swap))
        assert tried[0] == tried[1]
        assert tried[0][:2] == dealt == (untouched.deal(asked), untouched.swap(swap))


def test_a_bot_is_not_charged_for_work_of_ours() -> None:
    ours, theirs = pair()
    done = 0.0

    def long_work() -> Iterator[None]:
        nonlocal done
        time.sleep(0.2)
        done = time.perf_counter()
        yield
        raise AssertionError("the reply was there, and nothing more was to be done")

    with theirs:
        link = Connection(ours, 100)
        theirs.sendall(b"K\n")
        assert b"K" == link.ask(b"?\n", 1, long_work())
        assert link.arrived <= done - 0.19
        link.close()


def test_a_bot_is_charged_for_what_it_thinks_beside_our_work() -> None:
    ours, theirs = pair()
    pieces = 0

    def short_work() -> Iterator[None]:
        nonlocal pieces
        while True:
            pieces += 1
            if pieces == 20:
                theirs.sendall(b"K\n")
            time.sleep(0.01)
            yield

    with theirs:
        link = Connection(ours, 100)
        begun = time.perf_counter()
        assert b"K" == link.ask(b"?\n", 5, short_work())
        assert link.arrived - begun >= 0.18
        link.close()
