"""Means drawn again: the amounts that the files average, and the ends of a plain loop."""

import csv
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from analytics.auctions import third_card_worth
from analytics.auctions.bidding import MEASURES, auctions_sql
from analytics.intervals import bootstrap_deals_mean, bootstrap_difference, bootstrap_mean
from analytics.luck.luck_queries import MEASURES as OF_LUCK
from analytics.luck.luck_queries import luck_sql
from analytics.opponents.report_measures import NUMBERS
from analytics.sql import ArrowTables
from analytics.statistics.catalogue import (
    Bootstrap,
    DealSums,
    MeasureValue,
    amounts_sql,
    measure_value,
)
from api.main import main
from events.types import AuctionSettled, BidPlaced
from store.folder.disk import CACHE
from store.reader import Reader
from tests.analytics import test_opponent_questions as opponents
from tests.analytics.auction_pages import (
    PAGES,
    auctions,
    auctions_table,
    page,
    played_rows,
    played_table,
    risks,
    risks_table,
    worths,
)
from tests.profiles import sized
from tests.sessions import Captured, printed, told

DIFFERENCES = ("think_leak",)
EVERY = [*MEASURES.values(), *OF_LUCK.values(), *NUMBERS.values()]
MEANS = [one for one in EVERY if one.kind == "mean" and one.name not in DIFFERENCES]
FILES = sorted({one.file for one in MEANS})
RATIOS = {one.prefix for one in MEASURES.values() if one.kind == "ratio"}
SIDES = ("above", "below")


def _tables(file: str) -> tuple[ArrowTables, str]:
    """The hands of a file's page, and what the file is asked of."""
    if file.startswith("opponent"):
        leaves, _, _ = page(opponents.PAGES / f"{file}.txt")
        found = opponents.told(leaves)
        source = opponents.SOURCES.get(file, "acts")
        columns = "* REPLACE (true AS fault)" if file == "opponent_faulted" else "*"
        tables = ArrowTables({"acts": found.acts, "ends": found.ends})
        return tables, f"SELECT {columns}, '' AS part FROM {source}"
    leaves = page(PAGES / f"{file}.txt").leaves
    rows = auctions(leaves)
    made = {
        "auctions": auctions_table(rows),
        "worths": third_card_worth.worth_table(worths(rows)),
        "played": played_table(played_rows(leaves)),
        "risks": risks_table(risks(leaves)),
    }
    asked = auctions_sql(None, None) if file.startswith("bids") else luck_sql(file, None, None)
    return ArrowTables(made), asked


@pytest.mark.parametrize("file", FILES)
def test_what_is_drawn_again_is_what_the_file_averages(file: str) -> None:
    """Every mean of every row of the file's answer, and how many it is of."""
    tables, asked = _tables(file)
    names = {one.prefix for one in MEANS if one.file == file}
    found: dict[Any, list[dict[str, Any]]] = {}
    for row in tables.arrow(amounts_sql(file, names), asked).to_pylist():
        key = (row["player"], row["part"], row.get("basis"), row["measure"])
        found.setdefault(key, []).append(row)
    said = 0
    for row in tables.ask(file, asked):
        for name in names:
            deals = found.pop((row["player"], row["part"], row.get("basis"), name), [])
            n = sum(one["below"] * one["times"] for one in deals)
            assert n == (row[f"{name}_n"] or 0)
            if n:
                whole = sum(one["above"] * one["times"] for one in deals)
                assert float(row[f"{name}_mean"]) == pytest.approx(whole / n)
                said += 1
    assert {} == found
    assert said


def test_both_sums_of_a_ratio_are_those_that_the_file_divides() -> None:
    for file in {one.file for one in MEASURES.values() if one.kind == "ratio"}:
        tables, asked = _tables(file)
        names = {one.prefix for one in MEASURES.values() if one.file == file} & RATIOS
        told = tables.arrow(amounts_sql(file, names), asked).to_pylist()
        assert names == {row["measure"] for row in told}
        for row in tables.ask(file, asked):
            for name in names:
                key = (row["player"], row["part"], row.get("basis"), name)
                mine = [
                    one
                    for one in told
                    if key == (one["player"], one["part"], one.get("basis"), one["measure"])
                ]
                over, under = (sum(it[side] * it["times"] for it in mine) for side in SIDES)
                value = row[f"{name}_value"]
                assert value == (pytest.approx(over / under) if under else None)


def test_a_ratio_has_the_interval_of_auctions_drawn_again() -> None:
    """Deal by deal, with another generator; of fewer than 30 it has none."""
    chance = random.Random(4)
    deals = [(chance.gauss(1, 2), chance.expovariate(1 / 3)) for _ in range(60)]
    found = []
    for _ in range(3_000):
        drawn = chance.choices(deals, k=len(deals))
        found.append(sum(one for one, _ in drawn) / sum(other for _, other in drawn))
    found.sort()
    ratio = MEASURES["efficiency_known"]
    again = Bootstrap()
    for size in (29, 60):
        again._deals[ratio.file, "efficiency", (str(size), "", "known")] = [
            (*deal, 1) for deal in deals[:size]
        ]
    row = {"efficiency_value": 0.4, "efficiency_n": 60}
    few, one = (measure_value(ratio, row, again, size, "") for size in ("29", "60"))
    assert (None, None) == (few.low, few.high)
    assert (one.low, one.high) == _near((found[75], found[-76]))
    assert (0.4, None, None, None) == (one.value, one.k, one.drawn_low, one.drawn_high)


def test_what_is_drawn_again_of_ends_is_what_hands_came_to() -> None:
    tables, asked = _tables("opponent_ends")
    deals = tables.arrow(amounts_sql("opponent_ends", ["net"]), asked).to_pylist()
    for row in tables.ask("opponent_ends", asked):
        mine = [one for one in deals if all(one[it] == row[it] for it in ("player", "ending"))]
        assert row["hands"] == sum(one["times"] for one in mine)
        assert row["net"] == pytest.approx(sum(one["above"] * one["times"] for one in mine))


def test_a_file_without_means_has_nothing_to_draw() -> None:
    assert "" == amounts_sql("bids_after", ["won"])


def _naive(deals: Sequence[Sequence[float]], draws: int = 3_000) -> tuple[float, float]:
    """Deal by deal, with another generator: the mean over all that happened in the deals drawn."""
    chance = random.Random(1)
    found = []
    for _ in range(draws):
        drawn = chance.choices(deals, k=len(deals))
        found.append(fmean(one for deal in drawn for one in deal))
    found.sort()
    return found[draws // 40], found[-draws // 40 - 1]


def _near(ends: tuple[float, float]) -> Any:
    return pytest.approx(ends, abs=0.08 * (ends[1] - ends[0]))


def test_where_several_happen_in_a_hand_the_hand_is_drawn() -> None:
    """Bets of one hand are alike: as many hands with one bet each would be surer of themselves."""
    chance = random.Random(2)
    hands = [[chance.expovariate(1)] * chance.choice((1, 4)) for _ in range(60)]
    deals: DealSums = [(sum(hand), len(hand), 1) for hand in hands]
    held = bootstrap_deals_mean(deals)
    assert held == _near(_naive(hands))
    single = bootstrap_mean(*zip(*[(bet, 1) for hand in hands for bet in hand], strict=True))
    assert held is not None
    assert single is not None
    assert held[1] - held[0] > 1.3 * (single[1] - single[0])


def test_a_hand_counts_as_often_as_there_was_one_like_it() -> None:
    one = bootstrap_deals_mean([(3.0, 1, 20), (8.0, 2, 30)])
    assert one == bootstrap_deals_mean([(3.0, 1, 1)] * 20 + [(8.0, 2, 1)] * 30)


def test_of_a_difference_both_sides_are_drawn() -> None:
    chance = random.Random(3)
    strong, weak = ([chance.expovariate(1 / size) for _ in range(50)] for size in (900, 400))
    held = bootstrap_difference([(it, 1, 1) for it in strong], [(it, 1, 1) for it in weak])
    found = []
    for _ in range(3_000):
        first, second = (fmean(chance.choices(side, k=50)) for side in (strong, weak))
        found.append(first - second)
    found.sort()
    assert held == _near((found[75], found[-76]))


def test_of_one_side_alone_there_is_no_difference() -> None:
    assert bootstrap_difference([(1.0, 1, 40)], []) is None


def test_an_interval_is_told_to_a_person_where_it_says_something_else() -> None:
    one = MeasureValue("a", "", "paid", 2.0, None, 40, 1.0, 3.0, 1.1, 3.1)
    assert one.drawn is None
    assert (1.1, 3.3) == one._replace(drawn_high=3.3).drawn
    assert one._replace(low=None, high=None).drawn is None


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("measured") / "ledger"
    words = ("auction-2024", "--hands", "150", "--seed", "7", "--match", "m", "--ledger", str(made))
    assert main(["play", *words]) == 0
    return made


@pytest.fixture(autouse=True)
def looked_at(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUCKRAKE_LEDGER", str(here))
    monkeypatch.setenv(CACHE, str(here.with_name("cache")))  # what one test counted, others find


def _prices(here: Path) -> Iterator[int]:
    """What seat 0 paid in auctions that it bid in by choice and did not lose."""
    for listed in Reader(here).snapshot().hands():
        events = [one.event for one in Reader(here).snapshot().read(listed.hand)]
        bids = {one.seat: one for one in events if isinstance(one, BidPlaced)}
        for one in events:
            if isinstance(one, AuctionSettled) and 0 in one.seats and bids[0].origin == "chosen":
                yield one.price


Documents = dict[str, Any]


@pytest.fixture(scope="module")
def known() -> Documents:
    """What a command told, asked once for all tests."""
    return {}


def document(known: Documents, capsys: Captured, command: str) -> Any:
    if command not in known:
        known[command] = told(capsys, command, "random-0", "--spots", "3", "--json")
    return known[command]


def test_what_a_card_cost_is_drawn_again_as_from_the_record(
    here: Path, known: Documents, capsys: Captured
) -> None:
    prices = list(_prices(here))
    found = document(known, capsys, "bids")
    assert {"seed": 8, "draws": 1000} == found["again"]
    paid = found["players"][0]["measures"]["paid"]
    assert len(prices) == paid["n"]
    assert fmean(prices) == pytest.approx(paid["value"])
    assert (paid["drawn_low"], paid["drawn_high"]) == _near(_naive([[it] for it in prices]))


def test_of_few_nothing_is_drawn(known: Documents, capsys: Captured) -> None:
    """And of nothing but means."""
    for command in ("bids", "swaps", "opponent"):
        found = document(known, capsys, command)
        (part,) = found["parts"] if command == "opponent" else found["players"]
        measures = part["numbers"] if command == "opponent" else part["measures"]
        kinds = {one.name: one.kind for one in EVERY}
        means = {name for name, one in measures.items() if kinds[name] == "mean" and one["n"] >= 30}
        drawn = {name for name, one in measures.items() if "drawn_low" in one}
        assert means == drawn


def test_ends_of_hands_are_drawn_again(known: Documents, capsys: Captured) -> None:
    (part,) = document(known, capsys, "opponent")["parts"]
    for one in part["ends"]:
        assert (one["hands"] >= 30) == (one["drawn_low"] is not None)


def test_a_file_has_both_intervals(capsys: Captured, tmp_path: Path) -> None:
    for command in sized(("bids", "opponent"), ("bids", "swaps", "opponent")):
        into = tmp_path / f"{command}.csv"
        printed(capsys, command, "random-0", "--spots", "0", "--csv", str(into))
        with into.open() as file:
            rows = list(csv.DictReader(file))
        assert {"low", "high", "drawn_low", "drawn_high"} <= set(rows[0])
        assert any(row["drawn_low"] for row in rows)


def test_a_person_reads_it_where_it_differs(known: Documents, capsys: Captured) -> None:
    rows = document(known, capsys, "bids")["players"][0]["measures"]
    names = ("value", "k", "n", "low", "high", "drawn_low", "drawn_high")
    far = [
        name
        for name, one in rows.items()
        if MeasureValue("", "", name, *(one.get(it) for it in names)).drawn
    ]
    out = printed(capsys, "bids", "random-0", "--spots", "3")
    assert len(far) == out.count("drawn again")
