-- How large does each player bet after the flop, in hundredths of the pot?
-- Bets, and raises on top of the call, beside the pot before the bet and after that call.
WITH sized AS (
    SELECT
        player,
        part,
        street,
        CASE
            WHEN made_pct <= 25 THEN 25
            WHEN made_pct <= 50 THEN 50
            WHEN made_pct <= 80 THEN 80
            WHEN made_pct <= 125 THEN 125
            WHEN made_pct <= 200 THEN 200
        END AS up_to
    FROM filtered
    WHERE meant AND street <> 'preflop' AND made_pct IS NOT NULL
)
SELECT player, part, street, up_to, count(*) AS bets
FROM sized
GROUP BY player, part, street, up_to
