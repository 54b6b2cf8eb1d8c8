"""A heavy page in a browser: how far it is, and then the page, with a script and without."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.conftest import PHONE, Site, complaints, expect, logged_in, settled
from tests.processes import Popen

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext

SERVE = """
import sys
from pathlib import Path
from api.http.ledger_service import Settings
from api.http.limits import Limits
from api.serving.server import listening_socket, run_server
sock = listening_socket("127.0.0.1", 0)
print(f"http://127.0.0.1:{sock.getsockname()[1]}", flush=True)
limits = Limits(rate=0, heavy_valued=0, heavy_counted=0, heavy_data=0)
run_server(Settings(Path(sys.argv[1]), 0, limits=limits), sock, 1, None)
"""
MADE = "This page is being made"


@pytest.fixture(scope="module")
def slow_server(house: Path, browser: "Browser") -> Iterator[tuple[str, Any]]:
    """One whose pages of players are all made by processes, and its auditor's cookie."""
    command = [sys.executable, "-c", SERVE, str(house)]
    with Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            base = process.stdout.readline().strip()
            yield base, logged_in(browser, base, house)
        finally:
            process.terminate()


@pytest.fixture
def heavy(
    slow_server: tuple[str, Any], house: Path, new_context: Callable[..., "BrowserContext"]
) -> Iterator[Site]:
    """Its pages: no test asks for one that another has asked for."""
    site = Site(slow_server[0], house, slow_server[1], new_context)
    yield site
    assert [] == site.wrong


@pytest.mark.ci
@pytest.mark.parametrize("with_script", [True, False], ids=["with a script", "without one"])
def test_a_page_that_is_being_made_comes_by_itself(heavy: Site, with_script: bool) -> None:
    address = f"/players/random-0/grid?match={'open' if with_script else 'fair'}"
    page = heavy.open(address, status=202, java_script_enabled=with_script)
    expect(page.locator("h1")).to_have_text(MADE)
    expect(page.locator("h1")).to_contain_text("random-0", timeout=120_000)
    expect(page).to_have_url(heavy.base + address)


@pytest.mark.ci
def test_the_page_of_progress_fits_a_phone_and_has_no_fault(heavy: Site) -> None:
    page = heavy.page(color_scheme="light", reduced_motion="reduce", viewport=PHONE)
    page.route(
        "**/progress.*.js", lambda route: route.fulfill(body="", content_type="text/javascript")
    )
    heavy._expected = "202"
    page.goto("/players/random-0/winnings?hands=1-9")
    expect(page.locator("h1")).to_have_text(MADE)
    assert [] == complaints(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    heavy.shot(page, "progress-light")
    page.emulate_media(color_scheme="dark")
    settled(page)
    heavy.shot(page, "progress-dark")
    assert [] == complaints(page, "color-contrast")
