-- How much equity did a player's own swaps give or take, in parts of the pot and in chips?
-- Changes between two known hands whose equity was counted.
SELECT
    player,
    part,
    sum(CASE WHEN changed THEN 1 ELSE 0 END) AS swap_k,
    count(changed) AS swap_n,
    avg(after - before) AS swap_change_mean,
    stddev_samp(after - before) AS swap_change_sd,
    count(after) AS swap_change_n,
    avg((after - before) * pot) AS swap_luck_mean,
    stddev_samp((after - before) * pot) AS swap_luck_sd,
    count(after) AS swap_luck_n,
    sum((after - before) * pot) AS swap_luck_sum_value,
    count(after) AS swap_luck_sum_n
FROM filtered
GROUP BY player, part
