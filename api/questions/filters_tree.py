"""The tree of a filter: frozen terms and values, their texts, and the SQL of counts.

Which fields and flags there are, what each asks and of whom, stands here and nowhere else; and the
counts of pages, how often each player did something in each hand, out of how often he could. Each
is asked by the SQL file that counts it on a page, a hand a part. So a filter finds the hands behind
every `k of n` (`did=NAME`, `could=NAME`), and no count is defined a second time.
"""

from collections.abc import Callable, Collection
from typing import Any, Literal, NamedTuple

from msgspec import Struct

from analytics.auctions import bidding
from analytics.auctions.bidding import MEASURES as BIDS
from analytics.luck.luck_queries import MEASURES as SWAPS
from analytics.luck.luck_queries import luck_sql
from analytics.opponents.report_measures import LOOKS, one_rival_look
from analytics.replay.flags import FLAGS as COUNTED
from analytics.replay.flags import POSTFLOP_STREETS, STREETS
from analytics.sql import file_sql, quoted
from analytics.sql import sql_text as file_text
from analytics.statistics.catalogue import STATISTICS
from api.questions.filters_values import (
    Amount,
    Moment,
    Pattern,
    amount_text,
    moment_text,
    pattern_text,
    quoted_name,
)
from engine.verdict import VERDICTS
from odds.rank import CATEGORIES

Op = Literal["=", "!=", "<", "<=", ">", ">="]
OPS: tuple[Op, ...] = ("=", "!=", "<", "<=", ">", ">=")
EQUALITY: tuple[Op, ...] = ("=", "!=")
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

HAND_CATEGORIES = tuple(name.replace(" ", "-") for name in CATEGORIES)  # the weakest first


class Field(NamedTuple):
    """A field's kind of value, whether one player can be asked for it, and what it means."""

    kind: Kind
    of_player: bool
    about: str

    @property
    def ops(self) -> tuple[Op, ...]:
        """The operators of a field: text is equal or not; all else has an order, but for cards."""
        return (
            OPS
            if self.kind in ("amount", "count", "street", "made", "moment", "hand")
            else EQUALITY
        )


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
    """A field compared with a value."""

    field: str
    op: Op
    value: Value


class Flag(Struct, frozen=True, tag=True):
    """A flag that a hand or a player has."""

    name: str


Term = Compare | Flag


class PlayerTerms(Struct, frozen=True, tag=True):
    """Terms about one player: about the player of this name, or about any one, but all about
    him."""

    player: str | None
    one: "Filter"


class Not(Struct, frozen=True, tag=True):
    """The opposite of a filter."""

    one: "Filter"


class And(Struct, frozen=True, tag=True):
    """All of these filters; without any, the filter that every hand passes."""

    all: tuple["Filter", ...]


class Or(Struct, frozen=True, tag=True):
    """Any of these filters."""

    any: tuple["Filter", ...]


Filter = Compare | Flag | PlayerTerms | Not | And | Or
EMPTY_FILTER = And(())


def join_filters(kind: type[And] | type[Or], parts: list[Filter]) -> Filter:
    """Join filters into one; what is joined in the same way already is taken apart."""
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


_VALUE_TEXTS: dict[type, Callable[[Any], str]] = {
    Amount: amount_text,
    Moment: moment_text,
    Pattern: pattern_text,
    int: str,
    str: quoted_name,
}


def filter_text(hand_filter: Filter) -> str:
    """The text of a filter; `parse_filter` reads it as the same tree."""
    match hand_filter:
        case Compare(field=field, op=op, value=value):
            return f"{field}{op}{_VALUE_TEXTS[type(value)](value)}"
        case Flag(name=name):
            return name
        case PlayerTerms(player=player, one=inner):
            single = isinstance(inner, Compare | Flag) and player is not None
            whose = "player" if player is None else f"{quoted_name(player)}:"
            return whose + (filter_text(inner) if single else f"({filter_text(inner)})")
        case Not(one=inner):
            return (
                f"!({filter_text(inner)})"
                if isinstance(inner, And | Or)
                else f"!{filter_text(inner)}"
            )
        case And(all=parts):
            return " & ".join(
                f"({filter_text(part)})" if isinstance(part, Or) else filter_text(part)
                for part in parts
            )
        case Or(any=parts):
            return " | ".join(map(filter_text, parts))


def terms(hand_filter: Filter) -> tuple[Term, ...]:
    """Every term of a filter, those about one player among them."""
    match hand_filter:
        case Compare() | Flag():
            return (hand_filter,)
        case PlayerTerms(one=inner) | Not(one=inner):
            return terms(inner)
        case And(all=parts) | Or(any=parts):
            return tuple(term for part in parts for term in terms(part))


_PART = "{{'hand_seq': hand_seq, 'seat': seat}}"  # the part of a row
_AUCTION_FILES = ("bids_placed", "bids_outcomes", "bids_after")  # those that value no card
_EQUITY_LOOKS = ("bluff", "slow_play")  # by equities, which no ledger keeps
_SLOTS = (0, 1)
CHECK_LOOK = "after_check"  # looks that begin so are about a rival's checks


class CountQuery(NamedTuple):
    """The SQL of one count: its file, the columns that begin with `column`, and whether it has a k.

    `rows` is the SELECT that the file reads, `unknown` the seats of whom it is not known. `once`:
    no hand counts twice.
    """

    file: str
    column: str
    rows: str
    unknown: str | None = None
    done: bool = True
    once: bool = False


_FACTS = f"SELECT *, {_PART} AS part FROM facts WHERE {{span}}"
_AUCTIONS = f"""SELECT * REPLACE ({_PART} AS part)
    FROM ({bidding.auctions_sql(None, None)}) WHERE {{span}}"""
_RISKS = f"""SELECT * REPLACE ({_PART} AS part), NULL::DOUBLE AS before, NULL::DOUBLE AS after
    FROM ({luck_sql("swaps_behaviour", None, None)}) WHERE {{span}}"""
# Of a rival's cards a count asks only whether one rival was left to have them.
_ACTS = f"""SELECT *, NULL::DOUBLE AS equity, {_PART} AS part FROM (
    WITH filtered AS (
        SELECT d.*, {{ours}} AS ours, coalesce(f.per_chip, 1) AS per_chip,
            coalesce(f.showdown, FALSE) AS showdown
        FROM (
            SELECT *, match || '/' || number AS hand, CASE WHEN rivals = 1 THEN 2 END AS rival_cards
            FROM decisions WHERE {{span}}
        ) AS d
        LEFT JOIN (SELECT * FROM facts WHERE {{span}}) AS f
            ON d.hand_seq = f.hand_seq AND d.seat = f.seat
    ) SELECT * FROM ({{acts}}))"""
_UNKNOWN_BIDS = (
    "SELECT hand_seq, seat FROM auctions WHERE {span} AND (bid IS NULL OR outcome IS NULL)"
)
_UNKNOWN_ACTS = (
    "SELECT hand_seq, seat FROM decisions WHERE {span} AND action = 'bid' AND amount IS NULL"
)
_UNKNOWN_SWAPS = "SELECT hand_seq, seat FROM risks WHERE {span} AND changed IS NULL"


def _count_queries() -> dict[str, CountQuery]:
    """Every count that hands can be asked for, by its name."""
    chances = {}
    for statistic in STATISTICS.values():
        done = statistic.kind in ("share", "ratio")
        once = statistic.prefix in COUNTED or statistic.file not in ("lead_bets", "aggression")
        chances[statistic.name] = CountQuery(
            statistic.file, statistic.prefix, _FACTS, done=done, once=once
        )
    for measure in BIDS.values():
        if measure.file in _AUCTION_FILES:
            chances[measure.name] = CountQuery(
                measure.file, measure.name, _AUCTIONS, _UNKNOWN_BIDS, measure.kind == "share"
            )
    for measure in SWAPS.values():
        if measure.file == "swaps_behaviour" or measure.name == "swap":
            chances[measure.name] = CountQuery(measure.file, measure.name, _RISKS, _UNKNOWN_SWAPS)
    for street in POSTFLOP_STREETS:
        for slot in _SLOTS:
            rows = f"{_RISKS} AND street = '{street}' AND slot = {slot}"
            chances[swap_count_name(street, slot)] = CountQuery(
                "swaps_luck", "swap", rows, _UNKNOWN_SWAPS
            )
    for look in LOOKS:
        if look not in _EQUITY_LOOKS:
            chances[look] = CountQuery("opponent_looks", look, _ACTS, _UNKNOWN_ACTS)
    for street in STREETS:
        look = f"fold_{street}"
        chances[one_rival_look(look)] = CountQuery("opponent_pays", look, _ACTS, _UNKNOWN_ACTS)
    return chances


def swap_count_name(street: str, slot: int) -> str:
    """The name of the count of one card's swaps on one street; its slot counts from 0."""
    return f"swap_{street}_{slot + 1}"


COUNT_QUERIES = _count_queries()
COUNTS_WITH_K = tuple(name for name, one in COUNT_QUERIES.items() if one.done)
COUNTS_WITH_N = tuple(COUNT_QUERIES)


def is_count(text: str, names: Collection[str]) -> bool:
    """Whether a text names a count; a look after a check may name a rival (`after_check:lynx`)."""
    name, against, rival = text.partition(":")
    return name in names and (not against or (bool(rival) and name.startswith(CHECK_LOOK)))


def count_query(text: str) -> tuple[CountQuery, str]:
    """The count that a text names, and the rival whose checks it is about, or an empty text."""
    name, _, rival = text.partition(":")
    return COUNT_QUERIES[name], rival


def count_sql(name: str, span: str) -> str:
    """The SELECT of `hand_seq`, `seat`, `k` and `n` of a count in the hands of a span."""
    count, rival = count_query(name)
    ours = f"d.player = {quoted(rival)}" if rival else "TRUE"
    rows = count.rows.format(span=span, acts=f"\n{file_text('opponent_acts')}", ours=ours)
    sql = file_sql(count.file, rows)
    if count.rows is _ACTS:
        numbers, named = (
            "sum(done) AS k, count(*) AS n",
            f"WHERE look = '{count.column}' GROUP BY ALL",
        )
    else:
        done = f"{count.column}_k" if count.done else "NULL"
        numbers, named = f"{done} AS k, {count.column}_n AS n", ""
    return f"SELECT part.hand_seq, part.seat, {numbers} FROM ({sql}) {named}"


def is_counted_sql(name: str, end: str, span: str) -> str:
    """SQL for whether a count has the hand of a row of `players` in its k or n, as `end` says."""
    unknown = count_query(name)[0].unknown
    hidden = unknown and f"WHEN (hand_seq, seat) IN ({unknown.format(span=span)}) THEN NULL "
    return (
        "CASE WHEN (hand_seq, seat) IN "
        f"(SELECT hand_seq, seat FROM ({count_sql(name, span)}) WHERE {end} > 0) THEN true "
        f"{hidden or ''}WHEN hand_seq IN (SELECT hand_seq FROM facts WHERE {span}) THEN false END"
    )
