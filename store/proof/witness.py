"""A witness: it cosigns a log's checkpoint only if that log grew from the last one it cosigned.

This is the deciding half of C2SP tlog-witness, without HTTP: a request's body in, an answer out.
The folder of a witness holds

    private/witness.key     its private key
    lock                    one process at a time
    seen/DIGEST             the last checkpoint it cosigned of the log whose origin has this digest
    refused/DIGEST-SIZE     a signed checkpoint that was not shown to extend that one

What is cosigned is durable first, so neither a crash nor two requests at once can make a witness
sign two histories.
"""

import threading
import time
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from store.folder.disk import RealDisk, put
from store.folder.lock import Lock
from store.proof.checkpoint import Checkpoint, cosign, open_checkpoint, read_checkpoint, read_hash
from store.proof.checkpoint import read_number as number_of
from store.proof.note import WITNESSES, Key, Signer, parse, verify
from store.proof.private import Private
from store.proof.tree import EMPTY, Proof, Refuted, check_consistency

KEY = "witness.key"
SEEN = "seen"
REFUSED = "refused"
REFUSED_MAX = 1_000  # kept as evidence: more of them tell nothing new
PROOF_MAX = 63  # hashes in a request
SIZE_TYPE = "text/x.tlog.size"
TEXT_TYPE = "text/plain; charset=utf-8"


class Answer(NamedTuple):
    """What HTTP is to say: a status, a body, and what kind of body it is."""

    status: int
    body: str
    media: str = TEXT_TYPE


class Request(NamedTuple):
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
        private = Private(folder)
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
        """Another process may be this witness now."""
        self._lock.release()

    def add_checkpoint(self, body: bytes) -> Answer:
        """The cosignature of a checkpoint that grew from the last one, or why there is none."""
        try:
            request = read_request(body)
            claimed = read_checkpoint(parse(request.note).text)
        except Refuted as reason:
            return Answer(400, f"{reason}\n")
        keys = [key for key in self._logs if key.name == claimed.origin]
        if not keys:
            return Answer(404, f"{claimed.origin} is no log that this witness knows\n")
        try:
            new = open_checkpoint(request.note, keys).checkpoint
        except Refuted as reason:
            return Answer(403, f"{reason}\n")
        if request.old > new.size:
            why = f"a tree of {new.size} leaves does not extend one of {request.old}\n"
            return Answer(400, why)
        with self._turn:
            return self._decided(request, new)

    def _decided(self, request: Request, new: Checkpoint) -> Answer:
        """One after the other: what is compared is what the next request will find."""
        try:
            known = self.last(new.origin) or Checkpoint(new.origin, 0, EMPTY)
        except Refuted as reason:
            why = f"what this witness cosigned of {new.origin} was changed on its disk: {reason}"
            return Answer(500, f"{why}\n")
        is_fork = new.size == known.size and new.root != known.root
        if is_fork:
            self._keep(new, request.note)
        if is_fork or request.old != known.size:
            return Answer(409, f"{known.size}\n", SIZE_TYPE)
        try:
            check_consistency(known.size, known.root, new.size, new.root, request.proof)
        except Refuted as reason:
            self._keep(new, request.note)
            return Answer(422, f"{reason}\n")
        note = cosign(request.note, self._signer, int(self._clock()))
        put(self._disk, f"{SEEN}/{_digest(new.origin)}", note)
        return Answer(200, f"{parse(note).signatures[-1].line()}\n")

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
            put(self._disk, f"{REFUSED}/{_digest(new.origin)}-{new.size}", note)


def read_request(body: bytes) -> Request:
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
    old = number_of(size, "the old size")
    return Request(old, tuple(read_hash(line, "a hash of the proof") for line in rest), note)


def _digest(origin: str) -> str:
    return sha256(origin.encode()).hexdigest()
