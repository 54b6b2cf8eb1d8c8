-- Which bids does a player make most often?
-- The five most frequent of his chosen bids; of equally frequent ones the smaller first.
WITH counted AS (
    SELECT player, part, bid, count(*) AS times
    FROM filtered
    WHERE bid IS NOT NULL AND coalesce(origin, 'chosen') NOT IN ('forced', 'default')
    GROUP BY player, part, bid
),
placed AS (
    SELECT
        player,
        part,
        bid,
        times,
        row_number() OVER (PARTITION BY player, part ORDER BY times DESC, bid) AS place
    FROM counted
)
SELECT player, part, place, bid, times
FROM placed
WHERE place <= 5
