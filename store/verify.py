"""Verify a whole ledger: bytes, digests, the tree and its checkpoints, replay and chips.

Nothing is believed because it is stored: every leaf is made again from the events, the tree from
the leaves, and the head compared with what was signed. Nothing is mended. Whether a pot went to
the right seat is not asked here; that is what an audit is for.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from msgspec import Struct

from events.cards import UNKNOWN
from events.evolve import replay
from events.ledger import is_match
from events.lines import digest, leaf_of, lines
from events.state import Hand
from store.folder.disk import Disk, lock_owner
from store.folder.frames import Damaged, Marks
from store.log.streams import Leaf, split_stream
from store.proof.checkpoint import Checkpoint, CheckpointMemory, open_checkpoint
from store.proof.ledger_secrets import salts_of
from store.proof.notary import CHECKPOINT, KEYS, key_doubts, last_checkpoint, public_keys
from store.proof.note import Key
from store.proof.tree import EMPTY, WIDTH, Frontier, Refuted, leaf_hash
from store.proof.tree_file import FOLDER, TreeFiles, faults
from store.proof.witness_policy import PUBLISHED, last_published, policy_of
from store.reader import Snapshot
from store.recovery import check_files

_TOGETHER = 4096  # leaves whose hashes are read at once


class VerifyFault(NamedTuple):
    """A fault that was found, and where; a `note` is nothing wrong."""

    where: str
    sentence: str
    note: bool = False


class Verified(Struct, frozen=True):
    """The outcome of a verification: what was looked at, and what was found.

    Of the `leaves` so many are `signed`, under the newest checkpoint, and the others `unsigned`.
    """

    matches: int
    hands: int
    events: int
    digests: int
    leaves: int
    signed: int
    unsigned: int
    commitments: int
    replayed: int
    balanced: int
    size: int
    root: str
    signed_by: tuple[str, ...]
    wrong: tuple[VerifyFault, ...]

    @property
    def ok(self) -> bool:
        return all(finding.note for finding in self.wrong)


class Verifier:
    """Verifies a ledger in one pass; `leaves` may be watched while it goes."""

    def __init__(
        self,
        ledger: Snapshot,
        nonces: bytes,
        older: bytes | None = None,
        marks: Marks | None = None,
        remembered: CheckpointMemory | None = None,
        fingerprint: Callable[[bytes], str] | None = None,
    ) -> None:
        """Verify `self.ledger`: the one given, or newer if a checkpoint is."""
        self._disk = ledger.live.disk
        self._marks, self._remembered, self._fingerprint = marks, remembered, fingerprint
        self._salts = salts_of(self._disk, nonces)
        self._wrong: list[VerifyFault] = []
        self.keys: tuple[Key, ...] = ()  # that may have signed
        self._signed_by: tuple[str, ...] = ()
        self._signed = 0  # leaves under the newest checkpoint, as far as it is right
        self._unsigned = ""  # the first stream that is not
        self._heads = self._signed_heads(older)  # what the tree must be, at which sizes
        if max(self._heads, default=0) > ledger.next_seq:  # its writer has gone on meanwhile
            ledger = Snapshot(ledger.live, *ledger.live.refresh())
        self.ledger = ledger
        self._stored = _StoredHashes(self._disk, ledger.live.leaves_by_place()[0])
        self._tree = Frontier()
        self._new: list[bytes] = []
        self._matches: set[str] = set()
        self._records = _StreamOrder()
        self._count = dict.fromkeys(
            ("hands", "events", "digests", "leaves", "commitments", "replayed", "balanced"), 0
        )

    def leaves(self) -> Iterator[Leaf]:
        """The leaves in the order of closing, each verified when it is asked for."""
        self._files()
        try:
            for leaf in self.ledger.leaves():
                self._look(leaf)
                yield leaf
        except Damaged as damage:
            self._wrong.append(VerifyFault(damage.hand or "the ledger", str(damage)))
            return
        self._grow()
        self._ends()
        self._covers()

    def found(self, where: str, sentence: str) -> None:
        """Something wrong that a watcher of the leaves has found."""
        self._wrong.append(VerifyFault(where, sentence))

    def verified(self) -> Verified:
        """The outcome; every leaf must have been looked at."""
        return Verified(
            matches=len(self._matches),
            signed=min(self._signed, self._count["leaves"]),
            unsigned=max(0, self._count["leaves"] - self._signed),
            size=self._tree.size,
            root=self._tree.root().hex(),
            signed_by=self._signed_by,
            wrong=tuple(dict.fromkeys(self._wrong)),
            **self._count,
        )

    def _signed_heads(self, older: bytes | None) -> dict[int, list[tuple[str, Checkpoint]]]:
        """The newest checkpoint, the newest published one, one that somebody has kept, and those
        that are remembered."""
        heads: dict[int, list[tuple[str, Checkpoint]]] = {}
        try:
            self.keys = public_keys(self._disk)
            known = last_checkpoint(self._disk)
            if known is not None:
                self._signed_by = tuple(key.text() for key in known.keys)
                self._signed = known.checkpoint.size
                heads.setdefault(known.checkpoint.size, []).append((CHECKPOINT, known.checkpoint))
            if policy_of(self._disk) is not None and (shown := last_published(self._disk)):
                checkpoint = shown[0].checkpoint
                named = f"{PUBLISHED}/{checkpoint.size}"
                heads.setdefault(checkpoint.size, []).append((named, checkpoint))
            if older is not None:
                kept = open_checkpoint(older, self.keys).checkpoint
                heads.setdefault(kept.size, []).append(("the checkpoint that you kept", kept))
            for path, kept in self._remembered.of(self.keys) if self._remembered else ():
                heads.setdefault(kept.size, []).append((str(path), kept))
        except (Damaged, Refuted) as reason:
            self._wrong.append(VerifyFault("a checkpoint", str(reason)))
        return heads

    def _files(self) -> None:
        """Every byte of every file, and the stored levels of the tree above the first."""
        for finding in check_files(self._disk, self._marks, self._fingerprint):
            self._wrong.append(
                VerifyFault(finding.hand or finding.file, finding.sentence, finding.note)
            )
        for sentence in faults(self._disk, self._stored.size):
            self._wrong.append(VerifyFault("the tree", sentence))
        self._keys()

    def _keys(self) -> None:
        """Every key that was replaced has signed for the next; one that was lost could not."""
        try:
            wrong, unstated = key_doubts(self._disk)
        except Damaged:
            return  # said already
        self._wrong += [VerifyFault(KEYS, sentence) for sentence in wrong]
        self._wrong += [VerifyFault(KEYS, sentence, note=True) for sentence in unstated]

    def _look(self, leaf: Leaf) -> None:
        count = self._count
        record = lines(leaf.recorded, self._salts.of(leaf.stream, leaf.hand_seq))
        first = leaf.recorded[0].index
        hashed = leaf_hash(leaf_of(leaf.hand_seq, leaf.stream, first, len(record), digest(record)))
        if sentence := self._records.wrong(leaf):
            self._wrong.append(VerifyFault(leaf.stream, sentence))
        if leaf.hand_seq != count["leaves"]:
            why = f"it closed as {leaf.hand_seq}, and {count['leaves']} is the next"
            self._wrong.append(VerifyFault(leaf.stream, why))
        if count["leaves"] == self._signed:
            self._unsigned = leaf.stream
        count["leaves"] += 1
        count["events"] += len(leaf.recorded)
        count["commitments"] += b"".join(record).count(b'{"commitment":')
        stored = self._stored.of(leaf.hand_seq)
        if stored in (None, hashed):
            count["digests"] += 1
        else:
            why = "its events are not the ones whose digest was signed"
            self._wrong.append(VerifyFault(leaf.stream, why))
        self._matches.add(split_stream(leaf.stream)[0])
        if not is_match(leaf.stream):
            count["hands"] += 1
            self._fold(leaf)
        self._new.append(stored or hashed)
        if len(self._new) >= _TOGETHER or self._tree.size + len(self._new) in self._heads:
            self._grow()

    def _fold(self, leaf: Leaf) -> None:
        """The hand adds up, and no chip and no card is there that should not be."""
        try:
            hand = replay(recorded.event for recorded in leaf.recorded)  # type: ignore[misc]
        except (LookupError, TypeError, ValueError):
            self._wrong.append(VerifyFault(leaf.stream, "its events do not add up to a hand"))
            return
        self._count["replayed"] += 1
        sentence = chip_fault(hand) or doubled_card(hand)
        if sentence:
            self._wrong.append(VerifyFault(leaf.stream, sentence))
        else:
            self._count["balanced"] += 1

    def _grow(self) -> None:
        """The tree with the leaves so far; compared wherever somebody signed for it."""
        self._tree, self._new = self._tree.added(self._new), []
        for name, expected in self._heads.pop(self._tree.size, ()):
            if expected.root != self._tree.root():
                why = f"the first {expected.size} closed streams are not those it was signed for"
                self._wrong.append(VerifyFault(name, why))
                self._signed = 0 if name == CHECKPOINT else self._signed

    def _ends(self) -> None:
        """A checkpoint of nothing holds; one of more than there is says that the end is lost."""
        for size, named in sorted(self._heads.items()):
            for name, expected in named:
                if size == 0 and expected.root == EMPTY:
                    continue
                why = f"it was signed for {size} closed streams, and {self._tree.size} are there"
                self._wrong.append(VerifyFault(name, f"{why}: the end of the ledger is lost"))

    def _covers(self) -> None:
        """Check that all leaves are signed for, or that a writer is about to sign for them."""
        leaves, names = self._count["leaves"], self._disk.names("")
        if leaves and KEYS not in names:
            why = f"it is missing, and {leaves:,} streams have closed: nobody can check who signed"
            self._wrong.append(VerifyFault(KEYS, why))
        if not self._unsigned:
            return
        writer = lock_owner(self.ledger.live.folder)
        why = f"{leaves - self._signed:,} of {leaves:,} leaves are not under it,"
        why += f" from {self._unsigned} on"
        if FOLDER not in names or CHECKPOINT.rpartition("/")[2] not in self._disk.names(FOLDER):
            why = f"it is missing, and {leaves:,} streams have closed"
        if writer:
            why += f": {writer} signs for them when more closes, or at its end"
        else:
            why += ", and nobody is writing: whoever writes next signs for what he can vouch for"
        self._wrong.append(VerifyFault(CHECKPOINT, why, note=self._may_wait(writer, names)))

    def _may_wait(self, writer: str | None, names: list[str]) -> bool:
        """Whether there is a writer who may not have signed yet: of what is sealed he has."""
        return writer is not None and KEYS in names and self._stored.size <= self._signed


def chip_fault(hand: Hand) -> str | None:
    """The fault in the chips of a hand that has ended, as a sentence; None if there is none."""
    brought, left = sum(hand.start.stacks), sum(hand.stacks)
    if any(stack < 0 and seat not in hand.payers for seat, stack in enumerate(hand.stacks)):
        return "a seat has less than nothing at its end"
    if brought != left + hand.pot + hand.rake:
        return f"{brought} chips were brought, and {left} + {hand.pot} + {hand.rake} are there"
    if hand.pot:
        return f"{hand.pot} chips are still in the middle at its end"
    return None


def doubled_card(hand: Hand) -> str | None:
    """A card that is in two places, if there is one."""
    known = [card for cards in (*hand.hole, hand.board) for card in cards if card != UNKNOWN]
    twice = sorted(card for card in set(known) if known.count(card) > 1)
    return f"{' and '.join(twice)} in two places" if twice else None


class _StreamOrder:
    """The order of the streams so far: a hand comes once, a match's records in order."""

    def __init__(self) -> None:
        self._records: dict[str, int] = {}
        self._hands: dict[str, tuple[int, int]] = {}  # of a match, between which all are there ...
        self._beyond: dict[str, set[int]] = {}  # ... and those that came out of turn

    def wrong(self, leaf: Leaf) -> str | None:
        """The fault in the place of this leaf in its stream, as a sentence, or None."""
        match, number = split_stream(leaf.stream)
        first = leaf.recorded[0].index
        if number is None:
            known = self._records.get(match, 0)
            self._records[match] = first + len(leaf.recorded)
            return None if first == known else f"it goes on from {first} records, and had {known}"
        if first:
            return f"its leaf begins with its event {first}: one hand has one record"
        low, end = self._hands.get(match, (number, number))
        beyond = self._beyond.setdefault(match, set())
        if low <= number < end or number in beyond:
            return "it is recorded a second time: one hand has one record"
        beyond.add(number)
        while end in beyond:
            beyond.remove(end)
            end += 1
        self._hands[match] = low, end
        return None


class _StoredHashes:
    """The leaf hashes in the tree's files, read a run at a time."""

    def __init__(self, disk: Disk, size: int) -> None:
        self.size = size
        self._files = TreeFiles(disk)
        self._begin, self._run = 0, b""

    def of(self, hand_seq: int) -> bytes | None:
        """The stored hash of a leaf; None if it is not sealed."""
        if hand_seq >= self.size:
            return None
        if not self._begin <= hand_seq < self._begin + len(self._run) // WIDTH:
            end = min(self.size, hand_seq + _TOGETHER)
            self._begin, self._run = hand_seq, self._files.hashes(0, hand_seq, end)
        at = (hand_seq - self._begin) * WIDTH
        return self._run[at : at + WIDTH]
