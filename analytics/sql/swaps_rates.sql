-- How often did each card at risk change, by player, street and slot?
-- Cards whose change was seen; `stated` is the chance that the rules name.
SELECT
    player,
    game,
    street,
    slot,
    sum(CASE WHEN changed THEN 1 ELSE 0 END) AS k,
    count(changed) AS n,
    avg(chance) AS stated
FROM filtered
WHERE changed IS NOT NULL
GROUP BY player, game, street, slot
