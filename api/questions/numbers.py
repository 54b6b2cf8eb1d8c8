"""Numbers about players: in documents, as rows of files, and as people read them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Protocol

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import astuple, fields

from analytics.confidence import DRAWS, SEED
from analytics.statistics.catalogue import Measured
from api.questions.question import Cell, Sheet, plain, share


class Again(Struct, frozen=True):
    """How often means are drawn again, by which seed."""

    seed: int = SEED
    draws: int = DRAWS


class Numbers(Struct, frozen=True):
    """A number: `k` out of `n`, if it is a share, and its 95 % interval, if it has one; `unit` is
    what an amount counts, which has no value where that is several moneys."""

    value: float | None
    k: int | None
    n: int
    low: float | None
    high: float | None
    unit: str | None


class Drawn(Numbers, frozen=True):
    """A number; of a mean of 30 deals or more also its interval with these drawn again."""

    drawn_low: float | UnsetType = UNSET
    drawn_high: float | UnsetType = UNSET


class OfPlayer(Struct, frozen=True, kw_only=True):
    """A player's measures by name; of a part of his hands, one more member says of which."""

    player: str
    measures: dict[str, Drawn]


class MeasureRow(Struct, frozen=True):
    """A measure of a player, or of a part of his hands."""

    player: str
    part: Annotated[str, Meta(description="of what the answer is split by")]
    statistic: Annotated[str, Meta(description="the measure")]
    value: float | None
    k: Annotated[int | None, Meta(description="how often, of a share")]
    n: Annotated[int, Meta(description="out of how many")]
    low: Annotated[float | None, Meta(description="where its 95 % interval begins")]
    high: Annotated[float | None, Meta(description="where that ends")]
    drawn_low: Annotated[
        float | None, Meta(description="where a mean's interval begins, deals drawn again")
    ]
    drawn_high: Annotated[float | None, Meta(description="where that ends")]
    unit: Annotated[str | None, Meta(description="what an amount counts")]


class Kind(Protocol):
    """A statistic or a measure."""

    @property
    def kind(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def few(self) -> int:
        """Below so many opportunities a number is grey."""


SMALLEST_P = 1e-15  # below it, numbers of this precision are no more than noise


def p_value(p: float | None, digits: int = 2) -> str:
    """A chance that a test gives: never 0, which none is; nothing where nothing was tested."""
    if p is None:
        return ""
    return f"{p:.{digits}g}" if p >= SMALLEST_P else f"<{SMALLEST_P:g}"


def value_of(it: Kind, value: float | None) -> str:
    """61.3 %, 2.33, -7.09; nothing without an opportunity."""
    return share(value) if it.kind == "share" else plain(value)


def between(
    it: Kind, low: float | None, high: float | None, to: str = " - ", sign: str = ""
) -> str:
    """58.2 - 64.3"""
    if low is None or high is None:
        return ""
    scale, digits = (100, 1) if it.kind == "share" else (1, 2)
    return to.join(f"{scale * end:{sign},.{digits}f}" for end in (low, high))


def between_shares(low: float | None, high: float | None) -> str:
    """58.2 - 64.3"""
    return "" if low is None or high is None else f"{100 * low:.1f} - {100 * high:.1f}"


def counts(k: int | None, n: int) -> str:
    """613/1000, or how often there was a number."""
    return f"{n}" if k is None else f"{k}/{n}"


def drawn(measure: Measured) -> Drawn:
    """The lines of a measure."""
    ends = () if measure.drawn_low is None else (measure.drawn_low, measure.drawn_high)
    return Drawn(
        measure.value, measure.k, measure.n, measure.low, measure.high, measure.unit, *ends
    )


def part_of(one: Struct) -> str:
    """The part of a player's hands that it is about, which one of the members names that may be
    left out; of all of his hands there is no word."""
    found = (getattr(one, field.name) for field in fields(one) if field.default is UNSET)
    return next((it for it in found if isinstance(it, str)), "")


def lines(player: str, part: str, measures: Mapping[str, Drawn]) -> list[MeasureRow]:
    """A row a measure."""
    return [
        MeasureRow(
            player,
            part,
            name,
            measure.value,
            measure.k,
            measure.n,
            measure.low,
            measure.high,
            None if measure.drawn_low is UNSET else measure.drawn_low,
            None if measure.drawn_high is UNSET else measure.drawn_high,
            measure.unit,
        )
        for name, measure in measures.items()
    ]


def lines_of(players: Iterable[OfPlayer]) -> list[MeasureRow]:
    """A row a measure of each player, or part of his hands."""
    return [
        row for player in players for row in lines(player.player, part_of(player), player.measures)
    ]


def by_line(
    rows: Sequence[MeasureRow],
    kinds: Mapping[str, Kind],
    heads: Mapping[str, Sequence[str]],
    foot: str,
) -> Iterator[Sheet]:
    """A line for each measure that has something behind it, parts one after another, each under
    its head."""
    for part, head in heads.items():
        lines = []
        for row in rows:
            if row.part != part or not row.n:
                continue
            it = kinds[row.statistic]
            few, again = row.n < it.few, Measured(*astuple(row)).drawn
            word = "" if again is None else "drawn again {:,.2f} - {:,.2f}".format(*again)
            cells = (value_of(it, row.value), between(it, row.low, row.high), counts(row.k, row.n))
            texts = (it.title, *cells, "too few" if few else word)
            lines.append([Cell(text, few) for text in texts])
        columns = ("", "value", "95 % interval", "k/n", "")
        yield Sheet(columns, lines, (1, 2, 3), "   ".join(filter(None, head)), foot)


def by_part(
    rows: Sequence[MeasureRow], kinds: Mapping[str, Kind], hands: Mapping[str, int], head: str
) -> Sheet:
    """A line for each measure that has something behind it, a column for each part."""
    found: dict[str, dict[str, Cell]] = {}
    for row in rows:
        if row.n:
            it = kinds[row.statistic]
            cell = Cell(value_of(it, row.value), row.n < it.few)
            found.setdefault(it.title, {})[row.part] = cell
    found = {"hands": {part: Cell(str(count)) for part, count in hands.items()}, **found}
    lines = [
        [Cell(title), *(cells.get(part, Cell("")) for part in hands)]
        for title, cells in found.items()
    ]
    return Sheet(("what", *hands), lines, range(1, len(hands) + 1), head)


def by_player(
    rows: Sequence[Any],
    kinds: Mapping[str, Kind],
    shown: Sequence[str],
    by: str | None,
    hands: Mapping[tuple[str, str], int] | None = None,
    **words: Any,
) -> Sheet:
    """A line for each player and part, a few measures each; in the order of `hands`, if given."""
    found: dict[tuple[str, str], dict[str, Any]] = {who: {} for who in hands or ()}
    for row in rows:
        found.setdefault((row.player, row.part), {})[row.statistic] = row
    lines = []
    for who, mine in found.items():
        cells = [*map(Cell, who if by else who[:1]), *([Cell(str(hands[who]))] if hands else [])]
        for name in shown:
            row, it = mine.get(name), kinds[name]
            cells.append(Cell(value_of(it, row.value), row.n < it.few) if row else Cell(""))
        lines.append(cells)
    columns = ["player", *([by] if by else []), *(["hands"] if hands is not None else [])]
    right = range(1 + bool(by), len(columns) + len(shown))
    return Sheet([*columns, *(kinds[it].title for it in shown)], lines, right, **words)
