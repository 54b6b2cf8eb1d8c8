"""What a third card is worth, kept in a file; and whether a bidder knows the other bid."""

from itertools import permutations, product
from pathlib import Path
from random import Random
from statistics import NormalDist, fmean, pvariance
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from analytics.auctions import sniffing, third_card_worth
from analytics.auctions import sniffing as bids_sniffing
from analytics.auctions.bidding import AuctionMeasures
from analytics.auctions.sniffing import TELLS, _tell_moments, pair_tests
from analytics.auctions.third_card_worth import RECORD, ThirdCardCache, tie_rule
from analytics.auctions.third_card_worth import two_bidder_auctions as of_two
from analytics.sql import ArrowTables
from analytics.statistics.catalogue import MeasureValue
from engine.games import named
from store.log.streams import Leaf
from tests.analytics.auction_pages import PAGES, auctions, auctions_table, leaf, page, worths

HOLE, FLOP = ("Ah", "Kh"), ("Qh", "7s", "2d")


@pytest.fixture(scope="module")
def values() -> dict[tuple[str, int], dict[str, Any]]:
    rows = auctions(page(PAGES / "bids_worth.txt").leaves)
    return {(row["basis"], row["seat"]): row for row in worths(rows)}


def test_a_bidder_who_sees_his_own_cards_has_the_published_equities(
    values: dict[tuple[str, int], dict[str, Any]],
) -> None:
    """Ah Kh on Qh 7s 2d: e = 0.580426, w = 0.722881, l = 0.374905."""
    assert (0.580426, 0.722881, 0.374905) == _equities(values["own", 0])


def test_with_both_hands_known_the_swing_is_the_same_for_both(
    values: dict[tuple[str, int], dict[str, Any]],
) -> None:
    """Against 8s 8d: e = 0.297980, w = 0.541508, the rival's w = 0.783510, t = 0.431408."""
    mine, his = values["known", 0], values["known", 1]
    even, won, lost = _equities(mine)
    assert (0.29798, 0.541508, 0.78351) == (even, won, _equities(his)[1])
    assert (0.541508, 0.21649) == (won, lost)
    assert mine["swing"] == his["swing"]
    assert 0.431408 == round(mine["actual"] / 800, 6)  # of a pot of 800, tied at 0


def _equities(row: dict[str, Any]) -> tuple[float, ...]:
    """With nobody having the third card, with it, and with the rival having it."""
    won = row["neither"] + row["gain"]
    return tuple(round(one, 6) for one in (row["neither"], won, won - row["swing"]))


NEVER_LOSES = """{game}, button 0, stacks 400 400
deal 0: As 3d 2c, 1: Ah 3s, board: Kc Qd 9h 4c 5s
> 0 calls; 1 checks; 1 bids 50; 0 bids 60
> 1 checks; 0 bets 5; 1 folds"""


@pytest.mark.parametrize(
    ("game", "unbounded", "even", "overpaid", "underbid"),
    [("auction-2024", (1, 1), None, 0, 1), ("auction-2024-mit", (0, 1), 4.368, 1, 0)],
)
def test_a_price_without_bounds_is_counted_apart(
    game: str, unbounded: tuple[int, int], even: float | None, overpaid: int, underbid: int
) -> None:
    """Over a pot of 4 somebody who cannot lose pays 50. Where bankrolls do not change in a tie no
    price is too high, and whoever loses to any has bid too little; where ties are split 4.4 is."""
    mine, his = _measured([leaf(1, NEVER_LOSES.format(game=game))])
    for found in (mine, his):
        share = found["break_even_unbounded_known"]
        assert unbounded == (share.k, share.n)
        price = found["break_even_known"]
        assert (1 - unbounded[0], even) == (price.n, price.value and round(price.value, 3))
    assert (overpaid, 1) == (mine["overpaid_known"].k, mine["overpaid_known"].n)
    paid = mine["overpayment_known"]
    assert (1, 0 if even is None else 45.632) == (paid.n, paid.value and round(paid.value, 3))
    assert (underbid, 1) == (his["underbid_known"].k, his["underbid_known"].n)


def _measured(leaves: list[Leaf]) -> list[dict[str, MeasureValue]]:
    """Every measure of both players."""
    rows = auctions(leaves)
    tables = ArrowTables(
        {"auctions": auctions_table(rows), "worths": third_card_worth.worth_table(worths(rows))}
    )
    found: dict[str, dict[str, MeasureValue]] = {}
    for one in AuctionMeasures(tables).measures():
        found.setdefault(one.player, {})[one.statistic] = one
    return list(found.values())


def test_where_ties_are_split_values_are_those_of_before() -> None:
    """With ties half, as every auction was counted once: P x swing / (1 - swing), and `captured`
    at the same price over what could be captured, which was called efficiency."""
    text = (PAGES / "bids_worth.txt").read_text("utf-8").replace("auction-2024", "auction-2024-mit")
    leaves = [leaf(at, hand) for at, hand in enumerate(text.split("\n\n")[:-1], start=1)]
    rows = auctions(leaves)
    bids = {(row["hand_seq"], row["seat"]): row for row in rows}
    for it in worths(rows):
        bid, swing = bids[it["hand_seq"], it["seat"]], it["swing"]
        pot, price, rival_bid = bid["pot"], bid["price"], bid["rival_bid"]
        assert it["break_even"] == pytest.approx(pot * swing / (1 - swing))
        won = bid["outcome"] == "won"
        assert it["taken"] == pytest.approx(swing * (pot + price) - price if won else 0)
        assert it["takeable"] == pytest.approx(max(0, swing * (pot + rival_bid) - rival_bid))


def test_a_card_is_worth_nothing_that_is_said_under_rules_that_nobody_knows() -> None:
    rows = auctions(page(PAGES / "bids_worth.txt").leaves)
    assert worths(rows)
    assert [] == worths([{**row, "ruleset": "unknown"} for row in rows])


@pytest.mark.parametrize(
    ("policies", "rule"),
    [
        ({}, "no_change"),
        ({"showdown_tie": "split"}, "split"),
        ({"seats_max": 3, "showdown_tie": "split"}, "split"),
        ({"seats_max": 3}, None),  # who folded has chips in the pot that nobody takes back
        ({"raise_ceiling": "own_stack"}, None),
        ({"bid_max": "unbounded"}, None),
        ({"dead_chips": "stake", "showdown_tie": "split"}, None),
    ],
)
def test_of_rules_that_pay_a_price_otherwise_nothing_is_said(
    policies: dict[str, Any], rule: str | None
) -> None:
    assert rule == tie_rule(replace(named("auction-2024"), **policies))


def test_a_spot_is_counted_once_and_found_again_in_other_suits(tmp_path: Path) -> None:
    first = ThirdCardCache(tmp_path)
    value = first.of(HOLE, FLOP)
    again = ThirdCardCache(tmp_path)
    assert value == again.of(("As", "Ks"), ("Qs", "7d", "2h"))
    assert (1, 0) == (first.counted, again.counted)


def test_a_record_cut_short_is_dropped_and_the_next_is_whole(tmp_path: Path) -> None:
    ThirdCardCache(tmp_path).of(HOLE, FLOP)
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-9])
    again = ThirdCardCache(tmp_path)
    again.of(HOLE, FLOP)
    assert (1, RECORD.size) == (again.counted, file.stat().st_size)


def test_a_value_that_cannot_be_is_counted_again(tmp_path: Path) -> None:
    right = ThirdCardCache(tmp_path).of(HOLE, FLOP)
    (file,) = tmp_path.iterdir()
    hole, board, *rest = RECORD.unpack(file.read_bytes())
    file.write_bytes(RECORD.pack(hole, board, -5, *rest[1:]))
    again = ThirdCardCache(tmp_path)
    assert (right, 1) == (again.of(HOLE, FLOP), again.counted)


def test_an_auction_before_which_no_card_is_known_has_no_value() -> None:
    rows = auctions(page(PAGES / "bids_worth.txt").leaves)
    assert [] == of_two([{**row, "hole": None} for row in rows])


def test_a_card_that_lies_in_two_places_is_worth_nothing() -> None:
    """A forged record may say so; the page of its player was an error of ours."""
    rows = auctions(page(PAGES / "bids_worth.txt").leaves)
    assert worths(rows)
    on_the_board = [{**row, "hole": " ".join(row["board"].split()[:2])} for row in rows]
    assert [] == worths(on_the_board)
    alike = [{**row, "hole": next(it["hole"] for it in rows if it["hole"])} for row in rows]
    assert {"own"} == {row["basis"] for row in worths(alike)}


def _match(hands: int, answer: Any, match: str = "m") -> list[dict[str, Any]]:
    """Auctions of a first bidder at random and a dealer who answers with what he is given."""
    chance = Random(5)
    rows = []
    for number in range(hands):
        first = chance.randrange(60)
        dealer = answer(first, chance)
        names = ("ursa", "lynx") if number % 2 else ("lynx", "ursa")
        for role, mine, his, bids in (
            ("dealer", 0, 1, (dealer, first)),
            ("big blind", 1, 0, (first, dealer)),
        ):
            rows.append(
                {
                    "player": names[mine],
                    "rival": names[his],
                    "role": role,
                    "bid": bids[0],
                    "rival_bid": bids[1],
                    "origin": "chosen",
                    "rival_origin": "chosen",
                    "match": match,
                    "pot": 4,
                    "texture": "dry",
                    "sealed": True,
                }
            )
    return rows


def test_who_bids_one_more_than_the_other_is_found_out() -> None:
    for one in pair_tests(auctions_table(_match(500, lambda first, chance: first + 1))):
        assert one.flagged
        assert 250 == one.tells["one more"][0]
        assert one.correlation is not None
        assert one.correlation > 0.99


def test_who_bids_alike_without_knowing_is_not_flagged() -> None:
    for one in pair_tests(auctions_table(_match(500, lambda first, chance: chance.randrange(60)))):
        assert not one.flagged
        assert one.p is not None
        assert one.p > 0.001


def test_two_matches_of_one_name_are_not_mixed() -> None:
    """High bidders against high ones, and low against low: a correlation, but nobody knows."""
    low = _match(300, lambda first, chance: chance.randrange(60), "low")
    high = _match(300, lambda first, chance: chance.randrange(60), "high")
    for row in high:
        row["bid"], row["rival_bid"] = row["bid"] + 100, row["rival_bid"] + 100
    for one in pair_tests(auctions_table([*low, *high])):
        assert not one.flagged


def test_few_auctions_prove_nothing() -> None:
    few = auctions_table(_match(100, lambda b, chance: b + 1))
    assert [False, False] == [one.flagged for one in pair_tests(few)]


def test_defaults_and_forced_bids_say_nothing_of_a_bidder() -> None:
    rows = _match(40, lambda first, chance: first)
    assert [] == list(
        pair_tests(auctions_table([{**row, "rival_origin": "default"} for row in rows]))
    )


def test_of_very_many_auctions_nothing_is_drawn_and_who_knows_is_found_out() -> None:
    """However many there are, p is small enough to be flagged."""
    for one in pair_tests(auctions_table(_match(2_000, lambda first, chance: first + 1))):
        assert (0, True) == (one.draws, one.flagged)
    for one in pair_tests(
        auctions_table(_match(2_000, lambda first, chance: chance.randrange(60)))
    ):
        assert (0, False) == (one.draws, one.flagged)


def test_where_every_matching_is_the_same_nothing_can_be_told() -> None:
    """Over the small pot the dealer always bids the same, over the large one his rival does."""
    rows = _match(1_000, lambda first, chance: chance.randrange(60))
    for at, row in enumerate(rows):
        small = at < len(rows) // 2
        row["pot"] = 4 if small else 40
        row["bid" if small == (row["role"] == "dealer") else "rival_bid"] = 5
    found = list(pair_tests(auctions_table(rows)))
    assert [(500, 0, 0.0, 1.0)] * 2 == [(it.n, it.draws, it.correlation, it.p) for it in found]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=5), st.data())
def test_chance_over_all_matchings_is_counted(
    bids: list[tuple[int, int]], data: st.DataObject
) -> None:
    """Mean and variance are those over every matching there is, two strata together."""
    more = data.draw(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=3))
    mine, his = (np.array([one[at] for one in (*bids, *more)], dtype=float) for at in (0, 1))
    strata = np.array([0] * len(bids) + [1] * len(more))
    first, second = (np.flatnonzero(strata == at).tolist() for at in (0, 1))
    for tell in TELLS.values():
        counts = [
            _told(mine[[*one, *other]] - his[[*first, *second]], tell)
            for one, other in product(permutations(first), permutations(second))
        ]
        mean, variance = _tell_moments(mine, his, tell, strata)
        assert fmean(counts) == pytest.approx(mean)
        assert pvariance(counts) == pytest.approx(variance, abs=1e-9)


@given(
    st.lists(st.tuples(st.sampled_from([0, 3]), st.sampled_from([2, 3])), min_size=1, max_size=5),
    st.lists(st.tuples(st.sampled_from([0, 1]), st.sampled_from([0, 1])), max_size=3),
)
def test_of_bids_of_two_sizes_every_matching_is_counted(
    bids: list[tuple[int, int]], more: list[tuple[int, int]]
) -> None:
    """p is the share of matchings that tell as much: exactly, whatever the count goes up by."""
    mine, his = (np.array([one[at] for one in (*bids, *more)], dtype=float) for at in (0, 1))
    strata = np.array([0] * len(bids) + [1] * len(more))
    first, second = (np.flatnonzero(strata == at).tolist() for at in (0, 1))
    found = sniffing.two_size_strata(mine, his, strata)
    assert found is not None
    for tell in TELLS.values():
        counts = [
            _told(mine[[*one, *other]] - his[[*first, *second]], tell)
            for one, other in product(permutations(first), permutations(second))
        ]
        for least in range(len(mine) + 1):
            share = sum(count >= least for count in counts) / len(counts)
            assert share == pytest.approx(sniffing.exact_p(least, found, tell), abs=1e-12)


def test_two_bidders_of_two_sizes_are_not_flagged_for_going_up_by_twos() -> None:
    """By Poisson's formula p would be a quarter of what it is."""
    rows = _match(1_200, lambda first, chance: 40 * chance.randrange(2))
    for row in rows:
        mine, his = ("bid", "rival_bid") if row["role"] == "big blind" else ("rival_bid", "bid")
        row[mine] = 40 * (row[mine] % 2)
        assert row[his] in (0, 40)
    for one in pair_tests(auctions_table(rows)):
        assert (0, False) == (one.draws, one.flagged)
        count, mean, p = one.tells["equal"]
        variance = 600 / 4
        assert p == pytest.approx(NormalDist().cdf(-(count - 1 - mean) / variance**0.5), abs=0.02)


def test_bids_of_three_sizes_are_not_counted_so() -> None:
    bids = np.array([0.0, 3.0, 7.0])
    assert sniffing.two_size_strata(bids, bids, np.zeros(3, dtype=np.int64)) is None
    assert sniffing.two_size_strata(bids, bids[[0, 0, 0]], np.zeros(3, dtype=np.int64)) is not None


@pytest.mark.parametrize(
    ("hands", "knows", "draws"), [(500, 1, 10_000), (500, 0, 1_000), (100, 1, 1_000)]
)
def test_where_the_first_matchings_leave_a_doubt_all_are_drawn(
    hands: int, knows: int, draws: int
) -> None:
    """Of too few auctions nothing is claimed, so a thousand do."""
    rows = _match(hands, lambda first, chance: first + 1 if knows else chance.randrange(50))
    assert [draws] * 2 == [one.draws for one in pair_tests(auctions_table(rows))]


def _told(apart: Any, tell: tuple[int, int]) -> int:
    return int(((apart >= tell[0]) & (apart <= tell[1])).sum())


def test_p_by_the_exact_chance_is_near_that_of_matchings(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = auctions_table(_match(1_000, lambda first, chance: chance.randrange(60)))
    exact = list(pair_tests(rows))
    monkeypatch.setattr(bids_sniffing, "DRAWN_N", 500)
    monkeypatch.setattr(bids_sniffing, "FIRST_DRAWS", 10_000)
    for one, other in zip(exact, pair_tests(rows), strict=True):
        assert (0, 10_000) == (one.draws, other.draws)
        assert one.p == pytest.approx(other.p, abs=0.03)
        for name, (count, mean, p) in one.tells.items():
            assert (count, mean) == other.tells[name][:2]
            assert p == pytest.approx(other.tells[name][2], abs=0.06)
