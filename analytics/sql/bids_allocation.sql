-- Did the card go to the bidder to whom it was worth more, as far as the two could know?
-- On the basis `own` of both, for with both hands known the swing is the same; no ties of any kind.
WITH judged AS (
    SELECT
        c.player,
        c.part,
        c.outcome,
        mine.swing,
        his.swing AS rival_swing,
        mine.value AS worth,
        his.value AS rival_worth
    FROM filtered AS c
    INNER JOIN worths AS mine
        ON c.hand_seq = mine.hand_seq AND c.auction = mine.auction AND c.seat = mine.seat
        AND mine.basis = 'own'
    INNER JOIN worths AS his
        ON c.hand_seq = his.hand_seq AND c.auction = his.auction AND c.seat <> his.seat
        AND his.basis = 'own'
    WHERE c.outcome <> 'tied' AND c.bid IS NOT NULL
        AND coalesce(c.origin, 'chosen') NOT IN ('forced', 'default')
        AND coalesce(c.rival_origin, 'chosen') NOT IN ('forced', 'default')
)
SELECT
    player,
    part,
    sum(CASE WHEN swing <> rival_swing AND (outcome = 'won') = (swing > rival_swing) THEN 1 ELSE 0 END)
        AS allocated_k,
    sum(CASE WHEN swing <> rival_swing THEN 1 ELSE 0 END) AS allocated_n,
    sum(CASE WHEN outcome = 'won' THEN worth ELSE rival_worth END) / nullif(sum(greatest(worth, rival_worth)), 0) AS allocation_value,
    count(*) AS allocation_n
FROM judged
GROUP BY player, part
