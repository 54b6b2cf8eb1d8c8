"""`/api/v1/players`: who plays here, and how: statistics, grid, bids, swaps, winnings."""

from typing import Annotated, Any, Literal

import pyarrow as pa
from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response

from analytics.auctions.bidding import By as ByOfBids
from analytics.swaps.luck import By as ByOfSwaps
from api.http.answer import MEDIA, document, format_of, listed
from api.http.ask import Ask
from api.http.routes.named import Named
from api.http.streams import tabled
from api.questions import bids as bidding
from api.questions import grid as gridded
from api.questions import players as asking
from api.questions import stats as counted
from api.questions import swaps as lucky

router = APIRouter(prefix="/api/v1/players", tags=["players"], route_class=Named)
SPOTS, RUNOUTS = 100, 500  # what may be counted while somebody waits: some seconds at worst
FIRST_SPOTS, FIRST_RUNOUTS = 20, 100  # unless he asks for more: what was counted once is kept

_LIST = ("json", "ndjson", "csv")
_STATS = ("json", "csv")
_TABLE = ("json", "csv", "arrow")


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
AsOf = Annotated[
    str | None, Query(max_length=300, description="As it stood before this hand: MATCH/NUMBER.")
]
Spots = Annotated[
    int, Query(ge=0, le=SPOTS, description="In how many auctions or swaps a value is counted.")
]
Runouts = Annotated[
    int, Query(ge=0, le=RUNOUTS, description="Of how many closed hands luck is counted.")
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
    "/{player}/stats",
    operation_id="player_stats",
    summary="Every statistic of a player: value, k, n and its 95 % interval",
    description="As `muckrake stats --json`; with `field`, beside everybody else under the same"
    " filters. `split=street` gives each street the statistics that look at it alone.",
    response_class=Response,
    responses=media(*_STATS),
)
def stats(
    request: Request,
    ask: Ask,
    player: Player,
    vs: Rival = None,
    as_of: AsOf = None,
    split: Annotated[
        Literal["position", "game", "match", "opponent", "window", "street"] | None,
        Query(description="Split; a window is a hundred hands."),
    ] = None,
    match: OfMatch = None,
    game: OfGame = None,
    unit: OfUnit = None,
    street: Annotated[
        str | None,
        Query(pattern="^(preflop|flop|turn|river)$", description="Only statistics of this street."),
    ] = None,
    field: Annotated[bool, Query(description="Beside all others, counted as one.")] = False,
) -> Response:
    kind = format_of(request, _STATS)
    by: Any = None if split == "street" else split
    wanted = counted.of_street(street)
    with ask.viewed(unit) as viewed:
        chosen = counted.chosen_of(
            viewed, player, vs=vs, as_of=as_of, match=match, game=game, by=by
        )
        told = counted.statistics(viewed, chosen, wanted, field=field)
    if kind == "csv":
        return listed(request, counted.flat(told.found), offered=("csv",))
    found = counted.document(told, chosen, ask.viewer.view)
    if split == "street":
        found["players"] = counted.by_street(told)
    meant = counted.definitions(wanted)
    return document(request, {"schema": "muckrake.stats/1", **found, "definitions": meant})


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
    "/{player}/bids",
    operation_id="player_bids",
    summary="How well a player bids for a third card, and whether bids depend on each other",
    description="As `muckrake bids PLAYER --json`. CSV and Arrow have a row a measure.",
    response_class=Response,
    responses=media(*_TABLE),
)
def bids(
    request: Request,
    ask: Ask,
    player: Player,
    match: OfMatch = None,
    game: OfGame = None,
    unit: OfUnit = None,
    split: Annotated[ByOfBids | None, Query(description="Split.")] = None,
    spots: Spots = FIRST_SPOTS,
) -> Response:
    kind = format_of(request, _TABLE)
    with ask.viewed(unit) as viewed:
        told = bidding.bidding(viewed, bidding.Asked(player, match, game, split, spots, True))
        if kind != "json":
            return _measures(request, kind, told.found, ask.viewer.view, "bids")
        found = bidding.document(told, ask.viewer.view)
    found.pop("counted")  # depends on who asked before
    return document(request, {"schema": "muckrake.bids/1", **found})


@router.get(
    "/{player}/swaps",
    operation_id="player_swaps",
    summary="The luck of a player's swaps and run-outs, and his winnings without it",
    description="As `muckrake swaps PLAYER --json`. CSV and Arrow have a row a measure.",
    response_class=Response,
    responses=media(*_TABLE),
)
def swaps(
    request: Request,
    ask: Ask,
    player: Player,
    match: OfMatch = None,
    game: OfGame = None,
    unit: OfUnit = None,
    split: Annotated[ByOfSwaps | None, Query(description="Split.")] = None,
    spots: Spots = FIRST_SPOTS // 2,
    runouts: Runouts = FIRST_RUNOUTS,
) -> Response:
    kind = format_of(request, _TABLE)
    with ask.viewed(unit) as viewed:
        asked = lucky.Asked(player, match, game, split, spots, runouts, True)
        told = lucky.luck(viewed, asked)
        if kind != "json":
            return _measures(request, kind, told.found, ask.viewer.view, "swaps")
        found = lucky.document(told, ask.viewer.view)
    return document(request, {"schema": "muckrake.swaps/1", **found})


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


def _measures(request: Request, kind: str, found: Any, view: str, table: str) -> Response:
    rows = list(counted.flat(found))
    if kind == "csv":
        return listed(request, rows, offered=("csv",))
    return tabled(request, iter([pa.Table.from_pylist(rows, _MEASURES)]), kind, view, table)


_MEASURES = pa.schema(
    {
        "player": pa.string(),
        "part": pa.string(),
        "statistic": pa.string(),
        "value": pa.float64(),
        "k": pa.int64(),
        "n": pa.int64(),
        "low": pa.float64(),
        "high": pa.float64(),
        "drawn_low": pa.float64(),
        "drawn_high": pa.float64(),
        "unit": pa.string(),
    }
)
