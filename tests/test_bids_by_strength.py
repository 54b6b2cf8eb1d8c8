"""Bids by what cards and board made: counted once more, event by event, and found by filters."""

import re
from collections import defaultdict
from collections.abc import Callable
from functools import cache
from statistics import median

import pytest
from starlette.testclient import TestClient

from dealer.play import play
from engine.games import GAMES
from events import types as t
from events.cards import RANKS
from events.evolve import replay
from events.types import Events
from odds.rank import CATEGORIES, category, value
from tests.http.clients import Site, site_of
from tests.profiles import sized
from tests.sessions import forged

GAME = GAMES["auction-2024"]
PLAYED = tuple(play(GAME, "scrim", sized(25, 50, 150), "24"))
PLAYER = "random-0"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder = tmp_path_factory.mktemp("strong") / "ledger"
    forged(folder, *PLAYED)
    return site_of(folder)


@cache
def walked(shown_only: bool = False) -> dict[str, dict[str, int]]:
    """His chosen bids by what he held, and the hand of each."""
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for record in PLAYED:
        start = record[0]
        assert isinstance(start, t.HandStarted)
        seat = start.players.index(PLAYER)
        for at, one in enumerate(record):
            if isinstance(one, t.BidPlaced) and one.seat == seat and one.origin == "chosen":
                then = replay(record[:at])
                if then.stacks[seat] == 0:
                    continue
                known = not shown_only or _shown(record, seat)
                made = category(value(then.hole[seat], then.board, ranking=GAME.ranking))
                found[CATEGORIES[made] if known else "not known"][start.hand] = one.amount
    return found


def _shown(record: Events, seat: int) -> bool:
    return any(isinstance(one, t.Shown) and one.seat == seat for one in record)


@pytest.fixture(scope="module")
def page_of(site: Site) -> Callable[[str | None], str]:
    """The page that somebody sees, asked for once."""

    @cache
    def page(who: str | None) -> str:
        with TestClient(site.app):
            asked = site.as_(who).get(f"/players/{PLAYER}/bids", headers={"Accept": "text/html"})
        return str(asked.text)

    return page


def rows(page: str) -> dict[str, list[str]]:
    """The table of the page: a row's head, and its cells."""
    table = page.partition('aria-label="Bids by what he held"')[2].partition("</table>")[0]
    found = {}
    for row in re.findall("<tr.*?</tr>", table.partition("<tbody>")[2], re.DOTALL):
        head, *cells = re.findall("<t[hd].*?</t[hd]>", row, re.DOTALL)
        text = [re.sub("<[^>]*>", "", cell) for cell in (head, *cells)]
        found[text[0].removesuffix(" too few").strip()] = text[1:]
    return found


@pytest.mark.ci
def test_the_page_counts_what_the_events_say(page_of: Callable[[str | None], str]) -> None:
    counted, told = walked(), rows(page_of("auditor"))
    assert set(counted) == set(told) > {"high card", "pair"}
    for made, bids in counted.items():
        assert str(len(bids)) == told[made][0]
        assert f"{median(bids.values()):.1f}" == told[made][1]
        least, middle, most = told[made][4:]
        assert bids[least] == min(bids.values())
        assert bids[most] == max(bids.values())
        assert bids[least] <= bids[middle] <= bids[most]
    assert list(told) == [name for name in CATEGORIES if name in counted]


def test_the_public_counts_what_was_shown(page_of: Callable[[str | None], str]) -> None:
    counted, told = walked(shown_only=True), rows(page_of(None))
    assert {name: str(len(bids)) for name, bids in counted.items()} == {
        name: cells[0] for name, cells in told.items()
    }
    assert "not known" in told


@pytest.mark.parametrize("who", ["auditor", None])
def test_the_grid_has_the_mean_bid_of_each_class_of_hole_cards(
    page_of: Callable[[str | None], str], who: str | None
) -> None:
    """In pots, of the two cards that he had when he bid."""
    held: dict[str, list[float]] = defaultdict(list)
    for record in PLAYED:
        start = record[0]
        assert isinstance(start, t.HandStarted)
        seat = start.players.index(PLAYER)
        known = who == "auditor" or _shown(record, seat)
        for at, one in enumerate(record):
            if isinstance(one, t.BidPlaced) and one.seat == seat and one.origin == "chosen":
                then = replay(record[:at])
                if then.stacks[seat] and known:
                    high, low = sorted(then.hole[seat], key=lambda it: -RANKS.index(it[0]))
                    suits = "" if high[0] == low[0] else "s" if high[1] == low[1] else "o"
                    held[high[0] + low[0] + suits].append(one.amount / then.pot)
    told = re.findall(r'title="(\w+): ([\d.]+) pots, (\d+) bids?"', page_of(who))
    assert {
        name: (f"{mean:.1f}" if (mean := sum(some) / len(some)) < 10 else f"{mean:.0f}", len(some))
        for name, some in held.items()
    } == {name: (said, int(n)) for name, said, n in told}


@pytest.mark.ci
def test_each_row_leads_to_its_hands(site: Site) -> None:
    for who, counted in (("auditor", walked()), (None, walked(shown_only=True))):
        for made, bids in counted.items():
            if made != "not known":
                term = f"{PLAYER}:bid-with={made.replace(' ', '-')}"
                with TestClient(site.app):
                    asked = {"q": term, "limit": 1000}
                    found = site.as_(who).get("/api/v1/hands", params=asked).json()["data"]
                assert set(bids) == {row["hand"] for row in found}


def test_the_split_of_measures_has_the_same_parts(site: Site) -> None:
    with TestClient(site.app):
        asked = {"split": "made", "spots": 0}
        told = site.as_("auditor").get(f"/api/v1/players/{PLAYER}/bids", params=asked).json()
    parts = {one["made"]: one["measures"]["bid"]["n"] for one in told["players"]}
    assert {name: len(bids) for name, bids in walked().items()} == {
        name: n for name, n in parts.items() if n
    }
