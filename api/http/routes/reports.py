"""`/api/v1/players/{player}/winnings` and `/opponent`: a graph's lines, and a report on a rival."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from analytics.opponents.report import By
from analytics.results.winnings import FEWEST, POINTS
from analytics.sql.chosen import Chosen, quoted
from api.http.answer import document, format_of, listed
from api.http.ask import Ask
from api.http.routes.named import Named
from api.http.routes.players import RUNOUTS, SPOTS, OfGame, OfMatch, OfUnit, Player, Rival, media
from api.problem import Problem
from api.questions import opponents, winnings

router = APIRouter(prefix="/api/v1/players", tags=["players"], route_class=Named)
HANDS_MAX = 50_000  # each hand of an opponent is read as its asker sees it
_KINDS = ("json", "csv")


@router.get(
    "/{player}/winnings",
    operation_id="player_winnings",
    summary="How a player's winnings grew, hand by hand, thinned for a graph",
    description="Lines keep their highest and lowest points. `runouts` takes the luck of so many"
    " hands out, evenly spread: that is the adjusted line, and `adjusted` says of how many.",
    response_class=Response,
    responses=media(*_KINDS),
)
def player_winnings(
    request: Request,
    ask: Ask,
    player: Player,
    points: Annotated[int, Query(ge=FEWEST, le=10_000, description="So many at most.")] = POINTS,
    match: OfMatch = None,
    game: OfGame = None,
    unit: OfUnit = None,
    vs: Rival = None,
    runouts: Annotated[int, Query(ge=0, le=RUNOUTS, description="Hands to adjust.")] = 0,
) -> Response:
    kind = format_of(request, _KINDS)
    with ask.viewed(unit) as viewed:
        chosen = Chosen(player=player, vs=vs, match=match, game=game)
        told = winnings.winnings(viewed, chosen, points, runouts)
    if kind == "csv":
        return listed(request, winnings.rows(told), offered=("csv",))
    found = winnings.document(told, ask.viewer.view)
    return document(request, {"schema": "muckrake.winnings/1", **found})


@router.get(
    "/{player}/opponent",
    operation_id="player_opponent",
    summary="How a player plays, and what of it stands out",
    description="As `muckrake opponent PLAYER --json`. Every hand of his is read, so of more than"
    f" {HANDS_MAX:,} hands a match or a game has to be named.",
    response_class=Response,
    responses=media("json"),
)
def player_opponent(
    request: Request,
    ask: Ask,
    player: Player,
    vs: Rival = None,
    match: OfMatch = None,
    game: OfGame = None,
    unit: OfUnit = None,
    split: Annotated[By | None, Query(description="Split.")] = None,
    spots: Annotated[
        int, Query(ge=0, le=SPOTS, description="Of how many acts the strength is counted.")
    ] = SPOTS,
) -> Response:
    with ask.viewed(unit) as viewed:
        terms = {"player": player, "match": match, "game": game}
        where = " AND ".join(f"{name} = {quoted(it)}" for name, it in terms.items() if it)
        (counted,) = viewed.rows(f"SELECT count(*) AS n FROM facts WHERE {where}")
        hands = counted["n"]
        if hands > HANDS_MAX:
            sentence = f"these are {hands} hands, and {HANDS_MAX} are read here: name a match"
            raise Problem("too-large", sentence, hands=hands, hands_max=HANDS_MAX)
        found = opponents.opponent(viewed, opponents.About(player, vs, match, game, spots))
        try:
            told = opponents.document(found, split)
        finally:
            found.close()
    about = {"as": ask.viewer.view, "player": player, "vs": vs}
    return document(request, {"schema": "muckrake.opponent/1", **about, **told})
