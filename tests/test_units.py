"""A chip, and what is counted in parts of one."""

import pytest

from engine.units import per_chip


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
    assert parts == per_chip(unit)
