"""Assumptions of a record that its source does not state, and whether a verdict rests on them.

An assumption is a text of `HandStarted.assumed`; its first word says what it is about (`stack 400`,
`rake 5 % up to 300`). The rules never ask it: they hold the hand against what is assumed, and this
says whether their answer could have been another if it were not so.
"""

from collections.abc import Callable

from events.evolve import evolve
from events.state import opened
from events.types import (
    BidPlaced,
    BountySettled,
    Events,
    Folded,
    HandStarted,
    Mucked,
    PotSplit,
    RakeTaken,
    Shown,
)

Matters = Callable[[Events], bool]


def rests_on(record: Events) -> tuple[str, ...]:
    """The assumptions of a record without which its verdict might be another.

    An assumption that begins with a word nobody knows here always counts.
    """
    start = record[0] if record else None
    if not isinstance(start, HandStarted):
        return ()
    return tuple(one for one in start.assumed if WORDS.get(one.partition(" ")[0], _always)(record))


def is_free(assumption: str) -> bool:
    """Whether this was fitted to one hand, so that any other payment would have agreed too."""
    return assumption.partition(" ")[0] in FREE


def _always(record: Events) -> bool:
    """Matters to every verdict."""
    return True


def _stack_met(record: Events) -> bool:
    """A stack matters where a bet, a call or a bid comes up to the least that anybody brought.

    As long as everything stays below, larger stacks allow the same and smaller ones would have to
    be smaller than what was seen.
    """
    start = record[0]
    assert isinstance(start, HandStarted)
    least = min(start.stacks, default=0)
    hand = opened(start)
    for event in record[1:]:
        if isinstance(event, BidPlaced) and event.amount + hand.paid[event.seat] >= least:
            return True
        try:
            hand = evolve(hand, event)
        except (LookupError, ValueError):  # a record may hold anything
            return True
        if max(hand.paid) >= least or min(hand.stacks) <= 0:
            return True
    return False


def _folds_all_in(record: Events) -> bool:
    """Whose hand is dead matters where somebody folds who has nothing left."""
    start = record[0]
    assert isinstance(start, HandStarted)
    hand = opened(start)
    for event in record[1:]:
        try:
            if isinstance(event, Folded) and not hand.stacks[event.seat]:
                return True
            hand = evolve(hand, event)
        except (LookupError, ValueError):  # a record may hold anything
            return True
    return False


def _rake_taken(record: Events) -> bool:
    """A rake matters where the house took one."""
    return any(isinstance(event, RakeTaken) for event in record)


def _split_unevenly(record: Events) -> bool:
    """Who gets odd chips matters where shares of one pot are not alike."""
    return any(isinstance(event, PotSplit) and len(set(event.shares)) > 1 for event in record)


def _several_show(record: Events) -> bool:
    """The order of showing matters where several seats come to show or throw away."""
    return sum(isinstance(event, Shown | Mucked) for event in record) > 1


def _bounty_settled(record: Events) -> bool:
    """Whose rank it is matters where a bounty was settled."""
    return any(isinstance(event, BountySettled) for event in record)


WORDS: dict[str, Matters] = {
    "stack": _stack_met,  # what a seat brought
    "blinds": _always,  # forced bets: blinds, antes, straddles
    "absent": _folds_all_in,  # that who sits out has no hand, though a blind has put him all-in
    "level": _always,  # the size of bets
    "button": _always,
    "rake": _rake_taken,  # a rate and a cap that hold for more hands than this
    "unraked": _always,  # that the house takes nothing of a pot of which it could
    "shortfall": _rake_taken,  # chips missing in this hand, taken for the house's
    "bounty": _bounty_settled,  # a rank that is hidden, taken for one that the record pays
    "odd-chips": _split_unevenly,
    "showing": _several_show,
}
FREE = frozenset({"shortfall", "bounty"})
