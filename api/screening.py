"""A whole ledger audited: columns through the screen, and the engine for whatever it doubts."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from analytics.screen.columns import Words
from analytics.screen.ledger import Batch, batches
from analytics.screen.screen import Screen
from analytics.screen.why import Why
from api.rules import Rules
from engine.game import Game
from engine.verdict import Report, qualified

if TYPE_CHECKING:
    from store.reader import Snapshot


def screened(ledger: "Snapshot", rules: Rules, other: Game | None) -> Iterator[Batch]:
    """Every hand that is over, some thousand at a time, by its own rules or by others."""
    return batches(ledger, Screen(rules.marked, Words(), other))


def agreed(batch: Batch, place: int) -> dict[str, Any] | None:
    """What the engine's report would say of a hand that the screen found fine, assuming something
    or not, without its pots; None of a hand that the engine must judge.
    """
    if place in batch.records and batch.why(place) is not Why.ASSUMED:
        return None
    nets = batch.nets(place)
    report = Report(batch.ruleset(place) or "", "agree", nets, nets)
    if place in batch.records:
        report = qualified(report, batch.records[place])
    if report.verdict == "unknown":
        return None
    return {
        "hand": batch.hand(place),
        "ruleset": report.ruleset,
        "verdict": report.verdict,
        "assumed": report.assumed,
        "moves": None,
        "at": None,
        "recorded": nets,
        "decided": nets,
        "readings": [],
        "pots": None,
        "showdown": None,
    }
