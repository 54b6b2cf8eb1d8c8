"""Check the fields of a PHH hand as its specification asks, with the amounts in units.

Values are spelled as TOML on one line each; what is read back is what was written.

`ChipUnit` is the unit in which every amount of a file is a whole number, and who gets the odd ones.
"""

import json
import re
from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import msgspec
from msgspec import Struct

from engine.policies import OddChips
from formats.source import Refused
from formats.timestamps import day_of, timestamp

Document = dict[str, Any]
FIELDS_OF_EVENTS = {  # what the events of a hand hold, so that no note must keep it
    "variant",
    "antes",
    "blinds_or_straddles",
    "small_bet",
    "big_bet",
    "min_bet",
    "starting_stacks",
    "actions",
    "ante_trimming_status",
    "players",
    "finishing_stacks",
}
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


class ChipUnit(Struct, frozen=True):
    """So many units `per` chip, what one is called, and how an odd one is split."""

    unit: str
    per: int
    odd_chips: OddChips = "clockwise_each"

    def units(self, value: Any, name: str) -> int:
        """An amount in units; the whole numbers are those of the unit, never rounded."""
        if type(value) is int and -_PLAIN < value < _PLAIN:
            return value * self.per
        if isinstance(value, bool) or not isinstance(value, int | Decimal):
            raise MalformedField(f"{name} is {value!r}: a number is needed")
        if isinstance(value, Decimal):
            few = value.is_finite() and len(value.as_tuple().digits) <= 25  # exact in 28
            if not few or abs(value.adjusted()) > 15:
                raise MalformedField(f"{name} is {str(value)[:40]}: no number of chips")
        exact = value * self.per
        units = int(exact)
        if units != exact:
            raise MalformedField(f"{name} is {value}: no whole number of {self.unit}s")
        if abs(units) > _CHIPS_MAX:
            raise MalformedField(f"{name} is more than anybody has chips")
        return units


def chip_unit(texts: Iterable[tuple[int, str]]) -> ChipUnit:
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
    bet = {digits for number in bet if (digits := number.strip(".").rstrip("0"))}
    won = {digits for number in won if (digits := number.strip(".").rstrip("0"))}
    decimals = max(map(len, bet | won), default=0)
    if decimals > _DIGITS_MAX:
        raise Refused(1, f"amounts have {decimals} decimals: no chip is so small")
    unit, per = f"1/{10**decimals} chip", 10**decimals
    if not decimals:
        unit = "chip"
    elif bet | won == {"5"}:
        unit, per = "half chip", 2
    elif decimals <= 2:
        unit, per = "cent", 100
    return ChipUnit(unit, per, "fractional" if won and not bet else "clockwise_each")


_quoted = json.JSONEncoder(ensure_ascii=False).encode
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_PLACE = ("venue", "event", "address", "city", "region", "country", "day", "month", "year")
DATES = {"year", "month", "day", "time", "time_zone", "time_zone_abbreviation"}
_canonical = msgspec.json.Encoder(order="sorted").encode


def known_amounts(fields: Document, name: str, seats: int, money: ChipUnit) -> tuple[int, ...]:
    values = amounts(fields, name, money, seats)
    if values is None:
        raise MalformedField(f"{name} holds an unknown amount (inf)")
    return values


def amounts(
    fields: Document, name: str, money: ChipUnit, seats: int | None
) -> tuple[int, ...] | None:
    """The amounts of a field, one a player; an unknown stack is more than the hand's bets."""
    values = fields.get(name)
    if not isinstance(values, list):
        raise MalformedField(f"the field {name} is {'missing' if values is None else 'no array'}")
    if seats is not None and len(values) != seats:
        raise MalformedField(f"{name} has {len(values)} amounts for {seats} players")
    if not any(map(is_unknown, values)):
        return tuple([money.units(value, name) for value in values])
    if name != "starting_stacks":
        return None
    # More than anybody can have put in: every raise of the hand, ante and blinds together.
    enough = 1
    for text in text_list(fields, "actions"):
        words = text.partition("#")[0].split()
        if len(words) == 3 and words[1] == "cbr" and words[2].replace(".", "", 1).isdecimal():
            enough += money.units(Decimal(words[2]), "a raise")
    for row_name in ("antes", "blinds_or_straddles"):
        enough += sum(abs(money.units(value, row_name)) for value in fields.get(row_name) or ())
    known = [money.units(v, name) for v in values if not is_unknown(v)]
    enough = max(enough, *known, 1)
    return tuple(enough if is_unknown(v) else money.units(v, name) for v in values)


def is_unknown(value: object) -> bool:
    return isinstance(value, Decimal) and value.is_infinite() and value > 0


def text_list(fields: Document, name: str) -> list[str]:
    values = fields.get(name)
    if not isinstance(values, list) or not set(map(type, values)) <= {str}:
        raise MalformedField(
            f"the field {name} is {'missing' if values is None else 'no array of strings'}"
        )
    return values


def boolean(fields: Document, name: str) -> bool:
    value = fields.get(name, False)
    if not isinstance(value, bool):
        raise MalformedField(f"{name} is {value!r}: true or false is needed")
    return value


def player_names(fields: Document, seats: int) -> tuple[str, ...] | None:
    if "players" not in fields:
        return None
    names = text_list(fields, "players")
    if len(names) != seats:
        raise MalformedField(f"players has {len(names)} names for {seats} players")
    return tuple(names)


def hand_identity(fields: Document) -> str:
    """A hand number repeats across tables, so the table's name goes before it."""
    parts = [str(fields[name]) for name in ("table", "hand") if name in fields]
    return "/".join(parts)


def played_at(fields: Document) -> str:
    """When the hand was played, as far as these fields say it together."""
    day = day_of(*(fields.get(name) for name in ("year", "month", "day")))
    at = fields.get("time")
    zone = fields.get("time_zone") or fields.get("time_zone_abbreviation")
    return timestamp(day, at if isinstance(at, time) else None, zone)


def date_fields(played: str) -> Document:
    """The fields of a moment, none of one that does not exist; PHH has no offsets, so a time with
    an offset that no zone of whole hours has is written in UTC."""
    try:
        at = datetime.fromisoformat(played)
        offset = at.utcoffset()
        hours = None if offset is None else offset / timedelta(hours=1)
        if hours is not None and (hours % 1 or not -12 <= hours <= 14):
            at, hours = at.astimezone(UTC), 0
    except (OverflowError, ValueError):
        return {}
    fields: Document = {"year": at.year, "month": at.month, "day": at.day}
    if "T" in played:
        fields["time"] = at.time()
    if hours is not None:
        fields["time_zone"] = f"Etc/GMT{-hours:+.0f}" if hours else "Etc/UTC"
    return fields


def numbering_place(fields: Document) -> str:
    """The place and day within which a hand's number is unique; nothing if it says none."""
    if not {"hand", "venue"} <= fields.keys():
        return ""
    return "\n".join(f"{name} {fields[name]}" for name in _PLACE if name in fields)


def canonical_text(fields: Document, number: int) -> str:
    """The fields in the order of their names, and the place of a hand without a number."""
    try:
        text = _canonical(fields).decode()
    except OverflowError:  # a number that no amount is
        text = repr(sorted(fields.items()))
    return text if "hand" in fields else f"{text}\n{number}"


def least_bets(fields: Document, money: ChipUnit) -> tuple[int, int]:
    """The least bet of the first two and of the last two rounds."""
    names = ("small_bet", "big_bet") if fields["variant"] == "FT" else ("min_bet", "min_bet")
    for name in names:
        if name not in fields:
            raise MalformedField(f"the field {name} is missing")
    low, high = (money.units(fields[name], name) for name in names)
    if not 0 < low <= high:
        raise MalformedField(f"{' and '.join(dict.fromkeys(names))} must be more than 0, and rise")
    return low, high


def stack_changes(
    fields: Document, stacks: tuple[int, ...], money: ChipUnit
) -> tuple[int, ...] | None:
    """The change of each stack; `winnings` is no such witness and never read."""
    values = fields.get("finishing_stacks")
    if values is None or (isinstance(values, list) and any(map(is_unknown, values))):
        return None
    if any(map(is_unknown, fields["starting_stacks"])):
        return None
    finishing = known_amounts(fields, "finishing_stacks", len(stacks), money)
    if min(finishing) < 0:
        raise MalformedField("finishing_stacks must not be less than 0")
    return tuple(after - before for before, after in zip(stacks, finishing, strict=True))


def toml_value(value: object, *, key: bool = False) -> str:
    """A value, or the key of one."""
    match value:
        case str():
            return (
                value
                if key and _BARE.fullmatch(value)
                else _quoted(value).replace("\x7f", "\\u007f")
            )
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case Decimal():
            # A float with a point or an exponent, so that it does not turn into an integer.
            if value.is_nan():
                return "nan"
            if value.is_infinite():
                return "inf" if value > 0 else "-inf"
            text = str(value)
            return text if "." in text or "E" in text else f"{text}.0"
        case datetime() | date() | time():
            return value.isoformat()
        case list() | tuple():
            return "[" + ", ".join(map(toml_value, value)) + "]"
        case dict():
            pairs = (
                f"{toml_value(name, key=True)} = {toml_value(member)}"
                for name, member in value.items()
            )
            return "{" + ", ".join(pairs) + "}"
    raise TypeError(f"{value!r} has no place in TOML")
