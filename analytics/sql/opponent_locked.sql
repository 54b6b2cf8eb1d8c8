-- How many hands did each player play after his match was won, and how many after it was lost?
-- Heads-up matches whose length is known; what he leads by beats what folding all the rest costs.
SELECT
    player,
    part,
    sum(CASE WHEN state = 'won' THEN 1 ELSE 0 END) AS after_won_k,
    count(*) AS after_won_n,
    sum(CASE WHEN state = 'lost' THEN 1 ELSE 0 END) AS after_lost_k,
    count(*) AS after_lost_n
FROM filtered
WHERE state IS NOT NULL
GROUP BY player, part
