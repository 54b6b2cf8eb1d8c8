-- What does a player do right after his cards were swapped or kept, and after his rival's were?
-- His next choice on that street, a row a street and hand; the rival's swap he cannot know of.
WITH streets AS (
    SELECT
        player,
        part,
        hand_seq,
        street,
        max(does) AS does,
        max(CASE WHEN changed THEN 1 ELSE 0 END) AS own,
        max(rival_changed) AS rival
    FROM filtered
    WHERE changed IS NOT NULL
    GROUP BY player, part, hand_seq, street
)
SELECT
    player,
    part,
    sum(CASE WHEN own = 1 AND does IN ('bet', 'raise') THEN 1 ELSE 0 END) AS bet_swapped_k,
    sum(CASE WHEN own = 1 AND does IS NOT NULL THEN 1 ELSE 0 END) AS bet_swapped_n,
    sum(CASE WHEN own = 1 AND does = 'check' THEN 1 ELSE 0 END) AS check_swapped_k,
    sum(CASE WHEN own = 1 AND does IS NOT NULL THEN 1 ELSE 0 END) AS check_swapped_n,
    sum(CASE WHEN own = 1 AND does = 'fold' THEN 1 ELSE 0 END) AS fold_swapped_k,
    sum(CASE WHEN own = 1 AND does IS NOT NULL THEN 1 ELSE 0 END) AS fold_swapped_n,
    sum(CASE WHEN own = 0 AND does IN ('bet', 'raise') THEN 1 ELSE 0 END) AS bet_kept_k,
    sum(CASE WHEN own = 0 AND does IS NOT NULL THEN 1 ELSE 0 END) AS bet_kept_n,
    sum(CASE WHEN own = 0 AND does = 'check' THEN 1 ELSE 0 END) AS check_kept_k,
    sum(CASE WHEN own = 0 AND does IS NOT NULL THEN 1 ELSE 0 END) AS check_kept_n,
    sum(CASE WHEN own = 0 AND does = 'fold' THEN 1 ELSE 0 END) AS fold_kept_k,
    sum(CASE WHEN own = 0 AND does IS NOT NULL THEN 1 ELSE 0 END) AS fold_kept_n,
    sum(CASE WHEN rival = 1 AND does IN ('bet', 'raise') THEN 1 ELSE 0 END) AS bet_rival_swapped_k,
    sum(CASE WHEN rival = 1 AND does IS NOT NULL THEN 1 ELSE 0 END) AS bet_rival_swapped_n,
    sum(CASE WHEN rival = 1 AND does = 'check' THEN 1 ELSE 0 END) AS check_rival_swapped_k,
    sum(CASE WHEN rival = 1 AND does IS NOT NULL THEN 1 ELSE 0 END) AS check_rival_swapped_n,
    sum(CASE WHEN rival = 1 AND does = 'fold' THEN 1 ELSE 0 END) AS fold_rival_swapped_k,
    sum(CASE WHEN rival = 1 AND does IS NOT NULL THEN 1 ELSE 0 END) AS fold_rival_swapped_n,
    sum(CASE WHEN rival = 0 AND does IN ('bet', 'raise') THEN 1 ELSE 0 END) AS bet_rival_kept_k,
    sum(CASE WHEN rival = 0 AND does IS NOT NULL THEN 1 ELSE 0 END) AS bet_rival_kept_n,
    sum(CASE WHEN rival = 0 AND does = 'check' THEN 1 ELSE 0 END) AS check_rival_kept_k,
    sum(CASE WHEN rival = 0 AND does IS NOT NULL THEN 1 ELSE 0 END) AS check_rival_kept_n,
    sum(CASE WHEN rival = 0 AND does = 'fold' THEN 1 ELSE 0 END) AS fold_rival_kept_k,
    sum(CASE WHEN rival = 0 AND does IS NOT NULL THEN 1 ELSE 0 END) AS fold_rival_kept_n
FROM streets
GROUP BY player, part
