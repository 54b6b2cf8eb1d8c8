"""`/players`: everybody who played; `/players/NAME`: how he plays, each number with its doubt.

`PlayerPage` is what all pages of one player have in common: his name, the filters, where to go on.
"""

from contextlib import AbstractContextManager
from typing import Annotated, Any, Literal, NamedTuple

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import Response

from analytics.sql.amounts import moneys
from analytics.sql.chosen import Chosen
from analytics.statistics.answers import Answer
from analytics.statistics.catalogue import STATISTICS
from api.http.ask import Ask, Asked
from api.http.routes.named import Named
from api.pages.addresses import Addresses
from api.pages.site import page
from api.questions import players as asking
from api.questions import stats as counted
from api.questions.filters_tree import word
from api.viewpoints.views import Viewed

router = APIRouter(include_in_schema=False, route_class=Named)
Player = Annotated[str, Path(min_length=1, max_length=200)]
Narrow = Annotated[str | None, Query(max_length=300)]
TABS = (
    ("statistics", ""),
    ("grid", "grid"),
    ("winnings", "winnings"),
    ("bids", "bids"),
    ("swaps", "swaps"),
    ("opponent", "opponent"),
)
MANY = 30  # below so many opportunities a number is grey
LISTED = 100  # players of a page
Split = Literal["", "position", "opponent", "game", "match", "window"]


class PlayerPage(NamedTuple):
    """A page of one player as it is asked for; filters that his form leaves empty are None."""

    request: Request
    ask: Asked
    player: str
    filters: dict[str, str | None]
    unit: str | None

    def viewed(self) -> AbstractContextManager[Viewed]:
        """The ledger as the caller sees it, of hands that are played for the unit."""
        return self.ask.viewed(self.unit)

    def chosen(self, viewed: Viewed, **more: str | None) -> Chosen:
        """His hands that the filters leave."""
        return counted.chosen_of(viewed, self.player, **self.filters, **more)

    def sent(self, template: str, tab: str, **context: Any) -> Response:
        """The page; the filters go on from tab to tab, and so does whatever is in `going_on`."""
        to = Addresses(self.request.query_params.get("as"))
        with self.ask.viewed() as viewed:
            units = moneys(viewed.units)
        narrowed = {**self.filters, "unit": self.unit, **context.pop("going_on", {})}
        given = {name: value for name, value in narrowed.items() if value}
        of_player: dict[str, Any] = {
            "player": self.player,
            "tab": tab,
            "tabs": TABS,
            "narrowed": {name: value or "" for name, value in narrowed.items()},
            "given": given,
            "few": MANY,
            "units": units if len(units) > 1 else (),
            "named": word(self.player),
            "also": self.also,
            "api_of": lambda *path, **asked: to.api(
                "players", self.player, *path, **given, **asked
            ),
            "players": (self.player,),
            "trail": (("Players", to.players()),),
        }
        return page(self.request, self.ask, template, **of_player, **context)

    @property
    def also(self) -> str:
        """The same filters in the words of a filter of hands, to be put after a term of it."""
        terms = (("player", "vs"), ("match", "match"), ("game", "game"))
        found = ((field, self.filters.get(name)) for field, name in terms)
        return "".join(f" & {field}={word(value)}" for field, value in found if value)


def clean(value: str | None) -> str | None:
    """An empty field of a form is no filter."""
    return value.strip() or None if value else None


async def _of_player(
    request: Request,
    ask: Ask,
    player: Player,
    match: Narrow = None,
    game: Narrow = None,
    unit: Narrow = None,
) -> PlayerPage:
    filters = {"match": clean(match), "game": clean(game)}
    return PlayerPage(request, ask, player, filters, clean(unit))


OfPlayer = Annotated[PlayerPage, Depends(_of_player)]


async def _against(of: OfPlayer, vs: Narrow = None) -> PlayerPage:
    return of._replace(filters={"vs": clean(vs), **of.filters})


Against = Annotated[PlayerPage, Depends(_against)]


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
def statistics(of: Against, as_of: Narrow = None, split: Split = "") -> Response:
    of = of._replace(filters={**of.filters, "as_of": clean(as_of)})
    with of.viewed() as viewed:
        about = asking.overview(viewed, of.player)
        chosen = of.chosen(viewed, by=split or None)
        told = counted.statistics(viewed, chosen, counted.of_street(None), field=not split)
    return of.sent(
        "player_statistics.html",
        "statistics",
        going_on={"split": split},
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
