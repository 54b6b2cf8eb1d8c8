"""The unit in which every amount of a PHH file is a whole number, and who gets the odd ones."""

import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from msgspec import Struct

from engine.policies import OddChips
from formats.source import Refused

_DIGITS_MAX = 6
_CHIPS_MAX = 2**53 - 1
_PLAIN = _CHIPS_MAX // 10**_DIGITS_MAX  # chips: few enough in whatever unit

_FIELD = re.compile(
    r"^\s*(antes|blinds_or_straddles|starting_stacks|finishing_stacks|small_bet|big_bet|min_bet)"
    r"\s*=\s*(\[[^\]]*\]|[^\n]*)",
    re.MULTILINE,
)
_RAISED = re.compile(r"cbr\s+\d*(\.\d+)")
_POINT = re.compile(r"(?<=\d)\.\d+")


class MalformedField(ValueError):
    """A value that the specification does not allow, `near` this text of its hand."""

    def __init__(self, reason: str, near: str = "") -> None:
        super().__init__(reason)
        self.near = near


class Money(Struct, frozen=True):
    """So many units `per` chip, what one is called, and how an odd one is split."""

    unit: str
    per: int
    odd_chips: OddChips = "clockwise_each"

    def units(self, value: Any, what: str) -> int:
        """An amount in units; the whole numbers are those of the unit, never rounded."""
        if type(value) is int and -_PLAIN < value < _PLAIN:
            return value * self.per
        if isinstance(value, bool) or not isinstance(value, int | Decimal):
            raise MalformedField(f"{what} is {value!r}: a number is needed")
        if isinstance(value, Decimal):
            few = value.is_finite() and len(value.as_tuple().digits) <= 25  # exact in 28
            if not few or abs(value.adjusted()) > 15:
                raise MalformedField(f"{what} is {str(value)[:40]}: no number of chips")
        exact = value * self.per
        units = int(exact)
        if units != exact:
            raise MalformedField(f"{what} is {value}: no whole number of {self.unit}s")
        if abs(units) > _CHIPS_MAX:
            raise MalformedField(f"{what} is more than anybody has chips")
        return units


def money(texts: Iterable[tuple[int, str]]) -> Money:
    """The unit that a whole file needs; half chips that only results show are shares of a pot."""
    bet, won = set[str](), set[str]()
    for line, text in texts:
        if "." not in text:
            continue
        fields = _FIELD.findall(text)
        bet.update(_RAISED.findall(text))
        for name, value in fields:
            (won if name == "finishing_stacks" else bet).update(_POINT.findall(value))
        if max(map(len, (*bet, *won)), default=0) > 40:
            raise Refused(line, "an amount has more decimals than any chip")
    bet = {digits for said in bet if (digits := said.strip(".").rstrip("0"))}
    won = {digits for said in won if (digits := said.strip(".").rstrip("0"))}
    unit, per = _unit(bet | won)
    return Money(unit, per, "fractional" if won and not bet else "clockwise_each")


def _unit(fractions: set[str]) -> tuple[str, int]:
    digits = max(map(len, fractions), default=0)
    if digits > _DIGITS_MAX:
        raise Refused(1, f"amounts have {digits} decimals: no chip is so small")
    if not fractions:
        return "chip", 1
    if fractions == {"5"}:
        return "half chip", 2
    if digits <= 2:
        return "cent", 100
    return f"1/{10**digits} chip", 10**digits
