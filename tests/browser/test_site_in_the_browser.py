"""The site of the documentation, opened from its folder: on a desk and a phone, light and dark."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.conftest import PHONE, expect
from tests.test_docs_site import built

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext

__all__ = ["built"]  # the fixture

pytestmark = pytest.mark.ci
DESK = {"width": 1280, "height": 900}
PAGES = ("index.html", "docs/openapi-routes.html", "docs/events.html", "docs/games.html")


@pytest.fixture(params=[(size, dark) for size in (DESK, PHONE) for dark in ("light", "dark")])
def context(
    request: pytest.FixtureRequest, new_context: Callable[..., "BrowserContext"]
) -> Iterator[Any]:
    """A browser without a network, which complains of nothing."""
    size, scheme = request.param
    wrong: list[str] = []
    context = new_context(viewport=size, color_scheme=scheme, offline=True)
    context.on("console", lambda message: wrong.append(message.text))
    context.on("weberror", lambda error: wrong.append(str(error.error)))
    context.on(
        "request",
        lambda it: None if it.url.startswith(("file:", "data:")) else wrong.append(it.url),
    )
    yield context
    assert [] == wrong


def test_pages_fit_their_window_and_have_its_colours(context: Any, built: Path) -> None:
    """One window goes from page to page: to open one takes longer than to look at a page."""
    page = context.new_page()
    dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    wide = page.viewport_size["width"]
    for path in PAGES:
        page.goto((built / path).as_uri())
        expect(page.locator("h1").first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= wide, path
        paint = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert dark == (sum(map(int, paint.strip("rgb()").split(", ")[:3])) < 3 * 128), path
        if folder := os.environ.get("MUCKRAKE_SCREENSHOTS"):
            shown = f"site-{path.replace('/', '-')}-{wide}-{'dark' if dark else 'light'}.png"
            page.screenshot(path=Path(folder) / shown)
    page.goto((built / "index.html").as_uri())
    theme, other = ("dark", "light") if dark else ("light", "dark")
    expect(page.locator(f"img.only-{theme}")).to_be_visible()
    expect(page.locator(f"img.only-{other}")).to_be_hidden()
    assert page.locator(f"img.only-{theme}").evaluate("image => image.naturalWidth > 0")


@pytest.mark.parametrize("context", [(DESK, "light"), (PHONE, "dark")], indirect=True)
def test_a_word_is_found_and_leads_to_its_place(context: Any, built: Path) -> None:
    page = context.new_page()
    page.goto((built / "search.html").as_uri() + "?q=straddle_folds")
    found = page.locator("#search-results li a").filter(has_text="straddle_folds").first
    expect(found).to_be_visible()
    found.click()
    expect(page).to_have_url(f"{(built / 'docs/policies.html').as_uri()}#straddle-folds")
