"""Checkpoints, as C2SP tlog-checkpoint writes them: origin, size and root of the tree, signed.

Ours have three lines and no more: what a log may add below them is refused, because nobody checks
it. The log's key has the origin for its name.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from msgspec import Struct

from store.proof.note import (
    SIGNS,
    WITNESSES,
    Key,
    Note,
    Signed,
    Signer,
    from_base64,
    parse,
    to_base64,
    verify,
)
from store.proof.note import sign as sign_text
from store.proof.tree import EMPTY, WIDTH, Refuted

_NUMBER = re.compile(r"0|[1-9][0-9]{0,18}", re.ASCII)
NUMBER_MAX = 2**63 - 1


class Checkpoint(Struct, frozen=True):
    """How large the tree of this log was, and its head."""

    origin: str
    size: int
    root: bytes

    def text(self) -> str:
        return f"{self.origin}\n{self.size}\n{to_base64(self.root)}\n"


class Opened(NamedTuple):
    """A checkpoint that its log has signed, by which of its keys, and who else has seen it."""

    checkpoint: Checkpoint
    keys: tuple[Key, ...]
    witnesses: tuple[Signed, ...] = ()


def sign(checkpoint: Checkpoint, *signers: Signer) -> bytes:
    """The checkpoint as a note; while keys are changed, the old and the new both sign."""
    assert all(signer.key.name == checkpoint.origin for signer in signers)
    return sign_text(checkpoint.text(), *signers)


def cosign(note: bytes, witness: Signer, at: int) -> bytes:
    """The same note with a witness's signature below the others."""
    parsed = parse(note)
    read_checkpoint(parsed.text)
    return Note(parsed.text, (*parsed.signatures, witness.cosign(parsed.text, at))).format()


def open_checkpoint(note: bytes, keys: Iterable[Key], witnesses: Iterable[Key] = ()) -> Opened:
    """A checkpoint that one of the log's keys has signed; else `Refuted`.

    The signature of any known key or witness that does not hold spoils it.
    """
    parsed = parse(note)
    checkpoint = read_checkpoint(parsed.text)
    logs, others = tuple(keys), tuple(witnesses)
    assert all(key.kind == SIGNS for key in logs)
    assert all(key.kind == WITNESSES for key in others)
    fitting = [key for key in logs if key.name == checkpoint.origin]
    if not fitting:
        known = ", ".join(sorted({key.name for key in logs})) or "none"
        raise Refuted(f"a checkpoint of {checkpoint.origin}, of which no key is known, but {known}")
    found = verify(parsed, (*fitting, *others))
    own = tuple(one.key for one in found if one.key.kind == SIGNS)
    if not own:
        raise Refuted(f"a checkpoint that {checkpoint.origin} has not signed itself")
    return Opened(checkpoint, own, tuple(one for one in found if one.key.kind == WITNESSES))


def read_checkpoint(text: str) -> Checkpoint:
    """The three lines of a checkpoint, as nobody has signed them yet."""
    lines = text.split("\n")
    if len(lines) != 4 or lines[3]:
        raise Refuted(f"a checkpoint has 3 lines, not {len(lines) - 1}")
    origin, size, root = lines[:3]
    if not origin:
        raise Refuted("a checkpoint without the name of its log")
    count = read_number(size, "the size in a checkpoint")
    head = read_hash(root, "the root in a checkpoint")
    if count == 0 and head != EMPTY:
        raise Refuted("a checkpoint of no leaves whose root is not that of the empty tree")
    return Checkpoint(origin, count, head)


def read_number(text: str, what: str) -> int:
    """A number of leaves in its one spelling."""
    if _NUMBER.fullmatch(text) is None or int(text) > NUMBER_MAX:
        raise Refuted(f"{what} is a number up to {NUMBER_MAX} in decimal, not {text[:80]!r}")
    return int(text)


def read_hash(text: str, what: str) -> bytes:
    """A hash in its one spelling."""
    data = from_base64(text)
    if data is None or len(data) != WIDTH:
        raise Refuted(f"{what} is {WIDTH} bytes in base64, not {text[:80]!r}")
    return data
