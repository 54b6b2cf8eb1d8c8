"""How the hands that pass a filter are spread: by game, match, player, street and outcome.

Each count comes with the filter that finds those hands and no others.
"""

from typing import Any

from api.asking.filters_sql import STREET, where
from api.asking.filters_tree import (
    EVERY,
    STREETS,
    And,
    Compare,
    Filter,
    Flag,
    Not,
    joined,
    said,
)
from api.asking.verdicts import Judged, lent
from api.asking.viewed import Viewed
from store.query import plain

SECONDS = 30.0  # that an answer may take, unless the asker has more patience
TOP = 10  # matches and players: those with most hands

AUCTION: dict[str, Filter] = {
    "won": joined(And, [Flag("auction-won"), Not(Flag("auction-tied"))]),
    "tied": Flag("auction-tied"),
    "none": Not(Flag("auction-won")),
}
SHOWDOWN: dict[str, Filter] = {"yes": Flag("showdown"), "no": Not(Flag("showdown"))}
COUNTED = f"""
WITH chosen AS MATERIALIZED (
    SELECT hand_seq, game, match, players, {STREET} AS street, showdown, voided
    FROM hands WHERE {{where}}
),
tables AS (SELECT players, count(*) AS hands FROM chosen GROUP BY ALL),
seated AS (
    SELECT DISTINCT players, unnest(from_json(players, '["VARCHAR"]')) AS player, hands FROM tables
),
winners AS (
    SELECT hand_seq, count(*) AS won FROM bids
    WHERE won AND hand_seq IN (SELECT hand_seq FROM chosen) GROUP BY ALL
),
outcomes AS (
    SELECT CASE WHEN won IS NULL THEN 'none' WHEN won = 1 THEN 'won' ELSE 'tied' END AS outcome
    FROM chosen LEFT JOIN winners USING (hand_seq) WHERE NOT voided
)
SELECT 'hands' AS facet, NULL AS value, count(*) AS hands FROM chosen
UNION ALL SELECT 'game', game, count(*) FROM chosen GROUP BY ALL
UNION ALL SELECT 'match', match, count(*) FROM chosen GROUP BY ALL
UNION ALL SELECT 'player', player, CAST(sum(hands) AS BIGINT) FROM seated GROUP BY ALL
UNION ALL SELECT 'street', CAST(street AS VARCHAR), count(*) FROM chosen GROUP BY ALL
UNION ALL SELECT 'showdown', CASE WHEN showdown THEN 'yes' ELSE 'no' END, count(*)
    FROM chosen WHERE showdown IS NOT NULL GROUP BY ALL
UNION ALL SELECT 'auction', outcome, count(*) FROM outcomes GROUP BY ALL
UNION ALL SELECT 'verdict', CAST(verdict AS VARCHAR), count(*)
    FROM {{verdicts}} WHERE hand_seq IN (SELECT hand_seq FROM chosen) GROUP BY ALL
"""
FACETS = ("game", "match", "player", "street", "showdown", "auction", "verdict")
FEW = ("match", "player")


def facets(
    viewed: Viewed,
    one: Filter = EVERY,
    judged: Judged | None = None,
    seconds: float = SECONDS,
) -> dict[str, Any]:
    """`hands`: how many pass; and for each facet its values, those with most hands first."""
    verdicts = lent(viewed, judged)
    sql = COUNTED.format(where=where(one, None, verdicts), verdicts=verdicts)
    counted: dict[str, list[tuple[str, int]]] = {name: [] for name in FACETS}
    hands = 0
    for row in plain(viewed.query.ask(sql, None, seconds)):
        if row["facet"] == "hands":
            hands = row["hands"]
        elif row["value"] is not None:
            counted[row["facet"]].append((row["value"], row["hands"]))
    return {"hands": hands, **{name: _told(name, counts, one) for name, counts in counted.items()}}


def _told(facet: str, counts: list[tuple[str, int]], one: Filter) -> list[dict[str, Any]]:
    """The values of a facet: streets in their order, all else by how many hands there are."""
    if facet == "street":
        counts = [(STREETS[int(value)], hands) for value, hands in sorted(counts)]
    else:
        counts = sorted(counts, key=lambda count: (-count[1], count[0]))
    told = counts[:TOP] if facet in FEW else counts
    return [
        {"value": value, "hands": hands, "filter": said(joined(And, [one, _term(facet, value)]))}
        for value, hands in told
    ]


def _term(facet: str, value: str) -> Filter:
    """The filter that finds the hands of a value."""
    if facet == "auction":
        return AUCTION[value]
    if facet == "showdown":
        return SHOWDOWN[value]
    return Compare(facet, "=", value)
