"""Checkpoints, as C2SP tlog-checkpoint writes them: origin, size and root of the tree, signed.

Ours have three lines and no more: what a log may add below them is refused, because nobody checks
it. The log's key has the origin for its name.

The newest checkpoint of each log is also kept outside its folder, so that an older copy is noticed.

    $XDG_STATE_HOME/muckrake/checkpoints/NAME   else ~/.local/state; NAME is of a key of the log

A writer of a ledger's folder can put an older state of it there, whole in itself, with the
checkpoint it had then. The user's own state folder knows better. Who names a file (`--witness
FILE`) has the newest checkpoint there instead. A ledger that is behind what is remembered, or that
has another history, is refused until somebody accepts it; that is written down in `rollbacks`.
Each key that a log ever had has a file: an older copy may not know the newest one.
"""

import os
import re
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct

from store.folder.disk import Disk, put
from store.folder.frames import Damaged
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
    signers = verify(parsed, (*fitting, *others))
    own = tuple(signer.key for signer in signers if signer.key.kind == SIGNS)
    if not own:
        raise Refuted(f"a checkpoint that {checkpoint.origin} has not signed itself")
    return Opened(
        checkpoint, own, tuple(signer for signer in signers if signer.key.kind == WITNESSES)
    )


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


def read_number(text: str, name: str) -> int:
    """A number of leaves in its one spelling."""
    if _NUMBER.fullmatch(text) is None or int(text) > NUMBER_MAX:
        raise Refuted(f"{name} is a number up to {NUMBER_MAX} in decimal, not {text[:80]!r}")
    return int(text)


def read_hash(text: str, name: str) -> bytes:
    """A hash in its one spelling."""
    data = from_base64(text)
    if data is None or len(data) != WIDTH:
        raise Refuted(f"{name} is {WIDTH} bytes in base64, not {text[:80]!r}")
    return data


ROLLBACKS = "rollbacks"
WITNESS = "MUCKRAKE_WITNESS"
STATE_HOME = "XDG_STATE_HOME"
_FOLDER = Path("muckrake/checkpoints")


class Rollback(msgspec.Struct, frozen=True):
    """Somebody went on with a ledger that was behind this checkpoint, or beside it."""

    at: int
    sentence: str
    checkpoint: str


class Remembered:
    """What is known of logs outside their folders: in one file, or in one for each key."""

    def __init__(self, file: Path | None = None, *, accepting: bool = False) -> None:
        """With `accepting`, what contradicts a ledger is put aside instead of refusing it."""
        named = os.environ.get(WITNESS, "")
        self.accepting = accepting
        self._file = file or (Path(named) if named else None)
        self._folder = None if self._file else state_folder()

    def of(self, keys: Iterable[Key]) -> list[tuple[Path, Checkpoint]]:
        """The checkpoints that are remembered of a log with these keys."""
        keys = tuple(keys)
        remembered = []
        for path in dict.fromkeys(filter(None, map(self._place, keys))):
            try:
                remembered.append((path, _opened(path.read_bytes(), keys)))
            except (FileNotFoundError, NotADirectoryError):
                continue
            except (Refuted, OSError) as reason:
                raise Damaged(f"{path} cannot be believed: {reason}") from None
        return remembered

    def keep(self, keys: Iterable[Key], note: bytes) -> str | None:
        """This checkpoint of a log with these keys from now on, durable on return; why not, if it
        cannot be kept."""
        for path in dict.fromkeys(map(self._place, keys)):
            if path is None:
                return f"neither ${STATE_HOME} nor a home folder says where"
            aside = path.with_name(f"{path.name}.{os.getpid()}.tmp")
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                with aside.open("wb") as file:
                    file.write(note)
                    file.flush()
                    os.fsync(file.fileno())
                aside.replace(path)
            except OSError as failure:
                return f"{path}: {failure.strerror}"
        return None

    def _place(self, key: Key) -> Path | None:
        if self._file:
            return self._file
        name = sha256(key.text().encode()).hexdigest()
        return self._folder / name if self._folder else None


def _opened(note: bytes, keys: Sequence[Key]) -> Checkpoint:
    """What is remembered; a key that came after all of these may have signed it.

    Nobody can check that here, and nobody needs to: it can only make a ledger be refused.
    """
    parsed = parse(note)
    checkpoint = read_checkpoint(parsed.text)
    known = {(key.name, key.id) for key in keys}
    is_later = known.isdisjoint((signature.name, signature.id) for signature in parsed.signatures)
    if is_later and checkpoint.origin in {key.name for key in keys}:
        return checkpoint
    return open_checkpoint(note, keys).checkpoint


def state_folder() -> Path | None:
    """Where this user's programs remember things; None in a container without any home."""
    named = os.environ.get(STATE_HOME, "")
    if Path(named).is_absolute():
        return Path(named) / _FOLDER
    try:
        return Path.home() / ".local/state" / _FOLDER
    except RuntimeError:
        return None


def accept(disk: Disk, at: int, sentence: str, path: Path) -> None:
    """What is remembered in this file counts no more: written down, and put aside."""
    text = path.read_text()
    known = disk.read(ROLLBACKS) if ROLLBACKS in disk.names("") else b""
    put(disk, ROLLBACKS, known + msgspec.json.encode(Rollback(at, sentence, text)) + b"\n")
    path.replace(path.with_name(f"{path.name}.until-{at}"))


def rollbacks(disk: Disk) -> tuple[Rollback, ...]:
    """Every rollback that was accepted."""
    if ROLLBACKS not in disk.names(""):
        return ()
    try:
        lines = disk.read(ROLLBACKS).splitlines()
        return tuple(msgspec.json.decode(line, type=Rollback) for line in lines)
    except ValueError as reason:
        raise Damaged(f"{ROLLBACKS} cannot be read: {reason}") from None
