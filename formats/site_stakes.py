"""Check that a hand is hold'em that the formats of sites can express, and return its stakes."""

from decimal import Decimal
from typing import Literal

from msgspec import Struct

from engine.game import Game
from engine.policies import money, per_chip
from engine.steps import Betting, Blinds, DealBoard, DealHole, Posts, Showdown
from events.cards import UNKNOWN
from events.types import (
    AntePosted,
    BlindPosted,
    BoardDealt,
    Claimed,
    Disconnected,
    Events,
    Faulted,
    HandEnded,
    HandStarted,
    HandVoided,
    RakeTaken,
    Reconnected,
    TimedOut,
)

_USUAL_POLICIES = {
    "first_to_act": "left_of_button",
    "heads_up_blinds": "button_small",
    "ranking": "standard",
    "straights": "standard",
    "hole_min": 0,
    "announce": "cards_speak",
    "split": "side_pots",
    "showdown_tie": "split",
    "uncalled": "returned",
}
STREETS = (DealHole, Betting, DealBoard, Betting, DealBoard, Betting, DealBoard, Betting, Showdown)


class Inexpressible(ValueError):
    """The hand has something that a format cannot express; in one sentence."""


def check_holdem(game: Game, record: Events, name: str, *, site: bool = False) -> None:
    """The hand is hold'em between ordinary rules, whole, and played without mishap; formats of
    sites also know a pot limit, and dead blinds."""
    forced, *streets = game.script
    if not isinstance(forced, Blinds | Posts) or tuple(map(type, streets)) != STREETS:
        raise Inexpressible(f"{name} has no code for {game.name}: its sequence of play is its own")
    for policy, value in _USUAL_POLICIES.items():
        if getattr(game, policy) != value:
            policy_value = f"{policy} {getattr(game, policy)}"
            raise Inexpressible(f"{name} has no code for {game.name}: it plays with {policy_value}")
    if game.sizing == "pot_limit" and not site:
        raise Inexpressible(f"{name} has no code for pot-limit hold'em")
    if not isinstance(record[-1], HandEnded | Faulted):
        raise Inexpressible(f"{name} tells whole hands: this one is not over")
    for event in record:
        match event:
            case HandVoided():
                raise Inexpressible(f"{name} has no word for a hand that was called off")
            case Claimed():
                raise Inexpressible(f"{name} has no form for a claim that its own chips refute")
            case TimedOut(all_in=True):
                raise Inexpressible(
                    f"{name} has no word for a seat all-in because its time ran out"
                )
            case TimedOut() | Disconnected() | Reconnected() | Faulted():
                kind = type(event).__name__
                raise Inexpressible(
                    f"{name} has no word for clocks, connections and errors: {kind}"
                )
            case BlindPosted(kind="dead") if not (site or isinstance(game.script[0], Posts)):
                raise Inexpressible(f"{name} has no word for a dead blind")


def bet_sizes(game: Game, name: str) -> tuple[int, int]:
    """The least bet of the first two rounds, and of the last two."""
    low, also_low, high, also_high = [s.size for s in game.script if isinstance(s, Betting)]
    if (low, high) != (also_low, also_high):
        raise Inexpressible(f"{name} knows one bet size for two rounds, one for the last two")
    return low, high


_MONIES = {"dollar": ("$", "USD"), "euro": ("€", "EUR"), "pound": ("£", "GBP"), "chip": ("", "")}
_LIMITS: dict[str, Literal["FL", "PL", "NL"]] = {"fixed": "FL", "pot_limit": "PL", "no_limit": "NL"}


class Stakes(Struct, frozen=True):
    """The stakes of a table in the units of its game, of which `per` are one of its money."""

    limit: Literal["FL", "PL", "NL"]
    small: int
    big: int
    ante: int
    sign: str
    currency: str
    per: int

    def amount(self, units: int) -> Decimal:
        """Whole, or with two decimals."""
        value = Decimal(units) / self.per
        return value if units % self.per == 0 else value.quantize(Decimal("0.01"))


def stakes(game: Game, record: Events, name: str) -> Stakes:
    """The stakes of a hand that a site could have dealt; else what the format has no word for."""
    check_holdem(game, record, name, site=True)
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
        for event in record:  # then every amount is one of whole chips
            units = (getattr(event, "amount", 0), getattr(event, "to", 0))
            for amount in (*units, *getattr(event, "stacks", ()), *getattr(event, "shares", ())):
                if amount % per:
                    rule = f"{name} counts whole chips or hundredths"
                    raise Inexpressible(f"{rule}: {amount} {game.unit}s are none")
    sign, currency = _MONIES.get(money(game.unit), ("", ""))
    _check_table(record, forced.small, name)
    return Stakes(limit, forced.small, forced.big, ante, sign, currency, per)


def _check_table(record: Events, small: int, name: str) -> None:
    """Refuse a table that the formats of sites cannot express."""
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


def total_rake(record: Events) -> int:
    """The rake of all pots."""
    return sum(event.amount for event in record if isinstance(event, RakeTaken))
