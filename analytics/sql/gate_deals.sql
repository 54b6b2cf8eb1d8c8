-- By how much did one player come out ahead of another in each deal that both were dealt into?
-- A deal is a hand, or a mirrored deck of which every hand was played; `most` is what it could move.
SELECT
    match,
    max(number) AS last_number,
    count(*) AS hands,
    sum(CAST(net AS DOUBLE) / per_chip) AS won,
    CAST(sum(net - other_net) AS DOUBLE) AS ahead,
    CAST(sum(total - least(stack, other_stack) + greatest(stack, other_stack)) AS DOUBLE) AS most
FROM filtered
GROUP BY match, deals, floor((number - 1) / (deals * 1.0))
HAVING count(*) = deals
ORDER BY max(hand_seq)
