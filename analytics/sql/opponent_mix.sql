-- What does each player do first before the flop, with which strength of cards?
-- His first choice of a hand, by tenths of all two cards (1 the weakest) where they are known.
WITH ordered AS (
    SELECT
        player,
        part,
        tenth,
        kind,
        row_number() OVER (PARTITION BY player, part, hand_seq ORDER BY place) AS turn
    FROM filtered
    WHERE street = 'preflop' AND meant
)
SELECT
    player,
    part,
    tenth,
    count(*) AS hands,
    sum(CASE WHEN kind = 'fold' THEN 1 ELSE 0 END) AS folds,
    sum(CASE WHEN kind = 'check' THEN 1 ELSE 0 END) AS checks,
    sum(CASE WHEN kind = 'call' THEN 1 ELSE 0 END) AS calls,
    sum(CASE WHEN kind IN ('bet', 'raise') THEN 1 ELSE 0 END) AS raises
FROM ordered
WHERE turn = 1 AND tenth IS NOT NULL
GROUP BY player, part, tenth
