"""A whole ledger audited: columns through the screening, and the engine for whatever it doubts.

Of hands that the engine has judged there are rows for files: each pot and seat, with all that
decides who is paid.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from msgspec import Struct

from analytics.screening.batches import ScreenedBatch, Screening, screened_batches
from analytics.screening.event_arrays import WordIds
from analytics.screening.plan import DoubtReason
from api.report import as_json, brief
from api.rules import Judged, Rules, by_rules, ruleset_of, start_of
from engine.game import Game, fingerprint
from engine.verdict import Report, Verdict, qualified
from store.log.streams import split

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
    screening = Screening(rules.marked, WordIds(), other)
    for batch in screened_batches(ledger, screening, between=between):
        yield audited(batch, rules, fine=fine)


def audited(batch: ScreenedBatch, rules: Rules, *, fine: bool) -> Audited:
    """Those that the screening finds fine are counted, the engine judges the others."""
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


def agreed(batch: ScreenedBatch, place: int) -> dict[str, Any] | None:
    """The report, without its pots, that the engine would make of a hand that the screening found
    fine, assuming something or not; None of a hand that the engine must judge.
    """
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


# As files.

ROWS = 50_000  # written together
_TEXT, _CHIPS = pa.string(), pa.int64()
SCHEMA = pa.schema(
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


def tables(judged: Iterable[Judged]) -> Iterator[pa.Table]:
    """The rows of hands as these are judged, some at a time: so millions of them take no memory."""
    rows: list[dict[str, Any]] = []
    for one in judged:
        rows += _rows(one)
        if len(rows) >= ROWS:
            yield pa.Table.from_pylist(rows, SCHEMA)
            rows = []
    yield pa.Table.from_pylist(rows, SCHEMA)


def _rows(judged: Judged) -> Iterator[dict[str, Any]]:
    """Pot by pot, seat by seat; no pot where nobody can tell what is in it."""
    start, entry = start_of(judged.record), as_json(*judged)
    match, number = split(start.hand)
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
