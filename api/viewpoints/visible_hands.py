"""The hands that a viewer may read, one after the other, each as he sees it, for whoever counts.

Everybody but an auditor gets leaves made from what he sees and from nothing else, each bid that a
settlement told to all in its place: so no count can tell more than the record shows him.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, takewhile

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import json
from msgspec.structs import replace

from analytics.sql.chosen import Chosen
from api.viewpoints.redaction import revealed
from api.viewpoints.viewer import ShowProgress, without_progress
from api.viewpoints.views import Viewed
from events.types import HandStarted
from store.columns.codec import encoded
from store.folder.manifest import Segment
from store.log.leaf import Leaf, split
from store.segments.segment import ROW_GROUP

AT_ONCE = 4_096  # hands
GROUPS = 8  # row groups
EVERY = Chosen()


def leaves(
    viewed: Viewed, chosen: Chosen = EVERY, watch: ShowProgress = without_progress
) -> Iterator[Leaf]:
    """Those that the filters of hands leave, whoever sat there, in the order they ended in."""
    for leaf in viewed.redactor.among(_recorded(viewed, chosen, watch)):
        if _wanted(viewed, leaf, chosen.game):
            seen = leaf if viewed.viewer.auditor else revealed(viewed.redactor.see(leaf))
            yield _called(viewed, seen) if viewed.by_tag else seen


def _called(viewed: Viewed, leaf: Leaf) -> Leaf:
    """The hand, its players called by their tags."""
    first, *rest = leaf.recorded
    assert isinstance(first.event, HandStarted)
    match, _ = split(leaf.stream)
    event = replace(first.event, players=tuple(_names(viewed, match, first.event.players)))
    return Leaf(leaf.hand_seq, (replace(first, event=event), *rest))


def _all_called(viewed: Viewed, rows: pa.Table) -> pa.Table:
    """The same of a table of events, in which players are a list in JSON."""
    told: dict[tuple[str, str | None], str | None] = {}
    seats = list(zip(rows["match"].to_pylist(), rows["players"].to_pylist(), strict=True))
    for match, players in set(seats):
        names = _names(viewed, match, json.decode(players)) if players else None
        told[match, players] = json.encode(names).decode() if names else players
    column = pa.array([told[one] for one in seats], pa.string())
    place = rows.schema.get_field_index("players")
    return rows.set_column(place, "players", column)


def _names(viewed: Viewed, match: str, players: Iterable[str]) -> list[str]:
    return [viewed.called.get((match, one), one) for one in players]


def events(
    viewed: Viewed, chosen: Chosen = EVERY, watch: ShowProgress = without_progress
) -> Iterator[pa.Table]:
    """The same as tables of events, each of some thousand whole hands.

    An auditor's are as they are stored, and no event is made of any row.
    """
    if not viewed.viewer.auditor:
        every = leaves(viewed, chosen, watch)
        while some := list(islice(every, AT_ONCE)):
            yield encoded(some)
        return
    # About how many tables there will be.
    segments, _ = viewed.snapshot.parts()
    parts = (
        sum(1 + one.events // (GROUPS * ROW_GROUP) for one in _having(segments, chosen.match)) + 1
    )
    for rows in watch(_stored(viewed, chosen), "reading thousands of hands", parts):
        if chosen.game is not None:
            rows = _of_hands(rows, pc.equal(rows["game"], chosen.game))
        if viewed.only is not None:
            marks = [one for one in viewed.query.rulesets() if viewed.has(one)]
            rows = _of_hands(rows, pc.is_in(rows["ruleset"].cast(pa.string()), pa.array(marks)))
        yield _all_called(viewed, rows) if viewed.by_tag else rows


def _wanted(viewed: Viewed, leaf: Leaf, game: str | None) -> bool:
    """Whether a hand was dealt by this ruleset, and is played for what is asked about."""
    if game is None and viewed.only is None:
        return True
    if leaf.hand is None:
        return False
    start = leaf.hand.start
    return game in (None, start.game) and viewed.has(start.ruleset)


def _stored(viewed: Viewed, chosen: Chosen) -> Iterator[pa.Table]:
    """What is sealed, some row groups at a time, and what is hot."""
    live, (segments, closed) = viewed.snapshot.live, viewed.snapshot.parts()
    for segment in _having(segments, chosen.match):
        groups = live.events(segment)
        while some := list(islice(groups, GROUPS)):
            yield _chosen(pa.concat_tables(some).unify_dictionaries(), chosen, viewed)
    hot = [Leaf(one.hand_seq, one.recorded()) for one in closed]
    if hot:
        yield _chosen(encoded(hot), chosen, viewed)


def _having(segments: Sequence[Segment], match: str | None) -> list[Segment]:
    return [one for one in segments if match is None or match in one.numbers]


def _chosen(rows: pa.Table, chosen: Chosen, viewed: Viewed) -> pa.Table:
    """Rows of the snapshot, of this match, and of hands of these numbers that were over by then."""
    wanted = pc.less(rows["hand_seq"], _end(viewed, chosen))
    if chosen.match is not None:
        wanted = pc.and_(wanted, pc.equal(rows["match"], chosen.match))
    if chosen.hands is not None:
        first, last = chosen.hands
        number = rows["number"]
        there = pc.and_(pc.greater_equal(number, first), pc.less_equal(number, last))
        wanted = pc.and_(wanted, there)
    return rows.filter(wanted)


def _end(viewed: Viewed, chosen: Chosen) -> int:
    """Where the first hand stands that is too late."""
    end = viewed.snapshot.next_seq
    return end if chosen.before is None else min(end, chosen.before)


def _of_hands(rows: pa.Table, wanted: pa.ChunkedArray) -> pa.Table:
    """Hands whose first event is wanted."""
    starts = pc.and_(pc.equal(rows["type"], "HandStarted"), wanted)
    mine = rows["hand_seq"].filter(pc.fill_null(starts, False))
    return rows.filter(pc.is_in(rows["hand_seq"], mine.combine_chunks()))


def _recorded(viewed: Viewed, chosen: Chosen, watch: ShowProgress) -> Iterator[Leaf]:
    """As they lie in the ledger; those of a match between its first and its last, in one go."""
    ledger, match = viewed.snapshot, chosen.match
    first, last = 0, _end(viewed, chosen) - 1
    if match is not None:
        places = [one.hand_seq for one in ledger.hands(match)]
        if not places:
            return
        first, last = min(places), min(max(places), last)
    low, high = chosen.hands or (0, sys.maxsize)
    every = takewhile(lambda leaf: leaf.hand_seq <= last, ledger.leaves(first - 1))
    for leaf in watch(every, "reading hands", last - first + 1):
        name, number = split(leaf.stream)
        if number is not None and match in (None, name) and low <= number <= high:
            yield leaf
