"""Tables sort by their heads, which are links: the address says how, and nobody needs a script."""

import re
from html import unescape
from pathlib import Path
from urllib.parse import quote, urlencode, urlsplit

import pytest
from msgspec.structs import replace
from starlette.datastructures import URL
from starlette.testclient import TestClient

from api.main import main
from api.pages import addresses
from api.pages import hands as pages_of_hands
from api.pages import matches as pages_of_matches
from api.pages.addresses import Addresses, TableOrder
from api.pages.site import TEMPLATES
from api.questions.question import Cell, Sheet
from dealer.play import play
from engine.games import GAMES
from events.types import HandStarted
from tests.http.clients import Site, site_of
from tests.profiles import sized
from tests.sessions import forged

GAME = GAMES["auction-2024"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Matches of 3, 9 and 5 hands, in this order, between the same two."""
    folder = tmp_path_factory.mktemp("sorted") / "ledger"
    every = (("b", 3), ("c", 9), ("a", 5))
    forged(folder, *(one for name, hands in every for one in play(GAME, name, hands, name)))
    return site_of(folder)


def read(site: Site, path: str, status: int = 200, sort: str | None = None) -> str:
    at = URL(path) if sort is None else URL(path).include_query_params(sort=sort)
    answer = site.as_("auditor").get(str(at), headers={"Accept": "text/html"})
    assert status == answer.status_code, answer.text
    return unescape(answer.text)


def matches(page: str) -> str:
    return "".join(re.findall(r'<th scope="row" class="nowrap"><a href="/matches/(\w)', page))


def test_a_head_leads_back_to_whoever_is_named_in_the_address(tmp_path: Path) -> None:
    """A question mark of a name is no beginning of parameters."""
    name = "who?#\u202e"
    hands = [
        (replace(start, players=(name, "b")), *rest)
        for start, *rest in play(GAME, "m", 5, "7")
        if isinstance(start, HandStarted)
    ]
    forged(tmp_path / "ledger", *hands)
    site = site_of(tmp_path / "ledger")
    page = read(site, f"/players/{quote(name, safe='')}")
    (head,) = set(re.findall(r'class="sort" href="([^"]*sort=-?value[^"]*)"', page))
    assert head.startswith(f"/players/{quote(name)}?")
    assert 'aria-sort="descending"' in read(site, head)


@pytest.mark.parametrize(
    ("sort", "names"),
    [("", "acb"), ("match", "abc"), ("-match", "cba"), ("hands", "bac"), ("-hands", "cab")],
)
def test_matches_stand_in_the_order_of_their_address(sort: str, names: str, site: Site) -> None:
    assert names == matches(read(site, "/matches", sort=sort))


def test_a_head_leads_to_its_order_and_then_to_the_opposite(site: Site) -> None:
    """Of numbers the most come first; the address keeps what else it says."""
    page = read(site, "/matches")
    assert '<th class="n"><a class="sort" href="/matches?sort=-hands">hands</a>' in page
    page = read(site, "/matches", sort="-hands")
    assert (
        '<th class="n" aria-sort="descending"><a class="sort" href="/matches?sort=hands">' in page
    )


def test_players_are_sorted_as_numbers_are(site: Site) -> None:
    def told(sort: str) -> list[int]:
        page = read(site, "/players", sort=sort)
        nets = re.findall(r'<td class="n(?: net-up)?">([+−][\d\u202f]+)(?: <span|</td>)', page)
        return [int(net.replace("−", "-").replace("\u202f", "")) for net in nets]

    assert told("net") == sorted(told("-net"))
    assert told("-net") == told("net")[::-1]
    assert len(set(told("net"))) == 2


@pytest.mark.parametrize("path", ["/ratings", "/players/random-0/compare?other=random-1"])
def test_tables_of_a_question_sort_by_any_column_that_they_have(path: str, site: Site) -> None:
    with TestClient(site.app):
        client = site.as_("auditor")
        heads = re.findall(r'class="sort" href="([^"]+)"', client.get(path).text)
        assert len(heads) > 3
        for at in map(unescape, heads[:: sized(2, 2, 1)]):
            page = client.get(at)
            assert 200 == page.status_code
            assert "aria-sort" in page.text


@pytest.mark.parametrize("path", ["/ratings", "/players/random-0/results?spots=0"])
def test_a_name_in_a_table_of_a_question_leads_to_its_player(path: str, site: Site) -> None:
    """Beside the place that he is rated at, too; the place itself is no link."""
    page = read(site, path)
    named = re.findall(r'<t[hd][^>]*>(\d+ )?<a href="/players/([^"]+)">([^<]+)</a>', page)
    assert {("random-0", "random-0")} <= {(at, name) for _, at, name in named}
    assert (path == "/ratings") == any(place for place, _, _ in named)
    assert all(at == name for _, at, name in named)


def column(page: str, nth: int, table: str) -> list[str]:
    """What a table says in one of its columns, row by row."""
    body = page.partition(f'aria-label="{table}"')[2].partition("</table>")[0]
    body = re.sub('<small class="counts">.*?</small>', "", body)
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", body.partition("<tbody>")[2], re.DOTALL)
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)[nth] for row in rows]
    return [re.sub(r"<[^>]+>", "", one).strip().replace("\u202f", "") for one in cells]


OF_MANY_VALUES = [  # what columns the first has is asked below
    ("/players/random-0/bids", "bids", "Bids by what he held", 1),
    ("/players/random-0/opponent", "hands", "How hands end", 1),
]


@pytest.mark.parametrize(
    ("path", "sort", "table", "nth"),
    [
        ("/players/random-0", "value", "preflop", 1),
        ("/players/random-0?split=match", "c", "preflop", 2),
        ("/players/random-0/winnings", "net", "The graph in numbers", 2),
        ("/games", "stack", "To play by", 3),
        *sized([], OF_MANY_VALUES),
    ],
)
def test_tables_made_by_hand_sort_by_the_same_heads(
    path: str, sort: str, table: str, nth: int, site: Site
) -> None:
    """What has no value stands last either way."""

    def told(by: str) -> list[float]:
        said = column(read(site, path, sort=by), nth, table)
        numbers = [one.replace("\N{MINUS SIGN}", "-").strip(" %") for one in said]
        assert "none" not in numbers[: len(numbers) - numbers.count("none")]
        return [float(one) for one in numbers if one != "none"]

    rising, falling = told(sort), told(f"-{sort}")
    assert rising == sorted(falling)
    assert falling == sorted(rising, reverse=True)
    assert len(set(rising)) > 1


def test_each_of_two_columns_of_a_name_is_sorted_by_its_own_head() -> None:
    """A second `95 %` is called `95 % (2)` in an address; both heads say 95 %."""
    sheet = Sheet(
        ("player", "95 %", "95 %"),
        [[Cell(text) for text in row] for row in (("a", "1 to 2", "-8"), ("b", "0", "1,200"))],
        (1, 2),
    )
    drawn = TEMPLATES.from_string(
        '{% from "sheet.html" import tabled %}{{ tabled(sheet, order, "it", 1, to) }}'
    )

    def told(sort: str) -> str:
        order = TableOrder(sort, URL("/ratings"))
        return unescape(drawn.render(sheet=sheet, order=order, to=Addresses(None)))

    assert ["a", "b"] == column(told("-95 %"), 0, "it")
    assert ["b", "a"] == column(told("-95 % (2)"), 0, "it")
    assert 'href="/ratings?sort=-95+%25+%282%29">95 %</a>' in told("player")


@pytest.mark.parametrize(
    ("path", "first"),
    [
        ("/matches", "match"),
        ("/players", "player"),
        ("/ratings", "player"),
        ("/players/random-0", "statistic"),
        ("/games", "ruleset"),
        *sized([], [("/players/random-0/bids", "held")]),
    ],
)
def test_a_column_that_is_not_there_is_refused_with_those_that_are(
    path: str, first: str, site: Site
) -> None:
    assert f"Nothing here is sorted by luck: {first}, " in read(site, path, 422, sort="luck")


def test_a_list_of_too_many_is_sorted_by_nothing_else(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(addresses, "SORTED_ROWS_MAX", 2)
    page = read(site, "/matches", 413, sort="-players")
    assert "ore than 2 matches stand in their own order only, not by -players" in page


@pytest.mark.parametrize(("sort", "names"), [("hands", "bac"), ("-hands", "cab"), ("", "acb")])
def test_a_sorted_list_goes_on_page_after_page(
    sort: str, names: str, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two to a page: the address keeps the order, and every row comes once."""
    monkeypatch.setattr(pages_of_matches, "MATCHES_LISTED", 2)
    page = read(site, "/matches", sort=sort)
    (further,) = re.findall(r'rel="next" href="([^"]+)"', page)
    assert f"sort={sort}" in further
    last = read(site, further)
    assert names == matches(page) + matches(last)
    assert 'rel="next"' not in last


def test_a_place_in_a_sorted_list_is_a_number(site: Site) -> None:
    page = read(site, "/players?sort=net&after=x", 400)
    assert "A list by net goes on after a number of rows" in page


ORDERED = "match=c"


def listed(site: Site, q: str, by: str) -> list[str]:
    page = read(site, f"/hands?{urlencode({'q': q, 'order': by})}")
    return re.findall(r'class="whole" href="([^"]+)"', page)


def amounts(site: Site, order: str, player: str = "") -> list[int]:
    """What hands of a list are sorted by, as JSON has it, in the order of the page."""
    q = ORDERED + (f" & player={player}" if player else "")
    with TestClient(site.app):
        rows = site.as_("auditor").get(f"/api/v1/hands?{urlencode({'q': q})}").json()["data"]
    every = {row["hand"]: row for row in rows}
    hands = [urlsplit(at).path.removeprefix("/hands/") for at in listed(site, q, order)]
    assert sorted(every) == sorted(hands)
    if not player:
        return [every[hand]["pot"] for hand in hands]
    return [every[hand]["net"][every[hand]["players"].index(player)] for hand in hands]


def test_hands_are_sorted_by_what_they_came_to(site: Site) -> None:
    pots = amounts(site, "pot")
    assert pots == sorted(pots, reverse=True)
    won = amounts(site, "won", "random-0")
    assert won == sorted(won, reverse=True)
    assert won[::-1] == amounts(site, "lost", "random-0") or len(set(won)) < len(won)
    assert len(set(pots)) > 3


@pytest.mark.parametrize("by", sized(["lost"], ["pot", "price"], ["pot", "lost", "price"]))
def test_next_and_previous_follow_the_order_of_the_list(by: str, site: Site) -> None:
    """Page after page of the list, and from hand to hand, each comes once."""
    q = f"{sized('match=a', ORDERED)} & player=random-0"
    hands = listed(site, q, by)
    at, passed = hands[0], []
    while at:
        passed.append(at)
        assert f"order={by}" in at
        page = read(site, at)
        assert f'href="/hands?{urlencode({"q": q, "order": by})}"' in page
        found = re.search(r'rel="next" href="([^"]+)"', page)
        at = found[1] if found else ""
    assert hands == passed
    back = re.search(r'rel="prev" href="([^"]+)"', read(site, hands[3]))
    assert back is not None
    assert hands[2] == back[1]


def test_pages_of_a_sorted_filter_are_one_list(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = listed(site, ORDERED, "pot")
    monkeypatch.setattr(pages_of_hands, "HANDS_LISTED", 4)
    at, found = f"/hands?{urlencode({'q': ORDERED, 'order': 'pot'})}", []
    while at:
        page = read(site, at)
        found += re.findall(r'class="whole" href="([^"]+)"', page)
        more = re.search(r'rel="next" href="(/hands\?[^"]+)"', page)
        at = more[1] if more else ""
    assert whole == found


def test_what_a_player_won_is_no_order_of_hands_of_anybody(site: Site) -> None:
    page = read(site, "/hands?q=match%3Dc&order=won", 400)
    assert "By won hands of one player are sorted: name him, as in player=NAME" in page
    assert "most won" not in read(site, "/hands?q=match%3Dc")
    assert "most won first, random-0" in read(site, "/hands?q=random-0:showdown")


@pytest.mark.parametrize(
    "path",
    ["/players/random-0", "/players/random-0/compare", *sized([], ["/players/random-0/opponent"])],
)
def test_where_a_match_is_asked_for_those_there_are_can_be_picked(path: str, site: Site) -> None:
    page = read(site, path)
    assert page.count('list="matches"') == (2 if path.endswith("compare") else 1)
    picked = re.findall(r'<option value="(\w)" label="([^"]+)"', page)
    assert ["a", "c", "b"] == [name for name, _ in picked]
    assert picked[0][1].startswith("a: random-0, random-1 · auction-2024 · 1970-01-01")


def test_fairness_has_the_same_pick(site: Site) -> None:
    assert '<option value="c" label="c: random-0, random-1' in read(site, "/fairness")


def test_a_match_is_titled_by_its_players(tmp_path: Path) -> None:
    folder = tmp_path / "ledger"
    words = ["--hands", "2", "--seed", "1", "--match", "c", "--ledger", str(folder)]
    assert main(["play", "auction-2024", *words]) == 0
    page = read(site_of(folder), "/matches/c")
    assert "<title>c: random-0, random-1 · muckrake</title>" in page
