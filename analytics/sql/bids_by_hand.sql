-- What does a player bid with each kind of hand, and which hands show it?
-- Chosen bids by what cards and board made then: the smallest, the middle and the largest bid are examples.
WITH placed AS (
    SELECT
        player,
        part,
        hand,
        bid,
        CAST(bid AS DOUBLE) / nullif(pot, 0) AS pots,
        CASE WHEN outcome = 'won' THEN 1 ELSE 0 END AS won,
        row_number() OVER (PARTITION BY player, part ORDER BY bid, hand_seq, auction) AS place,
        count(*) OVER (PARTITION BY player, part) AS bids
    FROM filtered
    WHERE bid IS NOT NULL AND coalesce(origin, 'chosen') NOT IN ('forced', 'default')
)
SELECT
    player,
    part,
    max(bids) AS bids,
    avg(CASE WHEN place BETWEEN bids / 2.0 AND bids / 2.0 + 1 THEN bid END) AS median,
    avg(pots) AS pots,
    count(pots) AS in_pots,
    sum(won) AS won,
    max(CASE WHEN place = 1 THEN hand END) AS least,
    max(CASE WHEN place = floor((bids + 1) / 2.0) THEN hand END) AS middle,
    max(CASE WHEN place = bids THEN hand END) AS most
FROM placed
GROUP BY player, part
