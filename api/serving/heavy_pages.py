"""Heavy pages of a large ledger: made by processes of their own, kept, and drawn when they come.

A page that is kept is sent at once. For any other a caller waits `SOON_S`, and is then sent a page
that shows how far the work is and asks again by itself, with a script or without. Meanwhile other
requests are answered as if nobody had asked for it. Two callers who may see the same wait for one
process. Few processes run at a time, fewer for one caller; a process that nobody waits for any more
is ended when somebody else's turn has come.

    jobs/pages/DIGEST     a kept page: what it was made of, and its bytes

`DIGEST` is that of the program, and of all that decides a page beside the ledger: its address, the
viewpoint and what its caller may do. A kept page is sent as long as the ledger has not grown. When
it has, a process looks at the hands that the page is about: as long as they are the same, so is the
page. A page that somebody waited for is shown to him, even if the ledger grew while it was made.

Only whole pages are kept. What is refused is refused by the page itself, in its usual words. On a
full disk, or where nobody may write, pages are kept in memory, and made again after a restart.
"""

import asyncio
import re
import time
from collections import OrderedDict
from itertools import islice
from multiprocessing import get_context

from fastapi import Request
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Receive, Scope, Send

from api.http.ask import Access, Caller
from api.http.connections import who
from api.http.layers import Layer, put
from api.http.ledger_service import LedgerService
from api.pages.site import page, sent
from api.problem import Problem
from api.serving.page_process import (
    SECONDS_MAX,
    Application,
    KeptPage,
    Pinned,
    Progress,
    Wanted,
    folder_of,
    make,
    read,
)
from api.serving.request_limits import Places
from dealer.worker import ctrl_c_blocked
from store.folder.cache_folder import cache_folder

HEAVY = re.compile(r"/players(/[^/]+(/[a-z]+)?)?|/ratings")
VALUED = re.compile(r"/players/[^/]+/(bids|swaps|results|opponent)")  # cards are, one by one
SOON_S = 0.2  # a page that comes so soon needs no progress
LOOK_S = 1  # so often a page with progress asks again
WAITED_FOR_S = 10.0  # a page is shown to who has waited for it, as it was then
LEFT_S = 10.0  # who has not asked for so long has left
QUEUE_MAX = 16  # pages of one caller that are waited for
IN_MEMORY = 24  # pages
ENDED = "the process that made this page has ended before it was done: ask again"
SLOW = f"this page was not made within {SECONDS_MAX:g} seconds: ask for less, such as one match"


class Making:
    """A page that somebody waits for: how far it is, and in the end itself, or why it is not."""

    def __init__(self, asker: str) -> None:
        self.asker = asker
        self.progress: Progress | None = None
        self.made: KeptPage | None = None
        self.refused = False  # by the page itself, which says why
        self.failed: str | None = None
        self.asked_at = self.over_at = time.monotonic()
        self.over = self.left = False

    def ends(self, made: KeptPage | None, refused: bool = False, failed: str | None = None) -> None:
        """It is there, or never will be."""
        self.made, self.refused, self.failed = made, refused, failed
        self.over, self.over_at = True, time.monotonic()

    def answers(self, as_of: str) -> bool:
        """Whether it is for who asks now: it comes, has just come, or nothing has come since."""
        fresh = time.monotonic() - self.over_at < WAITED_FOR_S and not self.left
        return not self.over or fresh or (self.made is not None and self.made.as_of == as_of)


class HeavyPages(Layer):
    """Sends kept pages, has others made, and shows how far they are."""

    def __init__(self, app: ASGIApp, service: LedgerService, application: Application) -> None:
        """`application` is called by each process, for the same as is served here."""
        super().__init__(app)
        self.service, self._application = service, application
        limits = service.settings.limits
        self._places = Places(limits.pages, max(1, limits.pages - 1))
        self._known: OrderedDict[str, Making] = OrderedDict()
        self._tasks: set[asyncio.Task[None]] = set()

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "GET" or not HEAVY.fullmatch(scope["path"]):
            await self.app(scope, receive, send)
            return
        request, until = Request(scope), time.monotonic() + SOON_S
        try:
            ask, pinned = await run_in_threadpool(self._asked, request)
        except Problem:  # the page says the same
            await self.app(scope, receive, send)
            return
        limits = self.service.settings.limits
        if pinned.next_seq < (limits.apart if VALUED.fullmatch(ask.path) else limits.apart_counted):
            await self.app(scope, receive, send)
            return
        making = await self._making(request, ask, pinned)
        while not making.over and time.monotonic() < until:
            await asyncio.sleep(0.01)
        if making.refused:
            await self.app(scope, receive, send)
            return
        put(scope, "view", ask.viewer.view)
        if making.failed is not None:
            raise Problem("unavailable", making.failed).after(WAITED_FOR_S)
        if making.made is not None:
            answer = sent(request, making.made.body)
        else:
            far, look_s = making.progress, LOOK_S
            answer = page(request, ask, "progress.html", status=202, progress=far, look_s=look_s)
            answer.headers["Cache-Control"] = "no-store"
        await answer(scope, receive, send)

    def _asked(self, request: Request) -> tuple[Access, Pinned]:
        """Who asks, and what he may know of the ledger by now."""
        caller: Caller = getattr(request.state, "caller", Caller())
        viewer = caller.viewer(request.query_params.get("as"))
        known = self.service.snapshot(viewer)
        pinned = Pinned(known.next_pos, known.next_seq, known.early)
        return Access(caller, viewer, self.service, request.url.path), pinned

    async def _making(self, request: Request, ask: Access, pinned: Pinned) -> Making:
        """The page as it is made, or was: the same for all who may see the same."""
        settings = self.service.settings
        wanted = Wanted(
            request.scope["path"],
            request.scope["query_string"].decode("latin-1"),
            request.scope["scheme"],
            request.headers.get("host", ""),
            ask.caller.name,
            tuple(sorted(ask.caller.scopes)),
            ask.viewer.view,
            ask.viewer.matches,
            settings.frame_origins,
            request.headers.get("hx-request") is not None,
        )
        digest = await run_in_threadpool(lambda: wanted.digest)
        as_of = f"{pinned.next_pos}.{pinned.next_seq}"
        asker = who(request.scope)
        known = self._known.get(digest)
        if known is None or not known.answers(as_of):
            mine = sum(not one.over and one.asker == asker for one in self._known.values())
            if mine >= QUEUE_MAX:
                sentence = f"{QUEUE_MAX} pages are being made for you: wait until one is there"
                raise Problem("too-many-requests", sentence).after(LOOK_S)
            known = self._known[digest] = Making(asker)
            kept = read(folder_of(settings) / digest)
            if kept is not None and kept.as_of == as_of:
                known.ends(kept)
            else:
                task = asyncio.create_task(self._make(known, wanted, pinned))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
        known.asked_at = time.monotonic()
        self._known.move_to_end(digest)
        over = [name for name, one in self._known.items() if one.over]
        for name in islice(over, max(0, len(over) - IN_MEMORY)):
            del self._known[name]
        return known

    async def _make(self, making: Making, wanted: Wanted, pinned: Pinned) -> None:
        """Its turn, and its process."""
        try:
            while not await self._places.take(making.asker, LEFT_S):
                if time.monotonic() - making.asked_at > LEFT_S:
                    making.left = True
                    return
            try:
                await self._by_process(making, wanted, pinned)
            finally:
                self._places.leave(making.asker)
        finally:
            if not making.over:
                making.ends(None, failed=ENDED)

    async def _by_process(self, making: Making, wanted: Wanted, pinned: Pinned) -> None:
        """Started, heard and, where it must be, ended."""
        context = get_context("forkserver")  # forked from one that has imported everything
        context.set_forkserver_preload([__name__, self._application.__module__])
        ours, theirs = context.Pipe(duplex=False)
        given = (theirs, self._application, wanted, pinned, self.service.settings, cache_folder())
        process = context.Process(target=make, args=given, daemon=True)

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
                    left = time.monotonic() - making.asked_at > LEFT_S and self._places.crowded
                    if left or time.monotonic() > until:
                        making.ends(None, failed=ENDED if left else SLOW)
                        making.left = left
                        return
                message = await run_in_threadpool(ours.recv)
                if isinstance(message, Progress):
                    making.progress = message
                else:
                    making.ends(message, refused=message is None)
        except (EOFError, OSError):
            making.ends(None, failed=ENDED)
        finally:
            if process.pid is not None:
                process.kill()
                await asyncio.shield(run_in_threadpool(process.join, 5))
            ours.close()
