"""The hands that pass a filter: in which order they stand, and how they are spread.

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
from api.questions.filters_sql import STREET, Span, seats, where
from api.questions.filters_tree import (
    EVERY,
    And,
    Compare,
    Filter,
    Flag,
    Not,
    Of,
    chance,
    counts,
    joined,
    text_of,
)
from api.questions.judging import lent, shown
from api.questions.players import Nonsense
from api.questions.verdicts import Judged
from api.viewpoints.views import Viewed
from engine.verdict import VERDICTS
from store.sql.guard import Refused
from store.sql.json_values import json_rows
from store.sql.query import Query

WINDOW = 1 << 13  # hands that are looked at first
WIDER = 8  # how many times as many are looked at next
Order = Literal["pot", "won", "lost", "price"]
TITLES: dict[str, str] = {
    "newest": "newest first",
    "oldest": "oldest first",
    "pot": "largest pot first",
    "won": "most won first",
    "lost": "most lost first",
    "price": "highest price first",
}
_LAST = "-1e300"  # where there is nothing to sort by


def player_of(one: Filter) -> str | None:
    """The one player whom every hand of a filter has, if it names one and no other."""
    parts = one.all if isinstance(one, And) else (one,)
    named = {part.player for part in parts if isinstance(part, Of) and part.player is not None}
    if not named:
        named = {
            str(part.value)
            for part in parts
            if isinstance(part, Compare) and (part.field, part.op) == ("player", "=")
        }
    return named.pop() if len(named) == 1 else None


class Place(NamedTuple):
    """From which hand on, how many; `backwards` those before it, the nearest first."""

    after: int | None
    limit: int
    backwards: bool = False


def in_order(
    viewed: Viewed, one: Filter, order: Order, at: Place, verdicts: str | None, seconds: float
) -> list[int]:
    """The hands of a filter from a place on, by `hand_seq`."""
    # What hands are sorted by, of a hand `h`: amounts of all units as their money.
    if order == "pot":
        key = amount_sql("pot", viewed.units)
    elif order == "price":
        prices = "SELECT hand_seq, max(price) AS price FROM bids WHERE won GROUP BY hand_seq"
        price = amount_sql("price", viewed.units)
        key = f"(SELECT {price} FROM ({prices}) AS b WHERE b.hand_seq = h.hand_seq)"
    else:
        player = player_of(one)
        if player is None:
            raise Nonsense(
                f"by {order} hands of one player are sorted: name him, as in player=NAME"
            )
        nets = f"SELECT hand_seq, sum(net) AS net FROM players WHERE player = {quoted(player)}"
        net = amount_sql("-net" if order == "lost" else "net", viewed.units)
        his = f"{nets} GROUP BY hand_seq"
        key = f"(SELECT {net} FROM ({his}) AS p WHERE p.hand_seq = h.hand_seq)"
    keyed = f"SELECT h.hand_seq, coalesce({key}, {_LAST}) AS key FROM hands AS h"
    down, side = ("ASC", ">") if at.backwards else ("DESC", "<")
    beyond = "true"
    if at.after is not None:
        it = f"SELECT (key, hand_seq) FROM ({keyed} WHERE h.hand_seq = {at.after})"
        beyond = f"(key, hand_seq) {side} ({it})"
    passed = f"SELECT hand_seq FROM hands WHERE {where(one, None, verdicts)}"
    sql = (
        f"SELECT hand_seq FROM ({keyed}) WHERE hand_seq IN ({passed}) AND {beyond}"
        f" ORDER BY key {down}, hand_seq {down} LIMIT {at.limit}"
    )
    found: list[int] = viewed.query.ask(sql, seconds)["hand_seq"].to_pylist()
    return found


def spanned(those: list[int]) -> tuple[Span, str]:
    """These hands as a condition, and the span in which they lie."""
    condition = f"hand_seq IN ({', '.join(map(str, those))})"
    return Span(min(those) - 1, max(those) + 1), condition


def windows(after: int | None, end: int, newest_first: bool, size: int) -> Iterator[Span]:
    """All hands from there on, window by window."""
    if newest_first:
        before = end if after is None else min(after, end)
        while before > 0:
            yield Span(before - size - 1, before)
            before, size = before - size, size * WIDER
    else:
        after = -1 if after is None else after
        while after < end - 1:
            yield Span(after, after + size + 1)
            after, size = after + size, size * WIDER


KEPT_MAX = 64  # answers that are kept of each viewer: a few kilobytes each
Numbers = np.ndarray[Any, np.dtype[Any]]
SECONDS = 30.0  # that an answer may take, unless the asker has more patience
TOP = 10  # matches and players: those with most hands

AUCTION: dict[str, Filter] = {
    "won": joined(And, [Flag("auction-won"), Not(Flag("auction-tied"))]),
    "tied": Flag("auction-tied"),
    "none": Not(Flag("auction-won")),
}
SHOWDOWN: dict[str, Filter] = {"yes": Flag("showdown"), "no": Not(Flag("showdown"))}
COUNTED = f"""
WITH alike AS MATERIALIZED (
    SELECT
        game, match, players, {STREET} AS street, showdown, voided,
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
WON = "SELECT hand_seq FROM bids WHERE won"
OUTCOMES = ("none", "won", "tied")  # by how many won an auction of a hand, as far as two
_turn = threading.Lock()  # for what is kept; nobody counts while he has it
_outcomes_of: WeakKeyDictionary[Query, Numbers] = WeakKeyDictionary()
_kept: WeakKeyDictionary[Query, OrderedDict[str, "_KeptFacets"]] = WeakKeyDictionary()
FACETS = ("game", "match", "player", "street", "showdown", "auction", "verdict")
FEW = ("match", "player")


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


class _KeptFacets:
    """What a filter was answered, and by which verdicts; who asks the same meanwhile waits."""

    def __init__(self) -> None:
        self.turn = threading.Lock()
        self.by: pa.Table | None = None
        self.facets: Facets | None = None


def facets(
    viewed: Viewed,
    hand_filter: Filter = EVERY,
    judged: Judged | None = None,
    seconds: float = SECONDS,
) -> Facets:
    """Count them; what was counted for a viewer is answered again as long as he sees the same hands
    and verdicts.

    Who asks something else waits for no count of another's: DuckDB shares its threads among them.
    """
    rows, text = judged and judged.rows, text_of(hand_filter)
    end = time.monotonic() + seconds
    with _turn:
        kept = _kept.setdefault(viewed.query, OrderedDict())
        answer = kept.setdefault(text, _KeptFacets())
        kept.move_to_end(text)
        while len(kept) > KEPT_MAX:
            kept.popitem(last=False)
    if not answer.turn.acquire(timeout=seconds):
        raise Refused(f"stopped: no answer within {seconds:g} s")
    try:
        if answer.facets is None or answer.by is not rows:
            answer.facets = _counted(viewed, hand_filter, judged, end - time.monotonic())
            answer.by = rows
        return answer.facets
    finally:
        answer.turn.release()


def _counted(viewed: Viewed, hand_filter: Filter, judged: Judged | None, seconds: float) -> Facets:
    sql = COUNTED.format(where=where(hand_filter, None, lent(viewed, judged)))
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
    counted["auction"] = _spread(_outcomes(viewed)[played], OUTCOMES)
    if judged is not None:
        # By `hand_seq`, a verdict's place among all there are, from 1; 0 where none is visible.
        codes = np.zeros(viewed.snapshot.next_seq, dtype=np.uint8)
        verdicts = shown(judged, viewed)
        words = verdicts["verdict"].combine_chunks()
        codes[verdicts["hand_seq"].to_numpy()] = words.indices.to_numpy() + 1
        counted["verdict"] = _spread(codes[np.concatenate([played, void])], ("", *VERDICTS))
    found: dict[str, list[Count]] = {}
    for facet, values in counted.items():
        if facet == "street":  # in their order; all else by how many hands there are
            values = [(STREETS[int(value)], hands) for value, hands in sorted(values)]
        else:
            values.sort(key=lambda count: (-count[1], count[0]))
        terms = {"auction": AUCTION, "showdown": SHOWDOWN}.get(facet)
        found[facet] = []
        for value, hands in values[:TOP] if facet in FEW else values:
            term = terms[value] if terms else Compare(facet, "=", value)
            text = text_of(joined(And, [hand_filter, term]))
            found[facet].append(Count(value, hands, text))
    return Facets(hands=len(played) + len(void), **found, unjudged=UNSET)


def times(viewed: Viewed, hand_filter: Filter, judged: Judged | None) -> int | None:
    """How often a count of pages counts the hands of its own filter, where one may count several
    times: by what it counts, or as often as the filter names a hand. None of any other filter."""
    passed = where(hand_filter, None, lent(viewed, judged) if judged else "verdicts")
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
        if isinstance(part, Of)
        for term in (part.one.all if isinstance(part.one, And) else (part.one,))
        if isinstance(term, Compare) and term.field in ("did", "could") and term.op == "="
    ]
    if len(terms) != 1:
        return None
    ((his, term),) = terms
    name = str(term.value)
    if chance(name)[0].once and his.player is not None:
        return None
    rows, end = counts(name, "true"), "k" if term.field == "did" else "n"
    found = viewed.query.ask(
        f"SELECT CAST(sum({end}) AS BIGINT) AS times FROM ({rows})"
        f" WHERE hand_seq IN ({those}) AND (hand_seq, seat) IN ({seats(his)})",
        SECONDS,
    )
    return int(found["times"][0].as_py() or 0)


def _spread(codes: Numbers, names: Sequence[str]) -> list[tuple[str, int]]:
    """How many there are of each code that has a name, if there is one."""
    counts = np.bincount(codes, minlength=len(names)).tolist()
    return [(name, hands) for name, hands in zip(names, counts, strict=True) if name and hands]


def _outcomes(viewed: Viewed) -> Numbers:
    """By `hand_seq`, how many won an auction of that hand: none, one, or (2) several."""
    query = viewed.query
    if query not in _outcomes_of:
        seqs = np.sort(viewed.ask(WON)["hand_seq"].to_numpy())
        outcomes = np.zeros(viewed.snapshot.next_seq, dtype=np.uint8)
        outcomes[seqs] = 1
        outcomes[seqs[1:][seqs[1:] == seqs[:-1]]] = 2
        _outcomes_of[query] = outcomes
    return _outcomes_of[query]
