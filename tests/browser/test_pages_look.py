"""Every page in light and dark, on a desk, a tablet and a phone: whole, quiet, to axe's taste."""

import re
import time
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import pytest
from fastapi.routing import APIRoute
from msgspec.structs import replace

from api.serving.app import PAGES
from dealer.play import play
from engine.games import GAMES
from tests.browser.conftest import (
    DESK,
    PHONE,
    Site,
    complaints,
    logged_in,
    named,
    served,
    settled,
)
from tests.browser.looked_at import PATHS, WRONG
from tests.profiles import sized
from tests.sessions import forged

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize

    from events.types import HandStarted

TABLET: "ViewportSize" = {"width": 820, "height": 1180}
PICTURE = "/hands/{match}/{number}/picture"  # no page, but an image of one's felt
ROUTES = [
    it
    for router in PAGES
    for it in router.routes
    if isinstance(it, APIRoute) and it.path != PICTURE
]
FIRST = {
    route.path: path
    for path in reversed(PATHS)
    for route in ROUTES
    if route.path_regex.match(path.partition("?")[0].partition("#")[0])
}
OWN_ORDER = {
    r"/": "excerpts: what is disputed, the newest hands, the last matches",
    r"/hands(\?.*)?": "newest or oldest first, a page at a time: a filter may find millions",
    r"/hands/.+/audit(\?.*)?": "the account of one hand: seats as they sit, accounts in turn",
    r"(/embed)?/live(\?.*)?": "what ended last stands first, and more comes on top",
    r"/embed/players/.+": "stands where a graph cannot be drawn, hand after hand",
    r"/players/[^/]+/grid(\?.*)?": "all hands, then pairs, suited and offsuit",
    r"/find\?.*": "what has most hands stands first",
}
"""Pages whose tables sort by no heads, and the order that they have instead."""
FEW = 3  # rows that nobody needs to sort
TABLE = re.compile(r"<table.*?</table>", re.DOTALL)
HEAD = re.compile(r'class="sort" href="([^"]+)"')
HYPHEN = re.compile(r"(?<!\S)-\d")  # a number has a minus sign
LOOKED_AT = sized(tuple(FIRST.values())[::6], tuple(FIRST.values())[::2], PATHS)
IN_THE_DARK = sized(quick=LOOKED_AT[::2], ci=LOOKED_AT[::2], slow=PATHS)


FAULTS = r"""(internal) => {
  const found = [];
  const box = (one) => one.getBoundingClientRect();
  const drawn = [...document.querySelectorAll("main *")].filter(
    (one) => one.checkVisibility() && box(one).width > 1,
  );
  const scrolls = ".scroll, .cmd, .caret, .tabs, svg, .graph";
  const airy = ".part, .ruling, .gridded, .pager, :has(> .part:last-child)";
  const named = (one) => `${one.tagName} ${one.className} ${one.textContent.trim().slice(0, 40)}`;
  for (const one of drawn) {
    if (box(one).right > innerWidth + 1 && !one.closest(scrolls))
      found.push(`runs out of the page: ${named(one)}`);
    if (!one.matches(".scroll") || one.scrollWidth <= one.clientWidth + 1) continue;
    if (one.clientWidth < 240) found.push(`is squeezed: ${named(one)}`);
    if (parseFloat(getComputedStyle(one).getPropertyValue("--more")) === 0)
      found.push(`shows no sign that there is more: ${named(one)}`);
  }
  for (const part of document.querySelectorAll(".part")) {
    const before = part.previousElementSibling;
    if (!before || !box(before).height || before.matches(airy)) continue;
    if (box(part).top - box(before).bottom < 7)
      found.push(`touches the line below it: ${named(before)}`);
  }
  for (const head of document.querySelectorAll("h2"))
    if (/^[a-z]/.test(head.textContent.trim())) found.push(`begins small: ${named(head)}`);
  const words = document.querySelector("main").cloneNode(true);
  for (const code of words.querySelectorAll("code, pre, kbd, script, .frames")) code.remove();
  const told = new RegExp(internal).exec(words.textContent.replaceAll(/\s+/g, " "));
  if (told) found.push(`is no word of a player's: ${told[0]}`);
  return found;
}"""
"""What is wrong with a page as it is now: nobody says so but who looks at it."""
INTERNAL = r"viewpoint: \S+|seat:\S+|(^| )--[a-z]+|\b([Aa]s|to) (public|auditor)\b"


class Looking(NamedTuple):
    """The site, and a page of it."""

    site: Site
    page: "Page"


@pytest.fixture(scope="module")
def looking(server: str, house: Path, auditor: Any, browser: "Browser") -> Iterator[Looking]:
    """One browser that goes from page to page: to start one takes longer than to look at a page."""
    contexts: list[BrowserContext] = []

    def context(**options: Any) -> "BrowserContext":
        contexts.append(browser.new_context(**options))
        return contexts[-1]

    site = Site(server, house, auditor, context)
    yield Looking(site, site.page(bypass_csp=True, reduced_motion="reduce"))
    for one in contexts:
        one.close()


@pytest.mark.parametrize("path", LOOKED_AT)
def test_a_page_is_readable_in_the_light_in_the_dark_and_at_every_size(
    path: str, looking: Looking
) -> None:
    site, page = looking
    site.wrong.clear()
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(DESK)
    page.goto("about:blank")  # else another place of the same page is no new page
    site.go(page, path)
    site.shot(page, f"{named(path)}-light")
    assert [] == complaints(page)
    assert [] == page.evaluate(FAULTS, INTERNAL)
    if path in IN_THE_DARK:
        page.emulate_media(color_scheme="dark")
        settled(page)
        site.shot(page, f"{named(path)}-dark")
        assert [] == complaints(page, "color-contrast")
    for size, name in ((TABLET, "tablet"), (PHONE, "phone")):
        page.set_viewport_size(size)
        settled(page)
        site.shot(page, f"{named(path)}-{name}")
        assert size["width"] == page.evaluate("document.documentElement.scrollWidth")
        assert [] == page.evaluate(FAULTS, INTERNAL)
    assert [] == site.wrong


def test_every_page_is_whole_without_a_script(site: Site) -> None:
    page = site.page(java_script_enabled=False)
    for path in sized(LOOKED_AT, tuple(FIRST.values())[1::2], PATHS):
        page.goto(path)
        assert 1 == page.locator("h1").count(), path
        assert page.locator("main").inner_text().strip(), path
        assert "Nothing here is asked by" not in page.locator("main").inner_text(), path
        numbers = page.locator("td.n").all_inner_texts()
        assert [] == [one for one in numbers if HYPHEN.search(one)], path


@pytest.mark.parametrize("path", LOOKED_AT)
def test_every_table_sorts_by_its_heads_or_has_an_order_of_its_own(
    path: str, looking: Looking
) -> None:
    """And a head leads to the page in the order that it names, of that column alone."""
    client = looking.page.request

    def tables(at: str) -> list[str]:
        until = time.monotonic() + 120
        while (answer := client.get(at)).status == 202 and time.monotonic() < until:
            time.sleep(0.2)  # a process makes it
        assert answer.status == 200, answer.text()
        return TABLE.findall(answer.text())

    many = [it for it in tables(path) if it.partition("<tbody>")[2].count("<tr") > FEW]
    if any(re.fullmatch(own, path.partition("#")[0]) for own in OWN_ORDER):
        assert [] == [it for it in many if HEAD.search(it)]
        return
    assert [] == [it for it in many if not HEAD.search(it)]
    for one in many:
        heads = [unescape(at) for at in HEAD.findall(one)]
        assert len(heads) == len(set(heads))
        for at in (heads[-1], heads[0])[: sized(quick=1, ci=1, slow=2)]:
            assert 1 == max(it.count("aria-sort") for it in tables(at)), at


@pytest.mark.parametrize(("path", "status"), WRONG)
def test_what_cannot_be_shown_is_said_on_a_page(path: str, status: int, looking: Looking) -> None:
    site, page = looking
    site.wrong.clear()
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(DESK)
    site.go(page, path, status=status)
    site.shot(page, f"{named(path)}-light")
    assert [] == complaints(page)
    assert [] == site.wrong


LONG = (
    "a_very_long_name_of_a_bot_that_nobody_can_read_v17.3",
    "Donaudampfschifffahrtsgesellschaft",
)
NAMED_SO = (
    *("/", "/matches", "/matches/m", "/hands", "/players", f"/players/{LONG[0]}", "/live?match=m"),
    *("/hands/m/2#14", "/hands/m/2/audit", "/hands/m/2/events", f"/players/{LONG[0]}/bids"),
    *(f"/players/{LONG[0]}/compare?other={LONG[1]}", f"/players/{LONG[0]}/opponent", "/find?q=a"),
    f"/players/{LONG[0]}/grid",
)
OFTEN_SO = ("/", "/matches", *NAMED_SO[6:9], *NAMED_SO[11:13])
SOME_SO = sized(OFTEN_SO, OFTEN_SO, NAMED_SO)


@pytest.mark.slow  # before, pages fit their windows with names of usual length, above
def test_long_names_make_no_page_wider_than_its_window(tmp_path: Path, browser: "Browser") -> None:
    """They are cut on the felt, with the rest on touch, and broken elsewhere."""
    folder = tmp_path / "ledger"
    hands = play(GAMES["auction-2024"], "m", 4, "5")
    starts, rest = zip(*((first, rest) for first, *rest in hands), strict=True)
    named_so = [replace(cast("HandStarted", first), players=LONG) for first in starts]
    forged(folder, *((first, *more) for first, more in zip(named_so, rest, strict=True)))
    with served(folder) as base:
        known = logged_in(browser, base, folder)
        page = browser.new_page(base_url=base, storage_state=known, viewport=PHONE)
        for path in SOME_SO:
            page.goto(path)
            for width in (PHONE["width"], 1024, DESK["width"], PHONE["width"]):
                page.set_viewport_size({"width": width, "height": 800})
                settled(page)
                wide = page.evaluate("document.documentElement.scrollWidth")
                assert (path, width) == (path, wide)
        page.goto("/hands/m/2#14")
        name = page.locator(".frame.now .who .name").first
        cut = name.evaluate("(it) => it.scrollWidth > it.clientWidth")
        name.focus()
        assert cut
        assert name.evaluate("(it) => it.scrollWidth <= it.clientWidth")
        page.close()


def test_every_page_is_looked_at() -> None:
    assert {route.path for route in ROUTES} == FIRST.keys()
