"""`/players/NAME/swaps`: how often his cards changed, and what luck did to his winnings."""

from fastapi import APIRouter
from fastapi.responses import Response

from analytics.stored.equity import MODEL, SEED
from analytics.swaps.luck import MEASURES
from api.http.routes.named import Named
from api.pages.players import OfPlayer
from api.pages.plots import scale
from api.questions import luck as lucky
from api.questions.filters_tree import word
from api.questions.players import NoSum
from api.viewpoints.selection import Absent

router = APIRouter(include_in_schema=False, route_class=Named)
SPOTS, RUNOUTS = 25, 500  # that are counted while somebody waits for a page
FIGURES = (
    ("net", "net"),
    ("net_ev", "without run-out luck"),
    ("blue", "at showdown"),
    ("red", "without showdown"),
    ("swap_luck_sum", "luck of swaps counted"),
    ("cost", "paid in auctions"),
)
FILTERS = {  # of the hands that a measure counts, where a filter can say it
    "hands": "player={0}",
    "net": "player={0}",
    "blue": "{0}:showdown",
    "red": "player={0} & !{0}:showdown",
    "net_swapped": "{0}:swapped",
    "net_kept": "player={0} & !{0}:swapped",
    "cost": "{0}:auction-won",
}


@router.get("/players/{player}/swaps")
def swaps(of: OfPlayer) -> Response:
    player = of.player
    asked = lucky.LuckParams(player, **of.filters, spots=SPOTS, runouts=RUNOUTS)
    with of.viewed() as viewed:
        try:
            told = lucky.luck(viewed, asked)
        except (Absent, NoSum) as reason:
            return of.sent("swaps.html", "swaps", told=None, why=str(reason))
        rates, independence = told.luck.rates(player), told.luck.independence(player)
    found = {
        one.statistic: one
        for one in told.found
        if one.player == player and one.value is not None and (one.n or one.value)
    }
    ends = [share for one in rates for share in (one["high"], one["stated"]) if share is not None]
    led = {name: said.format(word(player)) + of.also for name, said in FILTERS.items()}
    rows = [
        {"of": one, "told": found[name], "led": led.get(name)}
        for name, one in MEASURES.items()
        if name in found and found[name].n
    ]
    return of.sent(
        "swaps.html", "swaps", told=told.told, rates=rates, independence=independence, rows=rows,
        why=None, counting=told.unit,
        figures=[(name, title, led.get(name)) for name, title in FIGURES], found=found,
        games=len({one["game"] for one in rates}), top=min(1.0, scale(ends).high),
        model=MODEL, seed=SEED,
    )  # fmt: skip
