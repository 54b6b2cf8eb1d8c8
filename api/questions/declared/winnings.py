"""How a player's winnings grew, hand by hand, thinned for a graph.

Lines keep their highest and lowest points. `runouts` takes the luck of so many hands out, evenly
spread: that is the adjusted line, and `adjusted` says of how many.
"""

from typing import Annotated

from msgspec import Meta, field
from msgspec.structs import asdict

from analytics.results.winnings_curve import LINES, POINTS, POINTS_MIN, Point, Winnings
from analytics.results.winnings_curve import winnings_curve as curve
from analytics.sql import facts_sql
from api.questions.luck import mirrored_matches, nets_without_luck
from api.questions.player_measures import filters_of_params, money_of
from api.questions.question import FILTER_NAMES, Filters, Name, Param, Question, Table
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.viewer import ShowProgress, without_progress

Points = Annotated[int, Param("So many points at most.", least=POINTS_MIN, most=10_000)]


class WinningsParams(Filters, frozen=True):
    """Parameters of `winnings`: whose, in which hands, and in how many of them luck is taken
    out."""

    player: Name
    points: Points = POINTS
    runouts: Annotated[int | None, Param("Hands to adjust.", most=500)] = 0


class WinningsLines(
    Winnings, frozen=True, kw_only=True, tag_field="schema", tag="muckrake.winnings/1"
):
    """His lines, and what each of them means."""

    viewpoint: str = field(name="as")
    lines: dict[str, str]


class WinningsPoint(Point, frozen=True):
    """A point of his lines."""

    unit: Annotated[str | None, Meta(description="what amounts count")]


def winnings_lines(
    viewed: LedgerView, params: WinningsParams, watch: ShowProgress
) -> WinningsLines:
    """The winnings lines of one player."""
    found = winnings(viewed, params, watch)
    return WinningsLines(**asdict(found), viewpoint=viewed.viewer.view, lines=LINES)


def winnings(
    viewed: LedgerView, params: WinningsParams, watch: ShowProgress = without_progress
) -> Winnings:
    """A player's winnings curve; without luck taken out of any hand there is no line without
    luck."""
    chosen = filters_of_params(viewed, params)
    unit = money_of(viewed, facts_sql(chosen, "NULL"))
    adjusted = None
    if params.runouts != 0:
        adjusted = nets_without_luck(viewed, chosen, params.runouts, watch)
    deals = mirrored_matches(viewed)
    return curve(viewed, chosen, points=params.points, adjusted=adjusted, deals=deals, unit=unit)


def winnings_points(winnings: Winnings) -> list[WinningsPoint]:
    """A row for each point."""
    return [WinningsPoint(**asdict(point), unit=winnings.unit) for point in winnings.points]


QUESTION = Question(
    name="winnings",
    text=__doc__,
    path="/players/{player}/winnings",
    operation="player_winnings",
    params=WinningsParams,
    answer=WinningsLines,
    ask=winnings_lines,
    tables=(Table("points", WinningsPoint, winnings_points),),
    page="/players/{player}/winnings",
    page_parameters=FILTER_NAMES,
)
