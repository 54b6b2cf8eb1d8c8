"""`python -m api.jobs.work LEDGER JOB`: the process that does a job; nobody else writes meanwhile.

It writes into the job's own file how far it is, and in the end what came of it. Asked to stop, it
ends what it is at: a match after the hand that is being played, an import after the files that are
in. A job that only reads waits for nobody.
"""

import errno
import os
import shutil
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any, cast

import click
import msgspec
from msgspec.structs import replace

from analytics.projections.facts import PROJECTION_NAMES
from api.importing.import_report import as_json
from api.importing.import_writer import ImportWriter
from api.importing.input_copies import InputFile
from api.importing.pool import outcomes
from api.importing.worker import ImportOptions
from api.jobs.jobs import (
    DISK_FULL_ERRORS,
    FOLDER,
    Job,
    Jobs,
    Progress,
    busy_reason,
    is_job_name,
    is_writer,
    replace_file,
    writer_name,
)
from api.jobs.requests import (
    ENDLESS,
    THINK_MS,
    import_rules,
    match_plans,
    requested_ruleset,
    stage_of,
)
from api.playing.matches import MatchTerms, begin_match, play_here, play_live, taken_match
from api.playing.names import InvalidName, claim_names, tagged_records
from api.playing.recording import STOPPED, ledger_projections
from api.playing.wire_match import BotMatch
from api.playing.wire_match import as_json as as_parts
from api.questions.declared.fairness import FairnessParams, fairness
from api.questions.proof import NoSecrets, NotSigned, verify_leaves
from api.questions.verdicts import keep_import_verdicts
from api.viewpoints.hand_selection import NotInLedger
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.viewer import AUDITOR, Viewer
from dealer.deck import SeededDecks, random_seed
from dealer.wire.match import MatchJob
from dealer.wire.program import Limits, named_programs
from dealer.wire.protocol import wire_plan
from dealer.wire.sandbox import Isolation
from dealer.worker import WorkerGone
from engine.game import fingerprint, to_json
from events.ledger import Conflict, is_match
from events.match import Dealing, Disclosure
from events.types import Events
from store.folder.disk import LedgerLocked, Lock, lock_file, lock_owner, now_ms
from store.folder.frames import Damaged
from store.ledger import FileLedger, open_ledger
from store.proof.ledger_secrets import SecretFolder
from store.proof.tree import Refuted
from store.reader import Reader

REPORT_S = 0.2  # seconds at least between two reports
TURN_S = 0.1  # so often somebody who waits looks if it is his turn
LATER = PROJECTION_NAMES  # these are left for later by an import that is not audited


DISK_FULL = "the disk is full: what was written before is safe"


class JobRefused(Exception):
    """The job cannot be done; nothing was written."""


class JobReport:
    """Writes a job's progress into its file; `stopped` once the job is asked to end."""

    def __init__(self, room: Path, total: int | None) -> None:
        self._path = room / "state.json"
        self._now = Progress("running", total=total)
        self._at = 0.0
        self.stopped = False

    def add(self, hands: int) -> None:
        """Count so many more hands as done."""
        self._now = msgspec.structs.replace(self._now, hands=self._now.hands + hands)
        if time.monotonic() - self._at >= REPORT_S:
            self.say()

    def watch(self, items: Iterable[Any], doing: str, total: int) -> Iterator[Any]:
        """Say what is done, and count each of these; until it is asked to end."""
        self.say(detail=doing, hands=0, total=total)
        for item in items:
            if self.stopped:
                raise KeyboardInterrupt
            yield item
            self.add(1)

    def leaf(self, stream: str) -> bool:
        """Count one more leaf of the log; return whether to go on."""
        if not is_match(stream):
            self.add(1)
        return not self.stopped

    def say(self, **last: Any) -> None:
        """Write the progress, or the result."""
        self._now = msgspec.structs.replace(self._now, at=now_ms(), **last)
        self._at = time.monotonic()
        replace_file(self._path, self._now)

    def stop(self, number: int, frame: FrameType | None) -> None:
        self.stopped = True


def main(folder: Path, name: str) -> None:
    """Do the job, and write its result or its failure."""
    room = folder / FOLDER / name
    alive = (room / "lock").open("w")
    lock_file(alive.fileno())  # for as long as this process is there
    alive.write(str(os.getpid()))
    alive.flush()
    job = msgspec.json.decode((room / "job.json").read_bytes(), type=Job)
    if job.request.get("seed") is not None:  # from here on only the record of its match names it
        replace_file(room / "job.json", replace(job, request=job.request | {"seed": None}))
    report = JobReport(room, job.request.get("hands"))
    signal.signal(signal.SIGTERM, report.stop)
    try:
        if not is_writer(job):
            report.say(state="running")
            report.say(**READ_JOBS[job.kind](folder, job, report))
        elif (opened := _open_in_turn(folder, job, report)) is None:
            report.say(state="cancelled", detail="it was stopped before its turn had come")
        else:
            ledger, lock = opened
            try:
                last = WRITE_JOBS[job.kind](folder, room, job, ledger, report)
            finally:
                try:
                    ledger.close()
                finally:
                    lock.release()
            report.say(**last)
    except JobRefused as reason:
        report.say(state="refused", detail=str(reason))
    except LedgerLocked:
        report.say(state="refused", detail=busy_reason(lock_owner(folder)))
    except (Damaged, Conflict, OSError) as reason:
        report.say(state="failed", detail=DISK_FULL if _is_disk_full(reason) else str(reason))
    except BaseException:
        report.say(state="failed", detail="it failed here: the server's log of the job says where")
        raise
    finally:
        shutil.rmtree(room / "upload", ignore_errors=True)


def _is_disk_full(reason: BaseException | None) -> bool:
    """Whether it came of a disk without room."""
    if reason is None:
        return False
    if isinstance(reason, OSError) and reason.errno in DISK_FULL_ERRORS:
        return True
    return os.strerror(errno.ENOSPC).lower() in str(reason).lower() or _is_disk_full(
        reason.__cause__
    )


def _open_in_turn(folder: Path, job: Job, report: JobReport) -> tuple[FileLedger, Lock] | None:
    """Open the ledger once no earlier job is at work or waits; None if asked to stop before."""
    jobs, waited = Jobs(folder), False
    while not report.stopped:
        if not jobs.before(job):
            try:
                opened = open_ledger(folder, writer_name(job), ledger_projections(folder))
            except LedgerLocked:
                if not is_job_name(lock_owner(folder) or ""):
                    raise
            else:
                if waited:
                    report.say(state="running")
                return opened
        waited = True
        report.say(state="waiting")
        time.sleep(TURN_S)
    return None


def _verify_match(folder: Path, job: Job, report: JobReport) -> dict[str, Any]:
    """A match made again leaf by leaf, as the route does it with a short one."""
    viewed = LedgerView(Reader(folder).snapshot(), Viewer(AUDITOR))
    try:
        answer = verify_leaves(viewed, job.request["match"], look=report.leaf)
    except (NoSecrets, NotSigned, Refuted) as reason:
        return {"state": "failed", "detail": str(reason)}
    finally:
        viewed.close()
    if answer is None:
        return {"state": "cancelled"}
    return {"state": "done", "hands": answer["hands"], "result": answer}


def _test_fairness(folder: Path, job: Job, report: JobReport) -> dict[str, Any]:
    """Every hand of a match or of the ledger, as `muckrake fairness` tests them."""
    viewed = LedgerView(Reader(folder).snapshot(), Viewer(AUDITOR))
    try:
        answer = fairness(viewed, FairnessParams(job.match), report.watch)
    except NotInLedger as reason:
        return {"state": "failed", "detail": str(reason)}
    except KeyboardInterrupt:
        return {"state": "cancelled", "detail": None}
    finally:
        viewed.close()
    last = {"state": "done", "detail": None, "hands": answer.hands, "total": answer.hands}
    return {**last, "result": msgspec.to_builtins(answer)}


def _play_match(
    folder: Path, room: Path, job: Job, ledger: FileLedger, report: JobReport
) -> dict[str, Any]:
    """A match between bots of ours, hand by hand."""
    request = job.request
    (plan,) = match_plans(requested_ruleset(request), request)
    if taken_match(ledger, [plan]):
        raise JobRefused(f"there is a match {plan.match} already: give this one another name")
    disclosure = cast(Disclosure, request["disclosure"])
    tags = tagged_records(request.get("tags", {}), {name: name for name in plan.players})
    match = begin_match(
        ledger, SecretFolder(folder), plan, MatchTerms(request["dealing"], disclosure, tags)
    )
    report.say(total=None if plan.hands == ENDLESS else plan.hands)
    hands: Iterable[Events]
    if request["live"]:
        think_ms = THINK_MS if request["think_ms"] is None else request["think_ms"]
        hands = play_live(match, ledger, think_ms, lambda: report.stopped, stage_of(plan, request))
    else:
        hands = play_here(match, lambda: report.stopped)
    for _ in hands:
        report.add(1)
    played = match.end()
    about = {"dealing": request["dealing"], "disclosure": disclosure}
    result = {**about, **msgspec.to_builtins(played)}
    return {"state": "cancelled" if played.reason == STOPPED else "done", "result": result}


def _play_bots(
    folder: Path, room: Path, job: Job, ledger: FileLedger, report: JobReport
) -> dict[str, Any]:
    """A match between two programs of this machine, over the wire."""
    request = job.request
    names = request.get("names", {})  # a request of before has none
    one, two = named_programs(Path(request["folders"][0]), Path(request["folders"][1]), names)
    how = {"mirrored": request["mirror"], "open_bids": request["open_bids"]}
    players = (one.name, two.name)
    match = wire_plan(
        requested_ruleset(request), request["match"], players, request["hands"], **how
    )
    if ledger.read(match.match):
        raise JobRefused(f"there is a match {match.match} already: give this one another name")
    try:
        claim_names(SecretFolder(folder), {"A": one, "B": two}, names)
    except InvalidName as reason:
        raise JobRefused(str(reason)) from None
    dealing = cast(Dealing, request["dealing"])
    seed = request["seed"]
    if seed is None and dealing == "seeded":
        seed = random_seed()
    decks = SeededDecks(seed or "", match.deals)
    guard = Isolation((folder,), seed=seed)
    tags = tagged_records(request.get("tags", {}), {"A": one.name, "B": two.name})
    limits = Limits(clock=request["clock"])
    meeting = BotMatch(MatchJob(match, (one, two), limits, decks, guard), tags)
    start = meeting.match_start(seed, cast(Disclosure, request["disclosure"]), dealing)
    ledger.keep_ruleset(fingerprint(match.game), to_json(match.game))
    report.say()

    def counted(hands: Iterable[Events]) -> Iterator[Events]:
        for hand in hands:
            report.add(1)
            yield hand

    def silent(line: str) -> None:
        """Print nothing: what bots said is in the result."""

    try:
        played = meeting.record(
            ledger, start, silent, lambda: report.stopped, counted, SecretFolder(folder)
        )
    except WorkerGone as reason:
        return {"state": "failed", "detail": str(reason)}
    about = {"dealing": dealing, "disclosure": request["disclosure"], **how}
    of_bots = as_parts(meeting.parts(), meeting.faults)
    result = {**about, **msgspec.to_builtins(played), **of_bots}
    return {"state": "cancelled" if played.reason == STOPPED else "done", "result": result}


def _import_files(
    folder: Path, room: Path, job: Job, ledger: FileLedger, report: JobReport
) -> dict[str, Any]:
    """Files that were sent, each whole or not at all."""
    request = job.request
    paths = sorted((room / "upload").iterdir())
    files = [InputFile(path.name, path, path.stat().st_size) for path in paths]
    fields = (request[one] for one in ("names", "strict", "audit", "match", "owner"))
    options = ImportOptions(request["format"], import_rules(request), *fields)
    scratch = room / "scratch"
    scratch.mkdir(exist_ok=True)
    report.say()
    done: list[dict[str, Any]] = []
    disclosure = cast(Disclosure, request["disclosure"])
    tags = tagged_records(request.get("tags", {}))  # a request of before has none
    without = () if options.audit else LATER
    writer = ImportWriter(
        ledger, disclosure, without, options.owner, strict=options.strict, tags=tags
    )

    def tick(hands: int) -> None:
        report.add(hands)
        if report.stopped:
            raise KeyboardInterrupt

    try:
        with suppress(KeyboardInterrupt):
            begun = writer.begun
            now = now_ms(), ledger.nonces
            results = outcomes(files, options, scratch, *now, tick, begun=begun)
            for outcome, added in writer.write(results):
                done.append(as_json(outcome, added, options.audit))
        keep_import_verdicts(folder, writer.judged)
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


READ_JOBS = {"verify": _verify_match, "fairness": _test_fairness}
WRITE_JOBS = {"match": _play_match, "bots": _play_bots, "import": _import_files}


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]), sys.argv[2])
    except click.ClickException as reason:
        sys.exit(reason.format_message())
