"""Lists of the hands that pass a filter: their order, and facets that count them.

They stand in the order in which they ended, or by what they came to: the largest pot, what a player
won or lost, a price. For that every hand that passes is looked at for each page, so the first of a
million cost what all of them do; those that are alike stand the newest first.

They are spread by game, match, player, street and outcome (`facets`). Each count comes with the
filter that finds those hands and no others. The ledger's hands are read once: DuckDB puts those
that are alike together, with their numbers in the order of closing, and what is known of a hand by
its number (its auction, its verdict) is looked up in an array.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import UNSET, Struct, UnsetType

from analytics.replay.flags import STREETS
from analytics.sql import amount_sql, quoted
from api.questions.filters_sql import STREET_SQL, Span, filter_sql, seats_sql
from api.questions.filters_tree import (
    EMPTY_FILTER,
    And,
    Compare,
    Filter,
    Flag,
    Not,
    PlayerTerms,
    count_query,
    count_sql,
    filter_text,
    join_filters,
)
from api.questions.judging import verdict_table, visible_rows
from api.questions.player_measures import Unanswerable
from api.questions.verdicts import Judged
from api.viewpoints.ledger_view import LedgerView
from engine.verdict import VERDICTS
from store.sql.guard import Refused
from store.sql.query import Query
from store.sql.result_values import json_rows

FIRST_WINDOW = 1 << 13  # hands that are looked at first
WINDOW_GROWTH = 8  # how many times as many are looked at next
Order = Literal["pot", "won", "lost", "price"]
ORDERS: dict[str, str] = {
    "newest": "newest first",
    "oldest": "oldest first",
    "pot": "largest pot first",
    "won": "most won first",
    "lost": "most lost first",
    "price": "highest price first",
}
_LAST_KEY = "-1e300"  # where there is nothing to sort by


def named_player(one: Filter) -> str | None:
    """The one player whom every hand of a filter has, if it names one and no other."""
    parts = one.all if isinstance(one, And) else (one,)
    named = {
        part.player for part in parts if isinstance(part, PlayerTerms) and part.player is not None
    }
    if not named:
        named = {
            str(part.value)
            for part in parts
            if isinstance(part, Compare) and (part.field, part.op) == ("player", "=")
        }
    return named.pop() if len(named) == 1 else None


class ListPosition(NamedTuple):
    """The hand after which a page of a list begins, and how many follow; `backwards` those
    before it, the nearest first."""

    after: int | None
    limit: int
    backwards: bool = False


def ordered_hands(
    viewed: LedgerView,
    one: Filter,
    order: Order,
    at: ListPosition,
    verdicts: str | None,
    seconds: float,
) -> list[int]:
    """The `hand_seq` of a page of a filter's hands, in the order of an amount."""
    # What hands are sorted by, of a hand `h`: amounts of all units as their money.
    if order == "pot":
        key = amount_sql("pot", viewed.units)
    elif order == "price":
        prices = "SELECT hand_seq, max(price) AS price FROM bids WHERE won GROUP BY hand_seq"
        price = amount_sql("price", viewed.units)
        key = f"(SELECT {price} FROM ({prices}) AS b WHERE b.hand_seq = h.hand_seq)"
    else:
        player = named_player(one)
        if player is None:
            raise Unanswerable(
                f"by {order} hands of one player are sorted: name him, as in player=NAME"
            )
        nets = f"SELECT hand_seq, sum(net) AS net FROM players WHERE player = {quoted(player)}"
        net = amount_sql("-net" if order == "lost" else "net", viewed.units)
        his = f"{nets} GROUP BY hand_seq"
        key = f"(SELECT {net} FROM ({his}) AS p WHERE p.hand_seq = h.hand_seq)"
    keyed = f"SELECT h.hand_seq, coalesce({key}, {_LAST_KEY}) AS key FROM hands AS h"
    down, side = ("ASC", ">") if at.backwards else ("DESC", "<")
    beyond = "true"
    if at.after is not None:
        it = f"SELECT (key, hand_seq) FROM ({keyed} WHERE h.hand_seq = {at.after})"
        beyond = f"(key, hand_seq) {side} ({it})"
    passed = f"SELECT hand_seq FROM hands WHERE {filter_sql(one, None, verdicts)}"
    sql = (
        f"SELECT hand_seq FROM ({keyed}) WHERE hand_seq IN ({passed}) AND {beyond}"
        f" ORDER BY key {down}, hand_seq {down} LIMIT {at.limit}"
    )
    found: list[int] = viewed.query.ask(sql, seconds)["hand_seq"].to_pylist()
    return found


def span_of_hands(those: list[int]) -> tuple[Span, str]:
    """The span in which these hands lie, and SQL for that a hand is one of them."""
    condition = f"hand_seq IN ({', '.join(map(str, those))})"
    return Span(min(those) - 1, max(those) + 1), condition


def windows(after: int | None, end: int, newest_first: bool, size: int) -> Iterator[Span]:
    """Spans of ever more hands, from a hand on, which together are all of them."""
    if newest_first:
        before = end if after is None else min(after, end)
        while before > 0:
            yield Span(before - size - 1, before)
            before, size = before - size, size * WINDOW_GROWTH
    else:
        after = -1 if after is None else after
        while after < end - 1:
            yield Span(after, after + size + 1)
            after, size = after + size, size * WINDOW_GROWTH


FACETS_MAX = 64  # answers that are kept of each viewer: a few kilobytes each
Numbers = np.ndarray[Any, np.dtype[Any]]
SECONDS = 30.0  # that an answer may take, unless the asker has more patience
TOP_VALUES = 10  # matches and players: those with most hands

AUCTION_FILTERS: dict[str, Filter] = {
    "won": join_filters(And, [Flag("auction-won"), Not(Flag("auction-tied"))]),
    "tied": Flag("auction-tied"),
    "none": Not(Flag("auction-won")),
}
SHOWDOWN_FILTERS: dict[str, Filter] = {"yes": Flag("showdown"), "no": Not(Flag("showdown"))}
FACETS_SQL = f"""
WITH alike AS MATERIALIZED (
    SELECT
        game, match, players, {STREET_SQL} AS street, showdown, voided,
        count(*) AS hands, list(hand_seq) AS seqs
    FROM hands WHERE {{where}} GROUP BY ALL
),
tables AS (SELECT players, sum(hands) AS hands FROM alike GROUP BY ALL),
seated AS (
    SELECT DISTINCT players, unnest(from_json(players, '["VARCHAR"]')) AS player, hands FROM tables
),
counted AS (
    SELECT 'game' AS facet, game AS value, sum(hands) AS hands FROM alike GROUP BY ALL
    UNION ALL SELECT 'match', match, sum(hands) FROM alike GROUP BY ALL
    UNION ALL SELECT 'player', player, sum(hands) FROM seated GROUP BY ALL
    UNION ALL SELECT 'street', CAST(street AS VARCHAR), sum(hands) FROM alike GROUP BY ALL
    UNION ALL SELECT 'showdown', CASE WHEN showdown THEN 'yes' ELSE 'no' END, sum(hands)
        FROM alike WHERE showdown IS NOT NULL GROUP BY ALL
)
SELECT facet, value, CAST(hands AS BIGINT) AS hands, NULL AS seqs FROM counted
UNION ALL SELECT CASE WHEN NOT voided THEN 'played' ELSE 'void' END, NULL, hands, seqs FROM alike
"""
AUCTION_WINNERS_SQL = "SELECT hand_seq FROM bids WHERE won"
AUCTION_OUTCOMES = ("none", "won", "tied")  # by how many won an auction of a hand, as far as two
_lock = threading.Lock()  # for what is kept; nobody counts while he has it
_cached_outcomes: WeakKeyDictionary[Query, Numbers] = WeakKeyDictionary()
_cached_facets: WeakKeyDictionary[Query, OrderedDict[str, "_CachedFacets"]] = WeakKeyDictionary()
FACETS = ("game", "match", "player", "street", "showdown", "auction", "verdict")
TOP_FACETS = ("match", "player")


class Count(Struct, frozen=True):
    """How many hands have this value, and the filter that finds them."""

    value: str
    hands: int
    filter: str


class Facets(Struct, frozen=True):
    """How many hands pass a filter, and how they are spread: for each facet its values, those with
    most hands first, of matches and players the first; `unjudged` have no verdict yet."""

    hands: int
    game: list[Count]
    match: list[Count]
    player: list[Count]
    street: list[Count]
    showdown: list[Count]
    auction: list[Count]
    verdict: list[Count]
    unjudged: int | UnsetType = UNSET


class _CachedFacets:
    """The facets of a filter by its verdicts; who asks the same meanwhile waits."""

    def __init__(self) -> None:
        self.turn = threading.Lock()
        self.by: pa.Table | None = None
        self.facets: Facets | None = None


def facets(
    viewed: LedgerView,
    hand_filter: Filter = EMPTY_FILTER,
    judged: Judged | None = None,
    seconds: float = SECONDS,
) -> Facets:
    """Count the hands of a filter by facet; cached as long as the viewer sees the same hands and
    verdicts.

    Who asks something else waits for no count of another's: DuckDB shares its threads among them.
    """
    rows, text = judged and judged.rows, filter_text(hand_filter)
    end = time.monotonic() + seconds
    with _lock:
        kept = _cached_facets.setdefault(viewed.query, OrderedDict())
        answer = kept.setdefault(text, _CachedFacets())
        kept.move_to_end(text)
        while len(kept) > FACETS_MAX:
            kept.popitem(last=False)
    if not answer.turn.acquire(timeout=seconds):
        raise Refused(f"stopped: no answer within {seconds:g} s")
    try:
        if answer.facets is None or answer.by is not rows:
            answer.facets = _count_facets(viewed, hand_filter, judged, end - time.monotonic())
            answer.by = rows
        return answer.facets
    finally:
        answer.turn.release()


def _count_facets(
    viewed: LedgerView, hand_filter: Filter, judged: Judged | None, seconds: float
) -> Facets:
    sql = FACETS_SQL.format(where=filter_sql(hand_filter, None, verdict_table(viewed, judged)))
    rows = viewed.query.ask(sql, max(0.0, seconds))
    alike = rows.filter(pc.is_valid(rows["seqs"]))
    played, void = (
        alike.filter(pc.equal(alike["facet"], name))["seqs"]
        .combine_chunks()
        .flatten()
        .to_numpy(zero_copy_only=False)
        for name in ("played", "void")
    )
    counted: dict[str, list[tuple[str, int]]] = {name: [] for name in FACETS}
    for row in json_rows(rows.filter(pc.is_valid(rows["value"])).drop_columns("seqs")):
        counted[row["facet"]].append((row["value"], row["hands"]))
    counted["auction"] = _counts_by_name(_auction_outcomes(viewed)[played], AUCTION_OUTCOMES)
    if judged is not None:
        # By `hand_seq`, a verdict's place among all there are, from 1; 0 where none is visible.
        codes = np.zeros(viewed.snapshot.next_seq, dtype=np.uint8)
        verdicts = visible_rows(judged, viewed)
        words = verdicts["verdict"].combine_chunks()
        codes[verdicts["hand_seq"].to_numpy()] = words.indices.to_numpy() + 1
        counted["verdict"] = _counts_by_name(codes[np.concatenate([played, void])], ("", *VERDICTS))
    found: dict[str, list[Count]] = {}
    for facet, values in counted.items():
        if facet == "street":  # in their order; all else by how many hands there are
            values = [(STREETS[int(value)], hands) for value, hands in sorted(values)]
        else:
            values.sort(key=lambda count: (-count[1], count[0]))
        terms = {"auction": AUCTION_FILTERS, "showdown": SHOWDOWN_FILTERS}.get(facet)
        found[facet] = []
        for value, hands in values[:TOP_VALUES] if facet in TOP_FACETS else values:
            term = terms[value] if terms else Compare(facet, "=", value)
            text = filter_text(join_filters(And, [hand_filter, term]))
            found[facet].append(Count(value, hands, text))
    return Facets(hands=len(played) + len(void), **found, unjudged=UNSET)


def times_counted(viewed: LedgerView, hand_filter: Filter, judged: Judged | None) -> int | None:
    """How often a count of pages counts the hands of its own filter, where it may count a hand
    several times. By what it counts, or as often as the filter names a hand. None of any other
    filter."""
    passed = filter_sql(hand_filter, None, verdict_table(viewed, judged) if judged else "verdicts")
    those = f"SELECT hand_seq FROM hands WHERE {passed}"
    named = [
        seq
        for part in (hand_filter.all if isinstance(hand_filter, And) else (hand_filter,))
        if isinstance(part, Compare) and (part.field, part.op) == ("hand_seq", "=")
        for seq in map(int, str(part.value).split(","))
    ]
    if len(named) > len({*named}):
        seqs = {*viewed.query.ask(those, SECONDS)["hand_seq"].to_pylist()}
        return sum(seq in seqs for seq in named)
    terms = [
        (part, term)
        for part in (hand_filter.all if isinstance(hand_filter, And) else (hand_filter,))
        if isinstance(part, PlayerTerms)
        for term in (part.one.all if isinstance(part.one, And) else (part.one,))
        if isinstance(term, Compare) and term.field in ("did", "could") and term.op == "="
    ]
    if len(terms) != 1:
        return None
    ((his, term),) = terms
    name = str(term.value)
    if count_query(name)[0].once and his.player is not None:
        return None
    rows, end = count_sql(name, "true"), "k" if term.field == "did" else "n"
    found = viewed.query.ask(
        f"SELECT CAST(sum({end}) AS BIGINT) AS times FROM ({rows})"
        f" WHERE hand_seq IN ({those}) AND (hand_seq, seat) IN ({seats_sql(his)})",
        SECONDS,
    )
    return int(found["times"][0].as_py() or 0)


def _counts_by_name(codes: Numbers, names: Sequence[str]) -> list[tuple[str, int]]:
    """The number of each code that has a name, if there are any."""
    counts = np.bincount(codes, minlength=len(names)).tolist()
    return [(name, hands) for name, hands in zip(names, counts, strict=True) if name and hands]


def _auction_outcomes(viewed: LedgerView) -> Numbers:
    """By `hand_seq`, how many won an auction of that hand: none, one, or (2) several."""
    query = viewed.query
    if query not in _cached_outcomes:
        seqs = np.sort(viewed.ask(AUCTION_WINNERS_SQL)["hand_seq"].to_numpy())
        outcomes = np.zeros(viewed.snapshot.next_seq, dtype=np.uint8)
        outcomes[seqs] = 1
        outcomes[seqs[1:][seqs[1:] == seqs[:-1]]] = 2
        _cached_outcomes[query] = outcomes
    return _cached_outcomes[query]
