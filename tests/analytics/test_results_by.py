"""Nets by parts of a player's hands: as a page says, as a second count has them, as seen."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pyarrow as pa
import pytest
from sqlglot import expressions as ex

from analytics.projections.auctions import AUCTIONS
from analytics.projections.facts import facts_projection
from analytics.results.net_breakdown import UNKNOWN, By, net_by_part
from analytics.sql import ArrowTables, HandFilters, facts_sql, file_sql
from api.main import main
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.viewer import viewer_of
from dealer.play import play
from engine.games import named
from events.types import AuctionSettled, CardSwapped, PotSplit
from store.log.streams import Leaf, split_stream
from store.reader import Reader
from store.tables.projection import HANDS, SWAPS
from tests.analytics.auction_pages import page, recorded
from tests.analytics.portable import opens_with_its_question_and_its_definition, trees
from tests.sessions import Captured, printed, told

PAGE = Path(__file__).parent / "results" / "results_by.txt"
FORBIDDEN = (ex.Qualify, ex.IntDiv, ex.Lambda, ex.PercentileCont, ex.ArrayAgg, ex.Median)
VIEWS = ("public", "seat:random-0", "auditor")


class Given:
    """Hands of a test, as the views of a ledger."""

    def __init__(self, leaves: Sequence[Leaf]) -> None:
        every = (facts_projection(lambda mark: None), HANDS, AUCTIONS, SWAPS)
        self._tables = ArrowTables({one.name: one.build(leaves) for one in every})

    def ask(self, sql: str) -> pa.Table:
        return self._tables.table(sql)

    def rows(self, sql: str) -> list[dict[str, Any]]:
        return self._tables.rows(sql)


def test_the_question_answers_what_its_text_says() -> None:
    leaves, columns, expected = page(PAGE)
    given = Given(leaves)
    found = [
        {**row, "by": by, "part": row["part"].replace(" ", "_")}
        for by in dict.fromkeys(row[0] for row in expected)
        for row in net_by_part(given, HandFilters(), by)
    ]
    assert [list(map(str, map(_near, row))) for row in expected] == [
        [str(_near(row[name])) for name in columns] for row in found
    ]


def test_amounts_are_told_with_how_often_each_was_won() -> None:
    leaves, columns, expected = page(PAGE.with_name("results_values.txt"))
    given = Given(leaves)
    chosen = facts_sql(HandFilters(by="position"), "NULL")
    asked = given.rows(file_sql("results_values", chosen))
    found = [[str(_near(row[name])) for name in columns] for row in asked]
    assert sorted([*map(str, map(_near, row))] for row in expected) == sorted(found)


def _near(value: Any) -> Any:
    try:
        return round(float(value), 4)
    except ValueError:
        return value


@pytest.mark.parametrize("file", ["results_by", "results_values"])
def test_the_question_is_in_the_portable_dialect(file: str) -> None:
    opens_with_its_question_and_its_definition(file)
    for tree in trees(file):
        assert [] == list(tree.find_all(*FORBIDDEN))


# A second count, hand by hand.


@cache
def _hands(game: str) -> tuple[Leaf, ...]:
    events = play(named(game), "m", 150, "7", seats=2)
    return tuple(recorded(at, one) for at, one in enumerate(events, start=1))


def _of(leaf: Leaf, kind: type) -> list[Any]:
    return [one.event for one in leaf.recorded if isinstance(one.event, kind)]


def _street(leaf: Leaf, seat: int) -> str:
    assert leaf.hand is not None
    return leaf.hand.street


def _position(leaf: Leaf, seat: int) -> str:
    assert leaf.hand is not None
    return "SB" if leaf.hand.start.button == seat else "BB"


def _window(leaf: Leaf, seat: int) -> str:
    number = split_stream(leaf.stream)[1]
    assert number is not None
    return "1" if number <= 100 else "101"


def _pot(leaf: Leaf, seat: int) -> str:
    paid = sum(sum(one.shares) for one in _of(leaf, PotSplit))
    if paid <= 4:
        return "up to 4"
    return "5 to 20" if paid <= 20 else "21 to 100" if paid <= 100 else "over 100"


def _auction(leaf: Leaf, seat: int) -> str:
    for settled in _of(leaf, AuctionSettled):
        if seat not in settled.seats:
            return "lost"
        return "won" if settled.seats == (seat,) else "tied"
    return "not held"


def _swap(leaf: Leaf, seat: int) -> str:
    own = [one for one in _of(leaf, CardSwapped) if one.seat == seat]
    return "yes" if any(one.old != one.new for one in own) else "no"


COUNTS: dict[str, Callable[[Leaf, int], str]] = {
    "street": _street,
    "position": _position,
    "window": _window,
    "pot": _pot,
    "auction": _auction,
    "swap": _swap,
}


@pytest.mark.parametrize("game", ["auction-2024", "swap-2022"])
def test_every_part_is_as_a_second_count_has_it(game: str) -> None:
    leaves = _hands(game)
    given = Given(leaves)
    for by in get_args(By):
        counted: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        for leaf in leaves:
            assert leaf.hand is not None
            both = zip(leaf.hand.stacks, leaf.hand.start.stacks, strict=True)
            for seat, (after, before) in enumerate(both):
                name = leaf.hand.start.players[seat]
                counted[name, COUNTS[by](leaf, seat)].append(after - before)
        found = net_by_part(given, HandFilters(), by)
        assert {key: (len(nets), sum(nets)) for key, nets in counted.items()} == {
            (row["player"], row["part"]): (row["n"], row["net"]) for row in found
        }


def test_a_mean_has_an_interval_from_thirty_hands_on() -> None:
    found = net_by_part(Given(_hands("auction-2024")), HandFilters(player="random-0"), "street")
    assert {True, False} == {row["n"] < 30 for row in found}
    for row in found:
        assert (row["n"] < 30) == (row["low"] is None) == (row["drawn_low"] is None)
        if row["low"] is not None:
            assert row["low"] < row["mean"] < row["high"]
            assert row["drawn_low"] < row["mean"] < row["drawn_high"]
            reach = row["high"] - row["low"]
            assert row["drawn_high"] - row["drawn_low"] == pytest.approx(reach, rel=0.2)


# Who may see what, and the command.


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two matches with auctions and one with swaps; of odd numbers of hands, one dealer first."""
    made = tmp_path_factory.mktemp("results_by") / "ledger"
    for game, match in (("auction-2024", "a"), ("auction-2024", "b"), ("swap-2022", "s")):
        words = (game, "--hands", "41", "--seed", "7", "--match", match)
        assert main(["play", *words, "--ledger", str(made)]) == 0
    return made


@pytest.fixture(autouse=True)
def looked_at(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUCKRAKE_LEDGER", str(here))


@pytest.fixture(scope="module")
def eyes(here: Path) -> Iterator[list[LedgerView]]:
    snapshot = Reader(here).snapshot()
    every = [LedgerView(snapshot, viewer_of(view)) for view in VIEWS]
    yield every
    for one in every:
        one.close()


def _seen(viewed: LedgerView, by: Any) -> dict[tuple[str, str], int]:
    rows = net_by_part(viewed, HandFilters(), by)
    return {(row["player"], row["part"]): row["n"] for row in rows}


def test_a_swap_that_is_hidden_is_in_the_part_that_is_not_known(eyes: list[LedgerView]) -> None:
    """Whether a card was at risk is seen by everybody; whether it changed is its holder's."""
    public, own, every = (_seen(one, "swap") for one in eyes)
    assert every["random-0", "yes"]
    assert every["random-1", "yes"]
    assert {"no", UNKNOWN} == {part for _, part in public}
    assert own.items() >= {key: n for key, n in every.items() if key[0] == "random-0"}.items()
    assert own["random-1", UNKNOWN] == public["random-1", UNKNOWN] > every["random-1", "yes"]
    assert ("random-1", "yes") not in own


@pytest.mark.parametrize("by", [one for one in get_args(By) if one != "swap"])
def test_every_other_part_is_in_front_of_everybody(eyes: list[LedgerView], by: str) -> None:
    """A sealed bid is told by its settlement."""
    first, *others = (_seen(one, by) for one in eyes)
    assert [first, first] == others


@pytest.mark.parametrize("by", get_args(By))
def test_the_parts_of_the_document_add_up_to_the_net(capsys: Captured, by: str) -> None:
    found = told(capsys, "results", "random-1", "--spots", "0", "--points", "12", "--by", by)
    (player,) = found["players"]
    numbers = ["n", "net", "mean", "low", "high", "drawn_low", "drawn_high"]
    assert ["player", by, *numbers] == list(found["by"][0])
    assert player["net"] == sum(row["net"] for row in found["by"])
    assert player["hands"] == sum(row["n"] for row in found["by"]) == 123


def test_parts_are_asked_for(capsys: Captured) -> None:
    assert "by" not in told(capsys, "results", "--spots", "0")


def test_a_deck_of_a_mirrored_match_is_one_number(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The unit is the hand, or the pair for mirrored deals."""
    monkeypatch.setenv("MUCKRAKE_LEDGER", str(tmp_path / "ledger"))
    words = ("auction-2024", "--hands", "160", "--seed", "7", "--match", "m", "--mirror")
    printed(capsys, "play", *words)
    found = told(capsys, "results", "random-0", "--spots", "0")
    (player,) = found["players"]
    hands, decks, prices = player["rates"]
    assert [("hand", 160), ("deck", 80)] == [(one["unit"], one["n"]) for one in (hands, decks)]
    assert player["net"] == hands["net"] == 2 * decks["net"]
    assert hands["mean"] == decks["mean"]
    for one in (hands, decks):
        assert one["low"] < one["mean"] < one["high"]
        assert one["drawn_low"] < one["mean"] < one["drawn_high"]
    assert {"seed": 8, "draws": 1000} == found["again"]
    assert "random-0\tnet of a deck\t" in printed(capsys, "results", "--spots", "0")
    (bidder,) = told(capsys, "bids", "random-0", "--spots", "0")["players"]
    paid = bidder["measures"]["paid"]
    same = ("n", "low", "high")
    assert [paid[it] for it in same] == [pytest.approx(prices[it]) for it in same]
    assert ("price", pytest.approx(paid["value"])) == (prices["unit"], prices["mean"])
    assert prices["drawn_low"] < prices["mean"] < prices["drawn_high"]


def test_without_a_name_everybody_has_a_line_a_part(capsys: Captured) -> None:
    head, *lines = printed(capsys, "results", "--by", "position").splitlines()
    assert ["player", "position", "hands", "net", "each", "95 %"] == head.split("\t")
    assert [("random-0", "BB"), ("random-0", "SB"), ("random-1", "BB"), ("random-1", "SB")] == [
        tuple(line.split("\t")[:2]) for line in lines
    ]


@pytest.mark.parametrize("words", [("--spots", "0"), ("--by", "pot")])
def test_seats_that_are_not_balanced_are_worth_a_word(
    capsys: Captured, words: tuple[str, ...]
) -> None:
    """`warn when the counts differ by more than one`: 63 and 60 are, 21 and 20 are not."""
    assert main(["results", "random-0", *words]) == 0
    said = "dealer in 63 hands, big blind in 60: the seats are not balanced"
    assert said in capsys.readouterr().err
    assert main(["results", "random-0", "--match", "a", *words]) == 0
    assert "balanced" not in capsys.readouterr().err


def test_the_document_has_both_seats(capsys: Captured) -> None:
    every = told(capsys, "results", "--spots", "0")["players"]
    for one in every:
        seats = one["seats"]
        assert not seats["balanced"]
        assert one["net"] == seats["dealer"]["net"] + seats["big_blind"]["net"]
    seats = told(capsys, "results", "random-1", "--match", "a", "--spots", "0")["players"][0]
    assert (20, 21) == tuple(seats["seats"][one]["n"] for one in ("dealer", "big_blind"))
    assert seats["seats"]["balanced"]
