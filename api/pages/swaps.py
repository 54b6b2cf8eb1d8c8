"""`/players/NAME/swaps`: how often his cards changed, and what luck did to his winnings."""

from fastapi import APIRouter, Request
from fastapi.responses import Response

from analytics.stored.equity import MODEL, SEED
from analytics.swaps.measures import MEASURES
from api.http.ask import Ask
from api.http.routes.named import Named
from api.http.routes.players import RUNOUTS, SPOTS
from api.pages.of_player import Narrow, Player, clean, of_player
from api.pages.plots import scale
from api.pages.site import page
from api.questions import luck as lucky
from api.questions.filters_tree import word
from api.questions.players import NoSum
from api.viewpoints.wanted import Absent

router = APIRouter(include_in_schema=False, route_class=Named)
FIGURES = (
    ("net", "net"),
    ("net_ev", "without run-out luck"),
    ("blue", "at showdown"),
    ("red", "without showdown"),
    ("swap_luck_sum", "luck of swaps counted"),
    ("cost", "paid in auctions"),
)


@router.get("/players/{player}/swaps")
def swaps(
    request: Request,
    ask: Ask,
    player: Player,
    match: Narrow = None,
    game: Narrow = None,
    unit: Narrow = None,
) -> Response:
    unit = clean(unit=unit)["unit"]
    narrowed = clean(match=match, game=game)
    context = of_player(request, ask, player, "swaps", {**narrowed, "unit": unit})
    asked = lucky.Asked(player, narrowed["match"], narrowed["game"], None, SPOTS // 4, RUNOUTS)
    with ask.viewed(unit) as viewed:
        try:
            told = lucky.luck(viewed, asked)
        except (Absent, NoSum) as reason:
            return page(request, ask, "swaps.html", **context, told=None, why=str(reason))
        rates, apart = told.luck.rates(player), told.luck.apart(player)
    found = {
        one.statistic: one
        for one in told.found
        if one.player == player and one.value is not None and (one.n or one.value)
    }
    ends = [share for one in rates for share in (one["high"], one["stated"]) if share is not None]
    led = _led(player, context["also"])
    rows = [
        {"of": one, "told": found[name], "led": led.get(name)}
        for name, one in MEASURES.items()
        if name in found and found[name].n
    ]
    return page(
        request, ask, "swaps.html", **context, told=told.told, rates=rates, apart=apart, rows=rows,
        why=None, counting=told.unit,
        figures=[(name, title, led.get(name)) for name, title in FIGURES], found=found,
        games=len({one["game"] for one in rates}), top=min(1.0, scale(ends).high),
        model=MODEL, seed=SEED,
    )  # fmt: skip


def _led(player: str, also: str) -> dict[str, str]:
    """The filters of hands that a measure counts, where a filter can say it."""
    name = word(player)
    filters = {
        "hands": f"player={name}",
        "net": f"player={name}",
        "blue": f"{name}:showdown",
        "red": f"player={name} & !{name}:showdown",
        "net_swapped": f"{name}:swapped",
        "net_kept": f"player={name} & !{name}:swapped",
        "cost": f"{name}:auction-won",
    }
    return {measure: said + also for measure, said in filters.items()}
