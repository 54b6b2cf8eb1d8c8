"""Whoever looks through other eyes has nothing on his page that those eyes may not see."""

import re
from itertools import islice
from typing import cast

import pytest

from api.http.credentials import login_url
from events import types as t
from events.views import viewpoint
from store.reader import Reader
from tests.browser.conftest import Site, expect
from tests.browser.looked_at import PATHS
from tests.worlds import known_cards

HANDS = ("scrim", "swap", "fair")  # sealed: nothing of them is ever opened
SOURCE = """async ([path, hand]) => {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const one of page.querySelectorAll("symbol")) one.remove();
  const rows = [...page.querySelectorAll("#list tr")];
  const part = hand ? rows.find((row) => row.querySelector("a.whole")?.textContent === hand) : page;
  const drawn = [...part.querySelectorAll(".card")].map((one) => one.textContent);
  return [page.documentElement.outerHTML, drawn];
}"""
"""A page without the pictures of its cards; the cards on it, or in its row of a hand."""
ENGLISH = {"As", "Ad", "Ah"}  # cards that are words too: looked for among cards only


@pytest.mark.parametrize("view", ["public", "seat:random-0"])
def test_no_hidden_card_is_anywhere_in_the_source_of_a_page(view: str, site: Site) -> None:
    page = site.open("/live")  # from which the others are fetched
    searched = seen = 0
    for hand, record in _folded(site):
        hidden = _dealt(record) - known_cards(record, viewpoint(view, _players(record)))
        for path in _pages(hand):
            source, drawn = page.evaluate(SOURCE, [f"{path}?as={view}", None])
            for card in hidden - ENGLISH:
                said = rf"(?<![A-Za-z0-9+/=]){card}(?![A-Za-z0-9+/=])"
                assert not re.search(said, source), path
            seen += len(drawn)
            assert not hidden & set(drawn), path
            searched += len(hidden)
        of_match = f"/hands?q=match%3D{hand.partition('/')[0]}&order=oldest&as={view}"
        _, drawn = page.evaluate(SOURCE, [of_match, hand])
        assert not hidden & set(drawn)
    assert searched >= 12
    assert seen


@pytest.mark.ci
def test_an_auditor_chooses_whose_eyes_he_looks_through(site: Site) -> None:
    hand, _ = _folded(site)[0]
    page = site.open(f"/hands/{hand}/events")
    hidden = re.compile(r"is dealt\s*hidden\s*hidden")
    expect(page.locator("main")).to_contain_text("is dealt")
    expect(page.locator("main")).not_to_contain_text(hidden)
    for view in ("random-0", "public"):
        page.locator(".viewpoints summary").click()
        page.locator(".viewpoints").get_by_role("link", name=view).click()
        expect(page.locator(".viewpoints summary")).to_contain_text(view)
        expect(page.locator("main")).to_contain_text(hidden)
    page.get_by_role("link", name="Audit").click()  # and goes on looking through them
    expect(page.locator(".viewpoints summary")).to_contain_text("public")


def test_nobody_is_offered_eyes_that_are_not_his(site: Site) -> None:
    page = site.open("/hands/scrim/1/events", as_auditor=False)
    assert 0 == page.locator(".viewpoints a").count()
    for view in ("auditor", "seat:random-0"):
        assert 403 == page.request.get(f"/hands/scrim/1/events?as={view}").status


@pytest.mark.ci
def test_a_link_lets_somebody_in_once(site: Site) -> None:
    once = login_url(site.house, site.base, ("hands:read", "seat:random-1"))
    page = site.page(as_auditor=False)
    page.goto(once)
    assert f"{site.base}/" == page.url
    expect(page.locator(".viewpoints summary")).to_contain_text("random-1")
    again = site.open(once.removeprefix(site.base), as_auditor=False, status=401)
    expect(again.locator("main")).to_contain_text("This link was opened before")
    assert 0 == again.locator(".viewpoints").count()  # a page of no viewpoint
    page.locator(".viewpoints summary").click()
    page.get_by_role("button", name="Leave").click()
    expect(page.locator(".viewpoints summary")).to_contain_text("public")


@pytest.mark.ci
def test_the_docs_of_the_api_need_no_network(site: Site) -> None:
    page = site.page()  # a kept one would long forget it
    site.go(page, "/docs")
    expect(page.locator(".swagger-ui .opblock").first).to_be_visible()


def _folded(site: Site) -> list[tuple[str, t.Events]]:
    """Of each sealed match a hand that ended without a showdown: every hole is hidden."""
    found: list[tuple[str, t.Events]] = []
    reader = Reader(site.house)
    for match in HANDS:
        hands = (one.hand for one in reader.snapshot().hands(match))
        records = ((hand, _record(reader, hand)) for hand in hands)
        found += islice((one for one in records if not _shows(one[1])), 1)
    return found


def _record(reader: Reader, hand: str) -> t.Events:
    return cast(t.Events, tuple(one.event for one in reader.read(hand)))


def _shows(record: t.Events) -> bool:
    return any(isinstance(event, t.Shown) for event in record)


def _players(record: t.Events) -> tuple[str, ...]:
    start = record[0]
    assert isinstance(start, t.HandStarted)
    return start.players


def _dealt(record: t.Events) -> set[str]:
    """Every card that somebody held."""
    cards: set[str] = set()
    for event in record:
        if isinstance(event, t.HoleDealt):
            cards.update(event.cards)
        if isinstance(event, t.CardSwapped):
            cards.update((event.old, event.new))
    return cards


def _pages(hand: str) -> list[str]:
    """Every page of this hand."""
    found = (re.fullmatch(r"/hands/\w+/\d+(/\w+)?(\?.*)?", path) for path in PATHS)
    return sorted({f"/hands/{hand}{page[1] or ''}" for page in found if page})
