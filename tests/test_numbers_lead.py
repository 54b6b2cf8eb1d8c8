"""Every `k of n` on a player's page leads to its hands, and there are as many as it says."""

import re
from html import unescape
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from starlette.testclient import TestClient

from analytics.replay.flags import FLAGS
from analytics.statistics.catalogue import STATISTICS
from api.questions.filters_tree import COUNTED
from dealer.play import play
from engine.games import GAMES
from tests.http.clients import Site, site_of
from tests.profiles import sized
from tests.sessions import forged

PLAYER = "random-0"
TITLES = {one.title: one for one in STATISTICS.values()}
LINK = re.compile(r'<a href="([^"]+)"[^>]*>([^<]+)</a>')


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder = tmp_path_factory.mktemp("lead") / "ledger"
    forged(folder, *play(GAMES["site-nl"], "ring", 60, "7", seats=6))
    return site_of(folder)


def read(site: Site, path: str) -> str:
    with TestClient(site.app):
        answer = site.as_("auditor").get(path, headers={"Accept": "text/html"})
    assert answer.status_code == 200, answer.text
    return str(answer.text)


def whole(text: str) -> int:
    return int(re.sub(r"\D", "", text) or 0)


def test_each_number_of_a_statistic_leads_to_its_hands(site: Site) -> None:
    """A flag counts a hand once: as many are found. Streets and actions may be several. In profile
    `quick` the hands of every fourth number are counted."""
    page = read(site, f"/players/{PLAYER}")
    seen, step = set(), sized(4, 2, 1)
    for row in re.findall("<tr.*?</tr>", page, re.DOTALL):
        head = re.search(r"<summary>([^<]+)</summary>", row)
        one = TITLES.get(unescape(head[1])) if head else None
        links = LINK.findall(row)
        if one is None or "k/n" in row:
            continue
        counts = re.sub("<[^>]+>", "", row.split("</td>")[-3]).split("/")
        assert len(counts) == (2 if one.name in COUNTED else 1), one.name
        assert len(links) == sum(whole(it) > 0 for it in counts), one.name
        seen.add(one.name)
        for href, said in links[len(seen) % step :: step]:
            found = re.search(r"<b>([\d\s\u202f\xa0]+) hands?</b>", read(site, unescape(href)))
            count = whole(found[1]) if found else 0
            assert count == whole(said) or (one.name not in FLAGS and 0 < count <= whole(said)), (
                one.name,
                parse_qs(urlsplit(unescape(href)).query),
            )
    assert seen == set(STATISTICS)


def test_the_filters_of_the_page_go_along(site: Site) -> None:
    page = read(site, f"/players/{PLAYER}?hands=1-20&vs=random-1")
    terms = [parse_qs(urlsplit(unescape(href)).query) for href, _ in LINK.findall(page)]
    counted = [it["q"][0] for it in terms if ":did=" in it.get("q", [""])[0]]
    assert f"{PLAYER}:did=vpip & player=random-1 & number>=1 & number<=20" in counted


def test_next_and_previous_stay_inside_the_filter(site: Site) -> None:
    """From the last hand of a filter every hand of it is passed, on each page of a hand, and no
    other; back the same way."""
    q = f"{PLAYER}:did=vpip & number<={sized(20, 30, 60)}"
    listed = re.findall(
        r'class="whole" href="([^"]+)"', read(site, f"/hands?{urlencode({'q': q})}")
    )
    for tab in ("", "/audit", "/events"):
        at: str | None = unescape(listed[0]).replace("?", f"{tab}?", 1)
        passed = []
        while at is not None:
            page = read(site, at)
            assert f'href="/hands?{urlencode({"q": q})}"' in page  # the way back to the list
            passed.append(urlsplit(at).path.removesuffix(tab))
            found = re.search(r'rel="prev" href="([^"]+)"', page)
            at = unescape(found[1]) if found else None
        assert passed == [urlsplit(unescape(it)).path for it in listed]
        last = read(site, unescape(listed[-1]).replace("?", f"{tab}?", 1))
        following = re.search(r'rel="next" href="([^"]+)"', last)
        assert following is not None
        assert urlsplit(following[1]).path.removesuffix(tab) == passed[-2]


def test_a_filter_that_cannot_be_read_is_named_on_the_page_of_a_hand(site: Site) -> None:
    with TestClient(site.app):
        answer = site.as_("auditor").get("/hands/ring/3?q=pot~3", headers={"Accept": "text/html"})
    assert answer.status_code == 400
    assert "after `pot` there can stand" in unescape(answer.text)
