"""Who plays here: every player with what he played and won, one of them in full.

Counted over `facts`, so hands that were voided are in none of it.
"""

from typing import Any

from analytics.statistics_chosen import quoted
from api.asking.viewed import Viewed
from api.exporting.wanted import Absent

Row = dict[str, Any]


class Nonsense(ValueError):
    """A question that cannot have an answer; the sentence says why."""


def listed(viewed: Viewed, after: tuple[int, str] | None = None, limit: int = 1000) -> list[Row]:
    """Players with most hands first, then by name; those that follow `after`, hands and name."""
    having = ""
    if after is not None:
        hands, name = after
        having = f" HAVING hands < {hands:d} OR (hands = {hands:d} AND player > {quoted(name)})"
    return [_row(row) for row in viewed.rows(_LISTED.format(where="", having=having, limit=limit))]


def overview(viewed: Viewed, player: str) -> Row:
    """One player: the same, and each of his games and opponents with hands and net."""
    where = f" WHERE f.player = {quoted(player)}"
    found = viewed.rows(_LISTED.format(where=where, having="", limit=1))
    if not found:
        raise Absent(f"nobody called {player} was dealt a hand: muckrake stats lists who was")
    games = viewed.rows(_GAMES.format(where=where))
    opponents = viewed.rows(_OPPONENTS.format(player=quoted(player)))
    return {**_row(found[0]), "games": games, "opponents": opponents}


def check(
    viewed: Viewed,
    *names: str | None,
    match: str | None = None,
    game: str | None = None,
) -> None:
    """Players, a match and a game that are not there are said before anything is counted."""
    for name in names:
        if name is not None and not is_there(viewed, "player", name):
            raise Absent(f"nobody called {name} was dealt a hand: muckrake stats lists who was")
    for what, value in (("match", match), ("game", game)):
        if value is not None and not is_there(viewed, what, value):
            raise Absent(f"there is no hand of {what} {value}")


def is_there(viewed: Viewed, column: str, value: str, table: str = "facts") -> bool:
    """Whether a row says so."""
    sql = f"SELECT 1 AS there FROM {table} WHERE {column} = {quoted(value)} LIMIT 1"
    return bool(viewed.rows(sql))


def _row(row: Row) -> Row:
    """Games in order; a net that is not known in whole chips is null."""
    return {**row, "games": sorted(row["games"])}


# Nets of several units are added up in chips; where nobody has a ruleset its unit is not known.
_NET = "sum(CAST(net AS DOUBLE) / per_chip) AS net"
_LISTED = (
    "SELECT player, hands, net, matches, games, first_at, last_at FROM ("
    f" SELECT f.player, count(*) AS hands, {_NET}, count(DISTINCT f.match) AS matches,"
    " list(DISTINCT f.game) AS games, min(f.hand_seq) AS first, max(f.hand_seq) AS last"
    " FROM facts AS f{where} GROUP BY f.player{having}"
    " ORDER BY hands DESC, f.player LIMIT {limit:d}"
    ") JOIN (SELECT hand_seq, first_at FROM hands) AS one ON one.hand_seq = first"
    " JOIN (SELECT hand_seq, last_at FROM hands) AS other ON other.hand_seq = last"
    " ORDER BY hands DESC, player"
)
_GAMES = (
    f"SELECT f.game, count(*) AS hands, count(DISTINCT f.match) AS matches, {_NET}"
    " FROM facts AS f{where} GROUP BY f.game ORDER BY hands DESC, f.game"
)
_OPPONENTS = (
    "SELECT o.player, count(*) AS hands, sum(CAST(f.net AS DOUBLE) / f.per_chip) AS net"
    " FROM facts AS f JOIN facts AS o ON f.hand_seq = o.hand_seq AND f.seat <> o.seat"
    " WHERE f.player = {player} GROUP BY o.player ORDER BY hands DESC, o.player LIMIT 100"
)
