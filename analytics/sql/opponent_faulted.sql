-- In how many hands did a player reply what could not be used, and what did they cost him?
-- The cost of a fault is his mean net of all hands less the net of the hand with it.
WITH usual AS (
    SELECT player, part, avg(net) AS net
    FROM filtered
    GROUP BY player, part
)
SELECT
    c.player,
    c.part,
    sum(CASE WHEN c.fault THEN 1 ELSE 0 END) AS fault_k,
    count(*) AS fault_n,
    sum(CASE WHEN c.fault THEN usual.net - c.net END) AS fault_cost_value,
    sum(CASE WHEN c.fault THEN 1 ELSE 0 END) AS fault_cost_n,
    avg(CASE WHEN c.fault THEN c.net END) AS net_fault_mean,
    stddev_samp(CASE WHEN c.fault THEN c.net END) AS net_fault_sd,
    count(CASE WHEN c.fault THEN c.net END) AS net_fault_n
FROM filtered AS c
INNER JOIN usual ON c.player = usual.player AND c.part = usual.part
GROUP BY c.player, c.part
