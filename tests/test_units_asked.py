"""Questions about hands of several units: one money adds up, chips and dollars never do."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace

from analytics.statistics.compute import ask
from api.main import main
from api.playing.recording import ledger_projections
from api.viewpoints.ledger_view import LedgerView, filtered_leaves
from api.viewpoints.viewer import Viewer
from dealer.play import play
from engine.game import fingerprint, to_json
from engine.games import GAMES
from engine.policies import money, per_chip
from events.ledger import Append
from events.match import MatchStarted
from events.types import HandStarted
from store.ledger import open_ledger
from store.reader import Reader, Snapshot
from store.sql.query import Query
from tests.exports import AT
from tests.http.clients import site_of
from tests.profiles import in_turn, sized
from tests.sessions import Captured, printed

ME, HIM = "lynx", "ursa"
UNITS = {"chips": "chip", "halves": "half chip", "dollars": "cent", "euros": "euro cent"}
VIEWS = ("auditor", "public", f"seat:{ME}")
SEVERAL = "these hands are played for chips and dollars and euros, which have no sum"
HANDS = 8


@pytest.fixture(scope="module", params=sized(("sealed",), ("sealed",), ("hot", "sealed")))
def ledger(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Auctions of the same two, in four units: amounts are the same numbers in each match."""
    folder = tmp_path_factory.mktemp(request.param) / "ledger"
    ledger, lock = open_ledger(folder, "a test", ledger_projections(folder))
    for match, unit in UNITS.items():
        game = replace(GAMES["auction-2024-mit"], unit=unit)
        ledger.keep_ruleset(fingerprint(game), to_json(game))
        for record in play(game, match, HANDS, "units", 2):
            start = record[0]
            assert isinstance(start, HandStarted)
            record = (replace(start, players=(ME, HIM)), *record[1:])
            ledger.append(Append(start.hand, 0, record, AT))
    ledger.close()
    lock.release()
    if request.param == "sealed":
        assert main(["compact", "--ledger", str(folder)]) == 0
    return folder


@pytest.fixture(scope="module")
def snapshot(ledger: Path) -> Snapshot:
    return Reader(ledger).snapshot()


@pytest.fixture(scope="module")
def nets(snapshot: Snapshot) -> dict[str, int]:
    """What he won in each match, in its unit: the same in all, and not nothing."""
    rows = Query(snapshot).rows(
        f"SELECT match, CAST(sum(net) AS BIGINT) AS net FROM players WHERE player = '{ME}'"
        " GROUP BY match"
    )
    found = {row["match"]: row["net"] for row in rows}
    assert len(set(found.values())) == 1
    assert found["chips"]
    return found


@pytest.fixture(scope="module")
def net(nets: dict[str, int]) -> dict[str, float]:
    """What he won for each money."""
    one = nets["chips"]
    return {"chip": one + one / 2, "dollar": one / 100, "euro": one / 100}


def told(capsys: Captured, ledger: Path, *words: str) -> Any:
    return json.loads(printed(capsys, *words, "--json", "--ledger", str(ledger)))


def refused(capsys: Captured, ledger: Path, *words: str) -> str:
    assert main([*words, "--ledger", str(ledger)]) == 2
    return " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("unit", "parts", "what"),
    [
        ("chip", 1, "chip"),
        ("half chip", 2, "chip"),
        ("hundredth of a chip", 100, "chip"),
        ("1/1000 chip", 1000, "chip"),
        ("cent", 100, "dollar"),
        ("euro cent", 100, "euro"),
        ("penny", 100, "pound"),
        ("peanut", 1, "peanut"),
    ],
)
def test_a_unit_is_so_many_parts_of_one_money(unit: str, parts: int, what: str) -> None:
    assert (per_chip(unit), money(unit)) == (parts, what)


@pytest.mark.parametrize("view", sized(VIEWS[1:2], VIEWS[:2], VIEWS))
def test_statistics_have_no_amount_over_several_moneys(
    capsys: Captured, ledger: Path, net: dict[str, float], view: str
) -> None:
    """All that is no amount is told of all hands; with a unit, by game or match, amounts are."""
    (one,) = told(capsys, ledger, "stats", ME, "--as", view)["players"]
    assert one["hands"] == 4 * HANDS
    assert one["stats"]["vpip"]["value"] is not None
    for name in ("net", "net_showdown", "net_without", "net_hand"):
        assert (one["stats"][name]["value"], one["stats"][name]["unit"]) == (None, None)
    for unit, what in net.items():
        (one,) = told(capsys, ledger, "stats", ME, "--unit", unit, "--as", view)["players"]
        assert (one["stats"]["net"]["value"], one["stats"]["net"]["unit"]) == (what, unit)
        assert one["stats"]["vpip"]["unit"] is None
    by_match = told(capsys, ledger, "stats", ME, "--by", "match", "--as", view)["players"]
    found = {row["match"]: row["stats"]["net"] for row in by_match}
    for match, unit in UNITS.items():
        assert found[match]["unit"] == money(unit)
        assert found[match]["value"] == net["chip"] / 1.5 / per_chip(unit)


def test_a_frame_of_statistics_has_the_unit(snapshot: Snapshot, net: dict[str, float]) -> None:
    assert ask("net", snapshot, player=ME).row(0, named=True)["value"] is None
    (row,) = ask("net", snapshot, player=ME, match="halves").rows(named=True)
    assert (row["value"], row["unit"]) == (net["chip"] / 3, "chip")


def test_players_are_listed_with_a_net_where_there_is_one(
    ledger: Path, net: dict[str, float]
) -> None:
    site = site_of(ledger).as_("auditor")
    for row in site.get("/api/v1/players").json()["data"]:
        assert (row["net"], row["unit"], row["hands"]) == (None, None, 4 * HANDS)
    one = site.get(f"/api/v1/players/{ME}").json()
    assert (one["net"], one["unit"]) == (None, None)
    (game,) = one["games"]
    assert (game["net"], game["unit"]) == (None, None)  # one name, four units


MONEY = [  # each command once, and then with a player or without
    ("results",),
    ("counters",),
    ("history", ME),
    ("swaps",),
    ("bids", ME),
    ("opponent", ME),
    ("results", ME),
    ("bids",),
]
ONE = [("--unit", "dollar"), ("--match", "halves"), ("--unit", "chip"), ("--unit", "euro")]


@pytest.mark.parametrize(
    ("words", "one"), in_turn(sized(MONEY[:6], MONEY[:6], MONEY), sized(ONE[:2], ONE))
)
def test_what_is_about_amounts_is_asked_for_one_money(
    capsys: Captured, ledger: Path, words: tuple[str, ...], one: tuple[str, str]
) -> None:
    said = refused(capsys, ledger, *words)
    assert f"{SEVERAL}: ask for one unit, chip or dollar or euro" in said
    if words[0] == "history" or sized(False, False, True):  # of the others it is asked below
        unit = {"halves": "chip"}.get(one[1], one[1])
        assert told(capsys, ledger, *words, *one)["unit"] == unit


def test_results_of_one_money_are_exact(
    capsys: Captured, ledger: Path, net: dict[str, float]
) -> None:
    for unit, what in net.items():
        words = ("results", ME, "--unit", unit, "--by", "street", "--spots", "1")
        found = told(capsys, ledger, *words)
        (one,) = found["players"]
        assert one["net"] == what == found["graph"]["points"][-1]["net"]
        assert what == pytest.approx(sum(row["net"] for row in found["by"]))
        assert one["hands"] == (2 * HANDS if unit == "chip" else HANDS)


def test_counters_of_one_money(capsys: Captured, ledger: Path, net: dict[str, float]) -> None:
    rows = told(capsys, ledger, "counters", ME, "--unit", "chip")["matches"]
    assert {(row["match"], row["unit"]) for row in rows} == {("chips", "chip"), ("halves", "chip")}
    rows = told(capsys, ledger, "counters", ME, "--unit", "euro")["matches"]
    assert [(row["match"], row["unit"]) for row in rows] == [("euros", "euro")]


@pytest.mark.ci
def test_bids_are_counted_in_their_money(capsys: Captured, ledger: Path) -> None:
    """Bids of half chips are halves of what they are in chips; what is no amount stays."""

    def measures(*words: str) -> dict[str, Any]:
        (one,) = told(capsys, ledger, "bids", ME, *words)["players"]
        found: dict[str, Any] = one["measures"]
        return found

    chips, halves, euros = (measures("--match", one) for one in ("chips", "halves", "euros"))
    both = measures("--unit", "chip")
    for name in ("bid", "bid_median", "paid", "surplus", "value_own", "regret_known", "net_lost"):
        assert chips[name]["value"] == pytest.approx(2 * halves[name]["value"]), name
        assert chips[name]["value"] == pytest.approx(100 * euros[name]["value"]), name
        assert (chips[name]["unit"], euros[name]["unit"]) == ("chip", "euro")
    for name in ("bid", "paid"):
        assert both[name]["value"] == pytest.approx(0.75 * chips[name]["value"])
    for name in ("won", "bid_pot", "efficiency_known", "overpaid_own", "swing_own"):
        assert chips[name]["value"] == pytest.approx(halves[name]["value"]), name
        assert chips[name]["unit"] is None


def test_swaps_and_opponents_say_the_unit(
    capsys: Captured, ledger: Path, net: dict[str, float]
) -> None:
    (one,) = told(capsys, ledger, "swaps", ME, "--unit", "chip")["players"]
    assert (one["measures"]["net"]["value"], one["measures"]["net"]["unit"]) == (
        net["chip"],
        "chip",
    )
    assert one["measures"]["swap"]["unit"] is None
    found = told(capsys, ledger, "opponent", ME, "--unit", "dollar")
    (part,) = found["parts"]
    assert part["hands"] == HANDS
    assert part["numbers"]["bid"]["unit"] == "dollar"
    every = next(row for row in part["ends"] if row["ending"] == "all")
    assert (every["net"], every["unit"]) == (pytest.approx(net["dollar"]), "dollar")


@pytest.mark.ci
def test_comparing_leaves_amounts_of_several_moneys_out(capsys: Captured, ledger: Path) -> None:
    found = told(capsys, ledger, "compare", ME, HIM)
    assert found["unit"] is None
    assert "net_hand" not in found["statistics"]
    assert "bb_100" in found["statistics"]
    found = told(capsys, ledger, "compare", ME, HIM, "--unit", "chip")
    assert (found["unit"], found["statistics"]["net_hand"]["unit"]) == ("chip", "chip")
    assert found["statistics"]["vpip"]["unit"] is None
    words = ("compare", ME, HIM, "--match", "chips", "--match", "euros")
    assert "net_hand" not in told(capsys, ledger, *words)["statistics"]
    words = ("compare", ME, HIM, "--match", "chips", "--match", "halves")
    assert "net_hand" in told(capsys, ledger, *words)["statistics"]


FILES = [
    ("stats", ME),
    ("compare", ME, HIM),
    ("counters", ME),
    ("swaps", ME, "--table", "curve"),
    ("bids", ME),
    ("results", ME),
    ("swaps", ME),
    ("history", ME),
    ("opponent", ME),
    ("opponent", ME, "--table", "ends"),
]


@pytest.mark.parametrize("words", sized(FILES[:5:2], FILES[:5:2], FILES), ids=" ".join)
def test_files_have_it_beside_amounts(
    capsys: Captured, ledger: Path, words: tuple[str, ...], tmp_path: Path
) -> None:
    files = tmp_path / "told.csv", tmp_path / "told.parquet"
    asked = ("--unit", "euro", "--csv", str(files[0]), "--parquet", str(files[1]))
    printed(capsys, *words, *asked, "--ledger", str(ledger))
    rows = list(csv.DictReader(io.StringIO(files[0].read_text())))
    assert "euro" in {row["unit"] for row in rows}
    assert [row["unit"] or None for row in rows] == pq.read_table(files[1])["unit"].to_pylist()


def test_a_terminal_names_what_is_no_chip(capsys: Captured, ledger: Path) -> None:
    results = ("results", "--spots", "1")
    asked = (results, (*results, ME, "--by", "pot"), ("bids",), ("counters",))
    for words in asked[:: sized(3, 1)]:
        main([*words, "--unit", "euro", "--ledger", str(ledger)])
        assert "amounts in euros" in capsys.readouterr().err
        main([*words, "--unit", "chip", "--ledger", str(ledger)])
        assert "amounts in" not in capsys.readouterr().err


@pytest.mark.ci
def test_a_terminal_says_why_there_is_no_amount(capsys: Captured, ledger: Path) -> None:
    page = printed(capsys, "stats", ME, "--ledger", str(ledger))
    net = next(line for line in page.splitlines() if line.startswith("Net\t"))
    assert net.endswith("of several units, which have no sum: --unit names one")
    page = printed(capsys, "stats", ME, "--unit", "euro", "--ledger", str(ledger))
    assert any(line.startswith("Net   amounts in euros\t") for line in page.splitlines())
    main(["compare", ME, HIM, "--ledger", str(ledger)])
    said = capsys.readouterr().err
    assert "amounts are left out: these hands are played for chips and dollars and euros" in said
    page = printed(capsys, "results", ME, "--unit", "euro", "--ledger", str(ledger))
    assert "mean\teuros\t" in page


def test_a_unit_that_is_not_there_is_said(capsys: Captured, ledger: Path) -> None:
    assert main(["results", "--unit", "pound", "--ledger", str(ledger)]) == 5
    said = " ".join(capsys.readouterr().err.split())
    assert "no hand is played for pound: those here are for chip and dollar and euro" in said


PATHS = ("winnings", "swaps", "bids", "opponent")


@pytest.mark.parametrize(
    ("path", "kind"), in_turn(sized(PATHS[:3], PATHS[:3], PATHS), ("json", "csv", "arrow"))
)
def test_over_http_it_is_the_same(ledger: Path, path: str, kind: str) -> None:
    client = site_of(ledger).as_("auditor")
    whole = f"/api/v1/players/{ME}/{path}"
    if (path, kind) == ("winnings", "arrow"):
        return
    got = client.get(f"{whole}?format={kind}")
    assert got.status_code == 400
    assert SEVERAL in got.json()["detail"]
    got = client.get(f"{whole}?format={kind}&unit=dollar")
    if kind == "json":
        assert got.json()["unit"] == "dollar"
    elif kind == "csv":
        rows = list(csv.DictReader(io.StringIO(got.text)))
        assert "dollar" in {row["unit"] for row in rows}
    else:
        assert "dollar" in set(pa.ipc.open_stream(got.content).read_all()["unit"].to_pylist())
    assert client.get(f"{whole}?unit=pound").status_code == 404


def test_statistics_over_http(ledger: Path, net: dict[str, float]) -> None:
    client = site_of(ledger).as_("auditor")
    whole = f"/api/v1/players/{ME}/stats"
    (one,) = client.get(f"{whole}?field=true").json()["players"]
    assert one["stats"]["net"]["value"] is one["stats"]["net"]["field"]["value"] is None
    (one,) = client.get(f"{whole}?field=true&unit=chip").json()["players"]
    his = one["stats"]["net"]
    assert (his["value"], his["field"]["value"]) == (net["chip"], -net["chip"])
    rows = csv.DictReader(io.StringIO(client.get(f"{whole}?format=csv&unit=euro").text))
    assert {row["statistic"]: row["unit"] for row in rows}["net"] == "euro"


PAGES = ("", "/winnings", "/bids", "/swaps", "/opponent")


@pytest.mark.parametrize("path", sized(PAGES[:2], PAGES[::2], PAGES))
def test_pages_say_it_and_let_choose(ledger: Path, path: str) -> None:
    client = site_of(ledger).as_("auditor")
    page = client.get(f"/players/{ME}{path}")
    assert page.status_code == 200
    assert '<option value="euro">euros</option>' in page.text
    assert (SEVERAL[1:] in page.text) == bool(path)
    assert (f'<a class="btn" href="/players/{ME}{path}?unit=euro">' in page.text) == bool(path)
    assert "0 hands" not in page.text
    page = client.get(f"/players/{ME}{path}?unit=euro")
    assert page.status_code == 200
    assert '<option value="euro" selected>euros</option>' in page.text
    assert SEVERAL[1:] not in page.text
    assert f"/players/{ME}/grid?unit=euro" in page.text
    assert "\N{EURO SIGN}" in page.text or "amounts in <b>euros</b>" in page.text


@pytest.mark.parametrize("view", sized(VIEWS[1:2], VIEWS))
def test_views_of_one_money_hold_its_hands_alone(snapshot: Snapshot, view: str) -> None:
    viewed = LedgerView(snapshot, Viewer(view))
    chips = viewed.narrowed("chip")
    for name in ("hands", "events", "players", "bids", "pots", "facts", "auctions", "played"):
        rows = chips.rows(f"SELECT DISTINCT match FROM {name} ORDER BY match")
        assert [row["match"] for row in rows] == ["chips", "halves"], name
        rows = viewed.rows(f"SELECT DISTINCT match FROM {name} ORDER BY match")
        assert [row["match"] for row in rows] == sorted(UNITS), name
    assert {leaf.stream.partition("/")[0] for leaf in filtered_leaves(chips)} == {"chips", "halves"}
    assert chips is viewed.narrowed("chip")
    viewed.close()


def test_a_unit_is_no_way_to_learn_of_hands_that_are_hidden(tmp_path: Path) -> None:
    """Units are those of hands that the viewer is told of."""
    folder = tmp_path / "ledger"
    ledger, lock = open_ledger(folder, "a test", ledger_projections(folder))
    for match, unit, deals in (("seen", "chip", 1), ("kept", "cent", 2)):
        game = replace(GAMES["auction-2024-mit"], unit=unit)
        ledger.keep_ruleset(fingerprint(game), to_json(game))
        hands = list(play(game, match, 2, "units", 2))
        own = MatchStarted(
            match, game.name, fingerprint(game), ("random-0", "random-1"), "seeded", "sealed", True,
            "s3cr3t", deals=deals,
        )  # fmt: skip
        ledger.append(Append(match, 0, (own,), AT))
        for number, record in enumerate(hands, 1):
            ledger.append(Append(f"{match}/{number}", 0, record, AT))
    ledger.close()
    lock.release()
    snapshot = Reader(folder).snapshot()
    assert LedgerView(snapshot, Viewer("auditor")).units == {"chip", "cent"}
    public = LedgerView(snapshot, Viewer("public"))
    rows = public.rows("SELECT DISTINCT match, unit FROM facts")
    assert [(row["match"], row["unit"]) for row in rows] == [("seen", "chip")]
    assert public.units >= {"chip"}
