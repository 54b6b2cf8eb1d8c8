"""Write imported files into the ledger: each as a whole match, unless it is there already.

Short files are appended, many in one call, so that a file of one hand does not wait for the disk
alone. Long ones come as staged batches, and many of these become a segment at once. A file that was
cut off in the middle is gone on with when it comes again.
"""

from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from api.importing.index import HandDigest, HandVerdicts, ImportIndex, KnownHand, Repeat, naming_of
from api.importing.input_copies import skipped_notes
from api.importing.spill import (
    CHUNK_HANDS,
    CheckedChunk,
    RepeatNotes,
    SpilledChunk,
    first_difference,
    read_chunk,
)
from api.importing.worker import ImportOutcome
from events.evolve import replay
from events.ledger import Append, Record
from events.match import Disclosure, MatchEnded, MatchStarted, SourceNoted, Tagged
from formats.source import Refused, Skipped
from store.folder.disk import now_ms
from store.ledger import CLOSE_HANDS, SEAL_HANDS, FileLedger
from store.log.hot_log import from_payload, to_payload
from store.log.streams import split_stream
from store.segments.staged_batches import StagedBatch, decode_batch, make_batch

READ_WHOLE = "the file was read"
FEW = 10  # staged batches: more of them hold too much for one call, whatever their hands are like
WrittenFile = tuple[ImportOutcome, int]  # a file, and how many of its hands are new
_FirstHands = dict[bytes, tuple[HandDigest, CheckedChunk]]  # by what they are found by


class ImportWriter:
    """Writes imported files into a ledger, and returns each when all of it is durable."""

    def __init__(
        self,
        ledger: FileLedger,
        disclosure: Disclosure,
        without: Collection[str] = (),
        owner: str = "",
        *,
        strict: bool = False,
        tags: tuple[Tagged, ...] = (),
    ) -> None:
        """`without` names projections left for later, `owner` an importer who may not see all,
        `strict` refuses a file that contradicts another, `tags` are of players of any match."""
        self._ledger, self._disclosure = ledger, disclosure
        self._strict, self._tags = strict, tags
        self._kept: set[str] = set()
        self._known = ImportIndex(ledger, ledger.nonces, owner)
        self._calls = _AppendBatch(ledger, self._known)
        self._batches = _StagedBatches(ledger, without, self._known)
        self._naming = naming_of(ledger.nonces, owner)
        self._done: list[WrittenFile] = []
        self._matches = set[str]()  # of those
        self.judged: dict[str, HandVerdicts] = {}  # the hands that are new, by match

    def write(self, files: Iterable[ImportOutcome]) -> Iterator[WrittenFile]:
        """Write the files in order and yield each once it is durable; an interrupt loses none."""
        try:
            for outcome in files:
                if outcome.match in self._matches:
                    yield from self._flushed()
                self._done.append(self._add_file(outcome))
                self._matches.add(outcome.match)
                if self._calls.empty and self._batches.empty:
                    yield from self._flushed()
        except KeyboardInterrupt:
            yield from self._flushed()
            raise
        yield from self._flushed()

    def _add_file(self, outcome: ImportOutcome) -> WrittenFile:
        """Add a file to the batch; refuse it if another match has its name."""
        if not outcome.refused:
            try:
                return outcome, self._add_hands(outcome)
            except Refused as refused:
                outcome.refused, outcome.verdicts = Skipped(refused.line, refused.reason), {}
        return outcome, 0

    def _add_hands(self, outcome: ImportOutcome) -> int:
        """Add the hands that the ledger lacks to a batch; return how many are new."""
        there = self._match_of_content(outcome)
        outcome.match = there or outcome.match
        known = [one.event for one in self._ledger.read(outcome.match)]
        if known and there is None:
            raise Refused(0, f"there is another match {outcome.match} in the ledger already")
        beginning = self._first_records(outcome)
        if known and not isinstance(known[-1], MatchEnded):
            if tuple(known[: len(beginning)]) != beginning:
                why = "was begun with other options, and not finished: import it as before"
                raise Refused(0, f"{outcome.match} {why}")
        elif known:
            for chunk in outcome.chunks:
                self._without_repeats(outcome, chunk)
            return 0
        if self._strict:
            self._refuse_conflicts(outcome)
        for fingerprint in outcome.rulesets.keys() - self._kept:
            self._ledger.keep_ruleset(fingerprint, outcome.rulesets[fingerprint])
            self._kept.add(fingerprint)
        way = self._batches if outcome.chunks[0].as_batch else self._calls
        file = _MatchImport(outcome, way, beginning, known)
        for chunk in outcome.chunks:
            part = self._without_repeats(outcome, chunk)
            if not (known and part.first and self._ledger.read(part.first)):
                file.add(part)
                # What was judged of new hands is kept for questions about verdicts.
                if new := [it for it in part.digests if it.verdict and it.number not in part.again]:
                    match, empty = (
                        split_stream(chunk.first)[0],
                        HandVerdicts(array("Q"), bytearray()),
                    )
                    numbers, codes = self.judged.setdefault(match, empty)
                    numbers.extend(digest.number for digest in new)
                    codes.extend(digest.verdict for digest in new)
                way.flush_midway()
            else:
                file.count(part)
        file.end(self._left_out(outcome))
        way.flush_if_full()
        return file.added

    def _first_records(self, outcome: ImportOutcome) -> tuple[Record, ...]:
        """The first records of a match: its start, its players' tags, and notes of the file, of
        what was inferred and who was renamed. Of several games the first names the match."""
        assert outcome.note is not None
        name, file_name = outcome.note.format, Path(outcome.file.name).name
        noted = [outcome.note, SourceNoted(name, "file", file_name, outcome.digest)]
        if outcome.inferred:
            noted.append(SourceNoted(name, "inferred", "\n".join(outcome.inferred), ""))
        if renamed := [f"{was}={now}" for was, now in outcome.names.items() if now in outcome.nets]:
            noted.append(SourceNoted(name, "names", "\n".join(renamed), ""))
        game, fingerprint = next(iter(outcome.games.items()))
        players = tuple(outcome.nets)
        start = MatchStarted(
            outcome.match, game, fingerprint, players, "recorded", self._disclosure, outcome.sealed
        )
        tags = (tag for tag in self._tags if tag.player in players)
        return (start, *tags, *noted)

    def _without_repeats(self, outcome: ImportOutcome, chunk: SpilledChunk) -> CheckedChunk:
        """Find the hands of a chunk that are in the ledger already; index the others."""
        part = CheckedChunk(chunk)
        marked = list(self._recognized(outcome, part, {}))
        part.again |= {digest.number: again for digest, again in marked if again is not None}
        if new := [digest for digest, again in marked if again is None]:
            self._known.add(outcome.match, outcome.digest, new)
        outcome.again += len(part.again)
        outcome.conflicts += [one for one in part.again.values() if one.differs]
        named = {number for numbers in outcome.named.values() for number in numbers}
        for number, repeat in part.again.items():
            if not outcome.elsewhere or number in named:
                outcome.elsewhere[number] = repeat.hand
        return part

    def _recognized(
        self, outcome: ImportOutcome, part: CheckedChunk, first: _FirstHands
    ) -> Iterator[tuple[HandDigest, Repeat | None]]:
        """Hands of a chunk that the ledger lacks under this name, each with its other name."""
        hits = self._known.hits(outcome.match, part.digests)
        for digest in part.digests:
            hit, there = hits.get(digest.number), part
            if hit and hit.hand == f"{outcome.match}/{digest.number}":
                continue
            if hit is None:
                key = digest.found_by + digest.says * (not digest.numbered)
                before, there = first.setdefault(key, (digest, part))
                if before is digest:
                    yield digest, None
                    continue
                hit = KnownHand(f"{outcome.match}/{before.number}", before.says == digest.says)
            otherwise = "" if hit.same else self._differs(part, there, hit.hand, digest.number)
            yield digest, Repeat(digest.number, digest.line, hit.hand, otherwise)

    def _refuse_conflicts(self, outcome: ImportOutcome) -> None:
        """Refuse a file with a hand that contradicts another, as --strict asks."""
        first: _FirstHands = {}
        for chunk in outcome.chunks:
            for digest, again in self._recognized(outcome, CheckedChunk(chunk), first):
                if again is not None and again.differs:
                    why = f"{again.differs} (under --strict no hand contradicts another)"
                    raise Refused(digest.line, f"hand {digest.number} is {again.hand}: {why}")

    def _left_out(self, outcome: ImportOutcome) -> tuple[SourceNoted, ...]:
        """Notes of the hands that were left out, without those that an earlier import noted."""
        assert outcome.format is not None
        left_out = tuple(skipped_notes(outcome.format, outcome.skipped))
        if left_out and outcome.again:
            self._calls.flush()
            self._batches.flush()
            noted = self._known.left_out()
            left_out = tuple(one for one in left_out if not one.footer or one.footer not in noted)
        return left_out

    def _differs(self, part: CheckedChunk, chunk: CheckedChunk, hand: str, number: int) -> str:
        """The first difference of a hand from the known one, in this file or in the ledger."""
        match, at = split_stream(hand)
        if match == split_stream(part.chunk.first)[0] and at in chunk.records:
            return first_difference(chunk.records[at], part.records[number])
        self._calls.flush()
        self._batches.flush()
        known = [one.event for one in self._ledger.read(hand)]
        return first_difference(known, part.records[number])

    def begun(self, outcome: ImportOutcome) -> str | None:
        """The other name under which this content was begun and not finished."""
        name = None if outcome.refused else self._match_of_content(outcome)
        if name is None or name == outcome.match:
            return None
        return None if isinstance(self._ledger.read(name)[-1].event, MatchEnded) else name

    def _match_of_content(self, outcome: ImportOutcome) -> str | None:
        """The match of this content in the ledger, if this owner may know of it."""
        names = (self._known.file(outcome.digest), *self._naming.names(outcome.digest))
        if not self._naming.owner:
            names = (outcome.match, *names)
        for name in filter(None, names):
            footers = (getattr(one.event, "footer", "") for one in self._ledger.read(name))
            if outcome.digest in footers:
                return name
        return None

    def _flushed(self) -> Iterator[WrittenFile]:
        self._calls.flush()
        self._batches.flush()
        self._known.save()
        done, self._done = self._done, []
        self._matches.clear()
        yield from done


class _AppendBatch:
    """Short files, gathered into one append."""

    def __init__(self, ledger: FileLedger, known: ImportIndex) -> None:
        self._ledger, self._known = ledger, known
        self._payload: list[bytes] = []
        self._hands = 0

    @property
    def empty(self) -> bool:
        return not self._payload

    def records(self, match: str, version: int, records: tuple[Record, ...]) -> None:
        if records:
            self._payload.append(to_payload((Append(match, version, records, now_ms()),)))

    def hands(self, hands: Any, count: int, *, as_batch: bool) -> None:
        if as_batch:
            hands = to_payload(decode_batch(hands).appends())
        self._payload.append(hands)
        self._hands += count

    def flush_midway(self) -> None:
        """A file of several chunks is long: each is a call."""
        self.flush()

    def flush_if_full(self) -> None:
        if self._hands >= CHUNK_HANDS:
            self.flush()

    def flush(self) -> None:
        if self._payload:
            self._known.save()
            self._ledger.append_spelled(b"\n".join(self._payload))
        self._payload, self._hands = [], 0


class _StagedBatches:
    """Long files, as staged batches until they are worth a segment; the rest, if few, by an append.

    What comes between two batches, the end of a file and the beginning of the next, is one more.
    """

    def __init__(self, ledger: FileLedger, without: Collection[str], known: ImportIndex) -> None:
        self._ledger, self._without, self._known = ledger, without, known
        self._batches: list[StagedBatch] = []
        self._between: list[Append] = []
        self._leaves = 0

    @property
    def empty(self) -> bool:
        return not self._leaves

    def records(self, match: str, version: int, records: tuple[Record, ...]) -> None:
        if records:
            self._between.append(Append(match, version, records, now_ms()))
            self._leaves += 1

    def hands(self, hands: Any, count: int, *, as_batch: bool) -> None:
        if as_batch:
            self._joined()
            self._batches.append(decode_batch(hands))
        else:
            self._between += from_payload(hands)
        self._leaves += count

    def flush_midway(self) -> None:
        """A file of so many hands becomes several segments."""
        self.flush_if_full()

    def flush_if_full(self) -> None:
        if self._leaves >= SEAL_HANDS:
            self.flush()

    def flush(self) -> None:
        self._joined()
        if self._batches:
            self._known.save()
        if self._leaves >= CLOSE_HANDS or len(self._batches) > FEW:
            self._ledger.append_batches(self._batches, self._without)
        else:
            self._ledger.append(*(append for batch in self._batches for append in batch.appends()))
        self._batches, self._leaves = [], 0

    def _joined(self) -> None:
        if self._between:
            self._batches.append(make_batch(self._ledger.nonces, self._between))
            self._between = []


class _MatchImport:
    """Writes the match of one file, which begins with a hand that is new, bad or in conflict."""

    def __init__(
        self,
        outcome: ImportOutcome,
        way: "_AppendBatch | _StagedBatches",
        beginning: tuple[Record, ...],
        known: Sequence[Record],
    ) -> None:
        self._found, self._way = outcome, way
        self._beginning = () if known else beginning
        self._version = len(known)
        self._repeats = RepeatNotes()
        self._won: Counter[str] = Counter()
        self._events = 0
        self.added = 0

    def add(self, part: CheckedChunk) -> None:
        """Write a chunk: its notes and its new hands."""
        self.count(part)
        chunk = part.chunk
        notes, hands = read_chunk(chunk)
        count = chunk.hands - len(part.again)
        if part.again:
            gone = {f"hand {number}" for number in part.again}
            notes = tuple(note for note in notes if getattr(note, "dialect", "") not in gone)
        if count:
            self._write(notes)
        if count and part.again:
            self._way.hands(to_payload(part.new), count, as_batch=False)
        elif count:
            self._way.hands(hands, count, as_batch=chunk.as_batch)
        self.added += count
        self._events += sum(len(one.events) for one in part.new) if part.again else chunk.events

    def count(self, part: CheckedChunk) -> None:
        """Count what was won in the new hands of a chunk, and note the repeated ones."""
        self._repeats.add(part)
        if not part.again:
            self._won.update(part.chunk.nets)
        for append in part.new if part.again else ():
            end = replay(append.events)  # type: ignore[arg-type]
            start = end.start
            for player, was, now in zip(start.players, start.stacks, end.stacks, strict=True):
                self._won[player] += now - was

    def end(self, left_out: tuple[SourceNoted, ...]) -> None:
        """End the match if it has begun; else name the match that has its hands."""
        found, last = self._found, list[Record]()
        if found.again:
            found.nets = {player: self._won[player] for player in found.nets}
            found.events = self._events
            assert found.format is not None
            if self._version or self._repeats.differ:
                last.append(self._repeats.note(found.format))
        if self._version or last or left_out:
            self._write((*last, *left_out, MatchEnded(tuple(found.nets.values()), READ_WHOLE)))
        else:
            found.match = split_stream(next(iter(found.elsewhere.values())))[0]

    def _write(self, records: tuple[Record, ...]) -> None:
        every = (*self._beginning, *records)
        self._way.records(self._found.match, self._version, every)
        self._version += len(every)
        self._beginning = ()
