"""What a table plays for, as formats of sites say it: limit, stakes, currency, decimals."""

from decimal import Decimal
from typing import Literal

from msgspec import Struct

from engine.game import Game
from engine.steps import Blinds, Posts
from engine.units import money, per_chip
from events.cards import UNKNOWN
from events.types import AntePosted, BlindPosted, BoardDealt, Events, HandStarted, RakeTaken
from formats.holdem import Inexpressible, bet_sizes, check

_MONIES = {"dollar": ("$", "USD"), "euro": ("€", "EUR"), "pound": ("£", "GBP"), "chip": ("", "")}
_LIMITS: dict[str, Literal["FL", "PL", "NL"]] = {
    "fixed": "FL",
    "pot_limit": "PL",
    "no_limit": "NL",
}


class Stakes(Struct, frozen=True):
    """What is bet at a table, in the units of its game, of which `per` are one of its money."""

    limit: Literal["FL", "PL", "NL"]
    small: int
    big: int
    ante: int
    sign: str
    currency: str
    per: int

    def amount(self, units: int) -> Decimal:
        """Whole, or with two decimals."""
        said = Decimal(units) / self.per
        return said if units % self.per == 0 else said.quantize(Decimal("0.01"))


def stakes(game: Game, record: Events, name: str) -> Stakes:
    """The stakes of a hand that a site could have dealt; else what the format has no word for."""
    check(game, record, name, site=True)
    forced = game.script[0]
    assert isinstance(forced, Blinds | Posts)
    if isinstance(forced, Posts) and (forced.dead or len(set(forced.antes)) > 1):
        raise Inexpressible(f"{name} has no word for an ante that one seat posts for all")
    ante = forced.ante if isinstance(forced, Blinds) else max(forced.antes, default=0)
    low, high = bet_sizes(game, name)
    limit = _LIMITS[game.sizing]
    if limit != "FL" and (low, high) != (forced.big, forced.big):
        raise Inexpressible(f"{name} knows no smallest bet but the big blind")
    if limit == "FL" and (2 * forced.small, 2 * low, low) != (low, high, forced.big):
        raise Inexpressible(
            f"{name} names the bets of a fixed limit: blinds are half a bet and one, the last two"
            " rounds bet twice as much"
        )
    per = per_chip(game.unit)
    if money(game.unit) not in _MONIES or 100 % per or game.unit == "half chip":
        _whole(record, per, f"{name} counts whole chips or hundredths", game.unit)
    sign, currency = _MONIES.get(money(game.unit), ("", ""))
    _check(record, forced.small, name)
    return Stakes(limit, forced.small, forced.big, ante, sign, currency, per)


def _whole(record: Events, per: int, rule: str, unit: str) -> None:
    """Every amount of the hand is one of whole chips."""
    for event in record:
        for field in ("amount", "to"):
            if (units := getattr(event, field, 0)) % per:
                raise Inexpressible(f"{rule}: {units} {unit}s are none")
        for field in ("stacks", "shares"):
            for units in getattr(event, field, ()):
                if units % per:
                    raise Inexpressible(f"{rule}: {units} {unit}s are none")


def _check(record: Events, small: int, name: str) -> None:
    """What sites have no word for."""
    start = record[0]
    assert isinstance(start, HandStarted)
    if len(set(start.players)) < len(start.players):
        raise Inexpressible(f"{name} tells players by their names: no two share one")
    if 0 in start.stacks:
        raise Inexpressible(f"{name} deals nobody in who has no chips")
    left = list(start.stacks)
    for event in record:
        match event:
            case BoardDealt(cards=cards) if UNKNOWN in cards:
                raise Inexpressible(f"{name} has no word for a card of the board that is unknown")
            case AntePosted(seat=seat, amount=amount):
                left[seat] -= amount
            case BlindPosted(seat=seat, amount=amount, kind=kind):
                left[seat] -= amount
                if kind == "dead" and amount != small and (amount > small or left[seat]):
                    raise Inexpressible(f"{name} knows no dead blind but the small one")


def raked(record: Events) -> int:
    """What the house took of all pots."""
    return sum(event.amount for event in record if isinstance(event, RakeTaken))
