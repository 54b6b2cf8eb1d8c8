-- How often did both cards of a hand change, only one of them, or none, by player and street?
-- Hands of two cards at risk, both changes seen; the first card is slot 0.
WITH hands AS (
    SELECT
        player,
        game,
        street,
        hand_seq,
        max(CASE WHEN slot = 0 AND changed THEN 1 ELSE 0 END) AS one,
        max(CASE WHEN slot = 1 AND changed THEN 1 ELSE 0 END) AS other
    FROM filtered
    WHERE changed IS NOT NULL
    GROUP BY player, game, street, hand_seq
    HAVING count(*) = 2
)
SELECT
    player,
    game,
    street,
    sum(one * other) AS both_changed,
    sum(one * (1 - other)) AS first_changed,
    sum((1 - one) * other) AS second_changed,
    sum((1 - one) * (1 - other)) AS none_changed
FROM hands
GROUP BY player, game, street
