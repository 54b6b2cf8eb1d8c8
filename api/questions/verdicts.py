"""What an audit says of every hand of a ledger, for lists and filters: judged once, and kept.

Hands go through the screening in columns; those that it doubts the engine judges, as `audit --all`
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

from analytics.screening.batches import BATCH_HANDS, ScreenedBatch, Screening, screened_batches
from analytics.screening.event_arrays import WordIds
from analytics.screening.plan import DoubtReason
from api.record_audit import MOVELESS, VERDICT_CODES, RulesetLookup, audit_record, verdict_code
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
NONE, UNJUDGED = 0, 255  # no hand, or none whose rules anybody has; and not looked at yet
AT_ONCE = 250  # hands for the engine between two words of progress
SCHEMA = pa.schema(
    {
        "hand_seq": pa.int64(),
        "verdict": pa.dictionary(pa.int8(), pa.string()),
        "moves": pa.int64(),  # 0, or nothing: how many is shown hand by hand
    }
)


class Judged(NamedTuple):
    """Verdicts by `hand_seq`, and how many of those that closed nobody has looked at yet."""

    rows: pa.Table
    left: int


class Progress(NamedTuple):
    """How many of those that were asked for are judged by now."""

    done: int
    total: int


class SavedVerdicts(Struct, frozen=True):
    """Verdicts of hands next to each other: the first, a code for each, rulesets that nobody had;
    of hands in the log the digest of their events."""

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
        """What can be said now; if no more than `at_once` are left, they are judged first."""
        left = self._look(snapshot)
        if 0 < left <= at_once:
            for _ in self.judge(snapshot):
                pass
        with self._turn:
            if self._table is None or self._table[0] != (snapshot.next_seq, self._changes):
                # The verdicts among these codes, by their places.
                codes = self._codes[: snapshot.next_seq]
                seqs = np.flatnonzero((codes != NONE) & (codes != UNJUDGED))
                found = codes[seqs]
                indices = pa.array((found % MOVELESS - 1).astype(np.int8))
                words = pa.DictionaryArray.from_arrays(indices, pa.array(VERDICTS))
                moves = pa.array(np.zeros(len(seqs), dtype=np.int64), mask=found < MOVELESS)
                rows = pa.table([pa.array(seqs.astype(np.int64)), words, moves], schema=SCHEMA)
                self._table = (snapshot.next_seq, self._changes), rows
            return Judged(self._table[1], self._look(snapshot))

    def left_of(self, hands: Numbers) -> Numbers:
        """The hands among these that nobody has looked at yet."""
        with self._turn:
            left: Numbers = hands[self._codes[hands] == UNJUDGED]
            return left

    def judge(self, snapshot: Snapshot, hands: Numbers | None = None) -> Iterator[Progress]:
        """Judge all hands without a verdict, or those of these hands, in order and some at a time;
        a caller who stops keeps what was judged so far."""
        self._look(snapshot)
        every = np.arange(snapshot.next_seq) if hands is None else hands
        left = self.left_of(every[every < snapshot.next_seq])
        rules, done = RulesetLookup(snapshot, None), 0
        screening = Screening(rules.by_fingerprint, WordIds())
        if len(left):
            yield Progress(0, len(left))
        for near in np.split(left, np.flatnonzero(np.diff(left // BATCH_HANDS)) + 1):
            if not len(near):
                continue
            between = int(near.min()), int(near.max()) + 1
            for batch in screened_batches(snapshot, screening, self._is_left, between):
                for count in self._judged(batch, rules, near):
                    done += count
                    yield Progress(done, len(left))
            self._close(snapshot, near)
        yield Progress(len(left), len(left))

    def _look(self, snapshot: Snapshot) -> int:
        """How many are left, after a look at what this or another process has kept."""
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
                if self._is_left(*at):
                    kept = load(self._folder, name)
                    if (
                        kept is not None
                        and (kept.first_seq, len(kept.codes)) == (at[0], at[1] - at[0] + 1)
                        and not any(rules.by_fingerprint(it) for it in kept.unknown)
                    ):
                        self._learn(kept)
                        self._kept |= set() if self._is_left(*at) else {name}
                elif name not in self._kept:  # sealed or compacted since it was judged
                    self._save((segment,))
            for first, last in ends:
                if self._is_left(first, last):
                    self._learn_log(live, first, last)
            return int((self._codes[: snapshot.next_seq] == UNJUDGED).sum())

    def _learn(self, kept: SavedVerdicts) -> None:
        """What is said of these hands and not known."""
        codes = np.frombuffer(kept.codes, dtype=np.uint8)
        here = self._codes[kept.first_seq :][: len(codes)]
        new = (here == UNJUDGED) & (codes != UNJUDGED)
        if new.any():
            here[new] = codes[new]
            self._changes += 1

    def _learn_log(self, live: "LiveLedger", first: int, last: int) -> None:
        """What was kept of the log when it began here; a segment may have been made of it since."""
        kept = load(self._folder, log_of(live, first))
        if kept is None or kept.events in self._logs or kept.first_seq != first:
            return
        end = first + len(kept.codes)
        if end <= last + 1 and events_digest(live, first, end) == kept.events:
            self._learn(kept)
            self._logs.add(kept.events)

    def _is_left(self, first: int, last: int) -> bool:
        with self._turn:
            return bool((self._codes[first : last + 1] == UNJUDGED).any())

    def _judged(self, batch: ScreenedBatch, rules: RulesetLookup, wanted: Numbers) -> Iterator[int]:
        """The hands of a batch: all that are fine at once, then the wanted ones that the engine
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
            if self._is_left(seq, seq):
                assumed = batch.why(where) is DoubtReason.ASSUMED
                self._note(seq, batch.records[where], rules, screened=assumed)
            if waiting == AT_ONCE:
                yield waiting
                waiting = 0
        yield waiting

    def _note(
        self, seq: int, record: Events, rules: RulesetLookup, *, screened: bool = False
    ) -> None:
        """One hand judged; of one whose rules nobody has there is no verdict. What is `screened` is
        fine if what it assumes is so."""
        start = record[0]
        game = rules.of(record) if isinstance(start, HandStarted) else None
        code = NONE
        if game is not None:
            fine = Report(game.name, "agree", None, None)
            report = qualified(fine, record) if screened else audit_record(record, game).report
            code = verdict_code(report)
        with self._turn:
            self._codes[seq] = code
            self._changes += 1
            if game is None and isinstance(start, HandStarted):
                self._unknown[seq] = start.ruleset

    def _close(self, snapshot: Snapshot, near: Numbers) -> None:
        """What no batch told of among these is no hand; whole segments are kept."""
        with self._turn:
            self._codes[self.left_of(near)] = NONE
            parts = snapshot.parts().segments
            self._save(part for part in parts if not self._is_left(part.first_seq, part.last_seq))

    def _save(self, segments: Iterable[Segment]) -> None:
        for segment in segments:
            first, last = segment.first_seq, segment.last_seq
            name, codes = segment.sha256["events"], self._codes[first : last + 1]
            if name in self._kept or (codes == UNJUDGED).all():
                continue
            unknown = {it for at, it in self._unknown.items() if first <= at <= last}
            save(self._folder, name, SavedVerdicts(first, codes.tobytes(), tuple(sorted(unknown))))
            if not self._is_left(first, last):
                self._kept.add(name)

    def take(self, snapshot: Snapshot, judged: "Mapping[str, HandVerdicts]") -> None:
        """What an import has judged, as far as it is in the ledger, kept beside what is known."""
        self._look(snapshot)
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
                if matches and self._is_left(segment.first_seq, segment.last_seq):
                    self._take_segment(live, segment, {it: judged_of[it] for it in matches})
            for entry in closed:
                match, number = split_stream(entry.stream)
                if match in judged_of and self._codes[entry.hand_seq] == UNJUDGED:
                    code = NONE
                    if number is not None:
                        code = _codes_of(judged_of[match], np.array([number]))[0]
                    self._codes[entry.hand_seq] = code
            self._changes += 1
        self.keep(snapshot)

    def _take_segment(
        self, live: "LiveLedger", segment: Segment, found: Mapping[str, tuple[Numbers, Codes]]
    ) -> None:
        """The hands of a segment that are judged; what has no number is a record of a match."""
        files, wanted = files_of(live.disk), ["hand_seq", "match", "number"]
        groups = range(files.open(segment, "hands").groups)
        rows = pa.concat_tables(files.rows(segment, "hands", group, wanted) for group in groups)
        rows = rows.filter(pc.is_valid(rows["number"]))
        seqs, numbers = (
            rows[it].to_numpy() - at for it, at in (("hand_seq", segment.first_seq), ("number", 0))
        )
        codes = self._codes[segment.first_seq : segment.last_seq + 1]
        new = np.full(len(codes), NONE, dtype=np.uint8)
        new[seqs] = UNJUDGED
        for match, one in found.items():
            here = pc.equal(rows["match"], match).to_numpy()
            new[seqs[here]] = _codes_of(one, numbers[here])
        left = codes == UNJUDGED
        codes[left] = new[left]

    def keep(self, snapshot: Snapshot) -> None:
        """All that is known, for other processes: of each segment, and of the log."""
        self._look(snapshot)
        with self._turn:
            segments, closed = snapshot.live.parts()
            self._save(segments)
            if closed:
                first, end = closed[0].hand_seq, closed[-1].hand_seq + 1
                codes = self._codes[first:end]
                if (codes != UNJUDGED).any():
                    events = events_digest(snapshot.live, first, end)
                    save(
                        self._folder,
                        log_of(snapshot.live, first),
                        SavedVerdicts(first, codes.tobytes(), (), events),
                    )


def verdicts_of(snapshot: Snapshot) -> Verdicts:
    """The verdicts of a ledger: the same for all who read it in this process."""
    with _turn:
        return _verdicts_of.setdefault(snapshot.live, Verdicts())


_turn = threading.Lock()
_verdicts_of: WeakKeyDictionary["LiveLedger", Verdicts] = WeakKeyDictionary()


def _codes_of(found: tuple[Numbers, Codes], numbers: Numbers) -> Codes:
    """The codes of these hands of a match."""
    known, codes = found
    at = np.minimum(np.searchsorted(known, numbers), len(known) - 1)
    return np.where(known[at] == numbers, codes[at], np.uint8(UNJUDGED))


def log_of(live: "LiveLedger", first: int) -> str:
    """What the log of a ledger is called whose first hand has this place."""
    return hashlib.sha256(f"{live.folder.resolve()} {first}".encode()).hexdigest()


def events_digest(live: "LiveLedger", first: int, end: int) -> str:
    """The digest of all that closed from one place up to another."""
    digest = hashlib.sha256()
    for leaf in takewhile(lambda it: it.hand_seq < end, live.leaves(first - 1)):
        digest.update(f"{leaf.stream}\n".encode())
        digest.update(encode_lines([recorded.event for recorded in leaf.recorded]))
    return digest.hexdigest()


def load(folder: Path, name: str) -> SavedVerdicts | None:
    """What was kept under this name, if it is whole."""
    try:
        text = _file(folder, name).read_bytes()
        digest, body = text[:32], text[32:]
        if hashlib.sha256(body).digest() != digest:
            return None
        return msgspec.msgpack.decode(body, type=SavedVerdicts)
    except (OSError, msgspec.DecodeError):
        return None


def save(folder: Path, name: str, kept: SavedVerdicts) -> None:
    """Written aside and renamed; a folder that cannot be written costs time and nothing else."""
    file = _file(folder, name)
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


def _file(folder: Path, name: str) -> Path:
    return folder / f"{name[:32]}-{program_digest()}.bin"


def keep_judged(folder: Path, judged: "Mapping[str, HandVerdicts]") -> None:
    """Keep what an import into this ledger has judged, for later questions about verdicts."""
    if judged:
        Verdicts().take(Reader(folder).snapshot(), judged)
