"""What came of judging: how many hands agree, are contested, differ; and which need looking at."""

import json
from typing import Any, NamedTuple

from analytics.sql.chosen import quoted
from api.http.ask import Access
from api.http.scopes import AUDIT
from api.questions.filters_tree import VERDICTS
from api.questions.verdicts import lent, verdicts_of
from api.viewpoints.views import Viewed

NAMED = 8  # hands that a page names
AT_ONCE = 5_000  # hands that are judged while somebody waits for a page


class DisputedHands(NamedTuple):
    """Hands by verdict, as far as the viewer may know one, and some that are not agreed on.

    `moveless` are those that differ without a chip going elsewhere. `left` are hands that
    nobody has judged yet; `going` says that somebody does so now.
    """

    counts: dict[str, int]
    unsettled: tuple[dict[str, Any], ...]
    moveless: int
    left: int
    going: bool

    @property
    def judged(self) -> int:
        """How many hands are counted."""
        return sum(self.counts.values())


def disputed_hands(
    ask: Access, viewed: Viewed, hands: int, match: str | None = None, judge: bool = False
) -> DisputedHands | None:
    """The verdicts of so many hands, all or a match's; None for who may know of none.

    A few hands are judged at once. To have more of them judged (`judge`) is an auditor's to ask.
    """
    if judge:
        ask.needs(AUDIT)
    judged = verdicts_of(viewed.snapshot).known(viewed.snapshot, AT_ONCE)
    if judge and judged.left:
        ask.service.judging.begin(viewed.snapshot)
    verdicts = lent(viewed, judged)
    of = "" if match is None else f"WHERE match = {quoted(match)}"
    told = f"FROM hands JOIN {verdicts} USING (hand_seq) {of}"
    still = "count(*) FILTER (WHERE moves = 0) AS moveless"
    counted = viewed.rows(f"SELECT verdict, count(*) AS hands, {still} {told} GROUP BY verdict")
    if not counted and not (viewed.viewer.auditor and judged.left):
        return None
    found = {row["verdict"]: row["hands"] for row in counted}
    grave = f"{'AND' if of else 'WHERE'} verdict IN ('differ', 'contested')"
    order = f"ORDER BY verdict DESC, hand_seq DESC LIMIT {NAMED}"
    told_of = "hand, CAST(verdict AS VARCHAR) AS verdict, players, game, pot, played, last_at AS at"
    rows = viewed.rows(f"SELECT {told_of} {told} {grave} {order}")
    unsettled = tuple({**row, "players": json.loads(row["players"] or "[]")} for row in rows)
    left = max(0, hands - sum(found.values())) if judged.left else 0
    counts: dict[str, int] = {name: found.get(name, 0) for name in VERDICTS}
    moveless = sum(row["moveless"] for row in counted)
    return DisputedHands(counts, unsettled, moveless, left, ask.service.judging.going)
