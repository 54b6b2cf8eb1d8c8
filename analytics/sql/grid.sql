-- How does each player play each of the 169 classes of hole cards?
-- Hands whose cards the asker may see; shares out of those with a choice, as in vpip.
SELECT
  player,
  part,
  class,
  count(*) AS hands,
  count(CASE WHEN vpip THEN 1 END) AS vpip_k,
  count(vpip) AS vpip_n,
  count(CASE WHEN pfr THEN 1 END) AS pfr_k,
  count(pfr) AS pfr_n,
  avg(CAST(net AS DOUBLE) / big_blind) AS net_bb
FROM filtered
WHERE class IS NOT NULL
GROUP BY player, part, class
