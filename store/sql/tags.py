"""What matches say of their players beside their names: the view `tags`, and what a tag calls them.

Only segments in which somebody was tagged are read, each once: so a ledger of any age answers.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from weakref import WeakKeyDictionary

import pyarrow as pa
import pyarrow.compute as pc

from events.match import Tagged
from store.reader import Snapshot
from store.segments.reading import Files, files_of

VIEW = "tags"  # as SQL names them all
SCHEMA = pa.schema(dict.fromkeys(("match", "player", "tag", "value"), pa.string()))
_ROWS = pa.schema([pa.field("hand_seq", pa.int64()), *SCHEMA])
_OF_PLAYERS = ("player", "rival")  # columns of views that name one
OWN_NAME = "own_name"  # a column of views whose players go by tags
_KIND = Tagged.__name__
_READ = ("type", *_ROWS.names)
_found: WeakKeyDictionary[Files, dict[str, pa.Table]] = WeakKeyDictionary()


Called = Mapping[tuple[str, str], str]
"""What a player is called instead, by match and name."""

NOBODY: Called = MappingProxyType({})


def table(snapshot: Snapshot) -> pa.Table:
    """The rows of the view: of two about the same player and tag, the later one."""
    held = {}
    for rows in _tagged(snapshot, files_of(snapshot.live.disk)):
        for row in rows.filter(pc.less(rows["hand_seq"], snapshot.next_seq)).to_pylist():
            held[row["match"], row["player"], row["tag"]] = row
    return pa.Table.from_pylist(list(held.values()), SCHEMA)


def tagged_by(tags: pa.Table, order: Sequence[str]) -> Mapping[tuple[str, str], dict[str, str]]:
    """What these tags say of a player of a match, in the order in which they are wanted, if he has
    one: joined by blanks they are what he is called, `ursa 3`."""
    values: dict[tuple[str, str], dict[str, str]] = {}
    for row in tags.to_pylist():
        values.setdefault((row["match"], row["player"]), {})[row["tag"]] = row["value"]
    found = {who: {one: it[one] for one in order if one in it} for who, it in values.items()}
    return {who: it for who, it in found.items() if it}


def names(called: Called) -> pa.Table:
    """What players are called instead as a table, for a view to be joined with."""
    rows = [(*who, name) for who, name in called.items()]
    columns = map(pa.array, zip(*rows, strict=True))
    return pa.table(list(columns), names=["of_match", "of_player", "called"])


def renamed(rows: str, columns: Collection[str], names: str) -> str:
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


def _tagged(snapshot: Snapshot, files: Files) -> Iterator[pa.Table]:
    """The records that tag somebody, in the order in which they closed."""
    segments, closed = snapshot.parts()
    known, kept = _found.get(files, {}), {}
    for segment in segments:
        if _KIND not in segment.types:
            continue
        key = segment.files["events"]
        if key in known:
            kept[key] = known[key]
            continue
        tagged = []
        for group in range(files.open(segment, "events").groups):
            rows = files.events(segment, group, _READ)
            rows = rows.filter(pc.equal(rows["type"].cast(pa.string()), _KIND))
            tagged.append(rows.select(_ROWS.names).cast(_ROWS))
        kept[key] = pa.concat_tables(tagged)
    _found[files] = kept
    yield from kept.values()
    hot = [
        (stream.hand_seq, at.append.stream, event.player, event.tag, event.value)
        for stream in closed
        for at in stream.placed
        for event in at.append.events
        if isinstance(event, Tagged)
    ]
    yield pa.Table.from_pylist([dict(zip(_ROWS.names, row, strict=True)) for row in hot], _ROWS)
