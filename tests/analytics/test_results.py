"""What results are made of: luck that telescopes to the net, and rake that adds up to the rake."""

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise
from math import floor
from pathlib import Path
from statistics import fmean
from typing import Any

import pyarrow as pa
import pytest
import sqlglot
from hypothesis import given, settings
from hypothesis import strategies as st

from analytics.luck.street_luck import CHANCES, is_countable, luck_rows
from analytics.results.net_breakdown import RAKE_METHODS, StreetLuckTable, rake_by_method
from analytics.sql import SQL_FOLDER, ArrowTables, HandFilters, sql_text
from api.main import main
from api.questions.luck import EvenSample
from api.viewpoints.ledger_view import LedgerView, filtered_leaves
from api.viewpoints.viewer import Viewer
from dealer.play import play
from engine.games import named
from engine.policies import per_chip
from events.cards import DECK
from store.log.streams import Leaf
from store.reader import Reader
from tests.analytics.auction_pages import RULES, leaf, played_rows, recorded
from tests.profiles import sized
from tests.sessions import Captured, printed, said, told

GAMES = ("auction-2024", "auction-2024-mit", "swap-2022", "site-nl")


@cache
def _told(game: str) -> list[tuple[Leaf, list[dict[str, Any]]]]:
    """Some hands with what every chance of them came to."""
    found = _hands(game, sized(5, 10))
    return [(one, list(luck_rows(one, RULES))) for one in found]


def _hands(game: str, number: int) -> list[Leaf]:
    events = play(named(game), "m", number, "7", seats=2)
    return [recorded(at, one) for at, one in enumerate(events, start=1)]


def _nets(one: Leaf) -> list[float]:
    assert one.hand is not None
    game = RULES.of(one.hand.start.ruleset)
    assert game is not None
    both = zip(one.hand.stacks, one.hand.start.stacks, strict=True)
    return [(after - before) / per_chip(game.unit) for after, before in both]


def _of(rows: Sequence[dict[str, Any]], seat: int) -> list[dict[str, Any]]:
    return [row for row in rows if row["seat"] == seat]


@pytest.mark.parametrize("game", GAMES)
def test_luck_and_play_telescope_to_the_net(game: str) -> None:
    """`difference of equity × pot before and after each chance event ...; the sum telescopes to
    net`."""
    for one, rows in _told(game):
        for seat, net in enumerate(_nets(one)):
            assert round(net, 6) == round(sum(row["chips"] for row in _of(rows, seat)), 6)


@pytest.mark.parametrize("game", GAMES)
def test_what_a_card_gives_to_one_it_takes_from_the_others(game: str) -> None:
    for _, every in _told(game):
        rows = [row for row in every if row["chance"] != "play"]
        for mine, his in zip(_of(rows, 0), _of(rows, 1), strict=True):
            assert 0 == round(mine["chips"] + his["chips"], 6)


@pytest.mark.parametrize("game", GAMES)
def test_luck_after_the_last_choice_is_the_luck_of_the_run_out(game: str) -> None:
    """Two ways to the same number: street by street, and net less net without luck."""
    adjusted = 0
    for one, every in _told(game):
        luck = played_rows([one])
        rows = _of(every, 0)
        if not luck[0]["adjusted"] or luck[0]["error"]:
            continue
        adjusted += 1
        run_out = [row["chips"] for row in rows if row["chance"] != "play"]
        whole = round(luck[0]["net"] - luck[0]["net_ev"], 6)
        tails = [round(sum(run_out[at:]), 6) for at in range(len(run_out) + 1)]
        assert whole in tails
    assert adjusted


RIVER = """site-nl, button 0, stacks 400 400
deal 0: As Ah, 1: Kd Kc, board: 2c 7d 9h 3s {river}
> 0 calls; 1 checks
> 1 checks; 0 checks
> 1 checks; 0 checks
> 1 checks; 0 checks"""


def _river(card: str) -> dict[str, float]:
    rows = _of(list(luck_rows(leaf(1, RIVER.format(river=card)), RULES)), 0)
    return {row["chance"]: row["chips"] for row in rows}


def test_a_river_that_changes_nothing_gives_what_it_could_have_taken() -> None:
    """Two kings of 44 cards beat the aces; the pot is two big blinds."""
    pot = 2 * _river("Ks")["river"] / (-42 / 44) / 2
    assert round(pot * 2 / 44, 9) == round(_river("4h")["river"], 9)
    assert round(-pot * 42 / 44, 9) == round(_river("Ks")["river"], 9)
    assert _river("4h")["turn"] == _river("Ks")["turn"]


def test_over_all_rivers_there_is_no_luck() -> None:
    gone = {"As", "Ah", "Kd", "Kc", "2c", "7d", "9h", "3s"}
    lucks = [_river(card)["river"] for card in DECK if card not in gone]
    assert 44 == len(lucks)
    assert 0 == round(fmean(lucks), 9)


def test_who_folds_first_has_no_luck_after_that() -> None:
    one = leaf(1, "site-nl, button 0, stacks 400 400\ndeal 0: 7c 2h, 1: As Ad\n> 0 folds")
    assert ["hole", "play"] == [row["chance"] for row in _of(list(luck_rows(one, RULES)), 0)]


def test_cards_that_were_shown_are_known_and_others_are_not() -> None:
    shown = leaf(1, RIVER.format(river="4h"))
    folded = leaf(2, "site-nl, button 0, stacks 400 400\ndeal 0: 7c 2h, 1: As Ad\n> 0 folds")
    assert [True, True] == [is_countable(one, RULES) for one in (shown, folded)]


# Rake.


class Given:
    """Hands of a test, as the views of a ledger."""

    def __init__(self, facts: list[dict[str, Any]], rakes_taken: dict[int, int]) -> None:
        taken = [{"hand_seq": seq, "rake": rake} for seq, rake in rakes_taken.items()]
        self._tables = ArrowTables(
            {"facts": pa.Table.from_pylist(facts), "hands": pa.Table.from_pylist(taken)}
        )

    def ask(self, sql: str) -> pa.Table:
        return self._tables.table(sql)

    def rows(self, sql: str) -> list[dict[str, Any]]:
        return self._tables.rows(sql)


def _put_in(*chips: int) -> list[dict[str, Any]]:
    return [
        {"hand_seq": 1, "match": "m", "number": 1, "game": "g", "position": "BTN", "seat": seat}
        | {
            "player": f"p{seat}",
            "put_in": put_in,
            "net": 0,
            "per_chip": 1,
            "cards": "",
            "shown": "",
        }
        for seat, put_in in enumerate(chips)
    ]


def _shared(rake: int, *chips: int) -> dict[str, list[float]]:
    found = rake_by_method(Given(_put_in(*chips), {1: rake}), HandFilters())
    players = [f"p{seat}" for seat in range(len(chips))]
    return {name: [found.get(it, {}).get(name, 0.0) for it in players] for name in RAKE_METHODS}


def test_a_rake_of_ten_is_divided_in_three_ways() -> None:
    """`Integer remainders by largest fraction, then seat order`: 10 of 0, 1, 2 and 5 chips."""
    told = _shared(10, 0, 1, 2, 5)
    assert [3, 3, 2, 2] == told["dealt"]
    assert [0, 4, 3, 3] == told["contributed"]
    assert [0, 1, 3, 6] == told["weighted"]  # 1.25, 2.5, 6.25: the half comes first


@given(
    st.integers(1, 10_000),
    st.lists(st.integers(0, 5_000), min_size=2, max_size=9).filter(any),
)
@settings(deadline=None, max_examples=30)
def test_parts_of_a_rake_add_up_and_are_as_a_second_count_has_them(
    rake: int, chips: list[int]
) -> None:
    told = _shared(rake, *chips)
    weights = {
        "dealt": [1] * len(chips),
        "contributed": [int(it > 0) for it in chips],
        "weighted": chips,
    }
    for method, shares in told.items():
        assert rake == sum(shares)
        assert _by_largest_fraction(rake, weights[method]) == shares


def _by_largest_fraction(rake: int, weights: list[int]) -> list[int]:
    """The definition, chip after chip."""
    exact = [Fraction(rake * weight, sum(weights)) for weight in weights]
    shares = [floor(one) for one in exact]
    order = sorted(range(len(weights)), key=lambda seat: (shares[seat] - exact[seat], seat))
    for seat in order[: rake - sum(shares)]:
        shares[seat] += 1
    return shares


def test_a_player_pays_his_part_whoever_is_asked_about() -> None:
    given_hands = Given(_put_in(4, 4, 2), {1: 5})
    every = rake_by_method(given_hands, HandFilters())
    assert {"p1": every["p1"]} == rake_by_method(given_hands, HandFilters(player="p1"))


def test_without_a_rake_nobody_pays() -> None:
    assert {} == rake_by_method(Given(_put_in(4, 4), {1: 0}), HandFilters())


# Which hands, and the command.


@given(st.integers(0, 500), st.integers(1, 40))
def test_a_spread_is_even_and_never_larger_than_wanted(size: int, wanted: int) -> None:
    found: EvenSample[int] = EvenSample(wanted)
    for one in range(size):
        found.add(one)
    those = found.items()
    assert (size, min(size, wanted)) == (found.seen, len(those))
    steps = {after - before for before, after in pairwise(those)}
    assert not steps or max(steps) <= 4 * -(-size // wanted)


def test_a_spread_of_all_is_all() -> None:
    found: EvenSample[int] = EvenSample(None)
    for one in range(9):
        found.add(one)
    assert list(range(9)) == found.items()


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger of one short match."""
    made = tmp_path_factory.mktemp("results") / "ledger"
    words = ("auction-2024", "--hands", "20", "--seed", "7", "--match", "scrim")
    assert main(["play", *words, "--ledger", str(made)]) == 0
    return made


@pytest.fixture(autouse=True)
def looked_at(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUCKRAKE_LEDGER", str(here))


def test_the_document_adds_up_to_every_net(capsys: Captured) -> None:
    found = told(capsys, "results", "--spots", "all", "--json")
    assert (20, 20) == (found["known"], found["counted"])
    for one in found["players"]:
        assert round(one["net"], 6) == round(sum(it["chips"] for it in one["streets"]), 6)


def test_a_player_has_a_graph_that_ends_at_his_net(capsys: Captured) -> None:
    found = told(capsys, "results", "random-1", "--spots", "0", "--points", "12", "--adjusted")
    graph = found["graph"]
    assert 20 == graph["hands"]
    assert 2 < len(graph["points"]) <= 12
    assert found["players"][0]["net"] == graph["points"][-1]["net"]
    assert graph["points"][-1]["adjusted"] is not None


def test_a_graph_goes_into_a_file(capsys: Captured, tmp_path: Path) -> None:
    file = tmp_path / "graph.csv"
    printed(capsys, "results", "random-0", "--csv", str(file))
    assert "k,hand,net,showdown" in file.read_text()
    assert 21 == len(file.read_text().splitlines())


def test_a_graph_needs_a_name(capsys: Captured) -> None:
    assert "a graph is somebody's: name the player" in said(capsys, 2, "results", "--adjusted")


def test_who_was_shown_no_cards_is_told_no_luck(capsys: Captured, here: Path) -> None:
    """For the public a hand counts if every hand in it was shown."""
    ledger = Reader(here).snapshot()
    shown = [
        one
        for one in filtered_leaves(LedgerView(ledger, Viewer("public")))
        if is_countable(one, RULES)
    ]
    found = told(capsys, "results", "--spots", "all", "--as", "public")
    assert len(shown) == found["known"] < 20
    for one in shown:
        assert one.hand is not None
        assert one.hand.standing.count("folded") == 0


FILES = ["results_by", "results_rake", "results_streets", "results_values"]


@pytest.mark.parametrize("file", FILES)
def test_a_question_is_asked_in_the_portable_dialect(file: str) -> None:
    first, second, *_ = sql_text(file).splitlines()
    assert (first[-1], second[-1]) == ("?", ".")
    for dialect in ("duckdb", "spark", "postgres"):
        (tree,) = sqlglot.parse(sql_text(file), dialect=dialect)
        assert tree is not None


def test_every_question_about_results_is_asked_here() -> None:
    found = sorted(path.stem for path in SQL_FOLDER.glob("results_*.sql"))
    assert FILES == found


def test_every_chance_is_in_its_place() -> None:
    asked = StreetLuckTable(_hands("swap-2022", 2), RULES)
    rows = [row["chance"] for row in asked.rows("random-0")]
    asked.close()
    assert sorted(rows, key=list(CHANCES).index) == rows
