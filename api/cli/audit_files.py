"""An audit as files: a row for each hand, pot and seat, with all that decides who is paid.

Rows are written as hands are judged, so millions of them take no memory; a file is there when it
is whole.
"""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import Any

import pyarrow as pa

from api.cli.options import File, written
from api.cli.output import note
from api.exporting.files import writer
from api.report import as_json
from api.rules import Judged, start_of
from engine.game import fingerprint
from store.log.leaf import split

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


def save(judged: Iterable[Judged], files: list[File]) -> None:
    """The hands of an audit into one file or both."""
    count = 0
    with ExitStack() as stack:
        outs = [writer(stack.enter_context(written(path)), kind, SCHEMA) for kind, path in files]
        for rows in _tables(judged):
            for out in outs:
                out.write(rows)
            count += rows.num_rows
        for out in outs:
            out.close()
    for _, path in files:
        if path is not None:
            note(f"{count} rows into {path}")


def _tables(judged: Iterable[Judged]) -> Iterator[pa.Table]:
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
                "recorded_net": _of(entry["recorded"], seat),
                "decided_net": _of(entry["decided"], seat),
                "readings": ", ".join(
                    f"{it['entry']} {it['nets'][seat]:+d}" for it in entry["readings"]
                ),
            }


def _of(nets: tuple[int, ...] | None, seat: int) -> int | None:
    return None if nets is None else nets[seat]
