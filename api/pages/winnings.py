"""`/players/NAME/winnings`, `bids` and `swaps`: what he won, what he paid, and what was luck.

Winnings are lines that a script draws, and a table. A window of them (`first` to `last` of his
hands) is said in numbers and leads to its hands: a script asks for it where somebody drags over
the graph, a form where there is no script. Bids stand beside the rival's, the worth of the card,
and his hand. Swaps say how often his cards changed, and what luck did to his winnings.
"""

import json
from collections.abc import Collection, Iterable, Sequence
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Query
from fastapi.responses import Response
from markupsafe import Markup

from analytics.auctions.bidding import MEASURES
from analytics.auctions.sniffing import SEED
from analytics.luck.streets import CHANCES
from analytics.results.winnings import LINES, Point, Winnings
from analytics.stored.equity import MODEL
from analytics.stored.equity import SEED as LUCK_SEED
from analytics.swaps.luck import MEASURES as LUCK
from api.http.routes.questions import Named
from api.pages.players import OfPlayer, PlayerPage
from api.pages.site import (
    SIZE,
    Addresses,
    Scale,
    frame,
    histogram,
    in_logs,
    is_crowded,
    scale,
    spread,
)
from api.questions import luck as lucky
from api.questions.declared import bids as bidding
from api.questions.declared.results import Luck, ResultsParams, luck
from api.questions.declared.winnings import WinningsParams, winnings
from api.questions.filters_tree import word
from api.questions.players import NoSum
from api.viewpoints.selection import Absent
from odds.rank import CATEGORIES

router = APIRouter(include_in_schema=False, route_class=Named)
VALUED = 80  # auctions whose card is valued while somebody waits for a page
HEADLINE = ("regret_known", "efficiency_known")
MATTER = (
    *HEADLINE,
    *("held", "bid", "bid_median", "bid_pot", "won", "lost", "tied", "paid", "surplus", "forced"),
)  # measures that are shown before somebody asks for all
STRENGTHS = {"weak": CATEGORIES[:1], "strong": CATEGORIES[1:]}  # a pair or more is strong
TEXTURES = ("dry", "two-tone", "paired", "monotone")


@router.get("/players/{player}/bids")
def bids(of: OfPlayer) -> Response:
    """Bids beside the rival's, the worth of the card, and the bidder's hand."""
    player = of.player
    with of.viewed() as viewed:
        asked = bidding.BidsParams(player, **of.filters, spots=VALUED)
        try:
            told = bidding.bidding(viewed, asked, of.ask.watch)
        except (Absent, NoSum) as reason:
            return of.sent("bids.html", "bids", told=None, why=str(reason))
        drawn = told.auctions.drawn(player)
        ranks = told.auctions.ranks(player)
        made = told.auctions.made(player)
    found = {one.statistic: one for one in told.found if one.player == player}
    rows = {
        name: {"of": one, "told": found[name]} for name, one in MEASURES.items() if name in found
    }
    return of.sent(
        "bids.html",
        "bids",
        told=told.told,
        counting=told.unit,
        why=None,
        model=bidding.MODEL,
        seed=SEED,
        every=drawn[0]["every"] if drawn else 0,
        beside=beside(drawn),
        worth=worth(drawn),
        textures=textures(drawn),
        headline=[rows[name] for name in HEADLINE if name in rows],
        measures=(
            ("", [row for name, row in rows.items() if name in MATTER]),
            ("All others", [row for name, row in rows.items() if name not in MATTER]),
        ),
        ranks=ranks,
        made=made,
        strengths={name: pots(made, some) for name, some in STRENGTHS.items()},
        pairs=[pair for pair in told.beside if player in (pair.dealer, pair.rival)],
    )


def pots(made: list[dict[str, Any]], some: Collection[str]) -> float | None:
    """His mean bid with hands of some kinds, in pots."""
    rows = [row for row in made if row["part"] in some]
    n = sum(row["in_pots"] for row in rows)
    return sum(row["pots"] * row["in_pots"] for row in rows if row["in_pots"]) / n if n else None


def beside(drawn: list[dict[str, Any]]) -> dict[str, Any]:
    """Each bid against the rival's, on one scale, so that the diagonal is a tie."""
    shown = [row for row in drawn if row["rival_bid"] is not None]
    both = scale([row[name] for row in shown for name in ("bid", "rival_bid")])
    points = [
        _point(place, row, both.at(row["rival_bid"]), both.at(row["bid"]))
        for place, row in enumerate(shown)
    ]
    return {"x": both, "y": both, "points": points}


def worth(drawn: list[dict[str, Any]]) -> dict[str, Any]:
    """Each bid against what the card was worth to him, where that was counted."""
    shown = [row for row in drawn if row["worth"] is not None]
    worths, placed = ([row[name] for row in shown] for name in ("worth", "bid"))
    x, y = scale(worths), scale(placed)
    if is_crowded(worths):  # both, and one scale: what it was worth is still a straight line
        x = y = in_logs([*worths, *placed])
    points = [
        _point(place, row, x.at(row["worth"]), y.at(row["bid"])) for place, row in enumerate(shown)
    ]
    return {"x": x, "y": y, "points": points, "even": min(x.high, y.high)}


def textures(drawn: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """How bids spread on each kind of flop, in pots."""
    shares = {
        name: sorted(row["bid"] / row["pot"] for row in drawn if row["texture"] == name)
        for name in TEXTURES
    }
    over = scale([each[int(0.95 * (len(each) - 1))] for each in shares.values() if each])
    return [
        {
            "name": name,
            "n": len(each),
            "median": each[len(each) // 2],
            "bins": histogram(each, over),
            "over": over,
        }
        for name, each in shares.items()
        if each
    ]


def _point(place: int, row: dict[str, Any], x: float, y: float) -> dict[str, Any]:
    said = f"{row['hand']}: bid {row['bid']}"
    if row["rival_bid"] is not None:
        said += f" against {row['rival_bid']}"
    if row["worth"] is not None:
        said += f", worth {row['worth']:.1f}"
    where = {"x": round(x + spread(place), 1), "y": round(y + spread(place * 3), 1)}
    return {**where, "hand": row["hand"], "outcome": row["outcome"], "said": said}


POINTS = 800
WIDE = 2.4  # how much wider than high the lines are drawn
ROWS = 12  # of the table below the graph
READ_MAX = 20_000  # of his hands that a page reads for luck; of more, the command line does it
NO_HAND = "there is no hand of his here"
SPOTS = 30  # hands of a player in which the luck of each card is counted
NOTHING = Point(0, "", 0.0, 0.0, 0.0, 0.0, None, 0.0)
Place = Annotated[int | None, Query(ge=1, le=2**31)]


class Window(NamedTuple):
    """His hands from one to another, what they brought, and the filter that finds them."""

    first: int
    last: int
    net: float
    showdown: float
    without: float
    auctions: float
    filter: str


@router.get("/players/{player}/winnings")
def winning(
    of: OfPlayer,
    first: Place = None,
    last: Place = None,
    streets: Annotated[bool, Query(alias="luck")] = False,
) -> Response:
    """How winnings grew, as lines that a script draws, and as a table."""
    lucky = None
    told, why = told_of(of)
    small = told.hands <= READ_MAX
    if streets and small and told.points:
        with of.viewed() as viewed:
            lucky = card_luck(luck(viewed, ResultsParams(of.player, spots=SPOTS, **of.filters)))
    at = Addresses().embedded("players", of.player, "winnings", **of.filtered)
    return grown(
        of,
        told,
        why,
        first,
        last,
        "winnings.html",
        lines=LINES,
        lucky=lucky,
        small=small,
        read_max=READ_MAX,
        chances=CHANCES,
        frame=frame(of.request, of.ask, at, f"Winnings of {of.player}"),
    )


def told_of(of: PlayerPage) -> tuple[Winnings, str]:
    """How his winnings grew; if nothing can be drawn, why."""
    with of.viewed() as viewed:
        try:
            return winnings(
                viewed, WinningsParams(of.player, POINTS, **of.filters), of.ask.watch
            ), NO_HAND
        except NoSum as reason:
            return Winnings(of.player, 0, 0.0, (), None, 0, 0.0, ()), str(reason)


def grown(
    of: PlayerPage,
    told: Winnings,
    why: str,
    first: int | None,
    last: int | None,
    template: str,
    **more: Any,
) -> Response:
    """A page with the graph, of the whole or of the hands from one to another."""
    step = max(1, len(told.points) // ROWS)
    return of.sent(
        template,
        "winnings",
        told=told,
        why=why,
        rows=[*told.points[:-1:step], *told.points[-1:]],
        window=window(told, of.player, of.also, first, last),
        drawn=inert(curves(told)),
        picture=picture(told.points),
        **more,
    )


def window(
    told: Winnings, player: str, also: str, first: int | None, last: int | None
) -> Window | None:
    """The hands between two points that are drawn, nothing narrower than what was asked for."""
    if not told.points or (first is None and last is None):
        return None
    first, last = min(first or 1, told.hands), min(last or told.hands, told.hands)
    first, last = min(first, last), max(first, last)
    before = next((one for one in reversed(told.points) if one.k < first), NOTHING)
    end = next(one for one in told.points if one.k >= last)
    after = f" & hand>{word(before.hand)}" if before.k else ""
    found = f"player={word(player)} & !voided{also}{after} & hand<={word(end.hand)}"
    return Window(
        before.k + 1,
        end.k,
        end.net - before.net,
        end.showdown - before.showdown,
        end.without - before.without,
        end.auctions - before.auctions,
        found,
    )


def curves(told: Winnings) -> dict[str, Any]:
    """The lines in columns, as the drawing script takes them."""
    names = ("k", "net", "showdown", "without", "auctions", "band")
    columns = {name: [getattr(one, name) for one in told.points] for name in names}
    return {**columns, "hand": [one.hand for one in told.points]}


class Picture(NamedTuple):
    """The lines as they are drawn where there is no script: where each runs, and its scales."""

    x: Scale
    y: Scale
    band: str
    lines: tuple[tuple[str, str], ...]


def picture(points: Sequence[Point]) -> Picture | None:
    """Every line of the graph as a path, and the band of a fair game around nothing."""
    if not points:
        return None
    names = (
        "net",
        "showdown",
        "without",
        *(["auctions"] if any(it.auctions for it in points) else []),
    )
    x = scale([one.k for one in points])
    y = scale([getattr(one, name) for name in names for one in points])

    def path(values: Iterable[tuple[float, float]]) -> str:
        return " ".join(f"{WIDE * x.at(k):.1f},{SIZE - y.at(value):.1f}" for k, value in values)

    inside = [(one.k, min(one.band, y.high)) for one in points]
    below = [(one.k, max(-one.band, y.low)) for one in reversed(points)]
    lines = tuple((name, path((one.k, getattr(one, name)) for one in points)) for name in names)
    return Picture(x, y, path([*inside, *below]), lines)


def inert(value: Any) -> Markup:
    """JSON that can stand in a page: nothing in it ends the element that holds it."""
    text = json.dumps(value, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace("&", "\\u0026"))


def card_luck(found: Luck) -> dict[str, Any]:
    """What each card did to him, in hands whose cards the viewer knows, evenly spread."""
    rows = [row for each in found.chances.values() for row in each]
    most = max((abs(row.chips) for row in rows), default=0.0) or 1.0
    return {"rows": rows, "known": found.known, "hands": found.counted, "most": most}


SWAPS_SPOTS, RUNOUTS = 25, 500  # that are counted while somebody waits for a page
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
    """How often a player's cards changed, and what luck did to his winnings."""
    player = of.player
    asked = lucky.LuckParams(player, **of.filters, spots=SWAPS_SPOTS, runouts=RUNOUTS)
    with of.viewed() as viewed:
        try:
            told = lucky.luck(viewed, asked, of.ask.watch)
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
        for name, one in LUCK.items()
        if name in found and found[name].n
    ]
    return of.sent(
        "swaps.html", "swaps", told=told.told, rates=rates, independence=independence, rows=rows,
        why=None, counting=told.unit,
        figures=[(name, title, led.get(name)) for name, title in FIGURES], found=found,
        games=len({one["game"] for one in rates}), top=min(1.0, scale(ends).high),
        model=MODEL, seed=LUCK_SEED,
    )  # fmt: skip
