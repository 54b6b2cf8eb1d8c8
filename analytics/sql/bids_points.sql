-- Which auctions are drawn: each bid beside the rival's, and what the third card was worth to him?
-- At most two thousand, evenly spread over the record; worth is swing times pot, on his own basis.
WITH placed AS (
    SELECT
        c.player,
        c.part,
        c.hand_seq,
        c.hand,
        c.bid,
        c.rival_bid,
        c.pot,
        c.outcome,
        coalesce(c.texture, 'not known') AS texture,
        w.value AS worth,
        row_number() OVER (ORDER BY c.hand_seq, c.auction, c.seat) - 1 AS place,
        count(*) OVER () AS every
    FROM filtered AS c
    LEFT JOIN worths AS w
        ON c.hand_seq = w.hand_seq AND c.auction = w.auction AND c.seat = w.seat AND w.basis = 'own'
    WHERE c.bid IS NOT NULL AND coalesce(c.origin, 'chosen') NOT IN ('forced', 'default')
)
SELECT player, part, hand, bid, rival_bid, pot, outcome, texture, worth, every
FROM placed
WHERE every <= 2000 OR worth IS NOT NULL OR place % (CAST(floor(every / 1500) AS INTEGER) + 1) = 0
ORDER BY hand_seq
