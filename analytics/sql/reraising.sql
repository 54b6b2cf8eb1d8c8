-- How often does each player raise a raise, and how often does he give up to a 3-bet?
-- Facing one raise (3-bet) or two (4-bet) with a raise on the menu; a fold needs no menu.
SELECT
  player,
  part,
  sum(CASE WHEN three_bet THEN hands ELSE 0 END) AS three_bet_k,
  sum(CASE WHEN three_bet IS NOT NULL THEN hands ELSE 0 END) AS three_bet_n,
  sum(CASE WHEN squeeze THEN hands ELSE 0 END) AS squeeze_k,
  sum(CASE WHEN squeeze IS NOT NULL THEN hands ELSE 0 END) AS squeeze_n,
  sum(CASE WHEN four_bet THEN hands ELSE 0 END) AS four_bet_k,
  sum(CASE WHEN four_bet IS NOT NULL THEN hands ELSE 0 END) AS four_bet_n,
  sum(CASE WHEN four_bet_opener THEN hands ELSE 0 END) AS four_bet_opener_k,
  sum(CASE WHEN four_bet_opener IS NOT NULL THEN hands ELSE 0 END) AS four_bet_opener_n,
  sum(CASE WHEN cold_four_bet THEN hands ELSE 0 END) AS cold_four_bet_k,
  sum(CASE WHEN cold_four_bet IS NOT NULL THEN hands ELSE 0 END) AS cold_four_bet_n,
  sum(CASE WHEN fold_to_3bet THEN hands ELSE 0 END) AS fold_to_3bet_k,
  sum(CASE WHEN fold_to_3bet IS NOT NULL THEN hands ELSE 0 END) AS fold_to_3bet_n,
  sum(CASE WHEN fold_to_3bet_opener THEN hands ELSE 0 END) AS fold_to_3bet_opener_k,
  sum(CASE WHEN fold_to_3bet_opener IS NOT NULL THEN hands ELSE 0 END) AS fold_to_3bet_opener_n
FROM chosen
GROUP BY player, part
