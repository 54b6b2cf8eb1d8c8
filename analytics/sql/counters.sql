-- What do the organisers' counters say of each player in each match?
-- Every line of a log counts, forced and default ones too; a tied auction is won by both.
-- All-ins are lines `went all in`, which no engine ever wrote.
SELECT
    match,
    player,
    sum(CASE WHEN line = 'Raised' THEN 1 ELSE 0 END) AS raises,
    sum(CASE WHEN line = 'Bet' THEN 1 ELSE 0 END) AS bets,
    sum(CASE WHEN line = 'Called' THEN 1 ELSE 0 END) AS calls,
    sum(CASE WHEN line = 'Checked' THEN 1 ELSE 0 END) AS checks,
    sum(CASE WHEN line = 'Folded' THEN 1 ELSE 0 END) AS folds,
    sum(CASE WHEN line = 'Shown' THEN 1 ELSE 0 END) AS shows,
    0 AS all_ins,
    coalesce(avg(CASE WHEN line = 'BidPlaced' THEN amount END), 0) AS bid_mean,
    sum(CASE WHEN line = 'won' THEN 1 ELSE 0 END) AS auctions_won,
    sum(CASE WHEN line = 'lost' AND amount > 0 THEN 1 ELSE 0 END) AS won_without,
    CASE
        WHEN sum(CASE WHEN line = 'not known' THEN 1 ELSE 0 END) = 0
            THEN sum(CASE WHEN line = 'swapped' THEN amount ELSE 0 END)
    END AS net_swapped
FROM filtered
GROUP BY match, player
