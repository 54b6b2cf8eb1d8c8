"""How a player's winnings grew, as points of a graph, as far as the viewer can tell."""

from collections.abc import Iterator
from typing import Any

from analytics.results.winnings import LINES, Winnings
from analytics.results.winnings import winnings as lines_of
from analytics.sql.chosen import Chosen, table
from api.questions.luck import Asked, mirrored, nets_without_luck
from api.questions.players import Nonsense, check, money_of
from api.viewpoints.progress import ShowProgress, without_progress
from api.viewpoints.views import Viewed


def winnings(
    viewed: Viewed,
    chosen: Chosen,
    points: int,
    runouts: int | None = 0,
    watch: ShowProgress = without_progress,
) -> Winnings:
    """The lines of one player; luck is taken out of so many hands, evenly spread over the record.

    Whoever wants none of that (0) gets no adjusted line.
    """
    if chosen.player == chosen.vs:
        raise Nonsense(f"{chosen.player} has no hands against himself")
    check(viewed, chosen.player, chosen.vs, match=chosen.match, game=chosen.game)
    unit = money_of(viewed, table(chosen, "NULL"))
    adjusted = None
    if runouts != 0:
        asked = Asked(chosen.player, chosen.match, chosen.game, runouts=runouts)
        adjusted = nets_without_luck(viewed, asked, watch)
    deals = mirrored(viewed)
    told = lines_of(viewed, chosen, points=points, adjusted=adjusted, deals=deals)
    return told._replace(unit=unit)


def document(told: Winnings, view: str) -> dict[str, Any]:
    """As plain values, and what each line means."""
    found = told._asdict()
    found["points"] = [one._asdict() for one in told.points]
    found["paired"] = [one._asdict() for one in told.paired]
    return {"as": view, **found, "lines": LINES}


def rows(told: Winnings) -> Iterator[dict[str, Any]]:
    """A row a point."""
    return ({**one._asdict(), "unit": told.unit} for one in told.points)
