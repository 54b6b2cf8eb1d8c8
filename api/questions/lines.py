"""The hands of a page, each on its line: read together where they lie together."""

from collections.abc import Sequence
from itertools import groupby

from api.questions.one_line import one_line
from api.viewpoints.selection import Absent
from api.viewpoints.views import Viewed
from store.columns.codec import leaves_of
from store.folder.frames import Damaged
from store.folder.manifest import Segment
from store.log.leaf import Leaf
from store.segments.reading import files_of

TOGETHER = 4  # hands of one row group for which all of it is decoded


def lines(viewed: Viewed, hands: Sequence[str]) -> list[str | None]:
    """The line of each hand, as it is seen; none of one that is not there."""
    known = {leaf.stream: leaf for leaf in _together(viewed, hands)}
    return [_line(viewed, hand, known.get(hand)) for hand in hands]


def _line(viewed: Viewed, hand: str, leaf: Leaf | None) -> str | None:
    if leaf is not None:
        return one_line(viewed.redactor.see(leaf))
    try:
        return one_line(viewed.redacted_hand(hand))
    except Absent:
        return None


def _together(viewed: Viewed, hands: Sequence[str]) -> list[Leaf]:
    """Leaves of sealed hands of which several lie in one row group; of others, nothing."""
    snapshot = viewed.snapshot
    files = files_of(snapshot.live.disk)
    segments = snapshot.parts().segments
    places = sorted(place for hand in hands if (place := snapshot.hand_seq(hand)) is not None)
    found: list[Leaf] = []
    try:
        for segment in segments:
            here = [it for it in places if segment.first_seq <= it <= segment.last_seq]
            opened = files.open(segment, "events") if here else None
            if opened is None:
                continue
            for group, few in groupby(here, key=opened.group_of):
                wanted = set(few)
                if len(wanted) >= TOGETHER:
                    found += _of(viewed, segment, group, wanted)
    except (FileNotFoundError, Damaged):
        return []  # compacted meanwhile: each is then looked for by itself
    return found


def _of(viewed: Viewed, segment: Segment, group: int, wanted: set[int]) -> list[Leaf]:
    """These hands of a row group."""
    rows = files_of(viewed.snapshot.live.disk).events(segment, group)
    places = rows["hand_seq"].to_numpy()
    start, end = places.searchsorted([min(wanted), max(wanted) + 1]).tolist()
    return [leaf for leaf in leaves_of(rows.slice(start, end - start)) if leaf.hand_seq in wanted]
