"""What a ruleset counts money in: chips, half chips, cents; and which money that is."""

import re

_WHOLE = {  # of each unit how many make one of what
    "half chip": (2, "chip"),
    "hundredth of a chip": (100, "chip"),
    "cent": (100, "dollar"),
    "euro cent": (100, "euro"),
    "penny": (100, "pound"),
}
_PART = re.compile(r"1/([1-9]\d{0,6}) chip")


def per_chip(unit: str) -> int:
    """How many of this unit make a chip, or what stands for one: a dollar, a euro, a pound."""
    named = _PART.fullmatch(unit)
    return int(named[1]) if named else _WHOLE.get(unit, (1, unit))[0]


def counted_in(money: str) -> tuple[list[str], str]:
    """The units of a money: their names, and a pattern of those that have no name of their own."""
    named = [unit for unit, (_, whole) in _WHOLE.items() if whole == money]
    return [money, *named], _PART.pattern if money == "chip" else ""


def money(unit: str) -> str:
    """What is played for: amounts of one money add up, those of two have no sum."""
    return "chip" if _PART.fullmatch(unit) else _WHOLE.get(unit, (1, unit))[1]
