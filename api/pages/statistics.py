"""`/players/NAME`: a player's statistics with intervals, each `k of n` with its hands.

`/players/NAME/swaps`: how often his cards changed, and what luck did to his winnings.
"""

from typing import Annotated, Any, NamedTuple, get_args

from fastapi import APIRouter, Query
from fastapi.responses import Response
from msgspec.structs import replace

from analytics.luck.luck_queries import MEASURES as LUCK
from analytics.projections.equity import MODEL
from analytics.projections.equity import SEED as LUCK_SEED
from analytics.sql import UNTAGGED, WINDOW, By, natural_key
from analytics.statistics.catalogue import STATISTICS
from analytics.statistics.compute import StatisticValue
from api.http.routes.questions import EncodedPathRoute
from api.pages.players import RequestedPlayer
from api.pages.site import linear_scale
from api.problem import Problem
from api.questions import luck as lucky
from api.questions import player_measures as counted
from api.questions.declared.player import PlayerParams, player
from api.questions.filters_tree import swap_count_name
from api.questions.filters_values import quoted_name
from api.questions.player_measures import SeveralMoneys
from api.viewpoints.hand_selection import NotInLedger
from store.sql.views import OWN_NAME

router = APIRouter(include_in_schema=False, route_class=EncodedPathRoute)
TAG_PREFIX = "tag:"  # what a split by a tag begins with
PARTS_MAX = 60  # columns of a page


@router.get("/players/{player}")
def statistics(of: RequestedPlayer, split: Annotated[str, Query(max_length=100)] = "") -> Response:
    """How a player plays, each number with its doubt; split by a tag as it was in each match."""
    with of.viewed() as viewed:
        about = player(viewed, PlayerParams(of.player), of.ask.watch)
        tags = [
            row
            for row in viewed.tags.to_pylist()
            if viewed.name_of(row["match"], row["player"]) == of.player
        ]
        splits = [*get_args(By), *sorted({f"{TAG_PREFIX}{row['tag']}" for row in tags})]
        if split and split not in splits:
            sentence = f"there is no split by {split}: {', '.join(splits)}"
            raise Problem("invalid", sentence, choices={"split": splits})
        key = split.removeprefix(TAG_PREFIX) if split.startswith(TAG_PREFIX) else None
        chosen = of.hand_filters(viewed, by=None if key else split or None)
        values = tuple(
            (row["match"], row["player"], row["value"]) for row in tags if row["tag"] == key
        )
        own_name = OWN_NAME if viewed.by_tag else "player"
        chosen = replace(chosen, tagged=values, own_name=own_name)
        answer = counted.statistics(
            viewed, chosen, counted.statistics_of_street(None), field=not split
        )
    every = sorted((one for _, one in answer.dealt), key=natural_key)
    parts = every[:PARTS_MAX]
    return of.response(
        "player_statistics.html",
        "statistics",
        going_on={"split": split},
        about=about,
        parts=parts,
        more_parts=len(every) - len(parts),
        leads=[part_filter(split, part) for part in parts],
        groups=street_groups(answer.found, answer.field, parts),
        splits=splits,
    )


class PartFilter(NamedTuple):
    """The filter of a part's hands: terms about the player himself, and about his hands."""

    his: str = ""
    also: str = ""


def part_filter(split: str, part: str) -> PartFilter:
    """The filter of a part of what is split so."""
    if split.startswith(TAG_PREFIX):
        tag = split.removeprefix(TAG_PREFIX)
        if part == UNTAGGED:
            return PartFilter(f"!tag={quoted_name(tag)}")
        return PartFilter(f"tag={quoted_name(f'{tag}:{part}')}")
    if split == "window":
        first = int(part)
        return PartFilter(also=f" & number>={first} & number<={first + WINDOW - 1}")
    if split == "position":
        return PartFilter(f"position={quoted_name(part)}")
    field = {"opponent": "player"}.get(split, split)
    return PartFilter(also=f" & {field}={quoted_name(part)}" if split else "")


def street_groups(
    answers: list[StatisticValue], field: dict[str, StatisticValue], every: list[str]
) -> list[dict[str, Any]]:
    """Statistics by the street that they look at, each with its parts and everybody else."""
    by_name: dict[str, dict[str, StatisticValue]] = {}
    for one in answers:
        by_name.setdefault(one.statistic, {})[one.part] = one
    rows = [
        {"of": STATISTICS[name], "parts": [*map(parts.get, every)], "field": field.get(name)}
        for name, parts in by_name.items()
    ]
    streets: dict[str, list[Any]] = {}
    for name, row in zip(by_name, rows, strict=True):
        streets.setdefault(STATISTICS[name].street or "all streets", []).append(row)
    return [{"street": street, "rows": those} for street, those in streets.items()]


SWAPS_SPOTS, RUNOUTS_MAX = 25, 500  # that are counted while somebody waits for a page
FIGURE_TITLES = (
    ("net", "net"),
    ("net_ev", "without run-out luck"),
    ("blue", "at showdown"),
    ("red", "without showdown"),
    ("swap_luck_sum", "luck of swaps counted"),
    ("cost", "paid in auctions"),
)
FIGURE_FILTERS = {  # of the hands that a measure counts, where its own name says none to a filter
    **dict.fromkeys(
        ("hands", "net", "net_hand", "net_ev", "net_ev_hand", "adjusted"), "player(could=net)"
    ),
    "blue": "player(showdown) & !voided",
    "red": "player(could=net_without)",
    "net_swapped": "player(swapped) & !voided",
    "net_kept": "player(could=net & !swapped)",
    "cost": "player(price>0)",
}


@router.get("/players/{player}/swaps")
def swaps(of: RequestedPlayer) -> Response:
    """How often a player's cards changed, and what luck did to his winnings."""
    player = of.player
    params = lucky.LuckParams(player, **of.filters, spots=SWAPS_SPOTS, runouts=RUNOUTS_MAX)
    with of.viewed() as viewed:
        try:
            answer = lucky.luck(viewed, params, of.ask.watch)
        except (NotInLedger, SeveralMoneys) as reason:
            return of.response("swaps.html", "swaps", counts=None, why=reason)
        rates = [swap_rate_row(row) for row in answer.queries.swap_rates(player)]
        independence, finds = answer.queries.independence(player), of.player_filter(viewed)
        valued = answer.queries.valued_hands(player)
        decks = finds.of_ranges(lucky.mirrored_ranges(viewed, of.hand_filters(viewed)))
    found = {
        one.statistic: one
        for one in answer.found
        if one.player == player and one.value is not None and (one.n or one.value)
    }
    ends = [share for one in rates for share in (one["high"], one["stated"]) if share is not None]
    led = {name: [finds.of_hands(hands) for hands in both] for name, both in valued.items()}
    led |= {name: ["", decks] for name in ("mirrored", "mirrored_variance")}
    for name, filter in FIGURE_FILTERS.items():
        led[name] = [*led.get(name, [""])[:1], finds.of_player(filter)]
    rows = [
        {"of": one, "measured": found[name], "led": led.get(name)}
        for name, one in LUCK.items()
        if name in found and found[name].n
    ]
    return of.response(
        "swaps.html", "swaps", counts=answer.counted, rates=rates,
        independence=independence, rows=rows,
        uncounted=lucky.uncounted_sentence(answer.uncounted),
        why=None, counting=answer.unit,
        figures=[(name, title, led.get(name, ("", ""))[1]) for name, title in FIGURE_TITLES],
        found=found,
        games=len({one["game"] for one in rates}), top=min(1.0, linear_scale(ends).high),
        model=MODEL, seed=LUCK_SEED,
    )  # fmt: skip


def swap_rate_row(row: dict[str, Any]) -> dict[str, Any]:
    """How often a card changed, and the name of its swaps in a filter."""
    return row | {"share": row["k"] / row["n"], "name": swap_count_name(row["street"], row["slot"])}
