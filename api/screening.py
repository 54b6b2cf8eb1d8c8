"""A whole ledger audited: columns through the screen, and the engine for whatever it doubts."""

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from analytics.screen.columns import Words
from analytics.screen.plan import Why
from analytics.screen.screen import Batch, Screen, batches
from api.report import brief
from api.rules import Rules, by_rules, ruleset_of
from engine.game import Game
from engine.verdict import Report, Verdict, qualified

if TYPE_CHECKING:
    from store.reader import Snapshot


class Audited(Struct, frozen=True):
    """What an audit says of some hands: how many have which verdict, by match and ruleset; the
    entries of those that differ, or of all; and how many are of rulesets that nobody has.

    `damaged` says why they could not be read.
    """

    verdicts: list[tuple[str, str, dict[Verdict, int]]] = []
    entries: list[dict[str, Any]] = []
    homeless: dict[str, int] = {}
    damaged: str | None = None


def audits(
    ledger: "Snapshot",
    rules: Rules,
    other: Game | None,
    *,
    fine: bool,
    between: tuple[int, int] | None = None,
) -> Iterator[Audited]:
    """Every hand that is over, or those between two places, some thousand at a time, by its own
    rules or by others; those that differ have entries, or with `fine` all."""
    screen = Screen(rules.marked, Words(), other)
    for batch in batches(ledger, screen, between=between):
        yield audited(batch, rules, fine=fine)


def audited(batch: Batch, rules: Rules, *, fine: bool) -> Audited:
    """Those that the screen finds fine are counted, the engine judges the others."""
    counted: dict[tuple[str, str], Counter[Verdict]] = {
        key: Counter({"agree": count}) for key, count in batch.fine().items()
    }
    entries = []
    homeless: Counter[str] = Counter()
    for place in range(len(batch)) if fine else sorted(batch.records):
        entry = agreed(batch, place)
        if entry is None:
            record = batch.records[place]
            game = rules.of(record)
            if game is None:
                homeless[ruleset_of(record)] += 1
                continue
            entry = brief(*by_rules(record, game))
        if place in batch.records:
            key = entry["hand"].rpartition("/")[0], entry["ruleset"]
            counted.setdefault(key, Counter())[entry["verdict"]] += 1
        if fine or entry["verdict"] == "differ":
            entries.append(entry)
    verdicts = [(*key, dict(one)) for key, one in counted.items()]
    return Audited(verdicts, entries, dict(homeless))


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
