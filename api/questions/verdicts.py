"""The verdicts of a ledger's hands, for lists and filters: judged once, and saved.

Hands are audited in batches first, in columns; those in doubt the engine judges, as `audit --all`
does. A verdict depends on hidden cards, so it is for auditors, and for all where a match is open to
all. To judge millions takes a while: `judge` goes on where it was left, with the hands that
somebody looks at (`judging.py`), and `known` never waits.
Hands that an import has judged are not judged again: `take` has their verdicts from there.

Verdicts lie in the user's cache: a file for each segment, a byte for each hand. A file is named by
what decides its content: the digest of the segment's events, and the program that judged them. So a
mended rule, another reading or another way to read events makes other files, and a file that this
program wrote is never wrong, only missing. What was cut short or altered fails its digest and is
judged again; so is a segment with hands of rulesets that nobody had then and somebody has now.
Hands that are in the log have one file, named by the ledger and the place of the first; it holds a
digest over their events, and is believed of a segment that begins with them, too.

A cache is no evidence: who may write it can make it say anything. An audit of one hand, a
bundle and `audit --all` decide anew and never look here.
"""

import hashlib
import os
import secrets
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from analytics.batch_audit.batches import BATCH_HANDS, AuditedBatch, BatchAuditor, audited_batches
from analytics.batch_audit.event_arrays import WordIds
from analytics.batch_audit.plan import DoubtReason
from api.auditing.record import MOVELESS, VERDICT_CODES, RulesetLookup, audit_record, verdict_code
from api.version import program_digest
from engine.verdict import VERDICTS, Report, qualified
from events.codec import encode_lines
from events.types import Events, HandStarted
from store.folder.disk import cache_folder
from store.folder.manifest import Segment
from store.log.streams import split_stream
from store.reader import Reader, Snapshot
from store.segments.reading import files_of

if TYPE_CHECKING:
    from api.importing.index import HandVerdicts
    from store.reader import LiveLedger, Snapshot


Numbers = np.ndarray[Any, np.dtype[np.int64]]
Codes = np.ndarray[Any, np.dtype[np.uint8]]
NO_VERDICT, UNJUDGED = 0, 255  # no hand, or none whose rules anybody has; and not looked at yet
JUDGED_AT_ONCE = 250  # hands for the engine between two words of progress
SCHEMA = pa.schema(
    {
        "hand_seq": pa.int64(),
        "verdict": pa.dictionary(pa.int8(), pa.string()),
        "moves": pa.int64(),  # 0, or nothing: how many is shown hand by hand
    }
)


class Judged(NamedTuple):
    """Verdicts by `hand_seq`, and how many closed hands have none yet."""

    rows: pa.Table
    left: int


class Progress(NamedTuple):
    """How many of the hands that were asked for are judged by now."""

    done: int
    total: int


class SavedVerdicts(Struct, frozen=True):
    """The saved verdicts of a run of hands: the first, a code for each, rulesets that nobody
    had; of hands in the log the digest of their events."""

    first_seq: int
    codes: bytes
    unknown: tuple[str, ...] = ()
    events: str = ""


class Verdicts:
    """The verdicts of one ledger, as far as they are known; threads may share it.

    In memory a hand's verdict stands at its `hand_seq`, so neither sealing nor compaction lose it.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or cache_folder() / "verdicts"
        self._turn = threading.RLock()
        self._codes = np.zeros(0, dtype=np.uint8)
        self._unknown: dict[int, str] = {}  # rulesets that nobody has, by hand
        self._kept: set[str] = set()  # files that say all there is to say
        self._logs: set[str] = set()  # hands of the log, by the digest of their events, once read
        self._changes = 0
        self._table: tuple[tuple[int, int], pa.Table] | None = None

    def known(self, snapshot: Snapshot, at_once: int = 0) -> Judged:
        """The verdicts known now; if at most `at_once` hands are left, they are judged first."""
        left = self._load(snapshot)
        if 0 < left <= at_once:
            for _ in self.judge(snapshot):
                pass
        with self._turn:
            if self._table is None or self._table[0] != (snapshot.next_seq, self._changes):
                # The verdicts among these codes, by their places.
                codes = self._codes[: snapshot.next_seq]
                seqs = np.flatnonzero((codes != NO_VERDICT) & (codes != UNJUDGED))
                found = codes[seqs]
                indices = pa.array((found % MOVELESS - 1).astype(np.int8))
                words = pa.DictionaryArray.from_arrays(indices, pa.array(VERDICTS))
                moves = pa.array(np.zeros(len(seqs), dtype=np.int64), mask=found < MOVELESS)
                rows = pa.table([pa.array(seqs.astype(np.int64)), words, moves], schema=SCHEMA)
                self._table = (snapshot.next_seq, self._changes), rows
            return Judged(self._table[1], self._load(snapshot))

    def unjudged_of(self, hands: Numbers) -> Numbers:
        """The hands among these that have no verdict yet."""
        with self._turn:
            left: Numbers = hands[self._codes[hands] == UNJUDGED]
            return left

    def judge(self, snapshot: Snapshot, hands: Numbers | None = None) -> Iterator[Progress]:
        """Judge all hands without a verdict, or those of these hands, in order and some at a
        time; a caller who stops keeps what was judged so far."""
        self._load(snapshot)
        every = np.arange(snapshot.next_seq) if hands is None else hands
        left = self.unjudged_of(every[every < snapshot.next_seq])
        rules, done = RulesetLookup(snapshot, None), 0
        auditor = BatchAuditor(rules.by_fingerprint, WordIds())
        if len(left):
            yield Progress(0, len(left))
        for near in np.split(left, np.flatnonzero(np.diff(left // BATCH_HANDS)) + 1):
            if not len(near):
                continue
            between = int(near.min()), int(near.max()) + 1
            for batch in audited_batches(snapshot, auditor, self._has_unjudged, between):
                for count in self._judge_batch(batch, rules, near):
                    done += count
                    yield Progress(done, len(left))
            self._mark_no_hands(snapshot, near)
        yield Progress(len(left), len(left))

    def _load(self, snapshot: Snapshot) -> int:
        """Load what this or another process has saved, and count the hands that are left."""
        rules, live = RulesetLookup(snapshot, None), snapshot.live
        segments, closed = live.parts()
        ends = [(segment.first_seq, segment.last_seq) for segment in segments]
        if closed:
            ends.append((closed[0].hand_seq, closed[-1].hand_seq))
        with self._turn:
            lack = max(snapshot.next_seq, *(last + 1 for _, last in ends), 0) - len(self._codes)
            if lack > 0:
                self._codes = np.append(self._codes, np.full(lack, UNJUDGED, dtype=np.uint8))
            for segment in segments:
                name, at = segment.sha256["events"], (segment.first_seq, segment.last_seq)
                if self._has_unjudged(*at):
                    kept = load_saved(self._folder, name)
                    if (
                        kept is not None
                        and (kept.first_seq, len(kept.codes)) == (at[0], at[1] - at[0] + 1)
                        and not any(rules.by_fingerprint(it) for it in kept.unknown)
                    ):
                        self._add_saved(kept)
                        self._kept |= set() if self._has_unjudged(*at) else {name}
                elif name not in self._kept:  # sealed or compacted since it was judged
                    self._save_segments((segment,))
            for first, last in ends:
                if self._has_unjudged(first, last):
                    self._add_saved_log(live, first, last)
            return int((self._codes[: snapshot.next_seq] == UNJUDGED).sum())

    def _add_saved(self, kept: SavedVerdicts) -> None:
        """Add saved verdicts that are not known yet."""
        codes = np.frombuffer(kept.codes, dtype=np.uint8)
        here = self._codes[kept.first_seq :][: len(codes)]
        new = (here == UNJUDGED) & (codes != UNJUDGED)
        if new.any():
            here[new] = codes[new]
            self._changes += 1

    def _add_saved_log(self, live: "LiveLedger", first: int, last: int) -> None:
        """Add saved verdicts of the log; a segment may have been made of it since."""
        kept = load_saved(self._folder, log_name(live, first))
        if kept is None or kept.events in self._logs or kept.first_seq != first:
            return
        end = first + len(kept.codes)
        if end <= last + 1 and events_digest(live, first, end) == kept.events:
            self._add_saved(kept)
            self._logs.add(kept.events)

    def _has_unjudged(self, first: int, last: int) -> bool:
        with self._turn:
            return bool((self._codes[first : last + 1] == UNJUDGED).any())

    def _judge_batch(
        self, batch: AuditedBatch, rules: RulesetLookup, wanted: Numbers
    ) -> Iterator[int]:
        """Judge the hands of a batch: all that are fine at once, then those that the engine
        judges."""
        seqs = batch.columns.hand_seq
        fine = seqs[batch.result.why == DoubtReason.FINE]
        with self._turn:
            self._codes[fine] = VERDICT_CODES["agree"]
            self._changes += 1
        yield int(np.isin(fine, wanted).sum())
        waiting, places = 0, np.fromiter(sorted(batch.records), dtype=np.int64)
        for where in places[np.isin(seqs[places], wanted)].tolist():
            seq, waiting = int(seqs[where]), waiting + 1
            if self._has_unjudged(seq, seq):
                assumed = batch.why(where) is DoubtReason.ASSUMED
                self._judge_hand(seq, batch.records[where], rules, passed=assumed)
            if waiting == JUDGED_AT_ONCE:
                yield waiting
                waiting = 0
        yield waiting

    def _judge_hand(
        self, seq: int, record: Events, rules: RulesetLookup, *, passed: bool = False
    ) -> None:
        """Judge one hand; without its ruleset there is no verdict. A `passed` hand is fine if
        what it assumes is so."""
        start = record[0]
        game = rules.of(record) if isinstance(start, HandStarted) else None
        code = NO_VERDICT
        if game is not None:
            fine = Report(game.name, "agree", None, None)
            report = qualified(fine, record) if passed else audit_record(record, game).report
            code = verdict_code(report)
        with self._turn:
            self._codes[seq] = code
            self._changes += 1
            if game is None and isinstance(start, HandStarted):
                self._unknown[seq] = start.ruleset

    def _mark_no_hands(self, snapshot: Snapshot, near: Numbers) -> None:
        """Mark the places among these that no batch had a hand of; and save whole segments."""
        with self._turn:
            self._codes[self.unjudged_of(near)] = NO_VERDICT
            parts = snapshot.parts().segments
            self._save_segments(
                part for part in parts if not self._has_unjudged(part.first_seq, part.last_seq)
            )

    def _save_segments(self, segments: Iterable[Segment]) -> None:
        for segment in segments:
            first, last = segment.first_seq, segment.last_seq
            name, codes = segment.sha256["events"], self._codes[first : last + 1]
            if name in self._kept or (codes == UNJUDGED).all():
                continue
            unknown = {it for at, it in self._unknown.items() if first <= at <= last}
            saved = SavedVerdicts(first, codes.tobytes(), tuple(sorted(unknown)))
            write_saved(self._folder, name, saved)
            if not self._has_unjudged(first, last):
                self._kept.add(name)

    def add_imported(self, snapshot: Snapshot, judged: "Mapping[str, HandVerdicts]") -> None:
        """Add the verdicts of an import that are about hands of the ledger."""
        self._load(snapshot)
        judged_of = {}
        for match, hands in judged.items():
            numbers = np.array(hands.numbers, dtype=np.int64)
            order = np.argsort(numbers, kind="stable")
            codes = np.frombuffer(bytes(hands.codes), dtype=np.uint8)
            judged_of[match] = numbers[order], codes[order]
        live = snapshot.live
        segments, closed = live.parts()
        with self._turn:
            for segment in segments:
                matches = judged_of.keys() & {*segment.numbers, *segment.records}
                if matches and self._has_unjudged(segment.first_seq, segment.last_seq):
                    self._add_imported_segment(live, segment, {it: judged_of[it] for it in matches})
            for entry in closed:
                match, number = split_stream(entry.stream)
                if match in judged_of and self._codes[entry.hand_seq] == UNJUDGED:
                    code = NO_VERDICT
                    if number is not None:
                        code = _codes_of_match(judged_of[match], np.array([number]))[0]
                    self._codes[entry.hand_seq] = code
            self._changes += 1
        self.save(snapshot)

    def _add_imported_segment(
        self, live: "LiveLedger", segment: Segment, found: Mapping[str, tuple[Numbers, Codes]]
    ) -> None:
        """Add the verdicts of a segment's hands; what has no number is a record of a match."""
        files, wanted = files_of(live.disk), ["hand_seq", "match", "number"]
        groups = range(files.open(segment, "hands").groups)
        rows = pa.concat_tables(files.rows(segment, "hands", group, wanted) for group in groups)
        rows = rows.filter(pc.is_valid(rows["number"]))
        seqs, numbers = (
            rows[it].to_numpy() - at for it, at in (("hand_seq", segment.first_seq), ("number", 0))
        )
        codes = self._codes[segment.first_seq : segment.last_seq + 1]
        new = np.full(len(codes), NO_VERDICT, dtype=np.uint8)
        new[seqs] = UNJUDGED
        for match, one in found.items():
            here = pc.equal(rows["match"], match).to_numpy()
            new[seqs[here]] = _codes_of_match(one, numbers[here])
        left = codes == UNJUDGED
        codes[left] = new[left]

    def save(self, snapshot: Snapshot) -> None:
        """Save all known verdicts for other processes: of each segment, and of the log."""
        self._load(snapshot)
        with self._turn:
            segments, closed = snapshot.live.parts()
            self._save_segments(segments)
            if closed:
                first, end = closed[0].hand_seq, closed[-1].hand_seq + 1
                codes = self._codes[first:end]
                if (codes != UNJUDGED).any():
                    events = events_digest(snapshot.live, first, end)
                    write_saved(
                        self._folder,
                        log_name(snapshot.live, first),
                        SavedVerdicts(first, codes.tobytes(), (), events),
                    )


def verdicts_of(snapshot: Snapshot) -> Verdicts:
    """The verdicts of a ledger: one object for all readers in this process."""
    with _lock:
        return _verdicts_of.setdefault(snapshot.live, Verdicts())


_lock = threading.Lock()
_verdicts_of: WeakKeyDictionary["LiveLedger", Verdicts] = WeakKeyDictionary()


def _codes_of_match(found: tuple[Numbers, Codes], numbers: Numbers) -> Codes:
    """The verdict codes of these hands of a match."""
    known, codes = found
    at = np.minimum(np.searchsorted(known, numbers), len(known) - 1)
    return np.where(known[at] == numbers, codes[at], np.uint8(UNJUDGED))


def log_name(live: "LiveLedger", first: int) -> str:
    """The name of a ledger's log whose first hand has this place."""
    return hashlib.sha256(f"{live.folder.resolve()} {first}".encode()).hexdigest()


def events_digest(live: "LiveLedger", first: int, end: int) -> str:
    """The digest of all events that closed from one place up to another."""
    digest = hashlib.sha256()
    for leaf in takewhile(lambda it: it.hand_seq < end, live.leaves(first - 1)):
        digest.update(f"{leaf.stream}\n".encode())
        digest.update(encode_lines([recorded.event for recorded in leaf.recorded]))
    return digest.hexdigest()


def load_saved(folder: Path, name: str) -> SavedVerdicts | None:
    """Load the verdicts of this name, if their file is whole."""
    try:
        text = _saved_path(folder, name).read_bytes()
        digest, body = text[:32], text[32:]
        if hashlib.sha256(body).digest() != digest:
            return None
        return msgspec.msgpack.decode(body, type=SavedVerdicts)
    except (OSError, msgspec.DecodeError):
        return None


def write_saved(folder: Path, name: str, kept: SavedVerdicts) -> None:
    """Write a file aside and rename it; a folder that cannot be written costs time, no more."""
    file = _saved_path(folder, name)
    aside = file.with_name(f".{file.name}.{os.getpid()}.{secrets.token_hex(4)}")
    body = msgspec.msgpack.encode(kept)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        aside.write_bytes(hashlib.sha256(body).digest() + body)
        os.replace(aside, file)
        for other in folder.glob(f"{file.name.partition('-')[0]}-*.bin"):
            if other != file:  # of a program that has been replaced
                other.unlink(missing_ok=True)
    except OSError:
        with suppress(OSError):
            aside.unlink(missing_ok=True)


def _saved_path(folder: Path, name: str) -> Path:
    return folder / f"{name[:32]}-{program_digest()}.bin"


def keep_import_verdicts(folder: Path, judged: "Mapping[str, HandVerdicts]") -> None:
    """Save the verdicts of an import into this ledger, for later questions about verdicts."""
    if judged:
        Verdicts().add_imported(Reader(folder).snapshot(), judged)
