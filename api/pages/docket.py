"""What came of judging: how many hands agree, are contested, differ; and which need looking at."""

from typing import NamedTuple

from analytics.statistics_chosen import quoted
from api.asking.filters_tree import VERDICTS
from api.asking.listing import lent
from api.asking.verdicts import Judged
from api.asking.viewed import Viewed

NAMED = 12  # hands that a page names
AT_ONCE = 5_000  # hands that are judged while somebody waits for a page


class Docket(NamedTuple):
    """Hands by verdict, as far as the viewer may know one, and some that are not agreed on.

    `left` are hands that nobody has judged yet.
    """

    counts: dict[str, int]
    unsettled: tuple[tuple[str, str], ...]
    left: int


def docket(viewed: Viewed, judged: Judged, match: str | None = None) -> Docket | None:
    """The verdicts of all hands, or of a match's; None for who may know of none."""
    verdicts = lent(viewed, judged)
    of = "" if match is None else f"WHERE match = {quoted(match)}"
    told = f"FROM hands JOIN {verdicts} USING (hand_seq) {of}"
    counted = viewed.rows(f"SELECT verdict, count(*) AS hands {told} GROUP BY ALL")
    if not counted:
        return None
    found = {row["verdict"]: row["hands"] for row in counted}
    grave = f"{'AND' if of else 'WHERE'} verdict IN ('differ', 'contested')"
    order = f"ORDER BY verdict DESC, hand_seq DESC LIMIT {NAMED}"
    rows = viewed.rows(f"SELECT hand, CAST(verdict AS VARCHAR) AS verdict {told} {grave} {order}")
    unsettled = tuple((row["hand"], row["verdict"]) for row in rows)
    return Docket({name: found.get(name, 0) for name in VERDICTS}, unsettled, judged.left)
