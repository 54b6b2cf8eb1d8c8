"""What a ruleset counts money in, beside a chip: half chips, cents, hundredths."""

import re

_PER_CHIP = {
    "half chip": 2,
    **dict.fromkeys(("cent", "euro cent", "penny", "hundredth of a chip"), 100),
}


def per_chip(unit: str) -> int:
    """How many of this unit make a chip, or what stands for one: a dollar, a euro, a pound."""
    named = re.fullmatch(r"1/([1-9]\d{0,6}) chip", unit)
    return int(named[1]) if named else _PER_CHIP.get(unit, 1)
