-- How often does each player enter the pot, and how often does he do so by raising?
-- Out of the hands in which he chose before the flop, if only to straddle; `all` of those he was dealt.
SELECT
  player,
  part,
  count(CASE WHEN vpip THEN 1 END) AS vpip_k,
  count(vpip) AS vpip_n,
  count(CASE WHEN vpip THEN 1 END) AS vpip_all_k,
  count(*) AS vpip_all_n,
  count(CASE WHEN pfr THEN 1 END) AS pfr_k,
  count(pfr) AS pfr_n,
  count(CASE WHEN pfr_able THEN 1 END) AS pfr_able_k,
  count(pfr_able) AS pfr_able_n,
  count(CASE WHEN limp THEN 1 END) AS limp_k,
  count(limp) AS limp_n,
  count(CASE WHEN rfi THEN 1 END) AS rfi_k,
  count(rfi) AS rfi_n
FROM filtered
GROUP BY player, part
