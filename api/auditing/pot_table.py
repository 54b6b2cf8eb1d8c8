"""The table of `audit --csv`: a row for each pot and seat of a hand that the engine has audited,
with all that decides who is paid.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from api.auditing.hand_report import audit_entry
from api.auditing.record import AuditedHand, start_of
from engine.game import fingerprint
from store.log.streams import split_stream

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
