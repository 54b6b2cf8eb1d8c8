"""Pages show amounts as the money that they are, and offer a choice where one must be made."""

import re
from html import unescape
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from api.main import main
from api.pages.hand_line import parse_line
from api.pages.site import money_text
from tests.http.clients import site_of
from tests.test_units_asked import HIM, ME, ledger

__all__ = ["ledger"]


def read(folder: Path, path: str, status: int = 200) -> str:
    site = site_of(folder)
    with TestClient(site.app):
        answer = site.as_("auditor").get(path, headers={"Accept": "text/html"})
    assert status == answer.status_code, re.findall(r"<p[^>]*>.*?</p>", answer.text)
    return unescape(answer.text)


@pytest.mark.parametrize(
    ("number", "unit", "told"),
    [
        (1234, None, "1\u202f234"),
        (-3, "chip", "−3"),
        (None, "cent", "?"),
        (125, "cent", "$1.25"),
        (200, "cent", "$2.00"),
        (-5, "euro cent", "−€0.05"),
        (123456, "penny", "£1\u202f234.56"),
        (7, "dollar", "$7"),
        (3, "half chip", "1.5"),
        (4, "half chip", "2"),
        (1, "1/8 chip", "0.125"),
        (9, "yen", "9"),
    ],
)
def test_an_amount_is_told_as_its_money(number: int | None, unit: str | None, told: str) -> None:
    assert told == money_text(number, unit)


def test_what_was_won_has_its_sign() -> None:
    found = [money_text(one, "cent", signed=True) for one in (125, 0, -125)]
    assert ["+$1.25", "$0.00", "−$1.25"] == found


def test_a_hand_of_a_list_is_told_in_money() -> None:
    line = parse_line("ann 4000, bob 4000 | s1 b2 R600 C | 1200: ann +600, bob -600", "cent")
    assert [["ann", "$40.00"], ["bob", "$40.00"]] == [
        [it.before for it in one] for one in line.seats
    ]
    assert ("ann +$6.00", "bob −$6.00") == line.outcome
    assert "open $6.00" in [piece.before for piece in line.streets[1]]


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/hands?q=match%3Ddollars", r'<td class="n">\$\d+\.\d\d</td>'),
        ("/hands?q=match%3Dhalves", r'<td class="n">\d+(\.5)?</td>'),
        ("/hands/euros/1", r'data-chips="\d+">€\d+\.\d\d</b> each'),
        ("/hands/euros/1/events", r"posts.*€0\.0"),
        ("/hands/dollars/1/audit", r'<td class="n[^"]*">\$\d+\.\d\d</td>'),
        ("/live?match=dollars", r'class="n">\$\d+\.\d\d</td>'),
        ("/hands/dollars/1/audit", r'<td class="n[^"]*">[+−]\$\d+\.\d\d</td>'),
        ("/", r"[€$]\d+\.\d\d"),
    ],
)
def test_pages_show_amounts_of_imported_hands_as_money(ledger: Path, path: str, shown: str) -> None:
    page = read(ledger, path)
    assert re.search(shown, page)
    assert "units of a" not in page


def test_ratings_of_several_moneys_offer_each(ledger: Path) -> None:
    page = read(ledger, "/ratings", 400)
    offered = re.findall(r'class="btn" href="(/ratings\?unit=\w+)">(\w+)</a>', page)
    assert [(f"/ratings?unit={one}", one) for one in ("chip", "dollar", "euro")] == offered
    assert "amounts in euros" in read(ledger, "/ratings?unit=euro")


@pytest.mark.parametrize(
    ("path", "status", "offered"),
    [
        (f"/players/{ME}/counters", 400, f"/players/{ME}/counters?unit=dollar"),
        (f"/players/{ME}/gate", 422, f"/players/{ME}/gate?other={HIM}"),
        (f"/players/{ME}?split=shoe", 422, f"/players/{ME}?split=position"),
        ("/matches?sort=luck", 422, "/matches?sort=hands"),
        ("/ratings?unit=pound", 404, "/ratings?unit=dollar"),
    ],
)
def test_where_something_must_be_chosen_each_choice_is_a_link(
    ledger: Path, path: str, status: int, offered: str
) -> None:
    page = read(ledger, path, status)
    assert f'href="{offered}"' in page
    if status != 422:
        read(ledger, offered)


def test_the_same_choices_are_in_json(ledger: Path) -> None:
    site = site_of(ledger)
    with TestClient(site.app):
        told = site.as_("auditor").get("/api/v1/ratings").json()
    assert {"unit": ["chip", "dollar", "euro"]} == told["choices"]


def test_what_was_won_in_a_match_that_is_dealt_in_cents_is_in_dollars(tmp_path: Path) -> None:
    words = ("site-nl", "--set", "unit=cent", "--hands", "6", "--seed", "1", "--match", "m")
    assert 0 == main(["play", *words, "--ledger", str(tmp_path / "ledger")])
    page = read(tmp_path / "ledger", "/live?match=m")
    figure = page[page.index('id="money"') :].partition("</figure>")[0]
    amounts = re.findall(r"[+−]?\$\d+\.\d\d", figure)
    assert {one[0] for one in amounts} == {"+", "−", "$"}
    assert not re.search(r">[+−]?[\d\u202f]+</(text|td)>", figure)
    for path in ("/", "/matches", "/matches/m"):
        assert re.search(r">[+−]\$\d+\.\d\d</(span|td)>", read(tmp_path / "ledger", path)), path


def test_an_amount_in_a_table_of_measures_has_the_sign_of_its_money(ledger: Path) -> None:
    """Sums with what was won or lost; shares, counts and amounts of chips stay plain."""
    page = read(ledger, f"/players/{ME}?unit=euro")
    rows = {row.partition("<summary>")[2].partition("<")[0]: row for row in page.split("<tr")}
    assert re.search(r"<b>[+−]?€\d+\.\d\d</b>", rows["Net"])
    assert "€" not in rows["VPIP"]
    chips = read(ledger, f"/players/{ME}?unit=chip")
    assert not re.search("[€$]", chips[chips.index("<tbody>") : chips.rindex("</tbody>")])
    luck = read(ledger, f"/players/{ME}/swaps?unit=dollar")
    assert re.search(r"Net a hand</summary>.*?<b>−?\$\d+\.\d\d</b>", luck, re.DOTALL)
