"""The plain part of TOML, read as what it also is: JSON, but for the quotes.

Nearly every hand is written in it, and it is read many times as fast. Whatever it does not cover,
right or wrong, is left to the real parser; what it covers, it reads as that would.
"""

import re
from datetime import time
from decimal import Decimal
from typing import Any

import msgspec

_UNLIKE = ('"', "\\", "#", "{", "}", "null")
_LARGE = re.compile(r"[0-9]{16}")
_TIME = re.compile(r"[0-9]{2}:[0-9]{2}:[0-9]{2}")
_FIELD = re.compile(r"([A-Za-z0-9_-]+) = (.+)")
_decoder = msgspec.json.Decoder(float_hook=Decimal)


def quick(text: str) -> dict[str, Any] | None:
    """The fields of lines `name = value`, or of the one table that begins with `[name]`; None
    where anything is out of the ordinary.

    Without a double quote, a backslash or a comment in the text, strings between single quotes
    are JSON's as soon as the quotes are. Objects and null look otherwise in TOML or are not there,
    and numbers may be larger in it. A time of day is TOML's alone.
    """
    if any(mark in text for mark in _UNLIKE) or _LARGE.search(text):
        return None
    fields: dict[str, Any] = {}
    found = fields
    for line in text.split("\n"):
        if not line:
            continue
        field = _FIELD.fullmatch(line)
        if field is None:
            if found is not fields or fields or not re.fullmatch(r"\[[A-Za-z0-9_-]+\]", line):
                return None
            fields = {}
            found = {line[1:-1]: fields}
            continue
        name, value = field.groups()
        if name in fields or not value.isprintable():
            return None
        try:
            fields[name] = _value(value)
        except (ValueError, RecursionError):
            return None
    return found


def _value(text: str) -> Any:
    if _TIME.fullmatch(text):
        return time.fromisoformat(text)
    return _decoder.decode(text.replace("'", '"'))
