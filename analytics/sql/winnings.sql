-- What did each player win or lose, with and without a showdown, and how steadily?
-- Net is collected minus put in, and bounties, in whole chips; without a showdown for whoever folded.
-- A variance is the mean of squares about the mean, from sums of whole units.
WITH alike AS (
  SELECT
    player,
    part,
    showdown,
    per_chip,
    big_blind,
    big_bet,
    count(*) AS hands,
    sum(CAST(net AS DOUBLE)) AS nets,
    sum(CAST(net AS DOUBLE) * net) AS squares
  FROM filtered
  GROUP BY player, part, showdown, per_chip, big_blind, big_bet
),
added AS (
  SELECT
    player,
    part,
    sum(nets / per_chip) AS net,
    sum(squares / per_chip / per_chip) AS net_squares,
    sum(CASE WHEN per_chip IS NOT NULL THEN hands ELSE 0 END) AS net_n,
    sum(CASE WHEN showdown THEN nets / per_chip END) AS net_showdown,
    sum(CASE WHEN showdown AND per_chip IS NOT NULL THEN hands ELSE 0 END) AS net_showdown_n,
    sum(CASE WHEN showdown THEN NULL ELSE nets / per_chip END) AS net_without,
    sum(CASE WHEN showdown OR per_chip IS NULL THEN 0 ELSE hands END) AS net_without_n,
    sum(nets / big_blind) AS bb,
    sum(squares / big_blind / big_blind) AS bb_squares,
    sum(CASE WHEN big_blind IS NOT NULL THEN hands ELSE 0 END) AS bb_n,
    sum(nets / big_bet) AS big_bet,
    sum(squares / big_bet / big_bet) AS big_bet_squares,
    sum(CASE WHEN big_bet IS NOT NULL THEN hands ELSE 0 END) AS big_bet_n
  FROM alike
  GROUP BY player, part
)
SELECT
  player,
  part,
  net AS net_sum,
  net_n,
  net_showdown AS net_showdown_sum,
  net_showdown_n,
  net_without AS net_without_sum,
  net_without_n,
  net / nullif(net_n, 0) AS net_hand_mean,
  CASE
    WHEN net_n > 1 AND net_squares > net * net / net_n
      THEN sqrt((net_squares - net * net / net_n) / (net_n - 1))
    WHEN net_n > 1 THEN 0.0
  END AS net_hand_sd,
  net_n AS net_hand_n,
  bb / nullif(bb_n, 0) AS bb_mean,
  CASE
    WHEN bb_n > 1 AND bb_squares > bb * bb / bb_n
      THEN sqrt((bb_squares - bb * bb / bb_n) / (bb_n - 1))
    WHEN bb_n > 1 THEN 0.0
  END AS bb_sd,
  bb_n,
  big_bet / nullif(big_bet_n, 0) AS big_bet_mean,
  CASE
    WHEN big_bet_n > 1 AND big_bet_squares > big_bet * big_bet / big_bet_n
      THEN sqrt((big_bet_squares - big_bet * big_bet / big_bet_n) / (big_bet_n - 1))
    WHEN big_bet_n > 1 THEN 0.0
  END AS big_bet_sd,
  big_bet_n
FROM added
