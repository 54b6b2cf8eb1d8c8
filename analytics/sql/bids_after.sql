-- What does a player do after he has won, lost or tied the auction, and what does his rival do?
-- Showdowns won count a split as won. A flop bet: his first choice after it, if he could open.
WITH meant AS (
    SELECT *
    FROM filtered
    WHERE coalesce(origin, 'chosen') NOT IN ('forced', 'default')
)
SELECT
    player,
    part,
    sum(CASE WHEN outcome = 'won' AND showdown AND won_money THEN 1 ELSE 0 END) AS showdown_won_k,
    sum(CASE WHEN outcome = 'won' AND showdown THEN 1 ELSE 0 END) AS showdown_won_n,
    sum(CASE WHEN outcome = 'won' AND folded THEN 1 ELSE 0 END) AS fold_won_k,
    sum(CASE WHEN outcome = 'won' THEN 1 ELSE 0 END) AS fold_won_n,
    sum(CASE WHEN outcome = 'won' AND rival_folded THEN 1 ELSE 0 END) AS rival_fold_won_k,
    count(CASE WHEN outcome = 'won' THEN rival_folded END) AS rival_fold_won_n,
    sum(CASE WHEN outcome = 'won' AND flop_bet THEN 1 ELSE 0 END) AS flop_bet_won_k,
    count(CASE WHEN outcome = 'won' THEN flop_bet END) AS flop_bet_won_n,
    sum(CASE WHEN outcome = 'lost' AND showdown AND won_money THEN 1 ELSE 0 END) AS showdown_lost_k,
    sum(CASE WHEN outcome = 'lost' AND showdown THEN 1 ELSE 0 END) AS showdown_lost_n,
    sum(CASE WHEN outcome = 'lost' AND folded THEN 1 ELSE 0 END) AS fold_lost_k,
    sum(CASE WHEN outcome = 'lost' THEN 1 ELSE 0 END) AS fold_lost_n,
    sum(CASE WHEN outcome = 'lost' AND rival_folded THEN 1 ELSE 0 END) AS rival_fold_lost_k,
    count(CASE WHEN outcome = 'lost' THEN rival_folded END) AS rival_fold_lost_n,
    sum(CASE WHEN outcome = 'lost' AND flop_bet THEN 1 ELSE 0 END) AS flop_bet_lost_k,
    count(CASE WHEN outcome = 'lost' THEN flop_bet END) AS flop_bet_lost_n,
    sum(CASE WHEN outcome = 'tied' AND showdown AND won_money THEN 1 ELSE 0 END) AS showdown_tied_k,
    sum(CASE WHEN outcome = 'tied' AND showdown THEN 1 ELSE 0 END) AS showdown_tied_n,
    sum(CASE WHEN outcome = 'tied' AND folded THEN 1 ELSE 0 END) AS fold_tied_k,
    sum(CASE WHEN outcome = 'tied' THEN 1 ELSE 0 END) AS fold_tied_n,
    sum(CASE WHEN outcome = 'tied' AND rival_folded THEN 1 ELSE 0 END) AS rival_fold_tied_k,
    count(CASE WHEN outcome = 'tied' THEN rival_folded END) AS rival_fold_tied_n,
    sum(CASE WHEN outcome = 'tied' AND flop_bet THEN 1 ELSE 0 END) AS flop_bet_tied_k,
    count(CASE WHEN outcome = 'tied' THEN flop_bet END) AS flop_bet_tied_n,
    sum(CASE WHEN outcome = 'won' AND NOT won_money THEN 1 ELSE 0 END) AS won_in_vain_k,
    sum(CASE WHEN outcome = 'won' THEN 1 ELSE 0 END) AS won_in_vain_n
FROM meant
GROUP BY player, part
