"""`/api/v1/players`: who plays here, and how: statistics, grid, bids, swaps, winnings."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response

from api.http.answer import MEDIA, document, format_of, listed
from api.http.ask import Ask
from api.http.routes.named import Named
from api.questions import grid as gridded
from api.questions import players as asking
from api.questions import stats as counted

router = APIRouter(prefix="/api/v1/players", tags=["players"], route_class=Named)
SPOTS, RUNOUTS = 100, 500  # what may be counted while somebody waits: some seconds at worst

_LIST = ("json", "ndjson", "csv")
_STATS = ("json", "csv")


def media(*kinds: str) -> dict[int | str, dict[str, Any]]:
    """The formats of a route, for its description."""
    return {200: {"content": {MEDIA[kind].partition(";")[0]: {} for kind in kinds}}}


Player = Annotated[
    str, Path(min_length=1, max_length=200, description="A player's name, percent-encoded.")
]
OfMatch = Annotated[str | None, Query(max_length=200, description="Only this match's hands.")]
OfGame = Annotated[str | None, Query(max_length=200, description="Only hands of this ruleset.")]
OfUnit = Annotated[
    str | None,
    Query(max_length=100, description="Only hands played for this: chip, dollar, euro, pound."),
]
Rival = Annotated[
    str | None, Query(max_length=200, description="Only hands in which he was dealt in, too.")
]


@router.get(
    "",
    operation_id="players",
    summary="Every player: hands, net, matches, games, when he was seen",
    response_class=Response,
    responses=media(*_LIST),
)
def players(
    request: Request,
    ask: Ask,
    limit: Annotated[int, Query(ge=1, le=1000, description="So many at most.")] = 100,
    cursor: Annotated[str | None, Query(description="`next_cursor` of the page before.")] = None,
) -> Response:
    after = ask.after(cursor)
    with ask.viewed() as viewed:
        rows = asking.listed(viewed, None if after is None else (after[0], after[1]), limit + 1)
    page = rows[:limit]
    last = (page[-1]["hands"], page[-1]["player"]) if len(rows) > limit else None
    return listed(request, page, ask.cursor(last), _LIST)


@router.get(
    "/{player}/grid",
    operation_id="player_grid",
    summary="How a player plays each of the 169 classes of hole cards",
    response_class=Response,
    responses=media(*_STATS),
)
def grid(
    request: Request,
    ask: Ask,
    player: Player,
    vs: Rival = None,
    match: OfMatch = None,
    game: OfGame = None,
    unit: OfUnit = None,
) -> Response:
    kind = format_of(request, _STATS)
    with ask.viewed(unit) as viewed:
        chosen = counted.chosen_of(viewed, player, vs=vs, match=match, game=game)
        told = gridded.grid(viewed, chosen)
    if kind == "csv":
        rows = ({"player": player, **row} for row in told.cells.values())
        return listed(request, rows, offered=("csv",))
    found = gridded.document(told, player, ask.viewer.view)
    return document(request, {"schema": "muckrake.grid/1", **found})


@router.get(
    "/{player}",
    operation_id="player",
    summary="One player: what he played, won, and against whom",
    response_class=Response,
    responses=media("json"),
)
def player(request: Request, ask: Ask, player: Player) -> Response:
    with ask.viewed() as viewed:
        return document(request, asking.overview(viewed, player))
