"""The shape of an Open Hand History object: every member that is read, and what it may be.

Members that nothing here asks for may stand there. A missing amount is none; `""` stands for no
cards, as some programs write it.
"""

import re
from decimal import Decimal
from typing import Literal

import msgspec
from msgspec import Struct

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
Written = tuple[str, ...] | Literal[""] | None
_NONE = Decimal(0)
_PLACE = re.compile(r" - at `\$\.?(.*)`$")


class Limit(Struct, frozen=True):
    """How much may be bet; a cap of 0 is none."""

    bet_type: Literal["NL", "PL", "FL"]
    bet_cap: Decimal | None = None


class Player(Struct, frozen=True):
    """Somebody at the table, whom the rest of the object calls by his `id`."""

    id: int
    seat: int
    name: str
    starting_stack: Decimal
    is_sitting_out: bool | None = None


class Action(Struct, frozen=True):
    """What a player did; `amount` is the chips that this put in, of a raise, too.

    `is_allin` is not asked: programs set it where a bet covers an opponent, and the stack tells.
    """

    player_id: int
    action: Verb
    amount: Decimal | None = None
    cards: Written = None


class Round(Struct, frozen=True):
    """A street, the cards that it adds to the board, and what was done on it."""

    street: Street
    cards: Written = None
    actions: tuple[Action, ...] | None = None


class Win(Struct, frozen=True):
    """What a pot paid to a player, and what the site did beside it."""

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


class History(Struct, frozen=True):
    """One hand."""

    spec_version: str
    site_name: str
    game_number: str
    game_type: str
    bet_limit: Limit
    currency: str
    dealer_seat: int
    small_blind_amount: Decimal
    big_blind_amount: Decimal
    players: tuple[Player, ...]
    rounds: tuple[Round, ...]
    pots: tuple[Pot, ...]
    ante_amount: Decimal = _NONE
    start_date_utc: object = None
    tournament: bool | None = None
    tournament_info: dict[str, object] | None = None
    flags: tuple[str, ...] | Literal[""] | None = None


class Document(Struct, frozen=True):
    """What a file holds as often as it has hands."""

    ohh: History


def document(text: str) -> Document:
    """The object that this text spells; a ValueError says where it is not of this shape."""
    try:
        return msgspec.json.decode(text, type=Document)
    except msgspec.ValidationError as wrong:
        said = str(wrong)
        place = _PLACE.search(said)
        reason = said[: place.start()] if place else said
        reason = reason[:1].lower() + reason[1:].replace("`", "")
        raise ValueError(f"{place[1] if place and place[1] else 'the object'}: {reason}") from None
