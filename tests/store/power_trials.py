"""One trial of a power loss: a random writer, a disk that fails it, and what must be there after.

The model is the ledger in memory, told of everything that was acknowledged. After every crash the
ledger on disk must hold what the model holds, and of the calls that were under way a whole number,
in their order: each is there or it is not. Then the model is told of those, too, and life goes on.
A checkpoint that somebody may have been given is never taken back: the next one is as large.
"""

import random
from collections.abc import Sequence
from unittest.mock import patch

from events.ledger import Append, Appended, Conflict, Ledger, Record
from events.match import SourceNoted
from events.types import Called, Faulted, Folded, HandEnded, HandStarted, HandVoided
from store.folder.frames import Marks
from store.ledger import VOID, FileLedger
from store.log.admission import AppendCall
from store.proof.ledger_secrets import Secrets
from store.proof.notary import last_checkpoint
from store.proof.note import Signer
from store.segments.staged_batches import make_batch
from tests.store.memory import MemoryLedger
from tests.store.simulated_disk import PowerLost, SimulatedDisk

LIVES = 5
CLOCK = 7
SECRETS = Secrets(bytes(range(32)), Signer("m.local/power", bytes(32)))
MARKED = SECRETS._replace(marks=Marks(bytes(range(32))))
Call = tuple[Append, ...]


class Model(MemoryLedger):
    """What was acknowledged."""

    @property
    def next_pos(self) -> int:
        return self._tail.next_pos

    def open(self) -> list[tuple[str, int]]:
        """The hands that have not ended, with the number of their events."""
        return [(name, one.version) for name, one in self._tail.open()]


def trial(
    seed: str, deaf: str = "", *, parquet: bool = False, batches: float = 0.1, marked: int = 0
) -> int:
    """How many times the ledger crashed; fails if it was not whole afterwards.

    `batches` is how often something is staged as a batch, past the log. From the life of number
    `marked` on, if there is one, its writers leave marks.
    """
    writer = Writer(seed, deaf)
    writer.unmarked = marked - 1
    writer.parquet, writer.batches = parquet, batches
    with patch("store.proof.notary.EVERY_LEAVES", 3):
        for _ in range(writer.chance.randint(1, LIVES - 1)):
            writer.live(fuse=writer.chance.randint(1, writer.chance.choice((8, 16, 60))))
        writer.live(fuse=-1)
        writer.live(fuse=-1)
    return writer.crashes


class Writer:
    """Somebody who appends at random and remembers what was acknowledged."""

    def __init__(self, seed: str, deaf: str) -> None:
        self.chance = random.Random(seed)
        self.disk = SimulatedDisk(f"disk of {seed}", deaf)
        self.model = Model()
        self.crashes = 0
        self.under_way: list[Call] = []
        self.told: list[Call] = []
        self.noted = True
        self.killed = False
        self.signed = 0  # so many leaves are in a checkpoint that somebody may have
        self.parquet = False  # then segments are real, and can be compacted
        self.batches = 0.0
        self.unmarked = -1  # lives before marks are left; never if it is negative
        self.strict = False  # whether a writer has come so far that everything bears a mark
        self.sequence = 0
        self.hands = 0
        self.versions: dict[str, int] = {}

    def live(self, fuse: int) -> None:
        """From opening the ledger to losing the power, or to closing it."""
        self.disk.fuse = fuse
        self.disk.names_only = self.chance.random() < 0.3
        try:
            noted, self.noted = self.noted, False
            ledger = FileLedger(
                self.disk,
                seal_hands=self.chance.choice((2, 4, 1000)),
                seal_bytes=self.chance.choice((2_000, 1 << 20)),
                clock=lambda: CLOCK,
                secrets=(secrets := self.secrets()),
            )
            self.strict = secrets is not None and secrets.marks is not None
            self.noted = True
            self.compare(ledger, noted)
            self.look()
            self.retry(ledger)
            for _ in range(self.chance.choice((0, 0, 1) if self.killed else (1, 3, 6, 12))):
                self.act(ledger)
                self.look()
            if self.chance.random() < 0.3:
                ledger.close()
                self.look()
        except PowerLost:
            self.crashes += 1
        self.killed = not self.killed and self.chance.random() < 0.5
        self.disk.restart(power_lost=not self.killed)

    def secrets(self) -> Secrets | None:
        """Those of this life; some writers have none, as long as nobody leaves marks."""
        keyless = self.chance.random() < 0.05
        if self.unmarked == 0:
            return MARKED._replace(marks=MARKED.marks and MARKED.marks._replace(strict=self.strict))
        self.unmarked -= 1
        return None if keyless else SECRETS

    def compare(self, ledger: FileLedger, noted: bool) -> None:
        """Nothing acknowledged is lost, nothing half-written is visible, open hands are voided."""
        there = list(ledger.read_from(0))
        for call in self.under_way:
            here = self.model.next_pos
            first = call[0]
            told = first.stream, first.events[0]
            if here < len(there) and told == (there[here].stream, there[here].event):
                self.model.append(*call)
        left = self.model.open()
        if left:
            void = (HandVoided(VOID),)
            self.model.append(*(Append(name, size, void, CLOCK) for name, size in left))
        assert there == list(self.model.read_from(0))
        assert [one.pos for one in there] == list(range(len(there)))
        voided = [note.split(" was open")[0] for note in ledger.notes if "voided" in note]
        assert voided == ([name for name, _ in left] if noted else voided)
        self.versions = {"m": len(self.model.read("m"))}
        for stream in self.chance.sample(
            [f"m/{number}" for number in range(self.hands)] or ["m"], 1
        ):
            assert ledger.read(stream) == self.model.read(stream)

    def look(self) -> None:
        """Somebody asks for the newest checkpoint, and keeps it."""
        known = last_checkpoint(self.disk)
        size = known.checkpoint.size if known else 0
        assert size >= self.signed
        self.signed = size

    def retry(self, ledger: FileLedger) -> None:
        """A call that was under way, and one that was answered, are answered once."""
        again, self.under_way = [*self.under_way, *self.told[-1:]], []
        for call in again:
            self.under_way = [call]
            assert outcome(ledger, call) == outcome(self.model, call)
            self.under_way = []
        self.versions = {"m": len(self.model.read("m")), **dict(self.model.open())}

    def act(self, ledger: FileLedger) -> None:
        """A group of calls, a repeat, or a seal."""
        if self.chance.random() < self.batches:
            self.adopt(ledger)
            return
        what = self.chance.random()
        if what < 0.1:
            ledger.seal()
        elif what < 0.18 and self.parquet:
            ledger.compact(large=self.chance.choice((5, 1000)), grace_ms=self.chance.choice((0, 9)))
        elif what < 0.15:
            self.retry(ledger)
        else:
            self.append([self.call() for _ in range(self.chance.choice((1, 1, 1, 2, 3)))], ledger)

    def append(self, calls: Sequence[Call], ledger: FileLedger) -> None:
        """Calls of several threads that came together; all are answered or none."""
        self.under_way = list(calls)
        waiting = [AppendCall(call) for call in calls]
        for one in waiting:
            ledger._group_commit.join(one)
        with ledger._commit:
            ledger._commit_waiting()
        ledger._group_commit.leave(waiting[0])
        self.under_way = []
        for call, done in zip(calls, waiting, strict=True):
            assert done.answer == self.model.append(*call)
            self.told.append(call)

    def adopt(self, ledger: FileLedger) -> None:
        """Up to three batches of closed hands and records, in one call."""
        calls = [self.closed() for _ in range(self.chance.choice((1, 1, 2, 3)))]
        self.under_way = [tuple(one for call in calls for one in call)]  # all of them or none
        ledger.append_batches([make_batch(ledger.nonces, call) for call in calls])
        (there,), self.under_way = self.under_way, []
        self.model.append(*there)

    def closed(self) -> Call:
        """What a staged batch may hold: whole hands, and records of the match."""
        found = []
        for _ in range(self.chance.choice((1, 2, 4))):
            self.sequence += 1
            text = "x" * self.chance.choice((0, 5, 600))
            stream = "m" if self.chance.random() < 0.3 else f"m/{self.hands}"
            events: tuple[Record, ...] = (SourceNoted("phh", "", text, str(self.sequence)),)
            if stream != "m":
                self.hands += 1
                start = HandStarted(stream, "g", "r", 0, ("a", "b"), (9, 9))
                events = (start, Faulted(0, text, "late", "action"), HandEnded())
            version = self.versions.get(stream, 0)
            found.append(Append(stream, version, events, self.chance.randint(0, 99)))
            if stream == "m":
                self.versions["m"] = version + 1
        return tuple(found)

    def call(self) -> Call:
        """Up to three appends of one producer: hands begun, carried on and ended, and records."""
        self.sequence += 1
        producer = self.chance.choice(("ann", "bob", "cat", ""))
        drawn = []
        for _ in range(self.chance.choice((1, 1, 2, 3))):
            stream, events = self.drawn()
            version = self.versions.get(stream, 0)
            drawn.append(
                Append(stream, version, events, self.chance.randint(0, 99), producer, self.sequence)
            )
            self.versions[stream] = version + len(events)
            if isinstance(events[-1], HandEnded):
                del self.versions[stream]
        return tuple(drawn)

    def drawn(self) -> tuple[str, tuple[Record, ...]]:
        text = "x" * self.chance.choice((0, 5, 600, 1500))
        open_hands = [stream for stream in self.versions if "/" in stream]
        what = self.chance.random()
        if what < 0.15:
            return "m", (SourceNoted("phh", "", text, str(self.sequence)),)
        if what < 0.6 or not open_hands:
            stream = f"m/{self.hands}"
            self.hands += 1
            start = HandStarted(stream, "g", "r", 0, ("a", "b"), (9, 9))
            end = (HandEnded(),) if self.chance.random() < 0.5 else ()
            return stream, (start, Faulted(0, text, "late", "action"), *end)
        stream = self.chance.choice(open_hands)
        if self.chance.random() < 0.5:
            return stream, (Called(0, self.sequence, None),)
        return stream, (Folded(0, None), HandEnded())


def outcome(ledger: Ledger, call: Call) -> tuple[Appended, ...] | str:
    """The answer, or why there is none."""
    try:
        return ledger.append(*call)
    except Conflict as refusal:
        return str(refusal)
