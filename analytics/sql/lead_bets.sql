-- How often does each player bet without the lead, and how often does he check to raise?
-- Opportunities are those the menu offered, a street at a time; the totals add up three streets.
SELECT
  player,
  part,
  count(CASE WHEN donk THEN 1 END) AS donk_k,
  count(donk) AS donk_n,
  count(CASE WHEN float_bet THEN 1 END) AS float_bet_k,
  count(float_bet) AS float_bet_n,
  count(CASE WHEN check_raise_flop THEN 1 END) AS check_raise_flop_k,
  count(check_raise_flop) AS check_raise_flop_n,
  count(CASE WHEN check_raise_turn THEN 1 END) AS check_raise_turn_k,
  count(check_raise_turn) AS check_raise_turn_n,
  count(CASE WHEN check_raise_river THEN 1 END) AS check_raise_river_k,
  count(check_raise_river) AS check_raise_river_n,
  count(CASE WHEN bet_when_checked_to_flop THEN 1 END) AS bet_when_checked_to_flop_k,
  count(bet_when_checked_to_flop) AS bet_when_checked_to_flop_n,
  count(CASE WHEN bet_when_checked_to_turn THEN 1 END) AS bet_when_checked_to_turn_k,
  count(bet_when_checked_to_turn) AS bet_when_checked_to_turn_n,
  count(CASE WHEN bet_when_checked_to_river THEN 1 END) AS bet_when_checked_to_river_k,
  count(bet_when_checked_to_river) AS bet_when_checked_to_river_n,
  count(CASE WHEN check_raise_flop THEN 1 END)
    + count(CASE WHEN check_raise_turn THEN 1 END)
    + count(CASE WHEN check_raise_river THEN 1 END) AS check_raise_k,
  count(check_raise_flop)
    + count(check_raise_turn)
    + count(check_raise_river) AS check_raise_n,
  count(CASE WHEN bet_when_checked_to_flop THEN 1 END)
    + count(CASE WHEN bet_when_checked_to_turn THEN 1 END)
    + count(CASE WHEN bet_when_checked_to_river THEN 1 END) AS bet_when_checked_to_k,
  count(bet_when_checked_to_flop)
    + count(bet_when_checked_to_turn)
    + count(bet_when_checked_to_river) AS bet_when_checked_to_n
FROM filtered
GROUP BY player, part
