"""Who plays here: every player with what he played and won, one of them in full.

Counted over `facts`, so hands that were voided are in none of it.
"""

from typing import Any

from analytics.sql.amounts import money_in, moneys, moneys_of
from analytics.sql.chosen import quoted
from api.viewpoints.selection import Absent
from api.viewpoints.views import Viewed

Row = dict[str, Any]
OPPONENTS = 100  # of a player, those with most hands


class Nonsense(ValueError):
    """A question that cannot have an answer; the sentence says why."""


class NoSum(Nonsense):
    """Amounts of several moneys were to be added up."""


def listed(viewed: Viewed, after: tuple[int, str] | None = None, limit: int = 1000) -> list[Row]:
    """Players with most hands first, then by name; those that follow `after`, hands and name."""
    having = ""
    if after is not None:
        hands, name = after
        having = f" HAVING hands < {hands:d} OR (hands = {hands:d} AND player > {quoted(name)})"
    sums = _sums(viewed, "CAST(net AS DOUBLE) / per_chip")
    return [_row(row) for row in viewed.rows(_LISTED.format(having=having, limit=limit, sums=sums))]


def overview(viewed: Viewed, player: str) -> Row:
    """One player: the same, and each of his games and opponents with hands and net.

    His hands are looked for once: to find a name among millions of rows is most of the work.
    """
    parts: dict[str, list[Row]] = {"all": [], "game": [], "opponent": []}
    sums = _sums(viewed, "m.net", "m.unit")
    for row in viewed.rows(_OVERVIEW.format(player=quoted(player), sums=sums)):
        parts[row.pop("part")].append(row)
    if not parts["all"]:
        raise Absent(f"nobody called {player} was dealt a hand: muckrake stats lists who was")
    (whole,) = parts["all"]
    first, last = whole.pop("first"), whole.pop("last")
    ends = f"SELECT hand_seq, first_at, last_at FROM hands WHERE hand_seq IN ({first}, {last})"
    at = {row["hand_seq"]: row for row in viewed.rows(ends)}
    games = [_named(row, "game", "hands", "matches", "net", "unit") for row in parts["game"]]
    opponents = [_named(row, "player", "hands", "net", "unit") for row in parts["opponent"]]
    return {
        **_named(whole, "player", "hands", "net", "unit", "matches"),
        "games": games,
        "first_at": at[first]["first_at"],
        "last_at": at[last]["last_at"],
        "opponents": opponents[:OPPONENTS],
    }


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


def _sums(viewed: Viewed, net: str, unit: str = "unit") -> str:
    """The net and its unit: nets of one money are added up, those of several are none.

    Where nobody has a ruleset its unit is not known.
    """
    known = moneys(viewed.units)
    if len(known) < 2:
        return f"sum({net}) AS net, {quoted(known[0]) if known else 'NULL'} AS unit"
    for_what = money_in(viewed.units, unit)
    one = f"min({for_what}) = max({for_what})"
    return (
        f"CASE WHEN {one} THEN sum({net}) END AS net, CASE WHEN {one} THEN min({for_what}) END"
        " AS unit"
    )


_LISTED = (
    "SELECT player, hands, net, unit, matches, games, first_at, last_at FROM ("
    " SELECT f.player, count(*) AS hands, {sums}, count(DISTINCT f.match) AS matches,"
    " list(DISTINCT f.game) AS games, min(f.hand_seq) AS first, max(f.hand_seq) AS last"
    " FROM facts AS f GROUP BY f.player{having}"
    " ORDER BY hands DESC, f.player LIMIT {limit:d}"
    ") JOIN (SELECT hand_seq, first_at FROM hands) AS one ON one.hand_seq = first"
    " JOIN (SELECT hand_seq, last_at FROM hands) AS other ON other.hand_seq = last"
    " ORDER BY hands DESC, player"
)
_OVERVIEW = """
WITH mine AS MATERIALIZED (
    SELECT hand_seq, seat, player, game, match, unit, CAST(net AS DOUBLE) / per_chip AS net
    FROM facts WHERE player = {player}
)
SELECT 'all' AS part, any_value(player) AS name, count(*) AS hands, {sums},
    count(DISTINCT match) AS matches, min(hand_seq) AS first, max(hand_seq) AS last
FROM mine AS m HAVING count(*) > 0
UNION ALL SELECT 'game', game, count(*), {sums}, count(DISTINCT match), NULL, NULL
FROM mine AS m GROUP BY game
UNION ALL SELECT 'opponent', o.player, count(*), {sums}, NULL, NULL, NULL
FROM mine AS m JOIN facts AS o ON m.hand_seq = o.hand_seq AND m.seat <> o.seat GROUP BY o.player
ORDER BY part, hands DESC, name
"""
