"""`/players/NAME/swaps`: how often a player's cards changed, and what luck did to his winnings."""

from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response

from analytics.stored.equity import MODEL
from analytics.stored.equity import SEED as LUCK_SEED
from analytics.swaps.luck import MEASURES as LUCK
from api.http.routes.questions import Named
from api.pages.players import OfPlayer
from api.pages.site import scale
from api.questions import luck as lucky
from api.questions.chances import swap_of
from api.questions.players import NoSum
from api.viewpoints.selection import Absent

router = APIRouter(include_in_schema=False, route_class=Named)
SWAPS_SPOTS, RUNOUTS = 25, 500  # that are counted while somebody waits for a page
FIGURES = (
    ("net", "net"),
    ("net_ev", "without run-out luck"),
    ("blue", "at showdown"),
    ("red", "without showdown"),
    ("swap_luck_sum", "luck of swaps counted"),
    ("cost", "paid in auctions"),
)
FILTERS = {  # of the hands that a measure counts, where its own name says none to a filter
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
def swaps(of: OfPlayer) -> Response:
    """How often a player's cards changed, and what luck did to his winnings."""
    player = of.player
    params = lucky.LuckParams(player, **of.filters, spots=SWAPS_SPOTS, runouts=RUNOUTS)
    with of.viewed() as viewed:
        try:
            answer = lucky.luck(viewed, params, of.ask.watch)
        except (Absent, NoSum) as reason:
            return of.sent("swaps.html", "swaps", counts=None, why=reason)
        rates = [rate(row) for row in answer.luck.rates(player)]
        independence, finds = answer.luck.independence(player), of.finder(viewed)
        valued = answer.luck.valued(player)
        decks = finds.among(lucky.mirrored_hands(viewed, of.chosen(viewed)))
    found = {
        one.statistic: one
        for one in answer.found
        if one.player == player and one.value is not None and (one.n or one.value)
    }
    ends = [share for one in rates for share in (one["high"], one["stated"]) if share is not None]
    led = {name: [finds.at(hands) for hands in both] for name, both in valued.items()}
    led |= {name: ["", decks] for name in ("mirrored", "mirrored_variance")}
    for name, filter in FILTERS.items():
        led[name] = [*led.get(name, [""])[:1], finds.of(filter)]
    rows = [
        {"of": one, "measured": found[name], "led": led.get(name)}
        for name, one in LUCK.items()
        if name in found and found[name].n
    ]
    return of.sent(
        "swaps.html", "swaps", counts=answer.counted, rates=rates,
        independence=independence, rows=rows,
        uncounted=lucky.uncounted_sentence(answer.uncounted),
        why=None, counting=answer.unit,
        figures=[(name, title, led.get(name, ("", ""))[1]) for name, title in FIGURES], found=found,
        games=len({one["game"] for one in rates}), top=min(1.0, scale(ends).high),
        model=MODEL, seed=LUCK_SEED,
    )  # fmt: skip


def rate(row: dict[str, Any]) -> dict[str, Any]:
    """How often a card changed, and what its swaps are called in a filter."""
    return row | {"share": row["k"] / row["n"], "name": swap_of(row["street"], row["slot"])}
