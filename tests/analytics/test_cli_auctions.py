"""`bids`, `swaps` and `fairness` as a user runs them: tables, documents, files, refusals."""

import csv
from pathlib import Path

import pytest

from analytics.auctions.bidding import MEASURES
from analytics.luck.luck_queries import MEASURES as OF_LUCK
from analytics.sql import HandFilters
from api.main import main
from api.viewpoints.ledger_view import LedgerView, filtered_leaves
from api.viewpoints.viewer import Viewer
from events.types import Shown
from store.folder.disk import CACHE
from store.reader import Reader
from tests.analytics.auction_pages import auctions
from tests.profiles import sized
from tests.sessions import Captured, printed, told


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger of auctions, one of them mirrored, and of swaps."""
    made = tmp_path_factory.mktemp("auctions") / "ledger"
    for words in (
        ("auction-2024", "--hands", "60", "--seed", "7", "--match", "scrim"),
        ("auction-2024", "--hands", "20", "--seed", "8", "--match", "twice", "--mirror"),
        ("swap-2022", "--hands", "40", "--seed", "9", "--match", "swap"),
    ):
        assert main(["play", *words, "--ledger", str(made)]) == 0
    return made


@pytest.fixture(autouse=True)
def looked_at(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUCKRAKE_LEDGER", str(here))
    monkeypatch.setenv(CACHE, str(here.with_name("cache")))  # what one test counted, others find


def test_every_measure_of_every_player_is_in_the_document(capsys: Captured) -> None:
    found = told(capsys, "bids", "--spots", "3", "--json")
    assert ("auditor", 8) == (found["as"], found["seed"])
    assert ["random-0", "random-1"] == [one["player"] for one in found["players"]]
    for one in found["players"]:
        assert list(MEASURES) == list(one["measures"])
        assert 3 >= one["measures"]["value_known"]["n"]
    held = {one["measures"]["held"]["value"] for one in found["players"]}
    assert {found["auctions"]} == held


def test_a_count_that_was_made_once_is_looked_up(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CACHE, str(tmp_path / "cache"))
    first = told(capsys, "bids", "--spots", "2", "--json")
    again = told(capsys, "bids", "--spots", "2", "--json")
    assert (4, 0) == (first.pop("counted"), again.pop("counted"))
    assert first == again


def test_one_player_is_told_line_by_line(capsys: Captured) -> None:
    out = printed(capsys, "bids", "random-1", "--spots", "0", "--by", "seat")
    assert "Auctions won" in out
    assert "Value of the card" not in out


def test_a_file_has_a_row_a_measure(capsys: Captured, tmp_path: Path) -> None:
    file = tmp_path / "bids.csv"
    printed(capsys, "bids", "random-0", "--spots", "0", "--csv", str(file))
    rows = list(csv.DictReader(file.open()))
    assert list(MEASURES) == [row["statistic"] for row in rows]


def test_who_only_walks_past_knows_no_cards_but_those_shown(here: Path) -> None:
    ledger = Reader(here).snapshot()
    for leaf in [*filtered_leaves(LedgerView(ledger, Viewer()), HandFilters(match="scrim"))][
        :: sized(3, 1)
    ]:
        shown = {one.event.seat for one in leaf.recorded if isinstance(one.event, Shown)}
        for row in auctions([leaf]):
            assert (row["hole"] is None) == (row["seat"] not in shown)
            assert row["bid"] is not None  # a settlement tells all bids to all


def test_a_player_knows_his_own_cards(here: Path) -> None:
    ledger = Reader(here).snapshot()
    rows = [
        row
        for leaf in [
            *filtered_leaves(
                LedgerView(ledger, Viewer("seat:random-0")), HandFilters(match="scrim")
            )
        ][:: sized(3, 1)]
        for row in auctions([leaf])
    ]
    assert {True} == {row["hole"] is not None for row in rows if row["player"] == "random-0"}
    assert None in {row["hole"] for row in rows if row["player"] == "random-1"}


def test_luck_is_told_for_every_player(capsys: Captured) -> None:
    found = told(capsys, "swaps", "--spots", "2", "--json")
    first, second = (one["measures"] for one in found["players"])
    assert list(OF_LUCK) == list(first)
    assert 0 == round(first["luck"]["value"] + second["luck"]["value"], 6)
    assert 10 == first["mirrored"]["n"]
    assert {"flop", "turn"} == {row["street"] for row in found["rates"]}


def test_who_only_walks_past_sees_no_swap(capsys: Captured) -> None:
    found = told(capsys, "swaps", "--match", "swap", "--as", "public", "--json")
    assert [] == found["rates"]
    assert {0} == {one["measures"]["swap"]["n"] for one in found["players"]}


def test_a_curve_goes_into_a_file(capsys: Captured, tmp_path: Path) -> None:
    file = tmp_path / "curve.csv"
    printed(capsys, "swaps", "--match", "scrim", "--table", "curve", "--csv", str(file))
    rows = list(csv.DictReader(file.open()))
    assert (120, "1") == (len(rows), rows[0]["number"])


def test_fairness_is_a_family_of_tests(capsys: Captured) -> None:
    found = told(capsys, "fairness", "--json")
    assert {"seeded": 120} == found["dealing"]
    assert {"ok"} == {one["verdict"] for one in found["tests"] if one["p"] is not None}
    assert "swap rates" in {one["name"] for one in found["tests"]}


def test_committed_decks_are_looked_up(capsys: Captured, tmp_path: Path) -> None:
    ledger = ("--ledger", str(tmp_path / "ledger"))
    words = ("auction-2024", "--hands", "5", "--dealing", "committed", "--match", "c")
    assert main(["play", *words, *ledger]) == 0
    capsys.readouterr()
    found = told(capsys, "fairness", "--json", *ledger)
    assert {"checked": 5, "wrong": []} == found["decks"]


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("bids", "nobody"), 5, "nobody called nobody has bid: muckrake bids lists who has"),
        (
            ("bids", "--match", "x"),
            5,
            "there is no hand of match x",
        ),
        (("bids", "--match", "swap"), 5, "no auction was held in these hands"),
        (("bids", "--spots", "-3"), 2, "-3 is no number of them: 0, 200 and all are"),
        (("swaps", "nobody"), 5, "nobody called nobody was dealt a hand"),
        (("swaps", "--as", "seat:x"), 4, "x has no seat in any hand here"),
        (("fairness", "--as", "public"), 4, "only an auditor may, not public"),
        (("fairness", "--as", "x"), 2, "x is no viewpoint"),
    ],
)
def test_what_cannot_be_told_is_one_sentence(
    words: tuple[str, ...], code: int, sentence: str, capsys: Captured
) -> None:
    assert code == main(list(words))
    _, err = capsys.readouterr()
    assert sentence in err
    assert 1 == len(err.strip().splitlines())
