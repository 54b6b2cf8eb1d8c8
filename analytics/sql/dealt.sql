-- How many hands was each player dealt, and of how many are his hole cards known, or were shown?
-- `unasked`: hands without a choice, such as walks; `known`: cards that the asker may see.
SELECT
  player,
  part,
  count(*) AS hands,
  count(*) - count(vpip) AS unasked,
  count(class) AS known,
  count(shown) AS shown
FROM filtered
GROUP BY player, part
