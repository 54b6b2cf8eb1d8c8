"""What a filter is once it is read: a frozen tree of terms and values, and how it is spelled.

Which fields and flags there are, what each asks and of whom, stands here and nowhere else.

A card pattern is `AA`, `AKs`, `7h??` or `As`, asked for among hole cards or on a board: a row of
cards. Each is a rank or `?` and then a suit or `?`: `As`, `A?`, `?h`, `??`. Two ranks say a class
instead: `AA` and `AK` are `A?A?` and `A?K?`, `AKs` in one suit, `AKo` in two. It fits if that many
different cards are there, in any order, whatever else is there.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import permutations, product
from typing import Literal, NamedTuple

from msgspec import Struct

from api.viewpoints.redaction import HIDDEN
from engine.verdict import VERDICTS
from events.cards import RANKS, SUITS
from odds.rank import CATEGORIES

CARDS_MAX = 5
_CLASS = re.compile(f"([{RANKS}])([{RANKS}])([so]?)")
_CARDS = re.compile(f"(?:[{RANKS}?][{SUITS}?])+")


class Pattern(Struct, frozen=True):
    """Cards that must be there; `suits`: both of one suit (`s`), or of two (`o`)."""

    cards: tuple[str, ...]
    suits: Literal["", "s", "o"] = ""


AMOUNT_MAX = 2**53 - 1  # chips, as events count them
_AMOUNT = re.compile(r"(-?)([0-9]{1,16})(?:\.([0-9]{1,2}))?(bb)?")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,3})?(Z|[+-][0-9]{2}:[0-9]{2})"
)
_MILLISECONDS = {"day": 86_400_000, "second": 1_000, "millisecond": 1}
_ZERO = datetime(1970, 1, 1, tzinfo=UTC)


class Amount(Struct, frozen=True):
    """Chips, or hundredths of a big blind."""

    number: int
    blinds: bool = False


class Moment(Struct, frozen=True):
    """A day, a second or a millisecond, by its first one in milliseconds of Unix time."""

    at: int
    lasts: Literal["day", "second", "millisecond"]

    @property
    def end(self) -> int:
        """The first millisecond after it."""
        return self.at + _MILLISECONDS[self.lasts]


def amount(text: str) -> Amount | None:
    """Whole chips, or big blinds with up to two places: `40`, `2.5bb`."""
    match = _AMOUNT.fullmatch(text)
    if match is None:
        return None
    sign, whole, part, blinds = match.groups()
    if part and not blinds:
        return None
    number = int(whole + (part or "").ljust(2, "0")) if blinds else int(whole)
    if number > AMOUNT_MAX:
        return None
    return Amount(-number if sign else number, bool(blinds))


def amount_text(amount: Amount) -> str:
    """As it is written, without zeros that say nothing."""
    if not amount.blinds:
        return str(amount.number)
    whole, part = divmod(abs(amount.number), 100)
    places = f".{part:02}".rstrip("0") if part else ""
    return f"{'-' if amount.number < 0 else ''}{whole}{places}bb"


def moment(text: str) -> Moment | None:
    """A date, or a time with its zone, as RFC 3339 has them; a date is one of UTC."""
    try:
        if _DAY.fullmatch(text):
            return Moment(_ms(f"{text}T00:00:00+00:00"), "day")
        if match := _TIME.fullmatch(text):
            return Moment(_ms(text.replace("Z", "+00:00")), "millisecond" if match[1] else "second")
    except (ValueError, OverflowError):  # there is no such day
        pass
    return None


def moment_text(moment: Moment) -> str:
    """As it is written, in UTC."""
    then = _ZERO + timedelta(milliseconds=moment.at)
    if moment.lasts == "day":
        return then.date().isoformat()
    places = "seconds" if moment.lasts == "second" else "milliseconds"
    return then.isoformat(timespec=places).removesuffix("+00:00") + "Z"


def _ms(text: str) -> int:
    """Milliseconds of Unix time; years have four digits in UTC, too."""
    then = datetime.fromisoformat(text).astimezone(UTC)
    return (then - _ZERO) // timedelta(milliseconds=1)


def pattern(text: str) -> Pattern | None:
    """The pattern of this text; None if it is none."""
    text = text.replace(" ", "")
    if match := _CLASS.fullmatch(text):
        high, low, suits = match.groups()
        return None if suits and high == low else Pattern((f"{high}?", f"{low}?"), suits)  # type: ignore[arg-type]
    if not _CARDS.fullmatch(text) or len(text) > 2 * CARDS_MAX:
        return None
    cards = tuple(text[at : at + 2] for at in range(0, len(text), 2))
    exact = [card for card in cards if "?" not in card]
    return None if len(exact) > len(set(exact)) else Pattern(cards)


def pattern_text(pattern: Pattern) -> str:
    """As it is written: a class by its ranks, anything else card by card."""
    if len(pattern.cards) == 2 and all(card[0] != "?" and card[1] == "?" for card in pattern.cards):
        return "".join(card[0] for card in pattern.cards) + pattern.suits
    return "".join(pattern.cards)


def fits_sql(pattern: Pattern, column: str) -> str:
    """SQL for whether it fits the cards of a column; null if a card that is not known might fit."""
    exact = [card for card in pattern.cards if "?" not in card]
    rest = column
    for card in exact:
        rest = f"replace({rest}, '{card}', '')"
    terms = [f"contains({column}, '{card}')" for card in exact]
    if len(exact) < len(pattern.cards):
        terms.append(f"regexp_matches({rest}, '{_in_any_order(pattern)}')")
    unknown = f"contains({column}, '?') OR contains({column}, '{HIDDEN}') OR {column} IS NULL"
    return f"CASE WHEN {' AND '.join(terms)} THEN true WHEN {unknown} THEN NULL ELSE false END"


def _in_any_order(pattern: Pattern) -> str:
    """A regular expression for the cards with a `?`, one after the other in any order."""
    orders = {order for cards in _suited(pattern) for order in permutations(cards)}
    return "|".join(".*".join(map(_word, order)) for order in sorted(orders))


def _suited(pattern: Pattern) -> Iterator[tuple[str, ...]]:
    """Those cards, for a class with every choice of suits that it allows."""
    if not pattern.suits:
        yield tuple(card for card in pattern.cards if "?" in card)
        return
    high, low = pattern.cards
    for first, second in product(SUITS, SUITS):
        if (first == second) == (pattern.suits == "s"):
            yield high[0] + first, low[0] + second


def _word(card: str) -> str:
    """A card in a column; a hidden one is a longer word, an unknown one has no rank."""
    rank, suit = card[0], card[1]
    ranks = f"[{RANKS}]" if rank == "?" else rank
    return rf"\b{ranks}{f'[{SUITS}]' if suit == '?' else suit}\b"


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


def text_of(one: Filter) -> str:
    """The one spelling of a filter: `parsed` reads it as the same tree."""
    match one:
        case Compare(field=field, op=op, value=value):
            return f"{field}{op}{_value(value)}"
        case Flag(name=name):
            return name
        case Of(player=player, one=inner):
            whole = isinstance(inner, Compare | Flag) and player is not None
            whose = "player" if player is None else f"{word(player)}:"
            return whose + (text_of(inner) if whole else f"({text_of(inner)})")
        case Not(one=inner):
            return f"!({text_of(inner)})" if isinstance(inner, And | Or) else f"!{text_of(inner)}"
        case And(all=parts):
            return " & ".join(
                f"({text_of(part)})" if isinstance(part, Or) else text_of(part) for part in parts
            )
        case Or(any=parts):
            return " | ".join(map(text_of, parts))


def terms(one: Filter) -> tuple[Term, ...]:
    """Every term of a filter, those about one player among them."""
    match one:
        case Compare() | Flag():
            return (one,)
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
