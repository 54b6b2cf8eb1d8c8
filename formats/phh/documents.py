"""Parse PHH files as TOML tables, one a hand, and write hands as such.

A table is given with the line where it begins.

A `.phhs` file may be of any length, so it is cut at the headers of its tables before it is parsed.
A line inside an array or a string may look like a header; what does not parse alone is therefore
tried again together with what follows.

Nearly every hand is written in a plain part of TOML, which is JSON but for the quotes, and is read
as that many times as fast (`quick`). Whatever it does not cover,
right or wrong, is left to the real parser; what it covers, it reads as that would.

Of a hand that is written every event is said that the format has words for, the rest of it in
fields of our own. Positions are counted from the left of the button, and between two players forced
bets are written the other way round. A hand that was all-in early shows before the board goes on.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator
from datetime import time
from decimal import Decimal
from typing import Any

import msgspec

from engine.game import Game, fingerprint
from engine.policies import per_chip
from engine.seats import clockwise
from engine.steps import Blinds, Posts
from events.cards import UNKNOWN
from events.evolve import replay
from events.match import SourceNoted
from events.types import (
    Bet,
    BlindPosted,
    BoardDealt,
    Called,
    Checked,
    Events,
    Folded,
    HandStarted,
    HoleDealt,
    Mucked,
    PotSplit,
    Raised,
    RakeTaken,
    Shown,
    UncalledReturned,
)
from formats.phh.fields import DATES, FIELDS_OF_EVENTS, Document, date_fields, toml_value
from formats.site_stakes import Inexpressible, bet_sizes, check_holdem
from formats.source import Refused

_UNLIKE = ('"', "\\", "#", "{", "}", "null")
_LARGE = re.compile(r"[0-9]{16}")
_TIME = re.compile(r"[0-9]{2}:[0-9]{2}:[0-9]{2}")
_FIELD = re.compile(r"([A-Za-z0-9_-]+) = (.+)")
_decoder = msgspec.json.Decoder(float_hook=Decimal)


def parse_simple(text: str) -> dict[str, Any] | None:
    """The fields of lines `name = value`, or of the one table that begins with `[name]`; None
    where anything is out of the ordinary.

    Without a double quote, a backslash or a comment in the text, strings between single quotes
    are JSON's as soon as the quotes are. Objects and null look otherwise in TOML or are not there,
    and numbers may be larger in it. A time of day is TOML's alone.
    """
    if any(mark in text for mark in _UNLIKE) or _LARGE.search(text):
        return None
    if not text.replace("\n", "").isprintable():
        return None
    fields: dict[str, Any] = {}
    document = fields
    for line in text.replace("'", '"').split("\n"):
        if not line:
            continue
        field = _FIELD.fullmatch(line)
        if field is None:
            if document is not fields or fields or not re.fullmatch(r"\[[A-Za-z0-9_-]+\]", line):
                return None
            fields = {}
            document = {line[1:-1]: fields}
            continue
        name, value = field.groups()
        if name in fields:
            return None
        try:
            if value[2:3] == ":" and _TIME.fullmatch(value):
                fields[name] = time.fromisoformat(value)
            else:
                fields[name] = _decoder.decode(value)
        except (ValueError, RecursionError):
            return None
    return document


_HEADER = re.compile(r"\s*\[\s*(\"[^\"]*\"|'[^']*'|[\w-]+)\s*\]\s*(#.*)?$")
_NUMBER = re.compile(r"0|[1-9][0-9]{0,17}")
_WHERE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")
_DAMAGE = re.compile(r"^(<{7} |>{7} |\|{7} |={7}$)|\d[\d_]{4000}", re.MULTILINE)
_MERGED = "a git merge marker: two files are mixed in this one"
_LONG_NUMBER = "a number of more than 4000 digits"
_TOGETHER = 8  # pieces; a wrong hand must not pull in a whole file


class TableKeys:
    """The keys of the tables read so far: of a number, as nearly all are, one bit is kept."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self._words = set[str]()

    def add(self, key: str) -> bool:
        """Add a key; whether it is new."""
        if not _NUMBER.fullmatch(key):
            known = key in self._words
            self._words.add(key)
            return not known
        place, bit = divmod(int(key), 1024)
        before = self._numbers.get(place, 0)
        self._numbers[place] = before | 1 << bit
        return not before >> bit & 1


def is_many(lines: Iterable[str]) -> bool:
    """Whether the file holds tables of hands, not one hand: a header stands before any field."""
    for line in lines:
        text = line.strip()
        if text and not text.startswith(("#", "_")):  # what begins with a line is its writer's own
            return is_header(line)
    return False


def is_header(line: str) -> bool:
    """Whether a table of fields begins with this line."""
    return _HEADER.match(line) is not None


def table_texts(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """The text cut before each header of a table, with the number of its first line."""
    begun, kept = 1, list[str]()
    for number, line in enumerate(lines, 1):
        if kept and not line[0].isalnum() and _HEADER.match(line):
            yield begun, "".join(kept)
            begun, kept = number, []
        kept.append(line)
    if kept:
        yield begun, "".join(kept)


def documents(lines: Iterable[str], many: bool) -> Iterator[tuple[int, Document]]:
    """Every hand of the file as a table of fields."""
    if not many:
        yield 1, parse_document(1, "".join(lines))
        return
    keys = TableKeys()
    for line, tables in _tables(lines):
        for key, table in tables.items():
            if key.startswith("_"):
                continue
            if not isinstance(table, dict):
                raise Refused(line, f"{key} is a field: a file of many hands holds only tables")
            if not keys.add(key):
                raise Refused(line, f"the hand [{key[:60]}] stands there twice")
            yield line, table


def _tables(lines: Iterable[str]) -> Iterator[tuple[int, Document]]:
    begun, text, wrong, together = 0, "", None, 0
    for line, piece in table_texts(lines):
        begun, text, together = begun or line, text + piece, together + 1
        try:
            tables = parse_document(begun, text)
        except Refused as refused:
            wrong = wrong or refused
            if together == _TOGETHER:
                raise wrong from None
            continue
        yield begun, tables
        begun, text, wrong, together = 0, "", None, 0
    if wrong is not None:
        raise wrong


def parse_document(line: int, text: str) -> Document:
    """The fields of a text that begins at this line; numbers with a point as decimals."""
    if (plain := parse_simple(text)) is not None:
        return plain
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except RecursionError:
        raise Refused(line, "this is no TOML that anybody wrote: it nests too deep") from None
    except (ValueError, ArithmeticError) as wrong:
        if damage := _DAMAGE.search(text):
            at = text.count("\n", 0, damage.start())
            raise Refused(line + at, _MERGED if damage[1] else _LONG_NUMBER) from None
        why = str(wrong)
        where = _WHERE.search(why)
        at = text.count("\n") if where and where[1] is None else int(where[1]) - 1 if where else 0
        reason = why[: where.start()] if where else why
        raise Refused(line + at, f"this is not TOML: {reason[:1].lower() + reason[1:]}") from None


# Hands of ours.

Hands = Iterable[tuple[Game, Events, SourceNoted | None]]

_CHOICES = (Folded, Checked, Called, Bet, Raised)


def write(
    game: Game, record: Events, note: SourceNoted | None = None, view: str | None = None
) -> str:
    """One hand: the text of a `.phh` file; `view` is kept in it, if somebody says whose it is."""
    check_holdem(game, record, "PHH")
    start = record[0]
    assert isinstance(start, HandStarted)
    hand = replay(record)
    order = clockwise(replay((start,)), start.button)
    low, high = bet_sizes(game, "PHH")
    antes, blinds, trimmed = _forced(game, record, order)
    fields: dict[str, Any] = {
        "variant": "FT" if game.sizing == "fixed" else "NT",
        "ante_trimming_status": trimmed,
        "antes": _amounts(game, antes),
        "blinds_or_straddles": _amounts(game, blinds),
    }
    if game.sizing == "fixed":
        fields |= {"small_bet": _amount(game, low), "big_bet": _amount(game, high)}
    elif low == high:
        fields["min_bet"] = _amount(game, low)
    else:
        raise Inexpressible("PHH knows one smallest bet where there is no limit")
    actions = _actions(game, record, order)
    if note is not None and note.format == "phh" and note.footer:
        remarks = parse_document(1, f"remarks = {note.footer}")["remarks"]
        if len(remarks) == len(actions):  # the source's commentary again
            pairs = zip(actions, remarks, strict=True)
            actions = [f"{action} # {remark}" if remark else action for action, remark in pairs]
    fields |= {
        "starting_stacks": _amounts(game, (start.stacks[seat] for seat in order)),
        "actions": actions,
        "hand": start.hand,
        "players": [start.players[seat] for seat in order],
        "finishing_stacks": _amounts(game, (hand.stacks[seat] for seat in order)),
    }
    kept = parse_document(1, note.header) if note is not None and note.format == "phh" else {}
    fields |= {name: value for name, value in kept.items() if name not in FIELDS_OF_EVENTS}
    if not DATES & kept.keys():
        fields |= date_fields(start.played)
    fields |= _extra_fields(game, start, record, order)
    if view is not None:
        fields["_view"] = view
    return "".join(
        f"{toml_value(name, key=True)} = {toml_value(value)}\n" for name, value in fields.items()
    )


def write_all(hands: Hands, view: str | None = None) -> Iterator[str]:
    """Many hands: the text of a `.phhs` file, a table each."""
    for number, (game, record, note) in enumerate(hands, 1):
        yield f"{chr(10) * (number > 1)}[{number}]\n{write(game, record, note, view)}"


# Amounts.


def _amounts(game: Game, amounts: Iterable[int]) -> list[int | Decimal]:
    return [_amount(game, amount) for amount in amounts]


def _amount(game: Game, amount: int) -> int | Decimal:
    """In chips; with a point wherever the unit is less than a chip."""
    per = per_chip(game.unit)
    if per == 1:
        return amount
    value = Decimal(amount) / per
    if value * per != amount:
        raise Inexpressible(f"PHH writes decimals: {amount} {game.unit}s are none")
    return value if value != value.to_integral_value() else Decimal(f"{int(value)}.0")


def _forced(
    game: Game, record: Events, order: tuple[int, ...]
) -> tuple[list[int], list[int], bool]:
    """Antes and blinds by position, as they were owed."""
    first, seats = game.script[0], len(order)
    if isinstance(first, Posts):
        antes, blinds, trimmed = list(first.antes), list(first.blinds), not first.dead
    else:
        assert isinstance(first, Blinds)
        antes, trimmed = [first.ante] * seats, True
        blinds = [0] * seats
        for event in record:
            if isinstance(event, BlindPosted):
                owed = {"small": first.small, "big": first.big, "post": -first.big}
                blinds[order.index(event.seat)] = owed[event.kind]
    if seats == 2:
        antes, blinds = antes[::-1], blinds[::-1]
    return antes, blinds, trimmed


# Actions.


def _actions(game: Game, record: Events, order: tuple[int, ...]) -> list[str]:
    """Cards and choices in order; hands are turned up once the last choice is made."""
    held = {e.seat: e.cards for e in record if isinstance(e, HoleDealt)}
    dealt = [held.get(seat, (UNKNOWN, UNKNOWN)) for seat in order]  # not dealt: none was recorded
    actions = [f"d dh p{place} {''.join(cards)}" for place, cards in enumerate(dealt, 1)]
    places = {seat: f"p{place}" for place, seat in enumerate(order, 1)}
    after = _last_choice(record) + 1
    actions += _board_and_bets(game, record[:after], places)
    # A muck before the board runs out would end the hand: `_mucked` says that it came later.
    known = held if _runs_out(record) else {}
    for event in record:
        if isinstance(event, Shown | Mucked):
            cards = event.cards if isinstance(event, Shown) else known.get(event.seat, ())
            actions.append(f"{places[event.seat]} sm {''.join(cards)}".strip())
    return actions + list(_board_and_bets(game, record[after:], places))


def _last_choice(record: Events) -> int:
    return max((at for at, e in enumerate(record) if isinstance(e, _CHOICES)), default=-1)


def _runs_out(record: Events) -> bool:
    """Whether the board goes on after the last choice: everybody but one was all-in."""
    return any(isinstance(event, BoardDealt) for event in record[_last_choice(record) + 1 :])


def _board_and_bets(game: Game, events: Events, places: dict[int, str]) -> Iterator[str]:
    for event in events:
        match event:
            case BoardDealt(cards=cards):
                yield f"d db {''.join(cards)}"
            case Folded(seat=seat):
                yield f"{places[seat]} f"
            case Checked(seat=seat) | Called(seat=seat):
                yield f"{places[seat]} cc"
            case Bet(seat=seat, amount=to) | Raised(seat=seat, to=to):
                yield f"{places[seat]} cbr {toml_value(_amount(game, to))}"


# What the format has no field for.


def _extra_fields(
    game: Game, start: HandStarted, record: Events, order: tuple[int, ...]
) -> dict[str, Any]:
    """Rules, unit, pots, rake and defaults, in fields that begin with a line."""
    place = {seat: at for at, seat in enumerate(order, 1)}
    fields: dict[str, Any] = {
        "_ruleset": game.name,
        "_fingerprint": fingerprint(game),
        "_unit": game.unit,
        "_odd_chips": game.odd_chips,
    }
    pots = [
        {
            f"p{place[seat]}": _amount(game, share)
            for seat, share in zip(e.seats, e.shares, strict=True)
        }
        for e in record
        if isinstance(e, PotSplit)
    ]
    rake = sum(e.amount for e in record if isinstance(e, RakeTaken))
    back = [e for e in record if isinstance(e, UncalledReturned)]
    fields["_pots"] = pots
    if rake:
        fields["_rake"] = _amount(game, rake)
    if back:
        fields["_uncalled"] = {f"p{place[e.seat]}": _amount(game, e.amount) for e in back}
    if _runs_out(record) and (mucked := [place[e.seat] for e in record if isinstance(e, Mucked)]):
        fields["_mucked"] = mucked
    choices = [e for e in record if isinstance(e, _CHOICES)]
    for origin in ("default", "recorded"):  # by the numbers of the choices, counted from 1
        if numbers := [at for at, e in enumerate(choices, 1) if e.origin == origin]:
            fields[f"_{origin}"] = numbers
    return fields
