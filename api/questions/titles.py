"""What tells matches from others where one is chosen: who played, by which rules, when."""

from analytics.sql.chosen import quoted
from api.viewpoints.views import Viewed

TITLES = """
SELECT match, string_agg(DISTINCT player, ', ' ORDER BY player) AS players, min(game) AS game,
       substr(CAST(min(day) AS VARCHAR), 1, 10) AS day
FROM (
    SELECT match, game, day, last, unnest(from_json(players, '["VARCHAR"]')) AS player
    FROM (
        SELECT match, players, min(game) AS game, max(hand_seq) AS last,
               least(min(played), CAST(min(first_at) FILTER (played IS NULL) AS VARCHAR)) AS day
        FROM hands WHERE match IN (
            SELECT match FROM {whose} GROUP BY match ORDER BY max(hand_seq) DESC LIMIT 50
        )
        GROUP BY match, players
    )
)
GROUP BY match ORDER BY max(last) DESC
"""


def titles(viewed: Viewed, player: str | None = None) -> dict[str, str]:
    """The newest matches, or a player's, each with what tells it from others: who played, by which
    rules, when."""
    whose = "hands" if player is None else f"players WHERE player = {quoted(player)}"
    found = viewed.rows(TITLES.format(whose=whose))
    return {
        row["match"]: " · ".join(filter(None, (row["players"], row["game"], row["day"])))
        for row in found
    }
