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

A witness cosigns a log's checkpoint only if that log grew from the last one it cosigned. This is
the deciding half of C2SP tlog-witness, without HTTP: a request's body in, an answer out. The folder
of a witness holds

    private/witness.key     its private key
    lock                    one process at a time
    seen/DIGEST             the last checkpoint it cosigned of the log whose origin has this digest
    refused/DIGEST-SIZE     a signed checkpoint that was not shown to extend that one

What is cosigned is durable first, so neither a crash nor two requests at once can make a witness
sign two histories.
"""

import os
import re
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct

from store.folder.disk import Disk, Lock, RealDisk, replace_file
from store.folder.frames import Damaged
from store.proof.ledger_secrets import SecretFolder
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
from store.proof.tree import EMPTY, WIDTH, Proof, Refuted, check_consistency

_NUMBER = re.compile(r"0|[1-9][0-9]{0,18}", re.ASCII)
NUMBER_MAX = 2**63 - 1


class Checkpoint(Struct, frozen=True):
    """A checkpoint of a log: the size of its tree, and the root."""

    origin: str
    size: int
    root: bytes

    def text(self) -> str:
        return f"{self.origin}\n{self.size}\n{to_base64(self.root)}\n"


class SignedCheckpoint(NamedTuple):
    """A checkpoint that its log has signed, by which of its keys, and who else has seen it."""

    checkpoint: Checkpoint
    keys: tuple[Key, ...]
    witnesses: tuple[Signed, ...] = ()


def sign(checkpoint: Checkpoint, *signers: Signer) -> bytes:
    """The checkpoint as a note; while keys are changed, the old and the new both sign."""
    assert all(signer.key.name == checkpoint.origin for signer in signers)
    return sign_text(checkpoint.text(), *signers)


def cosign(note: bytes, witness: Signer, at: int) -> bytes:
    """Add a witness's signature to a signed checkpoint."""
    parsed = parse(note)
    read_checkpoint(parsed.text)
    return Note(parsed.text, (*parsed.signatures, witness.cosign(parsed.text, at))).format()


def open_checkpoint(
    note: bytes, keys: Iterable[Key], witnesses: Iterable[Key] = ()
) -> SignedCheckpoint:
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
    return SignedCheckpoint(
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
    """An accepted rollback: the ledger went on from before this checkpoint, or as a fork of it."""

    at: int
    sentence: str
    checkpoint: str


class CheckpointMemory:
    """Checkpoints remembered outside the ledgers: in one file, or in one for each key."""

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
                remembered.append((path, _read_remembered(path.read_bytes(), keys)))
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


def _read_remembered(note: bytes, keys: Sequence[Key]) -> Checkpoint:
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
    """The folder for this user's program state; None in a container without any home."""
    named = os.environ.get(STATE_HOME, "")
    if Path(named).is_absolute():
        return Path(named) / _FOLDER
    try:
        return Path.home() / ".local/state" / _FOLDER
    except RuntimeError:
        return None


def accept_rollback(disk: Disk, at: int, sentence: str, path: Path) -> None:
    """Record a rollback in the ledger, and put the remembered checkpoint in this file aside."""
    text = path.read_text()
    known = disk.read(ROLLBACKS) if ROLLBACKS in disk.names("") else b""
    replace_file(disk, ROLLBACKS, known + msgspec.json.encode(Rollback(at, sentence, text)) + b"\n")
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


KEY = "witness.key"
SEEN = "seen"
REFUSED = "refused"
REFUSED_MAX = 1_000  # kept as evidence: more of them tell nothing new
PROOF_MAX = 63  # hashes in a request
SIZE_TYPE = "text/x.tlog.size"
TEXT_TYPE = "text/plain; charset=utf-8"


class WitnessAnswer(NamedTuple):
    """A witness's answer over HTTP: status, body and media type."""

    status: int
    body: str
    media: str = TEXT_TYPE


class CosignRequest(NamedTuple):
    """A checkpoint to cosign, and the proof that it extends one of `old` leaves."""

    old: int
    proof: Proof
    note: bytes


class Witness:
    """The witness of a folder, for the logs whose keys it was given."""

    def __init__(
        self,
        folder: Path,
        logs: Iterable[Key],
        name: str | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`name` names a new witness; one that has a key keeps the name it has."""
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = Lock(folder, "a witness")
        self._disk = RealDisk(folder)
        for subfolder in (SEEN, REFUSED):
            self._disk.make_folder(subfolder)
        private = SecretFolder(folder)
        spelled = private.read(KEY)
        if spelled is not None:
            self._signer = Signer.read(spelled)
            if name is not None and self.key.name != name:
                raise Refuted(f"this witness is called {self.key.name}, not {name}")
        elif name is None:
            raise Refuted("a new witness needs a name, such as the address that it will have")
        else:  # its first start
            self._signer = Signer.new(name, WITNESSES)
            private.write(KEY, self._signer.spelled())
        self._logs = tuple(logs)
        self._clock = clock
        self._turn = threading.Lock()

    @property
    def key(self) -> Key:
        """The public key that its cosignatures are checked by."""
        return self._signer.key

    def close(self) -> None:
        """Let another process be this witness."""
        self._lock.release()

    def add_checkpoint(self, body: bytes) -> WitnessAnswer:
        """The cosignature of a checkpoint that grew from the last one, or why there is none."""
        try:
            request = read_request(body)
            claimed = read_checkpoint(parse(request.note).text)
        except Refuted as reason:
            return WitnessAnswer(400, f"{reason}\n")
        keys = [key for key in self._logs if key.name == claimed.origin]
        if not keys:
            return WitnessAnswer(404, f"{claimed.origin} is no log that this witness knows\n")
        try:
            new = open_checkpoint(request.note, keys).checkpoint
        except Refuted as reason:
            return WitnessAnswer(403, f"{reason}\n")
        if request.old > new.size:
            why = f"a tree of {new.size} leaves does not extend one of {request.old}\n"
            return WitnessAnswer(400, why)
        with self._turn:
            return self._decided(request, new)

    def _decided(self, request: CosignRequest, new: Checkpoint) -> WitnessAnswer:
        """One after the other: what is compared is what the next request will find."""
        try:
            known = self.last(new.origin) or Checkpoint(new.origin, 0, EMPTY)
        except Refuted as reason:
            why = f"what this witness cosigned of {new.origin} was changed on its disk: {reason}"
            return WitnessAnswer(500, f"{why}\n")
        is_fork = new.size == known.size and new.root != known.root
        if is_fork:
            self._keep(new, request.note)
        if is_fork or request.old != known.size:
            return WitnessAnswer(409, f"{known.size}\n", SIZE_TYPE)
        try:
            check_consistency(known.size, known.root, new.size, new.root, request.proof)
        except Refuted as reason:
            self._keep(new, request.note)
            return WitnessAnswer(422, f"{reason}\n")
        note = cosign(request.note, self._signer, int(self._clock()))
        replace_file(self._disk, f"{SEEN}/{_digest(new.origin)}", note)
        return WitnessAnswer(200, f"{parse(note).signatures[-1].line()}\n")

    def last(self, origin: str) -> Checkpoint | None:
        """The last checkpoint of this log that was cosigned here; None if none ever was."""
        name = _digest(origin)
        if name not in self._disk.names(SEEN):
            return None
        note = parse(self._disk.read(f"{SEEN}/{name}"))
        verify(note, [self.key])  # a changed file is worse than none: nothing is cosigned on it
        return read_checkpoint(note.text)

    def _keep(self, new: Checkpoint, note: bytes) -> None:
        """Evidence: if the proof was not merely spoilt on its way, the log has signed a fork."""
        if len(self._disk.names(REFUSED)) < REFUSED_MAX:
            replace_file(self._disk, f"{REFUSED}/{_digest(new.origin)}-{new.size}", note)


def read_request(body: bytes) -> CosignRequest:
    """The parts of a request: `old SIZE`, the hashes of the proof, an empty line, a checkpoint."""
    above, gap, note = body.partition(b"\n\n")
    try:
        first, *rest = above.decode("ascii").split("\n")
    except UnicodeDecodeError as reason:
        raise Refuted(f"a request that is not ASCII at byte {reason.start}") from None
    word, space, size = first.partition(" ")
    if not gap or word != "old" or not space:
        raise Refuted("a request is `old SIZE`, a line for each hash, an empty line, a checkpoint")
    if len(rest) > PROOF_MAX:
        raise Refuted(f"a proof of {len(rest)} hashes: at most {PROOF_MAX} are read")
    old = read_number(size, "the old size")
    return CosignRequest(old, tuple(read_hash(line, "a hash of the proof") for line in rest), note)


def _digest(origin: str) -> str:
    return sha256(origin.encode()).hexdigest()
