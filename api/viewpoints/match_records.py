"""What a match's own records say, and who sits in its hands: read once, for both only grow."""

import threading
from weakref import WeakKeyDictionary

from events.ledger import Recorded
from events.match import DeckCommitted, MatchEnded, MatchStarted, SourceNoted, Tagged
from events.types import HandStarted
from store.reader import Live, Snapshot

LEFT_OUT = "left out"  # the dialect of a note of such a hand
REPEATED = "repeated"  # of a note of hands that the ledger has already
OTHERWISE = " says otherwise"  # how its line ends of a hand that contradicts the one that is there
BEGUN_MAX = 4_096  # hands whose first event is remembered
_kept: WeakKeyDictionary[Live, dict[str, tuple[Recorded, ...]]] = WeakKeyDictionary()
_begun: WeakKeyDictionary[Live, dict[str, Recorded]] = WeakKeyDictionary()
_turn = threading.Lock()


def records(snapshot: Snapshot, match: str) -> tuple[Recorded, ...]:
    """A match's own records, as of the snapshot; none if nobody announced it."""
    live = snapshot.live
    count = live.matches()[1].get(match, 0)
    with _turn:
        kept = _kept.setdefault(live, {})
    known = kept.get(match, ())
    if len(known) < count:
        known = kept[match] = live.read(match)
    return tuple(one for one in known if one.pos < snapshot.next_pos)


def seated(snapshot: Snapshot, hand: str) -> tuple[str, ...]:
    """Who sits in a hand, if it had begun; its first event stays what it is."""
    with _turn:
        kept = _begun.setdefault(snapshot.live, {})
        first = kept.get(hand)
    if first is None:
        if not (record := snapshot.read(hand)):
            return ()
        first = record[0]
        with _turn:
            if len(kept) >= BEGUN_MAX:  # a stream of millions of hands asks for each a few times
                kept.clear()
            kept[hand] = first
    if first.pos >= snapshot.next_pos:
        return ()
    return first.event.players if isinstance(first.event, HandStarted) else ()


def started(snapshot: Snapshot, match: str) -> MatchStarted | None:
    """How a match was announced."""
    found = (record.event for record in records(snapshot, match))
    return next((event for event in found if isinstance(event, MatchStarted)), None)


def ended(snapshot: Snapshot, match: str) -> MatchEnded | None:
    """How a match ended, if it has."""
    found = (record.event for record in reversed(records(snapshot, match)))
    return next((event for event in found if isinstance(event, MatchEnded)), None)


def tagged(snapshot: Snapshot, match: str) -> tuple[Tagged, ...]:
    """What is said of its players beside their names."""
    found = (record.event for record in records(snapshot, match))
    return tuple(event for event in found if isinstance(event, Tagged))


def left_out(snapshot: Snapshot, match: str) -> int:
    """How many hands its source tells that no record could be of."""
    found = (record.event for record in records(snapshot, match))
    return sum(isinstance(one, SourceNoted) and one.dialect == LEFT_OUT for one in found)


def conflicts(snapshot: Snapshot, match: str) -> int:
    """How many hands its source tells that contradict a hand of the ledger."""
    found = (record.event for record in records(snapshot, match))
    notes = (one for one in found if isinstance(one, SourceNoted) and one.dialect == REPEATED)
    return sum(line.endswith(OTHERWISE) for note in notes for line in note.header.splitlines())


def committed(snapshot: Snapshot, match: str) -> tuple[DeckCommitted, ...]:
    """The dealer's commitments to decks, in order."""
    found = (record.event for record in records(snapshot, match))
    return tuple(event for event in found if isinstance(event, DeckCommitted))
