-- What do hands come to for each player, by how they end?
-- By the last street that was dealt, and by who was left; bets are his own, on top of a call.
WITH ended AS (
    SELECT player, part, 'all' AS ending, net, bet_min, bet_max FROM filtered
    UNION ALL
    SELECT player, part, street AS ending, net, bet_min, bet_max FROM filtered WHERE street IS NOT NULL
    UNION ALL
    SELECT player, part, how AS ending, net, bet_min, bet_max FROM filtered
)
SELECT
    player,
    part,
    ending,
    count(*) AS hands,
    sum(net) AS net,
    avg(net) AS net_mean,
    stddev_samp(net) AS net_sd,
    min(bet_min) AS bet_min,
    max(bet_max) AS bet_max
FROM ended
GROUP BY player, part, ending
