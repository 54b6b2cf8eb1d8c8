-- How often does each player bet without the lead, and how often does he check to raise?
-- Opportunities are those the menu offered, a street at a time; the totals add up three streets.
SELECT
  player,
  part,
  sum(CASE WHEN donk THEN hands ELSE 0 END) AS donk_k,
  sum(CASE WHEN donk IS NOT NULL THEN hands ELSE 0 END) AS donk_n,
  sum(CASE WHEN float_bet THEN hands ELSE 0 END) AS float_bet_k,
  sum(CASE WHEN float_bet IS NOT NULL THEN hands ELSE 0 END) AS float_bet_n,
  sum(CASE WHEN check_raise_flop THEN hands ELSE 0 END) AS check_raise_flop_k,
  sum(CASE WHEN check_raise_flop IS NOT NULL THEN hands ELSE 0 END) AS check_raise_flop_n,
  sum(CASE WHEN check_raise_turn THEN hands ELSE 0 END) AS check_raise_turn_k,
  sum(CASE WHEN check_raise_turn IS NOT NULL THEN hands ELSE 0 END) AS check_raise_turn_n,
  sum(CASE WHEN check_raise_river THEN hands ELSE 0 END) AS check_raise_river_k,
  sum(CASE WHEN check_raise_river IS NOT NULL THEN hands ELSE 0 END) AS check_raise_river_n,
  sum(CASE WHEN bet_when_checked_to_flop THEN hands ELSE 0 END) AS bet_when_checked_to_flop_k,
  sum(
    CASE WHEN bet_when_checked_to_flop IS NOT NULL THEN hands ELSE 0 END
  ) AS bet_when_checked_to_flop_n,
  sum(CASE WHEN bet_when_checked_to_turn THEN hands ELSE 0 END) AS bet_when_checked_to_turn_k,
  sum(
    CASE WHEN bet_when_checked_to_turn IS NOT NULL THEN hands ELSE 0 END
  ) AS bet_when_checked_to_turn_n,
  sum(CASE WHEN bet_when_checked_to_river THEN hands ELSE 0 END) AS bet_when_checked_to_river_k,
  sum(
    CASE WHEN bet_when_checked_to_river IS NOT NULL THEN hands ELSE 0 END
  ) AS bet_when_checked_to_river_n,
  sum(CASE WHEN check_raise_flop THEN hands ELSE 0 END)
    + sum(CASE WHEN check_raise_turn THEN hands ELSE 0 END)
    + sum(CASE WHEN check_raise_river THEN hands ELSE 0 END) AS check_raise_k,
  sum(CASE WHEN check_raise_flop IS NOT NULL THEN hands ELSE 0 END)
    + sum(CASE WHEN check_raise_turn IS NOT NULL THEN hands ELSE 0 END)
    + sum(CASE WHEN check_raise_river IS NOT NULL THEN hands ELSE 0 END) AS check_raise_n,
  sum(CASE WHEN bet_when_checked_to_flop THEN hands ELSE 0 END)
    + sum(CASE WHEN bet_when_checked_to_turn THEN hands ELSE 0 END)
    + sum(CASE WHEN bet_when_checked_to_river THEN hands ELSE 0 END) AS bet_when_checked_to_k,
  sum(CASE WHEN bet_when_checked_to_flop IS NOT NULL THEN hands ELSE 0 END)
    + sum(CASE WHEN bet_when_checked_to_turn IS NOT NULL THEN hands ELSE 0 END)
    + sum(CASE WHEN bet_when_checked_to_river IS NOT NULL THEN hands ELSE 0 END) AS bet_when_checked_to_n
FROM chosen
GROUP BY player, part
