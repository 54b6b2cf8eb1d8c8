"""Who plays here: every player with what he played and won, one of them in full.

Counted over `facts`, so hands that were voided are in none of it.
"""

from typing import Any

from analytics.sql.chosen import quoted
from api.viewpoints.views import Viewed
from api.viewpoints.wanted import Absent

Row = dict[str, Any]
OPPONENTS = 100  # of a player, those with most hands


class Nonsense(ValueError):
    """A question that cannot have an answer; the sentence says why."""


def listed(viewed: Viewed, after: tuple[int, str] | None = None, limit: int = 1000) -> list[Row]:
    """Players with most hands first, then by name; those that follow `after`, hands and name."""
    having = ""
    if after is not None:
        hands, name = after
        having = f" HAVING hands < {hands:d} OR (hands = {hands:d} AND player > {quoted(name)})"
    return [_row(row) for row in viewed.rows(_LISTED.format(having=having, limit=limit))]


def overview(viewed: Viewed, player: str) -> Row:
    """One player: the same, and each of his games and opponents with hands and net.

    His hands are looked for once: to find a name among millions of rows is most of the work.
    """
    parts: dict[str, list[Row]] = {"all": [], "game": [], "opponent": []}
    for row in viewed.rows(_OVERVIEW.format(player=quoted(player))):
        parts[row.pop("part")].append(row)
    if not parts["all"]:
        raise Absent(f"nobody called {player} was dealt a hand: muckrake stats lists who was")
    (whole,) = parts["all"]
    first, last = whole.pop("first"), whole.pop("last")
    ends = f"SELECT hand_seq, first_at, last_at FROM hands WHERE hand_seq IN ({first}, {last})"
    at = {row["hand_seq"]: row for row in viewed.rows(ends)}
    games = [_named(row, "game", "hands", "matches", "net") for row in parts["game"]]
    opponents = [_named(row, "player", "hands", "net") for row in parts["opponent"]]
    return {
        **_named(whole, "player", "hands", "net", "matches"),
        "games": games,
        "first_at": at[first]["first_at"],
        "last_at": at[last]["last_at"],
        "opponents": opponents[:OPPONENTS],
    }


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
    if (column, table) == ("player", "facts") and viewed.query.reads:
        return bool(viewed.query.about("facts", value, ["hand_seq"]).num_rows)
    sql = f"SELECT 1 AS there FROM {table} WHERE {column} = {quoted(value)} LIMIT 1"
    return bool(viewed.rows(sql))


def _named(row: Row, name: str, *columns: str) -> Row:
    """A row of one part, its name under what it names."""
    return {name: row["name"], **{column: row[column] for column in columns}}


def _row(row: Row) -> Row:
    """Games in order; a net that is not known in whole chips is null."""
    return {**row, "games": sorted(row["games"])}


# Nets of several units are added up in chips; where nobody has a ruleset its unit is not known.
_NET = "sum(CAST(net AS DOUBLE) / per_chip) AS net"
_LISTED = (
    "SELECT player, hands, net, matches, games, first_at, last_at FROM ("
    f" SELECT f.player, count(*) AS hands, {_NET}, count(DISTINCT f.match) AS matches,"
    " list(DISTINCT f.game) AS games, min(f.hand_seq) AS first, max(f.hand_seq) AS last"
    " FROM facts AS f GROUP BY f.player{having}"
    " ORDER BY hands DESC, f.player LIMIT {limit:d}"
    ") JOIN (SELECT hand_seq, first_at FROM hands) AS one ON one.hand_seq = first"
    " JOIN (SELECT hand_seq, last_at FROM hands) AS other ON other.hand_seq = last"
    " ORDER BY hands DESC, player"
)
_OVERVIEW = """
WITH mine AS MATERIALIZED (
    SELECT hand_seq, seat, player, game, match, CAST(net AS DOUBLE) / per_chip AS net
    FROM facts WHERE player = {player}
)
SELECT 'all' AS part, any_value(player) AS name, count(*) AS hands, sum(net) AS net,
    count(DISTINCT match) AS matches, min(hand_seq) AS first, max(hand_seq) AS last
FROM mine HAVING count(*) > 0
UNION ALL SELECT 'game', game, count(*), sum(net), count(DISTINCT match), NULL, NULL
FROM mine GROUP BY game
UNION ALL SELECT 'opponent', o.player, count(*), sum(m.net), NULL, NULL, NULL
FROM mine AS m JOIN facts AS o ON m.hand_seq = o.hand_seq AND m.seat <> o.seat GROUP BY o.player
ORDER BY part, hands DESC, name
"""
