-- How did each player's winnings grow, hand by hand within a match?
-- Running sums in chips: net, at showdowns and without, without run-out luck, auctions paid for.
SELECT
    match,
    player,
    number,
    sum(net) OVER so_far AS net,
    sum(CASE WHEN showdown THEN net ELSE 0 END) OVER so_far AS showdown,
    sum(CASE WHEN showdown THEN 0 ELSE net END) OVER so_far AS without,
    sum(net_ev) OVER so_far AS net_ev,
    0 - sum(price) OVER so_far AS auctions,
    1.959964 * stddev_samp(net) OVER (PARTITION BY match, player)
        * sqrt(row_number() OVER (PARTITION BY match, player ORDER BY number)) AS band
FROM filtered
WINDOW so_far AS (PARTITION BY match, player ORDER BY number ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
