"""Ask witnesses over HTTP to cosign a checkpoint, and publish it once enough of them have.

The asking half of C2SP tlog-witness. Each witness is sent the newest checkpoint with a proof that
it extends the last one which that witness cosigned; who is down or slow is passed over, and the
policy says whether the others are enough.
"""

import asyncio
import http.client
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from api.printable import printable
from store.folder.disk import LedgerLocked, Lock, RealDisk
from store.folder.frames import Damaged
from store.proof.checkpoint import Checkpoint
from store.proof.ledger_secrets import SecretFolder
from store.proof.notary import CHECKPOINT, last_checkpoint
from store.proof.note import Key, Note, Signature, parse, to_base64
from store.proof.note import verify as verify_note
from store.proof.tree import Refuted, consistency
from store.proof.witness_policy import (
    POLICY,
    PUBLISHED,
    PolicyWitness,
    last_published,
    policy_of,
    publish,
)
from store.reader import NoLedger, Reader
from store.receipts import Prover

TIMEOUT_S = 5.0
ANSWER_MAX = 65_536
PATIENCE = 4  # times the timeout, which is for one piece of an answer: then nobody waits for it
PAUSE_S = 1.0
PAUSE_MAX_S = 60.0


class Reply(Struct, frozen=True):
    """A witness's reply: its name in the policy, and its refusal to cosign, if it refused."""

    witness: str
    refusal: str | None


class Publication(Struct, frozen=True):
    """The replies of all witnesses on a checkpoint, its size, and whether it is published."""

    size: int
    is_published: bool
    replies: tuple[Reply, ...]

    @property
    def sentence(self) -> str:
        """The outcome in one sentence."""
        signed = sum(reply.refusal is None for reply in self.replies)
        what = "published" if self.is_published else "not published: too few witnesses cosigned"
        return (
            f"checkpoint of {self.size} leaves, {signed} of {len(self.replies)} witnesses: {what}"
        )

    @property
    def sentences(self) -> Iterator[str]:
        """The outcome, and the refusal of each witness that did not cosign."""
        yield self.sentence
        for reply in self.replies:
            if reply.refusal is not None:
                yield f"{reply.witness}: {reply.refusal}"


class _Refusal(Exception):
    """A witness did not cosign, and why."""


def publish_newest(folder: Path, timeout_s: float = TIMEOUT_S) -> Publication | None:
    """Ask every witness to cosign a ledger's newest checkpoint; None if there is nothing to ask.

    One process asks at a time: a second one leaves it to the first.
    """
    if not (folder / POLICY).exists():
        return None
    disk = RealDisk(folder)
    policy = policy_of(disk)
    assert policy is not None
    disk.make_folder(PUBLISHED)
    try:
        lock = Lock(folder / PUBLISHED, "publishing")
    except LedgerLocked:
        return None
    try:
        newest, shown = last_checkpoint(disk), last_published(disk)
        if newest is None or (shown and shown[0].checkpoint == newest.checkpoint):
            return None
        asking = _Requests(folder, disk.read(CHECKPOINT), newest.checkpoint, timeout_s)
        known = (
            {witness.key: shown[0].checkpoint.size for witness in shown[0].witnesses}
            if shown
            else {}
        )
        askable = [witness for witness in policy.witnesses if witness.url]
        answers = asking.ask_all(askable, known)
        parsed = parse(asking.note)
        new = tuple(answer for _, answer in answers if isinstance(answer, Signature))
        replies = tuple(
            Reply(one.name, None if isinstance(answer, Signature) else answer)
            for one, answer in answers
        )
        try:
            publish(disk, Note(parsed.text, (*parsed.signatures, *new)).format())
        except Refuted:
            return Publication(newest.checkpoint.size, False, replies)
        return Publication(newest.checkpoint.size, True, replies)
    finally:
        lock.release()


async def publish_repeatedly(folder: Path) -> None:
    """Publish each new checkpoint as long as a server runs, with pauses while witnesses refuse."""
    last, pause_s = "", PAUSE_S
    while True:
        try:
            publication = await asyncio.to_thread(publish_newest, folder)
            sentence = (
                "" if publication is None or publication.is_published else publication.sentence
            )
        except (Damaged, NoLedger, Refuted, OSError) as reason:
            sentence = str(reason)
        if sentence and sentence != last:
            print(f"muckrake: {printable(sentence)}", file=sys.stderr)
        last = sentence
        pause_s = min(2 * pause_s, PAUSE_MAX_S) if sentence else PAUSE_S
        await asyncio.sleep(pause_s)


class _Requests:
    """Requests to witnesses about one checkpoint."""

    def __init__(self, folder: Path, note: bytes, new: Checkpoint, timeout_s: float) -> None:
        nonces = SecretFolder(folder).nonces()
        if nonces is None:
            raise Refuted("the secrets of this ledger are not here: nothing can be proved")
        self.note = note
        self._new = new
        self._timeout_s = timeout_s
        self._prover = Prover(Reader(folder).snapshot(), nonces)
        self._one = threading.Lock()

    def ask_all(
        self, witnesses: Sequence[PolicyWitness], olds: Mapping[Key, int]
    ) -> list[tuple[PolicyWitness, Signature | str]]:
        """Cosignatures or refusals, asked in parallel; an unfinished answer is not asked again."""
        answers: dict[Key, Signature | str] = {}

        def ask(witness: PolicyWitness) -> None:
            answers[witness.key] = self.ask(witness, olds.get(witness.key, 0))

        for one in witnesses:
            if one.key not in _requests or not _requests[one.key].is_alive():
                _requests[one.key] = threading.Thread(target=ask, args=(one,), daemon=True)
                _requests[one.key].start()
        most_s = PATIENCE * self._timeout_s
        until = time.monotonic() + most_s
        for one in witnesses:
            _requests[one.key].join(max(0.0, until - time.monotonic()))
        late = f"takes longer than {most_s:g} s to answer"
        return [(one, answers.get(one.key, f"{one.url} {late}")) for one in witnesses]

    def ask(self, witness: PolicyWitness, old: int) -> Signature | str:
        """A witness's cosignature or refusal; if it names another old size, that is tried."""
        try:
            status, body = self._sent(witness, old)
            if status == http.client.CONFLICT:
                old = self._size_of(witness, old, body)
                status, body = self._sent(witness, old)
            if status == http.client.CONFLICT:
                self._size_of(witness, old, body)
            if status != http.client.OK:
                raise _Refusal(f"{witness.url} answered {status}: {_excerpt(body)}")
            return self._signature(witness, body)
        except (_Refusal, Refuted, Damaged, OSError, http.client.HTTPException) as reason:
            return str(reason)

    def _sent(self, witness: PolicyWitness, old: int) -> tuple[int, bytes]:
        with self._one:
            proof = consistency(old, self._new.size, self._prover.hashes)
        head = "".join(f"{line}\n" for line in (f"old {old}", *map(to_base64, proof), ""))
        url = f"{(witness.url or '').rstrip('/')}/add-checkpoint"
        try:
            request = urllib.request.Request(url, head.encode() + self.note)
            with _opener.open(request, timeout=self._timeout_s) as answer:
                return answer.status, answer.read(ANSWER_MAX)
        except urllib.error.HTTPError as answer:
            with answer:
                return answer.code, answer.read(ANSWER_MAX)
        except (OSError, ValueError) as reason:
            raise _Refusal(f"{witness.url} does not answer: {reason}") from None
        except http.client.HTTPException as reason:
            raise _Refusal(f"{witness.url} does not speak HTTP: {str(reason)[:200]!r}") from None

    def _size_of(self, witness: PolicyWitness, old: int, body: bytes) -> int:
        """The tree size that a witness remembers; a refusal if this ledger cannot extend it."""
        text = body.decode(errors="replace").strip()
        size = int(text) if text.isascii() and text.isdigit() and len(text) < 20 else None
        if size is None:
            raise _Refusal(f"{witness.url} names no size of the last checkpoint: {_excerpt(body)}")
        if size > self._new.size:
            raise _Refusal(
                f"{witness.url} has cosigned {size} leaves of {self._new.origin}, and only"
                f" {self._new.size} are here: an old copy is in the place of the ledger"
            )
        if size == old:
            raise _Refusal(
                f"{witness.url} has cosigned another history of {self._new.origin} with {size}"
                " leaves: the log has forked"
            )
        return size

    def _signature(self, witness: PolicyWitness, body: bytes) -> Signature:
        """The signature in the answer by this witness's key; others are skipped."""
        text = parse(self.note).text
        signatures = parse(f"{text}\n".encode() + body).signatures
        for signature in signatures:
            if (signature.name, signature.id) == (witness.key.name, witness.key.id):
                verify_note(Note(text, (signature,)), [witness.key])
                return signature
        raise _Refusal(f"{witness.url} answered without a signature of {witness.key.text()}")


_requests: dict[Key, threading.Thread] = {}  # who was asked last by this process, until he answers


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Refuses redirects: a witness is asked at the URL in the policy only."""

    def redirect_request(self, *args: object, **named: object) -> None:
        return None


_opener = urllib.request.build_opener(_NoRedirects)


def _excerpt(body: bytes) -> str:
    return repr(body.decode(errors="replace").strip()[:200])
