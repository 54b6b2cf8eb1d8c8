-- What did each player do at his turns, what did he face, and what did he hold?
-- Decisions but for straddles, shows and mucks, in whole chips; bids are of a street of their own.
WITH turns AS (
    SELECT
        *,
        action = 'bid' AS bid,
        coalesce(faced IN ('nothing', 'blind', 'bet', 'raise'), FALSE) AS asked,
        row_number() OVER (PARTITION BY hand_seq, street, seat, action = 'bid' ORDER BY idx) AS nth,
        sum(CASE WHEN action = 'check' AND ours THEN 1 ELSE 0 END)
            OVER (PARTITION BY hand_seq, street ORDER BY idx) AS checks
    FROM filtered
    WHERE action IN ('fold', 'check', 'call', 'bet', 'raise', 'bid')
),
facing AS (
    SELECT
        *,
        asked OR bid AS meaning,
        coalesce(to_call > 0, FALSE) OR NOT (asked OR bid) AS owed,
        CASE WHEN asked OR bid THEN may_raise ELSE FALSE END AS offered,
        checks > CASE WHEN action = 'check' AND ours THEN 1 ELSE 0 END AS after
    FROM turns
)
SELECT
    hand_seq,
    hand,
    match,
    number,
    game,
    ruleset,
    idx AS place,
    seat,
    player,
    position,
    CASE WHEN bid THEN 'auction' ELSE street END AS street,
    action AS kind,
    meaning AND coalesce(origin NOT IN ('forced', 'default'), TRUE) AS meant,
    owed,
    offered,
    CASE WHEN NOT bid THEN nth = 1 AND after AND coalesce(offered, FALSE) AND NOT owed AND street <> 'preflop' END
        AS after_check,
    CAST(CASE WHEN bid THEN amount ELSE size END AS DOUBLE PRECISION) / per_chip AS chips,
    CAST(stack AS DOUBLE PRECISION) / per_chip AS stack,
    CAST(pot AS DOUBLE PRECISION) / per_chip AS pot,
    per_chip,
    share * 100.0 AS made_pct,
    CASE WHEN owed THEN faced_share / (faced_share + 1.0) * 100.0 END AS faced_pct,
    tenth,
    hole,
    board,
    rival_cards,
    showdown,
    think_ms
FROM facing
ORDER BY hand_seq, idx
