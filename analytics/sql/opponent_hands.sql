-- In which hands did a player take a chance, and in which did he let it pass?
-- The ten newest of each kind; a hand with several chances counts as taken if one of them was.
WITH once AS (
    SELECT player, part, look, hand_seq, hand, max(done) AS done
    FROM filtered
    GROUP BY player, part, look, hand_seq, hand
),
placed AS (
    SELECT
        player,
        part,
        look,
        done,
        hand,
        row_number() OVER (PARTITION BY player, part, look, done ORDER BY hand_seq DESC) AS place
    FROM once
)
SELECT player, part, look, done, place, hand
FROM placed
WHERE place <= 10
