-- How did each hand end for each player, and what did it come to?
-- In whole chips, by the last street that was dealt; a hand that all others folded is others_fold.
SELECT
    hand_seq,
    hand,
    match,
    number,
    game,
    seat,
    player,
    position,
    CASE
        WHEN sum(CASE WHEN saw_river THEN 1 ELSE 0 END) OVER (PARTITION BY hand_seq) > 0 THEN 'river'
        WHEN sum(CASE WHEN saw_turn THEN 1 ELSE 0 END) OVER (PARTITION BY hand_seq) > 0 THEN 'turn'
        WHEN sum(CASE WHEN saw_flop THEN 1 ELSE 0 END) OVER (PARTITION BY hand_seq) > 0 THEN 'flop'
        ELSE 'preflop'
    END AS street,
    CASE WHEN folded THEN 'he_folds' WHEN showdown THEN 'showdown' ELSE 'others_fold' END AS how,
    CAST(net AS DOUBLE PRECISION) / coalesce(per_chip, 1) AS net,
    bet_min,
    bet_max,
    cards IS NOT NULL OR shown IS NOT NULL OR coalesce(held, FALSE) AS known,
    faulty AS fault,
    state
FROM filtered
ORDER BY hand_seq, seat
