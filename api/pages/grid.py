"""`/players/NAME/grid`: the 169 classes of hole cards, each a cell that leads to its hands."""

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

from fastapi import APIRouter
from fastapi.responses import Response

from api.http.routes.named import Named
from api.pages.players import OfPlayer
from api.questions.declared import grid as asking
from api.questions.declared.grid import Cell

router = APIRouter(include_in_schema=False, route_class=Named)
What = Literal["acts", "vpip", "raise", "net", "n"]
TITLES = {
    "acts": "raised, called, neither",
    "vpip": "VPIP",
    "raise": "raised before the flop",
    "net": "mean net, big blinds",
    "n": "how often it came",
}
FULL = 12  # times that a class came, from which on its cell is at its fullest


@router.get("/players/{player}/grid")
def grid(of: OfPlayer, show: What = "acts") -> Response:
    with of.viewed() as viewed:
        told = asking.grid(viewed, asking.Whose(of.player, **of.filters))
    cells = {one.name: one for one in told.cells}
    return of.sent(
        "grid.html",
        "grid",
        going_on={"show": show},
        cells=[cell(name, cells.get(name), show) for name in asking.classes()],
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


def acts(cells: Iterable[Cell]) -> Acts | None:
    """Of some classes together; None where he had no choice."""
    sums = [(one.vpip_n, one.pfr_k, one.vpip_k) for one in cells]
    n, raised, played = (sum(column) for column in zip(*sums, strict=True)) if sums else (0, 0, 0)
    return Acts(n, raised / n, (played - raised) / n) if n else None


def kinds(cells: Sequence[Cell]) -> list[tuple[str, Acts]]:
    """The same of all classes, of pairs, of suited and of other ones."""
    parts = {
        "all": cells,
        "pairs": [one for one in cells if len(one.name) == 2],
        "suited": [one for one in cells if one.name.endswith("s")],
        "offsuit": [one for one in cells if one.name.endswith("o")],
    }
    return [(name, found) for name, some in parts.items() if (found := acts(some))]


def cell(name: str, one: Cell | None, show: str) -> dict[str, Any]:
    """What a cell says, how warm it is from 0 to 1, and how full; of acts, how it is divided."""
    if one is None:
        return {"name": name, "hands": 0, "said": "", "warmth": 0.0, "full": 0.0, "acts": None}
    if show == "net":
        mean = one.net_bb
        said = "" if mean is None else f"{mean:+.1f}".replace("-", "\N{MINUS SIGN}")
        warmth = 0.5 if mean is None else min(1.0, max(0.0, 0.5 + mean / 20))
    elif show == "n":
        said, warmth = str(one.hands), 0.5
    else:
        k, n = (one.pfr_k, one.pfr_n) if show == "raise" else (one.vpip_k, one.vpip_n)
        said = f"{100 * k / n:.0f} %" if n else ""
        warmth = k / n if n else 0.0
    full = min(1.0, one.hands / FULL)
    told = {"name": name, "hands": one.hands, "said": said, "warmth": warmth, "full": full}
    return {**told, "acts": acts([one]) if show == "acts" else None}
