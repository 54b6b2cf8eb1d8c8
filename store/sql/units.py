"""What the amounts of hands count, chips or cents or halves: as the rulesets of the hands say.

No table stores it, so ledgers of any age tell it. As long as all rulesets that a ledger keeps count
the same, no hand is looked at; else those by rulesets that count something else are found once for
each segment.
"""

from collections.abc import Collection, Iterable, Mapping
from weakref import WeakKeyDictionary

import pyarrow as pa
import pyarrow.compute as pc

from store.segments.reading import Files
from store.sql.view_parts import Sources

AMOUNTS = frozenset(
    {"events", "hands", "players", "bids", "pots", "decisions"}
)  # views whose rows give some
OURS = AMOUNTS | {"facts", "auctions"}  # and those that only our own questions read
COLUMN = "unit"  # the last of each
Units = Mapping[str, str | None]  # by a ruleset's fingerprint; None if its text is damaged
_SCHEMA = pa.schema({"odd_seq": pa.int64(), "odd": pa.string()})
_READ = ["hand_seq", "ruleset"]
_found: WeakKeyDictionary[Files, dict[tuple[str, str], pa.Table]] = WeakKeyDictionary()


def usual(units: Units) -> str:
    """What the amounts of a hand count unless its ruleset says something else."""
    known = set(units.values())
    only = known.pop() if len(known) == 1 else None
    return only or "chip"


def unusual(units: Units) -> Units:
    """The rulesets that count something else."""
    return {mark: unit for mark, unit in units.items() if unit != usual(units)}


def odd(files: Files, hands: Sources, units: Units) -> pa.Table:
    """The hands by these rulesets, in order of closing, and what their amounts count."""
    known, kept = _found.get(files, {}), {}
    for segment in hands.segments:
        key = segment.files["hands"], repr(units)
        groups = range(files.open(segment, "hands").groups if key not in known else 0)
        rows = (files.rows(segment, "hands", group, _READ) for group in groups)
        kept[key] = known[key] if key in known else _of(rows, units)
    _found[files] = kept
    return pa.concat_tables([*kept.values(), _of(hands.tables, units)])


def with_units(
    name: str, rows: str, units: Units, others: str | None, only: Collection[str] | None = None
) -> str:
    """The SELECT of a view with the column `unit`, if it gives amounts; with `only`, of hands that
    count in these. `others` names the table that `odd` gives."""
    unit = _quoted(usual(units))
    join = ""
    if others is not None:
        unit = f"CASE WHEN odd_seq IS NULL THEN {unit} ELSE odd END"
        join = f"LEFT JOIN {others} ON odd_seq = r.hand_seq"
    unit = f"CASE WHEN number IS NOT NULL THEN {unit} END"  # records of a match have no amounts
    column = f", {unit} AS {COLUMN}" if name in OURS else ""
    where = ""
    if only is not None:
        where = f" WHERE number IS NULL OR {unit} IN ({', '.join(map(_quoted, sorted(only)))})"
    return f"SELECT r.*{column} FROM ({rows}) AS r {join}{where}"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _of(tables: Iterable[pa.Table], units: Units) -> pa.Table:
    marks, counted = pa.array(units, pa.string()), pa.array(units.values(), pa.string())
    found = [_SCHEMA.empty_table()]
    for rows in tables:
        place = pc.index_in(rows["ruleset"].cast(pa.string()), marks)
        known = pc.is_valid(place)
        columns = rows["hand_seq"].filter(known), counted.take(place.filter(known))
        found.append(pa.table(columns, schema=_SCHEMA))
    return pa.concat_tables(found).combine_chunks()
