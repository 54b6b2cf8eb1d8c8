"""The list of hands: its filter is in the address, and it goes on with a script or without one."""

import re

import pytest

from tests.browser.conftest import CONTESTED, Site, expect

ROWS = "#list a.whole"
DISPUTED = ["ring/4", "ring/3", "scrim/40", CONTESTED]  # the decks of `fair` are new every time


def test_a_filter_is_in_the_address_and_outlives_a_reload(site: Site) -> None:
    page = site.open("/hands")
    page.fill("#q", "contested & match!=fair")
    expect(page.locator(ROWS)).to_have_text(DISPUTED)
    expect(page).to_have_url(f"{site.base}/hands?q=contested+%26+match%21%3Dfair&order=newest")
    page.reload()
    expect(page.locator("#q")).to_have_value("contested & match!=fair")
    expect(page.locator(ROWS)).to_have_text(DISPUTED)


def test_a_filter_is_answered_while_it_is_typed(site: Site) -> None:
    page = site.open("/hands")
    page.locator("#q").press_sequentially("pot>>", delay=20)
    said = page.locator("#said")
    expect(said).to_contain_text("chips or big blinds (40, 2.5bb), not >")
    expect(said.locator("pre")).to_have_text("pot>>\n    ^")
    expect(page.locator("#q")).to_be_focused()
    page.locator("#q").press("Backspace")
    page.locator("#q").press_sequentially("100000", delay=20)
    expect(page.locator("main")).to_contain_text("No hand passes this filter.")


@pytest.mark.ci
def test_half_a_word_wipes_nothing_and_back_goes_through_filters(site: Site) -> None:
    page = site.open("/hands?q=match%3Dscrim")
    page.fill("#q", "match=swap")
    expect(page.locator(ROWS).first).to_have_text(re.compile("^swap/"))
    page.locator("#q").press("End")
    page.locator("#q").press_sequentially(" & po", delay=20)
    expect(page.locator("#said")).to_contain_text("po")
    expect(page.locator(ROWS).first).to_have_text(re.compile("^swap/"))
    expect(page).to_have_url(re.compile(r"q=match%3Dswap&order=newest$"))
    page.evaluate("window.stayed = true")
    page.go_back()
    expect(page.locator("#q")).to_have_value("match=scrim")
    assert not page.evaluate("window.stayed === true")  # a page of its own, which may show progress
    expect(page.locator(ROWS).first).to_have_text(re.compile("^scrim/"))
    page.go_forward()
    expect(page.locator("#q")).to_have_value("match=swap")
    expect(page.locator(ROWS).first).to_have_text(re.compile("^swap/"))


def test_a_filter_works_without_a_script(site: Site) -> None:
    page = site.open("/hands", java_script_enabled=False)
    page.fill("#q", "match=swap & pot>=4")
    page.get_by_role("button", name="Find").click()
    expect(page).to_have_url(re.compile(re.escape("q=match%3Dswap+%26+pot%3E%3D4")))
    expect(page.locator(ROWS).first).to_have_text(re.compile("^swap/"))
    assert {"swap"} == {hand.split("/")[0] for hand in page.locator(ROWS).all_inner_texts()}


def test_a_wrong_filter_says_where_it_is_wrong(site: Site) -> None:
    page = site.open("/hands?q=pot%3E%3E", status=400)
    expect(page.locator("#said pre")).to_have_text("pot>>\n    ^")


def test_a_count_leads_to_as_many_hands(site: Site) -> None:
    page = site.open("/hands?q=match%3Dscrim")
    facet = page.locator(".facets a", has_text="preflop")
    count = int(facet.locator("span").last.inner_text())
    facet.click()
    expect(page.locator("#said b")).to_have_text(f"{count} hands" if count > 1 else "1 hand")
    expect(page.locator(ROWS)).to_have_count(count)


@pytest.mark.ci
def test_in_a_large_ledger_the_hands_come_before_their_counts(site: Site) -> None:
    page = site.open("/hands?q=match%3Dscrim&counts=later", java_script_enabled=False)
    assert 50 == page.locator(ROWS).count()
    assert 0 == page.locator(".facets").count()
    page.get_by_role("link", name="Count them").click()
    expect(page.locator(".facets")).to_have_count(1)
    page = site.open("/hands?q=match%3Dscrim&counts=later")  # a script asks by itself
    expect(page.locator("#said")).to_contain_text("70 hands")
    expect(page.locator(".facets")).to_have_count(1)
    assert 50 <= page.locator(ROWS).count()


@pytest.mark.ci
def test_the_list_has_no_end_before_the_last_hand(site: Site) -> None:
    page = site.open("/hands?q=match%3Dscrim")
    assert 50 == page.locator(ROWS).count()
    page.locator("#list a[rel=next]").scroll_into_view_if_needed()
    expect(page.locator(ROWS)).to_have_count(70)
    expect(page.locator("#list a[rel=next]")).to_have_count(0)
    assert _hands() == page.locator(ROWS).all_inner_texts()


def test_the_list_is_plain_links_without_a_script(site: Site) -> None:
    page = site.open("/hands?q=match%3Dscrim", java_script_enabled=False)
    seen = page.locator(ROWS).all_inner_texts()
    page.locator("#list a[rel=next]").click()
    expect(page.locator(ROWS)).to_have_text(_hands()[len(seen) :])
    expect(page.locator("#list a[rel=next]")).to_have_count(0)
    assert _hands()[: len(seen)] == seen


@pytest.mark.ci
def test_the_oldest_hand_can_come_first(site: Site) -> None:
    page = site.open("/hands?q=match%3Dscrim")
    page.select_option("#order", "oldest")
    expect(page.locator(ROWS).first).to_have_text("scrim/1")


def _hands() -> list[str]:
    """The newest first."""
    return [f"scrim/{number}" for number in range(70, 0, -1)]
