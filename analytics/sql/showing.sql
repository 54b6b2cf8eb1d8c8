-- How often does each player who saw the flop reach a showdown, and how often does he win?
-- A showdown has two seats that did not fold, shown or not; who collects has won, so a split counts.
SELECT
  player,
  part,
  sum(CASE WHEN saw_flop AND showdown THEN hands ELSE 0 END) AS wtsd_k,
  sum(CASE WHEN saw_flop THEN hands ELSE 0 END) AS wtsd_n,
  sum(CASE WHEN showdown AND won THEN hands ELSE 0 END) AS wsd_k,
  sum(CASE WHEN showdown THEN hands ELSE 0 END) AS wsd_n,
  sum(CASE WHEN saw_flop AND won THEN hands ELSE 0 END) AS wwsf_k,
  sum(CASE WHEN saw_flop THEN hands ELSE 0 END) AS wwsf_n
FROM chosen
GROUP BY player, part
