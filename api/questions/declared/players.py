"""Every player: hands, net, matches, games, when he was seen.

Those with most hands come first. Hands that were voided are in none of it.
"""

from typing import Annotated

from msgspec import Meta, Struct

from analytics.sql import currencies, currency_sql, quoted
from api.questions.player_measures import check_filters
from api.questions.question import ByTag, Listed, Page, Pages, Question, Table
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.viewer import ShowProgress


class PlayersParams(Struct, frozen=True):
    """Parameters of `players`: which part of the list."""

    by_tag: ByTag = None
    after: tuple[int, str] | None = None  # hands and name
    limit: int = 100


class PlayerRow(Struct, frozen=True):
    """A player of a list. His net counts in `unit`; both are null where nobody knows what that is,
    or hands were played for several moneys, which have no sum."""

    player: str
    hands: int
    net: float | None
    unit: Annotated[str | None, Meta(description="what the net counts")]
    matches: int
    games: list[str]
    first_at: Annotated[str, Meta(title="first", description="when his first hand began")]
    last_at: Annotated[str, Meta(title="last", description="when his last hand ended")]


class Players(Listed, frozen=True):
    """The players, those with most hands first."""

    data: list[PlayerRow]


def players(viewed: LedgerView, params: PlayersParams, watch: ShowProgress) -> Page:
    """Players with most hands first, then by name."""
    having = ""
    if params.after is not None:
        hands, name = params.after
        having = f" HAVING hands < {hands:d} OR (hands = {hands:d} AND player > {quoted(name)})"
    sums = net_sums_sql(viewed, "CAST(net AS DOUBLE) / per_chip")
    found = viewed.rows(PLAYERS_SQL.format(having=having, limit=params.limit + 1, sums=sums))
    rows = [PlayerRow(**{**row, "games": sorted(row["games"])}) for row in found[: params.limit]]
    more = len(found) > params.limit
    return Page(rows, (rows[-1].hands, rows[-1].player) if more else None)


def list_key(viewed: LedgerView, player: str) -> tuple[int, str]:
    """The place of a player in the list."""
    check_filters(viewed, player)
    (row,) = viewed.rows(f"SELECT count(*) AS hands FROM facts WHERE player = {quoted(player)}")
    return row["hands"], player


def net_sums_sql(viewed: LedgerView, net: str, unit: str = "unit") -> str:
    """SQL for the net and its unit: nets of one money are added up, those of several are null.

    Where nobody has a ruleset its unit is not known.
    """
    known = currencies(viewed.units)
    if len(known) < 2:
        return f"sum({net}) AS net, {quoted(known[0]) if known else 'NULL'} AS unit"
    for_what = currency_sql(viewed.units, unit)
    one = f"min({for_what}) = max({for_what})"
    return (
        f"CASE WHEN {one} THEN sum({net}) END AS net, CASE WHEN {one} THEN min({for_what}) END"
        " AS unit"
    )


PLAYERS_SQL = (
    "SELECT player, hands, net, unit, matches, games, first_at, last_at FROM ("
    " SELECT f.player, count(*) AS hands, {sums}, count(DISTINCT f.match) AS matches,"
    " list(DISTINCT f.game) AS games, min(f.hand_seq) AS first, max(f.hand_seq) AS last"
    " FROM facts AS f GROUP BY f.player{having}"
    " ORDER BY hands DESC, f.player LIMIT {limit:d}"
    ") JOIN (SELECT hand_seq, first_at FROM hands) AS one ON one.hand_seq = first"
    " JOIN (SELECT hand_seq, last_at FROM hands) AS other ON other.hand_seq = last"
    " ORDER BY hands DESC, player"
)
QUESTION = Question(
    name="players",
    text=__doc__,
    path="/players",
    operation="players",
    params=PlayersParams,
    answer=Players,
    ask=players,
    tables=(Table("players", PlayerRow, lambda page: page.rows),),
    pages=Pages(limit=100, key=list_key),
    page="/players",
    page_parameters=("by_tag",),
)
