-- Who paid the rake: those dealt in, those who put chips in, or each by what he put in?
-- Whole units of each hand; what does not divide goes to the largest fractions, then in seat order.
WITH weighed AS (
    SELECT hand_seq, seat, player, part, per_chip, rake, 'dealt' AS method, 1 AS weight FROM filtered
    UNION ALL
    SELECT hand_seq, seat, player, part, per_chip, rake, 'contributed' AS method, CASE WHEN put_in > 0 THEN 1 ELSE 0 END AS weight FROM filtered
    UNION ALL
    SELECT hand_seq, seat, player, part, per_chip, rake, 'weighted' AS method, put_in AS weight FROM filtered
),
totalled AS (
    SELECT *, sum(weight) OVER (PARTITION BY hand_seq, method) AS whole
    FROM weighed
),
divided AS (
    SELECT
        *,
        (rake * weight - rake * weight % whole) / whole AS even,
        rake * weight % whole AS rest
    FROM totalled
    WHERE whole > 0
),
placed AS (
    SELECT
        *,
        row_number() OVER (PARTITION BY hand_seq, method ORDER BY rest DESC, seat) AS place,
        rake - sum(even) OVER (PARTITION BY hand_seq, method) AS odd
    FROM divided
)
SELECT
    player,
    part,
    method,
    count(*) AS hands,
    sum((even + CASE WHEN place <= odd THEN 1 ELSE 0 END) / CAST(per_chip AS DOUBLE)) AS rake
FROM placed
GROUP BY player, part, method
