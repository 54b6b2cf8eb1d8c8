-- How often did each player win or lose each amount in every part of his hands?
-- Net is collected minus put in, and bounties, in whole chips; hands of unknown units are not in it.
SELECT
    player,
    part,
    CAST(net AS DOUBLE) / per_chip AS value,
    count(*) AS times
FROM filtered
WHERE per_chip IS NOT NULL
GROUP BY player, part, CAST(net AS DOUBLE) / per_chip
