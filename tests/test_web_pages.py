"""What pages say of records that are not as they should be, and of what pages are made."""

import re
from itertools import islice
from pathlib import Path
from urllib.parse import urlencode

import pytest
from msgspec.structs import replace
from starlette.testclient import TestClient

from analytics.results.winnings_curve import Point, Winnings
from api.main import main
from api.pages.addresses import Addresses
from api.pages.hand_line import SEPARATOR, HandLine, Piece, parse_line
from api.pages.site import PICTURE_SIZE, STATIC, log_scale, static_address
from api.pages.winnings import hand_window, is_crowded
from api.questions.filters_parser import parse_filter
from api.questions.filters_values import PlayerFilter
from dealer.play import play
from engine.game import fingerprint
from engine.games import GAMES
from events import types as t
from events.types import Events
from store.proof.notary import CHECKPOINT
from tests.http.clients import Site, site_of
from tests.sessions import forged

GAME = GAMES["auction-2024"]
THIN = "\N{NARROW NO-BREAK SPACE}"


def of_forger(tmp_path: Path, *records: Events) -> Site:
    """The pages over a ledger that believes what it is told."""
    forged(tmp_path / "ledger", *records)
    return site_of(tmp_path / "ledger")


def dealt() -> Events:
    return next(iter(play(GAME, "scrim", 1, "7")))


def read(site: Site, path: str, status: int = 200, who: str | None = "auditor") -> str:
    """The text of a page, without its markup."""
    with TestClient(site.app):
        answer = site.as_(who, follow_redirects=True).get(path, headers={"Accept": "text/html"})
    assert status == answer.status_code, answer.text
    assert answer.headers["content-type"].startswith("text/html")
    return " ".join(answer.text.split())


@pytest.fixture(scope="module")
def scrim(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A dozen hands, to look at."""
    return of_forger(tmp_path_factory.mktemp("scrim"), *play(GAME, "scrim", 12, "7"))


@pytest.fixture(scope="module")
def bids(scrim: Site) -> str:
    """What there is to know of bids."""
    return read(scrim, "/players/random-0/bids")


def test_the_head_of_a_plain_table_has_its_parts_apart(scrim: Site) -> None:
    page = read(scrim, "/players/random-0/compare?other=random-1")
    assert "<h2>Difference: random-0 less random-1 · 12 hands and 12 hands" in page


def test_the_page_of_bids_opens_with_regret_and_then_efficiency(
    scrim: Site, bids: str, tmp_path: Path
) -> None:
    """As the JSON has them."""
    page = bids
    told = (
        scrim.as_("auditor").get("/api/v1/players/random-0/bids").json()["players"][0]["measures"]
    )
    assert ["regret_known", "efficiency_known"] == list(told)[:2]
    regret, efficiency = (f"{told[name]['value']:.2f}" for name in list(told)[:2])
    opening, _, table = page.partition("<h2>Measures</h2>")
    of_both = rf"regret \(known\) <b>{regret}</b>.*bid efficiency \(known\) <b>{efficiency}</b>"
    assert re.search(of_both.replace("-", "\N{MINUS SIGN}"), opening)
    assert table.index("Regret (known)") < table.index("Bid efficiency (known)")
    none = of_forger(tmp_path / "none", *play(GAMES["swap-2022"], "swap", 1, "7"))
    assert "Nobody called random-0 has bid" in read(none, "/players/random-0/bids")


def test_of_bids_a_few_measures_are_shown_and_the_others_one_click_away(bids: str) -> None:
    """Each says what it is without a mouse that points at it."""
    measures = bids.partition("<h2>Measures</h2>")[2]
    shown, others = measures.partition("</section>")[0].split("<summary>All others")
    assert 12 >= shown.count("<tr") - 1 > 8
    assert others.count("<tr") > 30
    assert "<summary>Bid</summary><p>what he bid, in chips</p>" in shown


def test_a_parameter_that_a_page_does_not_have_is_said(tmp_path: Path) -> None:
    site = of_forger(tmp_path, dealt())
    page = read(site, "/hands?q=walk&ordr=oldest&as=public")
    assert "Nothing here is asked by <code>ordr</code>." in page
    for known in ("/hands?q=walk&order=oldest", "/players/random-0?split=position&vs=random-1"):
        assert "Nothing here is asked by" not in read(site, known)


def test_winnings_are_drawn_here_for_whoever_has_no_script(scrim: Site) -> None:
    for path in ("/players/random-0/winnings", "/embed/players/random-0/winnings"):
        page = read(scrim, path)
        lines = dict(re.findall(r'<polyline class="(\w+)" points="([^"]*)"', page))
        assert {"net", "showdown", "without"} <= lines.keys()
        assert {12} == {len(points.split()) for points in lines.values()}


def test_points_that_would_lie_on_an_axis_are_drawn_in_logs() -> None:
    assert is_crowded([0.5, 1, 2, 3, 200])
    assert not is_crowded([0.5, 60, 70, 80, 200])
    assert not is_crowded([-3, 1, 2, 3, 200])
    assert not is_crowded([])
    over = log_scale([0.5, 1, 2, 3, 200])
    assert (0, 1, 3, 10, 30, 100, 300) == over.ticks
    assert 0 == over.at(0) < over.at(1) < over.at(200) < over.at(300) == PICTURE_SIZE
    assert over.at(3) > PICTURE_SIZE / 5


def test_a_pot_that_was_paid_to_nobody_who_won_it_differs(tmp_path: Path) -> None:
    record = dealt()
    at = next(at for at, event in enumerate(record) if isinstance(event, t.PotSplit))
    split = record[at]
    assert isinstance(split, t.PotSplit)
    other = replace(split, seats=tuple(1 - seat for seat in split.seats))
    page = read(
        of_forger(tmp_path, (*record[:at], other, *record[at + 1 :])), "/hands/scrim/1/audit"
    )
    assert '<div class="ruling differ"' in page
    assert f'href="/hands/scrim/1/events#{at}">event {at}</a>' in page
    # both players, as recorded and as decided, of the whole and of the pot
    assert page.count('<td class="n wrong">') == 8
    pots = page[page.index("<h2>Pots") :].partition("</section>")[0]
    assert '<th class="n">recorded</th><th class="n">by the rules</th>' in pots
    wrong = [int(one) for one in re.findall(r'<td class="n wrong">(\d+)</td>', pots)]
    assert [sum(split.shares), 0, 0, sum(split.shares)] == wrong
    assert "by what he put in" not in pots
    paid, name = sum(split.shares), '<b class="name">random-{}</b>'
    won, lost = name.format(split.seats[0]), name.format(other.seats[0])
    chips = '<span class="amt" data-chips="{0}">{0}</span>'
    assert f"{won} should have {chips.format(paid)} more, {lost} {chips.format(paid)} less" in page
    assert f"<dd>{lost} wins {chips.format(paid)} from the pot</dd>" in page
    assert f"<dd>{won} wins {chips.format(paid)} from the pot</dd>" in page


def test_logs_and_event_lines_have_names_and_no_seats(tmp_path: Path) -> None:
    site = of_forger(tmp_path, dealt())
    for path in ("/hands/scrim/1", "/hands/scrim/1/events"):
        said = re.findall(r'<span class="does">(.*?)</span>(?:</a>|</summary>)', read(site, path))
        assert len(dealt()) == len(said)
        bare = [" ".join(re.sub(r"<svg.*?</svg>|<[^>]*>", "", one).split()) for one in said]
        assert not [one for one in bare if re.match(r"\d", one) or "seat" in one]
        assert any("posts the small blind of" in one for one in bare)
        assert "is dealt hiddenhidden" in "".join(
            re.sub(r"<[^>]*>", "", read(site, path, who=None))
        )


def test_the_pots_of_a_hand_that_agrees_have_one_column_of_shares(tmp_path: Path) -> None:
    pots = read(of_forger(tmp_path, dealt()), "/hands/scrim/1/audit").partition("<h2>Pots")[2]
    assert '<th class="n">share</th>' in pots
    assert "by the rules" not in pots


def test_a_hand_that_is_not_over_is_not_judged_yet(tmp_path: Path) -> None:
    site = of_forger(tmp_path, dealt()[:8])
    assert "scrim/1 is not over: it cannot be judged yet" in read(site, "/hands/scrim/1/audit")
    assert "preflop" in read(site, "/hands/scrim/1/events")


def test_a_voided_hand_has_no_award(tmp_path: Path) -> None:
    record = (*dealt()[:8], t.HandVoided("the table broke down"))
    page = read(of_forger(tmp_path, record), "/hands/scrim/1/audit")
    assert "hand void" in read(of_forger(tmp_path / "again", record), "/hands/scrim/1/events")
    assert '<div class="ruling agree"' in page


def test_where_nothing_was_signed_for_a_hand_is_judged_all_the_same(tmp_path: Path) -> None:
    site = of_forger(tmp_path, dealt())
    (tmp_path / "ledger" / CHECKPOINT).unlink()
    page = read(site, "/hands/scrim/1/audit")
    assert "There is no evidence to check: nothing was signed for" in page
    assert '<div class="ruling agree"' in page


def test_a_ruleset_that_nobody_has_is_named(tmp_path: Path) -> None:
    start, *rest = dealt()
    assert isinstance(start, t.HandStarted)
    strange = replace(start, game="house-rules", ruleset="0" * 16)
    page = read(of_forger(tmp_path, (strange, *rest)), "/hands/scrim/1/audit")
    assert "scrim/1 is of house-rules 0000000000000000" in page


def test_without_a_ledger_the_first_page_says_what_to_do(tmp_path: Path) -> None:
    page = read(site_of(tmp_path / "ledger"), "/", who=None)
    assert "Nothing has been recorded here yet" in page
    assert "muckrake play auction-2024" in page


def test_a_name_with_signs_in_it_is_a_name_and_no_markup(tmp_path: Path) -> None:
    start, *rest = dealt()
    assert isinstance(start, t.HandStarted)
    named = replace(start, players=("<b>&/", 'a"b c'))
    text = ""
    for page in ("audit", "events"):
        text = read(of_forger(tmp_path / page, (named, *rest)), f"/hands/scrim/1/{page}")
        assert "<b>&/" not in text
        assert '<a href="/players/%3Cb%3E%26%2F">&lt;b&gt;&amp;/</a>' in text
    assert '<b class="name">&lt;b&gt;&amp;/</b> posts' in text


def test_the_pages_of_a_match_say_who_won_and_name_the_places(tmp_path: Path) -> None:
    words = ("urcs-1998", "--seats", "3", "--bots", "aggressive", "--seed", "5", "--match", "m")
    assert main(["play", *words, "--ledger", str(tmp_path / "ledger")]) == 0
    site = site_of(tmp_path / "ledger")
    page = read(site, "/matches/m")
    assert "<b>aggressive-2 won</b>" in page
    placed = re.findall(r'">(aggressive-\d)</a></th>.*?place (\d)', page)
    assert [("aggressive-0", "2"), ("aggressive-1", "3"), ("aggressive-2", "1")] == placed
    for listed in ("/matches", "/"):
        assert '<td class="nowrap">aggressive-2 won</td>' in read(site, listed)


def test_a_page_is_not_sent_again_to_who_has_it(tmp_path: Path) -> None:
    client = of_forger(tmp_path, dealt()).as_("auditor")
    first = client.get("/games")
    again = client.get("/games", headers={"If-None-Match": first.headers["ETag"]})
    assert (304, b"") == (again.status_code, again.content)


def test_a_static_file_never_changes_under_its_name(tmp_path: Path) -> None:
    client = of_forger(tmp_path, dealt()).as_()
    named, plain = client.get(static_address("style.css")), client.get("/static/style.css")
    assert named.content == plain.content == (STATIC / "style.css").read_bytes()
    assert "public, max-age=31536000, immutable" == named.headers["Cache-Control"]
    assert "no-cache" == plain.headers["Cache-Control"]
    assert 404 == client.get(f"/static/style.{'0' * 12}.css").status_code


@pytest.mark.parametrize("name", ["style.css", "vendor/htmx.min.js", "mark.svg"])
def test_a_static_file_is_sent_in_fewer_bytes_to_who_can_unpack_them(
    name: str, tmp_path: Path
) -> None:
    client = of_forger(tmp_path, dealt()).as_()
    plain = client.get(static_address(name), headers={"Accept-Encoding": "identity"})
    assert "Content-Encoding" not in plain.headers
    assert plain.content == (STATIC / name).read_bytes()
    less = client.get(static_address(name), headers={"Accept-Encoding": "gzip"})
    assert "gzip" == less.headers["Content-Encoding"]
    assert plain.content == less.content  # as unpacked
    assert int(less.headers["Content-Length"]) < len(plain.content)
    for same in ("Cache-Control", "Content-Type", "Vary"):
        assert plain.headers[same] == less.headers[same]


def test_the_style_is_small() -> None:
    assert (STATIC / "style.css").stat().st_size < 25 * 1024


def test_every_class_of_a_style_sheet_is_on_a_page() -> None:
    """Or a script gives it, htmx, or the library that draws graphs."""
    pages = STATIC.parent
    files = (*pages.glob("*.py"), *pages.glob("templates/*"), *STATIC.glob("*.js"))
    known = {*re.findall(r"[\w-]+", " ".join(one.read_text("utf-8") for one in files))}
    numbered = {f"r{it}" for it in range(6)}  # lines of a picture, one after the other
    for sheet in {*STATIC.glob("*.css")} - {STATIC / "api-docs.css"}:  # that is of a library's
        rules = re.sub(r"/\*.*?\*/|\"[^\"]*\"", "", sheet.read_text("utf-8"), flags=re.DOTALL)
        selectors = " ".join(re.findall(r"([^{}]+)\{", rules))
        found = {*re.findall(r"\.([a-zA-Z][\w-]*)", selectors)} - known - numbered
        own = {one for one in found if not one.startswith(("u-", "uplot", "htmx-"))}
        assert set() == own, sheet.name


@pytest.mark.parametrize("policy", ["showdown_tie", "bids", "third_card", "ask_when_closed"])
def test_a_ruleset_says_where_its_partner_answers_otherwise(policy: str, tmp_path: Path) -> None:
    page = read(of_forger(tmp_path, dealt()), "/games/auction-2024")
    answer = page[page.index(f'<div id="{policy}">') :].partition("</div>")[0]
    assert "auction-2024-mit: " in answer
    assert fingerprint(GAME) in page


def test_an_address_is_kept_in_the_eyes_that_were_chosen() -> None:
    to = Addresses("seat:a b")
    assert "/hands/scrim/7/audit?as=seat%3Aa+b" == to.hand("scrim/7", "audit")
    assert "/hands/scrim/7?as=seat%3Aa+b#12" == to.hand("scrim/7", event=12)
    assert "/hands?q=pot%3E3+%26+walk" == Addresses().hands("pot>3 & walk")
    assert "/players/a%2Fb/grid?vs=c" == Addresses().player("a/b", "grid", vs="c")


def test_cards_that_nobody_knows_are_not_drawn_at_a_seat() -> None:
    seats = parse_line("ursa 400 BTN ????, lynx 400 Ah??, puma 400 5d6h | s1 | 8: lynx +4").seats
    drawn = [[card for piece in seat for card in piece.cards] for seat in seats]
    assert [[], ["Ah", "??"], ["5d", "6h"]] == drawn


def test_a_line_is_taken_apart_into_streets_and_an_outcome() -> None:
    line = parse_line("ursa 400 BTN 5d6h, lynx 400 * | Jd7c6c 12 [ursa 5>3 +*] X | 8: lynx +4")
    ursa, lynx = Piece("ursa"), Piece("lynx")
    first = (ursa, Piece("400"), Piece("BTN"), Piece("", ("5d", "6h"), ","), lynx, Piece("400"))
    board = (Piece("", ("Jd", "7c", "6c")), Piece("pot 12"), SEPARATOR)
    won = (Piece("ursa pays 3"), Piece("for"), Piece("", ("hidden",)), Piece("(bids 5, 3)"))
    check = (SEPARATOR, Piece("check"))
    assert (
        HandLine(((*first, Piece("", ("hidden",))), (*board, *won, *check)), ("lynx +4",), 8)
        == line
    )


def test_a_line_is_drawn_seat_by_seat_and_street_by_street() -> None:
    streets = "s1 b2 R6 C | Jd7c6c 12 [ursa 5>3 +Th] X | 8h | 4c"
    line = parse_line(f"ursa 400 BTN 5d6h, lynx 400 Tc5s | {streets} | 12: lynx +4")
    ursa, lynx = line.seats
    assert (Piece("ursa"), Piece("400"), Piece("BTN"), Piece("", ("5d", "6h"))) == ursa
    assert (Piece("lynx"), Piece("400"), Piece("", ("Tc", "5s"))) == lynx
    assert line.streets[1:] == line.shown_streets


@pytest.mark.parametrize(
    ("held", "drawn"), [("5d6h, lynx 400 Tc5s", 4), ("5d6h, lynx 400", 5), ("*, lynx 400 *", 5)]
)
def test_a_showdown_of_cards_that_were_seen_before_is_not_drawn_again(
    held: str, drawn: int
) -> None:
    shown = "ursa 5d6hTh, lynx Tc5s"
    board = "Jd7c6c 12 [ursa 5>3 +Th] X | 8h | 4c"
    line = parse_line(f"ursa 400 BTN {held} | s1 b2 R6 C | {board} | {shown} | 12: lynx +4")
    assert drawn == len(line.shown_streets)


def test_hands_that_ended_look_alike_whether_the_page_lists_them_or_its_script_asks(
    tmp_path: Path,
) -> None:
    """They are read in two ways: many together for the page, one by one as the stream tells."""
    hands = [tuple(hand) for hand in islice(play(GAME, "scrim", 6, "7"), 6)]
    site = of_forger(tmp_path, *hands[:5], (*hands[5][:8], t.HandVoided("the table broke down")))
    for who in (None, "auditor"):
        listed = re.findall(r'<tr data-of="[^"]*">.*?</tr>', read(site, "/live", who=who))
        assert 6 == len(listed)
        keys = [row.split('"')[1] for row in listed]
        asked = urlencode([("of", key) for key in keys])
        told = read(site, f"/live?{asked}", who=who)
        assert listed == re.findall(r'<tr data-of="[^"]*">.*?</tr>', told)


POINTS = tuple(Point(k, f"m/{k}", 10.0 * k, 4.0 * k, 6.0 * k, 0.0, None, 1.0) for k in (1, 4, 5, 9))
DRAWN = Winnings("a b", 9, 1.0, POINTS, None, 0, 0.0, ())


@pytest.mark.parametrize(
    ("first", "last", "hands", "net"),
    [
        (None, 4, (1, 4), 40.0),
        (2, 4, (2, 4), 30.0),
        (3, 4, (2, 4), 30.0),  # what is not drawn belongs to the next point that is
        (6, 7, (6, 9), 40.0),
        (5, 400, (5, 9), 50.0),
        (9, 5, (5, 9), 50.0),
        (70, 80, (6, 9), 40.0),
    ],
)
def test_a_window_of_a_graph_is_what_lies_between_two_of_its_points(
    first: int | None, last: int, hands: tuple[int, int], net: float
) -> None:
    seen = hand_window(DRAWN, PlayerFilter((("a b", ""),)), first, last)
    assert seen is not None
    assert (*hands, net) == (seen.first, seen.last, seen.net)
    begins = f' & hand>"m/{hands[0] - 1}"' if hands[0] > 1 else ""
    assert f'player="a b" & !voided{begins} & hand<="m/{hands[1]}"' == seen.filter
    parse_filter(seen.filter)


def test_without_ends_there_is_no_window() -> None:
    assert hand_window(DRAWN, PlayerFilter((("lynx", ""),)), None, None) is None
    assert (
        hand_window(replace(DRAWN, points=(), hands=0), PlayerFilter((("lynx", ""),)), 1, 2) is None
    )
