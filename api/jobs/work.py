"""`python -m api.jobs.work LEDGER JOB`: the process that does a job; nobody else writes meanwhile.

It says how far it is in the job's own file, and there is its last word too. Told to stop, it ends
what it is at: a match after the hand that is being played, an import after the files that are in.
A job that only reads waits for nobody.
"""

import errno
import fcntl
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any, cast

import click
import msgspec
from msgspec.structs import replace

from analytics.stored.tables import NAMES
from api.facts import projections
from api.importing.commit import Writer
from api.importing.entries import Entry
from api.importing.jobs import outcomes
from api.importing.report import as_json
from api.importing.taken import Wishes
from api.jobs.jobs import (
    FOLDER,
    FULL,
    Job,
    Jobs,
    Progress,
    doing,
    held,
    is_job,
    now_ms,
    write,
    writes,
)
from api.jobs.plans import ENDLESS, THINK_MS, plans_of, stage_of
from api.jobs.requests import asked_rules, rules_of
from api.playing.live import live
from api.playing.matches import Terms, begun, here, taken
from api.playing.over_the_wire import Meeting
from api.playing.recording import STOPPED
from api.playing.wire_report import as_json as as_parts
from api.questions.proof import verified
from api.questions.tree import NoSecrets, Unsigned
from api.viewpoints.viewer import AUDITOR, Viewer
from api.viewpoints.views import Viewed
from dealer.deck import SeededDecks, drawn_seed
from dealer.wire.match_process import MatchJob
from dealer.wire.plan import plan as meant
from dealer.wire.program import Limits
from dealer.wire.program import named as programs
from dealer.wire.sandbox import Guard
from dealer.worker import Gone
from engine.game import fingerprint, to_json
from events.ledger import Conflict, is_match
from events.types import Dealing, Disclosure, Events
from store.folder.frames import Damaged
from store.folder.lock import Held, Lock, holder
from store.ledger import FileLedger, open_ledger
from store.proof.private import Private
from store.proof.tree import Refuted
from store.reader import Reader

TOLD_S = 0.2  # no more often is it said how far it is
TURN_S = 0.1  # so often somebody who waits looks if it is his turn
LATER = NAMES  # what questions are answered from is left by an import that is not audited


DISK_FULL = "the disk is full: what was written before is safe"


class Refused(Exception):
    """Nothing was done, and nothing is there that was not before."""


class Told:
    """What a job says of itself."""

    def __init__(self, room: Path, total: int | None) -> None:
        self._path = room / "state.json"
        self._now = Progress("running", total=total)
        self._at = 0.0
        self.stopped = False

    def add(self, hands: int) -> None:
        """So many more hands are done."""
        self._now = msgspec.structs.replace(self._now, hands=self._now.hands + hands)
        if time.monotonic() - self._at >= TOLD_S:
            self.say()

    def leaf(self, stream: str) -> bool:
        """One more leaf was looked at; whether to go on."""
        if not is_match(stream):
            self.add(1)
        return not self.stopped

    def say(self, **last: Any) -> None:
        """How far it is, or its last word."""
        self._now = msgspec.structs.replace(self._now, at=now_ms(), **last)
        self._at = time.monotonic()
        write(self._path, self._now)

    def stop(self, number: int, frame: FrameType | None) -> None:
        self.stopped = True


def main(ledger: Path, name: str) -> None:
    """Do the job, whatever comes."""
    room = ledger / FOLDER / name
    alive = (room / "lock").open("w")
    fcntl.flock(alive, fcntl.LOCK_EX)  # for as long as this process is there
    alive.write(str(os.getpid()))
    alive.flush()
    job = msgspec.json.decode((room / "job.json").read_bytes(), type=Job)
    if job.wish.get("seed") is not None:  # from here on only the record of its match names it
        write(room / "job.json", replace(job, wish=job.wish | {"seed": None}))
    told = Told(room, job.wish.get("hands"))
    signal.signal(signal.SIGTERM, told.stop)
    try:
        _done(ledger, room, job, told)
    except Refused as reason:
        told.say(state="refused", detail=str(reason))
    except Held:
        told.say(state="refused", detail=held(holder(ledger)))
    except (Damaged, Conflict, OSError) as reason:
        told.say(state="failed", detail=DISK_FULL if _is_full(reason) else str(reason))
    except BaseException:
        told.say(state="failed", detail="it failed here: the server's log of the job says where")
        raise
    finally:
        shutil.rmtree(room / "upload", ignore_errors=True)


def _is_full(reason: BaseException | None) -> bool:
    """Whether it came of a disk without room."""
    if reason is None:
        return False
    if isinstance(reason, OSError) and reason.errno in FULL:
        return True
    return os.strerror(errno.ENOSPC).lower() in str(reason).lower() or _is_full(reason.__cause__)


def _done(folder: Path, room: Path, job: Job, told: Told) -> None:
    if not writes(job):
        told.say(state="running")
        told.say(**_verified(folder, job, told))
        return
    opened = _in_turn(folder, job, told)
    if opened is None:
        told.say(state="cancelled", detail="it was stopped before its turn had come")
        return
    ledger, lock = opened
    try:
        last = WORK[job.kind](folder, room, job, ledger, told)
    finally:
        try:
            ledger.close()
        finally:
            lock.release()
    told.say(**last)


def _in_turn(folder: Path, job: Job, told: Told) -> tuple[FileLedger, Lock] | None:
    """The ledger when no job that came earlier is at work or waits; None if it is told to stop."""
    jobs, waited = Jobs(folder), False
    while not told.stopped:
        if not jobs.before(job):
            try:
                opened = open_ledger(folder, doing(job), projections(folder))
            except Held:
                if not is_job(holder(folder) or ""):
                    raise
            else:
                if waited:
                    told.say(state="running")
                return opened
        waited = True
        told.say(state="waiting")
        time.sleep(TURN_S)
    return None


def _verified(folder: Path, job: Job, told: Told) -> dict[str, Any]:
    """A match made again leaf by leaf, as the route does it with a short one."""
    viewed = Viewed(Reader(folder).snapshot(), Viewer(AUDITOR))
    try:
        found = verified(viewed, job.wish["match"], look=told.leaf)
    except (NoSecrets, Unsigned, Refuted) as reason:
        return {"state": "failed", "detail": str(reason)}
    finally:
        viewed.close()
    if found is None:
        return {"state": "cancelled"}
    return {"state": "done", "hands": found["hands"], "result": found}


def _played(folder: Path, room: Path, job: Job, ledger: FileLedger, told: Told) -> dict[str, Any]:
    """A match between bots of ours, hand by hand."""
    wish = job.wish
    (plan,) = plans_of(rules_of(wish), wish)
    if taken(ledger, [plan]):
        raise Refused(f"there is a match {plan.match} already: give this one another name")
    disclosure = cast(Disclosure, wish["disclosure"])
    match = begun(ledger, Private(folder), plan, Terms(wish["dealing"], disclosure))
    told.say(total=None if plan.hands == ENDLESS else plan.hands)
    hands: Iterable[Events]
    if wish["live"]:
        think_ms = THINK_MS if wish["think_ms"] is None else wish["think_ms"]
        hands = live(match, ledger, think_ms, lambda: told.stopped, stage_of(plan, wish))
    else:
        hands = here(match, lambda: told.stopped)
    for _ in hands:
        told.add(1)
    played = match.end()
    about = {"dealing": wish["dealing"], "disclosure": disclosure}
    result = {**about, **msgspec.to_builtins(played)}
    return {"state": "cancelled" if played.reason == STOPPED else "done", "result": result}


def _met(folder: Path, room: Path, job: Job, ledger: FileLedger, told: Told) -> dict[str, Any]:
    """A match between two programs of this machine, over the wire."""
    wish = job.wish
    one, two = programs(Path(wish["folders"][0]), Path(wish["folders"][1]))
    how = {"mirrored": wish["mirror"], "open_bids": wish["open_bids"]}
    players = (one.name, two.name)
    match = meant(rules_of(wish), wish["match"], players, wish["hands"], **how)
    if ledger.read(match.match):
        raise Refused(f"there is a match {match.match} already: give this one another name")
    dealing = cast(Dealing, wish["dealing"])
    seed = wish["seed"]
    if seed is None and dealing == "seeded":
        seed = drawn_seed()
    decks = SeededDecks(seed or "", match.deals)
    guard = Guard((folder,), seed=seed)
    meeting = Meeting(MatchJob(match, (one, two), Limits(clock=wish["clock"]), decks, guard))
    start = meeting.announced(seed, cast(Disclosure, wish["disclosure"]), dealing)
    ledger.keep_ruleset(fingerprint(match.game), to_json(match.game))
    told.say()

    def counted(hands: Iterable[Events]) -> Iterator[Events]:
        for hand in hands:
            told.add(1)
            yield hand

    def silent(line: str) -> None:
        """Nobody listens here: what bots said is in the result."""

    try:
        played = meeting.recorded(
            ledger, start, silent, lambda: told.stopped, counted, Private(folder)
        )
    except Gone as reason:
        return {"state": "failed", "detail": str(reason)}
    about = {"dealing": dealing, "disclosure": wish["disclosure"], **how}
    told_of_bots = as_parts(meeting.parts(), meeting.faults)
    result = {**about, **msgspec.to_builtins(played), **told_of_bots}
    return {"state": "cancelled" if played.reason == STOPPED else "done", "result": result}


def _imported(folder: Path, room: Path, job: Job, ledger: FileLedger, told: Told) -> dict[str, Any]:
    """Files that were sent, each whole or not at all."""
    wish = job.wish
    paths = sorted((room / "upload").iterdir())
    files = [Entry(path.name, path, path.stat().st_size) for path in paths]
    asked = (wish[one] for one in ("names", "strict", "audit", "match", "owner"))
    wishes = Wishes(wish["format"], asked_rules(wish), *asked)
    scratch = room / "scratch"
    scratch.mkdir(exist_ok=True)
    told.say()
    done: list[dict[str, Any]] = []
    try:
        with suppress(KeyboardInterrupt):
            maker = ledger.maker(() if wishes.audit else LATER)
            tick = _tick(told)
            disclosure = cast(Disclosure, wish["disclosure"])
            writer = Writer(
                ledger, wishes.names, disclosure, maker, wishes.owner, strict=wishes.strict
            )
            begun = writer.begun
            found_in = outcomes(files, wishes, scratch, now_ms(), maker, tick, begun=begun)
            for found, added in writer.write(found_in):
                done.append(as_json(found, added, wishes.audit))
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    read_in = sum(one["hands"] or 0 for one in done)
    last: dict[str, Any] = {"state": "done", "hands": read_in, "result": {"files": done}}
    refused = [one["refused"] for one in done if one["refused"]]
    if len(done) < len(files):
        last["state"] = "cancelled"
    elif refused and len(refused) == len(done):
        last |= {"state": "failed", "detail": f"line {refused[0]['line']}: {refused[0]['reason']}"}
    return last


WORK = {"match": _played, "bots": _met, "import": _imported}


def _tick(told: Told) -> Callable[[int], None]:
    def tick(hands: int) -> None:
        told.add(hands)
        if told.stopped:
            raise KeyboardInterrupt

    return tick


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]), sys.argv[2])
    except click.ClickException as reason:
        sys.exit(reason.format_message())
