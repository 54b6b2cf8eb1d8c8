"""A real Chromium over a real `muckrake serve`; no error, no foreign request passes unnoticed."""

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from api.http.credentials import login_url
from api.main import main
from tests import chromium
from tests.browser.club import Club
from tests.processes import Popen

try:
    from playwright.sync_api import TimeoutError as TookTooLong
    from playwright.sync_api import expect as expected
except ImportError:  # every test here is skipped before it could expect anything
    expected = None  # type: ignore[assignment]
    TookTooLong = TimeoutError  # type: ignore[assignment,misc]

if TYPE_CHECKING:
    from playwright.sync_api import (
        Browser,
        BrowserContext,
        ConsoleMessage,
        Locator,
        Page,
        Request,
        ViewportSize,
    )

__all__ = ["CONTESTED", "PHONE", "Site", "complaints", "expect", "named"]

PLAYED = (
    *(
        (*("site-nl", "--hands", "20", "--seed", "1", "--match", f"cup.{match}"), *bots)
        for match, *bots in (
            ("1.caller-1.tight-0", "--bots", "tight,caller"),
            ("1.tight-0.tight-1", "--bots", "tight,tight"),
            ("2.caller-1.tight-0", "--bots", "tight,caller"),
        )
    ),
    ("auction-2024", "--hands", "70", "--seed", "16", "--match", "scrim"),
    ("swap-2022", "--hands", "12", "--seed", "2", "--match", "swap"),
    ("auction-2024-mit", "--hands", "8", "--seed", "3", "--match", "open", "--disclosure", "open"),
    ("auction-2024", "--hands", "6", "--match", "fair", "--dealing", "committed"),
    ("site-nl", "--hands", "8", "--seed", "4", "--seats", "6", "--match", "ring"),
)
CONTESTED = "scrim/2"  # a tie after an auction that somebody paid for
SERVE = """
import sys
from functools import partial
from api.http import limits
from api.main import main
limits.Limits = partial(limits.Limits, page_processes=0, seconds=300.0)
sys.exit(main(sys.argv[1:]))
"""
"""It makes heavy pages itself: how others come is in `test_heavy_pages_in_the_browser`."""
PHONE: "ViewportSize" = {"width": 390, "height": 844}
DESK: "ViewportSize" = {"width": 1280, "height": 720}
KEPT = {"as_auditor", "java_script_enabled"}  # whoever asks for more than these has a new browser


class Soon:
    """What is expected of a page or of a part of it, looked at again every 50 ms.

    Who is patient looks twice a second in Playwright, and tests waited for that: so it is asked to
    be patient for a moment, again and again.
    """

    MOMENT_MS = 400

    def __init__(self, of: "Locator | Page") -> None:
        self._expected = expected(of)

    def __getattr__(self, name: str) -> Callable[..., None]:
        holds = getattr(self._expected, name)

        def asked(*words: Any, timeout: int = 30_000, **named: Any) -> None:
            for moments in range(timeout // self.MOMENT_MS, -1, -1):
                with suppress(*([AssertionError] if moments else [])):
                    holds(*words, timeout=self.MOMENT_MS, **named)
                    break

        return asked


def expect(of: "Locator | Page") -> Soon:
    """A machine may have more to do than this: it is patient for half a minute, or as is said."""
    return Soon(of)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker("browser")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    there = chromium.found()
    if there.file is None:
        if chromium.required():
            pytest.fail(there.reason, pytrace=False)
        pytest.skip(there.reason)


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """The system's own browser."""
    return {
        **browser_type_launch_args,
        "executable_path": chromium.found().file,
        "args": chromium.flags(),
    }


@pytest.fixture(scope="session")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ledger that is looked at."""
    folder = tmp_path_factory.mktemp("browsed") / "ledger"
    for words in PLAYED:
        assert main(["play", *words, "--ledger", str(folder)]) == 0
    return folder


@pytest.fixture(scope="session")
def club() -> Iterator[Club]:
    """A site that may frame some pages."""
    with Club() as club:
        threading.Thread(target=club.serve_forever, args=(0.02,), daemon=True).start()
        yield club
        club.shutdown()


@pytest.fixture(scope="session")
def server(house: Path, club: Club) -> Iterator[str]:
    """Its address."""
    with served(house, "--frame-origin", club.origin) as base:
        yield base


@contextmanager
def served(house: Path, *more: str) -> Iterator[str]:
    """The address of a server over a ledger."""
    words = ["serve", "--port", "0", "--ledger", str(house), *more]
    with Popen([sys.executable, "-c", SERVE, *words], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().split()[0].rstrip("/")
        finally:
            process.kill()


@pytest.fixture(scope="session")
def auditor(browser: "Browser", server: str, house: Path) -> Any:
    """The cookie of somebody who opened the auditor's link."""
    return logged_in(browser, server, house)


def logged_in(browser: "Browser", server: str, house: Path) -> Any:
    """The cookie of an auditor at this server."""
    context = browser.new_context()
    context.new_page().goto(login_url(house, server, ("hands:read", "audit:read")))
    state = context.storage_state()
    context.close()
    return state


@pytest.fixture(scope="session")
def kept(browser: "Browser") -> Iterator[dict[Any, "Page"]]:
    """Pages that stay open from test to test: a browser is longer in starting than in looking."""
    pages: dict[Any, Page] = {}
    yield pages
    for page in pages.values():
        page.context.close()


@pytest.fixture
def site(
    server: str,
    house: Path,
    auditor: Any,
    browser: "Browser",
    new_context: Callable[..., "BrowserContext"],
    kept: dict[Any, "Page"],
) -> Iterator["Site"]:
    """The pages, for one test; at its end nothing may have gone wrong on any of them."""
    site = Site(server, house, auditor, new_context)
    taken: dict[Any, Page] = {}

    def again(**options: Any) -> "Page | None":
        """The kept page of these options, for the first who asks for it in this test."""
        if (asked := tuple(options.items())) in taken:
            return None
        if asked not in kept:
            kept[asked] = site.page(browser.new_context, **options)
        else:
            site.listen(kept[asked].context)
        taken[asked] = kept[asked]
        return kept[asked]

    site.again = again
    yield site
    for page in taken.values():
        left(page)
        site.listen(page.context, no_more=True)
    assert [] == site.wrong


def left(page: "Page") -> None:
    """What a test has done to this page is undone: it is as a new one."""
    for other in page.context.pages[1:]:
        other.close()
    if page.url.startswith("http"):
        page.evaluate("localStorage.clear()")
    page.goto("about:blank")
    page.mouse.move(0, 0)
    if page.viewport_size != DESK:
        page.set_viewport_size(DESK)


class Site:
    """A server and browsers at it; whatever they complain of is in `wrong`."""

    def __init__(self, base: str, house: Path, auditor: Any, contexts: Any) -> None:
        self.base = base
        self.house = house
        self.wrong: list[str] = []
        self.again: Callable[..., Page | None] = lambda **_: None
        self._auditor = auditor
        self._contexts = contexts
        self._expected = ""
        self._heard = {
            "console": self._hear,
            "weberror": lambda error: self.wrong.append(f"uncaught: {error.error}"),
            "request": self._watch,
        }

    def page(self, contexts: Any = None, *, as_auditor: bool = True, **options: Any) -> "Page":
        """A new browser's first page: of an auditor, or of somebody whom nobody knows."""
        known = {"storage_state": self._auditor} if as_auditor else {}
        make = contexts or self._contexts
        context: BrowserContext = make(base_url=self.base, **known, **options)
        self.listen(context)
        return context.new_page()

    def listen(self, context: "BrowserContext", *, no_more: bool = False) -> None:
        """To all that goes wrong there."""
        for event, heard in self._heard.items():
            (context.remove_listener if no_more else context.on)(event, heard)  # type: ignore[call-overload]

    def open(self, path: str, *, status: int = 200, **options: Any) -> "Page":
        """A page of the site in a browser as if it were new; a heavy one when it has come."""
        page = (options.keys() <= KEPT and self.again(**options)) or self.page(**options)
        self._expected = str(status)
        answer = page.goto(path)
        assert answer is not None
        if (status, answer.status) == (200, 202):
            expect(page.locator("#progress")).to_have_count(0, timeout=120_000)
            return page
        assert status == answer.status, page.inner_text("body")
        return page

    def go(self, page: "Page", path: str, *, status: int = 200) -> None:
        """Another page of the site in a browser that is there; it is there, and whole."""
        self._expected = str(status)
        answer = page.goto(path)
        assert answer is not None
        assert answer.status in (status, 202), page.inner_text("body")
        expect(page.locator("#progress")).to_have_count(0, timeout=120_000)

    def shot(self, page: "Page", name: str) -> None:
        """A picture of the page, if somebody wants pictures: in $MUCKRAKE_SCREENSHOTS.

        Chromium has hung in one of some thousand: it is asked again.
        """
        if folder := os.environ.get("MUCKRAKE_SCREENSHOTS"):
            path = Path(folder) / f"{name}.png"
            try:
                page.screenshot(path=path, full_page=True)
            except TookTooLong:
                page.screenshot(path=path, full_page=True)

    def _hear(self, message: "ConsoleMessage") -> None:
        answered = re.search(r"the server responded with a status of (\d+)", message.text)
        if answered and answered[1] == self._expected:
            return
        if message.type in ("error", "warning"):
            self.wrong.append(f"console: {message.text} at {message.page and message.page.url}")

    def _watch(self, request: "Request") -> None:
        if not request.url.startswith((self.base + "/", "data:", "blob:", "about:")):
            self.wrong.append(f"a foreign address was asked: {request.url}")


def named(path: str) -> str:
    """A path as the name of a picture."""
    return re.sub(r"[^\w]+", "-", path).strip("-") or "home"


AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")
RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice")


def settled(page: "Page") -> None:
    """What follows from another colour scheme or width has been drawn: two frames later it has."""
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def complaints(page: "Page", *rules: str) -> list[str]:
    """What axe finds on a page: the rule, where, and why; all rules, or those of these names."""
    if page.evaluate("typeof axe === 'undefined'"):
        page.evaluate(AXE)
    kind = "rule" if rules else "tag"
    asked = {"runOnly": {"type": kind, "values": rules or RULES}, "resultTypes": ["violations"]}
    found = page.evaluate(f"axe.run(document, {json.dumps(asked)})")
    return [
        f"{one['id']}: {node['target']} {node['failureSummary']}"
        for one in found["violations"]
        for node in one["nodes"]
    ]
