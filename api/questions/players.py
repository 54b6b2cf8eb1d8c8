"""Sentences about players: who is not there, and what has no sum."""

from typing import Any

from analytics.sql.chosen import moneys_of, quoted
from api.problem import Problem
from api.viewpoints.selection import Absent
from api.viewpoints.views import Viewed


class Nonsense(ValueError):
    """A question that cannot have an answer; the sentence says why."""


class NoSum(Nonsense):
    """Amounts of several moneys were to be added up."""


def nobody(name: str) -> Absent:
    """Why there is no answer about a player who was dealt nothing."""
    return Absent(f"nobody called {name} was dealt a hand: muckrake stats lists who was")


def money_of(viewed: Viewed, rows: str) -> str | None:
    """What these rows with a `unit` were played for; sums are asked for one money at a time."""
    found = moneys_of(viewed, rows)
    if len(found) > 1:
        several = " and ".join(f"{one}s" for one in found)
        raise NoSum(
            f"these hands are played for {several}, which have no sum: ask for one unit, "
            f"{' or '.join(found)}"
        )
    return found[0] if found else None


def check(
    viewed: Viewed,
    *names: str | None,
    match: str | None = None,
    game: str | None = None,
) -> None:
    """Players, a match and a game that are not there are said before anything is counted."""
    for name in names:
        if name is not None and not is_there(viewed, "player", name):
            raise nobody(name)
    for what, value in (("match", match), ("game", game)):
        if value is not None and not is_there(viewed, what, value):
            raise Absent(f"there is no hand of {what} {value}")


def at_most(viewed: Viewed, params: Any, hands_max: int, otherwise: str) -> None:
    """Of more hands nobody waits for an answer; the sentence says how to ask otherwise."""
    terms = {"player": params.player, "match": params.match, "game": params.game}
    where = " AND ".join(f"{name} = {quoted(it)}" for name, it in terms.items() if it)
    (counted,) = viewed.rows(f"SELECT count(*) AS n FROM facts WHERE {where or 'true'}")
    hands = counted["n"]
    if hands > hands_max:
        sentence = f"these are {hands} hands, and {otherwise}"
        raise Problem("too-large", sentence, hands=hands, hands_max=hands_max)


def is_there(viewed: Viewed, column: str, value: str, table: str = "facts") -> bool:
    """Whether a row says so."""
    if (column, table) == ("player", "facts") and viewed.query.reads:
        return bool(viewed.query.about("facts", value, ["hand_seq"]).num_rows)
    sql = f"SELECT 1 AS there FROM {table} WHERE {column} = {quoted(value)} LIMIT 1"
    return bool(viewed.rows(sql))
