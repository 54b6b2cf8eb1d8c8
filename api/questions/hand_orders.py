"""Hands of a filter by what they came to: the largest pot, what a player won or lost, a price.

Every hand that passes is looked at for each page, so the first of a million cost what all of them
do; those that are alike stand in the order in which they ended, the newest first.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from analytics.sql.chosen import in_money, quoted
from api.questions.filters_sql import Span, where
from api.questions.filters_tree import And, Compare, Filter, Of
from api.questions.players import Nonsense
from api.viewpoints.views import Viewed

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
    key = f"coalesce({_key(viewed, one, order)}, {_LAST})"
    keyed = f"SELECT h.hand_seq, {key} AS key FROM hands AS h"
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


def _key(viewed: Viewed, one: Filter, order: Order) -> str:
    """What hands are sorted by, in SQL, of a hand `h`: amounts of all units as their money."""
    if order == "pot":
        return in_money("pot", viewed.units)
    if order == "price":
        prices = "SELECT hand_seq, max(price) AS price FROM bids WHERE won GROUP BY hand_seq"
        price = in_money("price", viewed.units)
        return f"(SELECT {price} FROM ({prices}) AS b WHERE b.hand_seq = h.hand_seq)"
    player = player_of(one)
    if player is None:
        raise Nonsense(f"by {order} hands of one player are sorted: name him, as in player=NAME")
    nets = f"SELECT hand_seq, sum(net) AS net FROM players WHERE player = {quoted(player)}"
    sign = "-" if order == "lost" else ""
    net = in_money(f"{sign}net", viewed.units)
    return f"(SELECT {net} FROM ({nets} GROUP BY hand_seq) AS p WHERE p.hand_seq = h.hand_seq)"


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
