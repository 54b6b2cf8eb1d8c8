"""`/players/NAME/winnings` and `bids`: what a player won, and what he bid.

Winnings are lines that a script draws, and a table. A window of them (`first` to `last` of his
hands) is said in numbers and leads to its hands: a script asks for it where somebody drags over
the graph, a form where there is no script. Bids stand beside the rival's, the worth of the card,
and his hand.
"""

import json
from collections.abc import Collection, Iterable, Sequence
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Query
from fastapi.responses import Response
from markupsafe import Markup

from analytics.auctions.bidding import MEASURES
from analytics.auctions.sniffing import SEED
from analytics.luck.street_luck import CHANCES
from analytics.results.winnings_curve import LINES, Point, Winnings
from api.http.routes.questions import EncodedPathRoute
from api.pages.addresses import Addresses
from api.pages.players import FULL_CELL_HANDS, PlayerPage, RequestedPlayer
from api.pages.site import PICTURE_SIZE, Scale, frame_markup, histogram, linear_scale, log_scale
from api.questions.declared import bids as bidding
from api.questions.declared.winnings import WinningsParams, winnings
from api.questions.filters_values import PlayerFilter, quoted_name
from api.questions.luck import StreetLuck, mirrored_ranges, street_luck
from api.questions.player_measures import SeveralMoneys
from api.viewpoints.hand_selection import NotInLedger
from odds.ranges import GRID
from odds.rank import CATEGORIES

router = APIRouter(include_in_schema=False, route_class=EncodedPathRoute)
AUCTIONS_VALUED = 80  # auctions whose card is valued while somebody waits for a page
HEADLINE_MEASURES = ("regret_known", "efficiency_known")
MAIN_MEASURES = (
    *HEADLINE_MEASURES,
    *("held", "bid", "bid_median", "bid_pot", "won", "lost", "tied", "paid", "surplus", "forced"),
)  # measures that are shown before somebody asks for all
STRENGTHS = {"weak": CATEGORIES[:1], "strong": CATEGORIES[1:]}  # a pair or more is strong
FLOP_TEXTURES = ("dry", "two-tone", "paired", "monotone")


@router.get("/players/{player}/bids")
def bids(of: RequestedPlayer) -> Response:
    """Bids and the rival's, the worth of the card, and the bidder's hand."""
    player = of.player
    with of.viewed() as viewed:
        params = bidding.BidsParams(player, **of.filters, spots=AUCTIONS_VALUED)
        try:
            answer = bidding.bidding_of(viewed, params, of.ask.watch)
        except (NotInLedger, SeveralMoneys) as reason:
            return of.response("bids.html", "bids", counts=None, why=reason)
        drawn = answer.auctions.points(player)
        placed = [
            row | {"share": row["won"] / row["bids"]}
            for row in answer.auctions.by_made_hand(player)
        ]
        classes = bid_grid(answer.auctions.by_hole_class(player))
        finds, valued = of.player_filter(viewed), answer.auctions.valued_hands(player)
    found = {one.statistic: one for one in answer.found if one.player == player}
    rows = {
        name: {
            "of": one,
            "measured": found[name],
            "led": [finds.of_hands(hands) for hands in valued[name]] if name in valued else None,
        }
        for name, one in MEASURES.items()
        if name in found
    }
    return of.response(
        "bids.html",
        "bids",
        counts=answer.counts,
        counting=answer.unit,
        why=None,
        model=bidding.MODEL,
        seed=SEED,
        every=drawn[0]["every"] if drawn else 0,
        against_rival=bid_scatter(drawn),
        worth=worth_scatter(drawn),
        textures=bids_by_texture(drawn),
        headline=[rows[name] for name in HEADLINE_MEASURES if name in rows],
        measures=(
            ("", [row for name, row in rows.items() if name in MAIN_MEASURES]),
            ("All others", [row for name, row in rows.items() if name not in MAIN_MEASURES]),
        ),
        made=placed,
        cells=classes,
        strengths={name: mean_bid_in_pots(placed, some) for name, some in STRENGTHS.items()},
        pairs=[pair for pair in answer.bidder_pairs if player in (pair.dealer, pair.rival)],
    )


def mean_bid_in_pots(placed: list[dict[str, Any]], some: Collection[str]) -> float | None:
    """His mean bid with hands of some kinds, in pots."""
    rows = [row for row in placed if row["part"] in some]
    n = sum(row["in_pots"] for row in rows)
    return sum(row["pots"] * row["in_pots"] for row in rows if row["in_pots"]) / n if n else None


def bid_grid(held: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """What he bids with each of the 169 classes, in pots; the largest mean is the warmest."""
    most = max((row["pots"] or 0.0 for row in held.values()), default=0.0) or 1.0
    cells = []
    for name in GRID:
        row = held.get(name, {"bids": 0, "pots": None})
        cell = {
            "name": name,
            "hands": row["bids"],
            "acts": None,
            "full": min(1.0, row["bids"] / FULL_CELL_HANDS),
        }
        pots = row["pots"]
        text = "" if pots is None else f"{pots:.1f}" if pots < 10 else f"{pots:.0f}"
        cells.append(cell | {"text": text, "warmth": (pots or 0.0) / most})
    return cells


def bid_scatter(drawn: list[dict[str, Any]]) -> dict[str, Any]:
    """Each bid and the rival's as points on one scale, so that the diagonal is a tie."""
    shown = [row for row in drawn if row["rival_bid"] is not None]
    both = linear_scale([row[name] for row in shown for name in ("bid", "rival_bid")])
    points = [
        _point(place, row, both.at(row["rival_bid"]), both.at(row["bid"]))
        for place, row in enumerate(shown)
    ]
    return {"x": both, "y": both, "points": points}


def worth_scatter(drawn: list[dict[str, Any]]) -> dict[str, Any]:
    """Each bid and what the card was worth to him as points, where that was counted."""
    shown = [row for row in drawn if row["worth"] is not None]
    worths, placed = ([row[name] for row in shown] for name in ("worth", "bid"))
    x, y = linear_scale(worths), linear_scale(placed)
    if is_crowded(worths):  # both, and one scale: what it was worth is still a straight line
        x = y = log_scale([*worths, *placed])
    points = [
        _point(place, row, x.at(row["worth"]), y.at(row["bid"])) for place, row in enumerate(shown)
    ]
    return {"x": x, "y": y, "points": points, "even": min(x.high, y.high)}


def is_crowded(values: Sequence[float]) -> bool:
    """Whether a half of the points would lie in the first tenth of an even scale."""
    ranked = sorted(values)
    return bool(ranked) and ranked[0] >= 0 and ranked[len(ranked) // 2] * 10 < ranked[-1]


def bids_by_texture(drawn: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """How bids spread on each kind of flop, in pots."""
    shares = {
        name: sorted(row["bid"] / row["pot"] for row in drawn if row["texture"] == name)
        for name in FLOP_TEXTURES
    }
    over = linear_scale([each[int(0.95 * (len(each) - 1))] for each in shares.values() if each])
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


def jitter(place: int) -> float:
    """A small shift, always the same for the same place: equal points are then all seen."""
    return ((place * 7919) % 11 - 5) * 0.45


def _point(place: int, row: dict[str, Any], x: float, y: float) -> dict[str, Any]:
    text = f"{row['hand']}: bid {row['bid']}"
    if row["rival_bid"] is not None:
        text += f" against {row['rival_bid']}"
    if row["worth"] is not None:
        text += f", worth {row['worth']:.1f}"
    where = {"x": round(x + jitter(place), 1), "y": round(y + jitter(place * 3), 1)}
    return {**where, "hand": row["hand"], "outcome": row["outcome"], "text": text}


POINTS = 800
WIDE = 2.4  # how much wider than high the lines are drawn
ROWS = 12  # of the table below the graph
HANDS_MAX = 20_000  # of his hands that a page reads for luck; of more, the command line does it
NO_HAND = NotInLedger("there is no hand of his here")
SPOTS = 30  # hands of a player in which the luck of each card is counted
START_POINT = Point(0, "", 0.0, 0.0, 0.0, 0.0, None, 0.0)
PointNumber = Annotated[int | None, Query(ge=1, le=2**31)]


class HandWindow(NamedTuple):
    """His hands from one to another, what they brought, and the filter that finds them."""

    first: int
    last: int
    net: float
    showdown: float
    without: float
    auctions: float
    filter: str


@router.get("/players/{player}/winnings")
def winnings_page(
    of: RequestedPlayer,
    first: PointNumber = None,
    last: PointNumber = None,
    streets: Annotated[bool, Query(alias="luck")] = False,
) -> Response:
    """The winnings curve, as lines that a script draws, and as a table."""
    lucky = None
    answer, why = winnings_or_why(of)
    small = answer.hands <= HANDS_MAX
    if streets and small and answer.points:
        with of.viewed() as viewed:
            lucky = card_luck(street_luck(viewed, of.hand_filters(viewed), SPOTS))
    at = Addresses().embedded("players", of.player, "winnings", **of.query)
    return graph_response(
        of,
        answer,
        why,
        first,
        last,
        "winnings.html",
        lines=LINES,
        lucky=lucky,
        small=small,
        read_max=HANDS_MAX,
        chances=CHANCES,
        frame=frame_markup(of.request, of.ask, at, f"Winnings of {of.player}"),
    )


def winnings_or_why(of: PlayerPage) -> tuple[Winnings, NotInLedger | SeveralMoneys]:
    """The winnings of a player; if nothing can be drawn, why."""
    with of.viewed() as viewed:
        try:
            return winnings(
                viewed, WinningsParams(of.player, POINTS, **of.filters), of.ask.watch
            ), NO_HAND
        except SeveralMoneys as reason:
            return Winnings(of.player, 0, 0.0, (), None, 0, 0.0, ()), reason


def graph_response(
    of: PlayerPage,
    answer: Winnings,
    why: NotInLedger | SeveralMoneys,
    first: int | None,
    last: int | None,
    template: str,
    **more: Any,
) -> Response:
    """A page with the graph, of the whole or of the hands from one to another."""
    step = max(1, len(answer.points) // ROWS)
    with of.viewed() as viewed:
        finds = of.player_filter(viewed)
        mirrored = mirrored_ranges(viewed, of.hand_filters(viewed)) if answer.decks else ""
    return of.response(
        template,
        "winnings",
        decks=finds.of_ranges(mirrored),
        answer=answer,
        why=why,
        rows=[*answer.points[:-1:step], *answer.points[-1:]],
        window=hand_window(answer, finds, first, last),
        drawn=script_json(curve_columns(answer)),
        picture=curve_picture(answer.points),
        **more,
    )


def hand_window(
    answer: Winnings, finds: PlayerFilter, first: int | None, last: int | None
) -> HandWindow | None:
    """The hands between two points that are drawn, nothing narrower than what was asked for."""
    if not answer.points or (first is None and last is None):
        return None
    first, last = min(first or 1, answer.hands), min(last or answer.hands, answer.hands)
    first, last = min(first, last), max(first, last)
    before = next((point for point in reversed(answer.points) if point.k < first), START_POINT)
    end = next(point for point in answer.points if point.k >= last)
    after = f" & hand>{quoted_name(before.hand)}" if before.k else ""
    found = f"{finds()} & !voided{after} & hand<={quoted_name(end.hand)}"
    return HandWindow(
        before.k + 1,
        end.k,
        end.net - before.net,
        end.showdown - before.showdown,
        end.without - before.without,
        end.auctions - before.auctions,
        found,
    )


def curve_columns(answer: Winnings) -> dict[str, Any]:
    """The lines in columns, as the drawing script takes them."""
    names = ("k", "net", "showdown", "without", "auctions", "band")
    columns = {name: [getattr(point, name) for point in answer.points] for name in names}
    return {**columns, "hand": [point.hand for point in answer.points]}


class CurvePicture(NamedTuple):
    """The lines as they are drawn where there is no script: where each runs, and its scales."""

    x: Scale
    y: Scale
    band: str
    lines: tuple[tuple[str, str], ...]


def curve_picture(points: Sequence[Point]) -> CurvePicture | None:
    """Every line of the graph as a path, and the band of a fair game around nothing."""
    if not points:
        return None
    names = (
        "net",
        "showdown",
        "without",
        *(["auctions"] if any(point.auctions for point in points) else []),
    )
    x = linear_scale([point.k for point in points])
    y = linear_scale([getattr(point, name) for name in names for point in points])

    def path(values: Iterable[tuple[float, float]]) -> str:
        return " ".join(
            f"{WIDE * x.at(k):.1f},{PICTURE_SIZE - y.at(value):.1f}" for k, value in values
        )

    inside = [(point.k, min(point.band, y.high)) for point in points]
    below = [(point.k, max(-point.band, y.low)) for point in reversed(points)]
    lines = tuple(
        (name, path((point.k, getattr(point, name)) for point in points)) for name in names
    )
    return CurvePicture(x, y, path([*inside, *below]), lines)


def script_json(value: Any) -> Markup:
    """JSON for a script element; no value in it can end that element."""
    text = json.dumps(value, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace("&", "\\u0026"))


def card_luck(luck: StreetLuck) -> dict[str, Any]:
    """What each card did to him, in hands whose cards the viewer knows, evenly spread."""
    rows = [row for each in luck.chances.values() for row in each]
    most = max((abs(row.chips) for row in rows), default=0.0) or 1.0
    return {"rows": rows, "known": luck.known, "hands": luck.counted, "most": most}
