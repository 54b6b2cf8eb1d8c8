-- How often does each player who saw the flop reach a showdown, and how often does he win?
-- A showdown has two seats that did not fold, shown or not; who collects has won, so a split counts.
SELECT
  player,
  part,
  count(CASE WHEN saw_flop AND showdown THEN 1 END) AS wtsd_k,
  count(CASE WHEN saw_flop THEN 1 END) AS wtsd_n,
  count(CASE WHEN showdown AND won THEN 1 END) AS wsd_k,
  count(CASE WHEN showdown THEN 1 END) AS wsd_n,
  count(CASE WHEN saw_flop AND won THEN 1 END) AS wwsf_k,
  count(CASE WHEN saw_flop THEN 1 END) AS wwsf_n
FROM filtered
GROUP BY player, part
