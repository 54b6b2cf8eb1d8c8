-- When did each player last do more in a match than check and fold?
-- Calls, bets, raises and bids above 0, whatever their origin; nothing where he never did.
SELECT
    player,
    match,
    max(CASE WHEN kind IN ('call', 'bet', 'raise') OR (kind = 'bid' AND chips > 0) THEN number END) AS played
FROM filtered
GROUP BY player, match
