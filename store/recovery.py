"""Recovery: check a ledger's files, find damage, and put right what a crash left.

Opening for a writer guesses nothing. What a crash can leave is told in a sentence; what no crash
explains is damage and is refused, and then no file is changed. A check reads every byte of every
file and mends nothing. With the key of its writer, marks are compared, too: then nobody who has
only the folder can have changed or added a hand. That each sealed hand has the digest in its leaf
is for `verify.py`.

A ledger from before there were marks is taken over once: what its checkpoint speaks of is compared,
the rest is counted and told, and the log is written again with marks. From then on
`private/log.key` says that nothing without a mark is taken.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from msgspec.structs import replace

from store.folder import manifest
from store.folder.disk import Disk, sha256_of
from store.folder.frames import Damaged, Marks, random_log_begin
from store.folder.manifest import Manifest
from store.log import hot_log
from store.log.hot_log import FOLDER, ReadyLedger, check_durable, torn_note
from store.log.streams import Tail, read_watermark
from store.proof.checkpoint import (
    ROLLBACKS,
    Checkpoint,
    CheckpointMemory,
    accept_rollback,
    rollbacks,
)
from store.proof.ledger_secrets import Secrets, salts_of
from store.proof.notary import CHECKPOINT, Notary, last_checkpoint, public_keys
from store.proof.tree import frontier, leaf_hash
from store.proof.tree_file import FOLDER as TREE
from store.proof.tree_file import TreeFiles, path_of
from store.segments.parquet_files import FOLDER as SEGMENTS
from store.segments.sealed_segments import SealedSegments
from store.segments.sealing import with_new_log

_OURS = (".log", ".parquet", ".tmp")


def recover(disk: Disk, marks: Marks | None = None) -> ReadyLedger:
    """The ledger of a folder; a new one where there is none."""
    for folder in (FOLDER, SEGMENTS):
        disk.make_folder(folder)
    now = manifest.read(disk, marks)
    if now is None:  # it is new, or the first opening was cut short
        for name in disk.names(SEGMENTS):
            raise Damaged(f"{manifest.PATH} is missing, but {SEGMENTS}/{name} is there")
        for name in disk.names(FOLDER):
            if disk.read(f"{FOLDER}/{name}"):
                raise Damaged(f"{manifest.PATH} is missing, but {FOLDER}/{name} is not empty")
        new = Manifest(0, hot_log.path_of(0), 0, 0, 0, begin=random_log_begin() if marks else "")
        log = hot_log.create(disk, new.log, [], new.chain(marks))
        manifest.write(disk, new, marks)
        return ReadyLedger(new, log, (), marks=marks)
    if now.begin and marks is None:
        raise Damaged(
            "private/log.key is missing: without it nobody can tell what this ledger's writer wrote"
            " from what somebody else did; put it back from a copy"
        )
    paths = {f"{folder}/{name}" for folder in (FOLDER, SEGMENTS) for name in disk.names(folder)}
    for path in (now.log, *(file for segment in now.segments for file in segment.files.values())):
        if path not in paths:
            raise Damaged(f"{path} is missing: {manifest.PATH} names it")
    chain = now.chain(marks)
    recovered = hot_log.read(disk, now.log, chain=chain)
    check_durable(read_watermark(disk), now, recovered)
    notes = [torn_note(now.log, recovered)] if recovered.torn else []
    log = hot_log.reopen(disk, now.log, recovered, chain)
    disk.sync_folder("")  # a writer that was killed may have renamed what no disk has seen yet
    if TREE in disk.names(""):
        disk.sync_folder(TREE)
    return ReadyLedger(now, log, recovered.calls, tuple(notes), marks)


def drop_leftovers(disk: Disk, now: Manifest) -> None:
    """Files of ours that no manifest names are left over from a crash.

    Only once it is known that this is the newest manifest: otherwise they are hands.
    """
    named = {now.log, *now.retired}
    named.update(file for segment in now.segments for file in segment.files.values())
    for folder in (FOLDER, SEGMENTS):
        for name in disk.names(folder):
            if name.endswith(_OURS) and f"{folder}/{name}" not in named:
                disk.remove(f"{folder}/{name}")


def ready_notary(
    disk: Disk,
    secrets: Secrets,
    found: ReadyLedger,
    sealed: SealedSegments,
    tail: Tail,
    remembered: CheckpointMemory | None,
    at: int,
) -> tuple[Notary, ReadyLedger]:
    """The notary of a ledger and the ledger, which must hold all that was ever signed for."""
    now, closed = found.manifest, tail.closed
    notary = Notary(disk, secrets, now.tree, remembered)
    root = notary.root
    for segment in now.segments:  # what was sealed before there was a tree is put into it
        if segment.last_seq >= notary.size:
            leaves = sealed.leaves(segment)
            notary.catch_up(leaf for leaf in leaves if leaf.hand_seq >= notary.size)
    signed = notary.signed
    for path, sentence in notary.check(closed):
        accept_rollback(disk, at, sentence, path)
        found = found._replace(notes=(*found.notes, f"accepted: {sentence}"))
    if now.root not in ("", root):
        raise Damaged(f"{TREE}/0 is not the tree whose head is in {manifest.PATH}: it was changed")
    notary.begin(tail.next_seq)
    if notary.size > now.tree:
        notary.sign(closed)
        now = replace(now, number=now.number + 1, tree=notary.size, root=notary.root)
        manifest.write(disk, now, found.marks if now.begin else None)
        found = found._replace(manifest=now)
    if trouble := notary.remember():
        found = found._replace(
            notes=(*found.notes, f"the checkpoint is kept here alone: {trouble}")
        )
    if found.marks and not now.begin:
        found = with_new_log(disk, found, replace(now, root=notary.root), found.calls)
        note = "this ledger is from before writers left marks; "
        note += "from now on nothing without one is taken"
        sealed_count, count = now.next_seq, notary.size + len(closed)
        if signed >= count:
            note += f". All {count:,} closed streams are those that were signed for"
        else:
            unsigned = f"what closed as {signed}"
            if signed >= sealed_count:
                unsigned = closed[signed - sealed_count].stream
            note += f". Nobody vouches for {count - signed:,} closed streams, from {unsigned} on"
        found = found._replace(notes=(*found.notes, note))
    return notary, found


TRIES = 10


class Finding(NamedTuple):
    """A finding in one file: from which byte, and in or after which hand, as far as is known.

    A `note` is nothing wrong: the end of a write that a crash cut short, or that is under way.
    """

    file: str
    place: int | None
    hand: str
    sentence: str
    note: bool = False


def check_files(
    disk: Disk, marks: Marks | None = None, fingerprint: Callable[[bytes], str] | None = None
) -> tuple[Finding, ...]:
    """Check all files of a ledger; again if somebody sealed meanwhile.

    `fingerprint` tells that of a ruleset's text: then those that are kept are compared.
    """
    for _ in range(TRIES):
        try:
            now = manifest.read(disk, marks)
            if now is None:
                raise Damaged(f"{manifest.PATH} is missing: nothing says what the ledger is")
            findings = (*_segments(disk, now), *_log(disk, now, marks))
            findings += tuple(_rulesets(disk, fingerprint))
            for rollback in rollbacks(disk):  # somebody went on with an older copy of the ledger
                moment = datetime.fromtimestamp(rollback.at // 1000, UTC)
                why = f"at {moment:%Y-%m-%dT%H:%M:%SZ} somebody went on all the same"
                findings += (
                    Finding(ROLLBACKS, None, "", f"{why}: {rollback.sentence}", note=True),
                )
            again = manifest.read(disk)
            if not findings or (again is not None and again.number == now.number):
                return findings
        except Damaged as damage:
            return (_finding(manifest.PATH, damage),)
    return (Finding(manifest.PATH, None, "", "it changes faster than it can be checked"),)


def check_end(
    disk: Disk, nonces: bytes | None = None, remembered: CheckpointMemory | None = None
) -> tuple[Finding, ...]:
    """Check that a sound ledger holds all that was signed for, here or as it is remembered.

    What is not sealed yet is hashed, which takes the secret of its nonces.
    """
    for _ in range(TRIES):
        try:
            known = last_checkpoint(disk)  # before the log: a writer may add to both meanwhile
            heads = [] if known is None else [(CHECKPOINT, known.checkpoint)]
            kept = remembered.of(public_keys(disk)) if remembered else []
            heads += [(str(path), checkpoint) for path, checkpoint in kept]
            now = manifest.read(disk)
            assert now is not None, "it was read before"
            tail = Tail(now)
            tail.add_all(hot_log.read(disk, now.log).calls)
            return tuple(_ends(disk, now, tail, heads, nonces))
        except FileNotFoundError:
            continue  # a seal has taken the log away
        except Damaged as damage:
            return (_finding(CHECKPOINT, damage),)
    return ()


def _ends(
    disk: Disk,
    now: Manifest,
    tail: Tail,
    heads: Sequence[tuple[str, Checkpoint]],
    nonces: bytes | None,
) -> Iterator[Finding]:
    """What `heads` were signed for (and where that is written) and is not there."""
    closed = tail.next_seq
    if now.tree and not (heads and heads[0][0] == CHECKPOINT):
        why = f"{CHECKPOINT} is missing, and {closed:,} streams have closed"
        yield Finding(CHECKPOINT, None, "", why)
    tree = frontier(now.tree, TreeFiles(disk))
    if now.root not in ("", tree.root().hex()):
        why = f"{path_of(0)} is not the tree whose head {manifest.PATH} has"
        yield Finding(path_of(0), None, "", why)
    most = max((head.size for _, head in heads), default=0)
    salts = None if nonces is None else salts_of(disk, nonces)
    leaves = tail.closed[: max(0, most - now.tree)] if salts else ()
    hashes = [leaf_hash(salts.leaf(it.hand_seq, it.recorded())) for it in leaves] if salts else []
    for name, head in heads:
        if head.size > closed:
            why = f"{name} was signed for {head.size:,} closed streams, and {closed:,} are there"
            yield Finding(name, None, "", f"{why}: the end is lost, or this is an older copy")
            continue
        new = head.size - now.tree
        if new > 0 and nonces is None:
            continue
        grown = tree.added(hashes[:new]) if new > 0 else frontier(head.size, TreeFiles(disk))
        if grown.root() != head.root:
            why = f"the first {head.size:,} closed streams are not those that {name} was signed for"
            yield Finding(name, None, "", f"{why}: muckrake verify --all says which")
    signed = heads[0][1].size if heads and heads[0][0] == CHECKPOINT else 0
    if heads and signed < closed:
        why = f"{closed - signed:,} of {closed:,} closed streams are not under {CHECKPOINT}"
        yield Finding(CHECKPOINT, None, "", why, note=True)


def _rulesets(disk: Disk, fingerprint: Callable[[bytes], str] | None) -> Iterator[Finding]:
    """Every ruleset that is kept has the fingerprint that hands name it by."""
    if fingerprint is None or manifest.RULESETS not in disk.names(""):
        return
    for name in disk.names(manifest.RULESETS):
        mark, dot, kind = name.rpartition(".")
        path = f"{manifest.RULESETS}/{name}"
        if not dot or kind != "json":
            continue
        try:
            named = fingerprint(disk.read(path))
        except (ValueError, TypeError, AttributeError) as reason:
            yield Finding(path, None, "", f"{path} cannot be read: {reason}")
            continue
        if named != mark:
            why = f"{path} holds the rules of {named}: hands that name {mark} lack theirs"
            yield Finding(path, None, "", why)


def _segments(disk: Disk, now: Manifest) -> Iterator[Finding]:
    """Every file of every segment has the digest that the manifest tells, and what closed is
    counted without a gap from one segment to the next."""
    for segment in now.segments:
        held = [
            f"{match}/{low}" if low == high else f"{match}/{low} to {match}/{high}"
            for match, (low, high) in segment.numbers.items()
        ]
        held += segment.records
        hands = f"what closed as {segment.first_seq} to {segment.last_seq}"
        if 0 < len(held) < 4:  # few enough to be named
            hands = " and ".join(held)
        for name, path in segment.files.items():
            try:
                digest, size = sha256_of(disk.read, path)
            except FileNotFoundError:
                yield Finding(path, None, hands, f"{path} is missing: it holds {hands}")
                continue
            known = segment.sizes.get(name, size)
            if size < known:
                why = f"{path} ends at byte {size} of {known}: it holds {hands}"
                yield Finding(path, size, hands, why)
            elif digest != segment.sha256[name]:
                why = f"{path} is not as it was sealed: it holds {hands}"
                yield Finding(path, None, hands, why)
    ends = [0, *(segment.last_seq + 1 for segment in now.segments)]
    starts = [*(segment.first_seq for segment in now.segments), now.next_seq]
    for closed, start in zip(ends, starts, strict=True):
        if start != closed:
            why = f"{manifest.PATH}: what closed as {closed} is in no segment"
            yield Finding(manifest.PATH, None, "", why)


def _log(disk: Disk, now: Manifest, marks: Marks | None) -> Iterator[Finding]:
    """Every frame is intact and bears its mark, positions have no gap, sealed and carried events
    are as many as there were positions at the last seal, and nothing durable is missing."""
    if now.log.removeprefix(f"{FOLDER}/") not in disk.names(FOLDER):
        yield Finding(now.log, None, "", f"{now.log} is missing: {manifest.PATH} names it")
        return
    try:
        mark = read_watermark(disk)  # before the log: a writer may add to both meanwhile
        recovered = hot_log.read(disk, now.log, chain=now.chain(marks))
        check_durable(mark, now, recovered)
        Tail(now).add_all(recovered.calls)
        placed = (entry for call in recovered.calls for entry in call if entry.pos < now.next_pos)
        carried = sum(len(entry.append.events) for entry in placed)
        sealed = sum(segment.events for segment in now.segments)
        if sealed + carried != now.next_pos:
            why = f"{now.log} carries {carried} events and {sealed} are sealed"
            raise Damaged(f"{why}: {now.next_pos} there were")
    except Damaged as damage:
        yield _finding(now.log, damage)
        return
    if recovered.torn:
        why = torn_note(now.log, recovered).replace("dropped", "to drop:")
        yield Finding(now.log, recovered.size, "", why, note=True)


def _finding(file: str, damage: Damaged) -> Finding:
    return Finding(file, damage.place, damage.hand, str(damage))
