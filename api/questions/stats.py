"""How players play: statistics with opportunities and intervals, split and beside the field."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, NamedTuple

from msgspec.structs import replace

from analytics.replay.seating import POSITIONS
from analytics.sql.chosen import Chosen
from analytics.statistics.answers import Answer, answers, in_units, rows_of
from analytics.statistics.catalogue import STATISTICS, Statistic
from api.questions.players import Nonsense, check
from api.questions.question import Param
from api.viewpoints.selection import Absent
from api.viewpoints.views import Viewed

Row = dict[str, Any]
Position = Literal[POSITIONS]  # type: ignore[valid-type]
Positions = Annotated[
    tuple[Position, ...], Param("Only there.", option="position", query="position")
]


class Counted(NamedTuple):
    """Statistics of players and parts, and how many hands each had; of all others as one, too."""

    found: list[Answer]
    dealt: dict[tuple[str, str], Row]
    field: dict[str, Answer]


def chosen_of(
    viewed: Viewed,
    player: str | None,
    *,
    hands: str | None = None,
    before: str | None = None,
    **others: Any,
) -> Chosen:
    """The filters; what is not there is said before anything is counted."""
    first_last = _numbers(hands) if hands else None
    place = None
    if before is not None:
        place = viewed.snapshot.hand_seq(before)
        if place is None:
            raise Absent(f"there is no hand {before}: muckrake hands lists those there are")
    vs = others.get("vs")
    check(viewed, player, vs, match=others.get("match"), game=others.get("game"))
    if player is not None and player == vs:
        raise Nonsense(f"{player} has no hands against himself")
    return Chosen(player=player, hands=first_last, before=place, **others)


def chosen_by(viewed: Viewed, params: Any, **others: Any) -> Chosen:
    """The filters among a question's parameters."""
    names = ("vs", "positions", "game", "match", "hands", "before")
    given = {name: getattr(params, name) for name in names if hasattr(params, name)}
    return chosen_of(viewed, params.player, **given, **others)


def of_street(street: str | None) -> list[Statistic]:
    """Those that look at one street only, or all there are."""
    return [one for one in STATISTICS.values() if street in (None, one.street)]


def statistics(
    viewed: Viewed, chosen: Chosen, wanted: Sequence[Statistic], *, field: bool = False
) -> Counted:
    """Every statistic asked for. `field`: of one player, beside everybody else under the same
    filters, counted as one."""
    found = list(in_units(viewed, chosen, answers(viewed.facts, chosen, wanted)))
    rows = rows_of("dealt", viewed.facts, chosen)
    dealt = {(row["player"], row["part"]): row for row in rows}
    beside: dict[str, Answer] = {}
    if field and chosen.player is not None:
        rest = replace(chosen, others=True, by=None)
        others = in_units(viewed, rest, answers(viewed.query, rest, wanted))
        beside = {one.statistic: one for one in others}
    return Counted(found, dealt, beside)


def _numbers(text: str) -> tuple[int, int]:
    """`1-100`, or one number."""
    first, _, last = text.partition("-")
    last = last or first
    if not (first.isdecimal() and last.isdecimal() and int(first) <= int(last) < 2**63):
        raise Nonsense(f"{text} is no range of hands: 101-200 is one")
    return int(first), int(last)
