-- How often does a player win the auction, what does he pay, and what does he make his rival pay?
-- Auctions with a chosen bid. A tie is neither won nor lost; free: won at a price of 0.
WITH meant AS (
    SELECT *, CAST(price AS DOUBLE) / nullif(pot, 0) AS price_pots
    FROM filtered
    WHERE coalesce(origin, 'chosen') NOT IN ('forced', 'default')
)
SELECT
    player,
    part,
    count(*) AS won_n,
    count(*) AS lost_n,
    count(*) AS tied_n,
    sum(CASE WHEN outcome = 'won' THEN 1 ELSE 0 END) AS won_k,
    sum(CASE WHEN outcome = 'lost' THEN 1 ELSE 0 END) AS lost_k,
    sum(CASE WHEN outcome = 'tied' THEN 1 ELSE 0 END) AS tied_k,
    sum(CASE WHEN outcome = 'won' AND price = 0 THEN 1 ELSE 0 END) AS free_k,
    sum(CASE WHEN outcome = 'won' THEN 1 ELSE 0 END) AS free_n,
    avg(CASE WHEN outcome <> 'lost' THEN price END) AS paid_mean,
    stddev_samp(CASE WHEN outcome <> 'lost' THEN price END) AS paid_sd,
    count(CASE WHEN outcome <> 'lost' THEN price END) AS paid_n,
    avg(CASE WHEN outcome <> 'lost' THEN price_pots END) AS paid_pot_mean,
    stddev_samp(CASE WHEN outcome <> 'lost' THEN price_pots END) AS paid_pot_sd,
    count(CASE WHEN outcome <> 'lost' THEN price_pots END) AS paid_pot_n,
    avg(CASE WHEN outcome = 'won' THEN bid - price END) AS surplus_mean,
    stddev_samp(CASE WHEN outcome = 'won' THEN bid - price END) AS surplus_sd,
    count(CASE WHEN outcome = 'won' THEN bid - price END) AS surplus_n,
    avg(CASE WHEN outcome = 'lost' THEN price END) AS forced_mean,
    stddev_samp(CASE WHEN outcome = 'lost' THEN price END) AS forced_sd,
    count(CASE WHEN outcome = 'lost' THEN price END) AS forced_n,
    avg(CASE WHEN outcome = 'lost' THEN price_pots END) AS forced_pot_mean,
    stddev_samp(CASE WHEN outcome = 'lost' THEN price_pots END) AS forced_pot_sd,
    count(CASE WHEN outcome = 'lost' THEN price_pots END) AS forced_pot_n,
    avg(CASE WHEN outcome = 'won' THEN net END) AS net_won_mean,
    stddev_samp(CASE WHEN outcome = 'won' THEN net END) AS net_won_sd,
    count(CASE WHEN outcome = 'won' THEN net END) AS net_won_n,
    avg(CASE WHEN outcome = 'lost' THEN net END) AS net_lost_mean,
    stddev_samp(CASE WHEN outcome = 'lost' THEN net END) AS net_lost_sd,
    count(CASE WHEN outcome = 'lost' THEN net END) AS net_lost_n,
    avg(CASE WHEN outcome = 'tied' THEN net END) AS net_tied_mean,
    stddev_samp(CASE WHEN outcome = 'tied' THEN net END) AS net_tied_sd,
    count(CASE WHEN outcome = 'tied' THEN net END) AS net_tied_n
FROM meant
GROUP BY player, part
