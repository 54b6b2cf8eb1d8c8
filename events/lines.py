"""A record as public lines: the bytes that everybody may have and every digest is taken over.

One line an event: its canonical JSON with the time of its envelope (`at`), and commitments where
the public may not look. An event whose mere presence would tell something (a sealed bid that
failed counts as 0) has no line: it is committed to in the line of the bid that took its place.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, get_args

import msgspec

from events.cards import DECK, UNKNOWN
from events.codec import encode, encode_lines
from events.commitments import Nonces, Opening, commitment
from events.ledger import Record, Recorded
from events.types import (
    BettingOpened,
    BidPlaced,
    BlindPosted,
    CardSwapped,
    Checked,
    Faulted,
    Folded,
    HandEnded,
    HandStarted,
    HandVoided,
    HoleDealt,
    MatchStarted,
    SourceNoted,
    StepEntered,
)
from events.views import Auditor, Seated, Viewpoint

_canonical = msgspec.json.Encoder(order="sorted").encode
_NOTED = (
    b'{"at":%d,"dialect":%b,"footer":{"commitment":"%b"},"format":%b,'
    b'"header":{"commitment":"%b"},"type":"SourceNoted"}'
)


Faults = dict[int, list[list[Any]]]  # of a seat, at a bid that has not come yet


class Pattern(NamedTuple):
    """A line with `%d` for its time and `%b` for commitments, to which fields those are in order,
    and how many of them come before the time."""

    text: bytes
    fields: tuple[str, ...]
    before: int


class Told(NamedTuple):
    """An event that has a line, and what is hidden in it; `holder` is whose secret that is.

    `blank` is the event with nothing of that in it, so that many events share one pattern.
    """

    recorded: Recorded
    hidden: dict[str, Any]
    holder: int | None = None
    blank: Record | None = None


def lines(recorded: Iterable[Recorded], nonces: Nonces) -> tuple[bytes, ...]:
    """The public lines of a leaf, under the nonces of its match."""
    found = []
    faults: Faults = {}
    for one in recorded:
        kind = type(one.event)
        if kind is SourceNoted:
            found.append(_noted(one, nonces))
        elif (hides := _HIDES.get(kind)) is not None:
            if (shown := hides(one, one.event, faults)) is not None:
                found.append(_line(shown, nonces))
        elif kind in _STEADY or _assumes(one.event):
            found.append(_pattern(one.event, ())[0] % one.at)
        else:
            found.append(_with_time(one.event, one.at))
    return tuple(found)


def digest(record: Iterable[bytes]) -> str:
    """The digest of a record: of its lines, with a newline between."""
    return hashlib.sha256(b"\n".join(record)).hexdigest()


def leaf_bytes(hand_seq: int, recorded: Sequence[Recorded], nonces: Nonces) -> bytes:
    """What the tree has as a leaf: which record this is, and its digest."""
    first = recorded[0]
    record = lines(recorded, nonces)
    return leaf_of(hand_seq, first.stream, first.index, len(record), digest(record))


def leaf_of(hand_seq: int, stream: str, first: int, count: int, record_sha256: str) -> bytes:
    """The canonical bytes of a leaf, from what it says."""
    return _canonical(
        {
            "first": first,
            "hand_seq": hand_seq,
            "lines": count,
            "record_sha256": record_sha256,
            "stream": stream,
            "v": 1,
        }
    )


def openings(
    recorded: Iterable[Recorded], nonces: Nonces, who: Viewpoint, *, disclosed: bool = False
) -> tuple[Opening, ...]:
    """Every hidden value that this viewpoint may see, with the nonce that proves it."""
    return tuple(
        Opening(
            line, field, value, nonces.of(one.recorded.stream, one.recorded.index, field, value)
        )
        for line, one in enumerate(told(recorded))
        for field, value in one.hidden.items()
        if disclosed or _may_open(who, one, field)
    )


def told(recorded: Iterable[Recorded]) -> Iterator[Told]:
    """The events that have a line, in order, each with its hidden fields."""
    faults: Faults = {}
    for one in recorded:
        hides = _HIDES.get(type(one.event))
        shown = hides(one, one.event, faults) if hides else Told(one, {})
        if shown is not None:
            yield shown


def _cards(one: Recorded, event: HoleDealt, faults: Faults) -> Told:
    blank = HoleDealt(event.seat, (UNKNOWN,) * len(event.cards))
    return Told(one, {"cards": event.cards}, event.seat, blank)


def _bid(one: Recorded, event: BidPlaced, faults: Faults) -> Told:
    """Why it was made would tell its size; so would that the first reply was of no use."""
    before = faults.pop(event.seat, [])
    hidden = {"amount": event.amount, "faults": before, "origin": event.origin}
    return Told(one, hidden, event.seat, BidPlaced(event.seat, 0, event.sealed))


def _swap(one: Recorded, event: CardSwapped, faults: Faults) -> Told:
    new = DECK[0] if event.new == event.old else DECK[1]
    blank = CardSwapped(event.seat, event.slot, DECK[0], new, event.told)
    return Told(one, {"new": event.new, "old": event.old}, event.seat, blank)


def _fault(one: Recorded, event: Faulted, faults: Faults) -> Told | None:
    """At a bid it waits for the bid, or for the end of the hand; elsewhere it has its line."""
    if event.where == "bid" and _OVER not in faults:
        faults.setdefault(event.seat, []).append([one.at, event.raw, event.kind])
        return None
    return Told(one, {"raw": event.raw}, event.seat)


def _end(one: Recorded, event: HandEnded | HandVoided, faults: Faults) -> Told:
    """Every hand ends with what no bid took up: nearly always nothing, and nobody sees that."""
    rest = [[seat, *fault] for seat in sorted(faults) for fault in faults[seat]]
    faults.clear()
    faults[_OVER] = []
    return Told(one, {"faults": rest})


def _seed(one: Recorded, event: MatchStarted, faults: Faults) -> Told:
    return Told(one, {} if event.seed is None else {"seed": event.seed})


def _source(one: Recorded, event: SourceNoted, faults: Faults) -> Told:
    """A foreign file's own words may name a seed, a card, or a reply to a sealed bid."""
    return Told(one, {"footer": event.footer, "header": event.header})


_STEADY = {BettingOpened, BlindPosted, Checked, Folded, StepEntered}  # few, said again and again
_OVER = -1  # no seat: after the end a fault has nothing to wait for
_HIDES: dict[type[Record], Callable[..., Told | None]] = {
    HoleDealt: _cards,
    BidPlaced: _bid,
    CardSwapped: _swap,
    Faulted: _fault,
    HandEnded: _end,
    HandVoided: _end,
    MatchStarted: _seed,
    SourceNoted: _source,
}


def _may_open(who: Viewpoint, one: Told, field: str) -> bool:
    """An auditor opens everything, a player what is his; an open bid is open to every seat (A1)."""
    if isinstance(who, Auditor):
        return True
    if not isinstance(who, Seated):
        return False
    event = one.recorded.event
    is_open = isinstance(event, BidPlaced) and not event.sealed and field != "faults"
    return is_open or one.holder == who.seat


def hides(kind: type[Record]) -> bool:
    """Whether something is hidden in events of a kind."""
    return kind in _HIDES


def plain(events: Sequence[Record], at: int) -> list[bytes]:
    """The lines of events of one kind in which nothing is hidden, all at one time."""
    kind = type(events[0])
    assert kind not in _HIDES, f"{kind.__name__} has something to hide"
    if any(map(_assumes, events)):
        return [_pattern(event, ())[0] % at for event in events]
    spelled = b"\n" + encode_lines(events).removesuffix(b"\n")
    time = b'"at":%d,' % at
    if kind in _AMOUNT_FIRST:  # no text stands before the second key, nor looks like it
        _, second, *_ = sorted((*kind.__struct_fields__, "type"))
        key = b',"%b":' % second.encode()
        spelled = spelled.replace(key, b"," + time + key[1:])
    else:
        spelled = spelled.replace(b"\n{", b"\n{" + time)
    return spelled[1:].split(b"\n")


def spelling(event: Record) -> tuple[Pattern, tuple[bytes, ...]]:
    """The line of an event that hides something, at any time and in any stream: its pattern, and
    the canonical bytes of what is hidden, field by field."""
    shown = _HIDES[type(event)](Recorded(0, "", 0, 0, event), event, {})
    assert shown is not None, "a reply that failed has its line with others"
    hidden = shown.hidden
    pattern = _pattern(shown.blank or event, tuple(hidden))
    return pattern, tuple([_canonical(hidden[field]) for field in pattern.fields])


def _line(one: Told, nonces: Nonces) -> bytes:
    recorded, hidden = one.recorded, one.hidden
    pattern, fields, before = _pattern(one.blank or recorded.event, tuple(hidden))
    stream, index = recorded.stream, recorded.index
    told: list[Any] = [
        commitment(nonces.of(stream, index, field, hidden[field]), hidden[field]).encode()
        for field in fields
    ]
    told.insert(before, recorded.at)
    return pattern % tuple(told)


def _noted(one: Recorded, nonces: Nonces) -> bytes:
    """The line of a foreign file's own words, of which hardly two would share a pattern."""
    event, stream, index = one.event, one.stream, one.index
    assert isinstance(event, SourceNoted)
    return _NOTED % (
        one.at,
        _canonical(event.dialect),
        commitment(nonces.of(stream, index, "footer", event.footer), event.footer).encode(),
        _canonical(event.format),
        commitment(nonces.of(stream, index, "header", event.header), event.header).encode(),
    )


@lru_cache(maxsize=4096)
def _pattern(event: Record, hidden: tuple[str, ...]) -> Pattern:
    """The pattern of an event's line.

    No text in an event can be taken for either: its quotes are escaped, and so is its percent sign.
    """
    fields = msgspec.to_builtins(event)
    for field in hidden:
        place: dict[str, Any] = {"commitment": field}
        if field == "cards":
            place["count"] = len(fields[field])
        fields[field] = place
    if isinstance(event, CardSwapped) and event.told:
        fields["changed"] = event.old != event.new
    fields["at"] = -1
    text = _canonical(fields).replace(b"%", b"%%").replace(b'"at":-1', b'"at":%d', 1)
    for field in hidden:
        text = text.replace(b'"commitment":"%b"' % field.encode(), b'"commitment":"%b"', 1)
    ordered = tuple(sorted(hidden))
    return Pattern(text, ordered, sum(field < "at" for field in ordered))


def _assumes(event: Record) -> bool:
    """Whether its line has `assumed`, which stands before the time and may hold any text."""
    return type(event) is HandStarted and bool(event.assumed)


def _with_time(event: Record, at: int) -> bytes:
    """The event's canonical bytes with `at` in its place among the keys, without a second pass."""
    spelled = encode(event)
    if type(event) in _AMOUNT_FIRST:
        first, rest = spelled.split(b",", 1)
        return b'%b,"at":%d,%b' % (first, at, rest)
    return b'{"at":%d,%b' % (at, spelled[1:])


def _before_time(kind: type[Record]) -> list[str]:
    """The fields before `at` in all lines of a kind: at most one, and it is a number or a truth."""
    found = [name for name in kind.__struct_fields__ if name < "at" and name != "assumed"]
    assert found in ([], ["all_in"], ["amount"]), f"{kind.__name__} has more before its time"
    return found


_AMOUNT_FIRST = {kind for kind in get_args(Record) if _before_time(kind)}
