"""The organisers' own counters of bot matches, to compare with their figures.

The oddities of each are in docs/statistics.md.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta, Struct, defstruct, field

from analytics.results.players import COUNTERS, Counter
from analytics.results.players import counters as counted
from analytics.sql.chosen import table
from api.questions.players import chosen_by, money_of
from api.questions.question import (
    HIDDEN,
    Anybody,
    ByTag,
    Match,
    OfGame,
    Question,
    Sheet,
    Table,
    Unit,
    headed,
    sheet,
)
from api.viewpoints.viewer import ShowProgress
from api.viewpoints.views import Viewed

BANKROLL = "bankroll"
MEANS = ("bid_mean", "net_swapped")  # in chips, where there are any; all others are counts
HUNDREDS = range(100, 1_100, 100)


class CountersParams(Struct, frozen=True):
    """Whose games."""

    player: Anybody = None
    match: Match = None
    game: OfGame = None
    unit: Unit = None
    by_tag: ByTag = None


def _columns(*bankroll: Any) -> list[Any]:
    """A match and a player, every counter, and whatever tells his bankroll."""
    plain = [
        (
            name,
            Annotated[
                float | None if name in MEANS else int, Meta(title=it.title, description=it.meaning)
            ],
        )
        for name, it in COUNTERS.items()
        if name != BANKROLL
    ]
    unit = Annotated[str | None, Meta(description="what amounts count", extra=HIDDEN)]
    return [("match", str), ("player", str), *plain, *bankroll, ("unit", unit)]


GAME: Any = defstruct("MatchCounted", _columns((BANKROLL, dict[str, float])), frozen=True)
LINE = defstruct(
    "CountersLine",
    _columns(
        *(
            (f"{BANKROLL}_{at}", Annotated[float | None, Meta(title=f"before {at}")])
            for at in HUNDREDS
        )
    ),
    frozen=True,
)
if TYPE_CHECKING:
    Game = Struct
else:
    Game = GAME


class Counters(Struct, frozen=True, tag_field="schema", tag="muckrake.counters/1"):
    """What each counter means, and a row a match and player."""

    viewpoint: str = field(name="as")
    unit: str | None
    counters: dict[str, Counter]
    matches: list[Game]


def counters(viewed: Viewed, params: CountersParams, watch: ShowProgress) -> Counters:
    """Everybody's, or one player's."""
    chosen = chosen_by(viewed, params)
    unit = money_of(viewed, table(chosen, "NULL"))
    rows = [GAME(**row, unit=unit) for row in counted(viewed, chosen)]
    return Counters(viewed.viewer.view, unit, COUNTERS, rows)


def lines(answer: Counters) -> Sequence[Struct]:
    """A column for each hundred hands."""
    found = []
    for row in answer.matches:
        plain = msgspec.structs.asdict(row)
        bankroll = plain.pop(BANKROLL)
        found.append(
            LINE(**plain, **{f"{BANKROLL}_{at}": bankroll.get(str(at)) for at in HUNDREDS})
        )
    return found


def sheets(answer: Counters, params: CountersParams) -> Iterator[Sheet]:
    """All of it, and a word on what it is not."""
    foot = "every action counts, forced ones too: statistics and bids count only what was chosen"
    yield sheet(TABLE, answer, headed(f"viewpoint: {answer.viewpoint}", answer.unit), foot)


TABLE = Table("counters", LINE, lines)
QUESTION = Question(
    name="counters",
    text=__doc__,
    path="/players/{player}/counters",
    operation="player_counters",
    params=CountersParams,
    answer=Counters,
    ask=counters,
    tables=(TABLE,),
    sheets=sheets,
)
