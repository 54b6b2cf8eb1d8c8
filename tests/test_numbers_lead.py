"""Every `k of n` on a player's page leads to its hands, and there are as many as it says."""

import re
from html import unescape
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from starlette.testclient import TestClient

from analytics.auctions.bidding import MEASURES as BIDS
from analytics.luck.luck_queries import MEASURES as SWAPS
from analytics.replay.flags import FLAGS
from analytics.statistics.catalogue import STATISTICS
from api.main import main
from api.pages import players as pages_of_players
from api.pages.statistics import SWAPS_SPOTS
from api.pages.winnings import AUCTIONS_VALUED as VALUED_SPOTS
from api.playing.names import parse_tags, tagged_records
from api.playing.recording import (
    ALL_PLAYED,
    Recording,
    finished_hand,
    ledger_projections,
    seeded_start,
)
from api.questions.filters_tree import COUNT_QUERIES
from dealer.bots.built_in import BOTS
from dealer.deck import SeededDecks
from dealer.play import hand_records, plan, play
from engine.game import fingerprint, to_json
from engine.games import GAMES
from store.ledger import open_ledger
from tests.analytics.test_simulated_leaks import Opener, RiverFolder
from tests.http.clients import Site, site_of
from tests.profiles import in_turn, sized
from tests.sessions import forged

PLAYER = "random-0"
MEASURED = {**BIDS, **SWAPS}
TITLES = {one.title: one for one in STATISTICS.values()}
LINK = re.compile(r'<a href="([^"]+)"[^>]*>([^<]+)</a>')


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder = tmp_path_factory.mktemp("lead") / "ledger"
    forged(folder, *play(GAMES["site-nl"], "ring", 60, "7", seats=6))
    return site_of(folder)


def read(site: Site, path: str) -> str:
    answer = site.as_("auditor").get(path, headers={"Accept": "text/html"})
    assert answer.status_code == 200, answer.text
    return str(answer.text)


def whole(text: str) -> int:
    return int(re.sub(r"\D", "", text) or 0)


def test_each_number_of_a_statistic_leads_to_its_hands(site: Site) -> None:
    """A flag counts a hand once: as many are found. Streets and actions may be several. Before
    `slow` the hands of every tenth number are counted."""
    page = read(site, f"/players/{PLAYER}")
    seen, step = set(), sized(10, 10, 1)
    for row in re.findall("<tr.*?</tr>", page, re.DOTALL):
        head = re.search(r"<summary>([^<]+)</summary>", row)
        one = TITLES.get(unescape(head[1])) if head else None
        links = LINK.findall(row)
        if one is None or "k/n" in row:
            continue
        counts = re.sub("<[^>]+>", "", row.split("</td>")[-3]).split("/")
        assert len(counts) == (2 if one.kind in ("share", "ratio") else 1), one.name
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


def found_by(page: str) -> set[int]:
    """How many hands a list says that it found, and how often they are counted."""
    said = re.search(
        r"<b>([\d\s\u202f]+) hands?</b>(?:, counted <b>([\d\u202f]+) times?</b>)?", page
    )
    return {whole(one) for one in said.groups() if one} if said else {0}


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Tagged matches of auctions under both readings, one of swaps, and one of more than a window
    of hands."""
    folder = tmp_path_factory.mktemp("mixed") / "ledger"
    ledger, lock = open_ledger(folder, "a test", ledger_projections(folder))
    played_hands = {"auction-2024": 12, "swap-2022": 24, "auction-2024-mit": 24, "urcs-1998": 110}
    for game, hands in played_hands.items():
        rules, match = GAMES[game], f"of-{game}"
        ledger.keep_ruleset(fingerprint(rules), to_json(rules))
        played = list(play(rules, match, hands, match, 2))
        tags = parse_tags(["A=version:2"]) if hands == 12 else {}
        start = seeded_start(match, played[0], match, "sealed")
        recording = Recording(ledger, start, rules, tagged_records(tags, {"A": PLAYER}))
        recording.keep_all([*map(finished_hand, played)])
        recording.end(ALL_PLAYED)
    ledger.close()
    lock.release()
    return site_of(folder)


PAGES = (
    f"/players/{PLAYER}?split=position",
    f"/players/{PLAYER}?split=tag:version",
    f"/players/{PLAYER}/opponent",
    f"/players/{PLAYER}/compare?other=random-1",
    f"/players/{PLAYER}/bids",
    f"/players/{PLAYER}/swaps",
    *(f"/players/{PLAYER}?split={by}" for by in ("game", "match", "opponent", "window")),
)


# In `quick` those of bids, swaps and an opponent are followed below.
@pytest.mark.parametrize("path", sized((*PAGES[:2], PAGES[3]), PAGES[:5], PAGES))
def test_every_k_of_n_of_every_page_leads_to_its_hands(path: str, mixed: Site) -> None:
    """A list says how many hands it finds and, where one counts several times, how often. Of cards
    that were valued on a sample it has the hands of the sample."""
    page = read(mixed, path)
    rows = re.findall("<tr.*?</tr>", page, re.DOTALL)
    cells = [(row, cell) for row in rows for cell in re.findall("<td.*?</td>", row, re.DOTALL)]
    assert not [row for row, cell in cells if re.search(r"[>\s](?!0/)[\d\u202f]+/\d+<", cell)]
    counts = [
        link
        for _, cell in cells
        for link in LINK.findall(cell)
        if link[0].startswith("/hands?") and whole(link[1])
    ]
    assert len(counts) > (10 if path != f"/players/{PLAYER}/opponent" else 4), path
    for href, said in counts[:: max(1, len(counts) // sized(2, 2, len(counts)))]:
        assert whole(said) in found_by(read(mixed, unescape(href))), unescape(href)


@pytest.mark.ci  # before, the numbers of an opponent are followed from another part of that page
def test_numbers_of_what_pays_against_him_lead_to_its_hands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(BOTS, "one", RiverFolder)
    monkeypatch.setitem(BOTS, "other", Opener)
    planned = plan(GAMES["auction-2024"], "m", sized(150, 150, 300), "1", ("one", "other"))
    forged(tmp_path / "ledger", *hand_records(planned, SeededDecks("1")))
    site = site_of(tmp_path / "ledger")
    page = read(site, "/players/one-0/opponent")
    (row,) = re.findall("<tr><th[^>]*>Folds too much, river.*?</tr>", page, re.DOTALL)
    counts = [link for link in LINK.findall(row) if link[0].startswith("/hands?")]
    assert 2 == len(counts)
    for href, said in counts:
        assert whole(said) in found_by(read(site, unescape(href))), unescape(href)


@pytest.fixture(scope="module")
def many_matches(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Twenty short matches that somebody wins early, and tables at which three play."""
    folder = tmp_path_factory.mktemp("many") / "ledger"
    ledger, lock = open_ledger(folder, "a test", ledger_projections(folder))
    tables = [(f"m{at}, of 20", "auction-2024", 2) for at in range(20)]
    rings = [(f"ring {at}", "site-nl", 3) for at in range(sized(2, 4, 12))]
    for match, game, seats in (*tables, *rings):
        rules, bots = GAMES[game], ("random", "tight", "random")[:seats]
        ledger.keep_ruleset(fingerprint(rules), to_json(rules))
        planned = plan(rules, match, 60 if seats == 3 else 12, match, bots)
        played = list(hand_records(planned, SeededDecks(match)))
        recording = Recording(ledger, seeded_start(match, played[0], match, "sealed"), rules, ())
        recording.keep_all([*map(finished_hand, played)])
        recording.end(ALL_PLAYED)
    ledger.close()
    lock.release()
    return site_of(folder)


@pytest.fixture(scope="module")
def opponent(many_matches: Site) -> str:
    """What there is to know of him, without a filter."""
    return read(many_matches, "/players/tight-1/opponent")


@pytest.mark.ci
# Whose check it was is asked of the filter itself, below.
@pytest.mark.parametrize("vs", sized([""], ["?vs=random-0"], ["", "?vs=random-0"]))
def test_numbers_of_an_opponent_lead_there_however_many_matches_were_won(
    vs: str, many_matches: Site, opponent: str
) -> None:
    """Hands after a match was won are no part of what stands out, and of no list that it leads to;
    of what follows a check, the check is the rival's who is asked about."""
    page = read(many_matches, f"/players/tight-1/opponent{vs}") if vs else opponent
    assert page.count(" had won it before ") > 15
    rows = [row for row in re.findall("<tr.*?</tr>", page, re.DOTALL) if 'class="ci apart"' in row]
    assert len(rows) >= 4
    found = {}
    for row in rows:
        counts = [link for link in LINK.findall(row) if link[0].startswith("/hands?")]
        numbers = re.search(r">([\d\u202f]+)(?:</a>)?/<a", row)
        assert len(counts) == 2 or (numbers is not None and numbers[1] == "0"), row
        for href, said in counts:
            (q,) = parse_qs(urlsplit(unescape(href)).query)["q"]
            assert "!hands=" in q
            found[q] = (whole(said), unescape(href))
    for said, href in [*found.values()][:: sized(18, 18, 1)]:
        assert said in found_by(read(many_matches, href)), href
    assert bool(vs) == any("player=random-0" in q for q in found)


@pytest.mark.ci  # the edge of what is followed above
def test_more_won_matches_than_a_filter_can_name_are_told(
    many_matches: Site, opponent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then a number leads to its hands one by one, as far as those fit; one match is no more."""
    words = "More matches were won early here than a filter can name"
    assert words not in opponent
    monkeypatch.setattr(pages_of_players, "WON_MAX", 100)
    page = read(many_matches, "/players/tight-1/opponent?hands=1-11")
    assert words in page
    hrefs = [unescape(href) for href, _ in LINK.findall(page) if "hand_seq" in href]
    assert hrefs
    assert words not in read(many_matches, "/players/tight-1/opponent?match=m0%2C+of+20")


@pytest.mark.ci
def test_what_follows_a_check_is_asked_of_one_rival(many_matches: Site) -> None:
    """At a table of three, bets after anybody's check are those after the one's or the other's."""
    counts = []
    for whose in ("", ":random-0", ":random-2"):
        q = urlencode({"q": f"game=site-nl & tight-1:could=after_check{whose}"})
        counts.append(max(found_by(read(many_matches, f"/hands?{q}"))))
    anybody, one, other = counts
    assert 0 < one < anybody
    assert 0 < other < anybody <= one + other


def test_numbers_of_mirrored_decks_lead_to_their_hands(tmp_path: Path) -> None:
    """All hands of every deck that was dealt to each seat."""
    folder = tmp_path / "ledger"
    words = ("--hands", "14", "--seed", "3", "--mirror", "--disclosure", "open")
    for match in ("one", "two"):
        match_words = ("--match", match, "--ledger", str(folder))
        assert 0 == main(["play", "auction-2024", *words, *match_words])
    site = site_of(folder)
    for tab, said in (("swaps", "Net a hand, mirrored"), ("winnings", "mirrored decks")):
        page = read(site, f"/players/{PLAYER}/{tab}")
        (part,) = [
            it
            for it in re.findall('<tr.*?</tr>|<p class="sub".*?</p>', page, re.DOTALL)
            if said in it
        ]
        ((href, number),) = [it for it in LINK.findall(part) if it[0].startswith("/hands?")]
        (q,) = parse_qs(urlsplit(unescape(href)).query)["q"]
        assert 14 == whole(re.sub("<[^>]+>", "", number))
        assert f'player={PLAYER} & hands="one/1-14,two/1-14"' == q
        assert {28} == found_by(read(site, unescape(href)))


VALUED = {
    "bids": ("regret_known", "value_own", "overpaid_own", "break_even_unbounded_own", "allocated"),
    "swaps": ("swap_luck", "swap_luck_sum", "luck", "adjusted"),
}


@pytest.mark.ci
@pytest.mark.parametrize(("tab", "view"), in_turn(VALUED, ("public", "auditor")))
def test_numbers_of_valued_cards_lead_to_the_hands_of_the_sample(
    tab: str, view: str, mixed: Site
) -> None:
    """As many as the answer says, each of a card that is at risk or for sale, and known to the
    viewer; who sees fewer cards has fewer."""
    page = read(mixed, f"/players/{PLAYER}/{tab}?as={view}")
    spots = {"bids": VALUED_SPOTS, "swaps": SWAPS_SPOTS}[tab]
    with TestClient(mixed.app):
        told = mixed.as_("auditor").get(
            f"/api/v1/players/{PLAYER}/{tab}", params={"as": view, "spots": spots}
        )
    measures = told.json()["players"][0]["measures"]
    rows = {
        unescape(row.partition("<summary>")[2].partition("<")[0]): row
        for row in re.findall("<tr.*?</tr>", page, re.DOTALL)
    }
    seen = 0
    for name in VALUED[tab]:
        number = measures[name]
        links = LINK.findall(rows.get(MEASURED[name].title, ""))
        ends = [number[end] for end in ("k", "n") if number[end]]
        assert [whole(said) for _, said in links] == (ends if number["n"] else []), name
        for (href, _), count in zip(links, ends, strict=False):
            assert count in found_by(read(mixed, unescape(f"{href}&as={view}"))), (name, href)
            seen += 1
    assert bool(seen) == (view == "auditor" or any(measures[it]["n"] for it in VALUED[tab]))
    assert view != "auditor" or seen >= 5


def test_a_list_of_hands_says_how_often_each_is_counted(mixed: Site) -> None:
    """As often as its filter names it, of those that are there."""
    q = urlencode({"q": f'player={PLAYER} & hand_seq="1,2,2,5,99999"'})
    assert {3, 4} == found_by(read(mixed, f"/hands?{q}"))
    q = urlencode({"q": 'hand_seq="1,2,5" & !hand_seq=5'})
    assert {2} == found_by(read(mixed, f"/hands?{q}"))


@pytest.mark.slow  # some of them are followed from the page before
def test_looks_at_an_opponent_are_counts_of_a_filter(mixed: Site) -> None:
    """Each k and n of a report is what its own filter finds; every one."""
    with TestClient(mixed.app):
        answer = mixed.as_("auditor").get(f"/api/v1/players/{PLAYER}/opponent").json()
    looks = answer["parts"][0]["looks"]
    known = [name for name in looks if name in COUNT_QUERIES and looks[name]["k"]]
    assert {"fold_river", "bet_large", "after_check", "bid_above_pot"} <= {*known}
    assert {"bluff", "slow_play"} == {*looks} - {*COUNT_QUERIES}
    for name in known:
        for end, numbers in (("did", "k"), ("could", "n")):
            q = urlencode({"q": f"{PLAYER}:{end}={name}"})
            assert looks[name][numbers] in found_by(read(mixed, f"/hands?{q}")), (name, end)


def test_parts_that_a_tag_says_nothing_of_lead_there_too(mixed: Site) -> None:
    page = read(mixed, f"/players/{PLAYER}?split=tag:version")
    terms = {
        parse_qs(urlsplit(unescape(href)).query)["q"][0]
        for href, _ in LINK.findall(page)
        if "/hands?" in href
    }
    assert f'{PLAYER}:(could=vpip & tag="version:2")' in terms
    assert f"{PLAYER}:(could=vpip & !tag=version)" in terms


def test_a_list_says_how_often_its_hands_are_counted(site: Site) -> None:
    """A player may face several bets on a street: those hands are fewer than his chances."""
    q = f"{PLAYER}:could=fold_preflop"
    assert len(found_by(read(site, f"/hands?{urlencode({'q': q})}"))) == 2
    q = f"{PLAYER}:could=vpip"
    assert "counted" not in read(site, f"/hands?{urlencode({'q': q})}").partition("</p>")[0]


def test_the_filters_of_the_page_go_along(site: Site) -> None:
    page = read(site, f"/players/{PLAYER}?hands=1-20&vs=random-1")
    terms = [parse_qs(urlsplit(unescape(href)).query) for href, _ in LINK.findall(page)]
    counted = [it["q"][0] for it in terms if ":did=" in it.get("q", [""])[0]]
    assert f"{PLAYER}:did=vpip & player=random-1 & number>=1 & number<=20" in counted


@pytest.mark.ci
def test_next_and_previous_stay_inside_the_filter(site: Site) -> None:
    """From the last hand of a filter every hand of it is passed, on each page of a hand, and no
    other; back the same way."""
    q = f"{PLAYER}:did=vpip & number<={sized(8, 12, 60)}"
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
