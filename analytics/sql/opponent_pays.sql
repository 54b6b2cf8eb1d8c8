-- Which of each player's choices can be held against what pays, and what would have paid each time?
-- Folds to one rival's bet, bids beside the pot, river bets shown down; in units of a chip, worth in quarters.
WITH units AS (
    SELECT
        *,
        CAST(round(pot * per_chip) AS BIGINT) AS pot_units,
        CAST(round(stack * per_chip) AS BIGINT) AS stack_units,
        CAST(round(chips * per_chip) AS BIGINT) AS chip_units,
        CAST(round(pot * per_chip * faced_pct / 100) AS BIGINT) AS owed_units
    FROM filtered
),
facing AS (
    SELECT
        *,
        max(CASE WHEN kind IN ('bet', 'raise') THEN pot_units END)
            OVER (PARTITION BY hand_seq, street ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
            AS prize
    FROM units
),
priced AS (
    SELECT *, pot_units - prize - greatest(owed_units - stack_units, 0) AS risk
    FROM facing
)
SELECT
    player,
    part,
    hand_seq,
    hand,
    'fold_' || street AS look,
    CASE WHEN kind = 'fold' THEN 1 ELSE 0 END AS done,
    per_chip,
    4 * CASE WHEN kind = 'fold' THEN prize ELSE -risk END AS quarters,
    risk,
    prize
FROM priced
WHERE meant AND owed AND rival_cards IS NOT NULL AND street <> 'auction' AND prize IS NOT NULL AND risk > 0
UNION ALL
SELECT
    player,
    part,
    hand_seq,
    hand,
    'bid_above_pot' AS look,
    CASE WHEN chip_units > pot_units THEN 1 ELSE 0 END AS done,
    per_chip,
    chip_units - pot_units AS quarters,
    NULL AS risk,
    NULL AS prize
FROM priced
WHERE meant AND kind = 'bid' AND chips IS NOT NULL
UNION ALL
SELECT
    player,
    part,
    hand_seq,
    hand,
    'bluff_river' AS look,
    CASE WHEN equity < 0.35 THEN 1 ELSE 0 END AS done,
    per_chip,
    4 * CASE WHEN equity < 0.35 THEN pot_units + chip_units ELSE -chip_units END AS quarters,
    chip_units AS risk,
    pot_units + chip_units AS prize
FROM priced
WHERE meant AND kind = 'bet' AND street = 'river' AND showdown AND equity IS NOT NULL AND chip_units > 0
