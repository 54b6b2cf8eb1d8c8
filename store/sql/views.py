"""Views of SQL: their parts, units of amounts, tags of players and rulesets.

A part of a view is some of its rows, as they can be asked for alone; a digest tells parts apart.

No table stores what amounts count, what tags call players, and by which rulesets hands were dealt.
Amounts are chips or cents or halves, as the rulesets of the hands say. As long as all rulesets that
a ledger keeps count the same, no hand is looked at; else those by rulesets that count something
else are found once for each segment. Of tags, which matches say of their players beside their
names, only segments are read in which somebody was tagged, each once. So a ledger of any age
answers.
"""

import hashlib
import re
import secrets
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from events.match import Tagged
from store.folder.manifest import RulesetHead, Segment
from store.reader import Snapshot
from store.segments.reading import SegmentFiles

if TYPE_CHECKING:
    import duckdb


_NAMES = re.compile(r"_[0-9a-f]{32}\b")


class TableSources(NamedTuple):
    """The segments that have a file for a table, and all its other rows, made by a question."""

    segments: tuple[Segment, ...]
    tables: Sequence[pa.Table]


class ViewPart(NamedTuple):
    """A part of a view's rows: equal parts have the same digest, for every viewer at any time.

    `number` is the manifest that they were found by, `segment` where they lie if they are sealed.
    """

    name: str
    sql: str
    digest: str
    number: int
    segment: Segment | None


def write_copy(
    con: "duckdb.DuckDBPyConnection", part: ViewPart, columns: Sequence[str], path: Path
) -> None:
    """Write some columns of a part as the table `rows` into a new DuckDB file."""
    names = ", ".join(f'"{column}"' for column in columns)
    to = f"to_{secrets.token_hex(16)}"
    con.execute(f"ATTACH {quoted(str(path))} AS {to}")
    try:
        con.execute(f"CREATE TABLE {to}.rows AS SELECT {names} FROM ({part.sql})")
    finally:
        con.execute(f"DETACH {to}")


class PartMoved(Exception):
    """The rows of a part lie elsewhere: they were compacted."""


class JoinedTable(NamedTuple):
    """A table for views alone, and which of its columns says what a row of it is about."""

    rows: pa.Table
    of: Mapping[str, str]

    def digest(self, segment: Segment | None) -> str:
        """The digest of the rows that matter to a segment."""
        rows = self.rows
        if segment is not None and (segment.numbers or segment.records):  # else it is an old one
            for kind, column in self.of.items():
                rows = rows.filter(_ABOUT[kind](segment, pc.field(column)))
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, rows.schema) as stream:
            stream.write_table(rows.combine_chunks())
        return hashlib.sha256(sink.getvalue()).hexdigest()


_ABOUT: dict[str, Callable[[Segment, pc.Expression], pc.Expression]] = {
    "seq": lambda one, at: (at >= one.first_seq) & (at <= one.last_seq),
    "pos": lambda one, at: (at >= one.first_pos) & (at <= one.last_pos),
    "match": lambda one, at: at.isin([*one.numbers, *one.records]),
}


def rows_digest(sql: str, joined: Mapping[str, JoinedTable], segment: Segment | None) -> str:
    """The digest of a view part: of its SQL, and of the rows that are joined and matter."""

    def content(name: re.Match[str]) -> str:
        return joined[name[0]].digest(segment) if name[0] in joined else name[0]

    return hashlib.sha256(_NAMES.sub(content, sql).encode()).hexdigest()


AMOUNT_VIEWS = frozenset(
    {"events", "hands", "players", "bids", "pots", "decisions"}
)  # views whose rows give some
UNIT_VIEWS = AMOUNT_VIEWS | {"facts", "auctions"}  # and those that only our own questions read
UNIT = "unit"  # their last column
Units = Mapping[str, str | None]  # by a ruleset's fingerprint; None if its text is damaged
_UNIT_ROWS = pa.schema({"odd_seq": pa.int64(), "odd": pa.string()})
_UNIT_READ = ["hand_seq", "ruleset"]
_units_found: WeakKeyDictionary[SegmentFiles, dict[tuple[str, str], pa.Table]] = WeakKeyDictionary()

TAGS = "tags"  # as SQL names the view of them all
TAG_COLUMNS = pa.schema(dict.fromkeys(("match", "player", "tag", "value"), pa.string()))
_TAG_ROWS = pa.schema([pa.field("hand_seq", pa.int64()), *TAG_COLUMNS])
_OF_PLAYERS = ("player", "rival")  # columns of views that name one
OWN_NAME = "own_name"  # a column of views whose players go by tags
_KIND = Tagged.__name__
_TAG_READ = ("type", *_TAG_ROWS.names)
_tags_found: WeakKeyDictionary[SegmentFiles, dict[str, pa.Table]] = WeakKeyDictionary()
DisplayNames = Mapping[tuple[str, str], str]
"""The display name of a player, by match and name."""

NO_DISPLAY_NAMES: DisplayNames = MappingProxyType({})


def usual_unit(units: Units) -> str:
    """The unit of most amounts: that of all rulesets, else chips."""
    known = set(units.values())
    only = known.pop() if len(known) == 1 else None
    return only or "chip"


def unusual_units(units: Units) -> Units:
    """The units of the rulesets that do not count in the usual one."""
    return {mark: unit for mark, unit in units.items() if unit != usual_unit(units)}


def unusual_hands(files: SegmentFiles, hands: TableSources, units: Units) -> pa.Table:
    """The hands by these rulesets, in order of closing, and what their amounts count."""
    known, kept = _units_found.get(files, {}), {}
    for segment in hands.segments:
        key = segment.files["hands"], repr(units)
        groups = range(files.open(segment, "hands").groups if key not in known else 0)
        rows = (files.rows(segment, "hands", group, _UNIT_READ) for group in groups)
        kept[key] = known[key] if key in known else _of(rows, units)
    _units_found[files] = kept
    return pa.concat_tables([*kept.values(), _of(hands.tables, units)])


def with_units_sql(
    name: str, rows: str, units: Units, others: str | None, only: Collection[str] | None = None
) -> str:
    """The SELECT of a view with the column `unit`, if it gives amounts; with `only`, of hands that
    count in these. `others` names the table of `unusual_hands`."""
    unit = quoted(usual_unit(units))
    join = ""
    if others is not None:
        unit = f"CASE WHEN odd_seq IS NULL THEN {unit} ELSE odd END"
        join = f"LEFT JOIN {others} ON odd_seq = r.hand_seq"
    unit = f"CASE WHEN number IS NOT NULL THEN {unit} END"  # records of a match have no amounts
    column = f", {unit} AS {UNIT}" if name in UNIT_VIEWS else ""
    where = ""
    if only is not None:
        where = f" WHERE number IS NULL OR {unit} IN ({', '.join(map(quoted, sorted(only)))})"
    return f"SELECT r.*{column} FROM ({rows}) AS r {join}{where}"


def quoted(text: str) -> str:
    """A text as SQL spells it."""
    return "'" + text.replace("'", "''") + "'"


def _of(tables: Iterable[pa.Table], units: Units) -> pa.Table:
    marks, counted = pa.array(units, pa.string()), pa.array(units.values(), pa.string())
    found = [_UNIT_ROWS.empty_table()]
    for rows in tables:
        place = pc.index_in(rows["ruleset"].cast(pa.string()), marks)
        known = pc.is_valid(place)
        columns = rows["hand_seq"].filter(known), counted.take(place.filter(known))
        found.append(pa.table(columns, schema=_UNIT_ROWS))
    return pa.concat_tables(found).combine_chunks()


def tags_table(snapshot: Snapshot) -> pa.Table:
    """The rows of the view: of two about the same player and tag, the later one."""
    files, (segments, closed) = snapshot.live.files, snapshot.parts()
    known, kept = _tags_found.get(files, {}), {}
    for segment in segments:
        if _KIND not in segment.types:
            continue
        key = segment.files["events"]
        if key in known:
            kept[key] = known[key]
            continue
        tagged = []
        for rows in files.all_events(segment, _TAG_READ):
            those = rows.filter(pc.equal(rows["type"].cast(pa.string()), _KIND))
            tagged.append(those.select(_TAG_ROWS.names).cast(_TAG_ROWS))
        kept[key] = pa.concat_tables(tagged)
    _tags_found[files] = kept
    hot = [
        (stream.hand_seq, at.append.stream, event.player, event.tag, event.value)
        for stream in closed
        for at in stream.placed
        for event in at.append.events
        if isinstance(event, Tagged)
    ]
    in_log = [dict(zip(_TAG_ROWS.names, row, strict=True)) for row in hot]
    held = {}
    for rows in (*kept.values(), pa.Table.from_pylist(in_log, _TAG_ROWS)):
        for row in rows.filter(pc.less(rows["hand_seq"], snapshot.next_seq)).to_pylist():
            held[row["match"], row["player"], row["tag"]] = row
    return pa.Table.from_pylist(list(held.values()), TAG_COLUMNS)


def tags_by_player(
    tags: pa.Table, order: Sequence[str]
) -> Mapping[tuple[str, str], dict[str, str]]:
    """The tags of each player of a match, in the wanted order: joined by blanks they are his
    display name, `ursa 3`."""
    values: dict[tuple[str, str], dict[str, str]] = {}
    for row in tags.to_pylist():
        values.setdefault((row["match"], row["player"]), {})[row["tag"]] = row["value"]
    found = {who: {one: it[one] for one in order if one in it} for who, it in values.items()}
    return {who: it for who, it in found.items() if it}


def names_table(called: DisplayNames) -> pa.Table:
    """The table of display names, for a view to be joined with."""
    rows = [(*who, name) for who, name in called.items()]
    columns = map(pa.array, zip(*rows, strict=True))
    return pa.table(list(columns), names=["of_match", "of_player", "called"])


def renamed_sql(rows: str, columns: Collection[str], names: str) -> str:
    """The SELECT of a view whose players are called as the table of names says; `OWN_NAME` is what
    each was called before."""
    of = [column for column in _OF_PLAYERS if column in columns]
    replaced = ", ".join(f"coalesce({column}_is.called, r.{column}) AS {column}" for column in of)
    joins = "".join(
        f" LEFT JOIN {names} AS {column}_is ON {column}_is.of_match = r.match"
        f" AND {column}_is.of_player = r.{column}"
        for column in of
    )
    return f"SELECT r.* REPLACE ({replaced}), r.player AS {OWN_NAME} FROM ({rows}) AS r{joins}"


RULESETS = "rulesets"  # as SQL names the view of them all
_RULESETS = pa.schema(
    {"ruleset": pa.string(), "game": pa.string(), "unit": pa.string(), "document": pa.string()}
)


def rulesets_table(names: Iterable[str], text: Callable[[str], bytes | None]) -> pa.Table:
    """The rows of the view `rulesets`, one for each that is kept."""
    rows = []
    for name in names:
        document = msgspec.json.decode(text(name) or b"{}", type=RulesetHead)
        rows.append((name, document.name, document.unit, document.document))
    columns = zip(*rows, strict=True) if rows else ((),) * len(_RULESETS)
    return pa.table([pa.array(column, pa.string()) for column in columns], schema=_RULESETS)
