-- How often does each player steal the blinds, and how does he defend his own?
-- A steal opens from CO, BTN or SB when all before folded; a defence faces one with nobody else in.
SELECT
  player,
  part,
  count(CASE WHEN steal THEN 1 END) AS steal_k,
  count(steal) AS steal_n,
  count(CASE WHEN fold_to_steal_sb THEN 1 END) AS fold_to_steal_sb_k,
  count(fold_to_steal_sb) AS fold_to_steal_sb_n,
  count(CASE WHEN fold_to_steal_bb THEN 1 END) AS fold_to_steal_bb_k,
  count(fold_to_steal_bb) AS fold_to_steal_bb_n,
  count(CASE WHEN resteal THEN 1 END) AS resteal_k,
  count(resteal) AS resteal_n
FROM filtered
GROUP BY player, part
