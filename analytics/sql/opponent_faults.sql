-- Which replies of each player could not be used, at which step, and since when?
-- A row for each kind, step and suggested cause; `since` is the oldest of its hands.
WITH placed AS (
    SELECT
        player,
        part,
        kind,
        step,
        suggested,
        hand,
        row_number() OVER (PARTITION BY player, part, kind, step, suggested ORDER BY hand_seq) AS place
    FROM filtered
)
SELECT
    player,
    part,
    kind,
    step,
    suggested,
    count(*) AS faults,
    count(DISTINCT hand) AS hands,
    max(CASE WHEN place = 1 THEN hand END) AS since
FROM placed
GROUP BY player, part, kind, step, suggested
