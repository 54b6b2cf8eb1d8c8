"""Heavy answers: made by processes of their own, cached, and sent when they are ready.

What is about so many hands that it would take longer than a moment is made apart, be it a page, a
frame or JSON; all else the server answers itself. An answer that is kept is sent at once. For any
other a caller waits `SOON_S`, and is then sent a page that shows how far the work is and asks again
by itself, with a script or without; who asks for data waits, and is sent how far it is if it does
not come in time. Meanwhile other requests are answered as if nobody had asked for it. Two callers
who may see the same wait for one process. Few processes run at a time, fewer for one caller; a
process that nobody waits for any more is ended when somebody else's turn has come.

    jobs/pages/DIGEST     a kept answer: the digest of what it is about, its headers, its bytes

`DIGEST` is that of the program, and of all that decides an answer beside the ledger: its address,
the viewpoint and what its caller may do. A kept answer is sent as long as what its viewer is told
of the hands that it is about is the same (`hands_of_scope`). One that somebody waited for is shown
to him, even if there are new hands meanwhile.

Only whole answers are kept. What is refused is refused by the route itself, in its usual words. On
a full disk, or where nobody may write, they are kept in memory, and made again after a restart.
"""

import asyncio
import time
from collections import OrderedDict
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Receive, Scope, Send

from api.http.access import Access, Caller
from api.http.ledger_service import LedgerService
from api.http.limits import FairSemaphore, caller_id
from api.http.middleware import HttpMiddleware, set_request_state
from api.http.responses import is_cached
from api.pages.addresses import Addresses
from api.pages.embedded import EMBED_PATH, framed_response
from api.pages.site import page
from api.problem import Problem
from api.questions.question import API
from api.serving.answer_cache import (
    SECONDS_MAX,
    AnswerHands,
    AnswerScope,
    Application,
    CachedAnswer,
    PageRequest,
    PinnedSnapshot,
    Progress,
    answer_folder,
    hands_of_scope,
    make_answer,
    read_cached,
    scope_of_answer,
)
from api.viewpoints.viewer import PUBLIC, Viewer
from dealer.worker import ctrl_c_blocked
from store.folder.disk import cache_folder

ANSWER_SOON_S = 0.2  # a page that comes so soon needs no progress
ANSWER_DATA_S = 30.0  # so long a program waits for data: less than for any answer
REFRESH_S = 1  # so often a page with progress asks again, and whether a program is still there
ABANDONED_S = 10.0  # a page is shown to who has waited for it, as it was then
KEPT_AFTER_S = 10.0  # who has not asked for so long has left
QUEUE_MAX = 16  # pages of one caller that are waited for
MEMORY_MAX = 24  # answers
ENDED_SENTENCE = "the process that made this page has ended before it was done: ask again"
SLOW_SENTENCE = (
    f"this page was not made within {SECONDS_MAX:g} seconds: ask for less, such as one match"
)


class PendingAnswer:
    """An answer about some hands that a client waits for: its progress, and in the end itself,
    or why there is none."""

    def __init__(self, asker: str, hands: str) -> None:
        self.asker, self.hands = asker, hands
        self.progress: Progress | None = None
        self.answer: CachedAnswer | None = None
        self.refused = False  # by the page itself, which says why
        self.failed: str | None = None
        self.asked_at = self.over_at = time.monotonic()
        self.over = self.left = False

    def finish(
        self, answer: CachedAnswer | None, refused: bool = False, failed: str | None = None
    ) -> None:
        """Set the answer, or why there will be none."""
        self.answer, self.refused, self.failed = answer, refused, failed
        self.over, self.over_at = True, time.monotonic()

    def is_about(self, hands: str) -> bool:
        """Whether it answers a request about these hands: it is being made, was just made, or
        its hands are the same."""
        fresh = time.monotonic() - self.over_at < ABANDONED_S and not self.left
        same = self.answer is not None and hands and self.hands == hands
        return bool(not self.over or fresh or same)


class HeavyPages(HttpMiddleware):
    """Send cached answers, have others made, and show their progress."""

    def __init__(self, app: ASGIApp, service: LedgerService, application: Application) -> None:
        """`application` is called by each process, for the same application as is served here."""
        super().__init__(app)
        self.service, self._application = service, application
        limits = service.settings.limits
        self._places = FairSemaphore(limits.page_processes, max(1, limits.page_processes - 1))
        self._known: OrderedDict[str, PendingAnswer] = OrderedDict()
        self._tasks: set[asyncio.Task[None]] = set()

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("raw_path", b"").partition(b"?")[0].decode("latin-1")
        of = scope_of_answer(path, scope["query_string"].decode("latin-1"))
        if of is None or scope["method"] != "GET":
            await self.app(scope, receive, send)
            return
        request, begun = Request(scope, receive), time.monotonic()
        try:
            ask, pinned, own = await run_in_threadpool(self._access_of, request, of)
        except Problem:  # the route says the same
            await self.app(scope, receive, send)
            return
        if not of.is_heavy(own, self.service.settings.limits):
            await self.app(scope, receive, send)
            return
        making = await self._pending_answer(request, ask, path, pinned, own.digest)
        # What a script puts into a page that is there has no room for progress.
        waits = of.data or request.headers.get("hx-request") is not None
        until = begun + (ANSWER_DATA_S if waits else ANSWER_SOON_S)
        while not making.over and time.monotonic() < until:
            await asyncio.sleep(0.01)
            if waits and time.monotonic() - making.asked_at > REFRESH_S:
                if await request.is_disconnected():
                    return
                making.asked_at = time.monotonic()
        if making.refused:
            await self.app(scope, receive, send)
            return
        set_request_state(scope, "view", ask.viewer.view)
        if making.failed is not None:
            raise Problem("unavailable", making.failed).after(ABANDONED_S)
        if making.answer is not None:
            answer = cached_response(request, making.answer)
        elif waits:
            raise Problem("unavailable", f"{progress_sentence(making.progress)}: ask again").after(
                REFRESH_S
            )
        else:
            answer = progress_page(request, ask, path, making.progress)
        await answer(scope, receive, send)

    def _access_of(
        self, request: Request, of: AnswerScope
    ) -> tuple[Access, PinnedSnapshot, AnswerHands]:
        """The caller's access, what of the ledger he may know by now, and which hands the answer
        is about."""
        caller: Caller = getattr(request.state, "caller", Caller())
        viewer = caller.viewer(request.query_params.get("as"))
        if request.url.path.startswith(EMBED_PATH):  # of any viewer
            caller, viewer = Caller(), Viewer()
        ask = Access(caller, viewer, self.service, request.url.path)
        with ask.viewed() as viewed:
            at = viewed.snapshot
            return (
                ask,
                PinnedSnapshot(at.next_pos, at.next_seq, at.early),
                hands_of_scope(viewed, of),
            )

    async def _pending_answer(
        self, request: Request, ask: Access, at: str, pinned: PinnedSnapshot, hands: str
    ) -> PendingAnswer:
        """The answer as it is being made, or was; one for all callers who may see the same."""
        settings = self.service.settings
        page_request = PageRequest(
            at,
            request.scope["query_string"].decode("latin-1"),
            request.scope["scheme"],
            request.headers.get("host", ""),
            ask.caller.name,
            tuple(sorted(ask.caller.scopes)),
            ask.viewer.view,
            ask.viewer.matches,
            settings.frame_origins,
            request.headers.get("accept", "") if at.startswith(API) else "text/html",
            request.headers.get("hx-request") is not None,
        )
        digest = await run_in_threadpool(lambda: page_request.digest)
        asker = caller_id(request.scope)
        known = self._known.get(digest)
        if known is None or not known.is_about(hands):
            own_count = sum(not one.over and one.asker == asker for one in self._known.values())
            if own_count >= QUEUE_MAX:
                sentence = f"{QUEUE_MAX} pages are being made for you: wait until one is there"
                raise Problem("too-many-requests", sentence).after(REFRESH_S)
            known = self._known[digest] = PendingAnswer(asker, hands)
            path = answer_folder(settings) / digest
            kept = await run_in_threadpool(read_cached, path)
            if kept is not None and hands and kept.hands == hands:
                known.finish(kept)
            else:
                task = asyncio.create_task(self._make(known, page_request, pinned, path))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
        known.asked_at = time.monotonic()
        self._known.move_to_end(digest)
        over = [name for name, one in self._known.items() if one.over]
        for name in islice(over, max(0, len(over) - MEMORY_MAX)):
            del self._known[name]
        return known

    async def _make(
        self, making: PendingAnswer, request: PageRequest, pinned: PinnedSnapshot, path: Path
    ) -> None:
        """Make an answer in a process, when its turn comes."""
        try:
            while not await self._places.acquire(making.asker, KEPT_AFTER_S):
                if time.monotonic() - making.asked_at > KEPT_AFTER_S:
                    making.left = True
                    return
            try:
                await self._run_process(making, request, pinned, path)
            finally:
                self._places.release(making.asker)
        finally:
            if not making.over:
                making.finish(None, failed=ENDED_SENTENCE)

    async def _run_process(
        self, making: PendingAnswer, request: PageRequest, pinned: PinnedSnapshot, path: Path
    ) -> None:
        """Start the process of an answer, read its progress and, where it must be, kill it."""
        context = get_context("forkserver")  # forked from one that has imported everything
        context.set_forkserver_preload([__name__, self._application.__module__])
        ours, theirs = context.Pipe(duplex=False)
        settings, hands = self.service.settings, making.hands
        arguments = (request, pinned, hands, path, settings, cache_folder())
        process = context.Process(
            target=make_answer, args=(theirs, self._application, *arguments), daemon=True
        )

        def start() -> None:
            with ctrl_c_blocked():
                process.start()
            theirs.close()

        try:
            await run_in_threadpool(start)
            until = time.monotonic() + SECONDS_MAX
            while not making.over:
                while not ours.poll():
                    await asyncio.sleep(0.02)
                    left = (
                        time.monotonic() - making.asked_at > KEPT_AFTER_S and self._places.crowded
                    )
                    if left or time.monotonic() > until:
                        making.finish(None, failed=ENDED_SENTENCE if left else SLOW_SENTENCE)
                        making.left = left
                        return
                message = await run_in_threadpool(ours.recv)
                if isinstance(message, Progress):
                    making.progress = message
                else:
                    making.finish(message, refused=message is None)
        except (EOFError, OSError):
            making.finish(None, failed=ENDED_SENTENCE)
        finally:
            if process.pid is not None:
                process.kill()
                await asyncio.shield(run_in_threadpool(process.join, 5))
            ours.close()


def cached_response(request: Request, answer: CachedAnswer) -> Response:
    """Send an answer that was made before; 304 if the client has it."""
    if "etag" in answer.headers and is_cached(request, answer.headers["etag"]):
        headers = {
            name: header for name, header in answer.headers.items() if name != "content-type"
        }
        return Response(status_code=304, headers=headers)
    return Response(answer.body, headers=answer.headers)


def progress_page(request: Request, ask: Access, path: str, state: Progress | None) -> Response:
    """A page that shows the progress of an answer; in a frame where the page will stand in one."""
    more: dict[str, Any] = {"progress": state, "look_s": REFRESH_S}
    in_frame = path.startswith(EMBED_PATH)
    if in_frame:
        query = request.url.include_query_params(**{"as": PUBLIC}).query
        whole = f"/{path.removeprefix(EMBED_PATH)}?{query}"
        more |= {"framed": True, "whole": whole, "to": Addresses(PUBLIC)}
    answer = page(request, ask, "progress.html", status=202, **more)
    answer.headers["Cache-Control"] = "no-store"
    return framed_response(answer, ask) if in_frame else answer


def progress_sentence(state: Progress | None) -> str:
    """An answer's progress, in a sentence that has no end."""
    done = "" if state is None else f" ({state.doing}, {state.done} of {state.total})"
    return f"this answer is being made{done}"
