-- How are bets and raises, beside calls, spread over the hands of each player?
-- The hands that had as many of each on each street: what a bootstrap over hands draws from.
WITH acted AS (
  SELECT
    player,
    part,
    hands,
    flop_bets + flop_raises AS flop_raised,
    flop_calls AS flop_called,
    turn_bets + turn_raises AS turn_raised,
    turn_calls AS turn_called,
    river_bets + river_raises AS river_raised,
    river_calls AS river_called
  FROM chosen
)
SELECT
  player,
  part,
  flop_raised,
  flop_called,
  turn_raised,
  turn_called,
  river_raised,
  river_called,
  sum(hands) AS hands
FROM acted
GROUP BY
  player,
  part,
  flop_raised,
  flop_called,
  turn_raised,
  turn_called,
  river_raised,
  river_called
