"""The structs of Open Hand History, and hands written as such objects.

The structs say every member that is read, and what it may be; a hand of ours has the members that
the specification names. An action's amount is what it puts in; what nobody called is in no pot.
Cards that a viewpoint does not know are in no object, and a hand that somebody shows or throws away
has a round for it.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Literal

import msgspec
from msgspec import Struct

from engine.game import Game
from events.cards import UNKNOWN
from events.types import (
    AntePosted,
    Bet,
    BlindPosted,
    BoardDealt,
    Called,
    Checked,
    Event,
    Events,
    Folded,
    HandStarted,
    HoleDealt,
    Mucked,
    PotSplit,
    Raised,
    RakeTaken,
    Shown,
)
from formats.site_stakes import Inexpressible, Stakes, stakes
from formats.timestamps import has_offset

Street = Literal["Preflop", "Flop", "Turn", "River", "Showdown"]
Verb = Literal[
    "Dealt Cards",
    "Mucks Cards",
    "Shows Cards",
    "Post Ante",
    "Post SB",
    "Post BB",
    "Straddle",
    "Post Dead",
    "Post Extra Blind",
    "Fold",
    "Check",
    "Bet",
    "Raise",
    "Call",
    "Added Chips",
    "Sits Down",
    "Stands Up",
    "Add to Pot",
    "Added To Pot",
]
CardTexts = tuple[str, ...] | Literal[""] | None
ZERO = Decimal(0)


class BetLimit(Struct, frozen=True):
    """The bet limit; a cap of 0 is none."""

    bet_type: Literal["NL", "PL", "FL"]
    bet_cap: Decimal | None = None


class Player(Struct, frozen=True):
    """A player at the table, whom the rest of the object calls by his `id`."""

    id: int
    seat: int
    name: str
    starting_stack: Decimal
    is_sitting_out: bool | None = None


class Action(Struct, frozen=True):
    """An action of a player; `amount` is the chips that it puts in, of a raise, too.

    `is_allin` is not asked: programs set it where a bet covers an opponent, and the stack tells.
    """

    player_id: int
    action: Verb
    amount: Decimal | None = None
    cards: CardTexts = None


class Round(Struct, frozen=True):
    """A street, the cards that it adds to the board, and what was done on it."""

    street: Street
    cards: CardTexts = None
    actions: tuple[Action, ...] | None = None


class Win(Struct, frozen=True):
    """A player's winnings from a pot, and what the site added or took."""

    player_id: int
    win_amount: Decimal
    cashout_amount: Decimal | None = None
    cashout_fee: Decimal | None = None
    bonus_amount: Decimal | None = None


class Pot(Struct, frozen=True):
    """A pot before the house took its part; the main pot is number 0."""

    number: int
    amount: Decimal
    rake: Decimal | None = None
    jackpot: Decimal | None = None
    player_wins: tuple[Win, ...] | None = None


class OhhHand(Struct, frozen=True):
    """One hand."""

    spec_version: str
    site_name: str
    game_number: str
    game_type: str
    bet_limit: BetLimit
    currency: str
    dealer_seat: int
    small_blind_amount: Decimal
    big_blind_amount: Decimal
    players: tuple[Player, ...]
    rounds: tuple[Round, ...]
    pots: tuple[Pot, ...]
    ante_amount: Decimal = ZERO
    start_date_utc: object = None
    tournament: bool | None = None
    tournament_info: dict[str, object] | None = None
    flags: tuple[str, ...] | Literal[""] | None = None


class Document(Struct, frozen=True):
    """The object of one hand; a file holds one for each."""

    ohh: OhhHand


# Hands of ours.

VERSION = "1.4.7"
_STREETS = {3: "Flop", 4: "Turn", 5: "River"}
_POSTS = {
    "small": "Post SB",
    "big": "Post BB",
    "straddle": "Straddle",
    "post": "Post Extra Blind",
    "dead": "Post Dead",
}
_ENCODER = msgspec.json.Encoder(decimal_format="number")


def write(game: Game, record: Events, played: str, hero: str | None = None) -> str:
    """Write one hand as an object and an empty line; `played` is its time in RFC 3339, `hero` the
    viewer, if he is at the table."""
    bets = stakes(game, record, "Open Hand History")
    if played and not has_offset(played):
        raise Inexpressible(f"Open Hand History tells times in UTC: {played} has no zone")
    start = record[0]
    assert isinstance(start, HandStarted)
    match = start.hand.rpartition("/")[0] or start.hand
    moment = datetime.fromisoformat(played).astimezone(UTC) if played else None
    rakes = {event.pot: event.amount for event in record if isinstance(event, RakeTaken)}
    fields: dict[str, Any] = {
        "spec_version": VERSION,
        "internal_version": VERSION,
        "site_name": "muckrake",
        "network_name": "muckrake",
        "tournament": False,
        "game_number": start.hand,
        **({"start_date_utc": f"{moment:%Y-%m-%dT%H:%M:%SZ}"} if moment else {}),
        "table_name": match,
        "game_type": "Holdem",
        "bet_limit": {"bet_type": bets.limit, "bet_cap": 0},
        "table_size": len(start.players),
        "currency": bets.currency or "Chips",
        "dealer_seat": start.button + 1,
        "small_blind_amount": bets.amount(bets.small),
        "big_blind_amount": bets.amount(bets.big),
        "ante_amount": bets.amount(bets.ante),
        **({"hero_player_id": start.players.index(hero)} if hero in start.players else {}),
        "flags": [],
        "players": [
            {"id": seat, "seat": seat + 1, "name": name, "starting_stack": bets.amount(stack)}
            for seat, (name, stack) in enumerate(zip(start.players, start.stacks, strict=True))
        ],
        "rounds": _rounds(bets, record),
        "pots": [
            {
                "number": event.pot,
                "amount": bets.amount(sum(event.shares) + rakes.get(event.pot, 0)),
                "rake": bets.amount(rakes.get(event.pot, 0)),
                "jackpot": 0,
                "player_wins": [
                    {"player_id": seat, "win_amount": bets.amount(share)}
                    for seat, share in zip(event.seats, event.shares, strict=True)
                ],
            }
            for event in record
            if isinstance(event, PotSplit)
        ],
    }
    return _ENCODER.encode({"ohh": fields}).decode() + "\n\n"


def _rounds(stakes: Stakes, record: Events) -> list[dict[str, Any]]:
    """The streets, each with the cards that it adds, and the showdown, if anything is shown."""
    start = record[0]
    assert isinstance(start, HandStarted)
    left, board = list(start.stacks), 0
    rounds: list[dict[str, Any]] = [{"id": 0, "street": "Preflop", "cards": [], "actions": []}]
    for event in record[1:]:
        if isinstance(event, BoardDealt):
            board += len(event.cards)
            rounds.append(_round(rounds, _STREETS[board], list(event.cards)))
            continue
        if isinstance(event, Shown | Mucked) and rounds[-1]["street"] != "Showdown":
            rounds.append(_round(rounds, "Showdown", []))
        for action in _actions(event):
            seat, amount = action["player_id"], action.pop("units", 0)
            left[seat] -= amount
            rounds[-1]["actions"].append(
                {
                    "action_number": len(rounds[-1]["actions"]) + 1,
                    **action,
                    "amount": stakes.amount(amount),
                    "is_allin": bool(amount) and not left[seat],
                }
            )
    return rounds


def _round(rounds: list[dict[str, Any]], street: str, cards: list[str]) -> dict[str, Any]:
    return {"id": len(rounds), "street": street, "cards": cards, "actions": []}


def _actions(event: Event) -> Iterator[dict[str, Any]]:
    """The actions of an event, and the `units` that each puts in."""
    match event:
        case AntePosted(seat=seat, amount=amount):
            yield {"player_id": seat, "action": "Post Ante", "units": amount}
        case BlindPosted(seat=seat, amount=amount, kind=kind):
            yield {"player_id": seat, "action": _POSTS[kind], "units": amount}
        case HoleDealt(seat=seat, cards=cards):
            if known := [card for card in cards if card != UNKNOWN]:
                yield {"player_id": seat, "action": "Dealt Cards", "cards": known}
        case Folded(origin="default") | Checked(origin="default"):
            raise Inexpressible("Open Hand History has no word for a choice made by default")
        case Folded(seat=seat):
            yield {"player_id": seat, "action": "Fold"}
        case Checked(seat=seat):
            yield {"player_id": seat, "action": "Check"}
        case Called(seat=seat, amount=amount):
            yield {"player_id": seat, "action": "Call", "units": amount}
        case Bet(seat=seat, amount=amount):
            yield {"player_id": seat, "action": "Bet", "units": amount}
        case Raised(seat=seat, amount=amount):
            yield {"player_id": seat, "action": "Raise", "units": amount}
        case Shown(seat=seat, cards=cards):
            yield {"player_id": seat, "action": "Shows Cards", "cards": list(cards)}
        case Mucked(seat=seat):
            yield {"player_id": seat, "action": "Mucks Cards"}
