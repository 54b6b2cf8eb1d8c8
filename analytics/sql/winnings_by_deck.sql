-- What did a player win with each deck of mirrored matches, on average over its hands?
-- One number a deck, in chips: only decks of which he played every hand count.
SELECT
    player,
    match,
    min(number) AS first_number,
    max(number) AS last_number,
    avg(CAST(net AS DOUBLE) / per_chip) AS net
FROM filtered
WHERE deals > 1 AND per_chip IS NOT NULL
GROUP BY player, match, deals, floor((number - 1) / (deals * 1.0))
HAVING count(*) = deals
ORDER BY max(hand_seq)
