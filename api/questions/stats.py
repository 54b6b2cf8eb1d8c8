"""How players play: statistics with opportunities and intervals, split and beside the field."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from analytics.confidence.intervals import DRAWS, SEED
from analytics.sql.chosen import Chosen
from analytics.statistics.answers import Answer, answers, in_units, rows_of
from analytics.statistics.catalogue import STATISTICS, Statistic
from analytics.statistics.measured import Measured
from api.questions.players import Nonsense, check
from api.viewpoints.selection import Absent
from api.viewpoints.views import Viewed

Row = dict[str, Any]
AGAIN: Row = {"seed": SEED, "draws": DRAWS}  # how means are drawn again


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
    as_of: str | None = None,
    **others: Any,
) -> Chosen:
    """The filters; what is not there is said before anything is counted."""
    first_last = _numbers(hands) if hands else None
    place = None
    if as_of is not None:
        place = viewed.snapshot.hand_seq(as_of)
        if place is None:
            raise Absent(f"there is no hand {as_of}: muckrake hands lists those there are")
    vs = others.get("vs")
    check(viewed, player, vs, match=others.get("match"), game=others.get("game"))
    if player is not None and player == vs:
        raise Nonsense(f"{player} has no hands against himself")
    return Chosen(player=player, hands=first_last, before=place, **others)


def of_street(street: str | None) -> list[Statistic]:
    """Those that look at one street only, or all there are."""
    return [one for one in STATISTICS.values() if street in (None, one.street)]


def statistics(
    viewed: Viewed, chosen: Chosen, wanted: Sequence[Statistic], *, field: bool = False
) -> Counted:
    """Every statistic asked for. `field`: of one player, beside everybody else under the same
    filters, counted as one."""
    found = list(in_units(viewed, chosen, answers(viewed.query, chosen, wanted)))
    rows = rows_of("dealt", viewed.query, chosen)
    dealt = {(row["player"], row["part"]): row for row in rows}
    beside: dict[str, Answer] = {}
    if field and chosen.player is not None:
        rest = replace(chosen, others=True, by=None)
        others = in_units(viewed, rest, answers(viewed, rest, wanted))
        beside = {one.statistic: one for one in others}
    return Counted(found, dealt, beside)


def numbers(one: Answer | Measured) -> Row:
    """What there is to say of one statistic, or measure."""
    said: Row = {"value": one.value, "k": one.k, "n": one.n, "low": one.low, "high": one.high}
    said["unit"] = one.unit
    if isinstance(one, Measured) and one.drawn_low is not None:
        said |= {"drawn_low": one.drawn_low, "drawn_high": one.drawn_high}
    return said


def _numbers(text: str) -> tuple[int, int]:
    """`1-100`, or one number."""
    first, _, last = text.partition("-")
    last = last or first
    if not (first.isdecimal() and last.isdecimal() and int(first) <= int(last) < 2**63):
        raise Nonsense(f"{text} is no range of hands: 101-200 is one")
    return int(first), int(last)
