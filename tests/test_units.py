"""A chip, and what is counted in parts of one."""

import pytest
from msgspec.structs import replace

from analytics.facts import units
from engine.games import named


@pytest.mark.parametrize(
    ("unit", "parts"),
    [
        ("chip", 1),
        ("half chip", 2),
        ("cent", 100),
        ("euro cent", 100),
        ("penny", 100),
        ("hundredth of a chip", 100),
        ("1/1000 chip", 1000),
    ],
)
def test_hands_of_several_units_are_added_up_in_chips(unit: str, parts: int) -> None:
    assert parts == units(replace(named("pokerstars-nl"), unit=unit))
