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
from analytics.luck.streets import CHANCES
from analytics.results.winnings_curve import LINES, Point, Winnings
from api.http.routes.questions import Named
from api.pages.addresses import Addresses
from api.pages.players import FULL, OfPlayer, PlayerPage
from api.pages.site import SIZE, Scale, frame, histogram, in_logs, scale
from api.questions.declared import bids as bidding
from api.questions.declared.winnings import WinningsParams, winnings
from api.questions.filters_values import Finder, word
from api.questions.luck import StreetLuck, mirrored_hands, street_luck
from api.questions.players import NoSum
from api.viewpoints.selection import Absent
from odds.ranges import GRID
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
        params = bidding.BidsParams(player, **of.filters, spots=VALUED)
        try:
            answer = bidding.bidding(viewed, params, of.ask.watch)
        except (Absent, NoSum) as reason:
            return of.sent("bids.html", "bids", counts=None, why=reason)
        drawn = answer.auctions.points(player)
        placed = [
            row | {"share": row["won"] / row["bids"]}
            for row in answer.auctions.by_made_hand(player)
        ]
        classes = bid_cells(answer.auctions.by_hole_class(player))
        finds, valued = of.finder(viewed), answer.auctions.valued_hands(player)
    found = {one.statistic: one for one in answer.found if one.player == player}
    rows = {
        name: {
            "of": one,
            "measured": found[name],
            "led": [finds.at(hands) for hands in valued[name]] if name in valued else None,
        }
        for name, one in MEASURES.items()
        if name in found
    }
    return of.sent(
        "bids.html",
        "bids",
        counts=answer.counts,
        counting=answer.unit,
        why=None,
        model=bidding.MODEL,
        seed=SEED,
        every=drawn[0]["every"] if drawn else 0,
        against_rival=against_rival(drawn),
        worth=worth(drawn),
        textures=textures(drawn),
        headline=[rows[name] for name in HEADLINE if name in rows],
        measures=(
            ("", [row for name, row in rows.items() if name in MATTER]),
            ("All others", [row for name, row in rows.items() if name not in MATTER]),
        ),
        made=placed,
        cells=classes,
        strengths={name: pots(placed, some) for name, some in STRENGTHS.items()},
        pairs=[pair for pair in answer.bidder_pairs if player in (pair.dealer, pair.rival)],
    )


def pots(placed: list[dict[str, Any]], some: Collection[str]) -> float | None:
    """His mean bid with hands of some kinds, in pots."""
    rows = [row for row in placed if row["part"] in some]
    n = sum(row["in_pots"] for row in rows)
    return sum(row["pots"] * row["in_pots"] for row in rows if row["in_pots"]) / n if n else None


def bid_cells(held: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """What he bids with each of the 169 classes, in pots; the largest mean is the warmest."""
    most = max((row["pots"] or 0.0 for row in held.values()), default=0.0) or 1.0
    cells = []
    for name in GRID:
        row = held.get(name, {"bids": 0, "pots": None})
        cell = {
            "name": name,
            "hands": row["bids"],
            "acts": None,
            "full": min(1.0, row["bids"] / FULL),
        }
        pots = row["pots"]
        text = "" if pots is None else f"{pots:.1f}" if pots < 10 else f"{pots:.0f}"
        cells.append(cell | {"text": text, "warmth": (pots or 0.0) / most})
    return cells


def against_rival(drawn: list[dict[str, Any]]) -> dict[str, Any]:
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


def is_crowded(values: Sequence[float]) -> bool:
    """Whether a half of the points would lie in the first tenth of an even scale."""
    ranked = sorted(values)
    return bool(ranked) and ranked[0] >= 0 and ranked[len(ranked) // 2] * 10 < ranked[-1]


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


def spread(place: int) -> float:
    """A little to the side, always the same for the same place: equal points are then all seen."""
    return ((place * 7919) % 11 - 5) * 0.45


def _point(place: int, row: dict[str, Any], x: float, y: float) -> dict[str, Any]:
    text = f"{row['hand']}: bid {row['bid']}"
    if row["rival_bid"] is not None:
        text += f" against {row['rival_bid']}"
    if row["worth"] is not None:
        text += f", worth {row['worth']:.1f}"
    where = {"x": round(x + spread(place), 1), "y": round(y + spread(place * 3), 1)}
    return {**where, "hand": row["hand"], "outcome": row["outcome"], "text": text}


POINTS = 800
WIDE = 2.4  # how much wider than high the lines are drawn
ROWS = 12  # of the table below the graph
READ_MAX = 20_000  # of his hands that a page reads for luck; of more, the command line does it
NO_HAND = Absent("there is no hand of his here")
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
    answer, why = winnings_or_why(of)
    small = answer.hands <= READ_MAX
    if streets and small and answer.points:
        with of.viewed() as viewed:
            lucky = card_luck(street_luck(viewed, of.chosen(viewed), SPOTS))
    at = Addresses().embedded("players", of.player, "winnings", **of.filtered)
    return grown(
        of,
        answer,
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


def winnings_or_why(of: PlayerPage) -> tuple[Winnings, Absent | NoSum]:
    """How his winnings grew; if nothing can be drawn, why."""
    with of.viewed() as viewed:
        try:
            return winnings(
                viewed, WinningsParams(of.player, POINTS, **of.filters), of.ask.watch
            ), NO_HAND
        except NoSum as reason:
            return Winnings(of.player, 0, 0.0, (), None, 0, 0.0, ()), reason


def grown(
    of: PlayerPage,
    answer: Winnings,
    why: Absent | NoSum,
    first: int | None,
    last: int | None,
    template: str,
    **more: Any,
) -> Response:
    """A page with the graph, of the whole or of the hands from one to another."""
    step = max(1, len(answer.points) // ROWS)
    with of.viewed() as viewed:
        finds = of.finder(viewed)
        mirrored = mirrored_hands(viewed, of.chosen(viewed)) if answer.decks else ""
    return of.sent(
        template,
        "winnings",
        decks=finds.among(mirrored),
        answer=answer,
        why=why,
        rows=[*answer.points[:-1:step], *answer.points[-1:]],
        window=window(answer, finds, first, last),
        drawn=inert(curves(answer)),
        picture=picture(answer.points),
        **more,
    )


def window(answer: Winnings, finds: Finder, first: int | None, last: int | None) -> Window | None:
    """The hands between two points that are drawn, nothing narrower than what was asked for."""
    if not answer.points or (first is None and last is None):
        return None
    first, last = min(first or 1, answer.hands), min(last or answer.hands, answer.hands)
    first, last = min(first, last), max(first, last)
    before = next((point for point in reversed(answer.points) if point.k < first), NOTHING)
    end = next(point for point in answer.points if point.k >= last)
    after = f" & hand>{word(before.hand)}" if before.k else ""
    found = f"{finds()} & !voided{after} & hand<={word(end.hand)}"
    return Window(
        before.k + 1,
        end.k,
        end.net - before.net,
        end.showdown - before.showdown,
        end.without - before.without,
        end.auctions - before.auctions,
        found,
    )


def curves(answer: Winnings) -> dict[str, Any]:
    """The lines in columns, as the drawing script takes them."""
    names = ("k", "net", "showdown", "without", "auctions", "band")
    columns = {name: [getattr(point, name) for point in answer.points] for name in names}
    return {**columns, "hand": [point.hand for point in answer.points]}


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
        *(["auctions"] if any(point.auctions for point in points) else []),
    )
    x = scale([point.k for point in points])
    y = scale([getattr(point, name) for name in names for point in points])

    def path(values: Iterable[tuple[float, float]]) -> str:
        return " ".join(f"{WIDE * x.at(k):.1f},{SIZE - y.at(value):.1f}" for k, value in values)

    inside = [(point.k, min(point.band, y.high)) for point in points]
    below = [(point.k, max(-point.band, y.low)) for point in reversed(points)]
    lines = tuple(
        (name, path((point.k, getattr(point, name)) for point in points)) for name in names
    )
    return Picture(x, y, path([*inside, *below]), lines)


def inert(value: Any) -> Markup:
    """JSON that can stand in a page: nothing in it ends the element that holds it."""
    text = json.dumps(value, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace("&", "\\u0026"))


def card_luck(luck: StreetLuck) -> dict[str, Any]:
    """What each card did to him, in hands whose cards the viewer knows, evenly spread."""
    rows = [row for each in luck.chances.values() for row in each]
    most = max((abs(row.chips) for row in rows), default=0.0) or 1.0
    return {"rows": rows, "known": luck.known, "hands": luck.counted, "most": most}
