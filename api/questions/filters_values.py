"""The values of filters and their texts: amounts, moments, cards, hand ranges, player filters.

`PlayerFilter` spells the filters that find a player's hands.

A card pattern is `AA`, `AKs`, `7h??` or `As`, asked for among hole cards or on a board: a row of
cards. Each is a rank or `?` and then a suit or `?`: `As`, `A?`, `?h`, `??`. Two ranks say a class
instead: `AA` and `AK` are `A?A?` and `A?K?`, `AKs` in one suit, `AKo` in two. It fits if that many
different cards are there, in any order, whatever else is there.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import permutations, product
from typing import Any, Literal, NamedTuple

from msgspec import Struct

from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.redaction import HIDDEN
from events.cards import RANKS, SUITS

LENGTH_MAX = 6_000  # of a filter: five hundred hands by their numbers
CARDS_MAX = 5
_CLASS = re.compile(f"([{RANKS}])([{RANKS}])([so]?)")
_CARDS = re.compile(f"(?:[{RANKS}?][{SUITS}?])+")


class Pattern(Struct, frozen=True):
    """Cards that a hand must have; `suits`: both of one suit (`s`), or of two (`o`)."""

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
    """An amount of chips, or of hundredths of a big blind."""

    number: int
    blinds: bool = False


class Moment(Struct, frozen=True):
    """A day, a second or a millisecond, by its first one in milliseconds of Unix time."""

    at: int
    lasts: Literal["day", "second", "millisecond"]

    @property
    def end(self) -> int:
        """The first millisecond after the moment."""
        return self.at + _MILLISECONDS[self.lasts]


def parse_amount(text: str) -> Amount | None:
    """Read whole chips, or big blinds with up to two places: `40`, `2.5bb`."""
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
    """An amount as it is written, without zeros that say nothing."""
    if not amount.blinds:
        return str(amount.number)
    whole, part = divmod(abs(amount.number), 100)
    places = f".{part:02}".rstrip("0") if part else ""
    return f"{'-' if amount.number < 0 else ''}{whole}{places}bb"


def parse_moment(text: str) -> Moment | None:
    """Read a date, or a time with its zone, as RFC 3339 has them; a date is one of UTC."""
    try:
        if _DAY.fullmatch(text):
            return Moment(_ms(f"{text}T00:00:00+00:00"), "day")
        if match := _TIME.fullmatch(text):
            return Moment(_ms(text.replace("Z", "+00:00")), "millisecond" if match[1] else "second")
    except (ValueError, OverflowError):  # there is no such day
        pass
    return None


def moment_text(moment: Moment) -> str:
    """A moment as it is written, in UTC."""
    then = _ZERO + timedelta(milliseconds=moment.at)
    if moment.lasts == "day":
        return then.date().isoformat()
    places = "seconds" if moment.lasts == "second" else "milliseconds"
    return then.isoformat(timespec=places).removesuffix("+00:00") + "Z"


def _ms(text: str) -> int:
    """Milliseconds of Unix time; years have four digits in UTC, too."""
    then = datetime.fromisoformat(text).astimezone(UTC)
    return (then - _ZERO) // timedelta(milliseconds=1)


def parse_pattern(text: str) -> Pattern | None:
    """Read a pattern of cards; None if the text is none."""
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
    """A pattern as it is written: a class by its ranks, anything else card by card."""
    if len(pattern.cards) == 2 and all(card[0] != "?" and card[1] == "?" for card in pattern.cards):
        return "".join(card[0] for card in pattern.cards) + pattern.suits
    return "".join(pattern.cards)


def fits_sql(pattern: Pattern, column: str) -> str:
    """SQL for whether a pattern fits a column's cards; null if a card not known might fit."""
    exact = [card for card in pattern.cards if "?" not in card]
    rest = column
    for card in exact:
        rest = f"replace({rest}, '{card}', '')"
    terms = [f"contains({column}, '{card}')" for card in exact]
    if len(exact) < len(pattern.cards):
        # The cards with a `?`, one after the other in any order.
        orders = {order for cards in _suited_cards(pattern) for order in permutations(cards)}
        expression = "|".join(".*".join(map(_column_word, order)) for order in sorted(orders))
        terms.append(f"regexp_matches({rest}, '{expression}')")
    unknown = f"contains({column}, '?') OR contains({column}, '{HIDDEN}') OR {column} IS NULL"
    return f"CASE WHEN {' AND '.join(terms)} THEN true WHEN {unknown} THEN NULL ELSE false END"


def _suited_cards(pattern: Pattern) -> Iterator[tuple[str, ...]]:
    """A pattern's cards with a `?`, for a class with every choice of suits that it allows."""
    if not pattern.suits:
        yield tuple(card for card in pattern.cards if "?" in card)
        return
    high, low = pattern.cards
    for first, second in product(SUITS, SUITS):
        if (first == second) == (pattern.suits == "s"):
            yield high[0] + first, low[0] + second


def _column_word(card: str) -> str:
    """A card as columns have it; a hidden one is a longer word, an unknown one has no rank."""
    rank, suit = card[0], card[1]
    ranks = f"[{RANKS}]" if rank == "?" else rank
    return rf"\b{ranks}{f'[{SUITS}]' if suit == '?' else suit}\b"


_RANGE = re.compile(r"([^/]+)/([0-9]{1,18})(?:-([0-9]{0,18}))?(?:,(?!\Z)|\Z)")


class HandNumbers(NamedTuple):
    """The hands of a match from one number to another, both among them; None: all that follow."""

    match: str
    first: int
    last: int | None


def parse_ranges(text: str) -> list[HandNumbers]:
    """Read ranges of hands: `autumn/7,autumn/12-40,winter/119-`; an empty list if the text is
    none. A match has no `/` in its name, but may have a comma."""
    found, at = [], 0
    while it := _RANGE.match(text, at):
        match, first, last = it.groups()
        ends = first if last is None else last
        found.append(HandNumbers(match, int(first), int(ends) if ends else None))
        at = it.end()
    return found if at == len(text) else []


def ranges_text(hands: Iterable[tuple[str, int]]) -> str:
    """The text of these hands, by match and number; those in a row as one range."""
    spans: list[list[Any]] = []
    for match, number in sorted(set(hands)):
        if spans and spans[-1][0] == match and spans[-1][2] == number - 1:
            spans[-1][2] = number
        else:
            spans.append([match, number, number])
    return ",".join(f"{match}/{a}" if a == b else f"{match}/{a}-{b}" for match, a, b in spans)


def quoted_name(text: str) -> str:
    """A name as a filter writes it: as it is, if it is a plain word; else between quotes."""
    if re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", text):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class PlayerFilter(NamedTuple):
    """Filters of hands about one player. `seats`: by which name (empty: anybody), and by which
    terms about the player who sits there; `also`: terms about hands, each after its ` & `."""

    seats: tuple[tuple[str, str], ...]
    also: str = ""

    def __call__(self, *his: str, also: str = "") -> str:
        """The filter of hands in which all these terms are true of the player."""
        return self.without_hand_terms(*his) + self.also + also

    def without_hand_terms(self, *his: str) -> str:
        """The filter of hands in which these terms are true of the player, without `also`."""
        filters = []
        for name, which in self.seats:
            terms = [f"({term})" if " | " in term else term for term in (which, *his) if term]
            joined = " & ".join(terms)
            if not name:
                filters.append(f"player({joined})")
            elif not terms:
                filters.append(f"player={quoted_name(name)}")
            elif len(terms) == 1 and " & " not in joined:
                filters.append(f"{quoted_name(name)}:{joined}")
            else:
                filters.append(f"{quoted_name(name)}:({joined})")
        return filters[0] if len(filters) == 1 else f"({' | '.join(filters)})"

    def of_hands(self, hands: Sequence[int]) -> str:
        """The filter of these hands of his, by `hand_seq`, each as often as it is counted; empty
        if it would be too long."""
        return _if_short(f'{self.without_hand_terms()} & hand_seq="{",".join(map(str, hands))}"')

    def of_ranges(self, ranges: str) -> str:
        """The filter of his hands in these ranges; empty without one, or if it would be too
        long."""
        return (
            _if_short(f"{self.without_hand_terms()} & hands={quoted_name(ranges)}")
            if ranges
            else ""
        )

    def of_player(self, anybody: str) -> str:
        """A filter `player(TERMS) & ...` about anybody, as one about this player."""
        his, _, rest = anybody.removeprefix("player(").partition(")")
        return self(his, also=rest)


def _if_short(text: str) -> str:
    return text if len(text) <= LENGTH_MAX else ""


def player_filter(
    viewed: LedgerView,
    player: str,
    *,
    vs: str | None = None,
    match: str | None = None,
    game: str | None = None,
    hands: str | None = None,
    before: str | None = None,
    unit: str | None = None,
) -> PlayerFilter:
    """The filter of a player's hands under the filters of a question about him."""
    terms = [] if vs is None else [PlayerFilter(_seat_terms(viewed, vs)).without_hand_terms()]
    named = (("match=", match), ("game=", game), ("hand<", before), ("unit=", unit))
    terms += [f"{prefix}{quoted_name(value)}" for prefix, value in named if value]
    if hands:
        first, _, last = hands.partition("-")
        terms += [f"number>={int(first)}", f"number<={int(last or first)}"]
    return PlayerFilter(_seat_terms(viewed, player), "".join(f" & {term}" for term in terms))


def _seat_terms(viewed: LedgerView, player: str) -> tuple[tuple[str, str], ...]:
    """The names and tag terms of the players whom the viewer's tags call so."""
    names = viewed.by_tag
    every = {
        tuple(it.items()) for it in viewed.tag_values.values() if " ".join(it.values()) == player
    }
    seats = [
        (
            "",
            " & ".join(
                f"tag={quoted_name(f'{tag}:{tags[tag]}')}"
                if tag in tags
                else f"!tag={quoted_name(tag)}"
                for tag in names
            ),
        )
        for tags in map(dict, sorted(every))
    ]
    if not seats or player in viewed.untagged_players:
        seats.append((player, " & ".join(f"!tag={quoted_name(tag)}" for tag in names)))
    return tuple(seats)
