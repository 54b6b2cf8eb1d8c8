"""Look up the rake of a hand in `rakes.toml`, the table of what known sites take of a pot.

A row is of one site, currency and limit, of some stakes, kinds of table and numbers of players, and
of the days for which its source vouches. Amounts are hundredths of the currency. No two rows are of
one hand; a hand that none is of gets a sentence that says which rows exist instead.
"""

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from fractions import Fraction
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any, Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from engine.policies import Rake

RakeFrom = Literal["fitted", "known", "undated"]
NoFlop = Literal["free", "three-bet", "unsaid"]
BlindPair = tuple[int, int]
PlayerRange = tuple[int, int | None]  # of players: from, to

LIMITS = {"nl": "no", "pl": "pot", "fl": "fixed"}
SIGNS = {"USD": "$", "EUR": "€", "GBP": "£"}
CURRENCIES = {sign: currency for currency, sign in SIGNS.items()}
NAME_MAX = 40  # letters of a site, as a hand names it: a sentence repeats them
_FILE = Path(__file__).with_name("rakes.toml")
_PLAYER_RANGE = re.compile(r"([0-9]+)(?:(\+)|-([0-9]+))?")
_STAKES = re.compile(r"([0-9.]+)/([0-9.]+)(?: (-)(?: ([0-9.]+)/([0-9.]+))?)?")


class RakeKey(Struct, frozen=True, kw_only=True):
    """The properties by which a hand's rake is looked up; `reraised` before the flop."""

    site: str
    currency: str
    limit: str
    stakes: BlindPair
    table: str = "regular"
    players: int
    day: date | None
    flop: bool
    reraised: bool = False


class RakeRow(Struct, frozen=True, kw_only=True):
    """The rake of one site for such pots; `rake` has the cap of these players."""

    site: str
    currency: str
    limit: str
    low: BlindPair
    high: BlindPair | None
    table: str
    players: PlayerRange
    rake: Rake
    no_flop: NoFlop
    begins: date | None
    ends: date | None
    seen: date | None
    sources: tuple[str, ...]

    @property
    def stakes(self) -> str:
        """`$0.05/$0.10`, `$1/$2 to $5/$10`, `$100/$200 and more`."""
        low = _stakes_text(self.low, self.currency)
        if self.high is None:
            return f"{low} and more"
        return (
            low if self.high == self.low else f"{low} to {_stakes_text(self.high, self.currency)}"
        )

    @property
    def when(self) -> str:
        """The days for which the source vouches."""
        if self.begins is None:
            return f"no day that its source names (seen {self.seen}: --rake undated takes it)"
        if self.ends is None:
            return f"{self.begins} and later"
        return f"{self.begins}" if self.begins == self.ends else f"{self.begins} to {self.ends}"

    @property
    def dealt(self) -> str:
        """`2 players`, `3 to 4 players`, `5 players and more`."""
        least, most = self.players
        if most is None:
            return f"{least} players and more"
        return f"{least} players" if least == most else f"{least} to {most} players"

    def source(self) -> str:
        """Whose rake it is, of which stakes, as of when, and who says so."""
        when = f"undated, seen {self.seen}" if self.begins is None else f"as of {self.begins}"
        stakes = _stakes_text(self.low, self.currency) if self.high == self.low else self.stakes
        return f"as {self.site} takes of {self.limit}-limit {stakes}, {when}: {self.sources[0]}"

    def raked(self, hand: RakeKey) -> Rake:
        """The rake of this hand: a pot without a flop is free, or is not."""
        free = not (self.no_flop == "three-bet" and hand.reraised)
        return replace(self.rake, no_flop_no_drop=free)


class _Criterion(NamedTuple):
    """A property in which a row and a hand must agree, with the text of each."""

    fits: Callable[[RakeRow, RakeKey], bool]
    has: Callable[[RakeRow], str]
    of_hand: Callable[[RakeKey], str]


_CRITERIA = (
    _Criterion(
        lambda row, hand: _site_key(row.site) == _site_key(hand.site),
        lambda row: row.site,
        lambda hand: hand.site or "a site that is not named",
    ),
    _Criterion(
        lambda row, hand: row.currency == hand.currency,
        lambda row: row.currency,
        lambda hand: hand.currency or "chips",
    ),
    _Criterion(
        lambda row, hand: row.limit == hand.limit,
        lambda row: f"{row.limit}-limit",
        lambda hand: f"{hand.limit}-limit",
    ),
    _Criterion(
        lambda row, hand: (
            all(map(int.__le__, row.low, hand.stakes))
            and (row.high is None or all(map(int.__ge__, row.high, hand.stakes)))
        ),
        lambda row: row.stakes,
        lambda hand: _stakes_text(hand.stakes, hand.currency),
    ),
    _Criterion(
        lambda row, hand: row.table == hand.table,
        lambda row: f"{row.table} tables",
        lambda hand: f"{hand.table} tables",
    ),
    _Criterion(
        lambda row, hand: row.players[0] <= hand.players <= (row.players[1] or hand.players),
        lambda row: row.dealt,
        lambda hand: f"{hand.players} players",
    ),
)


class ListedRake(Struct, frozen=True):
    """The rake of a hand by its row, and what that row says of itself."""

    rake: Rake
    source: str

    @property
    def assumed(self) -> str:
        """The assumption of the record: `rake 5 % up to 100, as PokerStars takes of ...`."""
        return f"rake {rake_in_words(self.rake)}, {self.source}"


class UnlistedRake(Struct, frozen=True):
    """Why no row is of a hand; `of` what, if it is of no other with these stakes either."""

    reason: str
    of: str = ""

    def noted(self, assumed: Sequence[str]) -> tuple[str, ...]:
        """The note in a file's report, if one of these assumptions is of it."""
        if not any(self.reason in text for text in assumed):
            return ()
        return (f"no known rake of {self.of}" if self.of else f"no known rake: {self.reason}",)


@lru_cache(1 << 14)
def look_up_rake(hand: RakeKey, source: RakeFrom) -> ListedRake | UnlistedRake:
    """The rake of a hand by the table; rows without a day are there if they are asked for."""
    rows, same = rake_rows(), list[str]()
    for question in _CRITERIA:
        fitting = tuple(row for row in rows if question.fits(row, hand))
        if not fitting:
            return _unlisted(hand, same, map(question.has, rows), question.of_hand(hand))
        rows = fitting
        same.append(question.of_hand(hand))
    of_day = [
        row
        for row in rows
        if row.begins and hand.day and row.begins <= hand.day <= (row.ends or hand.day)
    ]
    if source == "undated" and not of_day:
        of_day = [row for row in rows if row.begins is None]
    if not of_day:
        day = str(hand.day) if hand.day else "a hand that names no day"
        return _unlisted(hand, same, (row.when for row in rows), day)
    (row,) = of_day
    if row.no_flop == "unsaid" and not hand.flop:
        reason = f"{row.sources[0]} does not say what {row.site} takes of a hand without a flop"
        return UnlistedRake(reason)
    return ListedRake(row.raked(hand), row.source())


def _unlisted(hand: RakeKey, same: list[str], listed: Iterable[str], asked: str) -> UnlistedRake:
    """`the table of rakes has of PokerStars, USD: no-limit, pot-limit; not fixed-limit`."""
    of = f" of {', '.join(same)}" if same else ""
    reason = f"the table of rakes has{of}: {', '.join(dict.fromkeys(listed))}; not {asked}"
    return UnlistedRake(reason, ", ".join(question.of_hand(hand) for question in _CRITERIA[:4]))


@lru_cache(1)
def rake_rows() -> tuple[RakeRow, ...]:
    """Every row of the file, in its order."""
    text = _FILE.read_text("utf-8")
    return tuple(
        row
        for schedule in tomllib.loads(text, parse_float=Fraction)["schedule"]
        for row in _rows_of_schedule(schedule)
    )


@lru_cache(4096)
def rake_in_words(rake: Rake) -> str:
    """`5 % up to 300`, `4.5 %, rounded down`, `5 of every 100`."""
    text = f"{float(Fraction(rake.percent * 100, rake.of)):g} %"
    if rake.rounding == "incremental":
        text = f"{rake.increment * rake.percent // rake.of} of every {rake.increment}"
    elif rake.rounding != "half_even":
        text += f", rounded {'down' if rake.rounding == 'floor' else 'up'}"
    return text + "".join(f" up to {cap}" for _, cap in rake.caps_by_players)


# The file.


def _rows_of_schedule(schedule: Mapping[str, Any]) -> Iterator[RakeRow]:
    """The rows of a schedule, one for each limit, kind of table and number of players."""
    tables = schedule.get("tables", ("regular", "fast"))
    for line in schedule["rows"]:
        match = _STAKES.fullmatch(line["stakes"])
        assert match is not None, line
        low = _cents(Fraction(match[1])), _cents(Fraction(match[2]))
        high: BlindPair | None = low
        if match[3]:  # up to other stakes, or to any
            high = (_cents(Fraction(match[4])), _cents(Fraction(match[5]))) if match[4] else None
        for limit, table in product(schedule["limits"], tables):
            for players, rake in _rakes_by_players(line, schedule.get("rounding")):
                yield RakeRow(
                    site=schedule["site"],
                    currency=schedule["currency"],
                    limit=limit,
                    low=low,
                    high=high,
                    table=table,
                    players=players,
                    rake=rake,
                    no_flop=schedule["no_flop"],
                    begins=schedule.get("from"),
                    ends=schedule.get("until"),
                    seen=schedule["seen"] if schedule.get("undated") else None,
                    sources=tuple(schedule["sources"]),
                )


def _rakes_by_players(line: Mapping[str, Any], rounding: Any) -> Iterator[tuple[PlayerRange, Rake]]:
    """The rake and its cap by players dealt in."""
    rates = _values_by_players(line["percent"] if "percent" in line else [line["each"]])
    for (players, rate), (others, cap) in product(rates, _values_by_players(line["caps"])):
        most = min((end for end in (players[1], others[1]) if end is not None), default=None)
        least = max(players[0], others[0])
        if most is None or least <= most:
            caps = ((least, _cents(cap)),)
            if "percent" in line:
                part = Fraction(rate) / 100
                rake = Rake(percent=part.numerator, of=part.denominator, rounding=rounding)
            else:
                taken, each = map(_cents, rate[0])
                rake = Rake(percent=taken, of=each, rounding="incremental", increment=each)
            yield (least, most), replace(rake, caps_by_players=caps)


def _values_by_players(value: Any) -> list[tuple[PlayerRange, Any]]:
    """A value of all tables, or one for each number of players."""
    if not isinstance(value, Mapping):
        return [((2, None), value)]
    by_players: list[tuple[PlayerRange, Any]] = []
    for players, amount in value.items():
        match = _PLAYER_RANGE.fullmatch(players)
        assert match is not None, players
        least = int(match[1])
        most = None if match[2] else int(match[3] or least)
        by_players.append(((least, most), amount))
    return by_players


def _cents(amount: Any) -> int:
    cents = Fraction(amount) * 100
    assert cents.denominator == 1, amount
    return cents.numerator


def _site_key(site: str) -> str:
    """A site's name as it is compared: `PokerStars.com` and `Poker Stars` are PokerStars."""
    return "".join(filter(str.isalnum, site.casefold().removesuffix(".com")))


def _stakes_text(stakes: BlindPair, currency: str) -> str:
    """`$0.05/$0.10`, `$1/$2`, `INR 5/INR 10`."""
    return "/".join(money_text(stake, currency) for stake in stakes)


def money_text(cents: int, currency: str) -> str:
    """`$0.05`, `$1`, `INR 5`."""
    sign = SIGNS.get(currency, f"{currency} " if currency else "")
    return f"{sign}{cents / 100:.2f}".removesuffix(".00")
