"""What a filter is once it is read: a frozen tree of terms and values, and how it is spelled.

Which fields and flags there are, what each asks and of whom, stands here and nowhere else.
"""

import re
from typing import Literal, NamedTuple

from msgspec import Struct

from api.questions.filters_values import (
    Amount,
    Moment,
    Pattern,
    amount_text,
    moment_text,
    pattern_text,
)
from engine.verdict import VERDICTS
from odds.rank import CATEGORIES

LENGTH_MAX = 6_000  # five hundred hands by their numbers
Op = Literal["=", "!=", "<", "<=", ">", ">="]
OPS: tuple[Op, ...] = ("=", "!=", "<", "<=", ">", ">=")
SAME: tuple[Op, ...] = ("=", "!=")
Kind = Literal[
    "amount",
    "count",
    "text",
    "street",
    "verdict",
    "cards",
    "made",
    "statistic",
    "chance",
    "position",
    "moment",
    "hand",
    "tag",
    "numbers",
    "ranges",
]
Value = Amount | Moment | Pattern | int | str

STREETS = ("preflop", "flop", "turn", "river")
MADE = tuple(name.replace(" ", "-") for name in CATEGORIES)  # the weakest first


class Field(NamedTuple):
    """What a field holds, whether one player can be asked for it, and what it means."""

    kind: Kind
    of_player: bool
    about: str

    @property
    def ops(self) -> tuple[Op, ...]:
        """Text is the same or not; all else has an order, but for cards."""
        return OPS if self.kind in ("amount", "count", "street", "made", "moment", "hand") else SAME


class FlagField(NamedTuple):
    """Whether one player can be asked for a flag, and what it means."""

    of_player: bool
    about: str


FIELDS: dict[str, Field] = {
    "pot": Field("amount", False, "what was paid out and raked; 0 in a voided hand"),
    "net": Field("amount", True, "what a player won, or lost: then it is below 0"),
    "collected": Field("amount", True, "what a player was paid from the pots"),
    "bid": Field("amount", True, "what a player bid for a card"),
    "bid-with": Field("made", True, "what a player's cards and the board made when he chose a bid"),
    "price": Field("amount", True, "what a winner of an auction paid for his card"),
    "players": Field("count", False, "how many players the hand began with"),
    "number": Field("count", False, "which hand of its match it is"),
    "street": Field("street", False, "the last that was dealt: preflop, flop, turn or river"),
    "hole": Field("cards", True, "cards that a player held at the end"),
    "did": Field("statistic", True, "a player did what a statistic counts: its k counts the hand"),
    "could": Field("chance", True, "a player had that chance: the n of a statistic counts it"),
    "position": Field("position", True, "where a player sat: SB, BB, BTN, ..."),
    "board": Field("cards", False, "cards on the board at the end"),
    "player": Field("text", False, "who sat at the table"),
    "tag": Field("tag", True, "what is said of a player beside his name: version:3, or version"),
    "match": Field("text", False, "the match by its name"),
    "game": Field("text", False, "the ruleset by its name"),
    "unit": Field("text", False, "what it is played for: chip, dollar, euro, pound"),
    "ruleset": Field("text", False, "the ruleset by its fingerprint"),
    "verdict": Field("verdict", False, "what an audit says: " + ", ".join(VERDICTS)),
    "at": Field("moment", False, "when the hand ended here; of an imported one, when it came in"),
    "played": Field("moment", False, "when it was played, as its source says it"),
    "hand": Field("hand", False, "MATCH/NUMBER; after it are those that ended after it"),
    "hands": Field("ranges", False, 'hands of matches by their numbers: "autumn/1-40,winter/119-"'),
    "hand_seq": Field("numbers", False, 'where it stands among all that ended: 7, or "7,12,40"'),
}
FLAGS: dict[str, FlagField] = {
    "showdown": FlagField(True, "somebody showed his cards; of a player: and he had not folded"),
    "walk": FlagField(
        True, "all others folded before anybody called or raised; of a player: to him"
    ),
    "all-in": FlagField(True, "a player was all-in"),
    "auction-won": FlagField(True, "a player won an auction, alone or in a tie"),
    "auction-lost": FlagField(True, "a player bid in an auction and did not win it"),
    "auction-tied": FlagField(True, "several players won an auction with the same bid; he was one"),
    "swapped": FlagField(True, "a card of a player was at risk, and was swapped for another"),
    "contested": FlagField(False, "its verdict is contested: another reading pays differently"),
    "moveless": FlagField(False, "it differs from its rules, and no chip goes elsewhere by it"),
    "voided": FlagField(False, "the hand does not count"),
}


class Compare(Struct, frozen=True, tag=True):
    """A field held against a value."""

    field: str
    op: Op
    value: Value


class Flag(Struct, frozen=True, tag=True):
    """Something that is so, or is not."""

    name: str


Term = Compare | Flag


class Of(Struct, frozen=True, tag=True):
    """Terms about one player: about the player of this name, or about any one, but all about
    him."""

    player: str | None
    one: "Filter"


class Not(Struct, frozen=True, tag=True):
    """The opposite of a filter."""

    one: "Filter"


class And(Struct, frozen=True, tag=True):
    """All of these; nothing at all is an empty filter, which every hand passes."""

    all: tuple["Filter", ...]


class Or(Struct, frozen=True, tag=True):
    """Any of these."""

    any: tuple["Filter", ...]


Filter = Compare | Flag | Of | Not | And | Or
EVERY = And(())


def joined(kind: type[And] | type[Or], parts: list[Filter]) -> Filter:
    """Several filters as one; what is joined in the same way already is taken apart."""
    flat: list[Filter] = []
    for part in parts:
        match part:
            case And(all=inner) if kind is And:
                flat += inner
            case Or(any=inner) if kind is Or:
                flat += inner
            case _:
                flat.append(part)
    return flat[0] if len(flat) == 1 else kind(tuple(flat))


def text_of(hand_filter: Filter) -> str:
    """The one spelling of a filter: `parsed` reads it as the same tree."""
    match hand_filter:
        case Compare(field=field, op=op, value=value):
            return f"{field}{op}{_value(value)}"
        case Flag(name=name):
            return name
        case Of(player=player, one=inner):
            single = isinstance(inner, Compare | Flag) and player is not None
            whose = "player" if player is None else f"{word(player)}:"
            return whose + (text_of(inner) if single else f"({text_of(inner)})")
        case Not(one=inner):
            return f"!({text_of(inner)})" if isinstance(inner, And | Or) else f"!{text_of(inner)}"
        case And(all=parts):
            return " & ".join(
                f"({text_of(part)})" if isinstance(part, Or) else text_of(part) for part in parts
            )
        case Or(any=parts):
            return " | ".join(map(text_of, parts))


def terms(hand_filter: Filter) -> tuple[Term, ...]:
    """Every term of a filter, those about one player among them."""
    match hand_filter:
        case Compare() | Flag():
            return (hand_filter,)
        case Of(one=inner) | Not(one=inner):
            return terms(inner)
        case And(all=parts) | Or(any=parts):
            return tuple(term for part in parts for term in terms(part))


def word(text: str) -> str:
    """A name as it is, if it is a plain word; else between quotes."""
    if re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", text):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _value(value: Value) -> str:
    match value:
        case Amount():
            return amount_text(value)
        case Moment():
            return moment_text(value)
        case Pattern():
            return pattern_text(value)
        case int():
            return str(value)
        case str():
            return word(value)
