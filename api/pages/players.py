"""`/players`: everybody who played; `/players/NAME`: how he plays, each number with its doubt."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from analytics.statistics.answers import Answer
from analytics.statistics.catalogue import STATISTICS
from api.http.ask import Ask
from api.http.routes.named import Named
from api.pages.of_player import Narrow, Player, clean, of_player
from api.pages.site import page
from api.problem import Problem
from api.questions import players as asking
from api.questions import stats as counted
from api.questions.players import Nonsense

router = APIRouter(include_in_schema=False, route_class=Named)
LISTED = 100  # players of a page
Split = Literal["", "position", "opponent", "game", "match", "window"]


@router.get("/players")
def players(
    request: Request, ask: Ask, after: Annotated[str | None, Query(max_length=500)] = None
) -> Response:
    key = ask.after(after)
    with ask.viewed() as viewed:
        rows = asking.listed(viewed, None if key is None else (key[0], key[1]), LISTED + 1)
    last = (rows[LISTED - 1]["hands"], rows[LISTED - 1]["player"]) if len(rows) > LISTED else None
    return page(request, ask, "players.html", rows=rows[:LISTED], following=ask.cursor(last))


@router.get("/players/{player}")
def statistics(
    request: Request,
    ask: Ask,
    player: Player,
    vs: Narrow = None,
    match: Narrow = None,
    game: Narrow = None,
    unit: Narrow = None,
    as_of: Narrow = None,
    split: Split = "",
) -> Response:
    unit = clean(unit=unit)["unit"]
    narrowed = clean(vs=vs, match=match, game=game, as_of=as_of)
    with ask.viewed(unit) as viewed:
        about = asking.overview(viewed, player)
        try:
            chosen = counted.chosen_of(viewed, player, by=split or None, **narrowed)
        except Nonsense as reason:
            raise Problem("bad-request", str(reason)) from None
        told = counted.statistics(viewed, chosen, counted.of_street(None), field=not split)
    asked = {**narrowed, "unit": unit, "split": split}
    context = of_player(request, ask, player, "statistics", asked)
    return page(
        request,
        ask,
        "player_statistics.html",
        **context,
        about=about,
        parts=[one for _, one in sorted(told.dealt)],
        dealt=told.dealt,
        groups=groups(told.found, told.field),
        splits=("position", "opponent", "game", "match", "window"),
    )


def groups(found: list[Answer], field: dict[str, Answer]) -> list[dict[str, Any]]:
    """Statistics by the street that they look at, each with its parts and everybody else."""
    by_name: dict[str, dict[str, Answer]] = {}
    for one in found:
        by_name.setdefault(one.statistic, {})[one.part] = one
    rows = [
        {"of": STATISTICS[name], "parts": parts, "field": field.get(name)}
        for name, parts in by_name.items()
    ]
    streets: dict[str, list[Any]] = {}
    for name, row in zip(by_name, rows, strict=True):
        streets.setdefault(STATISTICS[name].street or "all streets", []).append(row)
    return [{"street": street, "rows": those} for street, those in streets.items()]
