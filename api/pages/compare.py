"""`/players/NAME/compare`: two players or two versions of a bot, side by side, picked there."""

import re
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from fastapi.responses import Response

from analytics.sql.chosen import quoted
from analytics.statistics.catalogue import STATISTICS
from api.http.routes.named import Named
from api.pages.players import Narrow, OfPlayer, clean
from api.questions.declared.compare import Comparison, Sides, comparison, sheets
from api.questions.filters_tree import STREETS
from api.questions.players import Nonsense, check
from api.questions.question import Sheet
from api.viewpoints.progress import without_progress
from api.viewpoints.selection import Absent
from api.viewpoints.views import Viewed

router = APIRouter(include_in_schema=False, route_class=Named)
OFFERED = 12  # others that are one click away
SURE = 0.05  # below this Holm's p says that a statistic differs
_VERSION = re.compile(r"[-_. ]*v?[0-9][\w.-]*$")


@router.get("/players/{player}/compare")
def compare(
    of: OfPlayer,
    other: Narrow = None,
    match: Annotated[tuple[str, ...], Query(max_length=2)] = (),
    street: Literal["", "preflop", "flop", "turn", "river"] = "",
) -> Response:
    matches = tuple(name for one in match if (name := clean(one)))
    of = of._replace(filters={**of.filters, "match": matches[0] if len(matches) == 1 else None})
    asked: dict[str, Any] = {"other": clean(other), "street": street or None}
    context = {**asked, "told": None, "why": None, "matches": matches, "streets": STREETS}
    with of.viewed() as viewed:
        check(viewed, of.player)
        others = others_of(viewed, of.player)
        if asked["other"] is not None:
            sides = Sides(
                player=of.player,
                match=matches,
                unit=of.unit,
                **asked,
                vs=of.filters["vs"],
                game=of.filters["game"],
            )
            try:
                context |= shown(comparison(viewed, sides, without_progress), sides)
            except (Absent, Nonsense) as reason:
                context["why"] = str(reason)
    return of.sent("compare.html", "compare", others=others, **context)


def others_of(viewed: Viewed, player: str) -> list[str]:
    """Whom to compare him with: other versions of him by their names, then those who play most."""
    alike = f"starts_with(player, {quoted(_VERSION.sub('', player))})"
    rows = viewed.rows(
        f"SELECT player FROM facts WHERE player <> {quoted(player)} GROUP BY player"
        f" ORDER BY {alike} DESC, count(*) DESC, player LIMIT {OFFERED}"
    )
    return [row["player"] for row in rows]


def shown(told: Comparison, asked: Sides) -> dict[str, Any]:
    """The tables as a terminal has them, and what surely differs."""
    every = list(sheets(told, asked))
    return {
        "told": told,
        "sheets": [one for one in every if isinstance(one, Sheet)],
        "notes": [one for one in every if not isinstance(one, Sheet)],
        "apart": [
            STATISTICS[one.statistic].title
            for one in told.statistics.values()
            if one.counted is not None and one.counted < SURE
        ],
    }
