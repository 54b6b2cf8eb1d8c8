-- How aggressive is each player after the flop?
-- Bets and raises beside calls (af), and out of all but checks (afq), by street and in all.
SELECT
  player,
  part,
  sum(flop_bets + flop_raises) AS af_flop_k,
  sum(flop_calls) AS af_flop_n,
  sum(flop_bets + flop_raises) AS afq_flop_k,
  sum(flop_bets + flop_raises + flop_calls + flop_folds) AS afq_flop_n,
  sum(turn_bets + turn_raises) AS af_turn_k,
  sum(turn_calls) AS af_turn_n,
  sum(turn_bets + turn_raises) AS afq_turn_k,
  sum(turn_bets + turn_raises + turn_calls + turn_folds) AS afq_turn_n,
  sum(river_bets + river_raises) AS af_river_k,
  sum(river_calls) AS af_river_n,
  sum(river_bets + river_raises) AS afq_river_k,
  sum(river_bets + river_raises + river_calls + river_folds) AS afq_river_n,
  sum(
    flop_bets + flop_raises
    + turn_bets + turn_raises
    + river_bets + river_raises
  ) AS af_k,
  sum(
    flop_calls
    + turn_calls
    + river_calls
  ) AS af_n,
  sum(
    flop_bets + flop_raises
    + turn_bets + turn_raises
    + river_bets + river_raises
  ) AS afq_k,
  sum(
    flop_bets + flop_raises + flop_calls + flop_folds
    + turn_bets + turn_raises + turn_calls + turn_folds
    + river_bets + river_raises + river_calls + river_folds
  ) AS afq_n
FROM filtered
GROUP BY player, part
