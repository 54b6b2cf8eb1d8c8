"""A first look over a whole log: its kind, its game, the unit its results need, its last line.

A log says nothing of its game but a file name in a comment, so what is not said is inferred.
"""

import math
import re
from collections.abc import Iterable
from fractions import Fraction

from msgspec import Struct

from formats.acpc.betting import QUOTED
from formats.acpc.definitions import Definition, defined, known
from formats.told import Refused

_TIME = re.compile(r" # \d+(?:\.\d*)?\s*$")
_GAME = re.compile(r"\bholdem\.(limit|nolimit)\.(\d+)p\b(\S*)")
_OTHER = re.compile(r"\b\w*(?:kuhn|leduc|omaha)\w*\.\S*", re.IGNORECASE)
_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,12})?")
_PARTS_MAX = 60  # a pot between five, between six
_LIMIT_BIG = 10  # the big blind of the public limit games: all that is lost where nobody raises


class Survey(Struct, frozen=True):
    """What the whole file tells; `per` units a chip make every result a whole number."""

    dialect: str
    game: Definition
    per: int
    players: tuple[str, ...]
    header: str
    footer: str
    inferred: tuple[str, ...]
    assumed: tuple[str, ...]


def survey(lines: Iterable[str], game: Definition | None) -> Survey:
    """One pass over the file, keeping only its comments, its first hand and its score."""
    comments, score = list[str](), ""
    first: list[str] | None = None
    timed, amounts, limit = False, False, True
    parts = set[int]()
    for number, line in enumerate(lines, 1):
        if line.startswith(("#", ";")):
            if first is None and len(comments) < 100:
                comments.append(line)
        elif line.startswith("SCORE:"):
            score = line
        elif line.startswith("STATE:"):
            fields = fields_of(line, number)
            timed = timed or _TIME.search(line) is not None
            amounts = amounts or re.search(r"r\d", fields[2]) is not None
            limit = limit and not amounts and _looks_limit(fields)
            first = first or fields
            parts.update(denominator(net) for net in re.findall(r"\.\d+", fields[4]))
    if first is None:
        raise Refused(1, "there is no hand in the file: no line begins with STATE:")
    players = tuple(first[5].split("|"))
    found, unsaid = _game("".join(comments), limit, len(players), game)
    inferred = tuple(one for one in unsaid if one == "game")
    assumed = tuple(one for one in unsaid if one != "game")
    dialect = "deepstack" if timed else "pluribus" if found.players == 6 else "dealer"
    per = math.lcm(2, *parts)
    if per > _PARTS_MAX:
        raise Refused(1, f"results need {per} parts of a chip: no pot is split so often")
    return Survey(dialect, found, per, players, "".join(comments), score, inferred, assumed)


def _looks_limit(fields: list[str]) -> bool:
    """A raise without an amount is of a limit game; without a raise little is lost in it."""
    _, _, betting, _, results, _ = fields
    lost = (int(net[1]) for net in re.finditer(r"-(\d{1,15})", results))
    return "r" in betting or max(lost, default=0) <= _LIMIT_BIG


def fields_of(line: str, number: int) -> list[str]:
    """The six fields of a STATE line, without the time that DeepStack adds."""
    fields = _TIME.sub("", line.rstrip("\n")).split(":")
    if len(fields) == 8:
        raise Refused(number, "this is a freeze-out log (STATE with stacks and blinds): not read")
    if len(fields) != 6:
        raise Refused(number, f"a STATE line has 6 fields, not {len(fields)}")
    return fields


def denominator(fraction: str) -> int:
    """The parts of a chip that this decimal fraction, perhaps rounded, counts."""
    exact = Fraction(fraction)
    digits = len(fraction.partition(".")[2])
    near = exact.limit_denominator(_PARTS_MAX)
    return near.denominator if abs(near - exact) * 10**digits <= 1 else exact.denominator


def in_units(text: str, per: int) -> int:
    """A result in units: a rounded third is a third."""
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"{text[:QUOTED]!r} is no amount of chips")
    exact = Fraction(text)
    near = round(exact * per)
    digits = len(text.partition(".")[2])
    if abs(Fraction(near, per) - exact) * 10**digits > (1 if digits else 0):
        raise ValueError(f"{text} is no whole number of 1/{per} chip")
    return near


def _game(
    comments: str, limit: bool, players: int, game: Definition | None
) -> tuple[Definition, tuple[str, ...]]:
    """The game that is named, or that the first comment names, or that the betting looks like."""
    if game is not None:
        if game.players != players:
            raise Refused(1, f"the game has {game.players} players, the log {players}")
        return game, () if game.stack else ("stacks",)
    if "GAMEDEF" in comments:
        return _game("", limit, players, _embedded(comments))
    named = _GAME.search(comments)
    if named is None and (other := _OTHER.search(comments)):
        raise Refused(1, f"the game is {other[0]}: only Texas hold'em is read")
    limit = limit if named is None else named[1] == "limit"
    try:
        found = known(limit, players)
    except ValueError as wrong:
        raise Refused(1, str(wrong)) from None
    if named and int(named[2]) != players:
        raise Refused(1, f"the game is for {named[2]} players, the hands have {players}")
    if named and players == 2 and "reverse" not in named[3]:
        raise Refused(1, f"{named[0]} has other blinds than the public logs: name its definition")
    stacks = () if found.stack else ("stacks",)
    return found, stacks if named else ("game", "blinds", "stacks")


def _embedded(comments: str) -> Definition:
    """The definition that our own logs carry in their comments."""
    lines = [line.lstrip("#; ") for line in comments.splitlines()]
    begun = next((at for at, line in enumerate(lines) if line.startswith("GAMEDEF")), 0)
    end = next((at for at, line in enumerate(lines) if line.startswith("END GAMEDEF")), 0)
    try:
        return defined("\n".join(lines[begun : end + 1]))
    except ValueError as wrong:
        raise Refused(begun + 1, str(wrong)) from None
