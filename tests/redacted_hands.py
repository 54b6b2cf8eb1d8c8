"""A record as somebody sees it, without a ledger around it."""

from typing import cast

from api.viewpoints.redaction import RedactedEvents, Redactor
from api.viewpoints.viewer import Viewer
from events.ledger import Recorded
from events.types import Events, HandStarted
from events.views import Auditor, Public, Viewpoint
from store.log.streams import Leaf
from store.reader import ClosedParts, Snapshot

AT = 1_790_000_000_000


class _Nowhere:
    """A ledger in which no match was announced."""

    next_pos = 0

    @property
    def live(self) -> "_Nowhere":
        return self

    def matches(self) -> tuple[int, dict[str, int]]:
        return 0, {}

    def parts(self) -> ClosedParts:
        return ClosedParts((), ())


def sight_of(record: Events, who: Viewpoint) -> RedactedEvents:
    """The record through these eyes, an event a second."""
    start = record[0]
    assert isinstance(start, HandStarted)
    recorded = tuple(
        Recorded(place, start.hand, place, AT + 1000 * place, event)
        for place, event in enumerate(record)
    )
    view = "auditor" if isinstance(who, Auditor) else "public"
    if not isinstance(who, Auditor | Public):
        view = f"seat:{start.players[who.seat]}"
    return Redactor(cast(Snapshot, _Nowhere()), Viewer(view)).redact(Leaf(7, recorded))
