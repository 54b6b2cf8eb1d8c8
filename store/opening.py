"""Opening a ledger for its writer: who signs for it, what was signed before, and the first marks.

A ledger from before there were marks is taken over once: what its checkpoint speaks of is compared,
the rest is counted and told, and the log is written again with marks. From then on
`private/log.key` says that nothing without a mark is taken.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from store.folder import manifest
from store.folder.disk import Disk
from store.folder.frames import Damaged
from store.log.recovery import Found
from store.log.tail import Closed, Tail
from store.proof.checkpoint import Remembered, accept
from store.proof.notary import Notary
from store.proof.private import Secrets
from store.proof.tree_file import FOLDER
from store.segments.sealed import Sealed
from store.segments.sealing import logged


def signing(
    disk: Disk,
    secrets: Secrets,
    found: Found,
    sealed: Sealed,
    tail: Tail,
    remembered: Remembered | None,
    at: int,
) -> tuple[Notary, Found]:
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
        raise Damaged(
            f"{FOLDER}/0 is not the tree whose head is in {manifest.PATH}: it was changed"
        )
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
