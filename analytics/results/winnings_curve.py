"""The winnings curve: a player's cumulative winnings, thinned to the points of a graph.

Sums and prices come from stored facts and bids, so a million hands are quick. What hands were worth
without run-out luck takes its time to count: a caller who wants that line passes its nets.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import pyarrow as pa
from msgspec import Meta, Struct

from analytics.intervals import Z
from analytics.sql import FactSource, HandFilters, facts_sql, file_sql, quoted

if TYPE_CHECKING:
    import numpy as np

POINTS = 500
POINTS_MIN = 12  # with fewer points not even one bucket can keep what it must
LINES = {
    "net": "chips won or lost so far",
    "showdown": "of that, in hands that ended in a showdown for him: the blue line",
    "without": "of that, in all other hands: the red line",
    "auctions": "less than nothing: the prices that he has paid for cards so far",
    "adjusted": "`net` with run-outs after the last choice at their worth, where that is known",
    "band": "how far from nothing a fair game would be, 95 times in 100: 1.96 × deviation × √hands",
}


class Point(Struct, frozen=True):
    """A player's sums after `k` of his hands, the last of them `hand`."""

    k: int
    hand: str
    net: Annotated[float, Meta(description=LINES["net"])]
    showdown: Annotated[float, Meta(description=LINES["showdown"])]
    without: Annotated[float, Meta(description=LINES["without"])]
    auctions: Annotated[float, Meta(description=LINES["auctions"])]
    adjusted: Annotated[float | None, Meta(description=LINES["adjusted"])]
    band: Annotated[float, Meta(description=LINES["band"])]


class Deck(Struct, frozen=True):
    """Sums over `k` mirrored decks: each counts as the mean of its hands, `first` to `last`."""

    k: int
    first: str
    last: str
    net: float
    band: float


class Winnings(Struct, frozen=True):
    """A winnings curve as points, of `hands` hands and `decks` whole mirrored decks.

    `adjusted` is how many hands were counted without luck, none where nobody asked for it; `sd` the
    standard deviation of a hand, `deck_sd` of a deck.
    """

    player: str
    hands: int
    sd: float
    points: Sequence[Point]
    adjusted: int | None
    decks: int
    deck_sd: float
    paired: Sequence[Deck]
    unit: str | None = None


def winnings_curve(
    facts: FactSource,
    chosen: HandFilters,
    *,
    points: int = POINTS,
    adjusted: Mapping[int, float] | None = None,
    deals: Mapping[str, int] | None = None,
    unit: str | None = None,
) -> Winnings:
    """The winnings curve of `chosen.player` over the hands that the filters leave.

    `adjusted` holds nets without luck by `hand_seq`, `deals` how often each mirrored match deals
    its decks, `unit` is what they are played for.
    """
    assert chosen.player is not None
    points = max(points, POINTS_MIN)
    rows = facts.ask(winnings_sql("winnings_by_hand", chosen, {}))
    dots = _points(rows, points, adjusted)
    decks = facts.ask(winnings_sql("winnings_by_deck", chosen, deals or {})) if deals else None
    paired, deck_sd = _deck_points(decks, points) if decks else ((), 0.0)
    return Winnings(
        chosen.player,
        len(rows),
        _deviation(rows),
        dots,
        None if adjusted is None else sum(seq in adjusted for seq in rows["hand_seq"].to_pylist()),
        len(decks) if decks else 0,
        deck_sd,
        paired,
        unit,
    )


def thinned_places(lines: "Sequence[np.ndarray]", points: int) -> "np.ndarray":
    """The places of some lines that a graph keeps: at most `points`, the first and last included.

    The lines are cut into stretches of one length, and of each the highest, the lowest and the last
    place of every line stay: so whatever is drawn between them reaches as far as the lines do.
    """
    import numpy as np

    size = len(lines[0])
    if size <= points:
        return np.arange(size)
    stretches = points // 3
    while len(kept := _extreme_places(lines, stretches)) > points:
        stretches = max(1, min(stretches - 1, stretches * points // len(kept)))
    return kept


def _extreme_places(lines: "Sequence[np.ndarray]", stretches: int) -> "np.ndarray":
    """The first place, and the highest, lowest and last of each stretch."""
    import numpy as np

    size = len(lines[0])
    width = -(-size // stretches)
    starts = np.arange(0, size, width)
    padding = len(starts) * width - size
    found = [np.zeros(1, dtype=np.int64), np.minimum(starts + width, size) - 1]
    for line in lines:
        high = np.pad(line, (0, padding), constant_values=-np.inf).reshape(-1, width)
        low = np.pad(line, (0, padding), constant_values=np.inf).reshape(-1, width)
        found += [starts + high.argmax(axis=1), starts + low.argmin(axis=1)]
    return np.unique(np.concatenate(found))


def _points(rows: pa.Table, points: int, adjusted: Mapping[int, float] | None) -> tuple[Point, ...]:
    """Sum up over all hands, and keep the points of a graph."""
    import numpy as np

    if not len(rows):
        return ()
    nets, prices = (rows[name].to_numpy() for name in ("net", "price"))
    shown = rows["showdown"].to_numpy(zero_copy_only=False).astype(bool)
    lines = [
        np.cumsum(nets),
        np.cumsum(np.where(shown, nets, 0.0)),
        np.cumsum(np.where(shown, 0.0, nets)),
        -np.cumsum(prices),
    ]
    if adjusted is not None:
        seqs = rows["hand_seq"].to_pylist()
        worth = np.array([adjusted.get(seq, net) for seq, net in zip(seqs, nets, strict=True)])
        lines.append(np.cumsum(worth))
    deviation = _deviation(rows)
    kept = thinned_places(lines, points)
    some = rows.take(pa.array(kept))
    hands = zip(some["match"].to_pylist(), some["number"].to_pylist(), strict=True)
    dots = []
    for at, (match, number) in zip(kept.tolist(), hands, strict=True):
        net, showdown, without, auctions, *worths = (_rounded_chips(line[at]) for line in lines)
        worth_so_far = worths[0] if worths else None
        band = Z * deviation * (at + 1) ** 0.5
        hand = f"{match}/{number}"
        dots.append(Point(at + 1, hand, net, showdown, without, auctions + 0.0, worth_so_far, band))
    return tuple(dots)


def _deck_points(decks: pa.Table, points: int) -> tuple[tuple[Deck, ...], float]:
    """Sum up over mirrored decks; the points of a graph, and the deviation of a deck."""
    import numpy as np

    if not len(decks):
        return (), 0.0
    line = np.cumsum(decks["net"].to_numpy())
    deviation = _deviation(decks)
    kept = thinned_places([line], points)
    some = decks.take(pa.array(kept)).to_pylist()
    decks_won = (
        Deck(
            at + 1,
            f"{row['match']}/{row['first_number']}",
            f"{row['match']}/{row['last_number']}",
            _rounded_chips(line[at]),
            Z * deviation * (at + 1) ** 0.5,
        )
        for at, row in zip(kept.tolist(), some, strict=True)
    )
    return tuple(decks_won), deviation


def _deviation(rows: pa.Table) -> float:
    """The standard deviation of a net; 0 of fewer than two."""
    return float(rows["net"].to_numpy().std(ddof=1)) if len(rows) > 1 else 0.0


def _rounded_chips(value: float) -> float:
    """Round a sum of halves and hundredths to six digits."""
    return round(float(value), 6)


def winnings_sql(file: str, chosen: HandFilters, deals: Mapping[str, int]) -> str:
    """SQL of a file over the filtered hands, with a column for `deals` that are more than one."""
    times = "".join(
        f" WHEN {quoted(match)} THEN {count}" for match, count in deals.items() if count > 1
    )
    column = f"CASE match{times} ELSE 1 END" if times else "1"
    rows = f"SELECT c.*, {column} AS deals FROM ({facts_sql(chosen, 'NULL')}) AS c"
    return file_sql(file, rows)
