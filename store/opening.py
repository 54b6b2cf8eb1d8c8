"""Opening a ledger for its writer: putting right what a crash left, and finding who signs for it.

Nothing is guessed. What a crash can leave is told in a sentence; what no crash explains is damage
and is refused, and then no file is changed.

A ledger from before there were marks is taken over once: what its checkpoint speaks of is compared,
the rest is counted and told, and the log is written again with marks. From then on
`private/log.key` says that nothing without a mark is taken.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from store.folder import manifest
from store.folder.disk import Disk
from store.folder.frames import Damaged, Marks, new_begin
from store.folder.manifest import Manifest
from store.log import hot
from store.log.hot import ReadyLedger, durable_bytes_are_there, torn
from store.log.leaf import Closed, Tail, last_mark
from store.proof.checkpoint import Remembered, accept
from store.proof.notary import Notary
from store.proof.private import Secrets
from store.proof.tree_file import FOLDER as TREE
from store.segments.sealed import Sealed
from store.segments.sealing import logged
from store.segments.segment import FOLDER as SEGMENTS

_OURS = (".log", ".parquet", ".tmp")


def recover(disk: Disk, marks: Marks | None = None) -> ReadyLedger:
    """The ledger of a folder; a new one where there is none."""
    for folder in (hot.FOLDER, SEGMENTS):
        disk.make_folder(folder)
    now = manifest.read(disk, marks)
    if now is None:
        return _new_ledger(disk, marks)
    if now.begin and marks is None:
        raise Damaged(
            "private/log.key is missing: without it nobody can tell what this ledger's writer wrote"
            " from what somebody else did; put it back from a copy"
        )
    paths = {f"{folder}/{name}" for folder in (hot.FOLDER, SEGMENTS) for name in disk.names(folder)}
    for path in (now.log, *(file for segment in now.segments for file in segment.files.values())):
        if path not in paths:
            raise Damaged(f"{path} is missing: {manifest.PATH} names it")
    chain = now.chain(marks)
    recovered = hot.read(disk, now.log, chain=chain)
    durable_bytes_are_there(last_mark(disk), now, recovered)
    notes = [torn(now.log, recovered)] if recovered.torn else []
    log = hot.reopen(disk, now.log, recovered, chain)
    disk.sync_folder("")  # a writer that was killed may have renamed what no disk has seen yet
    return ReadyLedger(now, log, recovered.calls, tuple(notes), marks)


def _new_ledger(disk: Disk, marks: Marks | None) -> ReadyLedger:
    """A folder without a manifest is new, or the first opening was cut short."""
    for name in disk.names(SEGMENTS):
        raise Damaged(f"{manifest.PATH} is missing, but {SEGMENTS}/{name} is there")
    for name in disk.names(hot.FOLDER):
        if disk.read(f"{hot.FOLDER}/{name}"):
            raise Damaged(f"{manifest.PATH} is missing, but {hot.FOLDER}/{name} is not empty")
    new = Manifest(0, hot.path_of(0), 0, 0, 0, begin=new_begin() if marks else "")
    log = hot.create(disk, new.log, [], new.chain(marks))
    manifest.write(disk, new, marks)
    return ReadyLedger(new, log, (), marks=marks)


def drop_leftovers(disk: Disk, now: Manifest) -> None:
    """Files of ours that no manifest names are left over from a crash.

    Only once it is known that this is the newest manifest: otherwise they are hands.
    """
    named = {now.log, *now.retired}
    named.update(file for segment in now.segments for file in segment.files.values())
    for folder in (hot.FOLDER, SEGMENTS):
        for name in disk.names(folder):
            if name.endswith(_OURS) and f"{folder}/{name}" not in named:
                disk.remove(f"{folder}/{name}")


def signing(
    disk: Disk,
    secrets: Secrets,
    found: ReadyLedger,
    sealed: Sealed,
    tail: Tail,
    remembered: Remembered | None,
    at: int,
) -> tuple[Notary, ReadyLedger]:
    """Who signs for this ledger, and the ledger, which is all that was ever signed for."""
    now, closed = found.manifest, tail.closed
    notary = Notary(disk, secrets, now.tree, remembered)
    root = notary.root
    for segment in now.segments:  # what was sealed before there was a tree is put into it
        if segment.last_seq >= notary.size:
            leaves = sealed.leaves(segment)
            notary.catch_up(leaf for leaf in leaves if leaf.hand_seq >= notary.size)
    signed = notary.signed
    for path, sentence in notary.check(closed):
        accept(disk, at, sentence, path)
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
        found = logged(disk, found, replace(now, root=notary.root), found.calls)
        note = _taken_over(signed, now.next_seq, notary.size + len(closed), closed)
        found = found._replace(notes=(*found.notes, note))
    return notary, found


def _taken_over(signed: int, sealed: int, count: int, closed: Sequence[Closed]) -> str:
    """What is said of a ledger whose writers left no marks."""
    note = "this ledger is from before writers left marks; from now on nothing without one is taken"
    if signed >= count:
        return f"{note}. All {count:,} closed streams are those that were signed for"
    first = closed[signed - sealed].stream if signed >= sealed else f"what closed as {signed}"
    return f"{note}. Nobody vouches for {count - signed:,} closed streams, from {first} on"
