-- How many matches did one player win against another, and how many were drawn?
-- A match is won by who comes out ahead in the hands of it that both were dealt into.
SELECT
    player,
    part,
    count(*) AS matches,
    sum(CASE WHEN ahead > 0 THEN 1 ELSE 0 END) AS won,
    sum(CASE WHEN ahead = 0 THEN 1 ELSE 0 END) AS drawn
FROM (
    SELECT player, part, match, sum(net) AS ahead
    FROM filtered
    GROUP BY player, part, match
) AS played
GROUP BY player, part
ORDER BY player, part
