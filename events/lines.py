"""A record as public lines: the bytes that everybody may have and every digest is taken over.

One line an event: its canonical JSON with the time of its envelope (`at`), and commitments where
the public may not look. An event whose mere presence would tell something (a sealed bid that
failed counts as 0) has no line: it is committed to in the line of the bid that took its place.

A commitment is a digest of a value and a nonce that nobody can guess; without the nonce not even
a value with two possibilities can be found by trying. It is fixed now, and opened later to who may
see the value. Nonces are derived from one key a match, so none is stored, and from the value, so
none is used for two. docs/record-format.md has every byte.
"""

import hmac
from binascii import hexlify
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from hashlib import sha256
from typing import Any, NamedTuple, get_args

import msgspec

from events.cards import UNKNOWN
from events.codec import encode, encode_lines
from events.ledger import Record, Recorded
from events.types import (
    BettingOpened,
    BidPlaced,
    BlindPosted,
    Checked,
    Faulted,
    Folded,
    HandEnded,
    HandStarted,
    HandVoided,
    StepEntered,
)
from events.views import FIELDS, Public, Secret, Viewpoint, may_see

_canonical = msgspec.json.Encoder(order="sorted").encode
Faults = dict[int, list[list[Any]]]  # of a seat, at a bid that has not come yet
COMMITMENT = b"muckrake/commitment/v1\x00"
NONCES = b"muckrake/nonces/v1\x00"
SALTED = b"muckrake/nonces/v2\x00"


class Opening(NamedTuple):
    """A hidden value and its nonce: with both anybody can check the commitment in that line."""

    line: int
    field: str
    value: Any
    nonce: bytes


class Nonces:
    """The nonces of a match: one for each field of each event, all from one key.

    `of_values`: one for each value of each field, since version 2.

    Known, the key opens that match and no other. This is HMAC-SHA256 as the standard library has
    it, spelled out, with the key's two blocks hashed once: a hash goes on from a copy of theirs.
    """

    def __init__(self, key: bytes, *, of_values: bool = False) -> None:
        self._of_values = of_values
        block = key.ljust(64, b"\0")
        self._inner = sha256(bytes(byte ^ 0x36 for byte in block))
        self._outer = sha256(bytes(byte ^ 0x5C for byte in block))

    def of(self, stream: str, index: int, field: str, value: Any) -> bytes:
        """The nonce of one field of one event, in which this is hidden."""
        inner, outer = self._inner.copy(), self._outer.copy()
        inner.update(f"{stream}\n{index}\n{field}".encode())
        if self._of_values:
            inner.update(b"\n" + _canonical(value))
        outer.update(inner.digest())
        return outer.digest()

    def begun(self, stream: str) -> Any:
        """The hash state that every nonce of a stream begins with, for `hide`."""
        found = self._inner.copy()
        found.update(f"{stream}\n".encode())
        return found

    def hide(
        self, begun: Iterable[Any], places: Iterable[bytes], values: Iterable[bytes]
    ) -> list[bytes]:
        """Many hidden values, as `commitment` would hide each: by what its stream begins with, its
        place, `INDEX\\nFIELD`, and its canonical bytes."""
        found = []
        for stream, place, value in zip(begun, places, values, strict=True):
            inner, outer = stream.copy(), self._outer.copy()
            inner.update(b"%b\n%b" % (place, value) if self._of_values else place)
            outer.update(inner.digest())
            found.append(hexlify(sha256(COMMITMENT + outer.digest() + value).digest()))
        return found


def nonces_of(secret: bytes, match: str, salt: bytes = b"") -> Nonces:
    """The nonces of a match, from the secret of its ledger and a salt; version 1 had no salt."""
    if not salt:
        return Nonces(hmac.digest(secret, NONCES + match.encode(), "sha256"))
    key = hmac.digest(secret, SALTED + salt + match.encode(), "sha256")
    return Nonces(key, of_values=True)


def commitment(nonce: bytes, value: Any) -> str:
    """The digest that stands where the value is hidden."""
    return sha256(COMMITMENT + nonce + _canonical(value)).hexdigest()


class Pattern(NamedTuple):
    """A line with `%d` for its time and `%b` for commitments, to which fields those are in order,
    and how many of them come before the time."""

    text: bytes
    fields: tuple[str, ...]
    before: int


class PublicEvent(NamedTuple):
    """An event that has a line, and what is hidden in it.

    `blank` is the event with nothing of that in it, so that many events share one pattern; `shown`
    is what the line says beside its fields.
    """

    recorded: Recorded
    hidden: dict[str, Any]
    blank: Record
    shown: tuple[tuple[str, Any], ...] = ()


def lines(recorded: Iterable[Recorded], nonces: Nonces) -> tuple[bytes, ...]:
    """The public lines of a leaf, under the nonces of its match."""
    texts = []
    faults: Faults = {}
    for entry in recorded:
        kind = type(entry.event)
        if (hiding := _hiding(kind)) is not None:
            public = _public_event(entry, hiding, faults)
            if public is None:
                continue
            hidden = public.hidden
            pattern, fields, before = _pattern(public.blank, tuple(hidden), public.shown)
            values: list[Any] = []
            for field in fields:
                nonce = nonces.of(entry.stream, entry.index, field, hidden[field])
                values.append(commitment(nonce, hidden[field]).encode())
            values.insert(before, entry.at)
            texts.append(pattern % tuple(values))
        elif kind in _STEADY or (kind is HandStarted and _assumes(entry.event)):
            texts.append(_pattern(entry.event)[0] % entry.at)
        else:  # the time in its place among the keys, without a second pass
            spelled = encode(entry.event)
            if kind in _AMOUNT_FIRST:
                first, rest = spelled.split(b",", 1)
                texts.append(b'%b,"at":%d,%b' % (first, entry.at, rest))
            else:
                texts.append(b'{"at":%d,%b' % (entry.at, spelled[1:]))
    return tuple(texts)


def digest(record: Iterable[bytes]) -> str:
    """The digest of a record: of its lines, with a newline between."""
    return sha256(b"\n".join(record)).hexdigest()


def leaf_bytes(hand_seq: int, recorded: Sequence[Recorded], nonces: Nonces) -> bytes:
    """The bytes of a leaf of the tree: the name of its record, and its digest."""
    first = recorded[0]
    record = lines(recorded, nonces)
    return leaf_of(hand_seq, first.stream, first.index, len(record), digest(record))


def leaf_of(hand_seq: int, stream: str, first: int, count: int, record_sha256: str) -> bytes:
    """The canonical bytes of a leaf, from its fields."""
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
    found = []
    for line, public in enumerate(public_events(recorded)):
        stream, index, event = public.recorded.stream, public.recorded.index, public.recorded.event
        faults = _TAKEN_UP.get(type(event))
        for field, value in sorted(public.hidden.items()):
            is_fault = faults is not None and faults.field == field
            secret = faults if faults and is_fault else FIELDS[type(event)].secret(field)
            if disclosed or may_see(who, secret, event):
                nonce = nonces.of(stream, index, field, value)
                found.append(Opening(line, field, value, nonce))
    return tuple(found)


def public_events(recorded: Iterable[Recorded]) -> Iterator[PublicEvent]:
    """The events that have a line, in order, each with its hidden fields."""
    faults: Faults = {}
    for entry in recorded:
        hiding = _hiding(type(entry.event))
        shown = (
            PublicEvent(entry, {}, entry.event)
            if hiding is None
            else _public_event(entry, hiding, faults)
        )
        if shown is not None:
            yield shown


class _Hiding(NamedTuple):
    """The hidden fields of one kind of event, to which its lines commit (`events/views.py`)."""

    fields: tuple[tuple[str, int], ...]  # by name, each with its place in the event
    differ: tuple[Secret, ...]  # what a line says in the clear where everybody may know it


@cache
def _hiding(kind: type[Record]) -> _Hiding | None:
    """None for a kind of event in whose lines nothing is hidden."""
    hidden, places = FIELDS[kind], kind.__struct_fields__
    if not hidden.secrets and kind not in _TAKEN_UP:
        return None
    return _Hiding(
        tuple(
            (secret.field, places.index(secret.field))
            for secret in hidden.secrets
            if secret.differ is None
        ),
        tuple(secret for secret in hidden.secrets if secret.differ is not None),
    )


def _public_event(recorded: Recorded, hiding: _Hiding, faults: Faults) -> PublicEvent | None:
    """The line of an event in which something is hidden.

    A reply that is withheld waits for the bid of its seat, or for the end of the hand, and is
    committed to there: always, nearly always nothing, and nobody sees that. After the end it has
    its line.
    """
    event = recorded.event
    kind = type(event)
    hidden: dict[str, Any] = {}
    shown: tuple[tuple[str, Any], ...] = ()
    blank = event
    if isinstance(event, Faulted) and FIELDS[kind].is_withheld(event) and _OVER not in faults:
        faults.setdefault(event.seat, []).append([recorded.at, event.raw, event.kind])
        return None
    if hiding.fields:
        values = [getattr(event, name) for name in event.__struct_fields__]
        for name, place in hiding.fields:
            value = values[place]
            if value is not None:
                hidden[name] = value
                values[place] = (UNKNOWN,) * len(value) if type(value) is tuple else None
        blank = kind(*values)
    for secret in hiding.differ:
        if may_see(Public(), secret, event):
            shown += ((secret.field, secret.of(event)),)
    if isinstance(event, BidPlaced):
        hidden["faults"] = faults.pop(event.seat, [])
    elif kind in _TAKEN_UP:  # the end of a hand takes up the rest, each with its seat
        hidden["faults"] = [[seat, *fault] for seat in sorted(faults) for fault in faults[seat]]
        faults.clear()
        faults[_OVER] = []
    return PublicEvent(recorded, hidden, blank, shown)


_STEADY = {BettingOpened, BlindPosted, Checked, Folded, StepEntered}  # few, said again and again
_OVER = -1  # no seat: after the end a fault has nothing to wait for
_TAKEN_UP = {  # what a line commits to besides: replies that were withheld
    BidPlaced: Secret("faults"),
    HandEnded: Secret("faults", "auditor"),
    HandVoided: Secret("faults", "auditor"),
}


def hides(kind: type[Record]) -> bool:
    """Whether something is hidden in lines of a kind of event."""
    return _hiding(kind) is not None


def plain(events: Sequence[Record], at: int) -> list[bytes]:
    """The lines of events of one kind in which nothing is hidden, all at one time."""
    kind = type(events[0])
    assert not hides(kind), f"{kind.__name__} has something to hide"
    if any(map(_assumes, events)):
        return [_pattern(event)[0] % at for event in events]
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
    hiding = _hiding(type(event))
    public = hiding and _public_event(Recorded(0, "", 0, 0, event), hiding, {})
    assert public, "a reply that failed has its line with others"
    pattern = _pattern(public.blank, tuple(public.hidden), public.shown)
    return pattern, tuple([_canonical(public.hidden[field]) for field in pattern.fields])


@lru_cache(maxsize=4096)
def _pattern(
    event: Record, hidden: tuple[str, ...] = (), shown: tuple[tuple[str, Any], ...] = ()
) -> Pattern:
    """The pattern of an event's line.

    No text in an event can be taken for either: its quotes are escaped, and so is its percent sign.
    """
    fields = msgspec.to_builtins(event)
    for field in hidden:
        place: dict[str, Any] = {"commitment": field}
        if field == "cards":
            place["count"] = len(fields[field])
        fields[field] = place
    fields |= {**dict(shown), "at": -1}
    text = _canonical(fields).replace(b"%", b"%%").replace(b'"at":-1', b'"at":%d', 1)
    for field in hidden:
        text = text.replace(b'"commitment":"%b"' % field.encode(), b'"commitment":"%b"', 1)
    ordered = tuple(sorted(hidden))
    return Pattern(text, ordered, sum(field < "at" for field in ordered))


def _assumes(event: Record) -> bool:
    """Whether its line has `assumed`, which stands before the time and may hold any text."""
    return type(event) is HandStarted and bool(event.assumed)


# The fields before `at` in all lines of a kind: at most one, and it is a number or a truth.
_BEFORE_TIME = {
    kind: [name for name in kind.__struct_fields__ if name < "at" and name != "assumed"]
    for kind in get_args(Record)
}
assert all(names in ([], ["all_in"], ["amount"]) for names in _BEFORE_TIME.values())
_AMOUNT_FIRST = {kind for kind, names in _BEFORE_TIME.items() if names}
