"""Verdicts for a viewpoint: which it may know, and the hands that are judged before it is answered.

`hands_to_judge` says which those are; if they are many, a process of the server judges them, and
tells how far it is (`api/serving/answer_cache.py`).
"""

import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import repeat
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from analytics.sql import quoted
from api.questions.verdicts import SCHEMA, Judged, Numbers, Verdicts, verdicts_of
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.viewer import ShowProgress
from store.reader import Snapshot
from store.sql.query import Query

SAVE_EVERY_S = 5.0  # of judging: no more is lost where it is broken off
JUDGED_UNASKED_MAX = 5_000  # hands that are judged because somebody looks at a page
_visible_hands: WeakKeyDictionary[LedgerView, dict[str | None, Numbers]] = WeakKeyDictionary()


def visible_rows(judged: Judged, viewed: LedgerView) -> pa.Table:
    """The verdicts that a viewpoint may know."""
    if viewed.viewer.auditor:
        return judged.rows
    if not viewed.open_matches:
        return SCHEMA.empty_table()
    hands = viewed.ask(f"SELECT hand_seq FROM hands WHERE {visible_verdicts_sql(viewed)}")[
        "hand_seq"
    ]
    return judged.rows.filter(pc.is_in(judged.rows["hand_seq"], value_set=hands))


def visible_verdicts_sql(viewed: LedgerView) -> str:
    """SQL for the hands whose verdicts a viewpoint may know: all, or those that are open to all."""
    if viewed.viewer.auditor:
        return "true"
    names = ", ".join("'" + match.replace("'", "''") + "'" for match in sorted(viewed.open_matches))
    return f"match IN ({names})" if names else "false"


def verdict_table(viewed: LedgerView, judged: Judged | None) -> str:
    """Add the verdicts, if any, as a table to the viewer's query, and return its name."""
    known, rows = _verdict_tables.get(viewed.query), judged and judged.rows
    if known is None or known[0] is not rows:
        table = SCHEMA.empty_table() if judged is None else visible_rows(judged, viewed)
        known = rows, viewed.query.add_table(table)
        _verdict_tables[viewed.query] = known
    return known[1]


_verdict_tables: WeakKeyDictionary[Query, tuple[pa.Table | None, str]] = WeakKeyDictionary()


def unjudged_hands(viewed: LedgerView, match: str | None = None) -> Numbers:
    """The hands without a verdict, all or a match's, of which this viewpoint could be told one,
    the newest first."""
    verdicts, auditor = verdicts_of(viewed.snapshot), viewed.viewer.auditor
    if not verdicts.known(viewed.snapshot).left or not (auditor or viewed.open_matches):
        return np.zeros(0, dtype=np.int64)
    if auditor and match is None:  # and what is no hand, which is seen then
        return verdicts.unjudged_of(np.arange(viewed.snapshot.next_seq)[::-1])
    if match not in _visible_hands.setdefault(viewed, {}):
        of = "" if match is None else f" AND match = {quoted(match)}"
        visible = f"{visible_verdicts_sql(viewed)}{of}"
        sql = f"SELECT hand_seq FROM hands WHERE {visible} ORDER BY hand_seq DESC"
        _visible_hands[viewed][match] = viewed.ask(sql)["hand_seq"].to_numpy()
    return verdicts.unjudged_of(_visible_hands[viewed][match])


def hands_to_judge(
    viewed: LedgerView, *, on_demand: bool = False, match: str | None = None
) -> Numbers:
    """The hands that are judged before this viewpoint is answered: none of many, unless an
    auditor asks for it."""
    left = unjudged_hands(viewed, match)
    return (
        left
        if (on_demand and viewed.viewer.auditor) or len(left) <= JUDGED_UNASKED_MAX
        else left[:0]
    )


def judge_hands(viewed: LedgerView, hands: Numbers, watch: ShowProgress) -> Judged:
    """The verdicts after these hands have been judged; they are kept for later questions."""
    verdicts, snapshot = verdicts_of(viewed.snapshot), viewed.snapshot
    if len(hands):
        with suppress(FileNotFoundError):  # compacted meanwhile: the next question goes on
            for _ in watch(_judge(verdicts, snapshot, hands), "judging", len(hands)):
                pass
        verdicts.save(snapshot)
    return verdicts.known(snapshot)


def _judge(verdicts: Verdicts, snapshot: Snapshot, hands: Numbers) -> Iterator[None]:
    """Judge these hands, a step a hand; verdicts are saved now and then."""
    done, kept_at = 0, time.monotonic()
    for progress in verdicts.judge(snapshot, hands):
        yield from repeat(None, progress.done - done)
        done = progress.done
        if time.monotonic() - kept_at > SAVE_EVERY_S:
            verdicts.save(snapshot)
            kept_at = time.monotonic()
