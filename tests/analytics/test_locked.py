"""A locked win: counted by hand, and a law: who has it and only folds keeps his lead."""

from hypothesis import given
from hypothesis import strategies as st

from analytics.decisions.replayed_hands import ReplayedHands
from analytics.opponents.opponent_tables import (
    HeadsUpHand,
    LockState,
    first_locks,
    heads_up_hands,
    lock_states,
)
from store.columns.codec import encoded_table
from tests.analytics.auction_pages import RULES, leaf

ROUND = "site-nl, button {button}, stacks 400 400\ndeal 0: 7c 2h, 1: As Ad\n> {button} folds"


def _hand(number: int, net: float, button: int | None = None) -> HeadsUpHand:
    """A hand that `ursa`, seat 0, wins so much in; he deals the odd ones."""
    dealer = (number + 1) % 2 if button is None else button
    return HeadsUpHand(number, "m", number, ("ursa", "lynx"), dealer, (net, -net), 1, 2)


def _played(text: str) -> list[HeadsUpHand]:
    return list(heads_up_hands(ReplayedHands(encoded_table([leaf(1, text)])), RULES))


def _states(told: list[LockState], player: str) -> list[str]:
    return [one.state for one in told if one.player == player]


def test_a_lead_is_locked_when_it_is_larger_than_all_blinds_to_come() -> None:
    """`big × (his big-blind hands left) + small × (his dealer hands left)`: 2 + 1 + 2 after hand
    one, 1 + 2 after hand two."""
    told = lock_states([_hand(1, 3), _hand(2, 1), _hand(3, 0), _hand(4, -2)], {"m": 4})
    his = [one for one in told if one.player == "ursa"]
    assert [0, 3, 4, 4] == [one.lead for one in his]
    assert [6, 5, 3, 2] == [one.cost for one in his]
    assert ["open", "open", "won", "won"] == _states(told, "ursa")
    assert ["open", "open", "lost", "lost"] == _states(told, "lynx")


def test_a_lead_that_only_equals_the_cost_is_not_locked() -> None:
    assert {"open"} == set(_states(lock_states([_hand(1, 3), _hand(2, 0)], {"m": 3}), "ursa"))


def test_hands_that_are_not_in_the_record_cost_blinds_by_turns() -> None:
    """After hand two, in which lynx dealt, hands three to five: ursa deals, lynx, ursa."""
    (*_, ursa, lynx) = lock_states([_hand(1, 0), _hand(2, 0)], {"m": 5})
    assert (2 + 1 + 2 + 1, 1 + 2 + 1 + 2) == (ursa.cost, lynx.cost)


def test_a_match_of_unknown_length_has_no_marks() -> None:
    assert [] == lock_states([_hand(1, 300)], {"other": 9})


def test_other_players_in_between_have_no_marks() -> None:
    other = _hand(2, 0)._replace(players=("ursa", "puma"))
    assert [] == lock_states([_hand(1, 0), other], {"m": 9})


def test_a_lead_that_was_gambled_away_was_locked_for_a_while_only() -> None:
    hands = [_hand(1, 50), _hand(2, -60), _hand(3, 40), _hand(4, 0), _hand(5, 0)]
    told = lock_states(hands, {"m": 5})
    assert ["open", "won", "lost", "won", "won"] == _states(told, "ursa")
    assert ["ursa"] == [player for _, player in first_locks(told)]
    assert 4 == first_locks(told)["m", "ursa"].number


@given(
    st.lists(st.integers(-200, 200), min_size=1, max_size=40),
    st.integers(0, 20),
    st.integers(0, 1),
)
def test_who_has_it_and_folds_all_the_rest_keeps_a_lead(
    nets: list[int], more: int, first: int
) -> None:
    hands = [_hand(at, net, (at + first) % 2) for at, net in enumerate(nets, start=1)]
    length = len(nets) + more
    for one in lock_states(hands, {"m": length}):
        folded = one.lead
        for number in range(one.number, length + 1):
            dealer = ("ursa", "lynx")[(number + first) % 2]
            folded -= 1 if dealer == one.player else 2
        assert (one.state == "won") == (folded > 0)


@given(st.lists(st.integers(-200, 200), min_size=1, max_size=40))
def test_one_wins_what_the_other_loses(nets: list[int]) -> None:
    told = lock_states([_hand(at, net) for at, net in enumerate(nets, start=1)], {"m": len(nets)})
    turned = {"won": "lost", "lost": "won", "open": "open"}
    assert _states(told, "ursa") == [turned[one] for one in _states(told, "lynx")]


def test_blinds_are_those_of_the_ruleset() -> None:
    (one,) = _played(ROUND.format(button=0))
    assert one is not None
    assert one.big == 2 * one.small > 0
    assert (-one.small, one.small) == one.nets


def test_three_players_lock_nothing() -> None:
    text = "site-nl, button 0, stacks 400 400 400\n> 0 folds; 1 folds"
    assert [] == _played(text)
