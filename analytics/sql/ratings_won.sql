-- What did each player win, against everybody or beside each whom he met, and how steadily?
-- A deal is a hand, or a mirrored deck of which every hand was played; nets in whole chips.
SELECT
    player,
    part,
    count(*) AS deals,
    sum(hands) AS hands,
    sum(net) AS won,
    avg(net) AS mean,
    stddev_samp(net) AS sd
FROM (
    SELECT player, part, count(*) AS hands, sum(CAST(net AS DOUBLE) / per_chip) AS net
    FROM filtered
    WHERE per_chip IS NOT NULL
    GROUP BY player, part, match, deals, floor((number - 1) / (deals * 1.0))
    HAVING count(*) = deals
) AS dealt
GROUP BY player, part
ORDER BY player, part
