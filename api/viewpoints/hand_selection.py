"""Select matches and hands by name, read them leaf by leaf, and read a match's own records.

A leaf (a hand, or an append of match records) comes whole and alone, so an export of any length
needs the memory of one row group. A match's records, and who sits in a hand, are read once: both
only grow.
"""

import threading
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from events.ledger import Recorded, closes
from events.match import DeckCommitted, MatchEnded, MatchStarted, SourceNoted, Tagged
from events.types import HandStarted
from store.columns.codec import leaves_of
from store.folder.frames import Damaged
from store.folder.manifest import Segment
from store.log.streams import Leaf, split_stream
from store.reader import LiveLedger, Snapshot
from store.segments.reading import SegmentFiles

LEFT_OUT_NOTE = "left out"  # the dialect of a note of such a hand
REPEATED_NOTE = "repeated"  # of a note of hands that the ledger has already
CONFLICT_SUFFIX = (
    " says otherwise"  # how its line ends of a hand that contradicts the one that is there
)
FIRST_EVENTS_MAX = 4_096  # hands whose first event is remembered
_match_records: WeakKeyDictionary[LiveLedger, dict[str, tuple[Recorded, ...]]] = WeakKeyDictionary()
_first_events: WeakKeyDictionary[LiveLedger, dict[str, Recorded]] = WeakKeyDictionary()
_lock = threading.Lock()


class Selection(NamedTuple):
    """A match, or a hand of it; everything, if it names neither."""

    match: str | None = None
    number: int | None = None

    def contains(self, stream: str) -> bool:
        """Whether this stream belongs to the selection."""
        match, number = split_stream(stream)
        return self.match in (None, match) and self.number in (None, number)


class NotInLedger(Exception):
    """A match, hand, player or the like that does not exist; `choices` says by parameter what
    does."""

    def __init__(self, sentence: str, **choices: Sequence[str]) -> None:
        super().__init__(sentence)
        self.choices = choices


class Unfinished(Exception):
    """A hand or match that cannot be exported before it is over."""


def selections(snapshot: Snapshot, names: Sequence[str]) -> tuple[Selection, ...]:
    """The selections that these names mean, in their order; a match's name includes its hands."""
    if not names:
        return (Selection(),)
    whole = {name for name in names if "/" not in name}
    selections = []
    for name in dict.fromkeys(names):
        match, slash, number = name.partition("/")
        if not slash:
            known = match and (snapshot.read(match) or next(snapshot.hands(match), None))
            if not known:
                raise NotInLedger(
                    f"there is no match {match}: muckrake matches lists those there are"
                )
            selections.append(Selection(match))
        elif match not in whole:
            plain = number.isascii() and number.isdecimal() and number == str(int(number[:18]))
            record = snapshot.read(name) if plain else ()
            if not record:
                raise NotInLedger(f"there is no hand {name}: muckrake hands lists those there are")
            if not closes(name, [event.event for event in record]):
                raise Unfinished(f"{name} is not over: only hands that are over are exported")
            selections.append(Selection(match, int(number)))
    return tuple(selections)


HandSeqs = np.ndarray[Any, np.dtype[np.int64]]  # sorted: hands are numbered as they close


def leaves(
    snapshot: Snapshot,
    selection: Selection,
    between: tuple[int, int] | None = None,
    hand_seqs: HandSeqs | None = None,
) -> Iterator[Leaf]:
    """The closed leaves of a selection, in the order of closing; with `between` two hand_seqs,
    those from the first up to the second; with `hand_seqs`, only those."""
    first, end = between or (0, snapshot.next_seq)
    after, live = first - 1, snapshot.live
    files = SegmentFiles(live.disk)
    while True:
        number = live.number
        segments, closed = snapshot.parts()
        try:
            for segment in segments:
                for leaf in _leaves_of_segment(
                    files, segment, selection, (after + 1, end), hand_seqs
                ):
                    after = leaf.hand_seq
                    yield leaf
        except (FileNotFoundError, Damaged) as missing:
            live.retired(number, missing)  # compacted meanwhile: the same hands in other files
            continue
        for entry in closed:
            there = after < entry.hand_seq < end and selection.contains(entry.stream)
            if there and (
                hand_seqs is None
                or len(hand_seqs_between(hand_seqs, entry.hand_seq, entry.hand_seq))
            ):
                yield Leaf(entry.hand_seq, entry.recorded())
        return


def _leaves_of_segment(
    files: SegmentFiles,
    segment: Segment,
    selection: Selection,
    between: tuple[int, int],
    hand_seqs: HandSeqs | None,
) -> Iterator[Leaf]:
    """The leaves of a selection in a segment, a row group at a time."""
    first, end = between
    sought = {"match": selection.match, "number": selection.number}
    for group in matching_row_groups(files, segment, selection, between, hand_seqs):
        rows = files.events(segment, group)
        keep = pc.and_(pc.greater_equal(rows["hand_seq"], first), pc.less(rows["hand_seq"], end))
        for name, value in sought.items():
            if value is not None:
                keep = pc.and_(keep, pc.equal(rows[name].cast(_COLUMN_TYPES[name]), value))
        rows = rows.filter(keep)
        yield from leaves_of(rows if hand_seqs is None else rows_of_hands(rows, hand_seqs))


def matching_row_groups(
    files: SegmentFiles,
    segment: Segment,
    selection: Selection,
    between: tuple[int, int],
    hand_seqs: HandSeqs | None = None,
) -> Iterator[int]:
    """The row groups of a segment's events that may hold some of a selection."""
    first, end = between
    match = selection.match
    has_match = match is None or match in segment.numbers or match in segment.records
    if segment.last_seq < first or segment.first_seq >= end or not has_match:
        return
    opened = files.open(segment, "events")
    sought = {"match": selection.match, "number": selection.number}
    bounds = opened.bounds["hand_seq"]
    for group in opened.having(**{name: it for name, it in sought.items() if it is not None}):
        low, high = bounds[group]
        if low is None or (
            high >= first
            and low < end
            and (hand_seqs is None or len(hand_seqs_between(hand_seqs, low, high)))
        ):
            yield group


def hand_seqs_between(hand_seqs: HandSeqs, first: int, last: int) -> HandSeqs:
    """Those of the hand_seqs that lie from `first` to `last`, both included."""
    return hand_seqs[np.searchsorted(hand_seqs, first) : np.searchsorted(hand_seqs, last, "right")]


def rows_of_hands(rows: pa.Table, hand_seqs: HandSeqs) -> pa.Table:
    """The rows of the hands with these hand_seqs."""
    if not rows.num_rows:
        return rows
    ends = pc.min_max(rows["hand_seq"]).as_py()
    there = pa.array(hand_seqs_between(hand_seqs, ends["min"], ends["max"]))
    return rows.filter(pc.is_in(rows["hand_seq"], there))


_COLUMN_TYPES = {"match": pa.string(), "number": pa.int64()}


def match_records(snapshot: Snapshot, match: str) -> tuple[Recorded, ...]:
    """A match's own records, as of the snapshot; none if nobody announced it."""
    live = snapshot.live
    count = live.matches()[1].get(match, 0)
    with _lock:
        kept = _match_records.setdefault(live, {})
    known = kept.get(match, ())
    if len(known) < count:
        known = kept[match] = live.read(match)
    return tuple(one for one in known if one.pos < snapshot.next_pos)


def players_of_hand(snapshot: Snapshot, hand: str) -> tuple[str, ...]:
    """The players of a hand, if it had begun; its first event stays what it is."""
    with _lock:
        kept = _first_events.setdefault(snapshot.live, {})
        first = kept.get(hand)
    if first is None:
        if not (record := snapshot.read(hand)):
            return ()
        first = record[0]
        with _lock:
            if (
                len(kept) >= FIRST_EVENTS_MAX
            ):  # a stream of millions of hands asks for each a few times
                kept.clear()
            kept[hand] = first
    if first.pos >= snapshot.next_pos:
        return ()
    return first.event.players if isinstance(first.event, HandStarted) else ()


def match_start(snapshot: Snapshot, match: str) -> MatchStarted | None:
    """The event that announced a match; None without it."""
    found = (record.event for record in match_records(snapshot, match))
    return next((event for event in found if isinstance(event, MatchStarted)), None)


def match_end(snapshot: Snapshot, match: str) -> MatchEnded | None:
    """The event that ended a match; None before its end."""
    found = (record.event for record in reversed(match_records(snapshot, match)))
    return next((event for event in found if isinstance(event, MatchEnded)), None)


def match_tags(snapshot: Snapshot, match: str) -> tuple[Tagged, ...]:
    """The tags of a match's players."""
    found = (record.event for record in match_records(snapshot, match))
    return tuple(event for event in found if isinstance(event, Tagged))


def left_out_count(snapshot: Snapshot, match: str) -> int:
    """The number of hands that a match's source has and no record could be of."""
    found = (record.event for record in match_records(snapshot, match))
    return sum(isinstance(one, SourceNoted) and one.dialect == LEFT_OUT_NOTE for one in found)


def conflict_count(snapshot: Snapshot, match: str) -> int:
    """The number of hands of a match's source that contradict a hand of the ledger."""
    found = (record.event for record in match_records(snapshot, match))
    notes = (one for one in found if isinstance(one, SourceNoted) and one.dialect == REPEATED_NOTE)
    return sum(
        line.endswith(CONFLICT_SUFFIX) for note in notes for line in note.header.splitlines()
    )


def deck_commitments(snapshot: Snapshot, match: str) -> tuple[DeckCommitted, ...]:
    """The dealer's commitments to decks, in order."""
    found = (record.event for record in match_records(snapshot, match))
    return tuple(event for event in found if isinstance(event, DeckCommitted))
