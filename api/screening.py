"""A whole ledger audited: columns through the screen, and the engine for whatever it doubts."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from analytics.batch.ledger import Batch, batches
from analytics.batch.rows import Words
from analytics.batch.screen import Screen
from api.rules import Rules
from engine.game import Game

if TYPE_CHECKING:
    from store.reader import Snapshot


def screened(ledger: "Snapshot", rules: Rules, other: Game | None) -> Iterator[Batch]:
    """Every hand that is over, some thousand at a time, by its own rules or by others."""
    return batches(ledger, Screen(rules.marked, Words(), other))


def agreed(batch: Batch, place: int) -> dict[str, Any]:
    """What the engine's report would say of a hand that the screen found fine; its pots are not
    told.
    """
    nets = batch.nets(place)
    return {
        "hand": batch.hand(place),
        "ruleset": batch.ruleset(place),
        "verdict": "agree",
        "assumed": (),
        "moves": None,
        "at": None,
        "recorded": nets,
        "decided": nets,
        "readings": [],
        "pots": None,
        "showdown": None,
    }
