-- How often does each player steal the blinds, and how does he defend his own?
-- A steal opens from CO, BTN or SB when all before folded; a defence faces one with nobody else in.
SELECT
  player,
  part,
  sum(CASE WHEN steal THEN hands ELSE 0 END) AS steal_k,
  sum(CASE WHEN steal IS NOT NULL THEN hands ELSE 0 END) AS steal_n,
  sum(CASE WHEN fold_to_steal_sb THEN hands ELSE 0 END) AS fold_to_steal_sb_k,
  sum(CASE WHEN fold_to_steal_sb IS NOT NULL THEN hands ELSE 0 END) AS fold_to_steal_sb_n,
  sum(CASE WHEN fold_to_steal_bb THEN hands ELSE 0 END) AS fold_to_steal_bb_k,
  sum(CASE WHEN fold_to_steal_bb IS NOT NULL THEN hands ELSE 0 END) AS fold_to_steal_bb_n,
  sum(CASE WHEN resteal THEN hands ELSE 0 END) AS resteal_k,
  sum(CASE WHEN resteal IS NOT NULL THEN hands ELSE 0 END) AS resteal_n
FROM chosen
GROUP BY player, part
