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


def tagged_by(tags: pa.Table, wanted: Sequence[str]) -> Mapping[tuple[str, str], dict[str, str]]:
    """What these tags say of a player of a match, in the order in which they are wanted, if he has
    one: joined by blanks they are what he is called, `ursa 3`."""
    values: dict[tuple[str, str], dict[str, str]] = {}
    for row in tags.to_pylist():
        values.setdefault((row["match"], row["player"]), {})[row["tag"]] = row["value"]
    found = {who: {one: it[one] for one in wanted if one in it} for who, it in values.items()}
    return {who: it for who, it in found.items() if it}


def names(called: Called) -> pa.Table:
    """The same as a table, for a view to be joined with."""
    rows = [(*who, name) for who, name in called.items()]
    columns = map(pa.array, zip(*rows, strict=True))
    return pa.table(list(columns), names=["of_match", "of_player", "called"])


def renamed(rows: str, columns: Collection[str], names: str) -> str:
    """The SELECT of a view whose players are called as the table of names says; `OWN_NAME` is what
    each was called before."""
    of = [one for one in _OF_PLAYERS if one in columns]
    replaced = ", ".join(f"coalesce({one}_is.called, r.{one}) AS {one}" for one in of)
    joins = "".join(
        f" LEFT JOIN {names} AS {one}_is ON {one}_is.of_match = r.match"
        f" AND {one}_is.of_player = r.{one}"
        for one in of
    )
    return f"SELECT r.* REPLACE ({replaced}), r.player AS {OWN_NAME} FROM ({rows}) AS r{joins}"


def _tagged(snapshot: Snapshot, files: Files) -> Iterator[pa.Table]:
    """The records that tag somebody, in the order in which they closed."""
    segments, closed = snapshot.parts()
    known, kept = _found.get(files, {}), {}
    for segment in segments:
        if _KIND in segment.types:
            key = segment.files["events"]
            kept[key] = (
                known[key]
                if key in known
                else pa.concat_tables(
                    _of(files.events(segment, group, _READ))
                    for group in range(files.open(segment, "events").groups)
                )
            )
    _found[files] = kept
    yield from kept.values()
    hot = [
        (one.hand_seq, at.append.stream, it.player, it.tag, it.value)
        for one in closed
        for at in one.placed
        for it in at.append.events
        if isinstance(it, Tagged)
    ]
    yield pa.Table.from_pylist([dict(zip(_ROWS.names, row, strict=True)) for row in hot], _ROWS)


def _of(rows: pa.Table) -> pa.Table:
    tagged = rows.filter(pc.equal(rows["type"].cast(pa.string()), _KIND))
    return tagged.select(_ROWS.names).cast(_ROWS)
