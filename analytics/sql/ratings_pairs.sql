-- By how much did one player come out ahead of another in the deals that both were dealt into?
-- A deal is a hand, or a mirrored deck of which every hand was played; half the difference of their nets, in chips.
SELECT
    player,
    other,
    count(*) AS deals,
    sum(hands) AS hands,
    sum(ahead) AS won,
    avg(ahead) AS mean,
    stddev_samp(ahead) AS sd
FROM (
    SELECT
        player,
        other,
        count(*) AS hands,
        sum(CAST(net - other_net AS DOUBLE) / per_chip) / 2 AS ahead
    FROM chosen
    WHERE per_chip IS NOT NULL
    GROUP BY player, other, match, deals, floor((number - 1) / (deals * 1.0))
    HAVING count(*) = deals
) AS dealt
GROUP BY player, other
ORDER BY player, other
