-- What did each player win or lose in every part of his hands, and how steadily?
-- Net is collected minus put in, and bounties, in whole chips; hands of unknown units are not in it.
SELECT
    player,
    part,
    count(CAST(net AS DOUBLE) / per_chip) AS n,
    sum(CAST(net AS DOUBLE) / per_chip) AS net,
    avg(CAST(net AS DOUBLE) / per_chip) AS mean,
    stddev_samp(CAST(net AS DOUBLE) / per_chip) AS sd
FROM filtered
GROUP BY player, part
