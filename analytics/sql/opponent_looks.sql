-- Which chances to do something did each player have, and which of them did he take?
-- A row a chance: bet, check, raise, call and fold by street, sizes, after our check, strength, bids.
WITH meant AS (
    SELECT player, part, hand_seq, hand, street, kind, owed, offered, after_check, made_pct, faced_pct, equity, showdown, chips, stack, pot
    FROM filtered
    WHERE meant AND street IS NOT NULL
)
SELECT player, part, hand_seq, hand, 'check_' || street AS look, CASE WHEN kind = 'check' THEN 1 ELSE 0 END AS done
FROM meant
WHERE street <> 'auction' AND NOT owed
UNION ALL
SELECT player, part, hand_seq, hand, 'bet_' || street AS look, CASE WHEN kind = 'bet' THEN 1 ELSE 0 END AS done
FROM meant
WHERE street NOT IN ('auction', 'preflop') AND NOT owed AND offered
UNION ALL
SELECT player, part, hand_seq, hand, 'raise_' || street AS look, CASE WHEN kind IN ('bet', 'raise') THEN 1 ELSE 0 END AS done
FROM meant
WHERE street <> 'auction' AND offered AND (owed OR street = 'preflop')
UNION ALL
SELECT player, part, hand_seq, hand, 'call_' || street AS look, CASE WHEN kind = 'call' THEN 1 ELSE 0 END AS done
FROM meant
WHERE street <> 'auction' AND owed
UNION ALL
SELECT player, part, hand_seq, hand, 'fold_' || street AS look, CASE WHEN kind = 'fold' THEN 1 ELSE 0 END AS done
FROM meant
WHERE street <> 'auction' AND owed
UNION ALL
SELECT player, part, hand_seq, hand, 'fold_to_small' AS look, CASE WHEN kind = 'fold' THEN 1 ELSE 0 END AS done
FROM meant
WHERE street <> 'preflop' AND owed AND 9 * faced_pct <= 400
UNION ALL
SELECT player, part, hand_seq, hand, 'fold_to_large' AS look, CASE WHEN kind = 'fold' THEN 1 ELSE 0 END AS done
FROM meant
WHERE street <> 'preflop' AND owed AND 9 * faced_pct > 400
UNION ALL
SELECT player, part, hand_seq, hand, 'bet_large' AS look, CASE WHEN made_pct > 80 THEN 1 ELSE 0 END AS done
FROM meant
WHERE street <> 'preflop' AND made_pct IS NOT NULL
UNION ALL
SELECT player, part, hand_seq, hand, 'after_check' AS look, CASE WHEN kind = 'bet' THEN 1 ELSE 0 END AS done
FROM meant
WHERE after_check
UNION ALL
SELECT player, part, hand_seq, hand, 'after_check_' || street AS look, CASE WHEN kind = 'bet' THEN 1 ELSE 0 END AS done
FROM meant
WHERE after_check
UNION ALL
SELECT player, part, hand_seq, hand, 'bluff' AS look, CASE WHEN equity < 0.35 THEN 1 ELSE 0 END AS done
FROM meant
WHERE showdown AND equity IS NOT NULL AND kind IN ('bet', 'raise')
UNION ALL
SELECT player, part, hand_seq, hand, 'slow_play' AS look, CASE WHEN equity > 0.75 THEN 1 ELSE 0 END AS done
FROM meant
WHERE showdown AND equity IS NOT NULL AND kind = 'check' AND offered
UNION ALL
SELECT player, part, hand_seq, hand, 'bid_nothing' AS look, CASE WHEN chips = 0 THEN 1 ELSE 0 END AS done
FROM meant
WHERE kind = 'bid' AND chips IS NOT NULL
UNION ALL
SELECT player, part, hand_seq, hand, 'bid_above_pot' AS look, CASE WHEN chips > pot THEN 1 ELSE 0 END AS done
FROM meant
WHERE kind = 'bid' AND chips IS NOT NULL
UNION ALL
SELECT player, part, hand_seq, hand, 'bid_near_all' AS look, CASE WHEN chips >= stack - 10 THEN 1 ELSE 0 END AS done
FROM meant
WHERE kind = 'bid' AND chips IS NOT NULL
