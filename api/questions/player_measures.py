"""Measures of players: the hands that a question counts, and its numbers as rows and tables."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, Protocol

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import astuple, fields, replace

from analytics.intervals import DRAWS, SEED
from analytics.replay.rules import POSITIONS
from analytics.sql import HandFilters, currencies_of, hand_terms, player_terms, quoted, where
from analytics.statistics.catalogue import STATISTICS, MeasureValue, Statistic
from analytics.statistics.compute import StatisticValue, sql_file_rows, statistic_values, with_units
from api.problem import Problem
from api.questions.question import Cell, Param, Sheet, cell_text, share_text
from api.viewpoints.hand_selection import NotInLedger
from api.viewpoints.ledger_view import LedgerView


class Unanswerable(ValueError):
    """A question that cannot have an answer; the sentence says why, and `choices` by parameter
    what could be asked instead."""

    def __init__(self, sentence: str, **choices: Sequence[str]) -> None:
        super().__init__(sentence)
        self.choices = choices


class SeveralMoneys(Unanswerable):
    """A sum of amounts of several moneys, which there is not."""


def player_not_found(name: str) -> NotInLedger:
    """The error about a player who was dealt nothing."""
    return NotInLedger(f"nobody called {name} was dealt a hand: muckrake stats lists who was")


def money_of(viewed: LedgerView, rows: str) -> str | None:
    """The money that rows with a `unit` were played for; several have no sum."""
    moneys = currencies_of(viewed, rows)
    if len(moneys) > 1:
        several = " and ".join(f"{one}s" for one in moneys)
        raise SeveralMoneys(
            f"these hands are played for {several}, which have no sum: ask for one unit, "
            f"{' or '.join(moneys)}",
            unit=moneys,
        )
    return moneys[0] if moneys else None


def check_filters(
    viewed: LedgerView, *names: str | None, match: str | None = None, game: str | None = None
) -> None:
    """Refuse players, a match and a game that are not there before anything is counted."""
    for name in names:
        if name is not None and not has_row(viewed, "player", name):
            raise player_not_found(name)
    for what, value in (("match", match), ("game", game)):
        if value is not None and not has_row(viewed, what, value):
            raise NotInLedger(f"there is no hand of {what} {value}")


def count_hands(viewed: LedgerView, params: Any) -> int:
    """The number of hands that a question is about, by its own filters."""
    chosen = filters_of_params(viewed, params)
    conditions = where([*player_terms(chosen), *hand_terms(chosen)])
    (counted,) = viewed.rows(f"SELECT count(DISTINCT hand_seq) AS n FROM facts{conditions}")
    return int(counted["n"])


def check_hand_count(viewed: LedgerView, params: Any, hands_max: int, otherwise: str) -> None:
    """Refuse more hands than an answer may be about; the sentence says how to ask otherwise."""
    hands = count_hands(viewed, params)
    if hands > hands_max:
        sentence = f"these are {hands} hands, and {otherwise}"
        raise Problem("too-large", sentence, hands=hands, hands_max=hands_max)


def has_row(viewed: LedgerView, column: str, value: str, table: str = "facts") -> bool:
    """Whether a table has a row with this value."""
    if (column, table) == ("player", "facts") and viewed.query.reads:
        return bool(viewed.query.about("facts", value, ["hand_seq"]).num_rows)
    sql = f"SELECT 1 AS there FROM {table} WHERE {column} = {quoted(value)} LIMIT 1"
    return bool(viewed.rows(sql))


Row = dict[str, Any]
Position = Literal[POSITIONS]  # type: ignore[valid-type]
Positions = Annotated[
    tuple[Position, ...], Param("Only there.", option="position", query="position")
]


class PlayerStatistics(NamedTuple):
    """Statistics of players and parts, and how many hands each had; also of all other players as
    one."""

    found: list[StatisticValue]
    dealt: dict[tuple[str, str], Row]
    field: dict[str, StatisticValue]


def player_filters(
    viewed: LedgerView,
    player: str | None,
    *,
    hands: str | None = None,
    before: str | None = None,
    **others: Any,
) -> HandFilters:
    """The hand filters of a question; refuses names that are not there before anything is
    counted."""
    first_last = None
    if hands:  # `1-100`, or one number
        first, _, last = hands.partition("-")
        last = last or first
        if not (first.isdecimal() and last.isdecimal() and int(first) <= int(last) < 2**63):
            raise Unanswerable(f"{hands} is no range of hands: 101-200 is one")
        first_last = int(first), int(last)
    place = None
    if before is not None:
        place = viewed.snapshot.hand_seq(before)
        if place is None:
            raise NotInLedger(f"there is no hand {before}: muckrake hands lists those there are")
    vs = others.get("vs")
    check_filters(viewed, player, vs, match=others.get("match"), game=others.get("game"))
    if player is not None and player == vs:
        raise Unanswerable(f"{player} has no hands against himself")
    return HandFilters(player=player, hands=first_last, before=place, **others)


def filters_of_params(viewed: LedgerView, params: Any, **others: Any) -> HandFilters:
    """The hand filters among a question's parameters."""
    names = ("vs", "positions", "game", "match", "hands", "before")
    values = {name: getattr(params, name) for name in names if hasattr(params, name)}
    return player_filters(viewed, params.player, **values, **others)


def statistics_of_street(street: str | None) -> list[Statistic]:
    """The statistics that look at one street only, or all there are."""
    return [one for one in STATISTICS.values() if street in (None, one.street)]


def statistics(
    viewed: LedgerView, chosen: HandFilters, wanted: Sequence[Statistic], *, field: bool = False
) -> PlayerStatistics:
    """Compute the statistics asked for. `field`: of one player, also of everybody else under the
    same filters, counted as one."""
    found = list(with_units(viewed, chosen, statistic_values(viewed.facts, chosen, wanted)))
    rows = sql_file_rows("dealt", viewed.facts, chosen)
    dealt = {(row["player"], row["part"]): row for row in rows}
    field_answers: dict[str, StatisticValue] = {}
    if field and chosen.player is not None:
        rest = replace(chosen, others=True, by=None)
        others = with_units(viewed, rest, statistic_values(viewed.query, rest, wanted))
        field_answers = {one.statistic: one for one in others}
    return PlayerStatistics(found, dealt, field_answers)


TITLES_SQL = """
SELECT match, string_agg(DISTINCT player, ', ' ORDER BY player) AS players, min(game) AS game,
       substr(CAST(min(day) AS VARCHAR), 1, 10) AS day
FROM (
    SELECT match, game, day, last, unnest(from_json(players, '["VARCHAR"]')) AS player
    FROM (
        SELECT match, players, min(game) AS game, max(hand_seq) AS last,
               least(min(played), CAST(min(first_at) FILTER (played IS NULL) AS VARCHAR)) AS day
        FROM hands WHERE match IN (
            SELECT match FROM {whose} GROUP BY match ORDER BY max(hand_seq) DESC LIMIT 50
        )
        GROUP BY match, players
    )
)
GROUP BY match ORDER BY max(last) DESC
"""


def match_titles(viewed: LedgerView, player: str | None = None) -> dict[str, str]:
    """The newest matches, or a player's, each with what tells it from others: who played, by
    which rules, when."""
    whose = "hands" if player is None else f"players WHERE player = {quoted(player)}"
    found = viewed.rows(TITLES_SQL.format(whose=whose))
    return {
        row["match"]: " · ".join(filter(None, (row["players"], row["game"], row["day"])))
        for row in found
    }


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
        """The number of opportunities below which a number is grey."""


SMALLEST_P = 1e-15  # below it, numbers of this precision are no more than noise


def p_text(p: float | None, digits: int = 2) -> str:
    """A p-value as text: never 0, which none is; nothing where nothing was tested."""
    if p is None:
        return ""
    return f"{p:.{digits}g}" if p >= SMALLEST_P else f"<{SMALLEST_P:g}"


def measure_text(it: Kind, value: float | None) -> str:
    """A value as text: 61.3 %, 2.33, -7.09; nothing without an opportunity."""
    return share_text(value) if it.kind == "share" else cell_text(value)


def interval_text(
    it: Kind, low: float | None, high: float | None, to: str = " - ", sign: str = ""
) -> str:
    """An interval as text: 58.2 - 64.3"""
    if low is None or high is None:
        return ""
    scale, digits = (100, 1) if it.kind == "share" else (1, 2)
    return to.join(f"{scale * end:{sign},.{digits}f}" for end in (low, high))


def counts_text(k: int | None, n: int) -> str:
    """k of n as text: 613/1000; of a mean, how many numbers."""
    return f"{n}" if k is None else f"{k}/{n}"


def drawn_measure(measure: MeasureValue) -> Drawn:
    """A measure as a number of a document."""
    ends = () if measure.drawn_low is None else (measure.drawn_low, measure.drawn_high)
    return Drawn(
        measure.value, measure.k, measure.n, measure.low, measure.high, measure.unit, *ends
    )


def part_name(one: Struct) -> str:
    """The part of a player's hands that a row is about, which one of the members names that may
    be left out; empty if it is all of his hands."""
    found = (getattr(one, field.name) for field in fields(one) if field.default is UNSET)
    return next((it for it in found if isinstance(it, str)), "")


def measure_rows(player: str, part: str, measures: Mapping[str, Drawn]) -> list[MeasureRow]:
    """A row for each measure."""
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


def measure_rows_of(answer: Any) -> list[MeasureRow]:
    """A row for each measure of each of an answer's players, or parts of his hands."""
    players: list[OfPlayer] = answer.players
    return [row for it in players for row in measure_rows(it.player, part_name(it), it.measures)]


def measure_sheets(
    rows: Sequence[MeasureRow],
    kinds: Mapping[str, Kind],
    heads: Mapping[str, Sequence[str]],
    foot: str,
) -> Iterator[Sheet]:
    """A sheet for each part: a line for each measure that has a number, under the part's head."""
    for part, head in heads.items():
        lines = []
        for row in rows:
            if row.part != part or not row.n:
                continue
            it = kinds[row.statistic]
            few, again = row.n < it.few, MeasureValue(*astuple(row)).drawn
            word = "" if again is None else "drawn again {:,.2f} - {:,.2f}".format(*again)
            cells = (
                measure_text(it, row.value),
                interval_text(it, row.low, row.high),
                counts_text(row.k, row.n),
            )
            texts = (it.title, *cells, "too few" if few else word)
            lines.append([Cell(text, few) for text in texts])
        columns = ("", "value", "95 % interval", "k/n", "")
        yield Sheet(columns, lines, (1, 2, 3), "   ".join(filter(None, head)), foot)


def part_sheet(
    rows: Sequence[MeasureRow], kinds: Mapping[str, Kind], hands: Mapping[str, int], head: str
) -> Sheet:
    """A sheet with a line for each measure that has a number, and a column for each part."""
    found: dict[str, dict[str, Cell]] = {}
    for row in rows:
        if row.n:
            it = kinds[row.statistic]
            cell = Cell(measure_text(it, row.value), row.n < it.few)
            found.setdefault(it.title, {})[row.part] = cell
    found = {"hands": {part: Cell(str(count)) for part, count in hands.items()}, **found}
    lines = [
        [Cell(title), *(cells.get(part, Cell("")) for part in hands)]
        for title, cells in found.items()
    ]
    return Sheet(("what", *hands), lines, range(1, len(hands) + 1), head)


def player_sheet(
    rows: Sequence[Any],
    kinds: Mapping[str, Kind],
    shown: Sequence[str],
    by: str | None,
    hands: Mapping[tuple[str, str], int] | None = None,
    **words: Any,
) -> Sheet:
    """A sheet with a line for each player and part, a few measures each; in the order of
    `hands`, if given."""
    found: dict[tuple[str, str], dict[str, Any]] = {who: {} for who in hands or ()}
    for row in rows:
        found.setdefault((row.player, row.part), {})[row.statistic] = row
    lines = []
    for who, mine in found.items():
        cells = [*map(Cell, who if by else who[:1]), *([Cell(str(hands[who]))] if hands else [])]
        for name in shown:
            row, it = mine.get(name), kinds[name]
            cells.append(Cell(measure_text(it, row.value), row.n < it.few) if row else Cell(""))
        lines.append(cells)
    columns = ["player", *([by] if by else []), *(["hands"] if hands is not None else [])]
    right = range(1 + bool(by), len(columns) + len(shown))
    return Sheet([*columns, *(kinds[it].title for it in shown)], lines, right, **words)
