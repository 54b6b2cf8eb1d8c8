-- How much does a player bid, and how often nothing, everything, or just what the rival bids?
-- Bids that were chosen; a bid that had to be 0, or stands for a bad reply, is only `held`.
WITH meant AS (
    SELECT *
    FROM filtered
    WHERE bid IS NOT NULL AND coalesce(origin, 'chosen') NOT IN ('forced', 'default')
),
ordered AS (
    SELECT
        player,
        part,
        bid,
        row_number() OVER (PARTITION BY player, part ORDER BY bid) AS place,
        count(*) OVER (PARTITION BY player, part) AS bids
    FROM meant
),
middle AS (
    SELECT player, part, avg(bid) AS bid_median_value
    FROM ordered
    WHERE place BETWEEN bids / 2.0 AND bids / 2.0 + 1
    GROUP BY player, part
),
held AS (
    SELECT player, part, count(*) AS held_value
    FROM filtered
    GROUP BY player, part
),
counted AS (
    SELECT
        player,
        part,
        count(*) AS bids,
        avg(bid) AS bid_mean,
        stddev_samp(bid) AS bid_sd,
        stddev_samp(bid) AS bid_sd_value,
        avg(CAST(bid AS DOUBLE) / nullif(pot, 0)) AS bid_pot_mean,
        stddev_samp(CAST(bid AS DOUBLE) / nullif(pot, 0)) AS bid_pot_sd,
        count(nullif(pot, 0)) AS bid_pot_n,
        stddev_samp(bid) / nullif(avg(bid), 0) AS bid_variation_value,
        count(DISTINCT bid) AS bid_distinct_value,
        sum(CASE WHEN bid = 0 THEN 1 ELSE 0 END) AS bid_nothing_k,
        sum(CASE WHEN bid = stack AND stack > 0 THEN 1 ELSE 0 END) AS bid_all_k,
        sum(CASE WHEN bid >= stack - 10 THEN 1 ELSE 0 END) AS bid_near_all_k,
        sum(CASE WHEN bid = rival_bid THEN 1 ELSE 0 END) AS bid_equal_k,
        count(rival_bid) AS bid_equal_n
    FROM meant
    GROUP BY player, part
)
SELECT
    held.player,
    held.part,
    held.held_value,
    held.held_value AS held_n,
    counted.*,
    middle.bid_median_value,
    counted.bids AS bid_n,
    counted.bids AS bid_sd_n,
    counted.bids AS bid_median_n,
    counted.bids AS bid_variation_n,
    counted.bids AS bid_distinct_n,
    counted.bids AS bid_nothing_n,
    counted.bids AS bid_all_n,
    counted.bids AS bid_near_all_n
FROM held
LEFT JOIN counted ON held.player = counted.player AND held.part = counted.part
LEFT JOIN middle ON held.player = middle.player AND held.part = middle.part
