-- How large are the bets that each player makes and faces, and how long does he think?
-- Hundredths of the pot before a bet (made) and with it (faced), after the flop; thought: all acts.
-- A leak is time with strong cards less time with weak ones; its deviation has Welch's error in it.
WITH numbers AS (
    SELECT
        player,
        part,
        avg(CASE WHEN street <> 'preflop' THEN made_pct END) AS made_pct_mean,
        stddev_samp(CASE WHEN street <> 'preflop' THEN made_pct END) AS made_pct_sd,
        count(CASE WHEN street <> 'preflop' THEN made_pct END) AS made_pct_n,
        avg(CASE WHEN street <> 'preflop' THEN faced_pct END) AS faced_pct_mean,
        stddev_samp(CASE WHEN street <> 'preflop' THEN faced_pct END) AS faced_pct_sd,
        count(CASE WHEN street <> 'preflop' THEN faced_pct END) AS faced_pct_n,
        avg(think_ms) AS think_ms_mean,
        stddev_samp(think_ms) AS think_ms_sd,
        count(think_ms) AS think_ms_n,
        max(think_ms) AS think_max_value,
        count(think_ms) AS think_max_n,
        sum(think_ms) AS think_sum_value,
        count(think_ms) AS think_sum_n,
        avg(CASE WHEN tenth >= 8 THEN think_ms END) AS think_strong_mean,
        stddev_samp(CASE WHEN tenth >= 8 THEN think_ms END) AS think_strong_sd,
        count(CASE WHEN tenth >= 8 THEN think_ms END) AS think_strong_n,
        avg(CASE WHEN tenth <= 3 THEN think_ms END) AS think_weak_mean,
        stddev_samp(CASE WHEN tenth <= 3 THEN think_ms END) AS think_weak_sd,
        count(CASE WHEN tenth <= 3 THEN think_ms END) AS think_weak_n
    FROM filtered
    WHERE meant
    GROUP BY player, part
),
sure AS (
    SELECT
        player,
        part,
        think_strong_mean - think_weak_mean AS mean,
        CASE WHEN think_strong_n < think_weak_n THEN think_strong_n ELSE think_weak_n END AS n,
        think_strong_sd * think_strong_sd / nullif(think_strong_n, 0)
            + think_weak_sd * think_weak_sd / nullif(think_weak_n, 0) AS error_squared
    FROM numbers
)
SELECT
    numbers.player,
    numbers.part,
    numbers.made_pct_mean,
    numbers.made_pct_sd,
    numbers.made_pct_n,
    numbers.faced_pct_mean,
    numbers.faced_pct_sd,
    numbers.faced_pct_n,
    numbers.think_ms_mean,
    numbers.think_ms_sd,
    numbers.think_ms_n,
    numbers.think_max_value,
    numbers.think_max_n,
    numbers.think_sum_value,
    numbers.think_sum_n,
    numbers.think_strong_mean,
    numbers.think_strong_sd,
    numbers.think_strong_n,
    numbers.think_weak_mean,
    numbers.think_weak_sd,
    numbers.think_weak_n,
    sure.mean AS think_leak_mean,
    sqrt(sure.n * sure.error_squared) AS think_leak_sd,
    sure.n AS think_leak_n
FROM numbers
INNER JOIN sure ON numbers.player = sure.player AND numbers.part = sure.part
