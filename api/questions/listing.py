"""Hands that a viewer asks for, a page at a time in the order they ended, newest first or last.

A page is found in windows of that order, each wider than the one before, so that the first hands of
a million cost what those of a thousand do, and a filter that few hands pass looks at all of them
once. No more than a page is ever in memory.
"""

import json
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from api.questions.facets import SECONDS, facets
from api.questions.filters_sql import STREET, Span, asks_verdicts, where
from api.questions.filters_tree import EVERY, STREETS, Filter
from api.questions.verdicts import Judged, lent
from api.viewpoints.views import Viewed
from store.sql.answers import plain
from store.sql.guard import Refused

__all__ = ["Page", "facets", "lent", "page", "place"]

Row = dict[str, Any]
WINDOW = 1 << 13  # hands that are looked at first
WIDER = 8  # how many times as many are looked at next
FOUND = f"""
WITH chosen AS MATERIALIZED (
    SELECT hand_seq FROM hands WHERE {{span}} AND {{where}}
    ORDER BY hand_seq {{order}} LIMIT {{limit}}
),
winning AS (
    SELECT hand_seq, list(player ORDER BY seat) AS winners
    FROM facts WHERE {{span}} AND won AND hand_seq IN (FROM chosen) GROUP BY hand_seq
)
SELECT
    hand_seq, hand, match, game, players, board, pot, nets AS net, showdown, voided AS void,
    last_at AS at, played, unit, number, {STREET} AS street, {{verdict}} AS verdict, winners
FROM hands LEFT JOIN winning USING (hand_seq) {{join}}
WHERE {{span}} AND hand_seq IN (FROM chosen) ORDER BY hand_seq {{order}}
"""


class Page(NamedTuple):
    """Some hands, and after which one to go on; None, if that was the last."""

    rows: list[Row]
    next: int | None


def page(
    viewed: Viewed,
    one: Filter = EVERY,
    after: int | None = None,
    limit: int = 50,
    newest_first: bool = False,
    judged: Judged | None = None,
    seconds: float = SECONDS,
) -> Page:
    """The next `limit` hands after a `hand_seq`, or before it, in the order asked for.

    Verdicts are told, and known to the filter, as far as `judged` has them and the viewer may.
    After so many seconds it is `Refused`.
    """
    end = time.monotonic() + seconds
    verdicts = lent(viewed, judged) if judged or asks_verdicts(one) else ""
    told = {
        "order": "DESC" if newest_first else "ASC",
        "verdict": "verdict" if verdicts else "NULL",
        "join": f"LEFT JOIN {verdicts} USING (hand_seq)" if verdicts else "",
    }
    found: list[Row] = []
    for span in _windows(after, viewed.snapshot.next_seq, newest_first, max(WINDOW, 2 * limit)):
        lack = limit + 1 - len(found)
        asked = where(one, span, verdicts)
        sql = FOUND.format(span=span, where=asked, limit=lack, **told)
        left = end - time.monotonic()
        if left <= 0:
            raise Refused(f"stopped: no answer within {seconds:g} s")
        found += plain(viewed.query.ask(sql, left))
        if len(found) > limit:
            break
    more = found[limit - 1]["hand_seq"] if len(found) > limit else None
    return Page([_row(row) for row in found[:limit]], more)


def place(viewed: Viewed, hand: str) -> int | None:
    """The `hand_seq` of a hand that has ended."""
    return viewed.snapshot.hand_seq(hand) if hand.rpartition("/")[2].isdecimal() else None


def _windows(after: int | None, end: int, newest_first: bool, size: int) -> Iterator[Span]:
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


def _row(row: Row) -> Row:
    """The stored text as values; a hand that does not add up has none."""
    board, net, street = row["board"], row["net"], row["street"]
    return {
        **{name: value for name, value in row.items() if name != "hand_seq"},
        "players": row["players"] and json.loads(row["players"]),
        "board": None if board is None else board.split(),
        "net": None if net is None else [int(each) for each in net.split()],
        "street": None if street is None else STREETS[street],
        "winners": row["winners"] or [],
    }
