"""A real Chromium over a real `muckrake serve`; no error, no foreign request passes unnoticed."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from api.http.keys import once_url
from api.main import main
from tests import chromium
from tests.processes import Popen

try:
    from playwright.sync_api import TimeoutError as TookTooLong
    from playwright.sync_api import expect

    expect.set_options(timeout=30_000)  # a machine may have more to do than this
except ImportError:  # every test here is skipped before it could expect anything
    expect = None  # type: ignore[assignment]
    TookTooLong = TimeoutError  # type: ignore[assignment,misc]

if TYPE_CHECKING:
    from playwright.sync_api import (
        Browser,
        BrowserContext,
        ConsoleMessage,
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
CLUB = "http://localhost:47113"  # a site that may frame some pages
CONTESTED = "scrim/2"  # a tie after an auction that somebody paid for
SERVE = "import sys; from api.main import main; sys.exit(main(sys.argv[1:]))"
PHONE: "ViewportSize" = {"width": 390, "height": 844}


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
def server(house: Path) -> Iterator[str]:
    """Its address."""
    with served(house) as base:
        yield base


@contextmanager
def served(house: Path) -> Iterator[str]:
    """The address of a server over a ledger."""
    words = ["serve", "--port", "0", "--ledger", str(house), "--frame-origin", CLUB]
    with Popen([sys.executable, "-c", SERVE, *words], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().split()[0].rstrip("/")
        finally:
            process.terminate()


@pytest.fixture(scope="session")
def auditor(browser: "Browser", server: str, house: Path) -> Any:
    """The cookie of somebody who opened the auditor's link."""
    return logged_in(browser, server, house)


def logged_in(browser: "Browser", server: str, house: Path) -> Any:
    """The cookie of an auditor at this server."""
    context = browser.new_context()
    context.new_page().goto(once_url(house, server, ("hands:read", "audit:read")))
    state = context.storage_state()
    context.close()
    return state


@pytest.fixture
def site(
    server: str, house: Path, auditor: Any, new_context: Callable[..., "BrowserContext"]
) -> Iterator["Site"]:
    """The pages, for one test; at its end nothing may have gone wrong on any of them."""
    site = Site(server, house, auditor, new_context)
    yield site
    assert [] == site.wrong


class Site:
    """A server and browsers at it; whatever they complain of is in `wrong`."""

    def __init__(self, base: str, house: Path, auditor: Any, contexts: Any) -> None:
        self.base = base
        self.house = house
        self.wrong: list[str] = []
        self._auditor = auditor
        self._contexts = contexts
        self._expected = ""

    def page(self, *, as_auditor: bool = True, **options: Any) -> "Page":
        """A new browser's first page: of an auditor, or of somebody whom nobody knows."""
        known = {"storage_state": self._auditor} if as_auditor else {}
        context: BrowserContext = self._contexts(base_url=self.base, **known, **options)
        context.on("console", self._hear)
        context.on("weberror", lambda error: self.wrong.append(f"uncaught: {error.error}"))
        context.on("request", self._watch)
        return context.new_page()

    def open(self, path: str, *, status: int = 200, **options: Any) -> "Page":
        """A page of the site in a new browser; a heavy one when it has come."""
        page = self.page(**options)
        self._expected = str(status)
        answer = page.goto(path)
        assert answer is not None
        if (status, answer.status) == (200, 202):
            expect(page.locator("#progress")).to_have_count(0, timeout=120_000)
            return page
        assert status == answer.status, page.inner_text("body")
        return page

    def go(self, page: "Page", path: str) -> None:
        """Another page of the site in a browser that is there; it is there, and whole."""
        answer = page.goto(path)
        assert answer is not None
        assert answer.ok, page.inner_text("body")
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
