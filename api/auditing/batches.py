"""Audit a whole ledger in batches: the batch audit in columns, then the engine for doubts.

And the table of `audit --csv`: a row for each pot and seat of a hand that the engine has audited,
with all that decides who is paid.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from msgspec import Struct

from analytics.batch_audit.batches import AuditedBatch, BatchAuditor, audited_batches
from analytics.batch_audit.event_arrays import WordIds
from analytics.batch_audit.plan import DoubtReason
from api.auditing.hand_report import audit_entry, short_audit_entry
from api.auditing.record import AuditedHand, RulesetLookup, audit_record, ruleset_label, start_of
from engine.game import Game, fingerprint
from engine.verdict import Report, Verdict, qualified
from store.log.streams import split_stream

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


TABLE_ROWS = 50_000  # of one table
_TEXT, _CHIPS = pa.string(), pa.int64()
POT_SCHEMA = pa.schema(
    [
        *((name, _TEXT) for name in ("hand", "match")),
        ("number", _CHIPS),
        *((name, _TEXT) for name in ("ruleset", "fingerprint", "verdict", "assumed")),
        ("moves", _CHIPS),
        ("at", _CHIPS),
        ("pot", pa.int32()),
        *((name, _CHIPS) for name in ("low", "high", "amount", "dead", "folded")),
        ("eligible", _TEXT),
        *((name, _CHIPS) for name in ("rake", "recorded_rake")),
        ("seat", pa.int32()),
        ("player", _TEXT),
        ("value", _CHIPS),
        *((name, _TEXT) for name in ("made", "five")),
        ("announced", pa.bool_()),
        *((name, _CHIPS) for name in ("recorded", "decided")),
        ("exact", _TEXT),
        ("odd", _CHIPS),
        ("odd_chips", _TEXT),
        *((name, _CHIPS) for name in ("recorded_net", "decided_net")),
        ("readings", _TEXT),
        ("unit", _TEXT),
    ]
)
_POT = ("pot", "low", "high", "amount", "dead", "folded", "rake", "recorded_rake", "odd_chips")
_NOTHING = {"recorded": 0, "decided": 0, "exact": "0", "odd": 0}
_HELD = ("value", "made", "announced")


def pot_tables(judged: Iterable[AuditedHand]) -> Iterator[pa.Table]:
    """Tables with a row per pot and seat of each audited hand, made as the hands are audited."""
    rows: list[dict[str, Any]] = []
    for one in judged:
        rows += _pot_rows(one)
        if len(rows) >= TABLE_ROWS:
            yield pa.Table.from_pylist(rows, POT_SCHEMA)
            rows = []
    yield pa.Table.from_pylist(rows, POT_SCHEMA)


def _pot_rows(judged: AuditedHand) -> Iterator[dict[str, Any]]:
    """A row for each pot and seat of a hand; without a pot where its chips cannot be told."""
    start, entry = start_of(judged.record), audit_entry(*judged)
    match, number = split_stream(start.hand)
    about = {name: entry[name] for name in ("hand", "ruleset", "verdict", "moves", "at")}
    about["assumed"] = "; ".join(entry["assumed"]) or None
    about |= {"match": match, "number": number, "fingerprint": fingerprint(judged.game)}
    about["unit"] = judged.game.unit
    held = {it["seat"]: it for it in entry["showdown"]}
    unknown = [None] * len(start.players)
    nets = {f"{name}_net": entry[name] or unknown for name in ("recorded", "decided")}
    for pot in entry["pots"] or ({"shares": ()},):
        paid = {share.pop("seat"): share for share in pot["shares"]}
        nothing = _NOTHING if paid else {}
        eligible = pot.get("eligible")
        about["eligible"] = None if eligible is None else " ".join(map(str, eligible))
        about |= {name: pot.get(name) for name in _POT}
        for seat, player in enumerate(start.players):
            yield {
                **about,
                "seat": seat,
                "player": player,
                **{name: held.get(seat, {}).get(name) for name in _HELD},
                "five": " ".join(held.get(seat, {}).get("five", ())) or None,
                **paid.get(seat, nothing),
                **{name: of[seat] for name, of in nets.items()},
                "readings": ", ".join(
                    f"{it['entry']} {it['nets'][seat]:+d}" for it in entry["readings"]
                ),
            }
