"""Parse when a hand was played into RFC 3339, with an offset only where a zone is named.

Nothing is guessed. Without a zone that is known it is the time of the site's own clock; without a
time of day it is a day; where nothing is said, or nonsense, there is no time, and the hand is read
all the same.
"""

import re
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

_ZONES = {  # as sites write them: the clocks of these places, in summer and in winter
    "UTC": "Etc/UTC",
    "GMT": "Etc/GMT",
    "ET": "America/New_York",
    "WET": "Europe/Lisbon",
    "CET": "Europe/Paris",
    "EET": "Europe/Helsinki",
}
_LOCAL = re.compile(
    r"\b([0-9]{4})/([0-9]{1,2})/([0-9]{1,2})"
    r"(?: (?:- )?([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?: \(?([A-Z]{2,5})\b)?)?"
)

_UTC = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})"
    r"(?:[T ]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?(?:Z|[+-]00:00)?)?"
)


def timestamp_in(text: str) -> str:
    """The first time in a text whose zone is known, `2012/03/04 5:06:07 ET`, else the first."""
    moments = [_timestamp_of_match(match, match[7] or "") for match in _LOCAL.finditer(text)]
    return next(filter(has_offset, moments), moments[0] if moments else "")


def timestamp(day: date | None, at: time | None = None, zone: object = "") -> str:
    """A day, the time of it, and the offset of a zone known by its name; a time that its clocks
    show twice, or never, is left without."""
    if day is None or at is None:
        return "" if day is None else day.isoformat()
    local = datetime.combine(day, at.replace(microsecond=0, tzinfo=None))
    # What a site calls a zone, or its name in the database of zones (`Europe/Rome`); what machines
    # call their own zone is nobody's elsewhere.
    name, clock = _ZONES.get(zone, zone) if isinstance(zone, str) else "", None
    if "/" in name:
        with suppress(KeyError, OSError, ValueError):
            clock = ZoneInfo(name)
    offsets = {local.replace(tzinfo=clock, fold=fold).utcoffset() for fold in (0, 1)}
    offset = offsets.pop()
    if clock is None or offsets or offset is None or offset % timedelta(minutes=1):
        return local.isoformat()
    ahead = offset >= timedelta(0)
    hours, minutes = divmod(abs(offset) // timedelta(minutes=1), 60)
    return (
        f"{local.isoformat()}{'-+'[ahead]}{hours:02}:{minutes:02}"
        if offset
        else f"{local.isoformat()}Z"
    )


def day_of(year: object, month: object, day: object) -> date | None:
    """The day of three numbers, if there is one."""
    try:
        return date(*(int(part) for part in (year, month, day) if isinstance(part, int | str)))
    except (OverflowError, TypeError, ValueError):
        return None


def time_of(hour: str, minute: str, second: str) -> time | None:
    """The time of day of three numbers, if there is one."""
    try:
        return time(int(hour), int(minute), int(second))
    except ValueError:
        return None


def utc_timestamp(written: object) -> str:
    """The moment in a field, `2019-08-24T14:15:22Z`; a time of another zone is none."""
    match = _UTC.fullmatch(written) if isinstance(written, str) else None
    return _timestamp_of_match(match, "UTC") if match else ""


def has_offset(text: str) -> bool:
    """Whether a timestamp has an offset, and is not only what a clock showed."""
    return text.endswith("Z") or (text[19:20] in ("+", "-") and len(text) > 19)


def utc_of_seconds(seconds: int) -> str:
    """The timestamp of seconds since 1970."""
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None).isoformat() + "Z"


def _timestamp_of_match(parsed: re.Match[str], zone: str) -> str:
    """Year, month, day, and the time of it if there is one."""
    at = time_of(*parsed.group(4, 5, 6)) if parsed[4] else None
    return timestamp(day_of(*parsed.group(1, 2, 3)), at, zone) if at or not parsed[4] else ""
