-- Which of the chances that statistics count did each player have in a hand, and which did he take?
-- A row a hand and chance, from its facts; without a chance there is none.
SELECT player, part, hand_seq, hand, 'vpip' AS look, CASE WHEN vpip THEN 1 ELSE 0 END AS done FROM chosen WHERE vpip IS NOT NULL
UNION ALL
SELECT player, part, hand_seq, hand, 'pfr' AS look, CASE WHEN pfr THEN 1 ELSE 0 END AS done FROM chosen WHERE pfr IS NOT NULL
UNION ALL
SELECT player, part, hand_seq, hand, 'limp' AS look, CASE WHEN limp THEN 1 ELSE 0 END AS done FROM chosen WHERE limp IS NOT NULL
UNION ALL
SELECT player, part, hand_seq, hand, 'rfi' AS look, CASE WHEN rfi THEN 1 ELSE 0 END AS done FROM chosen WHERE rfi IS NOT NULL
UNION ALL
SELECT player, part, hand_seq, hand, 'three_bet' AS look, CASE WHEN three_bet THEN 1 ELSE 0 END AS done FROM chosen WHERE three_bet IS NOT NULL
UNION ALL
SELECT player, part, hand_seq, hand, 'squeeze' AS look, CASE WHEN squeeze THEN 1 ELSE 0 END AS done FROM chosen WHERE squeeze IS NOT NULL
UNION ALL
SELECT player, part, hand_seq, hand, 'four_bet' AS look, CASE WHEN four_bet THEN 1 ELSE 0 END AS done FROM chosen WHERE four_bet IS NOT NULL
UNION ALL
SELECT player, part, hand_seq, hand, 'four_bet_opener' AS look, CASE WHEN four_bet_opener THEN 1 ELSE 0 END AS done FROM chosen WHERE four_bet_opener IS NOT NULL
UNION ALL
SELECT player, part, hand_seq, hand, 'cold_four_bet' AS look, CASE WHEN cold_four_bet THEN 1 ELSE 0 END AS done FROM chosen WHERE cold_four_bet IS NOT NULL
UNION ALL
SELECT player, part, hand_seq, hand, 'fold_to_3bet' AS look, CASE WHEN fold_to_3bet THEN 1 ELSE 0 END AS done FROM chosen WHERE fold_to_3bet IS NOT NULL
UNION ALL
SELECT player, part, hand_seq, hand, 'fold_to_3bet_opener' AS look, CASE WHEN fold_to_3bet_opener THEN 1 ELSE 0 END AS done FROM chosen WHERE fold_to_3bet_opener IS NOT NULL
UNION ALL
SELECT player, part, hand_seq, hand, 'steal' AS look, CASE WHEN steal THEN 1 ELSE 0 END AS done FROM chosen WHERE steal IS NOT NULL
UNION ALL
SELECT player, part, hand_seq, hand, 'fold_to_steal_sb' AS look, CASE WHEN fold_to_steal_sb THEN 1 ELSE 0 END AS done FROM chosen WHERE fold_to_steal_sb IS NOT NULL
UNION ALL
SELECT player, part, hand_seq, hand, 'fold_to_steal_bb' AS look, CASE WHEN fold_to_steal_bb THEN 1 ELSE 0 END AS done FROM chosen WHERE fold_to_steal_bb IS NOT NULL
UNION ALL
SELECT player, part, hand_seq, hand, 'resteal' AS look, CASE WHEN resteal THEN 1 ELSE 0 END AS done FROM chosen WHERE resteal IS NOT NULL
UNION ALL
SELECT player, part, hand_seq, hand, 'donk' AS look, CASE WHEN donk THEN 1 ELSE 0 END AS done FROM chosen WHERE donk IS NOT NULL
UNION ALL
SELECT player, part, hand_seq, hand, 'float' AS look, CASE WHEN float_bet THEN 1 ELSE 0 END AS done FROM chosen WHERE float_bet IS NOT NULL
UNION ALL
SELECT player, part, hand_seq, hand, 'cbet_flop' AS look, CASE WHEN cbet_flop THEN 1 ELSE 0 END AS done FROM chosen WHERE cbet_flop IS NOT NULL
UNION ALL
SELECT player, part, hand_seq, hand, 'cbet_turn' AS look, CASE WHEN cbet_turn THEN 1 ELSE 0 END AS done FROM chosen WHERE cbet_turn IS NOT NULL
UNION ALL
SELECT player, part, hand_seq, hand, 'cbet_river' AS look, CASE WHEN cbet_river THEN 1 ELSE 0 END AS done FROM chosen WHERE cbet_river IS NOT NULL
UNION ALL
SELECT player, part, hand_seq, hand, 'fold_to_cbet_flop' AS look, CASE WHEN fold_to_cbet_flop THEN 1 ELSE 0 END AS done FROM chosen WHERE fold_to_cbet_flop IS NOT NULL
UNION ALL
SELECT player, part, hand_seq, hand, 'fold_to_cbet_turn' AS look, CASE WHEN fold_to_cbet_turn THEN 1 ELSE 0 END AS done FROM chosen WHERE fold_to_cbet_turn IS NOT NULL
UNION ALL
SELECT player, part, hand_seq, hand, 'fold_to_cbet_river' AS look, CASE WHEN fold_to_cbet_river THEN 1 ELSE 0 END AS done FROM chosen WHERE fold_to_cbet_river IS NOT NULL
UNION ALL
SELECT player, part, hand_seq, hand, 'check_raise_flop' AS look, CASE WHEN check_raise_flop THEN 1 ELSE 0 END AS done FROM chosen WHERE check_raise_flop IS NOT NULL
UNION ALL
SELECT player, part, hand_seq, hand, 'check_raise_turn' AS look, CASE WHEN check_raise_turn THEN 1 ELSE 0 END AS done FROM chosen WHERE check_raise_turn IS NOT NULL
UNION ALL
SELECT player, part, hand_seq, hand, 'check_raise_river' AS look, CASE WHEN check_raise_river THEN 1 ELSE 0 END AS done FROM chosen WHERE check_raise_river IS NOT NULL
UNION ALL
SELECT player, part, hand_seq, hand, 'bet_when_checked_to_flop' AS look, CASE WHEN bet_when_checked_to_flop THEN 1 ELSE 0 END AS done FROM chosen WHERE bet_when_checked_to_flop IS NOT NULL
UNION ALL
SELECT player, part, hand_seq, hand, 'bet_when_checked_to_turn' AS look, CASE WHEN bet_when_checked_to_turn THEN 1 ELSE 0 END AS done FROM chosen WHERE bet_when_checked_to_turn IS NOT NULL
UNION ALL
SELECT player, part, hand_seq, hand, 'bet_when_checked_to_river' AS look, CASE WHEN bet_when_checked_to_river THEN 1 ELSE 0 END AS done FROM chosen WHERE bet_when_checked_to_river IS NOT NULL
UNION ALL
SELECT player, part, hand_seq, hand, 'wtsd' AS look, CASE WHEN showdown THEN 1 ELSE 0 END AS done FROM chosen WHERE saw_flop
UNION ALL
SELECT player, part, hand_seq, hand, 'wsd' AS look, CASE WHEN won THEN 1 ELSE 0 END AS done FROM chosen WHERE showdown
UNION ALL
SELECT player, part, hand_seq, hand, 'wwsf' AS look, CASE WHEN won THEN 1 ELSE 0 END AS done FROM chosen WHERE saw_flop
