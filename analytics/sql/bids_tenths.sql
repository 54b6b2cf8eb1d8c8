-- Which bids, in chips and in pots, have a tenth, two tenths, ... of a player's bids at or below?
-- Nearest rank: of n bids in order the one at place ceil(n * tenth / 10); chosen bids only.
WITH meant AS (
    SELECT player, part, bid, CAST(bid AS DOUBLE) / nullif(pot, 0) AS pots
    FROM filtered
    WHERE bid IS NOT NULL AND coalesce(origin, 'chosen') NOT IN ('forced', 'default')
),
placed AS (
    SELECT
        player,
        part,
        bid,
        pots,
        row_number() OVER (PARTITION BY player, part ORDER BY bid) AS by_bid,
        row_number() OVER (PARTITION BY player, part ORDER BY pots NULLS LAST) AS by_pots,
        count(*) OVER (PARTITION BY player, part) AS bids,
        count(pots) OVER (PARTITION BY player, part) AS in_pots
    FROM meant
),
tenths AS (
    SELECT 1 AS tenth
    UNION ALL SELECT 2
    UNION ALL SELECT 3
    UNION ALL SELECT 4
    UNION ALL SELECT 5
    UNION ALL SELECT 6
    UNION ALL SELECT 7
    UNION ALL SELECT 8
    UNION ALL SELECT 9
    UNION ALL SELECT 10
)
SELECT
    placed.player,
    placed.part,
    tenths.tenth,
    max(placed.bids) AS n,
    max(CASE WHEN placed.by_bid = ceil(placed.bids * tenths.tenth / 10.0) THEN placed.bid END) AS bid,
    max(CASE WHEN placed.by_pots = ceil(placed.in_pots * tenths.tenth / 10.0) THEN placed.pots END) AS pots
FROM placed
CROSS JOIN tenths
GROUP BY placed.player, placed.part, tenths.tenth
