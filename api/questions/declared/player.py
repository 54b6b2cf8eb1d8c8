"""One player: what he played, won, and against whom.

Hands that were voided are in none of it.
"""

from typing import Annotated, Any

from msgspec import Meta, Struct, field

from analytics.sql import quoted
from api.questions.declared.players import net_sums_sql
from api.questions.player_measures import player_not_found
from api.questions.question import (
    ByTag,
    Name,
    Question,
    Sheet,
    Table,
    cell_text,
    table_sheet,
    unit_head,
)
from api.viewpoints.ledger_view import LedgerView
from api.viewpoints.viewer import ShowProgress

OPPONENTS_MAX = 100  # of a player, those with most hands


class PlayerParams(Struct, frozen=True):
    """Parameters of `player`: his name, or what a tag calls him."""

    player: Name
    by_tag: ByTag = None


class OfGame(Struct, frozen=True):
    """A player's hands and net in one game."""

    game: str
    hands: int
    matches: int
    net: float | None
    unit: Annotated[str | None, Meta(description="what the net counts")]


class OfOpponent(Struct, frozen=True):
    """A player's hands and net against one opponent."""

    player: Annotated[str, Meta(title="opponent")]
    hands: int
    net: float | None
    unit: Annotated[str | None, Meta(description="what the net counts")]


class Player(Struct, frozen=True, tag_field="schema", tag="muckrake.player/1"):
    """One player, his games, and his opponents with most hands."""

    viewpoint: str = field(name="as")
    player: str
    hands: int
    net: float | None
    unit: str | None
    matches: int
    games: list[OfGame]
    first_at: str
    last_at: str
    opponents: list[OfOpponent]


def player(viewed: LedgerView, params: PlayerParams, watch: ShowProgress) -> Player:
    """One player; his hands are looked for once: to find a name among millions of rows is most
    of the work."""
    parts: dict[str, list[dict[str, Any]]] = {"all": [], "game": [], "opponent": []}
    sums = net_sums_sql(viewed, "m.net", "m.unit")
    for row in viewed.rows(OVERVIEW.format(player=quoted(params.player), sums=sums)):
        parts[row.pop("part")].append(row)
    if not parts["all"]:
        raise player_not_found(params.player)
    (all_hands,) = parts["all"]
    ends = all_hands.pop("first"), all_hands.pop("last")
    times = f"SELECT hand_seq, first_at, last_at FROM hands WHERE hand_seq IN {ends}"
    at = {row["hand_seq"]: row for row in viewed.rows(times)}
    return Player(
        viewpoint=viewed.viewer.view,
        player=all_hands.pop("name"),
        first_at=at[ends[0]]["first_at"],
        last_at=at[ends[1]]["last_at"],
        games=[_part_of_row(OfGame, row) for row in parts["game"]],
        opponents=[_part_of_row(OfOpponent, row) for row in parts["opponent"][:OPPONENTS_MAX]],
        **all_hands,
    )


def _part_of_row(kind: Any, row: dict[str, Any]) -> Any:
    """A row of a game or an opponent, whose name is its first member."""
    return kind(row["name"], *(row[name] for name in kind.__struct_fields__[1:]))


def sheets(answer: Player, params: PlayerParams) -> list[Sheet]:
    """His games under a line that sums him up, then his opponents."""
    won = "" if answer.net is None else f"   won {cell_text(answer.net)}"
    head = unit_head(f"{answer.player}   {cell_text(answer.hands)} hands{won}", answer.unit)
    return [table_sheet(TABLES[0], answer, head), table_sheet(TABLES[1], answer)]


OVERVIEW = """
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
TABLES = (Table("games", OfGame), Table("opponents", OfOpponent))
QUESTION = Question(
    name="player",
    text=__doc__,
    path="/players/{player}",
    operation="player",
    params=PlayerParams,
    answer=Player,
    ask=player,
    tables=TABLES,
    sheets=sheets,
    page="/players/{player}",
    page_parameters=("by_tag",),
)
