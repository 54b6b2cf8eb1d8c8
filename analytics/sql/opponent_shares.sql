-- How often did each player take each kind of chance?
-- Chances taken out of all, over rows of one chance each.
SELECT player, part, look, sum(done) AS k, count(*) AS n
FROM filtered
GROUP BY player, part, look
