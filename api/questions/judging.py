"""Which verdicts a viewpoint may know, and the hands that are judged before it is answered.

`due` says which those are; if they are many, a process of the server judges them, and tells how far
it is (`api/serving/kept_answers.py`).
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
from api.viewpoints.viewer import ShowProgress
from api.viewpoints.views import Viewed
from store.reader import Snapshot
from store.sql.query import Query

KEEP_S = 5.0  # of judging: no more is lost where it is broken off
UNASKED_MAX = 5_000  # hands that are judged because somebody looks at a page
_visible: WeakKeyDictionary[Viewed, dict[str | None, Numbers]] = WeakKeyDictionary()


def shown(judged: Judged, viewed: Viewed) -> pa.Table:
    """The verdicts that a viewpoint may know."""
    if viewed.viewer.auditor:
        return judged.rows
    if not viewed.opened:
        return SCHEMA.empty_table()
    hands = viewed.ask(f"SELECT hand_seq FROM hands WHERE {visible_verdicts(viewed)}")["hand_seq"]
    return judged.rows.filter(pc.is_in(judged.rows["hand_seq"], value_set=hands))


def visible_verdicts(viewed: Viewed) -> str:
    """Which hands a viewpoint may know the verdicts of: all, or those that are open to all."""
    if viewed.viewer.auditor:
        return "true"
    names = ", ".join("'" + match.replace("'", "''") + "'" for match in sorted(viewed.opened))
    return f"match IN ({names})" if names else "false"


def lent(viewed: Viewed, judged: Judged | None) -> str:
    """The name under which the viewer's questions find verdicts, none if there are none."""
    known, rows = _lent.get(viewed.query), judged and judged.rows
    if known is None or known[0] is not rows:
        table = SCHEMA.empty_table() if judged is None else shown(judged, viewed)
        known = rows, viewed.query.add_table(table)
        _lent[viewed.query] = known
    return known[1]


_lent: WeakKeyDictionary[Query, tuple[pa.Table | None, str]] = WeakKeyDictionary()


def lacking(viewed: Viewed, match: str | None = None) -> Numbers:
    """The hands without a verdict, all or a match's, of which this viewpoint could be told one, the
    newest first."""
    verdicts, auditor = verdicts_of(viewed.snapshot), viewed.viewer.auditor
    if not verdicts.known(viewed.snapshot).left or not (auditor or viewed.opened):
        return np.zeros(0, dtype=np.int64)
    if auditor and match is None:  # and what is no hand, which is seen then
        return verdicts.left_of(np.arange(viewed.snapshot.next_seq)[::-1])
    if match not in _visible.setdefault(viewed, {}):
        of = "" if match is None else f" AND match = {quoted(match)}"
        visible = f"{visible_verdicts(viewed)}{of}"
        sql = f"SELECT hand_seq FROM hands WHERE {visible} ORDER BY hand_seq DESC"
        _visible[viewed][match] = viewed.ask(sql)["hand_seq"].to_numpy()
    return verdicts.left_of(_visible[viewed][match])


def due(viewed: Viewed, *, on_demand: bool = False, match: str | None = None) -> Numbers:
    """Those of them that are judged before this viewpoint is answered: none of many, unless an
    auditor asks for it."""
    left = lacking(viewed, match)
    return left if (on_demand and viewed.viewer.auditor) or len(left) <= UNASKED_MAX else left[:0]


def judged(viewed: Viewed, hands: Numbers, watch: ShowProgress) -> Judged:
    """The verdicts after these hands have been judged; they are kept for later questions."""
    verdicts, snapshot = verdicts_of(viewed.snapshot), viewed.snapshot
    if len(hands):
        with suppress(FileNotFoundError):  # compacted meanwhile: the next question goes on
            for _ in watch(_judging(verdicts, snapshot, hands), "judging", len(hands)):
                pass
        verdicts.keep(snapshot)
    return verdicts.known(snapshot)


def _judging(verdicts: Verdicts, snapshot: Snapshot, hands: Numbers) -> Iterator[None]:
    """Judge these, a step a hand; what is judged is kept by the way."""
    done, kept_at = 0, time.monotonic()
    for progress in verdicts.judge(snapshot, hands):
        yield from repeat(None, progress.done - done)
        done = progress.done
        if time.monotonic() - kept_at > KEEP_S:
            verdicts.keep(snapshot)
            kept_at = time.monotonic()
