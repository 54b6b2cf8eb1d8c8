"""Random hands in lock-step with OpenSpiel: the ACPC's rules, its menus, and payoffs in fractions.

The rulesets are those by which the ACPC's own logs are audited; docs/differences.md tells what
else differs.
"""

from pathlib import Path
from random import Random

import pytest

from engine.policies import Sizing
from tests.differential.lockstep import Lockstep, Rules, Tally, Unexplained
from tests.differential.tables import random_table

pytest.importorskip("pyspiel", reason="OpenSpiel, a development dependency, is not installed here")

from tests.differential.openspiel_peer import KINDS, SCALE, OpenSpiel, rules, seatable
from tests.profiles import sized

SIZINGS: tuple[Sizing, ...] = ("no_limit", "fixed")

PAGE = Path(__file__).parents[2] / "docs" / "differences.md"


def play(sizing: Sizing, numbers: range) -> Tally:
    """So many hands, each repeatable from its number; a failure prints its hand."""
    tally = Tally()
    for number in numbers:
        seed = f"{sizing}/{number}"
        chances = Random(seed)
        table = seatable(sizing, random_table(chances))
        ours = rules(sizing, table.small, table.big)
        try:
            peer = OpenSpiel(sizing, table)
            Lockstep(ours, table, peer, KINDS, SCALE).play(chances, tally)
        except Exception as wrong:
            wrong.add_note(f"seed {seed}")
            raise
    print(f"\nOpenSpiel, {sizing}, seeds {numbers.start}..{numbers.stop - 1}: {tally}")
    return tally


@pytest.mark.parametrize(
    ("sizing", "hands"), [("no_limit", sized(200, 2500, 4000)), ("fixed", sized(50, 700, 1000))]
)
def test_openspiel_offers_the_same_and_pays_the_same_to_the_part_of_a_chip(
    sizing: Sizing, hands: int
) -> None:
    assert hands == play(sizing, range(hands)).hands


@pytest.mark.parametrize(
    ("kind", "number"),
    [
        ("a lone blind is asked to check", 501),
        ("raised against a seat that cannot cover", 2),
    ],
)
def test_each_known_difference_has_a_hand_that_shows_it(kind: str, number: int) -> None:
    tally = play("no_limit", range(number, number + 1))
    assert kind in tally.kinds


@pytest.mark.parametrize(
    ("habit", "sizing", "number"),
    [
        ("reopen=always", "no_limit", 13),
        ("min_raise_after_short=last_full_total", "no_limit", 11),
        ("raise_cap=3", "fixed", 0),
        ("cap_lift=never", "fixed", 0),
    ],
)
def test_without_any_one_of_the_policies_a_hand_is_unexplained(
    habit: str, sizing: Sizing, number: int
) -> None:
    chances = Random(f"{sizing}/{number}")
    table = seatable(sizing, random_table(chances))
    ours = dict(rules(sizing, table.small, table.big).without)[habit]
    hand = Lockstep(Rules(ours, ()), table, OpenSpiel(sizing, table), KINDS, SCALE)
    with pytest.raises(Unexplained):
        hand.play(chances, Tally())


def test_the_page_explains_every_kind_and_every_policy() -> None:
    page = PAGE.read_text("utf-8")
    policies = [name for sizing in SIZINGS for name, _ in rules(sizing, 5, 10).without]
    assert [] == [name for name in (*(kind.name for kind in KINDS), *policies) if name not in page]


@pytest.mark.slow
@pytest.mark.parametrize("sizing", SIZINGS)
def test_openspiel_agrees_over_many_hands(sizing: Sizing) -> None:
    numbers = range(4000, 14000)
    assert len(numbers) == play(sizing, numbers).hands
