"""Numbers as people read them: counts of chips, money in the units of its hand, shares."""

import re

from jinja2 import pass_context
from jinja2.runtime import Context

from engine.policies import counted_in, per_chip
from engine.policies import money as money_of

SIGNS = {"dollar": "$", "euro": "\N{EURO SIGN}", "pound": "\N{POUND SIGN}"}
THIN = "\N{NARROW NO-BREAK SPACE}"
_MINUS = "\N{MINUS SIGN}"


def chips(amount: int | None) -> str:
    """12 345, its thousands apart."""
    if amount is None:
        return "?"
    text = f"{abs(amount):,}".replace(",", THIN)
    return f"{_MINUS}{text}" if amount < 0 else text


def money(net: int | None) -> str:
    """What was won or lost, with its sign: +1 234, −19, 0."""
    return f"+{chips(net)}" if net is not None and net > 0 else chips(net)


def amount(number: int | None, unit: str | None = None, *, signed: bool = False) -> str:
    """So many of a unit as their money: 125 cents are $1.25, 3 half chips are 1.5; of chips, or of
    a unit that nobody knows, the number itself."""
    parts, sign = per_chip(unit or "chip"), SIGNS.get(money_of(unit or "chip"), "")
    if number is None or (parts == 1 and not sign):
        return money(number) if signed else chips(number)
    whole, rest = divmod(abs(number), parts)
    places = f"{rest / parts:.2f}"[1:] if sign else f"{rest / parts:g}"[1:]
    before = _MINUS if number < 0 else "+" if signed and number > 0 else ""
    return f"{before}{sign}{chips(whole)}{places if rest or (sign and parts > 1) else ''}"


def total(net: float, of: str | None, *, signed: bool = True) -> str:
    """So much of a money in all: +$5.32; of chips whole ones, +1 234."""
    smallest = counted_in(of)[0][-1] if of in SIGNS else "chip"
    return amount(round(net * per_chip(smallest)), smallest, signed=signed)


def tick(number: float) -> str:
    """What stands at an axis: 12.5, 1 000."""
    whole = round(number)
    return chips(whole) if whole == number else decimal(number, 2).rstrip("0")


@pass_context
def amount_here(context: Context, number: int | None, *, signed: bool = False) -> str:
    """The same of the hand that a page is about, whose unit is the page's `unit`."""
    return amount(number, context.get("unit"), signed=signed)


def decimal(number: float, digits: int = 2) -> str:
    """46.21, −1 000.00."""
    return f"{number:,.{digits}f}".replace(",", THIN).replace("-", _MINUS)


def rate(net: float, digits: int = 2) -> str:
    """What is won or lost in the mean, with its sign: +46.21, −1 000.00."""
    text = decimal(abs(net), digits)
    return text if not round(net, digits) else f"{_MINUS if net < 0 else '+'}{text}"


def minus(numbers: str) -> str:
    """Numbers as a terminal has them, with the minus sign and the thousands of pages; a hyphen in a
    name stays."""
    return re.sub(r"(?<=\d),(?=\d{3})", THIN, re.sub(r"(?<!\S)-(?=\d)", _MINUS, numbers))


def headings(head: str) -> list[str]:
    """The parts of a terminal's heading that a page does not say elsewhere: not who looks."""
    return [one for one in head.split("   ") if one and not one.startswith("viewpoint: ")]


def percent(share: float, digits: int = 1) -> str:
    """61.3 %"""
    return f"{100 * share:.{digits}f}{THIN}%"


def many(count: int, one: str, more: str | None = None) -> str:
    """1 hand, 412 hands."""
    return f"{chips(count)} {one if count == 1 else more or one + 's'}"
