"""What seven cards are worth, one hand at a time, each peer with the cards it likes best.

Everybody gets the same deals, with cards made into his own kind beforehand: ours as 52 bits for
`evaluator`, and as words for `ranker`, which is what the engine asks at a showdown.
"""

from collections.abc import Callable, Sequence
from itertools import cycle, islice
from random import Random
from typing import TypeVar

from bench.peers import installed
from bench.runner import SEED, Bench, Contender, Target, one_by_one
from events.cards import DECK
from odds.rank import evaluator, mask, ranker

SAMPLE = 10_000
Deals = list[tuple[str, ...]]
T = TypeVar("T")


def benches() -> list[Bench]:
    """Seven cards, two of them in the hole."""
    chance = Random(SEED)
    deals = [tuple(chance.sample(DECK, 7)) for _ in range(SAMPLE)]
    contenders = [
        Contender("muckrake, bits", bits(deals)),
        Contender("muckrake, words", words(deals)),
    ]
    for package, make in _PEERS.items():
        if installed(package):
            contenders.append(Contender(package, make(deals), package))
    targets = (Target("eval7", 0.5), Target("eval7", 0.8, "aim"))
    return [Bench("Seven cards ranked, one call each", "hand", "hand", tuple(contenders), targets)]


def bits(deals: Deals) -> Callable[[int], int]:
    """A mask of exactly seven cards."""
    return one_by_one(evaluator("standard", 7), [mask(deal) for deal in deals])


def words(deals: Deals) -> Callable[[int], int]:
    """Hole and board as the engine holds them, checked."""
    return _pairs(ranker(), [(deal[:2], deal[2:]) for deal in deals])


def eval7(deals: Deals) -> Callable[[int], int]:
    """A list of its cards."""
    from eval7 import Card, evaluate

    return one_by_one(evaluate, [[Card(card) for card in deal] for deal in deals])


def phevaluator(deals: Deals) -> Callable[[int], int]:
    """Seven whole numbers, its public form without strings."""
    from phevaluator.card import Card
    from phevaluator.evaluator import evaluate_cards

    sevens = [tuple(Card(card).id_ for card in deal) for deal in deals]

    def run(count: int) -> int:
        for seven in islice(cycle(sevens), count):
            evaluate_cards(*seven)
        return count

    return run


def texasholdem(deals: Deals) -> Callable[[int], int]:
    """Two lists of its cards."""
    from texasholdem.card.card import Card
    from texasholdem.evaluator.evaluator import evaluate

    sevens = [[Card(card) for card in deal] for deal in deals]
    return _pairs(evaluate, [(seven[:2], seven[2:]) for seven in sevens])


def pokerkit(deals: Deals) -> Callable[[int], int]:
    """Its best hand of hole and board."""
    from pokerkit import Card, StandardHighHand

    sevens = [tuple(Card.parse("".join(deal))) for deal in deals]
    return _pairs(StandardHighHand.from_game, [(seven[:2], seven[2:]) for seven in sevens])


_PEERS: dict[str, Callable[[Deals], Callable[[int], int]]] = {
    "eval7": eval7,
    "phevaluator": phevaluator,
    "texasholdem": texasholdem,
    "pokerkit": pokerkit,
}


def _pairs(
    evaluate: Callable[[T, T], object], pairs: Sequence[tuple[T, T]]
) -> Callable[[int], int]:
    def run(count: int) -> int:
        for hole, board in islice(cycle(pairs), count):
            evaluate(hole, board)
        return count

    return run
