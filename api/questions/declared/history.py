"""Every statistic of a player as it stood before each of his hands.

docs/statistics.md says what each counts. A hand's row holds what could have been known when it
began: nothing of that hand, and of none that closed later.
"""

from collections.abc import Iterator
from math import isnan
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta, Struct, defstruct, field

from analytics.sql import facts_sql
from analytics.statistics import counts
from analytics.statistics.catalogue import STATISTICS
from analytics.statistics.compute import fastest_source
from api.questions.declared.stats import OVERVIEW
from api.questions.player_measures import check_hand_count, filters_of_params, money_of
from api.questions.question import (
    HIDDEN,
    Cell,
    Filters,
    Name,
    Question,
    Sheet,
    Table,
    cell_text,
    unit_head,
)
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.viewer import ShowProgress

HANDS_MAX = 2_000  # whose rows are sent while somebody waits


class HistoryParams(Filters, frozen=True):
    """Parameters of `history`: whose statistics, out of which of his hands."""

    player: Name


ROW_STRUCT: Any = defstruct(
    "StandingBefore",
    [
        ("hand", Annotated[str, Meta(description="the hand that is about to begin")]),
        ("hands", Annotated[int, Meta(description="how many of his were over")]),
        *(
            column
            for one in STATISTICS.values()
            for column in (
                (one.name, Annotated[float | None, Meta(title=one.title)]),
                (f"{one.name}_n", Annotated[int, Meta(description="out of so many")]),
            )
        ),
        ("unit", Annotated[str | None, Meta(description="what amounts count", extra=HIDDEN)]),
    ],
    frozen=True,
)
if TYPE_CHECKING:
    Row = Struct
else:
    Row = ROW_STRUCT


class History(Struct, frozen=True, tag_field="schema", tag="muckrake.history/1"):
    """A row for each of his hands, in the order in which they closed."""

    viewpoint: str = field(name="as")
    player: str
    unit: str | None
    hands: list[Row]


def history(viewed: LedgerView, params: HistoryParams, watch: ShowProgress) -> History:
    """Running sums over the player's hands."""
    chosen = filters_of_params(viewed, params)
    unit = money_of(viewed, facts_sql(chosen, "NULL"))
    curves = counts.history(fastest_source(viewed.query, chosen), chosen)
    columns: list[list[Any]] = [curves.hands, list(range(len(curves.hands)))]
    for name in STATISTICS:
        values = curves.values[name].tolist()
        columns += [[None if isnan(value) else value for value in values], curves.n[name].tolist()]
    rows = [ROW_STRUCT(*row, unit) for row in zip(*columns, strict=True)]
    return History(viewed.viewer.view, params.player, unit, rows)


def sheets(answer: History, params: HistoryParams) -> Iterator[Sheet]:
    """The newest hands; files and JSON have every one."""
    lines = []
    rows: list[Any] = [*answer.hands]
    for row in rows:
        texts = [row.hand, str(row.hands)]
        for name in OVERVIEW:
            value = getattr(row, name)
            shared = value is not None and STATISTICS[name].kind == "share"
            texts.append(f"{100 * value:.1f} %" if shared else cell_text(value))
        lines.append([Cell(text) for text in texts])
    columns = ("before", "hands", *(STATISTICS[name].title for name in OVERVIEW))
    head = unit_head(
        f"before each hand of {answer.player}   viewpoint: {answer.viewpoint}", answer.unit
    )
    foot = f"all {len(STATISTICS)} statistics, with what each is counted from, are in JSON and CSV"
    yield Sheet(columns, lines, range(1, len(columns)), head, foot)


QUESTION = Question(
    name="history",
    text=__doc__,
    path="/players/{player}/history",
    operation="player_history",
    params=HistoryParams,
    answer=History,
    ask=history,
    tables=(Table("history", ROW_STRUCT, lambda answer: answer.hands),),
    sheets=sheets,
    check_size=lambda viewed, params: check_hand_count(
        viewed, params, HANDS_MAX, f"{HANDS_MAX} are sent here: name a match"
    ),
)
