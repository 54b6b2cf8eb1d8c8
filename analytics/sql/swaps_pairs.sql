-- What does a player win when each deck is dealt once to every seat, and how much luck that takes out?
-- Mirrored matches only: one number a deck, the mean of its hands; whole groups with one player's row each.
WITH decks AS (
    SELECT player, part, match, deal, avg(net) AS net, count(net) AS hands
    FROM filtered
    WHERE deals > 1
    GROUP BY player, part, match, deal, deals
    HAVING count(net) = deals
),
hands AS (
    SELECT c.player, c.part, avg(c.net) AS net_mean, stddev_samp(c.net) AS net_sd
    FROM filtered AS c
    INNER JOIN decks AS d
        ON c.player = d.player AND c.part = d.part AND c.match = d.match AND c.deal = d.deal
    GROUP BY c.player, c.part
)
SELECT
    decks.player,
    decks.part,
    avg(decks.net) AS mirrored_mean,
    stddev_samp(decks.net) AS mirrored_sd,
    count(decks.net) AS mirrored_n,
    stddev_samp(decks.net) * stddev_samp(decks.net)
        / nullif(max(hands.net_sd) * max(hands.net_sd) / max(decks.hands), 0) AS mirrored_variance_value,
    count(decks.net) AS mirrored_variance_n
FROM decks
INNER JOIN hands ON decks.player = hands.player AND decks.part = hands.part
GROUP BY decks.player, decks.part
