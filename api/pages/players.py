"""`/players`: everybody who played; `/players/NAME`: how he plays, each number with its doubt.

`PlayerPage` is what all pages of one player have in common: his name, the filters, where to go on.
"""

from contextlib import AbstractContextManager
from typing import Annotated, Any, Literal, NamedTuple

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import Response

from analytics.sql.chosen import Chosen, moneys
from analytics.statistics.answers import Answer
from analytics.statistics.catalogue import STATISTICS
from api.http.ask import Access, Ask
from api.http.routes.named import Named
from api.http.routes.questions import page_of
from api.pages.addresses import Addresses
from api.pages.site import page
from api.questions import stats as counted
from api.questions.declared.player import Whose, player
from api.questions.declared.players import QUESTION
from api.questions.filters_tree import narrowed, word
from api.viewpoints.progress import without_progress
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
    ("compare", "compare"),
)
MANY = 30  # below so many opportunities a number is grey
LISTED = 100  # players of a page
FILTERED = {"before": "as_of"}  # what a filter is called in an address, where that differs
Split = Literal["", "position", "opponent", "game", "match", "window"]


class PlayerPage(NamedTuple):
    """A page of one player as it is asked for; filters that his form leaves empty are None."""

    request: Request
    ask: Access
    player: str
    filters: dict[str, Any]
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
        filters = {FILTERED.get(name, name): value for name, value in self.filters.items()}
        filters |= {"unit": self.unit, **context.pop("going_on", {})}
        given = {name: value for name, value in filters.items() if value}
        of_player: dict[str, Any] = {
            "player": self.player,
            "tab": tab,
            "tabs": TABS,
            "narrowed": {name: value or "" for name, value in filters.items()},
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
        return narrowed(**self.filters)


def clean(value: str | None) -> str | None:
    """An empty field of a form is no filter."""
    return value.strip() or None if value else None


async def _of_player(
    request: Request,
    ask: Ask,
    player: Player,
    vs: Narrow = None,
    match: Narrow = None,
    game: Narrow = None,
    hands: Narrow = None,
    as_of: Narrow = None,
    unit: Narrow = None,
) -> PlayerPage:
    filters = {"vs": vs, "match": match, "game": game, "hands": hands, "before": as_of}
    cleaned = {name: clean(value) for name, value in filters.items()}
    return PlayerPage(request, ask, player, cleaned, clean(unit))


OfPlayer = Annotated[PlayerPage, Depends(_of_player)]


@router.get("/players")
def players(
    request: Request, ask: Ask, after: Annotated[str | None, Query(max_length=500)] = None
) -> Response:
    with ask.viewed() as viewed:
        found, following = page_of(QUESTION, ask, viewed, LISTED, after, {})
    return page(request, ask, "players.html", rows=found.rows, following=following)


@router.get("/players/{player}")
def statistics(of: OfPlayer, split: Split = "") -> Response:
    with of.viewed() as viewed:
        about = player(viewed, Whose(of.player), without_progress)
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
