"""Export hands as the logs of other programs; nothing is written before all of it can be.

A log has words for what was known when it was written, and for no other: of a hand that it cannot
tell, the sentence of refusal names the hand. PHH says that a card is not known; Open Hand History
and PokerStars text do not speak of it.
"""

import codecs
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import NamedTuple, cast

from msgspec.structs import replace

from api.printable import printable_json
from api.viewpoints.redaction import HIDDEN, Redactor
from engine.game import Game
from events.cards import UNKNOWN
from events.ledger import is_match
from events.match import MatchStarted, SourceNoted
from events.types import Event, Events, HandStarted, HoleDealt
from formats.acpc.log import write as write_acpc
from formats.mit.dialects import FORMAT as MIT
from formats.mit.dialects import log_note
from formats.mit.write import log_pieces, ordered_rounds
from formats.ohh.history import write as write_ohh
from formats.phh.documents import write as write_phh
from formats.phh.documents import write_all as write_all_phh
from formats.pokerstars.text import write as write_pokerstars
from formats.timestamps import utc_of_seconds
from store.log.streams import Leaf, split_stream
from store.reader import Snapshot

HAND_PREFIX = "hand "  # so begins the dialect of a note that belongs to one hand of a file


class CannotExport(Exception):
    """The format has no words for it; the sentence names the hand, if it is one hand's matter."""


class ViewpointRefused(Exception):
    """A viewpoint from which this format cannot be written."""


class ExportRequest(NamedTuple):
    """The hands to be written, who looks at them, by which rules each was dealt, into what file."""

    snapshot: Snapshot
    leaves: Iterable[Leaf]
    redactor: Redactor
    ruleset: Callable[[Events], Game]
    suffix: str
    lossy: bool
    dialect: str | None = None


class VisibleHand(NamedTuple):
    """A hand as it is seen, with the notes that its source left, and when its ledger wrote it."""

    name: str
    record: Events
    note: SourceNoted | None
    file_note: SourceNoted | None
    at: int


class VisibleHands:
    """The hands that are asked for, one by one; `name` is the one at work."""

    def __init__(self, request: ExportRequest, sees_all: str | None = None) -> None:
        self.name = ""
        self._request = request
        self._notes = _SourceNotes(request.snapshot)
        self._sees_all = sees_all

    def __iter__(self) -> Iterator[VisibleHand]:
        for leaf in self._request.redactor.visible_leaves(self._request.leaves):
            if is_match(leaf.stream):
                continue
            self.name = leaf.stream
            redacted_hand = self._request.redactor.redact(leaf)
            if self._sees_all and not redacted_hand.open:
                raise ViewpointRefused(
                    f"{self._sees_all} cannot say that a card is hidden: only an auditor may "
                    f"write {leaf.stream} so, not {self._request.redactor.viewer.view}"
                )
            if redacted_hand.open:
                record = cast(Events, tuple(recorded.event for recorded in leaf.recorded))
                knows = self._request.redactor.may_know_secrets(split_stream(leaf.stream)[0])
                # A note is in the source's own words: it may tell of any card, or of a seed.
                notes = self._notes.of(leaf.stream) if knows else (None, None)
                yield VisibleHand(leaf.stream, record, *notes, leaf.recorded[0].at)
            else:
                events = (cast(Event, event.stored.event) for event in redacted_hand.events)
                record = tuple(
                    replace(it, cards=tuple(UNKNOWN if c == HIDDEN else c for c in it.cards))
                    if isinstance(it, HoleDealt)  # each hidden card as one that nobody knows
                    else it
                    for it in events
                )
                yield VisibleHand(leaf.stream, record, None, None, leaf.recorded[0].at)

    @contextmanager
    def refusing(self) -> Iterator[None]:
        """A writer's refusal as a sentence with the hand's name in front."""
        try:
            yield
        except ValueError as reason:
            sentence = str(reason)
            named = not self.name or self.name in sentence
            raise CannotExport(sentence if named else f"{self.name}: {sentence}") from None
        except (LookupError, TypeError):
            raise CannotExport(f"{self.name} does not add up: muckrake audit says where") from None


class _SourceNotes:
    """The notes in a match's own records of the file that it was imported from."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._match = ""
        self._file: SourceNoted | None = None
        self._hands: dict[str, SourceNoted] = {}

    def of(self, stream: str) -> tuple[SourceNoted | None, SourceNoted | None]:
        """A hand's own note and its file's."""
        match, number = split_stream(stream)
        if match != self._match:
            self._match, self._file, self._hands = match, None, {}
            for recorded in self._snapshot.read(match):
                if isinstance(recorded.event, SourceNoted):
                    self._keep(recorded.event)
        return self._hands.get(f"{HAND_PREFIX}{number}"), self._file

    def _keep(self, note: SourceNoted) -> None:
        if note.dialect.startswith(HAND_PREFIX):
            self._hands[note.dialect] = note
        else:
            self._file = self._file or note


# The formats.


def gamelog_text(request: ExportRequest) -> Iterator[bytes]:
    """Write one match as a Pokerbots log, to the byte the file it came from, if one."""
    hands = VisibleHands(request, "a gamelog")
    every = iter(hands)
    first = next(every, None)
    note = first.file_note if first else None
    note = note if note is not None and note.format == MIT else None
    same = note is not None and request.dialect in (None, note.dialect)
    encoder = codecs.getincrementalencoder(log_note(note).encoding if note and same else "utf-8")()
    records = (hand.record for hand in chain(filter(None, (first,)), every))
    match = request.snapshot.read(split_stream(first.name)[0]) if first else ()
    mirrored = any(isinstance(one.event, MatchStarted) and one.event.deals > 1 for one in match)
    with hands.refusing():
        for piece in log_pieces(ordered_rounds(records, mirrored=mirrored), note, request.dialect):
            yield encoder.encode(piece)


def phh_text(request: ExportRequest) -> Iterator[bytes]:
    """PHH: one hand is a `.phh`, unless the file is called otherwise; several are a `.phhs`."""
    hands, view = VisibleHands(request), request.redactor.viewer.view
    rest = iter(hands)
    first, second = next(rest, None), next(rest, None)
    if second is not None and request.suffix == ".phh":
        raise CannotExport("a .phh file holds one hand, and these are several: call it .phhs")

    def each() -> Iterator[tuple[Game, Events, SourceNoted | None]]:
        for hand in chain(filter(None, (first, second)), rest):
            note = hand.note or hand.file_note
            hands.name = hand.name
            yield request.ruleset(hand.record), hand.record, note

    with hands.refusing():
        if second is None and request.suffix != ".phhs":
            texts = (write_phh(*hand, view) for hand in each())
        else:
            texts = (text for text in write_all_phh(each(), view))
        for text in texts:
            yield text.encode()


def acpc_text(request: ExportRequest) -> Iterator[bytes]:
    """The lines of an ACPC log, with the score of all its hands."""
    hands = VisibleHands(request, "an ACPC log")
    rest = iter(hands)
    first = next(rest, None)
    note = first.file_note if first else None
    note = note if note is not None and note.format == "acpc" else None
    each = (
        (request.ruleset(hand.record), hand.record) for hand in chain(filter(None, (first,)), rest)
    )
    with hands.refusing():
        for line in write_acpc(each, note, lossy=request.lossy):
            yield line.encode()


def ohh_text(request: ExportRequest) -> Iterator[bytes]:
    """Objects of Open Hand History, one after the other."""
    view = request.redactor.viewer.view
    hero = view.removeprefix("seat:") if view.startswith("seat:") else None
    hands, when = VisibleHands(request), _PlayedAt(request.snapshot)
    with hands.refusing():
        for hand in hands:
            game = request.ruleset(hand.record)
            yield printable_json(write_ohh(game, hand.record, when.of(hand), hero)).encode()


def pokerstars_text(request: ExportRequest) -> Iterator[bytes]:
    """Hands in the words of PokerStars."""
    hands, when = VisibleHands(request), _PlayedAt(request.snapshot)
    with hands.refusing():
        for hand in hands:
            game = request.ruleset(hand.record)
            yield write_pokerstars(game, hand.record, when.of(hand)).encode()


class _PlayedAt:
    """When a hand was played: as its source says it; of one that was played here, when its ledger
    wrote it. When a source that says nothing was imported is not it."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._match = ("", False)

    def of(self, hand: VisibleHand) -> str:
        start = hand.record[0]
        assert isinstance(start, HandStarted)
        match = split_stream(hand.name)[0]
        if self._match[0] != match:
            records = (recorded.event for recorded in self._snapshot.read(match))
            begun = (record.dealing for record in records if isinstance(record, MatchStarted))
            self._match = match, next(begun, "recorded") != "recorded"
        return start.played or (utc_of_seconds(hand.at // 1000) if self._match[1] else "")


TEXT_FORMATS: dict[str, Callable[[ExportRequest], Iterator[bytes]]] = {
    "mit-gamelog": gamelog_text,
    "phh": phh_text,
    "acpc": acpc_text,
    "ohh": ohh_text,
    "pokerstars": pokerstars_text,
}
