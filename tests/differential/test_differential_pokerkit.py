"""Random hands in lock-step with pokerkit: every menu and every stack, in three betting structures.

What is not equal is a policy by name (`pokerkit_peer.rules`) or one of `pokerkit_peer.KINDS`;
docs/differences.md tells them all, with counts.
"""

from pathlib import Path
from random import Random

import pytest

from engine.policies import Sizing
from tests.differential.lockstep import Lockstep, Rules, Tally, Unexplained
from tests.differential.tables import random_table

pytest.importorskip("pokerkit", reason="pokerkit, a development dependency, is not installed here")

from tests.differential.pokerkit_peer import KINDS, Pokerkit, rules
from tests.profiles import sized

SIZINGS: tuple[Sizing, ...] = ("no_limit", "pot_limit", "fixed")
every_sizing = pytest.mark.parametrize("sizing", SIZINGS)

PART = sized(quick=50, ci=200, slow=1250)  # hands of each half
PAGE = Path(__file__).parents[2] / "docs" / "differences.md"


def play(sizing: Sizing, numbers: range) -> Tally:
    """So many hands, each repeatable from its number; a failure prints its hand."""
    tally = Tally()
    for number in numbers:
        seed = f"{sizing}/{number}"
        chances = Random(seed)
        table = random_table(chances)
        ours = rules(sizing, table.small, table.big, table.ante)
        try:
            Lockstep(ours, table, Pokerkit(sizing, table), KINDS).play(chances, tally)
        except Exception as wrong:
            wrong.add_note(f"seed {seed}")
            raise
    print(f"\npokerkit, {sizing}, seeds {numbers.start}..{numbers.stop - 1}: {tally}")
    return tally


@pytest.mark.parametrize("part", range(2))
@every_sizing
def test_pokerkit_offers_the_same_and_pays_the_same(sizing: Sizing, part: int) -> None:
    numbers = range(PART * part, PART * (part + 1))
    assert len(numbers) == play(sizing, numbers).hands


@pytest.mark.parametrize(
    ("kind", "sizing", "number"),
    [
        ("a lone blind is asked to check", "no_limit", 18),
        ("blinds are no raise to measure by", "no_limit", 360),
        ("short raises that added up are forgotten", "no_limit", 9940),
        ("limit: raised on top of a short bet", "fixed", 3),
        ("limit: short raises count for the cap", "fixed", 55),
    ],
)
def test_each_known_difference_has_a_hand_that_shows_it(
    kind: str, sizing: Sizing, number: int
) -> None:
    tally = play(sizing, range(number, number + 1))
    assert kind in tally.kinds


@pytest.mark.parametrize(
    ("habit", "sizing", "number"),
    [
        ("short_blind=actual", "no_limit", 2),
        ("odd_chips=first_seat", "no_limit", 47),
        ("odd_scope=total", "no_limit", 311),
        ("short_open_reopens=True", "no_limit", 367),
        ("cap_counts=bets", "fixed", 0),
        ("cap_lift=never", "fixed", 58),
        ("reopen=sum", "fixed", 28),
    ],
)
def test_without_any_one_of_the_policies_a_hand_is_unexplained(
    habit: str, sizing: Sizing, number: int
) -> None:
    chances = Random(f"{sizing}/{number}")
    table = random_table(chances)
    ours = dict(rules(sizing, table.small, table.big, table.ante).without)[habit]
    hand = Lockstep(Rules(ours, ()), table, Pokerkit(sizing, table), KINDS)
    with pytest.raises(Unexplained):
        hand.play(chances, Tally())


def test_the_page_explains_every_kind_and_every_policy() -> None:
    page = PAGE.read_text("utf-8")
    policies = [name for sizing in SIZINGS for name, _ in rules(sizing, 5, 10, 0).without]
    assert [] == [name for name in (*(kind.name for kind in KINDS), *policies) if name not in page]


@pytest.mark.slow
@every_sizing
def test_pokerkit_agrees_over_many_hands(sizing: Sizing) -> None:
    numbers = range(2500, 12500)
    assert len(numbers) == play(sizing, numbers).hands
