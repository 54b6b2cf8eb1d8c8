"""What one key may ask: so many jobs at once, bytes and hands in a day, and room on the disk.

All of it is counted in the files of the jobs, so that workers and restarts agree. A job counts for
a day from its beginning, whatever came of it; what is being sent counts as it comes.
"""

import shutil
import time
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from api.http.limits import Limits
from api.http.private_files import alone
from api.jobs.jobs import OVER, Jobs, now_ms
from api.problem import Problem

DAY_S = 24 * 3600
SENDING_S = 120.0  # who has sent nothing for so long sends nothing more; limits end him sooner
LOOK_BYTES = 1 << 20  # after so many more it is looked how full the disk is


class Used(Struct):
    """What a key has asked for: jobs that are not over, and what a day's jobs come to."""

    jobs: int = 0
    bytes: int = 0
    hands: int = 0


class Allowance:
    """How much of a body may still come: of this key today, and while the disk has room."""

    def __init__(self, folder: Path, left: int | None, keep_free: int) -> None:
        self._folder = folder
        self._left = left
        self._keep_free = keep_free
        self._unseen = 0

    def take(self, size: int) -> None:
        """So many more bytes are about to be written."""
        if self._left is not None:
            self._left -= size
            if self._left < 0:
                raise Problem("too-many-requests", "this key has sent all it may in a day").after(
                    DAY_S / 24
                )
        self._unseen += size
        if self._unseen >= LOOK_BYTES:
            self._unseen = 0
            check_disk(self._folder, self._keep_free)


def admitted(
    jobs: Jobs, owner: str, limits: Limits, *, size: int = 0, hands: int = 0, again: bool = False
) -> tuple[Path, Allowance]:
    """A folder for one more job of this key, and what may be sent into it; refused in a sentence.

    Who comes `again` with a key for idempotency may have one more on the way: he is answered with
    the job that there is.
    """
    with alone(jobs.ledger):  # two that come together are counted one after the other
        used = used_by(jobs, owner)
        if limits.key_jobs and used.jobs >= limits.key_jobs + again:
            sentence = f"{used.jobs} jobs of this key are at work or wait, and it may have no more"
            raise Problem("too-many-requests", f"{sentence}: one must be over first").after(10)
        _check_day("bytes", "send", used.bytes, size, limits.key_bytes)
        _check_day("hands", "ask for", used.hands, hands, limits.key_hands)
        check_disk(jobs.ledger, limits.keep_free + size)
        left = limits.key_bytes - used.bytes if limits.key_bytes else None
        return jobs.room(owner), Allowance(jobs.ledger, left, limits.keep_free)


def used_by(jobs: Jobs, owner: str) -> Used:
    """What this key has asked for, by the files of its jobs."""
    used, since = Used(), now_ms() - DAY_S * 1000
    for job in jobs.every():
        if job.owner != owner:
            continue
        progress = jobs.progress(job)
        over = progress.state in OVER
        used.jobs += not over
        if job.at >= since:
            used.bytes += job.size
            used.hands += max(progress.hands, 0 if over else job.request.get("asked") or 0)
    for room in jobs.sending(owner):
        with suppress(FileNotFoundError):  # it has just become nothing
            sent = [path.stat() for path in (room, *(room / "upload").iterdir())]
            if max(one.st_mtime for one in sent) > time.time() - SENDING_S:
                used.jobs += 1
                used.bytes += sum(one.st_size for one in sent[1:])
    return used


def check_disk(folder: Path, wanted: int) -> None:
    """Refuse what would leave the ledger itself no room to go on."""
    there = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(there).free
    if free < wanted:
        sentence = (
            f"the disk of the ledger has {free >> 20} MiB left, and this wants {wanted >> 20}"
        )
        raise Problem("no-room", f"{sentence}: nothing was begun")


def _check_day(what: str, does: str, used: int, more: int, most: int) -> None:
    if most and used + more > most:
        sentence = f"a key may {does} {most:,} {what} in a day: {used:,} are counted already"
        raise Problem("too-many-requests", f"{sentence}, and this is {more:,}").after(DAY_S / 24)
