-- What did each player win or lose, with and without a showdown, and how steadily?
-- Net is collected minus put in, in whole chips; without a showdown for whoever folded.
SELECT
  player,
  part,
  sum(CAST(net AS DOUBLE) / per_chip) AS net_sum,
  count(per_chip) AS net_n,
  sum(CASE WHEN showdown THEN CAST(net AS DOUBLE) / per_chip END) AS net_showdown_sum,
  count(CASE WHEN showdown THEN per_chip END) AS net_showdown_n,
  sum(CASE WHEN showdown THEN NULL ELSE CAST(net AS DOUBLE) / per_chip END) AS net_without_sum,
  count(CASE WHEN showdown THEN NULL ELSE per_chip END) AS net_without_n,
  avg(CAST(net AS DOUBLE) / per_chip) AS net_hand_mean,
  stddev_samp(CAST(net AS DOUBLE) / per_chip) AS net_hand_sd,
  count(per_chip) AS net_hand_n,
  avg(CAST(net AS DOUBLE) / big_blind) AS bb_mean,
  stddev_samp(CAST(net AS DOUBLE) / big_blind) AS bb_sd,
  count(big_blind) AS bb_n,
  avg(CAST(net AS DOUBLE) / big_bet) AS big_bet_mean,
  stddev_samp(CAST(net AS DOUBLE) / big_bet) AS big_bet_sd,
  count(big_bet) AS big_bet_n
FROM chosen
GROUP BY player, part
