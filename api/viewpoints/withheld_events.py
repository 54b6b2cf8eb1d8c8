"""What a ledger withholds from all but auditors: queried once for each file, kept in memory.

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
from events.views import FIELDS, match_openness
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


class Prefilter(NamedTuple):
    """SQL that finds the hands of a segment which an event query may be about, in tables smaller
    than events.

    `none_sql` is one truth: that there are none; `hands_sql` is asked where that is not so.
    """

    tables: dict[str, int]  # by name, of these versions
    none_sql: str
    hands_sql: str


class EventQuery(NamedTuple):
    """A query over the events of one file; a file without these event types has no rows of it."""

    name: str
    types: frozenset[str]
    schema: pa.Schema
    sql: str
    prefilter: Prefilter | None = None


MATCHES = EventQuery(
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
MIRRORED = EventQuery(
    "mirrored matches",
    frozenset({"MatchStarted"}),
    pa.schema({"hand_seq": pa.int64(), "match": pa.string(), "deals": pa.int32()}),
    "SELECT hand_seq, match, deals FROM events"
    " WHERE number IS NULL AND type = 'MatchStarted' AND deals > 1",
)
WITHHELD_FIELDS = {
    kind.__name__: hidden.withheld for kind, hidden in FIELDS.items() if hidden.withheld
}
FAULTS = EventQuery(
    "faults at bids",
    frozenset(WITHHELD_FIELDS),
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
        f"type = '{kind}' AND \"{field}\" = '{value}'"
        for kind, (field, value) in WITHHELD_FIELDS.items()
    ),
)
LATER = EventQuery(
    "later records of a match",
    frozenset(kind.__name__ for kind in get_args(Match)),
    pa.schema({"hand_seq": pa.int64(), "idx": pa.int32()}),
    "SELECT hand_seq, min(idx) AS idx FROM events WHERE number IS NULL"
    " GROUP BY hand_seq HAVING min(idx) > 0",
)
# `auctions` has a row for each bid whose settlement came, `plain` if that told it as it was placed:
# where it has as many as `bids`, all of them plain, no bid needs care.
_AUCTION_PREFILTER = Prefilter(
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
AUCTIONS = EventQuery(
    "auctions out of the ordinary",
    frozenset({"BidPlaced"}),
    pa.schema(
        {"hand_seq": pa.int64(), "idx": pa.int32(), "type": pa.string(), "bids": pa.string()}
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
    _AUCTION_PREFILTER,
)


class OpenMatches(NamedTuple):
    """The matches whose hands everybody may see, those whose own secrets everybody may see,
    those whose hands are for auditors alone, and the rulesets that matches were announced by."""

    hands: frozenset[str]
    secrets: frozenset[str]
    withheld: frozenset[str]
    rulesets: frozenset[str]


def open_matches(snapshot: Snapshot) -> OpenMatches:
    """Find the open matches of a snapshot; a match's seed is open only if every match of that
    seed is."""
    rows = query_events(snapshot, MATCHES).to_pylist()
    starts = [row for row in rows if row["type"] == "MatchStarted"]
    ended = {row["match"] for row in rows if row["type"] != "MatchStarted"}
    mirrored = {row["match"] for row in starts if (row["deals"] or 1) > 1}
    first = {row["match"]: row["how"] for row in reversed(starts)}
    openings = {
        match: match_openness(how, mirrored=match in mirrored, over=match in ended)
        for match, how in first.items()
    }
    shut = {row["seed"] for row in starts if not openings[row["match"]].secrets} - {None}
    seeded = {row["match"] for row in starts if row["seed"] in shut}
    return OpenMatches(
        frozenset(match for match, one in openings.items() if one.hands),
        frozenset(match for match, one in openings.items() if one.secrets) - seeded,
        frozenset(match for match, one in openings.items() if one.withheld),
        frozenset(row["ruleset"] for row in starts),
    )


def announced_bids(snapshot: Snapshot) -> pa.Table:
    """The bids whose record alone does not say what was announced: `settled`, and then `amount`."""
    rows: list[dict[str, Any]] = []
    for hand_seq, group in groupby(
        query_events(snapshot, AUCTIONS).to_pylist(), itemgetter("hand_seq")
    ):
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
    return pa.Table.from_pylist(rows, _BID_SCHEMA)


_BID_SCHEMA = pa.schema(
    {"hand_seq": pa.int64(), "idx": pa.int32(), "settled": pa.bool_(), "amount": pa.int64()}
)


def query_events(snapshot: Snapshot, query: EventQuery) -> pa.Table:
    """Run an event query over all closed hands and matches of a snapshot, in the order of
    closing."""
    live = snapshot.live
    while True:
        number = live.number
        segments, closed = snapshot.parts()
        try:
            parts = [_segment_rows(live, segment, query) for segment in segments]
        except (FileNotFoundError, Damaged, duckdb.IOException) as missing:
            live.retired(number, missing)  # compacted meanwhile: the same events in other files
            continue
        hot = [
            Leaf(entry.hand_seq, entry.recorded())
            for entry in closed
            if any(
                type(event).__name__ in query.types
                for at in entry.placed
                for event in at.append.events
            )
        ]
        parts += [_query_rows(query, event_table(hot))] if hot else []
        rows = pa.concat_tables([query.schema.empty_table(), *parts])
        return rows.filter(pc.less(rows["hand_seq"], snapshot.next_seq))


_cached_rows: WeakKeyDictionary[LiveLedger, dict[tuple[str, str], pa.Table]] = WeakKeyDictionary()
_lock = threading.Lock()


def _segment_rows(live: LiveLedger, segment: Segment, query: EventQuery) -> pa.Table:
    """A segment's rows of an event query, cached: a segment never changes."""
    if segment.types and query.types.isdisjoint(segment.types):
        return query.schema.empty_table()
    key = query.name, segment.files["events"]
    with _lock:
        kept = _cached_rows.setdefault(live, {})
    if key not in kept:
        if segment.schema in layout.READABLE_VERSIONS:
            kept[key] = _query_rows(
                query, _file_sql(live, segment, "events"), _candidate_hands(live, segment, query)
            )
        else:
            kept[key] = pa.concat_tables(
                _query_rows(query, rows) for rows in live.files.all_events(segment)
            )
    return kept[key]


def _candidate_hands(live: LiveLedger, segment: Segment, query: EventQuery) -> pa.Table | None:
    """The hands that a query's prefilter leaves; None where it has no table, so that all are
    read."""
    prefilter = query.prefilter
    if prefilter is None or any(
        segment.projections.get(name) != version for name, version in prefilter.tables.items()
    ):
        return None
    with shared_engine(MEMORY, THREADS).cursor() as con:
        for name in prefilter.tables:
            con.sql(f"CREATE TEMP VIEW {name} AS FROM {_file_sql(live, segment, name)}")
        ((sure,),) = con.sql(prefilter.none_sql).fetchall()
        return _NO_HANDS if sure else fetch_table(con, prefilter.hands_sql)


_NO_HANDS = pa.table({"hand_seq": pa.array([], pa.int64())})


def _file_sql(live: LiveLedger, segment: Segment, name: str) -> str:
    """A segment's file as SQL, after a check that it is as it was sealed."""
    files_of(live.disk).check(segment, name)
    path = str(live.disk.local(segment.files[name])).replace("'", "''")
    return f"read_parquet('{path}')"


def _query_rows(query: EventQuery, rows: pa.Table | str, hands: pa.Table | None = None) -> pa.Table:
    """Run an event query over some rows of events, or over some hands; columns that nobody fills
    there are null."""
    if hands is not None and not hands.num_rows:
        return query.schema.empty_table()
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
        return fetch_table(con, query.sql).cast(query.schema)
