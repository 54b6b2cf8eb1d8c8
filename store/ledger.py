"""The ledger on disk, for the one process that writes it.

    manifest.json        what the ledger is, replaced as a whole at every seal
    log/*.log            the hot log: every write in a frame, synced before it is answered
    segments/*.parquet   sealed streams, immutable, with their projections beside them
    rulesets/*.json      what hands were dealt by, each text once
    tree/*, keys         the tree over all that closed, and who signed for its head
    private/*            the secrets of the one who writes; nobody else may read them
    lock, watermark      who writes; how far readers may believe the log

An append is decided by `Admission`, written by `HotLog`, counted by `Tail`. Callers who come while
the disk is busy wait together, and the first of them writes for all: one frame, one sync. The one
who fills the log seals it (`sealing.py`), and the others wait; so memory holds one log and no more.
Staged batches go past the log into a segment (`segments/staged_batches.py`, `sealing.py`).

Memory is ahead of the disk only inside `_at_stake`. Whatever fails there breaks the ledger: it
answers nothing more, for what memory says may not be so, and a failed sync must not be tried again
(the second would succeed without having written). Opening the ledger again recovers it.
"""

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from events.ledger import Append, Appended, Recorded, is_match
from events.types import HandVoided
from store.folder.disk import Disk, Lock, RealDisk, make_durable_folder, now_ms
from store.folder.frames import Damaged
from store.folder.manifest import Manifest, keep_ruleset
from store.log.admission import Admission, AdmittedCall, AppendCall, GroupCommit, decode_call
from store.log.hot_log import ReadyLedger
from store.log.streams import Tail, publish_watermark
from store.proof.checkpoint import CheckpointMemory
from store.proof.ledger_secrets import SecretFolder, Secrets
from store.proof.notary import Notary, open_secrets
from store.proof.witness_policy import keep_checkpoint_before
from store.recovery import drop_leftovers, ready_notary, recover
from store.segments.parquet_files import LEVEL
from store.segments.sealed_segments import SealedSegments, in_position_order
from store.segments.sealing import (
    GRACE_MS,
    LARGE,
    QUICK,
    Bar,
    add_batches,
    check_batch_nonces,
    compact,
    rebuild,
    seal,
    sweep,
)
from store.segments.staged_batches import StagedBatch
from store.tables.projection import Projection

SEAL_HANDS = 20_000
SEAL_BYTES = 1 << 26
CLOSE_HANDS = 1_000  # so many are worth a segment that is not full
VOID = "the writer was gone before the hand was over"


class LedgerBroken(OSError):
    """The disk has failed this ledger: it must be opened again, nothing is retried."""


class FileLedger:
    """A ledger in a folder; `notes` says in sentences what recovery found."""

    _found: ReadyLedger

    def __init__(
        self,
        disk: Disk,
        projections: Sequence[Projection] = (),
        *,
        seal_hands: int = SEAL_HANDS,
        seal_bytes: int = SEAL_BYTES,
        clock: Callable[[], int] | None = None,
        secrets: Secrets | None = None,
        remembered: CheckpointMemory | None = None,
    ) -> None:
        self._disk = disk
        self._projections = tuple(projections)
        self._seal_hands = seal_hands
        self._seal_bytes = seal_bytes
        self._clock = clock or now_ms
        self._commit = threading.Condition()
        self._group_commit = GroupCommit()
        self._broken = ""
        self._closed = False
        self.marks = secrets.marks if secrets else None
        self.folder = disk.root if isinstance(disk, RealDisk) else None
        with self._at_stake("opening the ledger"):
            self._use(recover(disk, self.marks))
            self._notary = self._signing(secrets, remembered) if secrets else None
            drop_leftovers(disk, self._found.manifest)
            self._published()
            self.notes = list(self._found.notes)
        self.nonces = self._notary.salts.now if self._notary else None  # that batches are made with
        self._signed_at = self._clock()
        self._void_open()

    def append(self, *appends: Append) -> tuple[Appended, ...]:
        """Append events, durable on return; callers who come together share one write and sync."""
        return self._called(AppendCall(appends)) if appends else ()

    def append_spelled(self, payload: bytes) -> tuple[Appended, ...]:
        """Append a call that comes as bytes: they are read once, not written and read again."""
        return self._called(decode_call(payload))

    def append_batches(self, batches: Sequence[StagedBatch], without: Collection[str] = ()) -> None:
        """Append all of these batches or none, sealed and durable on return, past the log. Some
        projections may be left for later."""
        if not batches:
            return
        with self._commit:
            self._check_open()
            check_batch_nonces(batches, self.nonces)
            self._admission.check_closed(leaf[:3] for batch in batches for leaf in batch.leaves)
            self._seal()  # what closed before takes its sequence numbers before
            with self._at_stake("adopting"):
                found, producers = self._found, self._admission.producers
                wanted = [one for one in self._projections if one.name not in without]
                now = found, self._tail, producers, wanted, self._notary
                self._use(add_batches(self._disk, *now, batches))
                self._published()
                self._signed_at = self._clock()
            self._commit.notify_all()

    def attest(self, match: str, first: int) -> bytes | None:
        """A checkpoint over all that has closed, kept as the one from before this hand."""
        with self._commit:
            self._check_open()
            self._sign()
            return keep_checkpoint_before(self._disk, match, first) if self._notary else None

    def _called(self, call: AppendCall) -> tuple[Appended, ...]:
        try:
            if not self._group_commit.join(call):
                call.turn.acquire()
            if not call.settled:
                with self._commit:
                    self._commit_waiting()
        finally:
            self._group_commit.leave(call)
        return call.answered()

    def read(self, stream: str) -> tuple[Recorded, ...]:
        """Read all events of one stream, sealed part first."""
        with self._commit:
            self._check_sound()
            tail = self._tail.read(stream)
            sealed = self._sealed
        if tail and tail[0].index == 0:
            return tail
        return (*sealed.read(stream), *tail)

    def read_from(self, pos: int) -> Iterator[Recorded]:
        """Every event from a position on, as of now."""
        with self._commit:
            self._check_sound()
            tail = self._tail.read_from(pos)
            sealed = self._sealed
        yield from in_position_order(sealed.read_from(pos), tail)

    def follow(self, pos: int) -> Iterator[Recorded]:
        """Read events from a position on, then those to come, until the ledger is closed."""
        while True:
            for recorded in self.read_from(pos):
                pos = recorded.pos + 1
                yield recorded
            with self._commit:
                while self._tail.next_pos <= pos and not (self._closed or self._broken):
                    self._commit.wait()
                if self._tail.next_pos <= pos and self._closed:
                    return

    def keep_ruleset(self, fingerprint: str, text: bytes) -> None:
        """Keep a ruleset's text, durable on return: hands are judged by it in years to come."""
        with self._commit:
            self._check_open()
            with self._at_stake("keeping a ruleset"):
                keep_ruleset(self._disk, fingerprint, text)

    @property
    def next_pos(self) -> int:
        """The position that the next event will have."""
        return self._tail.next_pos

    def seal(self) -> None:
        """Seal everything that has closed into a segment now."""
        with self._commit:
            self._check_open()
            self._seal()

    def seal_if_worth(self) -> None:
        """Seal the log's closed hands if they are many: readers decode them at each question."""
        with self._commit:
            self._check_open()
            if len(self._tail.closed) >= CLOSE_HANDS:
                self._seal(QUICK)  # it is not full, and will be merged

    def compact(
        self, large: int = LARGE, grace_ms: int = GRACE_MS, bar: Bar = lambda doing: iter
    ) -> tuple[Manifest, Manifest]:
        """Small segments become large ones, projections current; the manifests before and after."""
        with self._commit:
            self._check_open()
            with self._at_stake("compacting"):
                at, before, tables = self._clock(), self._found.manifest, self._projections
                merge, make = bar("merging segments"), bar("making tables")
                now = compact(self._disk, before, tables, at, large, self.marks, merge)
                now = rebuild(self._disk, now, tables, at, self.marks, make)
                now = sweep(self._disk, now, at, grace_ms, self.marks)
                self._found = self._found._replace(manifest=now)
                self._sealed = SealedSegments(self._disk, now.segments)
                return before, now

    def close(self) -> None:
        """Sign for what has closed, and seal it if it is worth a segment; it is durable already."""
        with self._commit:
            if self._closed:
                return
            try:
                if not self._broken:
                    self.seal_if_worth()
                    self._sign()
            finally:
                self._closed = True
                self._found.log.close()
                self._commit.notify_all()

    def _commit_waiting(self) -> None:
        """The group commit: the first caller commits for all who wait."""
        calls = self._group_commit.group()
        try:
            self._check_open()
            with self._at_stake("writing"):
                self._write(calls)
        except LedgerBroken:
            pass
        finally:  # also when somebody pressed Ctrl-C in here
            for call in calls:
                if not call.settled:
                    call.refusal = LedgerBroken(self._why())
                call.turn.release()
            self._commit.notify_all()
        with suppress(LedgerBroken):  # these appends are durable; the next call is told
            if self._is_full():
                self._seal()
            elif self._is_due():
                self._sign()

    def _write(self, calls: Sequence[AppendCall]) -> None:
        """Decide, write, then answer: nobody hears of anything that is not durable."""
        decided = [(call, self._admit(call)) for call in calls]
        pos = next((one.placed[0].pos for _, one in decided if one and one.placed), None)
        if pos is not None:
            log = self._found.log
            log.write(pos, [call.payload for call, one in decided if one and one.placed])
            self._published()
        for call, one in decided:
            if one:
                call.answer = one.answers

    def _admit(self, call: AppendCall) -> AdmittedCall | None:
        try:
            return self._admission.admit(call.appends)
        except Exception as refusal:  # nothing has been counted yet: only this call is concerned
            call.refusal = refusal
            return None

    def _is_full(self) -> bool:
        if not self._tail.closed or self._broken or self._closed:
            return False
        grown = self._found.log.size - self._found.manifest.log_size
        return len(self._tail.closed) >= self._seal_hands or grown >= self._seal_bytes

    def _seal(self, level: int = LEVEL) -> None:
        if self._tail.closed:
            with self._at_stake("sealing"):
                producers = self._admission.producers
                now = self._found, self._tail, producers, self._projections, self._notary
                self._use(seal(self._disk, *now, level))
                self._published()
                self._signed_at = self._clock()

    def _is_due(self) -> bool:
        """Whether a checkpoint is to be signed now."""
        if self._notary is None or self._broken or self._closed:
            return False
        elapsed = self._clock() - self._signed_at
        return self._notary.is_due(len(self._tail.closed), elapsed)

    def _sign(self) -> None:
        """A checkpoint over everything that has closed."""
        if self._notary is not None:
            with self._at_stake("signing"):
                self._notary.sign(self._tail.closed)
                self._signed_at = self._clock()

    def _signing(self, secrets: Secrets, remembered: CheckpointMemory | None) -> Notary:
        """The notary of this ledger, if the ledger holds all that was signed for before."""
        now = self._found, self._sealed, self._tail
        notary, found = ready_notary(self._disk, secrets, *now, remembered, self._clock())
        if found is not self._found:
            self._use(found)
        return notary

    def _use(self, found: ReadyLedger) -> None:
        """Begin again in memory from a manifest and the calls of its log."""
        self._found = found
        self._sealed = SealedSegments(self._disk, found.manifest.segments)
        self._tail = Tail(found.manifest)
        producers = dict(found.manifest.producers)
        self._admission = Admission(self._tail, producers, lambda it: self._sealed.version(it))
        for call in found.calls:
            answers = [self._tail.add(*placed) for placed in call]
            if call[0].pos >= found.manifest.next_pos:
                self._check_once(one.append for one in call)
                self._admission.remember(call[0].append, answers)

    def _published(self) -> None:
        """Readers may believe the log so far."""
        publish_watermark(self._disk, self._found.log.path, self._found.log.size)

    def _check_once(self, appends: Iterable[Append]) -> None:
        """Damage, if the log begins a hand that is sealed already."""
        for append in appends:
            begins = not (append.expected or is_match(append.stream))
            if begins and self._sealed.version(append.stream) is not None:
                why = f"{self._found.log.path} begins {append.stream} again, which has ended and"
                raise Damaged(f"{why} is sealed: one hand has one record")

    def _void_open(self) -> None:
        """Hands left open by a dead writer are voided together: every contribution goes back."""
        left = [(name, one.version) for name, one in self._tail.open() if not is_match(name)]
        if left:
            void = (HandVoided(VOID),)
            at = self._clock()
            self.append(*(Append(name, version, void, at) for name, version in left))
            self.notes += [
                f"{name} was open: voided after {events} events" for name, events in left
            ]

    @contextmanager
    def _at_stake(self, doing: str) -> Iterator[None]:
        """Mark the ledger broken if the block fails: memory and disk may differ."""
        try:
            yield
        except BaseException as failure:
            self._broken = f"{doing} failed: {_reason(failure)}"
            if isinstance(failure, Damaged) or not isinstance(failure, Exception):
                raise
            raise LedgerBroken(self._why()) from failure

    def _check_open(self) -> None:
        if self._broken or self._closed:
            raise LedgerBroken(self._why())

    def _check_sound(self) -> None:
        if self._broken:
            raise LedgerBroken(self._why())

    def _why(self) -> str:
        if self._closed and not self._broken:
            return "the ledger is closed"
        return f"{self._broken}; what was acknowledged is safe: open the ledger again"


def open_ledger(
    folder: Path,
    doing: str,
    projections: Sequence[Projection] = (),
    remembered: CheckpointMemory | None = None,
) -> tuple[FileLedger, Lock]:
    """The ledger of a folder, for its one writer; not one that is behind what is remembered."""
    try:
        make_durable_folder(folder, 0o700)  # it holds every seat's cards: opening it up is a choice
        lock = Lock(folder, doing)
    except OSError as failure:
        raise LedgerBroken(f"{folder} cannot be written: {_reason(failure)}") from failure
    try:
        disk = RealDisk(folder)
        secrets = open_secrets(folder, disk)
        known = remembered or CheckpointMemory()
        ledger = FileLedger(disk, projections, secrets=secrets, remembered=known)
        SecretFolder(folder).settle()
        return ledger, lock
    except BaseException:
        lock.release()
        raise


def _reason(failure: BaseException) -> str:
    """The reason of a failure in a few words, without the number of the error."""
    if isinstance(failure, OSError) and failure.strerror:
        return f"{failure.filename}: {failure.strerror}" if failure.filename else failure.strerror
    return str(failure) or type(failure).__name__
