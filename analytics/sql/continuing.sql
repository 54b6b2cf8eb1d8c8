-- How often does each player go on betting street by street, and how often does he fold to that?
-- The last raiser before the flop, then who bet the street before, if nobody bet before him.
SELECT
  player,
  part,
  sum(CASE WHEN cbet_flop THEN hands ELSE 0 END) AS cbet_flop_k,
  sum(CASE WHEN cbet_flop IS NOT NULL THEN hands ELSE 0 END) AS cbet_flop_n,
  sum(CASE WHEN cbet_turn THEN hands ELSE 0 END) AS cbet_turn_k,
  sum(CASE WHEN cbet_turn IS NOT NULL THEN hands ELSE 0 END) AS cbet_turn_n,
  sum(CASE WHEN cbet_river THEN hands ELSE 0 END) AS cbet_river_k,
  sum(CASE WHEN cbet_river IS NOT NULL THEN hands ELSE 0 END) AS cbet_river_n,
  sum(CASE WHEN fold_to_cbet_flop THEN hands ELSE 0 END) AS fold_to_cbet_flop_k,
  sum(CASE WHEN fold_to_cbet_flop IS NOT NULL THEN hands ELSE 0 END) AS fold_to_cbet_flop_n,
  sum(CASE WHEN fold_to_cbet_turn THEN hands ELSE 0 END) AS fold_to_cbet_turn_k,
  sum(CASE WHEN fold_to_cbet_turn IS NOT NULL THEN hands ELSE 0 END) AS fold_to_cbet_turn_n,
  sum(CASE WHEN fold_to_cbet_river THEN hands ELSE 0 END) AS fold_to_cbet_river_k,
  sum(CASE WHEN fold_to_cbet_river IS NOT NULL THEN hands ELSE 0 END) AS fold_to_cbet_river_n
FROM chosen
GROUP BY player, part
