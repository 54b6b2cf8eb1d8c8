"""Tables at which engines break: stacks around the blinds or chips apart, cards that tie."""

from random import Random
from typing import NamedTuple


class Table(NamedTuple):
    """Who brings how much, what is posted, and the cards to come; the last seat is the button."""

    stacks: tuple[int, ...]
    small: int
    big: int
    ante: int
    holes: tuple[tuple[str, ...], ...]
    board: tuple[str, ...]


def random_table(chances: Random) -> Table:
    """Two to nine seats, uneven stacks around the blinds, and cards that often tie."""
    seats = chances.choice((2, 2, 3, 3, 3, 4, 4, 5, 6, 7, 8, 9))
    small, big = chances.choice(((5, 10), (1, 2), (1, 3), (3, 7), (10, 20)))
    ante = chances.choice((0, 0, 0, 1, 3))
    stacks = _staircase(seats, big, chances) if seats > 3 else _uneven(seats, big, chances)
    holes, board = _cards(seats, chances)
    return Table(stacks, small, big, ante, holes, board)


def _uneven(seats: int, big: int, chances: Random) -> tuple[int, ...]:
    """From one chip to thirty big blinds, many around one, some alike."""
    stacks: list[int] = []
    for _ in range(seats):
        sizes = (
            chances.randint(1, big + 2),
            chances.randint(1, 4 * big),
            chances.randint(big, 8 * big),
            chances.randint(big, 8 * big),
            chances.randint(8 * big, 30 * big),
            chances.choice(stacks or [big]),
        )
        stacks.append(chances.choice(sizes))
    return tuple(stacks)


def _staircase(seats: int, big: int, chances: Random) -> tuple[int, ...]:
    """Deep stacks, and shallow ones a few chips apart, whose all-ins raise by too little."""
    if chances.random() < 0.5:
        return _uneven(seats, big, chances)
    floor = chances.randint(1, 4) * big
    return tuple(
        chances.randint(10 * big, 30 * big)
        if chances.random() < 0.4
        else max(1, floor + chances.randint(-2, 2 * big))
        for _ in range(seats)
    )


def _cards(seats: int, chances: Random) -> tuple[tuple[tuple[str, ...], ...], tuple[str, ...]]:
    """A whole deck, or few ranks, or a board that beats most hands: half of the hands may tie."""
    ranks, suits = "AKQJT98765432", "shdc"
    kind = chances.choice(("whole", "whole", "few ranks", "board plays"))
    deck = [rank + suit for rank in (ranks[:6] if kind == "few ranks" else ranks) for suit in suits]
    board = ["As", "Kd", "Qh", "Jc", "Ts"] if kind == "board plays" else []
    deck = [card for card in deck if card not in board]
    chances.shuffle(deck)
    board = board or [deck.pop() for _ in range(5)]
    return tuple((deck.pop(), deck.pop()) for _ in range(seats)), tuple(board)
