-- How much does each player bid, at least, at most and on average?
-- Chosen bids whose size is known; excessive: every one of them within 10 of his whole stack.
WITH meant AS (
    SELECT player, part, chips, chips / nullif(pot, 0) AS pots, CASE WHEN chips >= stack - 10 THEN 1 ELSE 0 END AS near_all
    FROM filtered
    WHERE kind = 'bid' AND meant AND chips IS NOT NULL
)
SELECT
    player,
    part,
    min(chips) AS bid_min_value,
    max(chips) AS bid_max_value,
    avg(chips) AS bid_mean,
    stddev_samp(chips) AS bid_sd,
    min(pots) AS bid_pot_min_value,
    max(pots) AS bid_pot_max_value,
    avg(pots) AS bid_pot_mean,
    stddev_samp(pots) AS bid_pot_sd,
    min(near_all) AS excessive_value,
    count(*) AS bid_n,
    count(*) AS bid_min_n,
    count(*) AS bid_max_n,
    count(pots) AS bid_pot_n,
    count(pots) AS bid_pot_min_n,
    count(pots) AS bid_pot_max_n,
    count(*) AS excessive_n
FROM meant
GROUP BY player, part
