"""Amounts and moments in a filter: how they are read and written."""

import re
from datetime import UTC, datetime, timedelta
from typing import Literal

from msgspec import Struct

AMOUNT_MAX = 2**53 - 1  # chips, as events count them
_AMOUNT = re.compile(r"(-?)([0-9]{1,16})(?:\.([0-9]{1,2}))?(bb)?")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,3})?(Z|[+-][0-9]{2}:[0-9]{2})"
)
_MILLISECONDS = {"day": 86_400_000, "second": 1_000, "millisecond": 1}
_ZERO = datetime(1970, 1, 1, tzinfo=UTC)


class Amount(Struct, frozen=True):
    """Chips, or hundredths of a big blind."""

    number: int
    blinds: bool = False


class Moment(Struct, frozen=True):
    """A day, a second or a millisecond, by its first one in milliseconds of Unix time."""

    at: int
    lasts: Literal["day", "second", "millisecond"]

    @property
    def end(self) -> int:
        """The first millisecond after it."""
        return self.at + _MILLISECONDS[self.lasts]


def amount(text: str) -> Amount | None:
    """Whole chips, or big blinds with up to two places: `40`, `2.5bb`."""
    found = _AMOUNT.fullmatch(text)
    if found is None:
        return None
    sign, whole, part, blinds = found.groups()
    if part and not blinds:
        return None
    number = int(whole + (part or "").ljust(2, "0")) if blinds else int(whole)
    if number > AMOUNT_MAX:
        return None
    return Amount(-number if sign else number, bool(blinds))


def amount_said(one: Amount) -> str:
    """As it is written, without zeros that say nothing."""
    if not one.blinds:
        return str(one.number)
    whole, part = divmod(abs(one.number), 100)
    places = f".{part:02}".rstrip("0") if part else ""
    return f"{'-' if one.number < 0 else ''}{whole}{places}bb"


def moment(text: str) -> Moment | None:
    """A date, or a time with its zone, as RFC 3339 has them; a date is one of UTC."""
    try:
        if _DAY.fullmatch(text):
            return Moment(_ms(f"{text}T00:00:00+00:00"), "day")
        if found := _TIME.fullmatch(text):
            return Moment(_ms(text.replace("Z", "+00:00")), "millisecond" if found[1] else "second")
    except (ValueError, OverflowError):  # there is no such day
        pass
    return None


def moment_said(one: Moment) -> str:
    """As it is written, in UTC."""
    then = _ZERO + timedelta(milliseconds=one.at)
    if one.lasts == "day":
        return then.date().isoformat()
    places = "seconds" if one.lasts == "second" else "milliseconds"
    return then.isoformat(timespec=places).removesuffix("+00:00") + "Z"


def _ms(text: str) -> int:
    """Milliseconds of Unix time; years have four digits in UTC, too."""
    then = datetime.fromisoformat(text).astimezone(UTC)
    return (then - _ZERO) // timedelta(milliseconds=1)
