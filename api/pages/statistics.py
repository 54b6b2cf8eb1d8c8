"""`/players/NAME`: how he plays: each number with its doubt, each `k of n` with its hands."""

from typing import Annotated, Any, NamedTuple, get_args

from fastapi import APIRouter, Query
from fastapi.responses import Response
from msgspec.structs import replace

from analytics.sql.chosen import UNTAGGED, WINDOW, By
from analytics.statistics.answers import Answer, natural
from analytics.statistics.catalogue import STATISTICS
from api.http.routes.questions import Named
from api.pages.players import OfPlayer
from api.problem import Problem
from api.questions import players as counted
from api.questions.declared.player import PlayerParams, player
from api.questions.filters_tree import word
from store.sql.tags import OWN_NAME

router = APIRouter(include_in_schema=False, route_class=Named)
TAG = "tag:"  # what a split by a tag begins with
PARTS_MAX = 60  # columns of a page


@router.get("/players/{player}")
def statistics(of: OfPlayer, split: Annotated[str, Query(max_length=100)] = "") -> Response:
    """How a player plays, each number with its doubt; split by a tag as it was in each match."""
    with of.viewed() as viewed:
        about = player(viewed, PlayerParams(of.player), of.ask.watch)
        tags = [
            row
            for row in viewed.tags.to_pylist()
            if viewed.name_of(row["match"], row["player"]) == of.player
        ]
        splits = [*get_args(By), *sorted({f"{TAG}{row['tag']}" for row in tags})]
        if split and split not in splits:
            sentence = f"there is no split by {split}: {', '.join(splits)}"
            raise Problem("invalid", sentence, choices={"split": splits})
        key = split.removeprefix(TAG) if split.startswith(TAG) else None
        chosen = of.chosen(viewed, by=None if key else split or None)
        values = tuple(
            (row["match"], row["player"], row["value"]) for row in tags if row["tag"] == key
        )
        own_name = OWN_NAME if viewed.by_tag else "player"
        chosen = replace(chosen, tagged=values, own_name=own_name)
        answer = counted.statistics(viewed, chosen, counted.of_street(None), field=not split)
    every = sorted((one for _, one in answer.dealt), key=natural)
    parts = every[:PARTS_MAX]
    return of.sent(
        "player_statistics.html",
        "statistics",
        going_on={"split": split},
        about=about,
        parts=parts,
        more_parts=len(every) - len(parts),
        leads=[lead(split, part) for part in parts],
        groups=groups(answer.found, answer.field, parts),
        splits=splits,
    )


class Lead(NamedTuple):
    """What finds the hands of a part: terms about the player himself, and about his hands."""

    his: str = ""
    also: str = ""


def lead(split: str, part: str) -> Lead:
    """That of a part of what is split so."""
    if split.startswith(TAG):
        tag = split.removeprefix(TAG)
        if part == UNTAGGED:
            return Lead(f"!tag={word(tag)}")
        return Lead(f"tag={word(f'{tag}:{part}')}")
    if split == "window":
        first = int(part)
        return Lead(also=f" & number>={first} & number<={first + WINDOW - 1}")
    if split == "position":
        return Lead(f"position={word(part)}")
    what = {"opponent": "player"}.get(split, split)
    return Lead(also=f" & {what}={word(part)}" if split else "")


def groups(found: list[Answer], field: dict[str, Answer], every: list[str]) -> list[dict[str, Any]]:
    """Statistics by the street that they look at, each with its parts and everybody else."""
    by_name: dict[str, dict[str, Answer]] = {}
    for one in found:
        by_name.setdefault(one.statistic, {})[one.part] = one
    rows = [
        {"of": STATISTICS[name], "parts": [*map(parts.get, every)], "field": field.get(name)}
        for name, parts in by_name.items()
    ]
    streets: dict[str, list[Any]] = {}
    for name, row in zip(by_name, rows, strict=True):
        streets.setdefault(STATISTICS[name].street or "all streets", []).append(row)
    return [{"street": street, "rows": those} for street, those in streets.items()]
