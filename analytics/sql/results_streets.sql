-- How much did each chance, street by street, give to a player or take from him, and his play?
-- In chips: what a hand was worth after it less before; a mean is over the times that it came.
SELECT
    player,
    part,
    chance,
    count(*) AS times,
    sum(chips) AS chips,
    avg(chips) AS chips_mean,
    stddev_samp(chips) AS sd,
    sqrt(sum(error * error)) AS error
FROM filtered
GROUP BY player, part, chance
