"""`risks` the slow and obvious way: one hand after the other, event by event.

This is the oracle of `analytics/projections/played.py`, which makes the rows of many hands at once.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
import pyarrow as pa

from analytics.projections.played import RISKS_SCHEMA, STREETS, SwapSpot
from analytics.replay.rules import Rulebook, RulesetText
from engine.game import Game
from engine.steps.swap import SwapHole
from events.cards import Cards, known
from events.evolve import evolve, replay
from events.state import Hand
from events.types import (
    Bet,
    BettingOpened,
    Called,
    CardSwapped,
    Checked,
    Folded,
    Raised,
    StepEntered,
)
from store.columns.codec import Row, arrow_table, hand_head
from store.log.streams import Leaf

_WORDS: dict[Any, str] = {
    Bet: "bet",
    Raised: "raise",
    Called: "call",
    Checked: "check",
    Folded: "fold",
}


def rows_of(leaf: Leaf, rules: Rulebook) -> Iterator[Row]:
    """The rows of one hand in the order of the draws; those that can be valued carry `spot`."""
    events = [one.event for one in leaf.recorded]
    end = leaf.hand
    if end is None or end.voided or not any(isinstance(one, CardSwapped) for one in events):
        return
    game = rules.of(end.start.ruleset)
    hand = replay(events[:1])  # type: ignore[arg-type]
    draws, step = -1, 0
    for place, event in enumerate(events[1:], start=1):
        if isinstance(event, StepEntered) and event.name == "swap":
            draws, step = draws + 1, event.step
        after = evolve(hand, event)  # type: ignore[arg-type]
        there = isinstance(event, CardSwapped) and event.seat < len(hand.stacks)
        if isinstance(event, CardSwapped) and there and 0 <= draws < len(STREETS):
            street, size = STREETS[draws]
            hidden = "hidden" in (event.old, event.new)
            player = end.start.players[event.seat]
            row: Row = {**hand_head(leaf, end.start), "seat": event.seat, "player": player}
            row |= {"street": street, "slot": event.slot, "chance": _chance(game, step)}
            row |= {"changed": None if hidden else event.old != event.new, "pot": hand.pot}
            row |= {"does": _does(events[place:], event.seat), "before": None, "after": None}
            if row["changed"] and game is not None:
                row["spot"] = _spot(hand, after, event.seat, end.board[:size], game, step)
            yield row
        hand = after


def build(kept: RulesetText, leaves: Iterable[Leaf]) -> pa.Table:
    """The stored rows, for a ledger that keeps the texts of rulesets which `kept` reads."""
    rules = Rulebook(kept)
    rows = [row for leaf in leaves for row in rows_of(leaf, rules)]
    for row in rows:
        spot = row.get("spot")
        row["spot"] = None if spot is None else msgspec.json.encode(spot).decode()
    return arrow_table(rows, RISKS_SCHEMA)


def _spot(
    hand: Hand, after: Hand, seat: int, board: Cards, game: Game, step: int
) -> SwapSpot | None:
    """Both hands before the change and after it, for two contenders whose cards are known."""
    left = [other for other, how in enumerate(hand.standing) if how != "folded" and other != seat]
    if len(left) != 1 or known(board) is None:
        return None
    mine, new, his = known(hand.hole[seat]), known(after.hole[seat]), known(hand.hole[left[0]])
    if mine is None or new is None or his is None:
        return None
    later = tuple(
        (one.chance, one.of) for one in game.script[step + 1 :] if isinstance(one, SwapHole)
    )
    return mine, new, his, board, tuple(hand.discards), later


def _chance(game: Game | None, step: int) -> float | None:
    """The stated probability of this draw."""
    one = game.script[step] if game is not None and step < len(game.script) else None
    return one.chance / one.of if isinstance(one, SwapHole) else None


def _does(later: Sequence[Any], seat: int) -> str | None:
    """His next choice on this street, whose board may still be to come; nothing if he has none."""
    opened = False
    for event in later:
        if isinstance(event, BettingOpened):
            opened = True
        elif opened and isinstance(event, StepEntered):
            return None
        elif type(event) in _WORDS and event.seat == seat:
            return _WORDS[type(event)] if event.origin == "chosen" else None
    return None
