-- How often does each player enter the pot, and how often does he do so by raising?
-- Out of the hands in which he chose before the flop, if only to straddle; `all` of those he was dealt.
SELECT
  player,
  part,
  sum(CASE WHEN vpip THEN hands ELSE 0 END) AS vpip_k,
  sum(CASE WHEN vpip IS NOT NULL THEN hands ELSE 0 END) AS vpip_n,
  sum(CASE WHEN vpip THEN hands ELSE 0 END) AS vpip_all_k,
  sum(hands) AS vpip_all_n,
  sum(CASE WHEN pfr THEN hands ELSE 0 END) AS pfr_k,
  sum(CASE WHEN pfr IS NOT NULL THEN hands ELSE 0 END) AS pfr_n,
  sum(CASE WHEN pfr_able THEN hands ELSE 0 END) AS pfr_able_k,
  sum(CASE WHEN pfr_able IS NOT NULL THEN hands ELSE 0 END) AS pfr_able_n,
  sum(CASE WHEN limp THEN hands ELSE 0 END) AS limp_k,
  sum(CASE WHEN limp IS NOT NULL THEN hands ELSE 0 END) AS limp_n,
  sum(CASE WHEN rfi THEN hands ELSE 0 END) AS rfi_k,
  sum(CASE WHEN rfi IS NOT NULL THEN hands ELSE 0 END) AS rfi_n
FROM chosen
GROUP BY player, part
