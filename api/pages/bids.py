"""`/players/NAME/bids`: bids beside the rival's, the worth of the card, and his hand."""

from collections.abc import Collection
from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response

from analytics.auctions.bidding import MEASURES
from analytics.auctions.sniffing import SEED
from api.http.routes.named import Named
from api.pages.players import OfPlayer
from api.pages.plots import histogram, scale, spread
from api.questions.declared import bids as bidding
from api.questions.players import NoSum
from api.viewpoints.selection import Absent
from odds.rank import CATEGORIES

router = APIRouter(include_in_schema=False, route_class=Named)
VALUED = 80  # auctions whose card is valued while somebody waits for a page
HEADLINE = ("regret_known", "efficiency_known")
STRENGTHS = {"weak": CATEGORIES[:1], "strong": CATEGORIES[1:]}  # a pair or more is strong
TEXTURES = ("dry", "two-tone", "paired", "monotone")


@router.get("/players/{player}/bids")
def bids(of: OfPlayer) -> Response:
    player = of.player
    with of.viewed() as viewed:
        asked = bidding.BidsParams(player, **of.filters, spots=VALUED)
        try:
            told = bidding.bidding(viewed, asked)
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
        rows=list(rows.values()),
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
    x, y = scale([row["worth"] for row in shown]), scale([row["bid"] for row in shown])
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
