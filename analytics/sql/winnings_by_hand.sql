-- What did a player win in each of his hands, and what did auctions cost him there?
-- In chips, in the order in which hands ended; a price is paid by everybody who got a card for it.
WITH paid AS (
    SELECT hand_seq, seat, sum(price) AS price
    FROM bids
    WHERE won
    GROUP BY hand_seq, seat
)
SELECT
    c.hand_seq,
    c.match,
    c.number,
    c.showdown,
    CAST(c.net AS DOUBLE) / c.per_chip AS net,
    CAST(coalesce(paid.price, 0) AS DOUBLE) / c.per_chip AS price
FROM filtered AS c
LEFT JOIN paid ON c.hand_seq = paid.hand_seq AND c.seat = paid.seat
WHERE c.per_chip IS NOT NULL
ORDER BY c.hand_seq, c.seat
