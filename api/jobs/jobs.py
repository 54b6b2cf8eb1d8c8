"""Long work requested over HTTP: kept in files, so that any worker of the server can report it.

    jobs/ID/job.json      what was asked, by whom; never changes
    jobs/ID/state.json    how far it is, and in the end what came of it; replaced as a whole
    jobs/ID/lock          held by the process that does it for as long as it lives
    jobs/ID/owner         whose it is, before there is a job
    jobs/ID/reserve       room on the disk for its last word
    jobs/ID/upload/       what was sent, until it is read
    jobs/keys/            which job an `Idempotency-Key` has started

A job is a process of its own (`work.py`), which takes the writer's lock of the ledger if it writes:
while another job has it, the next wait for it in the order in which they came. The server may be
restarted meanwhile, or killed: what came of the job is in its files.
"""

import errno
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from hashlib import sha256
from multiprocessing import parent_process
from pathlib import Path
from typing import Any, Literal, TypedDict

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from api.problem import Problem
from api.viewpoints.feed_events import time_of
from store.folder.disk import lock_file, lock_owner, make_durable_folder, now_ms

FOLDER = "jobs"
PATIENCE_S = 30.0  # a process that has said nothing by then is given up
POLL_S = 0.02
WAITING_MAX = 4  # jobs, each a process
ABANDONED_S = 3600.0  # ... and what was sent and became none
RESERVE = 4_096  # bytes
DISK_FULL_ERRORS = (errno.ENOSPC, errno.EDQUOT)
KEPT_S = 7 * 24 * 3600  # so long what became of a job is kept
JobState = Literal["starting", "waiting", "running", "done", "failed", "cancelled", "refused"]
JobKind = Literal["match", "bots", "import", "verify", "fairness"]
END_STATES: tuple[JobState, ...] = ("done", "failed", "cancelled", "refused")


class Job(Struct, frozen=True):
    """A request for long work: its kind, its owner, and the server that started it."""

    id: str
    kind: JobKind
    owner: str
    server: int
    at: int
    match: str | None
    request: dict[str, Any] = field(name="wish")  # so it is called in files of jobs
    size: int = 0  # bytes that were sent


class Progress(Struct, frozen=True):
    """The state of a job: hands done, of `total` if that is known, and result or failure."""

    state: JobState = "starting"
    hands: int = 0
    total: int | None = None
    detail: str | None = None
    result: dict[str, Any] | None = None
    at: int = 0


class JobDocument(TypedDict):
    """A job: how far it is, and in the end what came of it, by kind as its command tells it."""

    id: str
    kind: JobKind
    match: str | None
    state: JobState
    hands: int
    total: int | None
    detail: str | None
    result: dict[str, Any] | None
    begun_at: str
    told_at: str


class Jobs:
    """The jobs of one ledger."""

    def __init__(self, ledger: Path) -> None:
        self.ledger = ledger
        self.folder = ledger / FOLDER

    def room(self, owner: str = "") -> Path:
        """A folder for a job of this owner that may come to be: what is sent is put there first."""
        make_durable_folder(self.ledger, 0o700)
        for path in (self.folder, self.folder / "keys"):
            path.mkdir(0o700, exist_ok=True)
        self._forget()
        room = self.folder / secrets.token_hex(8)
        (room / "upload").mkdir(0o700, parents=True)
        (room / "owner").write_text(owner)
        (room / "reserve").write_bytes(bytes(RESERVE))
        return room

    def sending(self, owner: str) -> list[Path]:
        """The folders into which this owner sends what is no job yet."""
        rooms = []
        for path in self.folder.glob("*/owner"):
            with suppress(FileNotFoundError):  # another request of his was refused meanwhile
                if path.read_text() == owner and not (path.parent / "job.json").exists():
                    rooms.append(path.parent)
        return rooms

    def claimed(self, owner: str, key: str | None) -> bool:
        """Whether this owner has come with this key before."""
        return key is not None and self._key(owner, key).exists()

    def known(self, owner: str, key: str | None, digest: str) -> Job | None:
        """The job that this owner has started with this key; it must have been the same request."""
        if key is None:
            return None
        try:
            started = msgspec.json.decode(self._key(owner, key).read_bytes(), type=tuple[str, str])
        except FileNotFoundError:
            return None
        if started[1] != digest:
            raise Problem("conflict", "this Idempotency-Key has started another request")
        job = self.job(started[0])
        if job is None:  # it was forgotten, and so is its key
            self._key(owner, key).unlink(missing_ok=True)
        return job

    def begin(self, room: Path, job: Job, key: str | None, digest: str) -> Job:
        """The job at work, or waiting for others; refused if somebody else writes who is no job.

        With a known key it is the one that there is.
        """
        try:
            replace_file(room / "job.json", job)
            replace_file(room / "state.json", Progress(at=now_ms()))
        except OSError:
            shutil.rmtree(room, ignore_errors=True)
            raise
        if key is not None and not self._claimed(room, job, key, digest):
            shutil.rmtree(room, ignore_errors=True)
            found = self.known(job.owner, key, digest)
            if found is None:
                raise Problem("conflict", "the first request with this key was refused: try again")
            return found
        against = self._against(job)
        begun = self._started(room) if against is None else Progress("refused", detail=against)
        if begun.state == "refused":
            if key is not None:  # nothing was done: the same request may come again
                self._key(job.owner, key).unlink(missing_ok=True)
            shutil.rmtree(room, ignore_errors=True)
            raise Problem("conflict", begun.detail or "it cannot be begun now")
        return job

    def every(self) -> list[Job]:
        """All jobs, the newest first."""
        found = (self.job(path.parent.name) for path in self.folder.glob("*/job.json"))
        return sorted((it for it in found if it), key=lambda it: (it.at, it.id), reverse=True)

    def last(self, kind: JobKind, match: str | None) -> Job | None:
        """The newest job of this kind about a match, or about the whole ledger."""
        return next((it for it in self.every() if (it.kind, it.match) == (kind, match)), None)

    def before(self, job: Job) -> bool:
        """Whether there is a job that came earlier, and is not over, and writes."""
        earlier = (it for it in self.every() if (it.at, it.id) < (job.at, job.id))
        return any(is_writer(it) and self.progress(it).state not in END_STATES for it in earlier)

    def job(self, name: str) -> Job | None:
        """The job with this id."""
        if not (name.isascii() and name.isalnum() and len(name) == 16):
            return None
        try:
            return msgspec.json.decode((self.folder / name / "job.json").read_bytes(), type=Job)
        except FileNotFoundError:
            return None

    def progress(self, job: Job) -> Progress:
        """The progress of a job; a process that died without a last word has failed."""
        room = self.folder / job.id
        lives = is_alive(room)  # asked first: it says its last word, and then it goes
        progress = read_progress(room)
        begins = progress.state == "starting" and now_ms() - job.at < PATIENCE_S * 1000
        if progress.state in END_STATES or lives or begins:
            return progress
        sentence = "the process that did it is gone: what it had written is safe"
        return replace(progress, state="failed", detail=sentence)

    def cancel(self, job: Job) -> Progress:
        """Stop the job after the hand that is being played, or the files that are in."""
        room = self.folder / job.id
        if is_alive(room):
            os.kill(int((room / "lock").read_text()), signal.SIGTERM)
            until = time.monotonic() + PATIENCE_S
            while is_alive(room) and time.monotonic() < until:
                time.sleep(POLL_S)
        return self.progress(job)

    def stop(self, server: int | None = None) -> None:
        """The jobs that a server has started, when it stops; or all of them.

        Those that wait are the newest, and go first: else each would have its turn.
        """
        for job in self.every():
            if server in (None, job.server):
                self.cancel(job)

    def _against(self, job: Job) -> str | None:
        """Why a job cannot even wait for its turn."""
        writer = lock_owner(self.ledger)
        if not is_writer(job) or writer is None:
            return None
        if not is_job_name(writer):
            return busy_reason(writer)
        states = [self.progress(it).state for it in self.every() if it.id != job.id]
        if states.count("waiting") < WAITING_MAX:
            return None
        return f"{WAITING_MAX} jobs wait already for their turn: try again when one of them is over"

    def _started(self, room: Path) -> Progress:
        """Whatever its process says first."""
        path = os.pathsep.join(one for one in sys.path if one) or os.getcwd()
        with (room / "stderr").open("wb") as errors:
            process = subprocess.Popen(
                [sys.executable, "-m", f"{__package__}.work", str(self.ledger), room.name],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                env={**os.environ, "PYTHONPATH": path},
                start_new_session=True,  # Ctrl-C is for the server, which then asks it to stop
            )
        threading.Thread(target=process.wait, daemon=True).start()  # nothing of it is left behind
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            ended = process.poll() is not None
            progress = read_progress(room)
            if progress.state != "starting":
                return progress
            if ended:
                break
            time.sleep(POLL_S)
        failed = Progress("failed", detail="its process ended at once", at=now_ms())
        replace_file(room / "state.json", failed)
        return failed

    def _claimed(self, room: Path, job: Job, key: str, digest: str) -> bool:
        """Whether this is the first job of a key; of two at once only one is."""
        claim = room / "key"
        replace_file(claim, (job.id, digest))
        try:
            os.link(claim, self._key(job.owner, key))
        except FileExistsError:
            return False
        return True

    def _key(self, owner: str, key: str) -> Path:
        return self.folder / "keys" / sha256(f"{owner}\0{key}".encode()).hexdigest()

    def _forget(self) -> None:
        """Jobs nobody has asked for in a long time, and the keys that started them."""
        before = time.time() - KEPT_S
        for room in (path.parent for path in self.folder.glob("*/owner")):
            if not (room / "job.json").exists():
                with suppress(FileNotFoundError):
                    sent = max(
                        path.stat().st_mtime for path in (room, *(room / "upload").iterdir())
                    )
                    if sent < time.time() - ABANDONED_S:  # a server was killed while it came
                        shutil.rmtree(room, ignore_errors=True)
        for path in (*self.folder.glob("*/"), *self.folder.glob("keys/*")):
            with suppress(FileNotFoundError):  # who comes with the same key takes his own away
                if path.name != "keys" and path.stat().st_mtime < before and not is_alive(path):
                    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def busy_reason(writer: str | None) -> str:
    """The refusal of a job while another writes the ledger."""
    return f"the ledger is being written by {writer or 'another process'}: only one may write"


def is_writer(job: Job) -> bool:
    """Whether a job needs the ledger for itself."""
    return job.kind not in ("verify", "fairness")


def writer_name(job: Job) -> str:
    """The name of a job as the writer of a ledger."""
    return f"job {job.id} ({job.kind})"


def is_job_name(writer: str) -> bool:
    """Whether the name of a writer is that of a job."""
    return re.match(r"job [0-9a-f]{16} \(", writer) is not None


def server_pid() -> int:
    """The process that was started to serve: workers are its children."""
    parent = parent_process()
    pid = os.getpid() if parent is None else parent.pid
    assert pid is not None
    return pid


def is_alive(room: Path) -> bool:
    """Whether the process of a job lives: it holds a lock, which no other process inherits."""
    try:
        handle = os.open(room / "lock", os.O_RDONLY)
    except (FileNotFoundError, NotADirectoryError):
        return False
    try:
        lock_file(handle, shared=True, waits=False)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


BOT_FIELDS = ("player", "folder", "kept_apart", "not_kept_because")


def job_document(job: Job, progress: Progress, *, whole: bool) -> JobDocument:
    """A job as JSON. Without replies that failed, the events that they made and what a bot said in
    them, unless it is `whole`, for an auditor."""
    result = progress.result
    if result is not None and not whole:
        result = {name: one for name, one in result.items() if name not in ("events", "faults")}
        if "bots" in result:
            result["bots"] = [{name: bot[name] for name in BOT_FIELDS} for bot in result["bots"]]
    files = (progress.result or {}).get("files", ())
    only = files[0]["match"] if len(files) == 1 else None  # what a single file came to be called
    return {
        "id": job.id,
        "kind": job.kind,
        "match": job.match or only,
        "state": progress.state,
        "hands": progress.hands,
        "total": progress.total,
        "detail": progress.detail,
        "result": result,
        "begun_at": time_of(job.at),
        "told_at": time_of(progress.at),
    }


def read_progress(room: Path) -> Progress:
    try:
        return msgspec.json.decode((room / "state.json").read_bytes(), type=Progress)
    except FileNotFoundError:
        return Progress("failed", detail="nothing is known of it any more")


def replace_file(path: Path, thing: Any) -> None:
    """A file replaced as a whole, durably: it is all that is left of a job.

    On a full disk it is written where room was reserved for it.
    """
    aside, reserve = path.with_name(f"{path.name}.new"), path.with_name("reserve")
    text = msgspec.json.encode(thing)
    try:
        _write_file(aside, text, os.O_CREAT | os.O_TRUNC)
    except OSError as reason:
        if reason.errno not in DISK_FULL_ERRORS or len(text) > RESERVE or not reserve.exists():
            raise
        reserve.rename(aside)
        _write_file(aside, text.ljust(RESERVE), 0)
    aside.rename(path)


def _write_file(path: Path, data: bytes, flags: int) -> None:
    handle = os.open(path, os.O_WRONLY | flags, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
