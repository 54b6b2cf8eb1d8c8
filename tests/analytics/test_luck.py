"""Run-outs at their worth, swaps at theirs: golden equities, laws, and counts by hand."""

from fractions import Fraction

import pytest
from msgspec.structs import replace

from analytics.luck.luck_queries import LuckQueries
from analytics.projections.equity import RunOut, find_run_out, pot_equities, sampled_equities
from analytics.sql import ArrowTables
from dealer.play import play
from engine.games import GAMES, named
from events.cards import DECK, known
from odds.batch import STANDARD
from odds.rank import evaluator, mask
from tests.analytics.auction_pages import (
    PAGES,
    leaf,
    page,
    played_rows,
    played_table,
    recorded,
    risks,
    risks_table,
)
from tests.hands import covering
from tests.profiles import sized

ACES, KINGS = ("As", "Ah"), ("Kd", "Kc")
AK, TWOS = ("Ah", "Kh"), ("2c", "2d")
TEN_AND_FIVE = ((10, 100), (5, 100))
ALL_IN = """auction-2024, button 0, stacks 400 400
deal 0: Ah Kh 9c, 1: 8s 8d, board: Qh 7s 2d 3c 4c
> 0 calls; 1 checks; 1 bids 0; 0 bids 1
> 1 bets 398; 0 calls"""


def _spot(board: tuple[str, ...] = (), third: tuple[int, int] = (0, 0)) -> RunOut:
    return RunOut((0, 1), (AK, ("8s", "8d")), board, (), third, (), (), (4, 4))


@pytest.mark.parametrize("game", sorted(sized(quick=covering(GAMES), ci=GAMES)))
def test_luck_sums_to_nothing_over_the_players_of_a_hand(game: str) -> None:
    for number, events in enumerate(play(named(game), "m", sized(20, 40), "7", seats=2), start=1):
        rows = played_rows([recorded(number, events)])
        assert 0 == round(sum(row["net"] - row["net_ev"] for row in rows), 6)


def test_third_cards_to_come_on_the_flop_are_counted() -> None:
    """Ah Kh against 8s 8d on Qh 7s 2d: with a third card each 0.431408, for one alone 0.541508."""
    flop = ("Qh", "7s", "2d")
    both = pot_equities(_spot(flop, (1, 1)), (0, 1), STANDARD, "m/1")
    one = pot_equities(_spot(flop, (1, 0)), (0, 1), STANDARD, "m/1")
    other = pot_equities(_spot(flop, (0, 1)), (0, 1), STANDARD, "m/1")
    shares = (both.share[0], one.share[0], other.share[1])
    assert (0.431408, 0.541508, 0.78351) == tuple(round(share, 6) for share in shares)
    assert both.error == 0.0


def test_what_was_counted_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Third cards, swaps to come and what is drawn at random: a page that is asked for again, or by
    another, counts nothing anew."""
    flop = ("Qh", "7s", "2c")
    swaps = RunOut((0, 1), (AK, ("8s", "8d")), flop, (), (0, 0), TEN_AND_FIVE, (), (4, 4))
    spots = (_spot(flop, (1, 1)), swaps, _spot((), (1, 1)))
    first = [pot_equities(one, (0, 1), STANDARD, "m/1") for one in spots]

    def counted(*_: object, **__: object) -> None:
        raise AssertionError("this is counted again")

    for name in ("against_unseen", "unseen"):
        monkeypatch.setattr(f"analytics.projections.equity.{name}", counted)
    monkeypatch.setattr("odds.unseen.survivors", counted)
    assert first == [pot_equities(one, (0, 1), STANDARD, "m/1") for one in spots]
    other = (("8s", "8h"), ("Ah", "Kh"))
    for one in spots:
        with pytest.raises(AssertionError, match="again"):
            pot_equities(replace(one, holes=other), (0, 1), STANDARD, "m/1")


def test_two_hands_before_the_flop_are_counted_on_every_board() -> None:
    spot = RunOut((0, 1), (ACES, KINGS), (), (), (0, 0), (), (), (400, 400))
    assert 0.81255 == round(pot_equities(spot, (0, 1), STANDARD, "m/1").share[0], 5)


@pytest.mark.parametrize(("mine", "his", "expected"), [(ACES, KINGS, 0.7008), (AK, TWOS, 0.5547)])
def test_swaps_to_come_before_the_flop_are_drawn(
    mine: tuple[str, str], his: tuple[str, str], expected: float
) -> None:
    """`Expected`: 0.7008 ± 0.0004 and 0.5547 ± 0.0005 with 10 and 5 in 100."""
    found = sampled_equities((mine, his), (), (), (0, 0), TEN_AND_FIVE, STANDARD, 1, draws=100_000)
    assert abs(found.share[0] - expected) < 4 * found.error + 0.0005
    assert found.error < 0.002


def test_the_same_hand_is_drawn_the_same_way_every_time() -> None:
    first = sampled_equities((ACES, KINGS), (), (), (1, 1), (), STANDARD, 3, draws=500)
    assert first == sampled_equities((ACES, KINGS), (), (), (1, 1), (), STANDARD, 3, draws=500)
    assert first != sampled_equities((ACES, KINGS), (), (), (1, 1), (), STANDARD, 4, draws=500)


def test_betting_closes_where_the_last_choice_was_made() -> None:
    one = leaf(1, ALL_IN)
    assert one.hand is not None
    spot = find_run_out([it.event for it in one.recorded], one.hand, named("auction-2024"))
    assert isinstance(spot, RunOut)
    assert ("Ah", "Kh", "9c") == spot.holes[0]
    assert (("Qh", "7s", "2d"), (0, 0)) == (spot.board, spot.third)


def test_an_all_in_on_the_flop_is_worth_what_every_run_out_pays() -> None:
    """Each two of the 44 cards that are left, laid out and ranked one hand at a time."""
    flop, mine, his = ("Qh", "7s", "2d"), ("Ah", "Kh", "9c"), ("8s", "8d")
    rest = [card for card in DECK if card not in (*flop, *mine, *his)]
    eight, seven = evaluator("standard", 8), evaluator("standard", 7)
    won = deals = Fraction()
    for at, turn in enumerate(rest):
        for river in rest[at + 1 :]:
            board = (*flop, turn, river)
            one, other = eight(mask((*mine, *board))), seven(mask((*his, *board)))
            won += Fraction(1 + (one > other) - (one < other), 2)
            deals += 1
    (row, other_row) = played_rows([leaf(1, ALL_IN)])
    assert row["adjusted"]
    assert round(float(won / deals) * 800 - 400, 6) == round(row["net_ev"], 6)
    assert 0 == round(row["net_ev"] + other_row["net_ev"], 6)


def test_a_river_bet_leaves_no_luck() -> None:
    for row in played_rows(page(PAGES / "swaps_results.txt").leaves):
        assert (False, row["net"]) == (row["adjusted"], row["net_ev"])


def test_cards_that_are_not_known_are_not_adjusted() -> None:
    assert known(("As", "??")) is None
    assert known(("hidden", "hidden")) is None
    text = ALL_IN.replace("1 bets 398; 0 calls", "1 bets 398; 0 folds")
    assert [False, False] == [row["adjusted"] for row in played_rows([leaf(1, text)])]


def test_a_swap_on_the_turn_is_worth_the_difference_of_its_rivers() -> None:
    """As Ah becomes As Qd against Kd Kc on 2c 7d 9h 3s: forty-three rivers, the ace is gone."""
    text = (PAGES / "swaps_luck.txt").read_text().split("\n\n")[0]
    text = text.replace("swaps - Qd - - / - - - -", "swaps - - - - / - Qd - -")
    (row,) = [one for one in risks([leaf(1, text)]) if one["changed"]]
    board = ("2c", "7d", "9h", "3s")

    def share(mine: tuple[str, str], gone: tuple[str, ...]) -> float:
        rank = evaluator("standard", 7)
        rest = [one for one in DECK if one not in (*mine, *KINGS, *board, *gone)]
        wins = Fraction()
        for river in rest:
            one, other = (rank(mask((*hole, *board, river))) for hole in (mine, KINGS))
            wins += Fraction(1 + (one > other) - (one < other), 2)
        return float(wins / len(rest))

    assert ("turn", 0.05) == (row["street"], row["chance"])
    assert round(share(ACES, ()), 9) == round(row["before"], 9)
    assert round(share(("As", "Qd"), ("Ah",)), 9) == round(row["after"], 9)


def test_a_choice_after_a_swap_is_on_the_board_that_follows() -> None:
    """The board of the street is dealt after the swap: the next line of the script is no end."""
    hands = play(GAMES["swap-2022-mit"], "w", 40, "10")  # soon all of them
    expected, does = {"bet", "check", "call", "raise", "fold", None}, set()
    for number, hand in enumerate(hands):
        does |= {row["does"] for row in risks([recorded(number, hand)])}
        if expected <= does:
            break
    assert expected == does


def test_a_curve_ends_at_the_net() -> None:
    leaves = page(PAGES / "swaps_curve.txt").leaves
    tables = {"played": played_table(played_rows(leaves)), "risks": risks_table([])}
    luck = LuckQueries(ArrowTables(tables))
    net = {one.player: one.value for one in luck.measures() if one.statistic == "net"}
    assert net == {row["player"]: row["net"] for row in luck.curve() if row["number"] == 2}
