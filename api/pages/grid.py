"""`/players/NAME/grid`: the 169 classes of hole cards, each a cell that leads to its hands."""

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

from fastapi import APIRouter
from fastapi.responses import Response

from api.http.routes.named import Named
from api.pages.players import Against
from api.questions import grid as asking

router = APIRouter(include_in_schema=False, route_class=Named)
What = Literal["acts", "vpip", "raise", "net", "n"]
TITLES = {
    "acts": "raised, called, neither",
    "vpip": "VPIP",
    "raise": "raised before the flop",
    "net": "mean net, big blinds",
    "n": "how often it came",
}
COUNTED = {"acts": "vpip", "vpip": "vpip", "raise": "pfr"}
FULL = 12  # times that a class came, from which on its cell is at its fullest


@router.get("/players/{player}/grid")
def grid(of: Against, show: What = "acts") -> Response:
    with of.viewed() as viewed:
        told = asking.grid(viewed, of.chosen(viewed))
    return of.sent(
        "grid.html",
        "grid",
        going_on={"show": show},
        cells=[cell(name, told.cells.get(name), show) for name in asking.classes()],
        hands=told.hands,
        known=told.known,
        show=show,
        shows=list(TITLES.items()),
        kinds=kinds(told.cells),
        full=FULL,
    )


class Acts(NamedTuple):
    """How often he could choose before the flop, and which shares of that he raised and called.

    To straddle by choice is counted with calls."""

    n: int
    raised: float
    called: float


def acts(rows: Iterable[dict[str, Any]]) -> Acts | None:
    """Of some classes together; None where he had no choice."""
    sums = [(row["vpip_n"], row["pfr_k"], row["vpip_k"]) for row in rows]
    n, raised, played = (sum(column) for column in zip(*sums, strict=True)) if sums else (0, 0, 0)
    return Acts(n, raised / n, (played - raised) / n) if n else None


def kinds(cells: dict[str, dict[str, Any]]) -> list[tuple[str, Acts]]:
    """The same of all classes, of pairs, of suited and of other ones."""
    parts = {
        "all": list(cells.values()),
        "pairs": [row for name, row in cells.items() if len(name) == 2],
        "suited": [row for name, row in cells.items() if name.endswith("s")],
        "offsuit": [row for name, row in cells.items() if name.endswith("o")],
    }
    return [(name, found) for name, rows in parts.items() if (found := acts(rows))]


def cell(name: str, row: dict[str, Any] | None, show: str) -> dict[str, Any]:
    """What a cell says, how warm it is from 0 to 1, and how full; of acts, how it is divided."""
    if row is None:
        return {"name": name, "hands": 0, "said": "", "warmth": 0.0, "full": 0.0, "acts": None}
    if show == "net":
        mean = row["net_bb"]
        said = "" if mean is None else f"{mean:+.1f}".replace("-", "\N{MINUS SIGN}")
        warmth = 0.5 if mean is None else min(1.0, max(0.0, 0.5 + mean / 20))
    elif show == "n":
        said, warmth = str(row["hands"]), 0.5
    else:
        k, n = row[f"{COUNTED[show]}_k"], row[f"{COUNTED[show]}_n"]
        said = f"{100 * k / n:.0f} %" if n else ""
        warmth = k / n if n else 0.0
    full = min(1.0, row["hands"] / FULL)
    told = {"name": name, "hands": row["hands"], "said": said, "warmth": warmth, "full": full}
    return {**told, "acts": acts([row]) if show == "acts" else None}
