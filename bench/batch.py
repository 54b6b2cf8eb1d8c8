"""Columns of hands and exact equities, beside calls for one hand and beside every deal laid out.

Columns are 52-bit masks, a million different hands; calls get the same hands in the form that each
peer likes best. An equity of two cards against any two on a flop stands for 1,070,190 deals: ours
counts them in classes, the other contender lays out each of them in columns; so it is with two
known hands before the flop and 1,712,304 boards. An auction is what a
third card is worth to who sees only his own cards: against two, against three, and without it;
each is a new spot, so nothing comes from the cache that play has.
"""

from collections.abc import Callable, Sequence
from itertools import cycle, islice
from random import Random

import numpy as np

from bench.peers import installed
from bench.rank import eval7, phevaluator
from bench.runner import SEED, Bench, Contender, Target, one_by_one
from events.cards import DECK
from odds.batch import CHUNK, Masks, equities, run_outs, subsets, unseen, worth
from odds.rank import Cards, evaluator, mask
from odds.third_card import third_card_of_masks
from odds.unseen import against_unseen

ROWS = 1 << 20
CALLS = 10_000
SPOTS = 200
ON_A_FLOP = 1_081 * 990
Spot = tuple[Cards, Cards]


def benches() -> list[Bench]:
    """Values of seven and eight cards, then equities."""
    return [
        _ranked(7, (Target("phevaluator", 40.0), Target("eval7", 20.0, "aim"))),
        _ranked(8, ()),
        _bench("Two cards against any two, on a flop", "spot", "deal", on_flops()),
        _bench("What a third card is worth, on a flop", "auction", "auction", auctions()),
        _bench("Two known hands before the flop", "match-up", "board", preflop()),
    ]


def _ranked(size: int, targets: tuple[Target, ...]) -> Bench:
    """Hands in columns, and the peers who reach that many cards one call each."""
    chance = Random(SEED)
    deals = [tuple(chance.sample(DECK, size)) for _ in range(CALLS)]
    contenders = [
        Contender("muckrake, columns", columns(size)),
        Contender(
            "muckrake, calls",
            one_by_one(evaluator("standard", size), [mask(deal) for deal in deals]),
        ),
    ]
    if installed("eval7"):
        contenders.append(Contender("eval7", eval7(deals), "eval7"))
    if installed("phevaluator") and size == 7:
        contenders.append(Contender("phevaluator", phevaluator(deals), "phevaluator"))
    return Bench(f"{size} cards ranked", "hand", "hand", tuple(contenders), targets)


def columns(size: int) -> Callable[[int], int]:
    """A million hands, again and again; a part of them where fewer are asked for."""
    hands = _random_hands(size)

    def run(count: int) -> int:
        for start in range(0, count, ROWS):
            worth(hands[: min(ROWS, count - start)], size)
        return count

    return run


def _random_hands(size: int) -> Masks:
    """Different hands, drawn card by card; where a card comes twice, the row is drawn again."""
    chance = np.random.default_rng(SEED)
    hands = np.zeros(0, dtype=np.int64)
    while len(hands) < ROWS:
        drawn = np.int64(1) << chance.integers(0, 52, (ROWS, size))
        whole = np.bitwise_or.reduce(drawn, axis=1)
        hands = np.concatenate([hands, whole[np.bitwise_count(whole) == size]])
    return hands[:ROWS]


def _bench(title: str, item: str, unit: str, contenders: Sequence[Contender]) -> Bench:
    return Bench(title, item, unit, tuple(contenders))


def spots() -> list[Spot]:
    """Hole cards and a flop."""
    chance = Random(SEED)
    deals = [tuple(chance.sample(DECK, 5)) for _ in range(SPOTS)]
    return [(deal[:2], deal[2:]) for deal in deals]


def on_flops() -> list[Contender]:
    """In classes, and one deal after another."""

    def classes(spot: Spot) -> object:
        return against_unseen(*spot)

    return [
        Contender("muckrake, classes", _each(classes, spots(), ON_A_FLOP)),
        Contender("muckrake, every deal", _each(laid_out, spots(), ON_A_FLOP)),
    ]


def laid_out(spot: Spot) -> int:
    """The wins among all deals, each of them ranked."""
    hole, board = (mask(cards) for cards in spot)
    rest = unseen(hole | board)
    pairs, run_outs = subsets(rest, 2), subsets(rest, 2) | board
    wins = 0
    for some in np.array_split(run_outs, len(run_outs) * len(pairs) // CHUNK):
        at, who = ((some[:, None] & pairs) == 0).nonzero()
        beaten = worth(pairs[who] | some[at], 7) < worth(some | hole, 7)[at]
        wins += int(np.count_nonzero(beaten))
    return wins


def auctions() -> list[Contender]:
    """Without the cache."""

    def auction(spot: Spot) -> object:
        return third_card_of_masks(mask(spot[0]), mask(spot[1]))

    return [Contender("muckrake", _each(auction, spots(), 1))]


def preflop() -> list[Contender]:
    """All boards that can come, in classes and one after another."""
    chance = Random(SEED)
    deals = [tuple(chance.sample(DECK, 4)) for _ in range(SPOTS)]
    pairs = [(deal[:2], deal[2:]) for deal in deals]
    boards = 1_712_304
    return [
        Contender("muckrake, classes", _each(equities, pairs, boards)),
        Contender("muckrake, every board", _each(every_board, pairs, boards)),
    ]


def every_board(pair: Spot) -> int:
    """The wins on all boards, each of them ranked."""
    mine, theirs = (mask(cards) for cards in pair)
    wins = 0
    for boards in run_outs(unseen(mine | theirs), 5):
        wins += int(np.count_nonzero(worth(boards | mine, 7) > worth(boards | theirs, 7)))
    return wins


def _each(
    act: Callable[[Spot], object], things: Sequence[Spot], worth_of_one: int
) -> Callable[[int], int]:
    def run(count: int) -> int:
        for thing in islice(cycle(things), count):
            act(thing)
        return count * worth_of_one

    return run
