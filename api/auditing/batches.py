"""Audit a whole ledger in batches: the batch audit in columns, then the engine for doubts."""

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from analytics.batch_audit.batches import AuditedBatch, BatchAuditor, audited_batches
from analytics.batch_audit.event_arrays import WordIds
from analytics.batch_audit.plan import DoubtReason
from api.auditing.hand_report import short_audit_entry
from api.auditing.record import RulesetLookup, audit_record, ruleset_label
from engine.game import Game
from engine.verdict import Report, Verdict, qualified

if TYPE_CHECKING:
    from store.reader import Snapshot


class BatchAudit(Struct, frozen=True):
    """The audit of a batch of hands: verdicts counted by match and ruleset, entries of the hands
    that differ or of all, and hands counted by unknown ruleset.

    `damaged` says why the batch could not be read.
    """

    verdicts: list[tuple[str, str, dict[Verdict, int]]] = []
    entries: list[dict[str, Any]] = []
    unknown_rulesets: dict[str, int] = {}
    damaged: str | None = None


def audit_batches(
    ledger: "Snapshot",
    rules: RulesetLookup,
    other: Game | None,
    *,
    all_entries: bool,
    between: tuple[int, int] | None = None,
) -> Iterator[BatchAudit]:
    """Audit every closed hand, or those between two positions, some thousand at a time, by its own
    rules or by `other`; hands that differ have entries, with `all_entries` all."""
    auditor = BatchAuditor(rules.by_fingerprint, WordIds(), other)
    for batch in audited_batches(ledger, auditor, between=between):
        yield audit_batch(batch, rules, all_entries=all_entries)


def audit_batch(batch: AuditedBatch, rules: RulesetLookup, *, all_entries: bool) -> BatchAudit:
    """Count the hands that the batch audit passed, and audit the others by the engine."""
    counted: dict[tuple[str, str], Counter[Verdict]] = {
        key: Counter({"agree": count}) for key, count in batch.fine().items()
    }
    entries = []
    unknown_rulesets: Counter[str] = Counter()
    for place in range(len(batch)) if all_entries else sorted(batch.records):
        entry = passed_entry(batch, place)
        if entry is None:
            record = batch.records[place]
            game = rules.of(record)
            if game is None:
                unknown_rulesets[ruleset_label(record)] += 1
                continue
            entry = short_audit_entry(*audit_record(record, game))
        if place in batch.records:
            key = entry["hand"].rpartition("/")[0], entry["ruleset"]
            counted.setdefault(key, Counter())[entry["verdict"]] += 1
        if all_entries or entry["verdict"] == "differ":
            entries.append(entry)
    verdicts = [(*key, dict(one)) for key, one in counted.items()]
    return BatchAudit(verdicts, entries, dict(unknown_rulesets))


def passed_entry(batch: AuditedBatch, place: int) -> dict[str, Any] | None:
    """The entry of a hand that the batch audit passed; None for one that the engine must audit."""
    if place in batch.records and batch.why(place) is not DoubtReason.ASSUMED:
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
