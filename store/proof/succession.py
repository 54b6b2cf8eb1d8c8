"""A signing key that is replaced signs a statement over the new one first.

    replaced/N    the N-th statement: a note of four lines, signed by the old key and by the new

        muckrake key replaced v1
        OLD KEY
        NEW KEY
        SIZE ROOT

SIZE and ROOT are those of the last checkpoint that the old key signed; 0 and the head of nothing,
if there was none. The statement is durable before the new key signs anything. A key that was put
away by hand, or is lost, leaves none: then nobody but the owner says that the next one is his.
"""

from contextlib import suppress
from itertools import pairwise
from typing import NamedTuple

from store.folder.disk import Disk, put
from store.proof.checkpoint import read_hash, read_number
from store.proof.notary import last_checkpoint, public_keys
from store.proof.note import Key, Signer, open_note, sign, to_base64
from store.proof.private import SIGNING, Private
from store.proof.tree import EMPTY, Refuted

FOLDER = "replaced"
HEADER = "muckrake key replaced v1"


class Statement(NamedTuple):
    """That one key takes the place of another, from so many leaves on."""

    old: Key
    new: Key
    size: int
    root: bytes


def replace_signer(disk: Disk, private: Private, old: Signer) -> Signer:
    """A new key in the place of the old one, its statement durable first.

    Whoever opens the ledger next adds it to the known keys, and signs with it.
    """
    new = Signer.new(old.key.name)
    known = last_checkpoint(disk)
    size, root = (known.checkpoint.size, known.checkpoint.root) if known else (0, EMPTY)
    lines = [HEADER, old.key.text(), new.key.text(), f"{size} {to_base64(root)}"]
    text = "".join(f"{line}\n" for line in lines)
    disk.make_folder(FOLDER)
    put(disk, f"{FOLDER}/{len(_names(disk)) + 1}", sign(text, old, new))
    private.write(SIGNING, new.spelled())
    return new


def read_statement(note: bytes) -> Statement:
    """What a statement says, if both of its keys have signed it."""
    told = note.partition(b"\n\n")[0].decode(errors="replace").split("\n")
    if len(told) != 4 or told[0] != HEADER:
        raise Refuted(f"a statement over a key is four lines, the first of them {HEADER!r}")
    keys = Key.read(told[1]), Key.read(told[2])
    _, signed = open_note(note, keys)
    if {one.key for one in signed} != set(keys):
        raise Refuted("a statement over a key is signed by the old key and by the new one")
    size, _, root = told[3].partition(" ")
    return Statement(*keys, read_number(size, "the size in it"), read_hash(root, "the root in it"))


def doubts(disk: Disk) -> tuple[list[str], list[str]]:
    """What is wrong with the statements over this ledger's keys; and keys that have none."""
    known = public_keys(disk)
    stated, wrong = set(), []
    for name in _names(disk):
        try:
            found = read_statement(disk.read(f"{FOLDER}/{name}"))
        except (Refuted, ValueError) as reason:
            wrong.append(f"{FOLDER}/{name}: {reason}")
        else:
            stated.add((found.old, found.new))
    unstated = [
        f"{new.text()} took the place of {old.text()} without a statement by the old key"
        for old, new in pairwise(known)
        if (old, new) not in stated
    ]
    return wrong, unstated


def successors(disk: Disk, known: set[str]) -> set[str]:
    """The lines of these keys, and of those over which one of them has signed a statement."""
    found = set(known)
    for name in _names(disk):
        with suppress(Refuted, ValueError):  # what is wrong with it, `doubts` says
            told = read_statement(disk.read(f"{FOLDER}/{name}"))
            if told.old.text() in found:
                found.add(told.new.text())
    return found


def _names(disk: Disk) -> list[str]:
    if FOLDER not in disk.names(""):
        return []
    return sorted((it for it in disk.names(FOLDER) if it.isascii() and it.isdigit()), key=int)
