"""The jobs that people come with, each done on pages alone, with every click counted."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from events import types as t
from store.reader import Reader
from tests.browser.club import Club
from tests.browser.conftest import CONTESTED, Site, expect

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Locator, Page


class Clicking:
    """Somebody at the first page: he clicks, and types into a field that has the cursor."""

    def __init__(self, site: Site) -> None:
        self.page: Page = site.open("/")
        self.clicks = 0

    def click(self, one: "Locator") -> None:
        self.clicks += 1
        one.click()

    def link(self, name: str, *, within: str = "body", exact: bool = True) -> None:
        """Click the first link of this name."""
        self.click(self.page.locator(within).get_by_role("link", name=name, exact=exact).first)


def test_a_wrong_pot_is_found_understood_downloaded_and_verified(
    site: Site, tmp_path: Path
) -> None:
    """A pasted id and three clicks, and nothing else is judged."""
    he = Clicking(site)
    he.page.get_by_label("Hand, match or player").fill(CONTESTED)
    he.page.keyboard.press("Enter")
    expect(he.page).to_have_url(re.compile(rf"/hands/{CONTESTED}(#\d+)?$"))
    he.link("Audit", within=".tabs")
    expect(he.page.locator(".ruling strong")).to_have_text("Contested")
    with he.page.expect_download() as downloading:
        he.link("Evidence bundle", exact=False)
    bundle = tmp_path / "hand.zip"
    downloading.value.save_as(bundle)
    he.link("Verify a bundle")
    expect(he.page.locator("#checker")).to_be_visible()  # its script is there
    he.page.locator("#bundle").set_input_files(bundle)
    expect(he.page.locator('#verdict[data-code="7"]')).to_be_visible()
    assert he.clicks == 3


@pytest.mark.slow  # tests/test_bids_by_strength.py counts them on the page
def test_how_somebody_bids_with_strong_and_with_weak_hands(site: Site) -> None:
    he = Clicking(site)
    he.link("Players", within=".nav")
    he.link("random-0", within="main")
    he.page.get_by_role("combobox", name="match").fill("")
    he.page.keyboard.press("Enter")
    he.link("Bids", within=".tabs")
    table = he.page.get_by_role("region", name="Bids by what he held")
    expect(table).to_be_visible(timeout=120_000)  # its progress comes first
    strengths = table.locator("tbody th").all_inner_texts()
    assert [text.removesuffix(" too few") for text in strengths[:2]] == ["high card", "pair"]
    assert he.clicks == 3
    row = table.locator("tbody tr").first
    count, example = row.locator("td a").first, row.locator("td a").last
    hands, at = count.inner_text(), example.get_attribute("href")
    assert at is not None
    he.click(count)
    expect(he.page).to_have_url(re.compile("bid-with%3Dhigh-card"))
    expect(he.page.locator("#said b")).to_have_text(re.compile(rf"^{hands} hands?$"))
    site.go(he.page, at)
    expect(he.page).to_have_url(re.compile("/hands/"))


@pytest.mark.ci
def test_two_players_are_compared_and_the_address_is_the_comparison(site: Site) -> None:
    he = Clicking(site)
    he.link("Players", within=".nav")
    he.link("Compare random-0")
    he.link("random-1", within="main")
    assert he.clicks == 3
    expect(he.page.locator("main")).to_contain_text("random-0 less random-1")
    there = he.page.url.removeprefix(site.base)
    assert "other=random-1" in there
    text = he.page.locator("table.stats").inner_text()
    assert text == site.open(there).locator("table.stats").inner_text()


@pytest.mark.ci
def test_two_matches_of_one_bot_are_compared(site: Site) -> None:
    """Its versions, where each played a match of its own."""
    page = site.open("/players/random-0/compare")
    page.get_by_label("with", exact=True).fill("random-0")
    page.get_by_label("his match").fill("scrim")
    page.get_by_label("the other's match").fill("swap")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator("main")).to_contain_text("random-0 in scrim less random-0 in swap")
    page.get_by_label("the other's match").fill("nowhere")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator("main .lede").first).to_have_text("There is no hand of match nowhere.")


def test_auction_winners_who_paid_and_lost_the_showdown(site: Site, house: Path) -> None:
    """As many as the events say, one hand after the other."""
    he = Clicking(site)
    he.page.get_by_label("Hand, match or player").fill(
        "player(auction-won & price>10 & showdown & collected=0)"
    )
    he.page.keyboard.press("Enter")
    found = lost(house, 10)
    assert found > 2
    expect(he.page.locator("#said b")).to_have_text(f"{found} hands")
    expect(he.page.locator("#list tbody tr").first).to_be_visible()
    assert he.clicks == 0


def lost(house: Path, price: int) -> int:
    """Hands whose auction somebody won for more than this, and lost the showdown."""
    count = 0
    snapshot = Reader(house).snapshot()
    for hand in snapshot.hands():
        events = [one.event for one in snapshot.read(hand.hand)]
        won = {
            seat
            for one in events
            if isinstance(one, t.AuctionSettled) and one.price > price
            for seat in one.seats
        }
        won -= {one.seat for one in events if isinstance(one, t.Folded)}
        won -= {seat for one in events if isinstance(one, t.PotSplit) for seat in one.seats}
        count += bool(won) and any(isinstance(one, t.Shown) for one in events)
    return count


@pytest.mark.ci
def test_a_feed_and_a_graph_stand_in_a_page_of_another_site(
    site: Site, club: Club, new_context: Callable[..., "BrowserContext"]
) -> None:
    """The line is copied from the page; on a site that nobody named the frame stays empty."""
    page = new_context(base_url=site.base).new_page()
    club.lines.clear()
    for path in ("/live?match=scrim", "/players/random-0/winnings?match=scrim"):
        page.goto(path)
        page.get_by_text("Show this on another site").click()  # one click for each
        club.lines.append(page.locator(".embed pre").inner_text())
    page.set_viewport_size({"width": 900, "height": 1100})
    page.goto(f"{club.origin}/")
    feed, graph = (page.frame_locator("iframe").nth(at) for at in (0, 1))
    expect(feed.get_by_role("status")).to_have_text("over")
    expect(feed.locator("#table .seat")).to_have_count(2)
    expect(feed.locator("#list tbody tr").first).to_be_visible()
    expect(graph.locator("#graph[data-drawn] canvas")).to_be_visible()
    site.shot(page, "framed-elsewhere")
    with page.expect_popup() as opening:
        feed.get_by_role("link", name="scrim/70").click()
    expect(opening.value).to_have_url(re.compile(r"/hands/scrim/\d+\?as=public"))
    page.goto(f"http://127.0.0.1:{club.server_port}/")  # `load` is after what the frames got
    expect(page.locator("iframe")).to_have_count(2)
    assert [0, 0] == [one.locator("main").count() for one in page.frames[1:]]
