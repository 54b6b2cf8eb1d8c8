-- What was the third card worth, what of it did a player take, and what did he pay or miss?
-- In chips, swing times pot, as if nothing were bet any more; `basis` says who knows which cards.
WITH meant AS (
    SELECT
        c.player,
        c.part,
        w.basis,
        c.outcome,
        c.price,
        c.bid,
        c.rival_bid AS rival,
        c.stack,
        c.pot,
        w.won,
        w.lost,
        w.tied,
        w.won - w.neither AS gain,
        w.won - w.lost AS swing,
        (w.won - w.lost) * c.pot AS worth,
        CASE WHEN w.won - w.lost < 1 THEN c.pot * (w.won - w.lost) / (1 - w.won + w.lost) END AS even
    FROM chosen AS c
    INNER JOIN worths AS w
        ON c.hand_seq = w.hand_seq AND c.auction = w.auction AND c.seat = w.seat
    WHERE c.rival_bid IS NOT NULL AND c.bid IS NOT NULL
        AND coalesce(c.origin, 'chosen') NOT IN ('forced', 'default')
),
outcomes AS (
    SELECT
        *,
        CASE WHEN stack > rival THEN won * (pot + rival) - rival END AS by_winning,
        CASE WHEN rival >= 1 THEN lost * (pot + rival - 1) END AS by_losing,
        CASE WHEN stack >= rival THEN tied * (pot + 2 * rival) - rival END AS by_tying,
        CASE
            WHEN tied IS NULL THEN NULL
            WHEN outcome = 'won' THEN won * (pot + price) - price
            WHEN outcome = 'lost' THEN lost * (pot + price)
            ELSE tied * (pot + 2 * price) - price
        END AS actual,
        CASE WHEN outcome = 'won' THEN swing * (pot + price) - price END AS captured,
        greatest(0, swing * (pot + rival) - rival) AS capturable,
        CASE WHEN outcome = 'won' THEN greatest(0, price - even) END AS over,
        CASE WHEN outcome = 'lost' THEN greatest(0, worth - rival) WHEN outcome = 'won' THEN greatest(0, rival - worth) END AS plain
    FROM meant
),
judged AS (
    SELECT
        *,
        CASE
            WHEN actual IS NOT NULL
                THEN greatest(coalesce(by_winning, actual), coalesce(by_losing, actual), coalesce(by_tying, actual), actual) - actual
        END AS missed
    FROM outcomes
)
SELECT
    player,
    part,
    basis,
    avg(worth) AS value_mean,
    stddev_samp(worth) AS value_sd,
    count(worth) AS value_n,
    avg(gain) AS gain_mean,
    stddev_samp(gain) AS gain_sd,
    count(gain) AS gain_n,
    avg(swing) AS swing_mean,
    stddev_samp(swing) AS swing_sd,
    count(swing) AS swing_n,
    avg(even) AS break_even_mean,
    stddev_samp(even) AS break_even_sd,
    count(even) AS break_even_n,
    avg(captured) AS captured_mean,
    stddev_samp(captured) AS captured_sd,
    count(captured) AS captured_n,
    sum(CASE WHEN over > 0 THEN 1 ELSE 0 END) AS overpaid_k,
    count(over) AS overpaid_n,
    avg(over) AS overpayment_mean,
    stddev_samp(over) AS overpayment_sd,
    count(over) AS overpayment_n,
    sum(CASE WHEN outcome = 'lost' AND rival < coalesce(even, rival + 1) THEN 1 ELSE 0 END) AS underbid_k,
    sum(CASE WHEN outcome = 'lost' THEN 1 ELSE 0 END) AS underbid_n,
    avg(missed) AS regret_mean,
    stddev_samp(missed) AS regret_sd,
    count(missed) AS regret_n,
    avg(plain) AS plain_regret_mean,
    stddev_samp(plain) AS plain_regret_sd,
    count(plain) AS plain_regret_n,
    coalesce(sum(captured), 0) / nullif(sum(capturable), 0) AS efficiency_value,
    count(*) AS efficiency_n
FROM judged
GROUP BY player, part, basis
