"""What the pages of one player have in common: his name, the filters, and where to go on."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Path, Query, Request

from analytics.sql.amounts import moneys
from api.http.ask import Asked
from api.pages.addresses import Addresses
from api.questions.filters_tree import word

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


def of_player(
    request: Request, ask: Asked, player: str, tab: str, narrowed: Mapping[str, str | None]
) -> dict[str, Any]:
    """What `player.html` needs; the filters go on from tab to tab."""
    to = Addresses(request.query_params.get("as"))
    with ask.viewed() as viewed:
        units = moneys(viewed.units)
    given = {name: value for name, value in narrowed.items() if value}
    return {
        "player": player,
        "tab": tab,
        "tabs": TABS,
        "narrowed": {name: narrowed[name] or "" for name in narrowed},
        "given": given,
        "few": MANY,
        "units": units if len(units) > 1 else (),
        "named": word(player),
        "also": _also(given),
        "api_of": lambda *path, **asked: to.api("players", player, *path, **given, **asked),
        "players": (player,),
        "trail": (("Players", to.players()),),
    }


def _also(given: Mapping[str, str]) -> str:
    """The same narrowing in the words of a filter, to be put after a term of it."""
    terms = (("player", "vs"), ("match", "match"), ("game", "game"))
    return "".join(f" & {field}={word(given[name])}" for field, name in terms if name in given)


def clean(**asked: str | None) -> dict[str, str | None]:
    """An empty field of a form is no filter."""
    return {name: value.strip() or None if value else None for name, value in asked.items()}
