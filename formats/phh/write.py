"""Hands as PHH: every event that the format has words for, the rest of it in fields of our own.

Positions are counted from the left of the button, and between two players forced bets are written
the other way round. A hand that was all-in early shows before the board goes on.
"""

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

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
from formats.holdem import Inexpressible, bet_sizes, check
from formats.phh.documents import parsed
from formats.phh.fields import DATES, dated, toml
from formats.phh.read import FIELDS_OF_EVENTS

Hands = Iterable[tuple[Game, Events, SourceNoted | None]]

_CHOICES = (Folded, Checked, Called, Bet, Raised)


def write(
    game: Game, record: Events, note: SourceNoted | None = None, view: str | None = None
) -> str:
    """One hand: the text of a `.phh` file; `view` is kept in it, if somebody says whose it is."""
    check(game, record, "PHH")
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
        remarks = parsed(1, f"remarks = {note.footer}")["remarks"]
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
    kept = parsed(1, note.header) if note is not None and note.format == "phh" else {}
    fields |= {name: value for name, value in kept.items() if name not in FIELDS_OF_EVENTS}
    if not DATES & kept.keys():
        fields |= dated(start.played)
    fields |= _unspoken(game, start, record, order)
    if view is not None:
        fields["_view"] = view
    return "".join(f"{toml(name, key=True)} = {toml(value)}\n" for name, value in fields.items())


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
                yield f"{places[seat]} cbr {toml(_amount(game, to))}"


# What the format has no field for.


def _unspoken(
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
