"""Values as TOML, on one line each; what is read back is what was written."""

import json
import re
from datetime import date, datetime, time
from decimal import Decimal

_quoted = json.JSONEncoder(ensure_ascii=False).encode
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml(value: object, *, key: bool = False) -> str:
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
            said = str(value)
            return said if "." in said or "E" in said else f"{said}.0"
        case datetime() | date() | time():
            return value.isoformat()
        case list() | tuple():
            return "[" + ", ".join(toml(one) for one in value) + "]"
        case dict():
            pairs = (f"{toml(name, key=True)} = {toml(one)}" for name, one in value.items())
            return "{" + ", ".join(pairs) + "}"
    raise TypeError(f"{value!r} has no place in TOML")
