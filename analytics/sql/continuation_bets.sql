-- How often does each player go on betting street by street, and how often does he fold to that?
-- The last raiser before the flop, then who bet the street before, if nobody bet before him.
SELECT
  player,
  part,
  count(CASE WHEN cbet_flop THEN 1 END) AS cbet_flop_k,
  count(cbet_flop) AS cbet_flop_n,
  count(CASE WHEN cbet_turn THEN 1 END) AS cbet_turn_k,
  count(cbet_turn) AS cbet_turn_n,
  count(CASE WHEN cbet_river THEN 1 END) AS cbet_river_k,
  count(cbet_river) AS cbet_river_n,
  count(CASE WHEN fold_to_cbet_flop THEN 1 END) AS fold_to_cbet_flop_k,
  count(fold_to_cbet_flop) AS fold_to_cbet_flop_n,
  count(CASE WHEN fold_to_cbet_turn THEN 1 END) AS fold_to_cbet_turn_k,
  count(fold_to_cbet_turn) AS fold_to_cbet_turn_n,
  count(CASE WHEN fold_to_cbet_river THEN 1 END) AS fold_to_cbet_river_k,
  count(fold_to_cbet_river) AS fold_to_cbet_river_n
FROM filtered
GROUP BY player, part
