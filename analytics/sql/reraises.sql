-- How often does each player raise a raise, and how often does he give up to a 3-bet?
-- Facing one raise (3-bet) or two (4-bet) with a raise on the menu; a fold needs no menu.
SELECT
  player,
  part,
  count(CASE WHEN three_bet THEN 1 END) AS three_bet_k,
  count(three_bet) AS three_bet_n,
  count(CASE WHEN squeeze THEN 1 END) AS squeeze_k,
  count(squeeze) AS squeeze_n,
  count(CASE WHEN four_bet THEN 1 END) AS four_bet_k,
  count(four_bet) AS four_bet_n,
  count(CASE WHEN four_bet_opener THEN 1 END) AS four_bet_opener_k,
  count(four_bet_opener) AS four_bet_opener_n,
  count(CASE WHEN cold_four_bet THEN 1 END) AS cold_four_bet_k,
  count(cold_four_bet) AS cold_four_bet_n,
  count(CASE WHEN fold_to_3bet THEN 1 END) AS fold_to_3bet_k,
  count(fold_to_3bet) AS fold_to_3bet_n,
  count(CASE WHEN fold_to_3bet_opener THEN 1 END) AS fold_to_3bet_opener_k,
  count(fold_to_3bet_opener) AS fold_to_3bet_opener_n
FROM filtered
GROUP BY player, part
