-- How large are the bets that each player makes and faces, and how long does he think?
-- Hundredths of the pot before a bet (made) and with it (faced), after the flop; thought: all acts.
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
    count(think_ms) AS think_sum_n
FROM chosen
WHERE meant
GROUP BY player, part
