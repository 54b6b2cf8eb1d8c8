"""How players play: every statistic, its opportunities and its interval.

docs/statistics.md says what a row means. Splitting by street gives each street the statistics that
look at it alone.
"""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field
from msgspec.structs import asdict

from analytics.intervals import SEED
from analytics.sql import By
from analytics.statistics.catalogue import STATISTICS
from analytics.statistics.compute import StatisticValue
from api.questions.player_measures import (
    Numbers,
    Positions,
    counts_text,
    filters_of_params,
    interval_text,
    measure_text,
    part_name,
    player_sheet,
    statistics,
    statistics_of_street,
)
from api.questions.question import (
    FILTER_NAMES,
    Anybody,
    Cell,
    Filters,
    Param,
    Question,
    Sheet,
    Street,
    Table,
    unit_head,
)
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.viewer import ShowProgress

STREETS = ("preflop", "flop", "turn", "river")
OVERVIEW = ("vpip", "pfr", "three_bet", "fold_to_3bet", "cbet_flop", "af", "wtsd", "wsd", "bb_100")
Split = Literal[By, "street"]


class StatsParams(Filters, frozen=True):
    """Parameters of `stats`: whose statistics, out of which of his hands, split by what."""

    player: Anybody = None
    positions: Positions = ()
    street: Street = None
    by: Annotated[Split | None, Param("Split; a window is a hundred hands.", query="split")] = None
    field: Annotated[bool, Param("Beside all others, counted as one.")] = False


class BesideField(Numbers, frozen=True):
    """A statistic of a player, and of everybody else counted as one."""

    field: Numbers | UnsetType = UNSET


class Definition(Struct, frozen=True):
    """What a statistic means."""

    title: str
    kind: str
    street: str | None
    done: str
    opportunity: str


class StatsOf(Struct, frozen=True, kw_only=True):
    """Statistics by name, in so many hands, of which the hole cards of some are `known` and of some
    were `shown`. One of the members that may be left out says which part it is."""

    player: str
    hands: int
    known: int
    shown: int
    stats: dict[str, BesideField]
    position: str | UnsetType = UNSET
    game: str | UnsetType = UNSET
    match: str | UnsetType = UNSET
    opponent: str | UnsetType = UNSET
    window: str | UnsetType = UNSET
    street: str | UnsetType = UNSET


class Stats(Struct, frozen=True, tag_field="schema", tag="muckrake.stats/1"):
    """Players in order, their parts where the answer is split."""

    viewpoint: str = field(name="as")
    seed: int
    players: list[StatsOf]
    definitions: dict[str, Definition]


class StatisticRow(Struct, frozen=True):
    """A statistic of a player, or of a part of his hands."""

    player: str
    part: Annotated[str, Meta(description="of what the answer is split by")]
    statistic: str
    value: float | None
    k: Annotated[int | None, Meta(description="how often, of a share")]
    n: Annotated[int, Meta(description="out of how many")]
    low: Annotated[float | None, Meta(description="where its 95 % interval begins")]
    high: Annotated[float | None, Meta(description="where that ends")]
    unit: Annotated[str | None, Meta(description="what an amount counts")]


def stats(viewed: LedgerView, params: StatsParams, watch: ShowProgress) -> Stats:
    """The statistics asked for, and their definitions."""
    by: By | None = None if params.by == "street" else params.by
    chosen = filters_of_params(viewed, params, by=by)
    wanted = statistics_of_street(params.street)
    answer = statistics(viewed, chosen, wanted, field=params.field)
    parts: dict[tuple[str, str], dict[str, BesideField]] = {}
    for street in STREETS if params.by == "street" else (None,):
        for number in answer.found:
            if street in (None, STATISTICS[number.statistic].street):
                part = street or number.part
                field = answer.field.get(number.statistic)
                field_numbers = UNSET if field is None else _numbers(field)
                parts.setdefault((number.player, part), {})[number.statistic] = BesideField(
                    **asdict(_numbers(number)), field=field_numbers
                )
    players = []
    for (player, part), found in parts.items():
        dealt = answer.dealt[player, "" if params.by == "street" else part]
        split: dict[str, Any] = {params.by: part} if params.by else {}
        split |= {name: int(dealt[name]) for name in ("hands", "known", "shown")}
        players.append(StatsOf(player=player, stats=found, **split))
    meanings = {
        it.name: Definition(it.title, it.kind, it.street or None, it.done, it.opportunity)
        for it in wanted
    }
    return Stats(viewed.viewer.view, SEED, players, meanings)


def _numbers(answer: StatisticValue) -> Numbers:
    return Numbers(answer.value, answer.k, answer.n, answer.low, answer.high, answer.unit)


def statistic_rows(answer: Stats) -> list[StatisticRow]:
    """A row for each statistic."""
    return [
        StatisticRow(
            player.player, part_name(player), name, it.value, it.k, it.n, it.low, it.high, it.unit
        )
        for player in answer.players
        for name, it in player.stats.items()
    ]


def sheets(answer: Stats, params: StatsParams) -> Iterator[Sheet]:
    """All players with a few statistics each; or one with a line for each statistic that had an
    opportunity, part after part."""
    if params.player is None:
        players = answer.players
        if not params.by:
            players = sorted(players, key=lambda player: -player.hands)
        there = list(players[0].stats) if players else []
        names = [name for name in OVERVIEW if name in there] or there[:9]
        hands_of = {(player.player, part_name(player)): player.hands for player in players}
        yield player_sheet(statistic_rows(answer), STATISTICS, names, params.by, hands=hands_of)
        return
    every = answer.players[:1] if params.by == "street" else answer.players
    hands, known, shown = (
        sum(getattr(one, name) for one in every) for name in ("hands", "known", "shown")
    )
    counted = f"{hands} hands" + (" (once for each opponent)" if params.by == "opponent" else "")
    against = f"vs {params.vs}" if params.vs else ""
    head = (params.player or "", against, counted, f"viewpoint: {answer.viewpoint}")
    part = [params.by] if params.by else []
    lines = []
    for row in statistic_rows(answer):  # VPIP   61.3 %   58.2 - 64.3   613/1000
        if not row.n:
            continue
        statistic = STATISTICS[row.statistic]
        few = row.n < statistic.few
        word = "too few" if few else ""
        if statistic.amount and row.value is None:
            word = "of several units, which have no sum: --unit names one"
        value = measure_text(statistic, row.value)
        numbers = (value, interval_text(statistic, row.low, row.high), counts_text(row.k, row.n))
        texts = (unit_head(statistic.title, row.unit), *numbers, word)
        lines.append([*(Cell(row.part) for _ in part), *(Cell(text, few) for text in texts)])
    foot = f"hole cards known in {known} of {hands} hands"
    if known == shown < hands:
        foot += " (shown ones only: strong-hand bias)"
    columns = (*part, "", "value", "95 % interval", "k/n", "")
    right = range(len(part) + 1, len(part) + 4)
    yield Sheet(columns, lines, right, "   ".join(filter(None, head)), foot)


QUESTION = Question(
    name="stats",
    text=__doc__,
    path="/players/{player}/stats",
    operation="player_stats",
    params=StatsParams,
    answer=Stats,
    ask=stats,
    tables=(Table("statistics", StatisticRow, statistic_rows),),
    sheets=sheets,
    page="/players/{player}",
    page_parameters=FILTER_NAMES,
    spark=True,
)
