-- What was the third card worth, what of it did a player take, and what did he pay or miss?
-- In chips, as if nothing were bet any more; `basis` says who knows which cards, and a break-even price that is null is unbounded.
WITH meant AS (
    SELECT
        c.player,
        c.part,
        c.outcome,
        c.price,
        c.rival_bid AS rival,
        w.basis,
        w.gain,
        w.swing,
        w.value AS worth,
        w.break_even,
        w.captured,
        w.taken,
        w.takeable,
        w.actual,
        w.unbid,
        w.best
    FROM filtered AS c
    INNER JOIN worths AS w
        ON c.hand_seq = w.hand_seq AND c.auction = w.auction AND c.seat = w.seat
    WHERE c.rival_bid IS NOT NULL AND c.bid IS NOT NULL
        AND coalesce(c.origin, 'chosen') NOT IN ('forced', 'default')
),
judged AS (
    SELECT
        *,
        CASE WHEN outcome = 'won' THEN CASE WHEN price > break_even THEN price - break_even ELSE 0 END END AS over,
        CASE WHEN outcome = 'lost' THEN CASE WHEN rival >= break_even THEN 0 ELSE 1 END END AS under,
        CASE WHEN outcome = 'lost' THEN greatest(0, worth - rival) WHEN outcome = 'won' THEN greatest(0, rival - worth) END AS plain
    FROM meant
)
SELECT
    player,
    part,
    basis,
    avg(best - actual) AS regret_mean,
    stddev_samp(best - actual) AS regret_sd,
    count(best - actual) AS regret_n,
    sum(actual - unbid) / nullif(sum(best - unbid), 0) AS efficiency_value,
    count(actual) AS efficiency_n,
    avg(worth) AS value_mean,
    stddev_samp(worth) AS value_sd,
    count(worth) AS value_n,
    avg(gain) AS gain_mean,
    stddev_samp(gain) AS gain_sd,
    count(gain) AS gain_n,
    avg(swing) AS swing_mean,
    stddev_samp(swing) AS swing_sd,
    count(swing) AS swing_n,
    avg(break_even) AS break_even_mean,
    stddev_samp(break_even) AS break_even_sd,
    count(break_even) AS break_even_n,
    sum(CASE WHEN break_even IS NULL THEN 1 ELSE 0 END) AS break_even_unbounded_k,
    count(*) AS break_even_unbounded_n,
    avg(captured) AS captured_mean,
    stddev_samp(captured) AS captured_sd,
    count(captured) AS captured_n,
    sum(CASE WHEN over > 0 THEN 1 ELSE 0 END) AS overpaid_k,
    count(over) AS overpaid_n,
    avg(over) AS overpayment_mean,
    stddev_samp(over) AS overpayment_sd,
    count(over) AS overpayment_n,
    coalesce(sum(under), 0) AS underbid_k,
    count(under) AS underbid_n,
    avg(plain) AS plain_regret_mean,
    stddev_samp(plain) AS plain_regret_sd,
    count(plain) AS plain_regret_n,
    sum(taken) / nullif(sum(takeable), 0) AS capture_of_won_value,
    count(*) AS capture_of_won_n
FROM judged
GROUP BY player, part, basis
