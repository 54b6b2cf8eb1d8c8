"""What a ledger withholds from all but auditors: found once for each file, kept in memory.

Which matches are open to all, which events nobody else may know of, where a bid's record is not
what its settlement told. All of it is rare, so the views of `api.viewpoints.masks` need to look at
nothing else in a hand to show it as it is seen.
"""

import threading
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple, get_args
from weakref import WeakKeyDictionary

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from analytics.projections.auctions import AUCTIONS as STORED
from events.match import Match
from events.views import FIELDS, opened
from store.columns import layout
from store.columns.codec import event_table
from store.folder.frames import Damaged
from store.folder.manifest import Segment
from store.log.streams import Leaf
from store.reader import LiveLedger, Snapshot
from store.segments.reading import files_of
from store.sql.query import MEMORY, THREADS
from store.sql.sessions import fetch_table, shared_engine
from store.tables.projection import BIDS


class Doubt(NamedTuple):
    """Which hands of a segment a finding may be about, by tables that are smaller than events.

    `sure` is one truth: that there are none; `hands` is asked where that is not so.
    """

    tables: dict[str, int]  # by name, of these versions
    sure: str
    hands: str


class Finding(NamedTuple):
    """A question to the events of one file; where none of these types occurs it finds nothing."""

    name: str
    types: frozenset[str]
    schema: pa.Schema
    sql: str
    doubt: Doubt | None = None


MATCHES = Finding(
    "matches",
    frozenset({"MatchStarted", "MatchEnded"}),
    pa.schema(
        {
            "hand_seq": pa.int64(),
            "match": pa.string(),
            "type": pa.string(),
            "how": pa.string(),
            "ruleset": pa.string(),
            "seed": pa.string(),
            "deals": pa.int32(),
        }
    ),
    "SELECT hand_seq, match, type, disclosure AS how, ruleset, seed, deals FROM events"
    " WHERE number IS NULL AND type IN ('MatchStarted', 'MatchEnded') ORDER BY hand_seq, idx",
)
MIRRORED = Finding(
    "mirrored matches",
    frozenset({"MatchStarted"}),
    pa.schema({"hand_seq": pa.int64(), "match": pa.string(), "deals": pa.int32()}),
    "SELECT hand_seq, match, deals FROM events"
    " WHERE number IS NULL AND type = 'MatchStarted' AND deals > 1",
)
WITHHELD = {kind.__name__: hidden.withheld for kind, hidden in FIELDS.items() if hidden.withheld}
FAULTS = Finding(
    "faults at bids",
    frozenset(WITHHELD),
    pa.schema(
        {
            "hand_seq": pa.int64(),
            "match": pa.string(),
            "pos": pa.int64(),
            "idx": pa.int32(),
            "seat": pa.int32(),
        }
    ),
    "SELECT hand_seq, match, pos, idx, seat FROM events WHERE "
    + " OR ".join(
        f"type = '{kind}' AND \"{field}\" = '{value}'" for kind, (field, value) in WITHHELD.items()
    ),
)
LATER = Finding(
    "later records of a match",
    frozenset(kind.__name__ for kind in get_args(Match)),
    pa.schema({"hand_seq": pa.int64(), "idx": pa.int32()}),
    "SELECT hand_seq, min(idx) AS idx FROM events WHERE number IS NULL"
    " GROUP BY hand_seq HAVING min(idx) > 0",
)
# `auctions` has a row for each bid whose settlement came, `plain` if that told it as it was placed:
# where it has as many as `bids`, all of them plain, no bid needs care.
_SETTLED = Doubt(
    {BIDS.name: BIDS.version, STORED.name: STORED.version},
    "SELECT (SELECT count(*) FROM bids) = count(*) AND coalesce(bool_and(plain), true)"
    " FROM auctions",
    """
    WITH placed AS (SELECT hand_seq, count(*) AS n FROM bids GROUP BY hand_seq),
    told AS (
        SELECT hand_seq, count(*) AS n, bool_and(plain) AS plain FROM auctions GROUP BY hand_seq
    )
    SELECT hand_seq FROM placed LEFT JOIN told USING (hand_seq)
    WHERE placed.n IS DISTINCT FROM told.n OR NOT plain
    """,
)
# Hands in which one settlement followed all bids and told them as they were placed need no care.
AUCTIONS = Finding(
    "auctions out of the ordinary",
    frozenset({"BidPlaced"}),
    pa.schema(
        {
            "hand_seq": pa.int64(),
            "idx": pa.int32(),
            "type": pa.string(),
            "bids": pa.string(),
        }
    ),
    """
    WITH told AS (
        SELECT hand_seq, idx, type, CASE WHEN type = 'BidPlaced' THEN amount END AS amount,
            CASE WHEN type = 'AuctionSettled' THEN bids END AS bids
        FROM events WHERE type IN ('BidPlaced', 'AuctionSettled')
    ), auctions AS (
        SELECT hand_seq, count(*) AS size, max(bids) AS settled,
            count(bids) <> 1 OR arg_max(type, idx) <> 'AuctionSettled' AS odd,
            concat_ws(' ', arg_min(amount, idx), arg_max(amount, idx)) AS two
        FROM told GROUP BY hand_seq
    ), larger AS (  -- to put bids in order takes three times as long
        SELECT hand_seq, string_agg(amount, ' ' ORDER BY idx) AS placed
        FROM told JOIN auctions USING (hand_seq) WHERE size <> 3 GROUP BY hand_seq
    ), doubtful AS (
        SELECT hand_seq FROM auctions LEFT JOIN larger USING (hand_seq)
        WHERE odd OR settled IS DISTINCT FROM coalesce(placed, two)
    )
    SELECT hand_seq, idx, type, bids
    FROM told JOIN doubtful USING (hand_seq) ORDER BY hand_seq, idx
    """,
    _SETTLED,
)


class Opening(NamedTuple):
    """Matches whose hands, and those whose own secrets, everybody may see; those whose hands are
    told to auditors alone; and by which rulesets matches were announced."""

    hands: frozenset[str]
    secrets: frozenset[str]
    withheld: frozenset[str]
    rulesets: frozenset[str]


def opening(snapshot: Snapshot) -> Opening:
    """What is open of each match; of a seed, that it is only if all that it dealt is."""
    rows = found(snapshot, MATCHES).to_pylist()
    starts = [row for row in rows if row["type"] == "MatchStarted"]
    ended = {row["match"] for row in rows if row["type"] != "MatchStarted"}
    mirrored = {row["match"] for row in starts if (row["deals"] or 1) > 1}
    first = {row["match"]: row["how"] for row in reversed(starts)}
    openings = {
        match: opened(how, mirrored=match in mirrored, over=match in ended)
        for match, how in first.items()
    }
    shut = {row["seed"] for row in starts if not openings[row["match"]].secrets} - {None}
    seeded = {row["match"] for row in starts if row["seed"] in shut}
    return Opening(
        frozenset(match for match, one in openings.items() if one.hands),
        frozenset(match for match, one in openings.items() if one.secrets) - seeded,
        frozenset(match for match, one in openings.items() if one.withheld),
        frozenset(row["ruleset"] for row in starts),
    )


def announced_bids(snapshot: Snapshot) -> pa.Table:
    """Bids whose record alone does not say what was announced: `settled`, and then `amount`."""
    rows: list[dict[str, Any]] = []
    for hand_seq, group in groupby(found(snapshot, AUCTIONS).to_pylist(), itemgetter("hand_seq")):
        waiting: list[dict[str, Any]] = []
        for row in group:
            if row["type"] == "BidPlaced":
                bid = {"hand_seq": hand_seq, "idx": row["idx"], "settled": False, "amount": None}
                rows.append(bid)
                waiting.append(bid)
            else:
                for bid, amount in zip(waiting, row["bids"].split(), strict=False):
                    bid |= {"settled": True, "amount": int(amount)}
                waiting = []
    return pa.Table.from_pylist(rows, _ANNOUNCED)


_ANNOUNCED = pa.schema(
    {
        "hand_seq": pa.int64(),
        "idx": pa.int32(),
        "settled": pa.bool_(),
        "amount": pa.int64(),
    }
)


def found(snapshot: Snapshot, finding: Finding) -> pa.Table:
    """The rows of a finding among all closed hands and matches, in the order of closing."""
    live = snapshot.live
    while True:
        number = live.number
        segments, closed = snapshot.parts()
        try:
            parts = [_sealed(live, segment, finding) for segment in segments]
        except (FileNotFoundError, Damaged, duckdb.IOException) as missing:
            live.retired(number, missing)  # compacted meanwhile: the same events in other files
            continue
        hot = [
            Leaf(entry.hand_seq, entry.recorded())
            for entry in closed
            if any(
                type(event).__name__ in finding.types
                for at in entry.placed
                for event in at.append.events
            )
        ]
        parts += [_rows_found(finding, event_table(hot))] if hot else []
        rows = pa.concat_tables([finding.schema.empty_table(), *parts])
        return rows.filter(pc.less(rows["hand_seq"], snapshot.next_seq))


_kept: WeakKeyDictionary[LiveLedger, dict[tuple[str, str], pa.Table]] = WeakKeyDictionary()
_turn = threading.Lock()


def _sealed(live: LiveLedger, segment: Segment, finding: Finding) -> pa.Table:
    """What a segment has of it; a segment never changes."""
    if segment.types and finding.types.isdisjoint(segment.types):
        return finding.schema.empty_table()
    key = finding.name, segment.files["events"]
    with _turn:
        kept = _kept.setdefault(live, {})
    if key not in kept:
        if segment.schema in layout.READABLE_VERSIONS:
            kept[key] = _rows_found(
                finding, _file(live, segment, "events"), _doubtful(live, segment, finding)
            )
        else:
            kept[key] = pa.concat_tables(
                _rows_found(finding, rows) for rows in live.files.all_events(segment)
            )
    return kept[key]


def _doubtful(live: LiveLedger, segment: Segment, finding: Finding) -> pa.Table | None:
    """The hands that are to be looked at; None where no table tells, so that all are."""
    doubt = finding.doubt
    if doubt is None or any(
        segment.projections.get(name) != version for name, version in doubt.tables.items()
    ):
        return None
    with shared_engine(MEMORY, THREADS).cursor() as con:
        for name in doubt.tables:
            con.sql(f"CREATE TEMP VIEW {name} AS FROM {_file(live, segment, name)}")
        ((sure,),) = con.sql(doubt.sure).fetchall()
        return _NOBODY if sure else fetch_table(con, doubt.hands)


_NOBODY = pa.table({"hand_seq": pa.array([], pa.int64())})


def _file(live: LiveLedger, segment: Segment, name: str) -> str:
    """A segment's file in SQL, as it was sealed."""
    files_of(live.disk).check(segment, name)
    path = str(live.disk.local(segment.files[name])).replace("'", "''")
    return f"read_parquet('{path}')"


def _rows_found(finding: Finding, rows: pa.Table | str, hands: pa.Table | None = None) -> pa.Table:
    """The answer over some rows of events, or over some hands; of columns that nobody fills there
    are none."""
    if hands is not None and not hands.num_rows:
        return finding.schema.empty_table()
    with shared_engine(MEMORY, THREADS).cursor() as con:
        con.register("_none", layout.SCHEMA.empty_table())
        if isinstance(rows, pa.Table):
            con.register("_rows", rows)
            rows = "_rows"
        only = ""
        if hands is not None:
            con.register("_hands", hands)
            only = "WHERE hand_seq IN (FROM _hands)"
        con.sql(
            "CREATE TEMP VIEW events AS"
            f" SELECT * FROM _none UNION ALL BY NAME SELECT * FROM {rows} {only}"
        )
        return fetch_table(con, finding.sql).cast(finding.schema)
