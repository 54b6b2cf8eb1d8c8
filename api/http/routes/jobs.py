"""Long work: matches, imports and verifications, how far they are, and how to stop them."""

import asyncio
import re
from collections.abc import AsyncGenerator
from functools import partial
from hashlib import sha256
from shutil import rmtree
from typing import Annotated, Any, Literal

import msgspec
from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool

from api.http.access import ADMIN, AUDIT, WRITE, Access, Auth
from api.http.responses import (
    MEDIA_TYPES,
    NO_STORE,
    ChunkedResponse,
    content_types,
    format_of,
    json_response,
    list_response,
)
from api.http.routes.hands import Match
from api.http.routes.stream import feeds_of
from api.http.uploads import admit_upload, declared_length, save_files
from api.jobs.jobs import END_STATES, Job, JobDocument, Jobs, Progress, job_document, server_pid
from api.jobs.requests import bots_request, import_request, match_request, valid_tags
from api.problem import Problem
from api.questions.declared.matches import match_of
from api.questions.feed import Feeds
from formats.rakes import RakeFrom
from store.folder.disk import ReadOnly, archive_url, now_ms

router = APIRouter(prefix="/api/v1", tags=["jobs"], default_response_class=Response)

POLL_S = 0.2
HEARTBEAT_S = 15.0
_KEY = re.compile(r"[\x21-\x7e]{1,200}")
Key = Annotated[
    str | None,
    Header(description="The same request with the same key is done once, whenever it comes."),
]
Disclosure = Literal["sealed", "open-after-match", "open"]


class MatchWanted(BaseModel):
    """A match between bots, as `muckrake play` and `muckrake match` play it."""

    model_config = ConfigDict(extra="forbid")

    game: str | None = Field(None, max_length=2_000, examples=["auction-2024-mit"])
    ruleset: dict[str, Any] | None = Field(
        None, description="Rules instead of a `game`, as /api/v1/games/{game} tells them."
    )
    set_: dict[str, str | int | bool | float] = Field(
        {},
        alias="set",
        max_length=200,
        description="Parameters that are changed; /api/v1/games/{game} lists them.",
        examples=[{"stack": 200, "bids": "sealed"}],
    )
    hands: int | None = Field(
        None, ge=1, le=10_000_000, description="Else the document's, all of a freeze-out, or one."
    )
    seed: str | None = Field(
        None,
        max_length=200,
        description="Whoever knows it knows what it decides: the decks, unless they are committed"
        " to, and what bots of ours choose. Drawn if not given; an auditor reads it in the match.",
    )
    bots: list[str] | None = Field(None, max_length=10, examples=[["equity", "random"]])
    seats: int | None = Field(None, ge=1, le=10)
    match: str | None = Field(None, max_length=64, description="Its name; drawn if not given.")
    dealing: Literal["seeded", "committed"] | None = Field(
        None, description="`committed` if not given, `seeded` with a seed."
    )
    disclosure: Disclosure = "sealed"
    mirror: bool = False
    freeze_out: bool | None = Field(None, description="Whether it is one; else as the game says.")
    live: bool = False
    think_ms: int | None = Field(None, ge=0, le=10_000)
    folders: list[str] | None = Field(
        None,
        min_length=2,
        max_length=2,
        description="Two bots of the server's machine instead, as `muckrake match` plays them.",
    )
    names: dict[str, str] = Field(
        {},
        max_length=2,
        description="Names for the bots of folders, A the first and B the second.",
        examples=[{"A": "ursa-2", "B": "ursa-1"}],
    )
    tags: dict[str, dict[str, str]] = Field(
        {},
        max_length=10,
        description="What players are beside their names, by name, or as A and B of folders;"
        " questions take `by_tag`.",
        examples=[{"A": {"bot": "ursa", "version": "2"}}],
    )
    open_bids: bool = False
    clock: float | None = Field(
        None,
        ge=0.001,
        le=3_600,
        description="Seconds that a bot from a folder has in all; of a turn at a live table.",
    )
    news: list[str] = Field(
        [],
        max_length=100,
        description="What happens at a live table: WHAT:PLAYER@HAND.",
        examples=[["lost:equity-0@3", "back:equity-0@5"]],
    )


@router.post("/matches", operation_id="play", status_code=202, summary="Play a match between bots")
def play(request: Request, ask: Auth, body: MatchWanted, idempotency_key: Key = None) -> Response:
    ask.require_scope(WRITE)
    request_body = body.model_dump(by_alias=True)
    digest = sha256(msgspec.json.encode(request_body, order="sorted")).hexdigest()
    jobs, owner = _jobs_of_writable(ask), ask.owner
    known = jobs.known(owner, _checked_key(idempotency_key), digest)
    if known is None:
        bots = ask.service.settings.bots
        wanted_job = (
            match_request(request_body)
            if body.folders is None
            else bots_request(request_body, bots)
        )
        limits = ask.service.settings.limits
        room, _ = admit_upload(jobs, owner, limits, hands=wanted_job["asked"])
        kind: Literal["match", "bots"] = "match" if body.folders is None else "bots"
        job = Job(room.name, kind, owner, server_pid(), now_ms(), wanted_job["match"], wanted_job)
        known = jobs.begin(room, job, idempotency_key, digest)
    return _accepted_response(ask, request, jobs, known)


@router.post(
    "/imports",
    operation_id="import",
    status_code=202,
    summary="Bring hand histories into the ledger",
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "multipart/form-data": {
                    "schema": {
                        "type": "object",
                        "properties": {
                            "file": {
                                "type": "array",
                                "items": {"type": "string", "format": "binary"},
                            }
                        },
                    }
                },
                "text/plain": {"schema": {"type": "string", "format": "binary"}},
            },
        }
    },
)
async def import_logs(
    request: Request,
    ask: Auth,
    named_format: Annotated[
        str | None, Query(alias="format", description="What the files are; else they are known.")
    ] = None,
    game: Annotated[str | None, Query(description="Decide by this ruleset.")] = None,
    settings: Annotated[
        list[str] | None,
        Query(alias="set", description="NAME=VALUE: another parameter, such as stack=400."),
    ] = None,
    rake: Annotated[
        RakeFrom,
        Query(description="From where rakes are: fitted to the file, or the table of known sites."),
    ] = "fitted",
    names: Annotated[list[str] | None, Query(description="OLD=NEW, for players.")] = None,
    tags: Annotated[
        list[str] | None,
        Query(description="PLAYER=TAG:VALUE,TAG:VALUE, by which questions tell them apart."),
    ] = None,
    name: Annotated[str | None, Query(description="What the one file sent is called.")] = None,
    strict: Annotated[
        bool, Query(description="Refuse a file if a hand differs, is left out or in conflict.")
    ] = False,
    audit: Annotated[bool, Query(description="Judge every hand.")] = True,
    disclosure: Disclosure = "sealed",
    match: Annotated[
        str | None, Query(max_length=64, description="What the match of one file is called.")
    ] = None,
    idempotency_key: Key = None,
) -> Response:
    ask.require_scope(WRITE)
    owner = "" if ask.caller.has_scope(AUDIT) else ask.owner
    wanted_job = import_request(named_format, game, settings, names, strict, audit, match, rake)
    wanted_job |= {"tags": valid_tags(tags), "disclosure": disclosure, "owner": owner}
    jobs, owner, key = _jobs_of_writable(ask), ask.owner, _checked_key(idempotency_key)
    limits, again = ask.service.settings.limits, jobs.claimed(owner, key)
    coming = partial(admit_upload, jobs, owner, limits, size=declared_length(request), again=again)
    room, allowance = await run_in_threadpool(coming)
    try:
        digests = await save_files(request, room / "upload", name, allowance)
        digest = sha256(msgspec.json.encode((wanted_job, digests), order="sorted")).hexdigest()
        known = await run_in_threadpool(jobs.known, owner, key, digest)
        if known is None:
            if match is not None and len(digests) != 1:
                sentence = f"match={match} names one file, and {len(digests)} were sent"
                raise Problem("invalid", sentence)
            size = sum(path.stat().st_size for path in (room / "upload").iterdir())
            job = Job(room.name, "import", owner, server_pid(), now_ms(), match, wanted_job, size)
            known = await run_in_threadpool(jobs.begin, room, job, key, digest)
    finally:
        if not (room / "job.json").exists():  # nothing has come of it
            rmtree(room, ignore_errors=True)
    return await run_in_threadpool(_accepted_response, ask, request, jobs, known)


@router.post(
    "/matches/{match}/verify",
    operation_id="verify",
    status_code=202,
    summary="Verify a match, however long it is",
    description="For auditors: the same as GET, as a job. It reads, so it waits for nobody.",
)
def verify(request: Request, ask: Auth, match: Match, idempotency_key: Key = None) -> Response:
    ask.require_auditor(f"{ask.viewer.view} verifies no match: only an auditor does")
    with ask.viewed() as viewed:
        wanted_job = {"match": match, "hands": match_of(viewed, match).hands}
    digest = sha256(msgspec.json.encode(("verify", match))).hexdigest()
    jobs, owner, key = _jobs_of(ask), ask.owner, _checked_key(idempotency_key)
    known = jobs.known(owner, key, digest)
    if known is None:
        room, _ = admit_upload(jobs, owner, ask.service.settings.limits)
        job = Job(room.name, "verify", owner, server_pid(), now_ms(), match, wanted_job)
        known = jobs.begin(room, job, key, digest)
    return _accepted_response(ask, request, jobs, known)


@router.get(
    "/jobs",
    operation_id="jobs",
    summary="Your jobs of the last week, the newest first",
    description="Who has `keys:admin` is told of everybody's.",
    responses=content_types("json", "ndjson"),
)
def list_jobs(
    request: Request,
    ask: Auth,
    limit: Annotated[int, Query(ge=1, le=1000, description="So many at most.")] = 100,
) -> Response:
    jobs = _permitted_jobs(ask)
    mine = [job for job in jobs.every() if _is_callers(ask, job)][:limit]
    return list_response(
        request,
        [_job_document(ask, job, jobs.progress(job)) for job in mine],
        None,
        ("json", "ndjson"),
    )


@router.get(
    "/jobs/{job}",
    operation_id="job",
    summary="How far a job is, or what came of it",
    responses=content_types("json", "sse"),
)
def progress(request: Request, ask: Auth, job: str) -> Response:
    jobs, known = _job_of_caller(ask, job)
    if format_of(request, ("json", "sse")) == "json" or getattr(request.state, "head", False):
        return json_response(
            request, _job_document(ask, known, jobs.progress(known)), cache=NO_STORE
        )
    stall_s = request.app.state.service.settings.limits.stall_s
    chunks = _job_events(ask, jobs, known, feeds_of(request.app))
    return ChunkedResponse(chunks, MEDIA_TYPES["sse"], {"Cache-Control": NO_STORE}, stall_s)


@router.delete("/jobs/{job}", operation_id="cancel", summary="Stop a job")
def cancel(request: Request, ask: Auth, job: str) -> Response:
    jobs, known = _job_of_caller(ask, job)
    if jobs.progress(known).state in ("done", "failed"):
        raise Problem("conflict", "this job is over: there is nothing to stop")
    return json_response(request, _job_document(ask, known, jobs.cancel(known)), cache=NO_STORE)


async def _job_events(
    ask: Access, jobs: Jobs, job: Job, feeds: Feeds
) -> AsyncGenerator[bytes, None]:
    """The job's document whenever it changes, until the job is over."""
    before, quiet = b"", 0.0
    while not feeds.stopping:
        progress = await run_in_threadpool(jobs.progress, job)
        text = msgspec.json.encode(_job_document(ask, job, progress))
        if text != before:
            yield b"data: %b\n\n" % text
            before, quiet = text, 0.0
        if progress.state in END_STATES:
            return
        if quiet >= HEARTBEAT_S:
            yield b": still at work\n\n"
            quiet = 0.0
        await asyncio.sleep(POLL_S)
        quiet += POLL_S


def _job_of_caller(ask: Access, name: str) -> tuple[Jobs, Job]:
    """A job of this caller; another caller's is not found, except by an administrator of keys."""
    jobs = _permitted_jobs(ask)
    job = jobs.job(name)
    if job is None or not _is_callers(ask, job):
        raise Problem("not-found", f"there is no job {name[:80]} of yours")
    return jobs, job


def _permitted_jobs(ask: Access) -> Jobs:
    """The ledger's jobs, for a caller who may begin one."""
    if not ask.caller.has_scope(AUDIT):
        ask.require_scope(WRITE)
    return _jobs_of(ask)


def _is_callers(ask: Access, job: Job) -> bool:
    return job.owner == ask.owner or ask.caller.has_scope(ADMIN)


def _accepted_response(ask: Access, request: Request, jobs: Jobs, job: Job) -> Response:
    where = f"/api/v1/jobs/{job.id}"
    content = _job_document(ask, job, jobs.progress(job))
    return json_response(request, content, cache=NO_STORE, status=202, Location=where)


def _job_document(ask: Access, job: Job, progress: Progress) -> JobDocument:
    return job_document(job, progress, whole=ask.caller.has_scope(AUDIT))


def _jobs_of(ask: Access) -> Jobs:
    return Jobs(ask.service.settings.folder)


def _jobs_of_writable(ask: Access) -> Jobs:
    """The jobs of a ledger that can be written: an archive cannot."""
    if (url := archive_url(ask.service.settings.folder)) is not None:
        raise ReadOnly(url)
    return _jobs_of(ask)


def _checked_key(key: str | None) -> str | None:
    if key is not None and not _KEY.fullmatch(key):
        raise Problem("invalid", "an Idempotency-Key is 1 to 200 printable characters")
    return key
