"""What swaps must not depend on: two by two, exact, and judged as one family."""

from typing import Any

from analytics.luck.luck_queries import independence_tests


def _slots(player: str, both: int, first: int, second: int, none: int) -> dict[str, Any]:
    cells = {"both": both, "first": first, "second": second, "none": none}
    named = {f"{name}_changed": count for name, count in cells.items()}
    return {"player": player, "game": "swap-2022", "street": "flop", **named}


def _acts(**counts: int) -> dict[str, Any]:
    names = [
        f"{act}_rival_{what}_{end}"
        for act in ("bet", "check", "fold")
        for what in ("swapped", "kept")
        for end in "kn"
    ]
    return {"player": "a", **{name: counts.get(name, 0) for name in names}}


def test_cards_that_always_change_together_are_no_chance() -> None:
    one, other = independence_tests(
        [_slots("a", 10, 90, 90, 810), _slots("b", 60, 40, 40, 860)], []
    )
    assert ("ok", 10.0) == (one.verdict, one.expected)
    assert ("NOT CHANCE", 10.0, 1000) == (other.verdict, other.expected, other.n)
    assert ("both cards", "swap-2022", "flop") == (one.question, one.game, one.street)


def test_who_bets_more_after_a_swap_that_he_cannot_see_is_noticed() -> None:
    told = _acts(
        bet_rival_swapped_k=90, bet_rival_swapped_n=100, bet_rival_kept_k=100, bet_rival_kept_n=400
    )
    (one,) = independence_tests([], [told])
    assert ("bets after the rival's swap", (90, 10, 100, 300)) == (one.question, one.cells)
    assert "NOT CHANCE" == one.verdict


def test_a_p_counts_among_all_that_were_asked() -> None:
    """Holm: of twenty tables the smallest p counts twenty times."""
    tables = [_slots(f"p{at:02}", 10, 90, 90, 810) for at in range(19)]
    found = independence_tests([_slots("odd", 19, 81, 81, 819), *tables], [])
    (odd,) = (one for one in found if one.player == "odd")
    assert odd.p < 0.01
    assert 20 * odd.p == odd.p_adjusted
    assert "ok" == odd.verdict


def test_a_rival_who_never_swapped_makes_no_table() -> None:
    assert [] == independence_tests([], [_acts(bet_rival_kept_k=5, bet_rival_kept_n=9)])
