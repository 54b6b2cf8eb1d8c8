"""How the rounds of a log follow each other, and what may stand after the last one."""

import re
from collections.abc import Iterable

from formats.mit.grammar import Names, instead
from formats.source import Refused


def chained(
    pattern: re.Pattern[str],
    names: Names,
    line: str,
    number: int,
    expected: int,
    banks: list[int],
) -> None:
    """The dealer of the hand first, then the other, each with what he has won so far."""
    found = pattern.fullmatch(line)
    if found is None:
        if why := instead(line):
            raise Refused(number, why)
        raise Refused(number, f"round #{expected} or the final line is due: {line[:60]!r}")
    if found[1] and int(found[1]) != expected:
        raise Refused(number, f"round #{found[1]} stands where round #{expected} is due")
    for seat, at in zip((1 - expected % 2, expected % 2), (2, 4), strict=True):
        who = names.seat(found[at])
        if who is not None and who != seat:
            raise Refused(number, f"{names.both[seat]} is due where {found[at]} is named")
        if int(found[at + 1]) != banks[seat]:
            raise Refused(
                number,
                f"{found[at]} has {banks[seat]} by the rounds before, not {found[at + 1]}: "
                "hands are missing or from another match",
            )


def footer(names: Names, numbered: Iterable[tuple[int, str]]) -> str:
    """All that comes after the final line: how much a street was worth, and the last line's end."""
    rest = list(numbered)
    for place, (number, line) in enumerate(rest):
        last = place == len(rest) - 1
        if not names.footer.fullmatch(line) and not (last and not line):
            raise Refused(number, f"this may not follow the final line: {line[:60]!r}")
        if place > 12:
            raise Refused(number, "the footer has too many lines")
    return "".join(f"\n{line}" for _, line in rest)
