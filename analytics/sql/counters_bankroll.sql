-- What was each player's bankroll before every hundredth hand of a match, up to the thousandth?
-- Before the hand, as a log has it: so it is the sum of the nets of the hands before it.
WITH bankrolls AS (
    SELECT
        match,
        player,
        number,
        sum(amount) OVER (PARTITION BY match, player ORDER BY number) - amount AS bankroll
    FROM filtered
    WHERE line = 'net'
)
SELECT match, player, number, bankroll
FROM bankrolls
WHERE number % 100 = 0 AND number <= 1000
