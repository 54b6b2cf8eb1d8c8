"""Numbers of players: each says how sure it is, and leads to the hands that it was counted from."""

import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from api.main import main
from api.questions.player_measures import p_text
from tests.browser.conftest import Site, expect
from tests.http.servers import Server

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

PLAYER = "/players/random-0"
CELLS = ".grid169 > *"
ROWS = "#list tr[data-of]"


@pytest.mark.ci
def test_players_lead_to_their_pages(site: Site) -> None:
    page = site.open("/players")
    page.get_by_role("link", name="random-0", exact=True).click()
    expect(page.locator("h1")).to_have_text("random-0")
    page.get_by_role("combobox", name="match").fill("open")  # few hands: each is soon counted
    page.get_by_role("button", name="Show").click()
    expect(page).to_have_url(re.compile("match=open"))
    for name in ("Grid", "Winnings", "Bids", "Swaps", "Opponent", "Statistics"):
        page.get_by_label("Pages of this player").get_by_role("link", name=name).click()
        expect(page.locator("h1")).to_have_text("random-0")
        expect(page.locator(".tabs [aria-current]")).to_have_text(name)
        assert "match=open" in page.url


def test_every_share_has_its_interval_and_its_count(site: Site) -> None:
    page = site.open(PLAYER)
    row = page.locator(".stats tr", has_text="VPIP").first
    value, low, high = map(float, re.findall(r"\d+\.\d", row.inner_text())[:3])
    assert low < value < high
    k, n = re.findall(r"(\d+)/(\d+)", row.inner_text())[0]
    assert round(100 * int(k) / int(n), 1) == value
    told = page.request.get("/api/v1/players/random-0/stats").json()
    assert f"{k}/{n}" in {f"{one.get('k')}/{one.get('n')}" for one in _objects(told)}


@pytest.mark.ci
def test_filters_are_in_the_address_outlive_a_reload_and_go_on_with_the_tabs(site: Site) -> None:
    page = site.open(PLAYER)
    page.get_by_label("against").fill("random-1")
    page.get_by_role("combobox", name="match").fill("scrim")
    page.get_by_role("button", name="Show").click()
    expect(page).to_have_url(re.compile("vs=random-1"))
    page.reload()
    expect(page.get_by_label("against")).to_have_value("random-1")
    page.get_by_role("link", name="Grid").click()
    expect(page.locator(".tabs [aria-current]")).to_have_text("Grid")
    expect(page.get_by_label("match", exact=True)).to_have_value("scrim")
    expect(page.locator(".sub")).to_contain_text("70")


def test_a_wrong_filter_of_a_player_is_said(site: Site) -> None:
    page = site.open(f"{PLAYER}?vs=nobody", status=404)
    expect(page.locator("main")).to_contain_text("nobody")


def test_a_grid_has_169_cells_and_each_leads_to_its_hands(site: Site) -> None:
    page = site.open(f"{PLAYER}/grid?match=swap")
    expect(page.locator(CELLS)).to_have_count(169)
    first = page.locator(f"{CELLS} b").all_inner_texts()
    assert ["AA", "AKs", "AKo", "22"] == [first[0], first[1], first[13], first[168]]
    cells = [one.get_attribute("title") or "" for one in page.locator("a[title]").all()]
    assert 12 == sum(int(one.split(", ")[-1].split()[0]) for one in cells)
    page.locator(".grid169 a").first.click()
    expect(page).to_have_url(re.compile("(?=.*hole%3D)(?=.*match%3Dswap)"))
    expect(page.locator("#found")).to_be_visible()


def test_the_public_has_no_grid_of_cards_that_were_not_shown(site: Site) -> None:
    """The two viewpoints side by side: what was shown is a part of what was held."""
    every = site.open(f"{PLAYER}/grid?match=scrim")
    expect(every.locator(".sub")).to_have_text("hole cards known in all 70 hands")
    page = site.open(f"{PLAYER}/grid?match=scrim", as_auditor=False)
    said = page.locator(".sub").inner_text()
    known = int(re.findall(r"known to the public in (\d+) of 70 hands", said)[0])
    assert 0 < known < 70
    shown, held = _dealt(page), _dealt(every)
    assert known == sum(shown.values())
    assert all(count <= held.get(name, 0) for name, count in shown.items())


def test_a_graph_is_drawn_and_a_click_on_it_opens_the_hand(site: Site) -> None:
    page = site.open(f"{PLAYER}/winnings?match=scrim")
    expect(page.locator("#graph canvas")).to_be_visible()
    expect(page.locator("#graph")).to_have_attribute("data-drawn", "70")
    over = page.locator("#graph .u-over")
    box = over.bounding_box()
    assert box is not None
    place = {"x": box["width"] * 0.5, "y": box["height"] * 0.5}
    over.hover(position=place)  # type: ignore[arg-type]
    hand = page.locator("#graph .u-legend .u-value").first
    expect(hand).to_have_text(re.compile(r"scrim/3\d"))
    told = hand.inner_text()
    over.click(position=place)  # type: ignore[arg-type]
    expect(page).to_have_url(re.compile(rf"/hands/{told}(#\d+)?$"))


@pytest.mark.ci
def test_a_window_that_is_dragged_over_a_graph_leads_to_its_hands(site: Site) -> None:
    page = site.open(f"{PLAYER}/winnings?match=scrim")
    box = page.locator("#graph .u-over").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 100, box["y"] + 50)
    page.mouse.down()
    page.mouse.move(box["x"] + 300, box["y"] + 60, steps=4)
    page.mouse.up()
    expect(page).to_have_url(re.compile(r"winnings\?match=scrim&first=\d+&last=\d+$"))
    first, last = map(int, re.findall(r"(?:first|last)=(\d+)", page.url))
    assert 1 < first < last < 70
    said = page.locator("#seen")
    expect(said.locator("b").first).to_have_text(f"{last - first + 1} hands")
    page.mouse.move(box["x"] + 2, box["y"] + 50)
    pointed = page.locator("#graph .u-legend .u-value").first
    expect(pointed).to_have_text(re.compile(rf"scrim/({first}|{first + 1})$"))
    said.get_by_role("link", name="All of it").click()
    expect(said).to_contain_text("Drag over the graph")
    expect(page).to_have_url(re.compile(r"winnings\?match=scrim$"))


@pytest.mark.ci
def test_without_a_script_a_form_opens_a_window(site: Site) -> None:
    page = site.open(f"{PLAYER}/winnings?match=scrim", java_script_enabled=False)
    page.get_by_label("his hands").fill("11")
    page.get_by_label("to", exact=True).fill("20")
    page.get_by_role("button", name="Look closer").click()
    said = page.locator("#seen")
    expect(said).to_contain_text("10 hands")
    told = page.request.get("/api/v1/players/random-0/winnings?match=scrim").json()["points"]
    net = round(told[19]["net"] - told[9]["net"])
    said_net = said.locator("b").nth(1).inner_text()
    assert net == int(said_net.replace("\N{MINUS SIGN}", "-").replace("+", ""))
    said.get_by_role("link", name="These hands").click()
    hands = [f"scrim/{number}" for number in range(11, 21)]
    expect(page.locator("#list a.whole")).to_have_text(hands)


@pytest.mark.ci
def test_luck_is_told_card_by_card_and_adds_up_to_what_was_won(site: Site) -> None:
    page = site.open(f"{PLAYER}/winnings?match=open")
    page.get_by_role("link", name="Count it now").click()
    rows = page.locator("#luck tbody tr")
    expect(rows.first).to_contain_text("the first cards of everybody")
    every_known = "8 of 8 hands with every card known to an auditor"
    expect(page.locator("#luck")).to_contain_text(every_known)
    told = page.request.get("/api/v1/players/random-0/winnings?match=open").json()["points"]
    chips = [row.locator("td").first.inner_text() for row in rows.all()]
    total = sum(int(re.sub(r"[+\s]", "", one).replace("\N{MINUS SIGN}", "-")) for one in chips)
    assert abs(total - told[-1]["net"]) <= len(chips) / 2  # each is rounded


def test_a_graph_says_the_same_as_numbers(site: Site) -> None:
    page = site.open(f"{PLAYER}/winnings?match=scrim")
    drawn = json.loads(page.locator("#curves").inner_text())
    told = page.request.get("/api/v1/players/random-0/winnings?match=scrim").json()
    assert drawn["net"][-1] == told["points"][-1]["net"]
    last = page.locator("table tbody tr").last
    expect(last.get_by_role("link")).to_have_text(drawn["hand"][-1])
    total = abs(round(drawn["net"][-1]))
    assert f"{total:,}".replace(",", "\N{NARROW NO-BREAK SPACE}") in last.inner_text()


@pytest.mark.ci
def test_points_of_bids_lead_to_their_hands(site: Site) -> None:
    page = site.open(f"{PLAYER}/bids?match=open")
    points = page.locator("[data-plot]").first.locator("circle")
    count = points.count()
    assert count > 4
    said = points.nth(3).locator("title").text_content() or ""
    hand = said.partition(":")[0]
    link = page.locator("[data-plot]").first.locator("a").nth(3)
    assert (link.get_attribute("href") or "").endswith(f"/hands/{hand}")


def test_whoever_points_near_a_bid_is_told_of_it_and_a_click_opens_it(site: Site) -> None:
    page = site.open(f"{PLAYER}/bids?match=open")
    plot = page.locator("[data-plot]").first
    point = plot.locator("circle").evaluate_all(
        """those => { const far = those.map(one => one.getBoundingClientRect())
           .sort((a, b) => a.top - b.top)[0]; return [far.x - 4, far.y - 4]; }"""
    )
    page.mouse.move(*point)
    near = page.locator(".near-to").first
    expect(near).to_have_text(re.compile(r"^open/\d+: bid \d+ against \d+"))
    told = near.inner_text()
    page.mouse.click(*point)
    expect(page).to_have_url(re.compile(rf"/hands/{told.partition(':')[0]}(#\d+)?$"))


@pytest.mark.slow  # tests/test_numbers_lead.py follows it without a browser
def test_a_share_of_auctions_leads_to_its_hands(site: Site) -> None:
    page = site.open(f"{PLAYER}/bids?match=open")
    won, auctions = (
        int(text)
        for text in page.locator("tr", has_text="Auctions won")
        .get_by_role("link")
        .all_inner_texts()
    )
    for place, hands in enumerate((won, auctions)):
        if place:
            page.go_back()
        page.locator("tr", has_text="Auctions won").get_by_role("link").nth(place).click()
        expect(page.locator("#said b")).to_have_text(f"{hands} hands")


def test_where_no_auction_was_held_a_page_says_so(site: Site) -> None:
    page = site.open(f"{PLAYER}/bids?match=swap")
    expect(page.locator("main .lede")).to_have_text("No auction was held in these hands.")


def test_swaps_stand_beside_the_chance_that_the_rules_state(site: Site) -> None:
    page = site.open(f"{PLAYER}/swaps?match=swap")
    told = page.request.get("/api/v1/players/random-0/swaps?match=swap").json()["rates"]
    rows = page.locator(".chances tbody tr")
    assert len(told) == rows.count()
    for one, row in zip(told, rows.all(), strict=True):
        expect(row).to_contain_text(f"{one['k']}/{one['n']}")
        expect(row).to_contain_text(f"{100 * one['stated']:.1f}")
        expect(row).to_contain_text(p_text(one["p"]))
    expect(page.locator(".figures")).to_contain_text("at showdown")


@pytest.mark.slow  # tests/test_numbers_lead.py follows them without a browser
def test_an_opponent_page_leads_to_the_hands_to_look_at(site: Site) -> None:
    page = site.open(f"{PLAYER}/opponent?match=scrim&vs=random-1")
    row = page.locator("tr", has=page.locator("th", has_text="river"))
    count = int(row.locator(".n").first.inner_text())
    row.get_by_role("link").click()
    expect(page.locator("#said b")).to_have_text(f"{count} hands")


@pytest.mark.ci
def test_fairness_is_for_an_auditor(site: Site) -> None:
    page = site.open("/fairness?match=fair")
    told = page.request.get("/api/v1/matches/fair/fairness").json()
    expect(page.locator(".tests tbody tr")).to_have_count(len(told["tests"]))
    verdicts = page.locator(".tests .verdict").all_inner_texts()
    made = [one for one in told["tests"] if one["p"] is not None]
    assert len(made) == sum(one == "chance" for one in verdicts)
    expect(page.locator("main")).to_contain_text("6 hands checked: each was dealt from the deck")
    page = site.open("/fairness?match=fair", as_auditor=False)
    expect(page.locator("main")).to_contain_text("they are for an auditor")
    expect(page.locator("table")).to_have_count(0)


def test_a_match_that_nobody_played_is_said_to_be_none(site: Site) -> None:
    page = site.open("/fairness?match=nowhere")
    expect(page.locator("main")).to_contain_text("There is no match nowhere")


@pytest.fixture
def hall(tmp_path: Path) -> Path:
    """A ledger that grows while somebody looks at it."""
    folder = tmp_path / "ledger"
    played(folder, "first", 4)
    return folder


@pytest.fixture
def spectator(new_context: Callable[..., "BrowserContext"]) -> Callable[[str], "Page"]:
    """Opens an address for somebody whom nobody knows."""
    return lambda address: _opened(new_context(), address)


def test_hands_come_into_the_live_list_as_they_end(
    hall: Path, spectator: Callable[[str], "Page"]
) -> None:
    with Server(hall, "--delay", "0") as server:
        page = spectator(f"http://127.0.0.1:{server.port}/live")
        expect(page.get_by_role("status")).to_have_text("following")
        played(hall, "second", 3)
        expect(page.locator(f"{ROWS}[data-of*=second]")).to_have_count(5)
        assert _story("second", 3) == _rows(page)[:5]
        expect(page.locator(ROWS).nth(1)).to_contain_text(re.compile("open|limp|fold|raise"))
        page.locator(ROWS).nth(1).get_by_role("link").click()
        expect(page).to_have_url(re.compile(r"/hands/second/3(#\d+)?$"))


@pytest.mark.ci
def test_a_live_list_can_be_paused_and_goes_on_with_what_waited(
    hall: Path, spectator: Callable[[str], "Page"]
) -> None:
    with Server(hall, "--delay", "0") as server:
        page = spectator(f"http://127.0.0.1:{server.port}/live")
        state = page.get_by_role("status")
        expect(state).to_have_text("following")
        expect(page.locator(ROWS)).to_have_count(5)  # four hands, and that they were all
        page.get_by_role("button", name="Pause").click()
        before = _rows(page)
        played(hall, "second", 3)
        expect(state).to_have_text("paused, 5 waiting")
        assert before == _rows(page)
        page.get_by_role("button", name="Go on").click()
        expect(page.locator(f"{ROWS}[data-of*=second]")).to_have_count(5)
        expect(state).to_have_text("following")


@pytest.mark.slow  # a live list of all matches is watched above
def test_a_live_list_of_a_match_is_of_that_match_alone(
    hall: Path, spectator: Callable[[str], "Page"]
) -> None:
    with Server(hall, "--delay", "0") as server:
        page = spectator(f"http://127.0.0.1:{server.port}/live?match=second")
        expect(page.get_by_role("status")).to_have_text("following")
        played(hall, "third", 1)
        played(hall, "second", 2)
        expect(page.locator(ROWS)).to_have_count(4)
        assert _story("second", 2) == _rows(page)


SOON_AGAIN = """
import sys
from api.http.routes import stream
from api.main import main
stream.RECONNECT_MS = 100
sys.exit(main())
"""
"""A server to whose stream a browser comes again at once, and not in two seconds."""


@pytest.mark.ci
def test_after_a_restart_of_the_server_no_hand_is_missing_and_none_twice(
    hall: Path, spectator: Callable[[str], "Page"], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.http.servers.MUCKRAKE", (sys.executable, "-c", SOON_AGAIN))
    with Server(hall, "--delay", "0") as server:
        port = server.port
        page = spectator(f"http://127.0.0.1:{port}/live")
        expect(page.get_by_role("status")).to_have_text("following")
        played(hall, "second", 2)
        expect(page.locator(f"{ROWS}[data-of*=second]")).to_have_count(4)
    expect(page.get_by_role("status")).to_have_text("reconnecting")
    played(hall, "third", 3)  # while nobody serves
    with Server(hall, "--delay", "0", "--port", str(port)):
        expect(page.get_by_role("status")).to_have_text("following")
        played(hall, "fourth", 1)
        expect(page.locator(f"{ROWS}[data-of*=fourth]")).to_have_count(3)
        story = [*_story("fourth", 1), *_story("third", 3), *_story("second", 2)]
        assert story == _rows(page)[: len(story)]
        assert len(set(_rows(page))) == page.locator(ROWS).count()


@pytest.mark.slow  # the delay itself is held by the feed in tests/http
def test_the_live_list_of_the_public_says_how_late_it_is(site: Site) -> None:
    page = site.open("/live", as_auditor=False)
    expect(page.locator(".sub")).to_contain_text("is shown 30 s later")
    page = site.open("/live", java_script_enabled=False)
    expect(page.get_by_role("link", name="Look again")).to_be_visible()
    expect(page.get_by_role("button", name="Pause")).to_be_hidden()


def played(folder: Path, match: str, hands: int) -> None:
    """A match played into the ledger, in another process than the server's."""
    words = ["swap-2022", "--hands", str(hands), "--match", match, "--seed", match]
    assert main(["play", *words, "--ledger", str(folder)]) == 0


def _opened(context: "BrowserContext", address: str) -> "Page":
    page = context.new_page()
    page.goto(address)
    return page


def _rows(page: "Page") -> list[str]:
    return [*page.locator(ROWS).evaluate_all("those => those.map(one => one.dataset.of)")]


def _story(match: str, hands: int) -> list[str]:
    """Everything that is told of a match, the newest first."""
    played = [f"HandEnded {match}/{number}" for number in range(hands, 0, -1)]
    return [f"MatchEnded {match}", *played, f"MatchStarted {match}"]


def _dealt(page: "Page") -> dict[str, int]:
    """How often each class came, as the cells say it."""
    titles = [one.get_attribute("title") or "" for one in page.locator(".grid169 a").all()]
    return {one.partition(":")[0]: int(one.split(", ")[-1].split()[0]) for one in titles}


def _objects(value: object) -> Iterator[dict[str, object]]:
    """Every object in a document, however deep."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from _objects(one)
