"""Winnings over time: sums that end at the net, thinning that hides no peak, mirrored decks."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st

from analytics.replay.rules import RulesetText
from analytics.results.winnings_curve import (
    LINES,
    POINTS_MIN,
    Point,
    thinned_places,
    winnings_curve,
)
from analytics.sql import SQL_FOLDER, ArrowTables, FactSource, HandFilters, sql_text
from analytics.statistics.catalogue import STATISTICS
from analytics.statistics.compute import snapshot_query, statistic_values
from api.main import main
from api.questions.declared.fairness import hands_per_deck
from api.viewpoints.ledger_view import LedgerView, filtered_leaves
from api.viewpoints.viewer import Viewer
from store.log.streams import Leaf
from store.reader import Reader
from tests.analytics.auction_pages import played_rows

FILES = ("winnings_by_hand", "winnings_by_deck")


class Given:
    """Facts and bids of a test."""

    def __init__(self, facts: list[dict[str, Any]], bids: list[dict[str, Any]]) -> None:
        none = {"hand_seq": [0], "seat": [0], "price": [0], "won": [False]}
        found = pa.Table.from_pylist(bids) if bids else pa.table(none)
        self._tables = ArrowTables({"facts": pa.Table.from_pylist(facts), "bids": found})

    def ask(self, sql: str) -> pa.Table:
        return self._tables.table(sql)

    def rows(self, sql: str) -> list[dict[str, Any]]:
        return self._tables.rows(sql)


def _fact(number: int, net: int, showdown: bool = False, match: str = "m") -> dict[str, Any]:
    told = {"hand_seq": number, "match": match, "number": number, "seat": 0, "player": "he"}
    return told | {"net": net, "showdown": showdown, "per_chip": 2, "game": "g"}


def _bid(number: int, price: int, won: bool) -> dict[str, Any]:
    return {"hand_seq": number, "seat": 0, "price": price, "won": won}


HIS = HandFilters(player="he")
FOUR = [_fact(1, 8), _fact(2, -20, showdown=True), _fact(3, 3), _fact(4, 10, showdown=True)]


def test_four_hands_are_told_as_they_add_up() -> None:
    """In chips of two units; a bid that lost costs nothing."""
    bids = [_bid(2, 6, True), _bid(4, 50, False)]
    told = winnings_curve(Given(FOUR, bids), HIS)
    assert [(1, "m/1"), (2, "m/2"), (3, "m/3"), (4, "m/4")] == [
        (it.k, it.hand) for it in told.points
    ]
    assert [4, -6, -4.5, 0.5] == [it.net for it in told.points]
    assert [0, -10, -10, -5] == [it.showdown for it in told.points]
    assert [4, 4, 5.5, 5.5] == [it.without for it in told.points]
    assert [0, -3, -3, -3] == [it.auctions for it in told.points]
    assert {None} == {it.adjusted for it in told.points}


def test_the_band_is_that_of_a_fair_game() -> None:
    """`± 1.96 · s · √k after k hands`."""
    told = winnings_curve(Given(FOUR, []), HIS)
    deviation = float(np.std([4, -10, 1.5, 5], ddof=1))
    assert round(deviation, 9) == round(told.sd, 9)
    expected = [round(1.959964 * deviation * k**0.5, 6) for k in (1, 2, 3, 4)]
    assert expected == [round(it.band, 6) for it in told.points]


def test_a_hand_without_luck_takes_the_place_of_its_net() -> None:
    told = winnings_curve(Given(FOUR, []), HIS, adjusted={2: 1.25})
    assert 1 == told.adjusted
    assert [4, 5.25, 6.75, 11.75] == [it.adjusted for it in told.points]


def test_a_mirrored_deck_is_one_number() -> None:
    """`x = (net₁ + net₂) / 2`; a deck of which a hand is missing is left out."""
    told = winnings_curve(Given([*FOUR, _fact(5, 99)], []), HIS, deals={"m": 2})
    assert 2 == told.decks
    assert [("m/1", "m/2", -3), ("m/3", "m/4", 0.25)] == [
        (it.first, it.last, it.net) for it in told.paired
    ]
    assert round(float(np.std([-3, 3.25], ddof=1)), 9) == round(told.deck_sd, 9)


def test_a_match_that_is_not_mirrored_has_no_decks() -> None:
    assert () == winnings_curve(Given(FOUR, []), HIS, deals={"other": 2, "m": 1}).paired


def test_nobody_has_no_points() -> None:
    told = winnings_curve(Given(FOUR, []), HandFilters(player="she"), deals={"m": 2})
    assert (0, (), ()) == (told.hands, told.points, told.paired)


@given(
    st.lists(st.lists(st.integers(-50, 50), min_size=60, max_size=400), min_size=1, max_size=3),
    st.integers(POINTS_MIN, 59),
)
def test_thinning_hides_no_peak(drawn: list[list[int]], points: int) -> None:
    """However few points stay, each line still goes from its first place to its last, and as far
    up and down as it went."""
    size = min(map(len, drawn))
    lines = [np.cumsum(np.array(one[:size], dtype=float)) for one in drawn]
    kept = thinned_places(lines, max(points, 2 * len(lines) + 2))
    assert len(kept) <= max(points, 2 * len(lines) + 2)
    assert (0, size - 1) == (kept[0], kept[-1])
    assert sorted(set(kept)) == kept.tolist()
    for line in lines:
        assert (line.max(), line.min()) == (line[kept].max(), line[kept].min())


def test_every_stretch_keeps_its_own_extremes() -> None:
    line = np.tile([0.0, 9.0, -9.0, 1.0], 250)
    kept = thinned_places([line], 100)
    assert {-9.0, 9.0} <= set(line[kept[:8]])
    assert {-9.0, 9.0} <= set(line[kept[-8:]])


def test_a_million_hands_are_thinned_in_a_blink() -> None:
    chance = np.random.default_rng(8)
    lines = [np.cumsum(chance.integers(-9, 10, 1_000_000).astype(float)) for _ in range(4)]
    kept = thinned_places(lines, 500)
    assert 300 < len(kept) <= 500


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A mirrored match of auctions, and another."""
    made = tmp_path_factory.mktemp("winnings") / "ledger"
    for words in (
        ("--hands", "20", "--mirror", "--match", "twice"),
        ("--hands", "30", "--match", "m"),
    ):
        assert main(["play", "auction-2024", "--seed", "7", *words, "--ledger", str(made)]) == 0
    return made


def _both(here: Path) -> tuple[FactSource, Reader]:
    reader = Reader(here)
    return snapshot_query(reader.snapshot()), reader


def test_the_lines_end_where_the_statistics_say(here: Path) -> None:
    facts, _ = _both(here)
    for chosen in (HandFilters(player="random-0"), HandFilters(player="random-1", match="twice")):
        wanted = [STATISTICS[name] for name in ("net", "net_showdown", "net_without")]
        told = {one.statistic: one.value for one in statistic_values(facts, chosen, wanted)}
        last = winnings_curve(facts, chosen, points=POINTS_MIN).points[-1]
        assert list(told.values()) == [last.net, last.showdown, last.without]


def test_a_ledger_tells_its_decks_and_what_was_luck(here: Path) -> None:
    facts, reader = _both(here)
    ledger = reader.snapshot()
    seen = filtered_leaves(LedgerView(ledger, Viewer("auditor")))
    worth = without_luck(seen, ledger.ruleset, "random-0")
    told = winnings_curve(
        facts, HandFilters(player="random-0"), adjusted=worth, deals=hands_per_deck(ledger)
    )
    assert (50, len(worth)) == (told.hands, told.adjusted)
    assert 10 == told.decks
    luck = sum(worth.values()) - sum(
        row["net"]
        for row in facts.rows("SELECT * FROM facts WHERE player = 'random-0'")
        if row["hand_seq"] in worth
    )
    last = told.points[-1]
    assert last.adjusted is not None
    assert round(last.net + luck, 4) == round(last.adjusted, 4)


def test_who_was_not_shown_the_cards_has_less_to_adjust(here: Path) -> None:
    ledger = Reader(here).snapshot()
    every = without_luck(
        filtered_leaves(LedgerView(ledger, Viewer("auditor"))), ledger.ruleset, "random-0"
    )
    some = without_luck(
        filtered_leaves(LedgerView(ledger, Viewer("public"))), ledger.ruleset, "random-0"
    )
    assert set(some) <= set(every)


def test_every_line_has_a_name_and_a_definition() -> None:
    assert {*Point.__struct_fields__} - {"k", "hand"} == set(LINES)


@pytest.mark.parametrize("file", FILES)
def test_a_question_is_asked_in_the_portable_dialect(file: str) -> None:
    first, second, *_ = sql_text(file).splitlines()
    assert (first[-1], second[-1]) == ("?", ".")
    for dialect in ("duckdb", "spark", "postgres"):
        (tree,) = sqlglot.parse(sql_text(file), dialect=dialect)
        assert tree is not None


def test_every_question_about_curves_is_asked_here() -> None:
    assert sorted(FILES) == sorted(path.stem for path in SQL_FOLDER.glob("winnings_by_*.sql"))


def without_luck(leaves: Iterable[Leaf], kept: RulesetText, player: str) -> dict[int, float]:
    """His net of each hand in which betting closed with cards to come and all of them are known.

    The leaves are those of whoever asks: what he did not see is not adjusted.
    """
    found = {}
    for row in played_rows(list(leaves), {}, kept):
        if row["adjusted"] and row["player"] == player:
            found[row["hand_seq"]] = float(row["net_ev"])
    return found
